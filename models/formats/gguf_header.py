"""The header of a GGUF file, read with every length checked against the file (version 2 and 3, little endian).

Layout: ``GGUF``, version, counts; key-value pairs; tensor names, shapes, types, offsets; padding; the tensors.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigentoken.models.convention.errors import ModelError, brief

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
KEPT_ARRAY = 4096
"""Longer arrays are the vocabulary: they are walked over and not kept."""
MAX_ENTRIES = 1 << 20
MAX_HEADER = 512 << 20


@dataclass(frozen=True)
class GgufTensor:
    """One tensor: shape in row order (slowest first), ggml type number, place in the file."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int


class _Cursor:
    """Reads forward through the map of the file; every step is checked."""

    def __init__(self, data: mmap.mmap, where: str) -> None:
        self.data = data
        self.at = 0
        self.end = min(len(data), MAX_HEADER)
        self.where = where

    def skip(self, size: int) -> int:
        """Step over ``size`` bytes and return where they began."""
        begin = self.at
        if size < 0 or begin + size > self.end:
            raise ModelError(f"{self.where}: the header runs past the end of the file: truncated or damaged")
        self.at = begin + size
        return begin

    def scalar(self, code: str) -> Any:
        """One number."""
        return struct.unpack_from(code, self.data, self.skip(struct.calcsize(code)))[0]

    def string(self) -> str:
        """A length and that many bytes of UTF-8."""
        size = self.scalar("<Q")
        begin = self.skip(size)
        try:
            return bytes(self.data[begin : begin + size]).decode("utf-8")
        except UnicodeDecodeError:
            raise ModelError(f"{self.where}: a name in the header is not UTF-8: the file is damaged") from None

    def value(self, kind: int, depth: int = 0) -> Any:
        """A value of the given type; long arrays give None."""
        if kind in SCALARS:
            return self.scalar(SCALARS[kind])
        if kind == STRING:
            return self.string()
        if kind != ARRAY or depth > 2:
            raise ModelError(f"{self.where}: unknown value type {kind} in the header: the file is damaged")
        inner, count = self.scalar("<I"), self.scalar("<Q")
        if inner in SCALARS:
            size = struct.calcsize(SCALARS[inner])
            if count > KEPT_ARRAY:
                self.skip(size * count)
                return None
            return [self.scalar(SCALARS[inner]) for _ in range(count)]
        if inner == STRING and count > KEPT_ARRAY:
            for _ in range(count):
                self.skip(self.scalar("<Q"))
            return None
        if count > KEPT_ARRAY:
            raise ModelError(f"{self.where}: an array of {count} arrays in the header: the file is damaged")
        return [self.value(inner, depth + 1) for _ in range(count)]


def read_gguf_header(path: Path) -> tuple[dict[str, Any], dict[str, GgufTensor], int]:
    """Key-value pairs, tensors by name (offsets from the start of the file), and the alignment."""
    where = str(path)
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _parse(_Cursor(data, where))
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{where}: cannot be read as GGUF ({brief(error)})") from None


def _parse(cursor: _Cursor) -> tuple[dict[str, Any], dict[str, GgufTensor], int]:
    where = cursor.where
    if cursor.data[:4] != b"GGUF":
        raise ModelError(f"{where}: not a GGUF file")
    cursor.skip(4)
    version = cursor.scalar("<I")
    if version not in (2, 3):
        raise ModelError(f"{where}: GGUF version {version} is not supported: expected little-endian 2 or 3")
    n_tensors, n_values = cursor.scalar("<Q"), cursor.scalar("<Q")
    if max(n_tensors, n_values) > MAX_ENTRIES:
        raise ModelError(f"{where}: the header claims {n_tensors} tensors and {n_values} values: the file is damaged")
    values: dict[str, Any] = {}
    for _ in range(n_values):
        key = cursor.string()
        if key in values:
            raise ModelError(f"{where}: the key {key[:80]!r} is there twice: the file is damaged")
        values[key] = cursor.value(cursor.scalar("<I"))
    tensors: dict[str, GgufTensor] = {}
    for _ in range(n_tensors):
        name = cursor.string()
        rank = cursor.scalar("<I")
        if rank > 4 or name in tensors:
            what = "there twice (duplicate tensors)" if name in tensors else f"of rank {rank}"
            raise ModelError(f"{where}: the tensor {name[:80]!r} is {what}: the file is damaged")
        shape = tuple(reversed([cursor.scalar("<Q") for _ in range(rank)]))
        kind, offset = cursor.scalar("<I"), cursor.scalar("<Q")
        tensors[name] = GgufTensor(name, shape, kind, offset)
    alignment = values.get("general.alignment", 32)
    if not isinstance(alignment, int) or not 1 <= alignment <= 1 << 20 or alignment & (alignment - 1):
        raise ModelError(f"{where}: general.alignment must be a power of two, got {str(alignment)[:40]}")
    start = -(-cursor.at // alignment) * alignment
    placed = {t.name: GgufTensor(t.name, t.shape, t.kind, start + t.offset) for t in tensors.values()}
    return values, placed, alignment
