"""What is not a checkpoint is named for what it is, with what to do; what a reading leaves out is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from eigentoken.models import load
from eigentoken.models.loading.left_out import zero_parts

from .spoiled import CONFIG, D, gpt2_tensors, read_all, refused

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 497933648\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    save_file(gpt2_tensors(), made / "model.safetensors")
    (made / "config.json").write_text(json.dumps(CONFIG))
    return made


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "weights.gguf", "a.npz", "a.ckpt"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (POINTER, ("Git-LFS pointer", "497933648 bytes", "git lfs pull")),
        ("<!DOCTYPE html>\n<html><body>Sign in</body></html>", ("web page", "/resolve/")),
        ("\n  <html lang='en'>", ("web page",)),
        ('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', ("web page",)),
        ('{"error": "Repository not found"}', ("error message of a server",)),
        ("", ("empty file",)),
        (b"\x1f\x8b\x08\x00", ("gzip archive", "unpack")),
        (b"\x89HDF\r\n\x1a\n", ("HDF5",)),
    ],
)
def test_a_file_is_named_for_what_it_is(name: str, content: str | bytes, words: tuple[str, ...], folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(folder, name, *words)
    refused(folder / name, name, *words)


def test_a_configuration_that_is_a_pointer_or_a_page(folder: Path) -> None:
    (folder / "config.json").write_text(POINTER)
    refused(folder, "config.json", "Git-LFS pointer")
    (folder / "config.json").write_text("<html>")
    refused(folder, "config.json", "web page")


def test_an_unfinished_download(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model.safetensors.incomplete")
    refused(folder / "model.safetensors.incomplete", "unfinished download")


def test_an_adapter_is_no_model(tmp_path: Path) -> None:
    save_file(
        {"base_model.model.h.0.attn.c_attn.lora_A.weight": np.zeros((2, D), np.float32)},
        tmp_path / "adapter_model.safetensors",
    )
    refused(tmp_path, "PEFT adapter", "merge_and_unload")
    said = {"peft_type": "LORA", "base_model_name_or_path": "openai-community/gpt2"}
    (tmp_path / "adapter_config.json").write_text(json.dumps(said))
    refused(tmp_path, "LORA adapter", "openai-community/gpt2", "merge_and_unload")
    refused(tmp_path / "adapter_model.safetensors", "LORA adapter", "merge_and_unload")
    (tmp_path / "adapter_config.json").write_text("{")
    refused(tmp_path, "PEFT adapter")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    refused(tmp_path, "adapter")


@pytest.mark.parametrize("keep", [True, False])
def test_an_unmerged_adapter_is_refused_even_where_every_needed_tensor_is_there(keep: bool, folder: Path) -> None:
    tensors = gpt2_tensors()
    if not keep:
        tensors["h.0.attn.c_attn.base_layer.weight"] = tensors.pop("h.0.attn.c_attn.weight")
    tensors["h.0.attn.c_attn.lora_A.default.weight"] = np.zeros((2, D), np.float32)
    save_file(tensors, folder / "model.safetensors")
    refused(folder, "unmerged PEFT model", "lora_A", "merge_and_unload")


def test_shards_without_an_index(folder: Path) -> None:
    tensors = gpt2_tensors()
    first = {name: array for name, array in tensors.items() if not name.startswith("h.1.")}
    (folder / "model.safetensors").unlink()
    save_file(first, folder / "model-00001-of-00003.safetensors")
    for source in (folder, folder / "model-00001-of-00003.safetensors"):
        refused(source, "one of 3 shards", "model.safetensors.index.json", "2, 3", "name the folder")
    save_file(
        {name: tensors[name] for name in tensors if name.startswith("h.1.")},
        folder / "model-00002-of-00003.safetensors",
    )
    refused(folder, "one of 3 shards", "shard 3 is missing")
    save_file({"of.no.layer": np.zeros(2)}, folder / "model-00003-of-00003.safetensors")
    assert load(folder).store.format == "safetensors, 3 shards"
    read_all(folder)  # all are here: no index is needed
    refused(folder / "model-00001-of-00003.safetensors", "one of 3 shards", "all shards are here")
    save_file({"h.1.ln_1.weight": np.zeros(2)}, folder / "model-00003-of-00003.safetensors")
    refused(folder, "duplicate tensors")


def test_a_shard_beside_its_index_is_read_by_the_folder(folder: Path) -> None:
    tensors = gpt2_tensors()
    (folder / "model.safetensors").unlink()
    names = {n: f"model-0000{1 + n.startswith('h.1.')}-of-00002.safetensors" for n in tensors}
    for shard in set(names.values()):
        save_file({n: tensors[n] for n, s in names.items() if s == shard}, folder / shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    read_all(folder)
    refused(folder / "model-00001-of-00002.safetensors", "one of 2 shards", "name its folder")


@pytest.mark.parametrize("config", [True, False])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"qweight": np.int32, "qzeros": np.int32, "scales": np.float16}, ("AWQ or GPTQ",)),
        ({"qweight": np.int32, "qzeros": np.int32, "scales": np.float16, "g_idx": np.int32}, ("GPTQ",)),
        ({"weight": np.int8, "SCB": np.float32}, ("bitsandbytes, 8 bits",)),
        ({"weight": np.uint8, "weight.absmax": np.float32}, ("bitsandbytes, 4 bits",)),
        ({"weight": np.int8, "weight_scale": np.float32}, ("int8", "scales in weight_scale")),
    ],
)
def test_quantised_weights_are_refused_with_advice(
    config: bool, change: dict[str, Any], words: tuple[str, ...], folder: Path
) -> None:
    tensors = gpt2_tensors()
    for layer in range(2):
        for part in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"):
            old = tensors.pop(f"h.{layer}.{part}.weight")
            tensors |= {f"h.{layer}.{part}.{name}": np.ones_like(old, dtype=kind) for name, kind in change.items()}
    save_file(tensors, folder / "model.safetensors")
    if not config:
        (folder / "config.json").unlink()
    refused(folder, "quantised checkpoint", *words, "GGUF", "dequantize()")


@pytest.mark.parametrize(
    ("last", "shape"),
    [("weight_scale", ()), ("weight_scale", (1,)), ("scale", None), ("SCB", None), ("weight_scale", (1, None))],
)
def test_integers_with_their_scales_in_the_file_are_read(last: str, shape: Any, folder: Path) -> None:
    """q s, exactly, or q SCB / 127 of bitsandbytes; the layer says what its numbers are."""
    rng, tensors = np.random.default_rng(2), gpt2_tensors()
    stored: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    for name in [name for name in tensors if name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))]:
        rows = tensors[name].shape[0]
        q = rng.integers(-127, 128, tensors[name].shape).astype(np.int8)
        each = {None: (rows,), (1, None): (1, tensors[name].shape[1])}.get(shape, shape)
        s = rng.uniform(0.01, 0.02, each).astype(np.float32)
        stored |= {name: q, name.removesuffix("weight") + last: s}
        whole = q.astype(np.float64) * s.astype(np.float64).reshape(each if len(each) == 2 else (-1, 1))
        expected[name] = whole / 127 if last == "SCB" else whole
    save_file(tensors | stored, folder / "model.safetensors")
    model = load(folder)
    layer = model.layer(1)
    assert np.array_equal(layer.output_matrix(), expected["h.1.attn.c_proj.weight"].T)
    assert np.array_equal(layer.feed_forward.up, expected["h.1.mlp.c_fc.weight"].T)
    assert layer.stored_dtype == f"scaled int8 ({last}{' / 127, rounded to float64' if last == 'SCB' else ''})"
    assert not model.left_out.inside


def test_a_wrapper_with_the_model_inside_is_read() -> None:
    """nnsight's objects are no modules and keep the model under ``_model``."""
    from .conftest import make_reference

    class Wrapped:
        def __init__(self, model: Any) -> None:
            self._model = model

    inner = make_reference("gpt2")
    assert np.array_equal(load(Wrapped(inner)).layer(0).output_matrix(), load(inner).layer(0).output_matrix())


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda tensors: {"model_state_dict": tensors, "optimizer_state_dict": {"state": {}}, "epoch": 3, "loss": 0.5},
        lambda tensors: {"state_dict": {f"module.{name}": t for name, t in tensors.items()}},
        lambda tensors: {"state_dict": {f"model._orig_mod.{name}": t for name, t in tensors.items()}, "global_step": 7},
        lambda tensors: {"model": {"state_dict": {f"transformer.{n}": t for n, t in tensors.items()}}},
        lambda tensors: {"module": tensors, "ds_config": {}},
    ],
)
@pytest.mark.parametrize("name", ["pytorch_model.bin", "last.ckpt", "best.pt"])
def test_a_training_checkpoint_is_read(wrapped: Any, name: str, folder: Path) -> None:
    torch = pytest.importorskip("torch")
    (folder / "model.safetensors").unlink()
    tensors = gpt2_tensors()
    torch.save(wrapped({key: torch.tensor(array) for key, array in tensors.items()}), folder / name)
    read_all(folder)
    layer = load(folder).layer(1)
    assert np.array_equal(layer.output_matrix(), tensors["h.1.attn.c_proj.weight"].T)


