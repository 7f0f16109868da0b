"""Damaged and hostile files of every format: a pickle with code, cut zip archives, lying GGUF headers; nothing runs."""

from __future__ import annotations

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

from .spoiled import (
    D,
    gpt2_tensors,
    read_all,
    refused,
)


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
    refused(folder, "no named tensors", "state_dict()")
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
