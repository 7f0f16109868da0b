"""A fuzzer: corrupted variants of real checkpoints either read to finite matrices or raise ModelError, nothing else.

Variants are numbered, so that a failure is repeated with ``read_variant(kind, number)``.  Bit flips, truncations,
padding, removed and overwritten blocks hit the weight file, half of them near its start or end, where the structure is;
the rest edit the JSON of the header or of config.json.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import ModelError, load
from eigentoken.models.loading import samples

from ..shares import others_slow
from . import conftest as tiny
from .spoiled import CONFIG, gpt2_tensors

KINDS = ("rxnmapper-bin", "safetensors", "sharded", "torch-zip", "torch-legacy", "npz", "gguf", "llama2c")
VARIANTS = 70
"""For each kind in the normal run: 560 in all."""
VALUES = [0, 1, -1, 2, 3, 2**31, 2**63, -(2**40), 0.5, 1e308, -1e-9, "", "x", None, True, [], [1], {}, {"a": 1}]


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """``originals(kind)``: a folder with a good checkpoint, and the name of its weight file."""
    made: dict[str, tuple[Path, str]] = {}

    def get(kind: str) -> tuple[Path, str]:
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            made[kind] = (folder, build(kind, folder))
        return made[kind]

    return get


def build(kind: str, folder: Path) -> str:
    """Write a good checkpoint of the kind; returns the file to damage."""
    (folder / "config.json").write_text(json.dumps(CONFIG))
    tensors = gpt2_tensors()
    if kind == "rxnmapper-bin":
        shutil.copytree(samples.fetch("rxnmapper"), folder, dirs_exist_ok=True)
        return "pytorch_model.bin"
    if kind == "safetensors":
        from safetensors.numpy import save_file

        save_file(tensors, folder / "model.safetensors")
        return "model.safetensors"
    if kind == "sharded":
        from safetensors.numpy import save_file

        names = sorted(tensors)
        parts = {"a.safetensors": names[:9], "b.safetensors": names[9:]}
        for part, listed in parts.items():
            save_file({n: tensors[n] for n in listed}, folder / part)
        weight_map = {n: part for part, listed in parts.items() for n in listed}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
        return "model.safetensors.index.json"
    if kind.startswith("torch"):
        import torch

        state = {name: torch.from_numpy(a) for name, a in tensors.items()}
        zipped = kind == "torch-zip"
        torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
        return "pytorch_model.bin"
    if kind == "npz":
        np.savez_compressed(folder / "model.npz", **tensors)
        return "model.npz"
    if kind == "gguf":
        write_small_gguf(folder / "model.gguf")
        return "model.gguf"
    header = np.array([8, 12, 2, 2, 1, 13, 10], dtype="<i4")
    floats = 13 * 8 + 2 * 8 * 2 + 2 * (8 * 8 * 2 + 4 * 8 * 2) + 2 * 3 * 96 + 8 + 10 * 4
    body = np.random.default_rng(0).standard_normal(floats).astype("<f4")
    (folder / "stories.bin").write_bytes(header.tobytes() + body.tobytes())
    return "stories.bin"


def write_small_gguf(path: Path) -> None:
    """Two layers of the llama architecture, Q8_0."""
    gguf = pytest.importorskip("gguf")
    rng = np.random.default_rng(0)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_block_count(2)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_token_list([f"t{i}" for i in range(13)])
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (13, 32), "output_norm": (32,)}
    for i in range(2):
        shapes |= {f"blk.{i}.{n}": (32, 32) for n in ("attn_q", "attn_output", "ffn_gate", "ffn_up", "ffn_down")}
        shapes |= {f"blk.{i}.{n}": (16, 32) for n in ("attn_k", "attn_v")}
        shapes |= {f"blk.{i}.{n}": (32,) for n in ("attn_norm", "ffn_norm")}
    for name, shape in shapes.items():
        kind = gguf.GGMLQuantizationType["Q8_0" if len(shape) == 2 else "F32"]
        array = rng.standard_normal(shape).astype(np.float32)
        writer.add_tensor(f"{name}.weight", gguf.quants.quantize(array, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def damage_bytes(data: bytes, chance: random.Random) -> bytes:
    """One to four random injuries of a file."""
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        size = len(damaged)
        if size < 16:
            break
        near = chance.choice([min(size, 3000), min(size, 3000), size, size])
        at = chance.randrange(near) if chance.random() < 0.7 else size - 1 - chance.randrange(near)
        what = chance.randrange(7)
        if what <= 2:
            damaged[at] ^= 1 << chance.randrange(8)
        elif what == 3:
            del damaged[at if chance.random() < 0.5 else size - chance.randint(1, 64) :]
        elif what == 4:
            damaged += bytes(chance.randrange(256) for _ in range(chance.randint(1, 64)))
        elif what == 5:
            length = chance.randint(1, 64)
            damaged[at : at + length] = bytes([chance.choice([0, 255, 128])]) * len(damaged[at : at + length])
        else:
            length = chance.randint(1, 40)
            del damaged[at : at + length]
    return bytes(damaged)


def damage_json(value: Any, chance: random.Random) -> Any:
    """One random edit somewhere in a JSON value."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        what = chance.randrange(4)
        if what == 0:
            return {k: v for k, v in value.items() if k != key}
        if what == 1:
            return {(key + "x" if k == key else k): v for k, v in value.items()}
        return value | {key: damage_json(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [damage_json(v, chance) if i == at else v for i, v in enumerate(value)]
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.5:
        return value + chance.choice([-1, 1, 8, -8, 1000])
    return chance.choice(VALUES)


def read_variant(kind: str, number: int, original: tuple[Path, str], folder: Path) -> bool:
    """Damage a copy and read all of it; True if it was read, False if it was refused.  Any other exception escapes."""
    chance = random.Random(f"{kind} {number}")
    source, weights = original
    shutil.copytree(source, folder, dirs_exist_ok=True)
    path = folder / weights
    carries_config = kind in ("gguf", "llama2c")
    if chance.random() < (0.0 if carries_config else 0.3):
        values = json.loads((folder / "config.json").read_text())
        for _ in range(chance.randint(1, 2)):
            values = damage_json(values, chance)
        (folder / "config.json").write_text(json.dumps(values))
    elif kind == "safetensors" and chance.random() < 0.6:
        data = path.read_bytes()
        n = int.from_bytes(data[:8], "little")
        text = json.dumps(damage_json(json.loads(data[8 : 8 + n]), chance)).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + n :])
    elif kind == "sharded" and chance.random() < 0.6:
        path.write_text(json.dumps(damage_json(json.loads(path.read_text()), chance)))
    else:
        path.write_bytes(damage_bytes(path.read_bytes(), chance))
    return read_or_refuse(folder)