@pytest.mark.parametrize("inside", [{"model_state_dict": {}}, {"epoch": 1}, {"state_dict": {"a": 1}}, {}])
def test_a_training_checkpoint_without_weights_says_so(inside: Any, folder: Path) -> None:
    torch = pytest.importorskip("torch")
    (folder / "model.safetensors").unlink()
    torch.save(inside, folder / "pytorch_model.bin")
    refused(folder, "no named tensors", "state_dict()")


def test_nothing_is_left_out_of_a_whole_checkpoint(folder: Path) -> None:
    found = load(folder).left_out
    assert (found.layers, found.inside, found.stacks) == ((), (), ())
    assert found.sentences(2) == []


def test_further_layers_are_told(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "n_layer": 1}))
    found = load(folder).left_out
    assert found.layers == (1,)
    assert "further layers (1): the configuration says 1" in found.sentences(1)[0]


def test_tensors_inside_a_layer_and_other_stacks_are_told(folder: Path) -> None:
    tensors = gpt2_tensors()
    tensors["h.1.attn.q_norm.weight"] = np.ones(D, np.float32)
    tensors["h.0.attn.bias"] = np.ones((1, 1, 4, 4), np.float32)  # the causal mask of old checkpoints
    tensors["decoder.layers.0.self_attn.q_proj.weight"] = np.ones((D, D), np.float32)
    tensors["lm_head.weight"] = np.ones((3, D), np.float32)
    save_file(tensors, folder / "model.safetensors")
    found = load(folder).left_out
    assert found.inside == ("h.1.attn.q_norm.weight",)
    assert found.stacks == ("decoder.layers.*",)
    assert found.layers == ()
    assert len(found.sentences(2)) == 2


