"""The safetensors format: 8 bytes of header length, a JSON header, then the tensors without holes.

Read here directly so that each rule of the format is checked and each tensor is mapped only while it is copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.models.convention.configuration import parse_json
from eigentoken.models.convention.errors import ModelError, brief
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import SourceFile, TensorInfo, TensorStore

MAX_HEADER_BYTES = 32 << 20
"""Headers of the largest public checkpoints stay below 10 MB."""

DTYPES: dict[str, tuple[str, int, str | None]] = {
    "F64": ("float64", 8, "<f8"),
    "F32": ("float32", 4, "<f4"),
    "F16": ("float16", 2, "<f2"),
    "BF16": ("bfloat16", 2, "<u2"),
    "I64": ("int64", 8, "<i8"),
    "I32": ("int32", 4, "<i4"),
    "I16": ("int16", 2, "<i2"),
    "I8": ("int8", 1, "i1"),
    "U64": ("uint64", 8, "<u8"),
    "U32": ("uint32", 4, "<u4"),
    "U16": ("uint16", 2, "<u2"),
    "U8": ("uint8", 1, "u1"),
    "BOOL": ("bool", 1, "?"),
    "F8_E4M3": ("float8_e4m3", 1, None),
    "F8_E5M2": ("float8_e5m2", 1, None),
}
"""Format name: our name, bytes an entry, numpy dtype on disk (None: its values cannot be read here)."""


@dataclass(frozen=True)
class Span:
    """The bytes of one tensor in the file, and its dtype code."""

    start: int
    stop: int
    code: str


def widen_bfloat16(bits: Array) -> Array:
    """bfloat16 bit patterns (uint16) as the float32 of the same value: the upper half of its bits.

    >>> widen_bfloat16(np.array([0x3F80, 0xC000], dtype=np.uint16))
    array([ 1., -2.], dtype=float32)
    """
    wide = bits.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


class SafetensorsStore(TensorStore):
    """One ``.safetensors`` file."""

    format = "safetensors"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = str(path)
        self.spans, self.infos, size = read_header(path)
        self.files = (SourceFile(path, size),)

    def read(self, name: str) -> Array:
        """The tensor, copied out of a map that lives only during the copy."""
        span, info = self.spans[name], self.infos[name]
        disk = DTYPES[span.code][2]
        if disk is None:
            raise ModelError(
                f"{self.where}: the tensor {name} is stored as {info.dtype}, whose values are not read here: convert it "
                "to bfloat16"
            )
        if span.start == span.stop:
            return np.zeros(info.shape, dtype=np.dtype(disk))
        try:
            mapped: Array = np.memmap(self.path, dtype=np.dtype(disk), mode="r", offset=span.start, shape=info.shape)
        except (OSError, ValueError) as error:
            raise ModelError(f"{self.where}: the tensor {name} cannot be read ({brief(error)})") from None
        return widen_bfloat16(mapped) if span.code == "BF16" else np.array(mapped)


def read_header(path: Path) -> tuple[dict[str, Span], dict[str, TensorInfo], int]:
    """Where each tensor is, checked against the rules of the format and the size of the file."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            first = stream.read(8)
            if len(first) < 8:
                raise ModelError(f"{path}: not a safetensors file: {size} bytes, shorter than the header length")
            length = int.from_bytes(first, "little")
            if length > MAX_HEADER_BYTES:
                raise ModelError(
                    f"{path}: the header claims {length} bytes, more than the limit of {MAX_HEADER_BYTES}: "
                    "the file is damaged or not safetensors"
                )
            if length > size - 8:
                raise ModelError(f"{path}: the header claims {length} bytes, the file has {size}: truncated")
            text = stream.read(length)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({brief(error)})") from None
    header = parse_json(text, f"{path}: header")
    if not isinstance(header, dict):
        raise ModelError(f"{path}: the header must be a JSON object, got {type(header).__name__}")
    header.pop("__metadata__", None)
    spans: dict[str, Span] = {}
    infos: dict[str, TensorInfo] = {}
    for name, entry in header.items():
        infos[name], spans[name] = _entry(path, name, entry, 8 + length)
    _no_holes(path, spans, 8 + length, size)
    return spans, infos, size


def _entry(path: Path, name: str, entry: Any, data: int) -> tuple[TensorInfo, Span]:
    def wrong(what: str) -> ModelError:
        return ModelError(f"{path}: header of tensor {name[:80]!r}: {what}: the file is damaged")

    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise wrong("dtype, shape and data_offsets are needed")
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        raise wrong(f"unknown dtype {str(code)[:40]!r}")
    if not isinstance(shape, list) or len(shape) > 8 or not all(_count(n) for n in shape):
        raise wrong("shape must be a list of at most 8 non-negative whole numbers")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(_count(n) for n in offsets):
        raise wrong("data_offsets must be two non-negative whole numbers")
    start, stop = offsets
    label, item, _ = DTYPES[code]
    if stop - start != math.prod(shape) * item:
        raise wrong(f"{stop - start} bytes do not fit shape {tuple(shape)} of {label}")
    return TensorInfo(name, tuple(shape), label), Span(data + start, data + stop, code)


def _count(n: Any) -> bool:
    return isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 62


def _no_holes(path: Path, spans: dict[str, Span], data: int, size: int) -> None:
    at = data
    for name, span in sorted(spans.items(), key=lambda item: (item[1].start, item[1].stop)):
        if span.start != at:
            raise ModelError(f"{path}: the bytes of tensor {name[:80]!r} overlap others or leave a hole: damaged file")
        at = span.stop
    if at != size:
        state = "truncated" if size < at else "padded with bytes that belong to no tensor"
        raise ModelError(f"{path}: the header promises {at} bytes, the file has {size}: {state}")