def read_or_refuse(folder: Path) -> bool:
    """True if everything could be read and is finite, False for a ModelError of one line."""
    try:
        model = load(folder)
        for layer in model.layers():
            for head in layer.heads:
                assert all(np.isfinite(getattr(head, n)).all() for n in "QKVO")
                assert head.Q.shape == (model.d_head, model.d) == head.O.T.shape
            assert np.isfinite(layer.feed_forward.down).all()
        model.embedding()
        model.final_norm()
    except ModelError as error:
        assert "\n" not in str(error) and str(error)
        return False
    return True


def fuzz(kind: str, numbers: range, originals: Any, tmp_path: Path) -> None:
    read = 0
    for number in numbers:
        folder = tmp_path / str(number)
        read += read_variant(kind, number, originals(kind), folder)
        shutil.rmtree(folder)
    assert read < len(numbers), "no variant was refused: the fuzzer does not reach the file"


@pytest.mark.parametrize("kind", KINDS)
def test_corrupted_checkpoints_never_crash(kind: str, originals: Any, tmp_path: Path) -> None:
    fuzz(kind, range(VARIANTS), originals, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_corrupted_checkpoints_never_crash(kind: str, originals: Any, tmp_path: Path) -> None:
    fuzz(kind, range(VARIANTS, 800), originals, tmp_path)


#: one of each architecture: the others are variants of them
PLAIN = {"albert", "bert", "roberta", "gpt2", "gpt-neo", "llama", "mistral", "qwen2", "smollm3", "vit"}


@pytest.mark.parametrize("key", others_slow(tiny.FAMILIES, lambda key: key in PLAIN))
def test_edited_configurations_of_every_family_never_crash(key: str, saved: Any, tmp_path: Path) -> None:
    chance = random.Random(key)
    shutil.copytree(saved(key)[1], tmp_path, dirs_exist_ok=True)
    good = json.loads((tmp_path / "config.json").read_text())
    read = 0
    for _ in range(60):
        (tmp_path / "config.json").write_text(json.dumps(damage_json(damage_json(good, chance), chance)))
        read += read_or_refuse(tmp_path)
    assert 0 < read < 60


def test_the_originals_are_good(originals: Any) -> None:
    for kind in KINDS:
        model = load(originals(kind)[0])
        assert sum(1 for _ in model.layers()) == model.n_layers
