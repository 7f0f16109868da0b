"""Products on a torch device: in float64 where it has one, else by error-free slices of float32.

**Slices** (Ozaki, Ogita, Oishi, Rump, *Error-free transformations of matrix multiplication*, Numer. Algorithms 59, 2012).
Rows of A and columns of B are scaled by powers of two to entries below 1 and cut, towards zero, into digits of 8 bits.  A
product of two digit matrices over 256 inner indices is a sum of integers below 2^24, which float32 forms exactly in any
order.  The pieces are added on this processor in double-double, so the result is the exact product to about one rounding:
far within ``gamma_k |A| |B|``, because digits cut towards zero have ``sum |A_s| = |A|``.  Entries that do not end after
``DIGITS`` digits (rows whose range is beyond 2^70) are multiplied on this processor instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from eigentoken.numerics.certified.arithmetic import NUMPY, DeviceArithmetic
from eigentoken.numerics.certified.enclosures import MatrixError
from eigentoken.numerics.certified.error_free_products import two_sum
from eigentoken.numerics.certified.rounding import Array

__all__ = ["DEVICES", "TorchDevice", "arithmetic_of", "present"]

DEVICES: Final = ("cpu", "cuda", "mps", "auto")
WIDTH: Final = 8  # bits of a digit
CHUNK: Final = 256  # inner indices of one product of digits: 2 * 8 + 8 = 24 bits
DIGITS: Final = 16


@dataclass(frozen=True)
class TorchDevice:
    """Products by ``torch.matmul`` on a device; ``slices``: in float32 digits, for a device without float64."""

    name: str
    slices: bool = False
    least: int = 64**3

    @property
    def factors(self) -> bool:
        return not self.slices

    @cached_property
    def _torch(self) -> Any:
        import torch

        return torch

    def product(self, a: Array, b: Array) -> Array:
        if self.slices:
            return sliced(a, b, self._whole)
        return self._there(a, b, np.float64)

    def factor(self, matrix: Array) -> Array | None:
        found, info = self._torch.linalg.cholesky_ex(self._torch.as_tensor(matrix).to(self.name))
        return None if int(info) else np.ascontiguousarray(found.cpu().numpy())

    def _whole(self, a: Array, b: Array) -> Array:
        """A product of whole numbers below 2^8, summed below 2^24: exact in float32."""
        return self._there(a, b, np.float32).astype(np.float64)

    def _there(self, a: Array, b: Array, kind: type[np.floating[Any]]) -> Array:
        left, right = (self._torch.as_tensor(np.ascontiguousarray(each, dtype=kind)).to(self.name) for each in (a, b))
        return np.ascontiguousarray((left @ right).cpu().numpy())


def sliced(a: Array, b: Array, whole: Callable[[Array, Array], Array]) -> Array:
    """``A B`` from products ``whole(digits, digits)`` of small whole numbers, added in double-double.

    >>> a, b = np.array([[1.0, 2.0**-40, -1.0]]), np.array([[1.0], [3.0], [1.0]])
    >>> float(sliced(a, b, np.matmul)[0, 0]) == 3 * 2.0**-40
    True
    """
    left, right = _digits(a, axis=1), _digits(b, axis=0)
    if left is None or right is None:
        return np.asarray(a @ b)
    high, low = np.zeros((a.shape[0], b.shape[1])), np.zeros((a.shape[0], b.shape[1]))
    for s, first in reversed(list(enumerate(left[0], 1))):
        for t, second in reversed(list(enumerate(right[0], 1))):
            for start in range(0, a.shape[1], CHUNK):
                inner = slice(start, start + CHUNK)
                piece = np.ldexp(whole(first[:, inner], second[inner]), -WIDTH * (s + t))
                high, error = two_sum(high, piece)
                low = low + error
    return np.asarray(np.ldexp(high + low, left[1] + right[1]))


def _digits(matrix: Array, axis: int) -> tuple[list[Array], Array] | None:
    """Whole-number digits along rows (axis 1) or columns (axis 0), most significant first, and the powers of two taken out."""
    largest = np.abs(matrix).max(axis=axis, keepdims=True)
    exponent = np.frexp(largest)[1]
    rest = np.ldexp(matrix, WIDTH - exponent)
    if not np.array_equal(np.ldexp(rest, exponent - WIDTH), matrix):  # a power of two that underflows
        return None
    found = []
    for _ in range(DIGITS):
        digit = np.trunc(rest)
        found.append(digit)
        rest = (rest - digit) * 2.0**WIDTH
        if not rest.any():
            return found, exponent
    return None


def present() -> list[str]:
    """The devices of this machine, the processor first."""
    import torch

    names = ["cpu", *(f"cuda:{index}" for index in range(torch.cuda.device_count()))]
    return [*names, "mps"] if torch.backends.mps.is_available() else names


@lru_cache(maxsize=8)
def arithmetic_of(device: str) -> DeviceArithmetic:
    """The arithmetic of ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` (a device if there is one, else the processor).

    >>> arithmetic_of("cpu").name
    'cpu'
    """
    if device == "cpu":
        return NUMPY
    kind, _, number = device.partition(":")
    if kind not in DEVICES or (number and (kind != "cuda" or not number.isdigit())):
        raise MatrixError(f"device must be one of {', '.join(DEVICES)} or cuda:NUMBER, got {device!r}")
    here = present()
    if device == "auto":
        return arithmetic_of(here[1]) if len(here) > 1 else NUMPY
    wanted = "cuda:0" if device == "cuda" else device
    if wanted not in here:
        raise MatrixError(f"device {device!r} is not on this machine: torch sees {', '.join(here)}")
    return TorchDevice(wanted, slices=wanted == "mps")
