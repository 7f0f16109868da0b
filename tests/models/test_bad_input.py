"""Bad and hostile checkpoints: one ModelError of one line each, and nothing executed."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from eigentoken.models import ModelError, load

D, HEADS, WIDTH, VOCABULARY, LENGTH = 8, 2, 12, 13, 10
CONFIG = {
    "model_type": "gpt2",
    "n_embd": D,
    "n_head": HEADS,
    "n_layer": 2,
    "n_inner": WIDTH,
    "n_positions": LENGTH,
    "vocab_size": VOCABULARY,
}


def gpt2_tensors() -> dict[str, Any]:
    """A small GPT-2, without transformers."""
    rng = np.random.default_rng(2)

    def random(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    tensors = {"wte.weight": random(VOCABULARY, D), "wpe.weight": random(LENGTH, D)}
    for i in range(2):
        for name, rows, columns in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, WIDTH)):
            tensors |= {f"h.{i}.{name}.weight": random(rows, columns), f"h.{i}.{name}.bias": random(columns)}
        tensors |= {f"h.{i}.mlp.c_proj.weight": random(WIDTH, D), f"h.{i}.mlp.c_proj.bias": random(D)}
        for name in ("ln_1", "ln_2"):
            tensors |= {f"h.{i}.{name}.weight": random(D), f"h.{i}.{name}.bias": random(D)}
    return tensors | {"ln_f.weight": random(D), "ln_f.bias": random(D)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good checkpoint to spoil."""
    made = tmp_path / "model"
    made.mkdir()
    save_file(gpt2_tensors(), made / "model.safetensors")
    (made / "config.json").write_text(json.dumps(CONFIG))
    return made


def read_all(source: Any) -> None:
    """Load and read everything that a check would."""
    model = load(source)
    for layer in model.layers():
        assert np.isfinite(layer.feed_forward.up).all()
    model.embedding()
    model.final_norm()


def refused(source: Any, *words: str) -> str:
    """The message of the ModelError, which is one line and has the words."""
    with pytest.raises(ModelError) as caught:
        read_all(source)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 700
    for word in words:
        assert word in message, message
    return message


def header_of(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    n = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + n]), data[8 + n :]


def write_with_header(path: Path, header: dict[str, Any] | bytes, body: bytes) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


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
        ("", "JSON"),
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
        {"model_type": None},
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
    refused(folder, "several prefixes")


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
    refused(folder, "int8", "floating point")