def test_zero_weights_are_seen_by_layer(folder: Path) -> None:
    tensors = gpt2_tensors()
    assert zero_parts(load(folder).layer(0)) == []
    tensors["h.0.attn.c_attn.weight"][:, :D] = 0
    tensors["h.1.attn.c_attn.weight"][:] = 0
    tensors["h.1.attn.c_proj.weight"][:] = -0.0
    save_file(tensors, folder / "model.safetensors")
    model = load(folder)
    assert zero_parts(model.layer(0)) == ["query"]
    assert zero_parts(model.layer(1)) == ["query", "key", "value", "output"]


@pytest.mark.parametrize("text", ['{"model_type": "gpt2", "model_type": "gpt2"}', '{"n_embd": {"a": 1, "a": 2}}'])
def test_a_key_given_twice_in_the_configuration(text: str, folder: Path) -> None:
    (folder / "config.json").write_text(text)
    refused(folder, "twice")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tf_model.h5", "from_tf=True"),
        ("flax_model.msgpack", "from_flax=True"),
        ("model.onnx", "ONNX graph"),
        ("__0_0.distcp", "dcp_to_torch"),
        ("checkpoint-500/model.safetensors", "name checkpoint-500"),
        ("global_step9/mp_rank_00_model_states.pt", "name global_step9"),
    ],
)
def test_a_folder_with_weights_of_others_or_below_says_what_to_do(name: str, says: str, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"0" * 64)
    refused(folder, says)


def test_weights_under_a_name_of_its_own_are_told(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    (folder / "model.safetensors").unlink()
    tensors = {key: torch.tensor(array) for key, array in gpt2_tensors().items()}
    torch.save({"generator": tensors, "discriminator": tensors, "epoch": 1}, folder / "a.pt")
    refused(folder, "generator, discriminator", "torch.load(FILE)['generator']")
