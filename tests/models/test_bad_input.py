"""Bad checkpoints: a missing or wrong configuration, headers that lie, NaN: one ModelError of one line each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from eigentoken.models import ModelError, load, run_tokens

from .spoiled import (
    CONFIG,
    LENGTH,
    VOCABULARY,
    D,
    gpt2_tensors,
    header_of,
    read_all,
    refused,
    write_with_header,
)


def test_the_good_checkpoint_is_read(folder: Path) -> None:
    read_all(folder)
    read_all(folder / "model.safetensors")


def test_an_empty_folder(tmp_path: Path) -> None:
    refused(tmp_path, "empty", "model.safetensors")


def test_a_missing_path(tmp_path: Path) -> None:
    refused(tmp_path / "none", "no such file")
    refused(str(tmp_path / "none.gguf"), "no such file")
    refused("", "source must be")
    refused("a\0b", "source must be")


def test_a_missing_config(folder: Path) -> None:
    (folder / "config.json").unlink()
    refused(folder, "config.json is missing")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty file"),
        ("[1]", "expected a JSON object"),
        ("{", "JSON"),
        ('{"model_type": NaN}', "NaN"),
        ("[" * 100_000, "JSON"),
        ("\ud800".encode("utf-8", "surrogatepass"), "JSON"),
        ('{"n_embd": ' + "9" * 5000 + "}", "JSON"),
    ],
)
def test_a_config_that_is_not_a_json_object(folder: Path, text: Any, word: str) -> None:
    (folder / "config.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(folder, "config.json", word)


@pytest.mark.parametrize(
    "change",
    [
        {"n_head": 0},
        {"n_head": -2},
        {"n_head": True},
        {"n_head": 3},
        {"n_head": "2"},
        {"n_head": 2.0},
        {"n_head": None},
        {"n_embd": 0},
        {"n_embd": 10**30},
        {"n_layer": 0},
        {"n_layer": 10**12},
        {"layer_norm_epsilon": -1},
        {"layer_norm_epsilon": "x"},
        {"layer_norm_epsilon": 10**400},
        {"scale_attn_weights": "yes"},
        {"activation_function": 5},
        {"add_cross_attention": True},
        {"model_type": ["gpt2"]},
        {"model_type": {"a": 1}},
    ],
)
def test_a_wrong_value_in_the_config(folder: Path, change: dict[str, Any]) -> None:
    (folder / "config.json").write_text(json.dumps(CONFIG | change))
    refused(folder, next(iter(change)))


def test_zero_heads_in_other_families(tmp_path: Path) -> None:
    save_file({"layers.0.self_attn.q_proj.weight": np.zeros((4, 4), np.float32)}, tmp_path / "model.safetensors")
    base = {"hidden_size": 4, "num_hidden_layers": 1, "intermediate_size": 4, "num_attention_heads": 2}
    for kind in ("llama", "bert", "albert", "vit", "gpt_neo"):
        change = {"model_type": kind, "num_attention_heads": 0, "num_layers": 1}
        (tmp_path / "config.json").write_text(json.dumps(base | change))
        refused(tmp_path, "heads")
    for change in ({"num_key_value_heads": 0}, {"num_key_value_heads": 3}, {"head_dim": 0}):
        (tmp_path / "config.json").write_text(json.dumps(base | {"model_type": "llama"} | change))
        refused(tmp_path, next(iter(change)))


def test_rotary_values_that_make_no_sense(tmp_path: Path) -> None:
    save_file({"layers.0.self_attn.q_proj.weight": np.zeros((4, 4), np.float32)}, tmp_path / "model.safetensors")
    base = {"model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1, "intermediate_size": 4}
    base |= {"num_attention_heads": 2}
    wrong: list[dict[str, Any]] = [
        {"rope_theta": 0},
        {"rope_theta": "a"},
        {"rope_scaling": {"rope_type": "yarn", "factor": 2}},
        {"rope_scaling": {"rope_type": "linear", "factor": 0}},
        {"rope_scaling": {"rope_type": "linear"}},
        {"rope_scaling": 3},
        {"head_dim": 3},
        {"partial_rotary_factor": 7.0},
    ]
    for change in wrong:
        (tmp_path / "config.json").write_text(json.dumps(base | change))
        refused(tmp_path)


def test_truncated_and_padded_safetensors(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = path.read_bytes()
    for cut in (0, 4, 8, 50, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        refused(folder, "model.safetensors")
    path.write_bytes(data + b"\0")
    refused(folder, "padded")


def test_a_hundred_megabyte_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    with path.open("wb") as stream:
        stream.write((100_000_000).to_bytes(8, "little"))
        stream.truncate(100_000_100)
    refused(folder, "100000000", "limit")
    path.write_bytes((2**63).to_bytes(8, "little") + b"{}")
    refused(folder, "limit")


def test_headers_that_lie(folder: Path) -> None:
    path = folder / "model.safetensors"
    good, body = header_of(path)
    name = "h.0.attn.c_proj.weight"

    def spoil(change: dict[str, Any]) -> None:
        write_with_header(path, good | {name: good[name] | change}, body)

    begin, end = good[name]["data_offsets"]
    changes: list[tuple[dict[str, Any], str]] = [
        ({"shape": [D, D, 2]}, "do not fit"),
        ({"shape": [-D, -D]}, "non-negative"),
        ({"shape": [2**70, 1]}, "non-negative"),
        ({"shape": "x"}, "shape"),
        ({"shape": [True] * 2}, "shape"),
        ({"dtype": "F33"}, "unknown dtype"),
        ({"dtype": ["F32"]}, "unknown dtype"),
        ({"dtype": "F16"}, "do not fit"),
        ({"data_offsets": [begin + 4, end + 4]}, "overlap"),
        ({"data_offsets": [end, begin]}, "do not fit"),
        ({"data_offsets": [0, end - begin]}, "overlap"),
        ({"data_offsets": [begin]}, "data_offsets"),
        ({"data_offsets": [10**30, 10**30 + 256]}, "data_offsets"),
        ({"shape": [D // 2, 2 * D]}, "must have shape"),
    ]
    for change, word in changes:
        spoil(change)
        refused(folder, word)
    write_with_header(path, good | {name: [1]}, body)
    refused(folder, "are needed")
    write_with_header(path, b"[]", body)
    refused(folder, "JSON object")
    write_with_header(path, b'{"a":' * 50_000, body)
    refused(folder, "JSON")


def test_duplicate_tensors_in_a_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    good, body = header_of(path)
    name = "h.0.attn.c_proj.weight"
    text = json.dumps(good)[:-1] + f', "{name}": {json.dumps(good[name])}}}'
    write_with_header(path, text.encode(), body)
    refused(folder, "twice", name)


def test_missing_and_wrongly_shaped_tensors(folder: Path) -> None:
    good = gpt2_tensors()
    path = folder / "model.safetensors"
    for name in ("h.0.attn.c_attn.weight", "h.1.attn.c_proj.bias", "h.1.ln_1.weight", "wte.weight"):
        save_file({k: v for k, v in good.items() if k != name}, path)
        refused(folder, name, "missing")
        save_file(good | {name: np.zeros((3, 5), np.float32)}, path)
        refused(folder, name, "(3, 5)")
    save_file(good | {f"other.{k}": v for k, v in good.items()}, path)
    refused(folder, "several prefixes (, other.)", "keep the tensors of one of them in a file of their own")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name", ["h.1.attn.c_attn.weight", "h.0.attn.c_proj.bias", "h.1.ln_1.weight", "h.1.mlp.c_fc.weight"]
)
def test_nan_and_inf_weights(folder: Path, name: str, value: float) -> None:
    tensors = gpt2_tensors()
    tensors[name].flat[3] = value
    save_file(tensors, folder / "model.safetensors")
    refused(folder, name, "NaN" if np.isnan(value) else "infinite")


def test_integer_weights_are_refused(folder: Path) -> None:
    tensors = gpt2_tensors()
    tensors["h.0.attn.c_attn.weight"] = tensors["h.0.attn.c_attn.weight"].astype(np.int8)
    save_file(tensors, folder / "model.safetensors")
    refused(folder, "1 int8 matrix", "h.0.attn.c_attn.weight", "not the weights")


def test_running_wrong_tokens(folder: Path) -> None:

    model = load(folder)
    wrong: list[tuple[Any, str]] = [
        (np.array([VOCABULARY]), "input_ids"),
        (np.array([-1]), "input_ids"),
        (np.arange(0), "input_ids"),
        (np.zeros(LENGTH + 1, dtype=int), "positions"),
        (np.zeros((3, D + 1)), "tokens must be"),
        (np.zeros(D), "tokens must be"),
        (np.array(["a"]), "tokens must be"),
    ]
    for tokens, word in wrong:
        with pytest.raises(ModelError, match=word):
            list(run_tokens(model, tokens))
    with pytest.raises(ModelError, match="layer must be"):
        model.layer(2)