def sharded(folder: Path) -> dict[str, str]:
    """Split the checkpoint in two; returns the weight map."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    halves = {"model-1.safetensors": names[:9], "model-2.safetensors": names[9:]}
    for file, listed in halves.items():
        save_file({n: tensors[n] for n in listed}, folder / file)
    return {n: file for file, listed in halves.items() for n in listed}


def write_index(folder: Path, weight_map: Any) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def test_a_good_index(folder: Path) -> None:
    write_index(folder, sharded(folder))
    read_all(folder)


@pytest.mark.parametrize(
    "name", ["../model-1.safetensors", "/etc/passwd", "sub/model-1.safetensors", "..", ".", "", "a\\b", "C:x", "a\0b"]
)
def test_shard_names_that_point_outside(folder: Path, name: str) -> None:
    weight_map = sharded(folder)
    shutil.copy(folder / "model-1.safetensors", folder.parent / "model-1.safetensors")
    write_index(folder, {k: name if v == "model-1.safetensors" else v for k, v in weight_map.items()})
    refused(folder, "points outside the folder")


def test_links_that_lead_outside(folder: Path) -> None:
    write_index(folder, sharded(folder))
    outside = folder.parent / "elsewhere.safetensors"
    (folder / "model-1.safetensors").rename(outside)
    (folder / "model-1.safetensors").symlink_to(outside)
    refused(folder, "link that leads outside")
    (folder / "model-1.safetensors").unlink()
    (folder / "model-1.safetensors").symlink_to(folder / "model-1.safetensors")
    refused(folder, "model-1.safetensors")


def test_a_linked_config_or_single_file_that_leads_outside(folder: Path) -> None:
    outside = folder.parent / "secret.json"
    shutil.move(folder / "config.json", outside)
    (folder / "config.json").symlink_to(outside)
    refused(folder, "link that leads outside")
    (folder / "config.json").unlink()
    shutil.copy(outside, folder / "config.json")
    shutil.move(folder / "model.safetensors", folder.parent / "w.safetensors")
    (folder / "model.safetensors").symlink_to(folder.parent / "w.safetensors")
    refused(folder, "link that leads outside")


def test_indexes_that_lie(folder: Path) -> None:
    weight_map = sharded(folder)
    write_index(folder, weight_map | {"extra.weight": "model-1.safetensors"})
    refused(folder, "extra.weight", "not in its shard")
    write_index(folder, weight_map | {"extra.weight": "model-9.safetensors"})
    refused(folder, "model-9.safetensors", "missing")
    for wrong in (None, [], {}, {"a": 3}, "x"):
        write_index(folder, wrong)
        refused(folder, "index.json")
    again = load_file(folder / "model-2.safetensors")
    first = load_file(folder / "model-1.safetensors")
    save_file(again | {"h.0.attn.c_attn.weight": first["h.0.attn.c_attn.weight"]}, folder / "model-2.safetensors")
    write_index(folder, weight_map)
    refused(folder, "duplicate tensors")


def test_several_files_without_an_index(folder: Path) -> None:
    sharded(folder)
    refused(folder, "without an index")


class Evil:
    """Runs a command when it is unpickled, if anyone unpickles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch '{self.path}'",)


def test_a_pickle_with_code_is_not_executed(folder: Path) -> None:
    import torch

    (folder / "model.safetensors").unlink()
    mark, path = folder.parent / "executed", folder / "pytorch_model.bin"
    evil = {"h.0.attn.c_attn.weight": Evil(mark)}
    path.write_bytes(pickle.dumps(evil))
    refused(folder, "weights_only")
    for legacy in (True, False):
        torch.save(evil, path, _use_new_zipfile_serialization=not legacy)
        refused(folder, "nothing was executed")
    np.savez(folder / "model.npz", w=np.array([Evil(mark)], dtype=object))
    refused(folder / "model.npz", "pickled object")
    assert not mark.exists()
    pickle.loads(pickle.dumps(Evil(mark)))
    assert mark.exists(), "the payload of this test does not work"


