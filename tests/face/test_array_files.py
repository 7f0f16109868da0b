"""Array files: the header is held against the size of the file before anything is allocated."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.files.arrays import ArrayFileError, read_npy, read_npz, write_npz, write_safetensors

from ..commands import at_once


def header(shape: str, kind: str = "<f8", version: int = 1) -> bytes:
    """128 bytes of a .npy file that may claim anything."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text = text.ljust(128 - 11) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.zeros((0, 3)),
        np.float32(2.5),
        np.arange(5, dtype=np.int8),
        np.array(["a", "bc"]),
        np.ones((2, 2), dtype=bool),
    ],
    ids=str,
)
def test_what_numpy_saves_is_read(array: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", array)
    read = read_npy(tmp_path / "a.npy")
    assert read.dtype == array.dtype
    assert np.array_equal(read, array)
    write_npz(tmp_path / "a.npz", {"a": array, "b": array})
    assert list(read_npz(tmp_path / "a.npz")) == ["a", "b"]
    assert np.array_equal(read_npz(tmp_path / "a.npz")["b"], array)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (header("(100000, 100000)"), "claims 100000 x 100000"),
        (header("(4611686018427387904, 8)"), "claims"),
        (header("(99999999999999999999999999,)"), "claims"),
        (header("(-1, -5)"), "claims"),
        (header("(2, 2)", "|O"), "Python objects"),
        (header("(2, 2)") + bytes(31), "claims"),
        (header("(2, 2)", "<f9"), "not a .npy file"),
        (header("(2,"), "not a .npy file"),
        (header("(2, 2)", version=9), "version"),
        (header("(" * 60), "not a .npy file"),
        (header("__import__('os')"), "not a .npy file"),
        (b"\x93NUMPY\x01\x00\xff\xff", "not a .npy file"),
        (b"", "not a .npy file"),
        (b"PK\x03\x04", "not a .npy file"),
    ],
)
def test_what_lies_is_refused_at_once(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", data)
    for read, name in ((read_npy, "a.npy"), (read_npz, "a.npz")):
        with at_once(), pytest.raises(ArrayFileError, match=words) as caught:
            read(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_mostly_a_hole_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(header("(100000, 100000)"))
    os.truncate(path, 128 + 8 * 10**10)
    with pytest.raises(ArrayFileError, match="at most"):
        read_npy(path)


def test_truncations_and_changed_bytes_never_escape(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.arange(20.0), b=np.ones((3, 3)))
    whole = stream.getvalue()
    rng = np.random.default_rng(0)
    path = tmp_path / "a.npz"
    for _ in range(300):
        spoiled = bytearray(whole[: rng.integers(len(whole))] if rng.random() < 0.5 else whole)
        for at in rng.integers(len(spoiled) or 1, size=3 if spoiled else 0):
            spoiled[at] = rng.integers(256)
        path.write_bytes(spoiled)
        try:
            read_npz(path)
        except ArrayFileError as problem:
            assert "\n" not in str(problem)


def test_a_full_disk_is_an_error_of_the_operating_system(tmp_path: Path) -> None:
    """safetensors has an error of its own; what a command catches is OSError."""
    code = (
        "import numpy, pathlib\n"
        "from eigentoken.files.arrays import write_safetensors\n"
        "try:\n"
        f"    write_safetensors(pathlib.Path({str(tmp_path / 'a.safetensors')!r}), {{'a': numpy.zeros(10000)}})\n"
        "except OSError as problem:\n"
        "    print(problem.strerror)\n"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=limit)
    assert ran.stdout == "File too large\n", ran.stderr
    write_safetensors(tmp_path / "b.safetensors", {"a": np.zeros(3)})
    assert (tmp_path / "b.safetensors").stat().st_size > 24
