"""GGUF of further architectures: what llama.cpp's converter does to a model, done here by hand, is undone by the reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import ModelError, load, run_tokens

from . import reference_models as tiny
from .test_families import close

gguf = pytest.importorskip("gguf")

#: GGUF architecture, reference case, beginnings of tensor names in the converter's name map, prefix of its keys
CASES = {
    "qwen3": "qwen3",
    "olmo2": "olmo2",
    "gemma": "gemma",
    "granite": "granite",
    "phi3": "phi3",
    "starcoder2": "starcoder2",
    "stablelm": "stablelm",
    "command-r": "cohere-without-norms",
    "gpt2": "gpt2",
    "starcoder": "gpt_bigcode",
    "gptneox": "gpt_neox",
    "bloom": "bloom",
    "falcon": "falcon",
    "falcon-40b": "falcon-40b",
}


def reference(architecture: str) -> Any:
    if architecture == "gpt2":
        from .conftest import make_reference

        return make_reference("gpt2")
    return tiny.make(CASES[architecture])


def in_order(rows: Any, heads: int, groups: int, e: int) -> Any:
    """Fused rows, for each key-value head its queries, key and value, as [Q; K; V]."""
    each = heads // groups
    apart = rows.reshape(groups, each + 2, e, *rows.shape[1:])
    parts = (apart[:, :each], apart[:, each], apart[:, each + 1])
    return np.concatenate([part.reshape(-1, *rows.shape[1:]) for part in parts])


def neighbours(rows: Any, heads: int) -> Any:
    """Half-split rotary pairs as neighbours, a head at a time (the converter's permutation of LLaMA and Granite)."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def converted(architecture: str, model: Any) -> dict[str, Any]:
    """The tensors under GGUF's names, changed as the converter changes them."""
    kind = architecture.split("-4")[0]
    arch = next(a for a, name in gguf.MODEL_ARCH_NAMES.items() if name == kind)
    config = model.config
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    heads = config.num_attention_heads
    found = {}
    for name, tensor in model.state_dict().items():
        array = tensor.numpy()
        stem, _, ending = name.rpartition(".")
        near = ("", "model.", "transformer.", "gpt_neox.")
        new = next((n for prefix in near if (n := names.get_name(prefix + stem)) is not None), None)
        assert new is not None, name
        if "query_key_value" in name:
            groups = {"falcon": 1, "falcon-40b": 2}.get(architecture, heads)
            array = in_order(array, heads, groups, config.hidden_size // heads)
        if kind == "gpt2" and array.ndim == 2 and stem.endswith(("c_attn", "c_proj", "c_fc")):
            array = array.T
        if kind == "gemma" and stem.endswith("norm"):
            array = array + 1
        if kind == "granite" and stem.endswith(("q_proj", "k_proj")):
            array = neighbours(array, heads if stem.endswith("q_proj") else config.num_key_value_heads)
        found[f"{new}.{ending}"] = np.ascontiguousarray(array, dtype=np.float32)
    return found


def write(path: Path, architecture: str, model: Any) -> None:
    """The file that the converter would write, with the keys that it writes."""
    kind, config = architecture.split("-4")[0], model.config
    writer = gguf.GGUFWriter(str(path), kind)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_context_length(tiny.LENGTH)
    writer.add_head_count(config.num_attention_heads)
    inner = getattr(config, "intermediate_size", None) or getattr(config, "n_inner", None) or 4 * config.hidden_size
    writer.add_feed_forward_length(inner)
    groups = {"falcon": 1, "falcon-40b": 2, "starcoder": 1}
    shared = groups.get(architecture, getattr(config, "num_key_value_heads", None))
    if shared is not None:
        writer.add_head_count_kv(shared)
    if hasattr(config, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    else:
        names = ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon")
        writer.add_layer_norm_eps(next(getattr(config, name) for name in names if hasattr(config, name)))
    e = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if getattr(config, "head_dim", None):
        writer.add_key_length(e)
    rope = getattr(config, "rope_parameters", None)
    if rope:
        writer.add_rope_freq_base(rope["rope_theta"])
        writer.add_rope_dimension_count(int(e * rope.get("partial_rotary_factor", 1.0)))
    if getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
    if kind == "gptneox":
        writer.add_parallel_residual(config.use_parallel_residual)
    if kind == "granite":
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
    for name, array in converted(architecture, model).items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("architecture", CASES)
def test_a_converted_file_is_the_model(architecture: str, tmp_path: Path) -> None:
    """The same states, and every head's P and U (the rows of a head may stand in another order)."""
    model = reference(architecture)
    write(tmp_path / "m.gguf", architecture, model)
    ours, theirs = load(tmp_path / "m.gguf"), load(model)
    ids = np.random.default_rng(7).integers(2, 30, size=(2, 11))
    for a, b in zip(run_tokens(ours, ids), run_tokens(theirs, ids), strict=True):
        close(a.weights, b.weights)
        close(a.output, b.output)
    for one, other in zip(ours.layer(0).heads, theirs.layer(0).heads, strict=True):
        close(one.P, other.P)
        close(one.U, other.U)
    assert not ours.left_out.inside


def test_what_was_not_converted_is_another_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: without the converter's order of rows the file is read as other heads."""
    from . import test_gguf_families as here

    model = reference("bloom")
    monkeypatch.setattr(here, "in_order", lambda rows, *_: rows)
    write(tmp_path / "m.gguf", "bloom", model)
    one, other = load(tmp_path / "m.gguf").layer(0).heads[0].U, load(model).layer(0).heads[0].U
    assert np.abs(one - other).max() > 1e-2


def test_an_architecture_that_is_not_in_the_table(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(str(tmp_path / "m.gguf"), "deepseek2")
    writer.add_tensor("token_embd.weight", np.ones((4, 4), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelError, match=r"deepseek2.*supported in GGUF: llama, qwen2, qwen3"):
        load(tmp_path / "m.gguf")