def test_damaged_torch_files(folder: Path) -> None:
    import torch

    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    state = {name: torch.from_numpy(a) for name, a in gpt2_tensors().items()}
    for legacy in (True, False):
        torch.save(state, path, _use_new_zipfile_serialization=not legacy)
        read_all(folder)
        data = path.read_bytes()
        for damaged in (data[:10], data[: len(data) // 2], data[:-8], data[:-1], data + b"\0" * 8, data + data):
            path.write_bytes(damaged)
            refused(folder, "pytorch_model.bin")
    torch.save([1, 2], path)
    refused(folder, "state dict")
    torch.save({"a": 3}, path)
    refused(folder, "no tensors")
    torch.save(state | {"h.0.attn.c_attn.weight": torch.zeros(D, 3 * D, device="meta")}, path)
    refused(folder)
    torch.save(state | {"h.0.attn.c_attn.weight": torch.zeros(D, 3 * D).to_sparse()}, path)
    refused(folder)
    torch.save(state | {"h.0.attn.c_attn.weight": torch.zeros(D, 3 * D, dtype=torch.complex64)}, path)
    refused(folder, "h.0.attn.c_attn.weight")


def test_damaged_npz(folder: Path) -> None:
    path = folder / "m.npz"
    np.savez_compressed(path, **gpt2_tensors())
    read_all(path)
    data = path.read_bytes()
    for damaged in (data[:-1], data[: len(data) // 2], data + b"x", b"PK", b""):
        path.write_bytes(damaged)
        refused(path, "m.npz")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "w") as archive:
        for _ in range(2):
            archive.writestr("a.npy", b"x")
    refused(path, "two members")
    with zipfile.ZipFile(path, "w") as archive:
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000), }"
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n")
    refused(path, "do not fit")


def test_files_of_no_known_format(tmp_path: Path) -> None:
    for name, data in (("a.txt", b"hello"), ("b.bin", b"hello"), ("c.gguf", b"GGUF"), ("d.safetensors", b"")):
        (tmp_path / name).write_bytes(data)
        refused(tmp_path / name, name)


def test_damaged_gguf(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    path = tmp_path / "m.gguf"

    def text(s: str) -> bytes:
        return struct.pack("<Q", len(s)) + s.encode()

    def file(tensors: int, values: int, *rest: bytes) -> bytes:
        return b"GGUF" + struct.pack("<IQQ", 3, tensors, values) + b"".join(rest)

    arch = text("general.architecture") + struct.pack("<I", 8) + text("llama")
    tensor = text("a") + struct.pack("<IQIQ", 1, 8, 0, 0)
    cases: list[tuple[bytes, str]] = [
        (b"GGUF\x01\0\0\0", "version"),
        (file(2**60, 0), "claims"),
        (file(0, 1, arch), "no tensors"),
        (file(0, 2, arch, arch), "twice"),
        (file(2, 1, arch, tensor, tensor), "duplicate"),
        (file(1, 1, arch, tensor), "truncated"),
        (file(1, 1, arch, text("a") + struct.pack("<IQIQ", 1, 8, 999, 0)), "unknown type"),
        (file(1, 1, arch, text("a") + struct.pack("<IQIQ", 1, 8, 3, 0)), "whole blocks"),
        (file(1, 1, arch, text("a") + struct.pack("<I", 9)), "rank"),
        (file(0, 1, text("k") + struct.pack("<IIQ", 9, 8, 2**60)), "past the end"),
        (file(0, 1, text("k") + struct.pack("<IIQ", 9, 9, 2**60)), "arrays"),
        (file(0, 1, struct.pack("<Q", 2**63)), "past the end"),
        (file(0, 1, struct.pack("<Q", 2) + b"\xff\xfe" + struct.pack("<I", 4) + b"\0\0\0\0"), "UTF-8"),
        (file(0, 1, text("k") + struct.pack("<I", 77)), "value type"),
    ]
    for data, word in cases:
        path.write_bytes(data)
        refused(path, word)


def test_a_hub_id_without_network_or_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    refused("someone/some-model", "HF_HUB_OFFLINE", "sample:NAME")


def test_a_hub_id_in_the_offline_cache(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The cache keeps snapshots as links into blobs; those links are followed, links elsewhere are not."""
    pytest.importorskip("huggingface_hub")
    entry = tmp_path / "cache" / "models--someone--some-model"
    snapshot = entry / "snapshots" / "0123456789abcdef0123456789abcdef01234567"
    for part in (entry / "blobs", snapshot, entry / "refs"):
        part.mkdir(parents=True)
    (entry / "refs" / "main").write_text(snapshot.name)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(folder / name, entry / "blobs" / f"hash-{name}")
        (snapshot / name).symlink_to(Path("../../blobs") / f"hash-{name}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code = "import sys; from eigentoken.models import load; print(load('someone/some-model').describe())"
    environment = os.environ | {"HF_HUB_CACHE": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "someone/some-model: gpt2, 2 layers" in done.stdout, done.stderr
    (snapshot / "model.safetensors").unlink()
    (snapshot / "model.safetensors").symlink_to(folder / "model.safetensors")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "link that leads outside" in done.stderr


def test_running_wrong_tokens(folder: Path) -> None:
    from eigentoken.models import run_tokens

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
