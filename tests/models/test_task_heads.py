"""Models with task heads as ``transformers`` saves them (prefixes, tied weights, poolers): the same forward pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import load, run_tokens

from . import conftest as tiny
from .test_families import close

CLASSES = {
    "bert": "MaskedLM SequenceClassification PreTraining TokenClassification QuestionAnswering MultipleChoice",
    "albert": "MaskedLM PreTraining SequenceClassification QuestionAnswering",
    "gpt2": "LMHeadModel DoubleHeadsModel SequenceClassification TokenClassification",
    "gpt-neo": "CausalLM SequenceClassification",
    "llama": "CausalLM SequenceClassification QuestionAnswering TokenClassification",
    "mistral": "CausalLM SequenceClassification",
    "qwen2": "CausalLM SequenceClassification",
    "vit": "ImageClassification MaskedImageModeling",
}
CASES = [(key, name) for key, names in CLASSES.items() for name in names.split()]
ACTIVATIONS = [
    "gelu_10",
    "gelu_accurate",
    "gelu_fast",
    "gelu_python",
    "gelu_pytorch_tanh",
    "leaky_relu",
    "linear",
    "mish",
    "quick_gelu",
    "relu",
    "relu2",
    "relu6",
    "sigmoid",
    "silu",
    "swish",
    "tanh",
]


def made(class_name: str, config_name: str, options: dict[str, Any], **more: Any) -> Any:
    """A random model of the class, its weights large enough to tell one activation from another."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    config = getattr(transformers, config_name)(**options)
    config._attn_implementation = "eager"
    torch.manual_seed(3)
    model = getattr(transformers, class_name)(config, **more).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def same_forward(folder: Path, reference: Any, given: Any) -> None:
    """The state after every layer, and after the final norm."""
    import torch

    name = "pixel_values" if given.dtype.kind == "f" else "input_ids"
    with torch.no_grad():
        out = reference(**{name: torch.from_numpy(given)}, output_hidden_states=True)
    model = load(folder)
    states = [state.output for state in run_tokens(model, given)]
    for ours, theirs in zip(states[:-1], out.hidden_states[1:], strict=False):
        close(ours, theirs.numpy())
    final = model.final_norm()
    close(states[-1] if final is None else final.apply(states[-1]), out.last_hidden_state.numpy())


@pytest.mark.parametrize(("key", "head"), CASES)
def test_the_network_under_a_task_head(key: str, head: str, tmp_path: Path) -> None:
    family, options = tiny.FAMILIES[key]
    name = f"{family}{head}" if head.endswith("Model") else f"{family}For{head}"
    model = made(name, f"{family}Config", options)
    model.save_pretrained(tmp_path)
    same_forward(tmp_path, model.base_model, tiny.make_input(key))


@pytest.mark.parametrize("key", ["bert", "vit"])
def test_without_a_pooler(key: str, tmp_path: Path) -> None:
    family, options = tiny.FAMILIES[key]
    model = made(f"{family}Model", f"{family}Config", options, add_pooling_layer=False)
    model.save_pretrained(tmp_path)
    same_forward(tmp_path, model, tiny.make_input(key))


def test_tied_embeddings_are_read_once(tmp_path: Path) -> None:
    model = made("LlamaForCausalLM", "LlamaConfig", tiny.GROUPED | {"tie_word_embeddings": True})
    model.save_pretrained(tmp_path)
    same_forward(tmp_path, model.model, tiny.make_input("llama"))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    model = made("BertModel", "BertConfig", tiny.FAMILIES["bert"][1] | {"hidden_act": name})
    model.save_pretrained(tmp_path)
    same_forward(tmp_path, model, tiny.make_input("bert"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("key", ["qwen2", "gpt2", "vit", "albert"])
def test_half_precision_files_in_single_precision_arithmetic(key: str, dtype: str, tmp_path: Path) -> None:
    """The stored numbers are exact: transformers computes the same from them in float32."""
    import torch
    import transformers

    family, options = tiny.FAMILIES[key]
    made(f"{family}Model", f"{family}Config", options).to(getattr(torch, dtype)).save_pretrained(tmp_path)
    again = getattr(transformers, f"{family}Model").from_pretrained(
        tmp_path, dtype=torch.float32, attn_implementation="eager"
    )
    assert load(tmp_path).layer(0).stored_dtype == dtype
    same_forward(tmp_path, again.eval(), tiny.make_input(key))


def test_a_sharded_torch_checkpoint_with_its_index(tmp_path: Path) -> None:
    """``pytorch_model-0000x-of-0000y.bin`` with ``pytorch_model.bin.index.json``, as older uploads have."""
    import json

    import torch

    options = tiny.FAMILIES["mistral"][1]
    model = made("MistralForCausalLM", "MistralConfig", options)
    model.config.save_pretrained(tmp_path)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    names = sorted(state)
    parts = {f"pytorch_model-0000{i + 1}-of-00003.bin": names[i::3] for i in range(3)}
    for file, chosen in parts.items():
        torch.save({name: state[name] for name in chosen}, tmp_path / file)
    where = {name: file for file, chosen in parts.items() for name in chosen}
    index = {"metadata": {"total_size": 1}, "weight_map": where}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    same_forward(tmp_path, model.model, tiny.make_input("mistral"))
    assert np.isfinite(load(tmp_path).layer(-1).F).all()
