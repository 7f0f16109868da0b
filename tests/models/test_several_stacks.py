"""Language models behind a vision tower: each stack is read as the reference runs it, with what a section leaves out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.models import ModelError, load, run_tokens
from eigentoken.models.forward import run_layer
from eigentoken.models.loading.write import save_edited

from ..shares import others_slow
from .test_families import close

transformers = pytest.importorskip("transformers")

TEXT = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT |= {
    "num_key_value_heads": 2,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 1,
}
TOWER = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
TOWER |= {"image_size": 16, "patch_size": 4}
CLIP = TOWER | {"model_type": "clip_vision_model", "projection_dim": 16}
GEMMA = {"head_dim": 6, "sliding_window": 4, "query_pre_attn_scalar": 6}
IMAGES = {"image_token_index": 39}
#: class, the text section, the vision section
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "gemma3": ("Gemma3", TEXT | GEMMA, TOWER),
    "llava": ("Llava", TEXT | {"model_type": "llama"}, CLIP),
    "llava_next": ("LlavaNext", TEXT | {"model_type": "mistral"}, CLIP),
    "mistral3": (
        "Mistral3",
        TEXT | {"model_type": "mistral", "head_dim": 6},
        TOWER | {"model_type": "pixtral", "head_dim": 8},
    ),
}
IDS = np.arange(2, 13)


def made(kind: str, folder: Path, **text: Any) -> Any:
    """The reference with moved gains and biases, saved."""
    name, own, tower = CASES[kind]
    sections = {"text_config": own | text, "vision_config": tower} | IMAGES
    if kind == "gemma3":
        sections |= {"boi_token_index": 37, "eoi_token_index": 38, "mm_tokens_per_image": 4}
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**sections)
    model = getattr(transformers, f"{name}ForConditionalGeneration")(config).eval()
    with torch.no_grad():
        for value in model.parameters():
            value.add_(0.1 * torch.randn_like(value))
    model.save_pretrained(folder)
    return model


def hidden(model: Any) -> Any:
    with torch.no_grad():
        return model(input_ids=torch.from_numpy(IDS[None]), output_hidden_states=True).hidden_states


@pytest.mark.parametrize("kind", others_slow(list(CASES), ("gemma3", "llava").__contains__))
def test_both_stacks_are_those_of_the_reference(tmp_path: Path, kind: str) -> None:
    model = made(kind, tmp_path / "whole")
    found = load(tmp_path / "whole")
    expected = hidden(model)
    for state, reference in list(zip(run_tokens(found, IDS), expected[1:], strict=True))[:-1]:
        close(state.output, reference[0].numpy())
    (said,) = found.left_out.sentences(found.n_layers)
    assert "another stack of layers that is not checked: vision_tower." in said
    copied = save_edited(found, tmp_path / "copy", {0: found.layer(0).output_matrix()})
    alone = transformers.AutoModelForCausalLM.from_pretrained(copied.folder).eval()
    assert float((hidden(alone)[1] - expected[1]).abs().max()) <= 1e-5
    if kind == "mistral3":
        with pytest.raises(ModelError, match="of type 'pixtral', which is not read"):
            load(f"{tmp_path / 'whole'}#vision")
        return
    tower = load(f"{tmp_path / 'whole'}#vision")
    pixels = np.random.default_rng(0).standard_normal((1, 3, 16, 16)).astype(np.float32)
    with torch.no_grad():
        states = model.model.vision_tower(torch.from_numpy(pixels), output_hidden_states=True).hidden_states
    x = tower.embedding().embed(pixels)[0]
    for index in range(tower.n_layers):
        x = run_layer(tower.layer(index), x).output
        close(x, states[index + 1][0].numpy())


def test_what_a_section_leaves_out_is_the_default(tmp_path: Path) -> None:
    """The 4B model's section names neither its heads nor their width."""
    left_out = ("num_attention_heads", "num_key_value_heads", "head_dim", "query_pre_attn_scalar")
    own = dict(zip(left_out, (8, 4, 256, 256), strict=True))
    model = made("gemma3", tmp_path, **own)
    config = json.loads((tmp_path / "config.json").read_text())
    for name in (*left_out, "rope_parameters", "layer_types", "rms_norm_eps", "hidden_activation"):
        config["text_config"].pop(name, None)
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = load(tmp_path)
    assert (found.n_heads, found.d_head, found.n_kv_heads) == (8, 256, 4)
    (first, *_) = run_tokens(found, IDS)
    close(first.output, hidden(model)[1][0].numpy())


def test_wrong_parts_and_sections_are_refused(tmp_path: Path) -> None:
    made("llava", tmp_path)
    for part in ("decoder", "audio"):
        with pytest.raises(ModelError, match="expected text or vision"):
            load(f"{tmp_path}#{part}")
    config = json.loads((tmp_path / "config.json").read_text())
    config["text_config"]["model_type"] = "zork"
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="the text stack of this llava is of type 'zork', which is not read"):
        load(tmp_path)
    del config["text_config"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="has no part 'text'"):
        load(tmp_path)
