"""Matrices stored as 8-bit integers with their scales in the same file: the products are the weights.

``weight`` (int8) beside ``weight_scale`` or ``scale``: ``w = q s``, exact in float64 for half or single precision scales.  Beside
``SCB`` (bitsandbytes, Dettmers et al., 2022): ``w_ij = q_ij SCB_i / 127``, rounded to float64.  A scale is one number, one for
each row, or (of shape 1 x columns) one for each column; other schemes (groups, zero points, 4 bits) are refused elsewhere.
"""

from __future__ import annotations

import numpy as np

from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorInfo, TensorStore

LABEL = "scaled int8"
SCALES = ("weight_scale", "scale", "SCB")


class ScaledStore(TensorStore):
    """A store whose scaled integers are read as the numbers that they stand for."""

    def __init__(self, store: TensorStore, scales: dict[str, str]) -> None:
        self.store, self.scales = store, scales
        self.format, self.where, self.files = store.format, store.where, store.files
        self.infos = {
            name: TensorInfo(name, info.shape, self._label(name)) if name in scales else info
            for name, info in store.infos.items()
            if name not in set(scales.values())
        }

    def _label(self, name: str) -> str:
        last = self.scales[name].rpartition(".")[2]
        return f"{LABEL} ({last}{' / 127, rounded to float64' if last == 'SCB' else ''})"

    def read(self, name: str) -> Array:
        """The tensor; a scaled one as float64."""
        if name not in self.scales:
            return self.store.read(name)
        scale = self.store.read(self.scales[name]).astype(np.float64)
        scale = scale if scale.ndim == 2 else scale.reshape(-1, 1)
        product = self.store.read(name).astype(np.float64) * scale
        return product / 127.0 if self.scales[name].endswith(".SCB") else product

    def release(self) -> None:
        """Release the store underneath."""
        self.store.release()


def with_scales(store: TensorStore) -> TensorStore:
    """The store itself, or with the scales of its integer matrices multiplied in."""
    found: dict[str, str] = {}
    for name, info in store.infos.items():
        if info.dtype == "int8" and len(info.shape) == 2 and name.endswith(".weight"):
            stem = name.removesuffix("weight")
            beside = [other for last in SCALES if (other := stem + last) in store.infos]
            if len(beside) == 1 and _fits(store.infos[beside[0]], *info.shape):
                found[name] = beside[0]
    return ScaledStore(store, found) if found else store


def _fits(scale: TensorInfo, rows: int, columns: int) -> bool:
    """One number, one for each row or, said by the shape, one for each column, in floating point."""
    shapes = ((), (1,), (1, 1), (rows,), (rows, 1), (1, columns))
    return scale.dtype in ("float16", "bfloat16", "float32") and scale.shape in shapes
