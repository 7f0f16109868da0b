"""Products on a torch device: in float64 where it has one, else by error-free slices of float32 or of 8-bit integers.

**Slices** (Ozaki, Ogita, Oishi, Rump, *Error-free transformations of matrix multiplication*, Numer. Algorithms 59, 2012).
Rows of A and columns of B are scaled by powers of two to entries below 1 and cut, towards zero, into digits of 8 bits.  A
product of two digit matrices over 256 inner indices is a sum of integers below 2^24, which float32 forms exactly in any
order.  The pieces are added on this processor in double-double, so the result is the exact product to about one rounding:
far within ``gamma_k |A| |B|``, because digits cut towards zero have ``sum |A_s| = |A|``.  Entries that do not end after
``DIGITS`` digits (rows whose range is beyond 2^70) are multiplied on this processor instead.

**8-bit integers**: digits of 7 bits and a sign, whose products a device with an integer unit sums in 32 bits; over 2^17 inner
indices that is below ``2^17 127^2 < 2^31``, so exact, and all pairs of digits of one level ``s + t`` go into one product.  Levels
beyond L may be left out where this is shown to matter less than one rounding: digit s is at most ``2^(7 - 7 s)`` of its scale,
so with ``N_l`` pairs on level l what is left out is at most ``k sum_{l > L} N_l 2^(14 - 7 l)``, and the leading digits alone
show ``|A| |B| >= 2^-14 |A_1| |B_1|``.  L is taken so large that the former is at most ``k u / 4`` of the latter in every entry
(for one inner index nothing is left out); that and the one rounding of the sum stay below ``gamma_k |A| |B|``.

Of the ways that a device has, the quickest on a product of 512 whose integers are exact is taken (:func:`quickest`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.certified.arithmetic import NUMPY, DeviceArithmetic
from eigentoken.numerics.certified.enclosures import MatrixError
from eigentoken.numerics.certified.error_free_products import two_sum
from eigentoken.numerics.certified.rounding import Array

__all__ = [
    "DEVICES",
    "TorchDevice",
    "arithmetic_of",
    "exact_in_integers",
    "named",
    "present",
    "quickest",
    "sliced_in_integers",
]

DEVICES: Final = ("cpu", "cuda", "mps", "auto")
WIDTH: Final = 8  # bits of a digit
CHUNK: Final = 256  # inner indices of one product of digits: 2 * 8 + 8 = 24 bits
DIGITS: Final = 16
WIDTH_OF_INTEGERS: Final = 7
CHUNK_OF_INTEGERS: Final = 2**17
PADDING: Final = 32  # CUDA's integer products ask for sizes above 16 that are multiples of 8
Digits = Literal["", "float32", "int8"]
Integers = NDArray[np.int8]
Sums = NDArray[np.int64]


@dataclass(frozen=True)
class TorchDevice:
    """Products by torch on a device; ``digits``: error-free slices, for a device without float64 or with a slow one."""

    name: str
    digits: Digits = ""
    least: int = 64**3

    @property
    def factors(self) -> bool:
        return not self.digits

    @cached_property
    def _torch(self) -> Any:
        import torch

        return torch

    def product(self, a: Array, b: Array) -> Array:
        if self.digits == "int8":
            return sliced_in_integers(a, b, self.integers)
        if self.digits == "float32":
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

    def integers(self, a: Integers, b: Integers) -> Sums:
        """A product of 8-bit integers, summed in 32 bits."""
        m, n = a.shape[0], b.shape[1]
        left, right = (self._torch.as_tensor(_padded(each)).to(self.name) for each in (a, b))
        return np.asarray(self._torch._int_mm(left, right).cpu().numpy()[:m, :n], dtype=np.int64)


def _padded(matrix: Integers) -> Integers:
    sizes = [-(-size // PADDING) * PADDING for size in matrix.shape]
    found = np.zeros(sizes, dtype=np.int8)
    found[: matrix.shape[0], : matrix.shape[1]] = matrix
    return found


def exact_in_integers(integers: Callable[[Integers, Integers], Sums]) -> bool:
    """Are sums of 8-bit products those of 32 bits: no saturation, no wrapping, no float on the way?"""
    inner = 2**13
    rng = np.random.default_rng(8)
    extreme = np.full((4, inner), 127, dtype=np.int8)
    extreme[1] = -127
    extreme[2, ::2] = -127
    extreme[3] = rng.integers(64, 128, inner)  # sums of these are beyond the 24 bits of float32
    mixed = rng.integers(-127, 128, (inner, 6), dtype=np.int8)
    mixed[:, 0], mixed[:, 1], mixed[:, 2], mixed[:, 3] = 127, -127, extreme[2], rng.integers(64, 128, inner)
    wanted = extreme.astype(np.int64) @ mixed.astype(np.int64)
    try:
        return bool(np.array_equal(integers(extreme, mixed), wanted))
    except (RuntimeError, NotImplementedError, AttributeError, TypeError):  # a device without such products
        return False


def sliced_in_integers(a: Array, b: Array, integers: Callable[[Integers, Integers], Sums]) -> Array:
    """``A B`` from exact products of 8-bit integers, added level by level in double-double.

    >>> a, b = np.array([[1.0, 2.0**-40, -1.0]]), np.array([[1.0], [3.0], [1.0]])
    >>> plain = lambda x, y: x.astype(np.int64) @ y.astype(np.int64)
    >>> float(sliced_in_integers(a, b, plain)[0, 0]) == 3 * 2.0**-40
    True
    """
    left, right = _digits(a, axis=1, width=WIDTH_OF_INTEGERS), _digits(b, axis=0, width=WIDTH_OF_INTEGERS)
    if left is None or right is None:
        return np.asarray(a @ b)
    rows, columns = ([digit.astype(np.int8) for digit in each[0]] for each in (left, right))
    high, low = np.zeros((a.shape[0], b.shape[1])), np.zeros((a.shape[0], b.shape[1]))
    for level in range(_last_level(rows, columns, integers), 1, -1):
        pairs = [(s, level - s) for s in range(1, level) if s <= len(rows) and level - s <= len(columns)]
        first = np.hstack([rows[s - 1] for s, _ in pairs])
        second = np.vstack([columns[t - 1] for _, t in pairs])
        whole = np.zeros(high.shape, dtype=np.int64)
        for start in range(0, first.shape[1], CHUNK_OF_INTEGERS):
            inner = slice(start, start + CHUNK_OF_INTEGERS)
            whole += integers(first[:, inner], second[inner])
        high, error = two_sum(high, np.ldexp(whole.astype(np.float64), -WIDTH_OF_INTEGERS * level))
        low = low + error
    return np.asarray(np.ldexp(high + low, left[1] + right[1]))


def _last_level(rows: list[Integers], columns: list[Integers], integers: Callable[[Integers, Integers], Sums]) -> int:
    """The last level ``s + t`` that is formed: what is beyond is at most ``k u / 4`` of ``|A| |B|``, entry by entry."""
    most = len(rows) + len(columns)
    inner = rows[0].shape[1]
    if inner == 1 or inner > CHUNK_OF_INTEGERS:
        return most
    leading = integers(np.abs(rows[0]), np.abs(columns[0]))
    # a row or column of zeros has the product zero, whatever is left out
    least = leading[rows[0].any(axis=1)][:, columns[0].any(axis=0)].min(initial=np.iinfo(np.int64).max)
    allowed = Fraction(int(least), 2 ** (14 + 53 + 2))
    beyond = Fraction(0)
    for level in range(most, 2, -1):
        count = sum(1 for s in range(1, len(rows) + 1) if 1 <= level - s <= len(columns))
        beyond += Fraction(count, 2 ** (WIDTH_OF_INTEGERS * level - 14))
        if beyond > allowed:
            return level
    return 2


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


def _digits(matrix: Array, axis: int, width: int = WIDTH) -> tuple[list[Array], Array] | None:
    """Whole-number digits along rows (axis 1) or columns (axis 0), most significant first, and the powers of two taken out."""
    largest = np.abs(matrix).max(axis=axis, keepdims=True)
    exponent = np.frexp(largest)[1]
    rest = np.ldexp(matrix, width - exponent)
    if not np.array_equal(np.ldexp(rest, exponent - width), matrix):  # a power of two that underflows
        return None
    found = []
    for _ in range(DIGITS):
        digit = np.trunc(rest)
        found.append(digit)
        rest = (rest - digit) * 2.0**width
        if not rest.any():
            return found, exponent
    return None


def present() -> list[str]:
    """The devices of this machine, the processor first."""
    import torch

    names = ["cpu", *(f"cuda:{index}" for index in range(torch.cuda.device_count()))]
    return [*names, "mps"] if torch.backends.mps.is_available() else names


def named(device: str) -> str:
    """The device of this machine that is meant by ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` (one that is there).


    >>> named("cpu")
    'cpu'
    """
    if device == "cpu":
        return device
    kind, _, number = device.partition(":")
    if kind not in DEVICES or (number and (kind != "cuda" or not number.isdigit())):
        raise MatrixError(f"device must be one of {', '.join(DEVICES)} or cuda:NUMBER, got {device!r}")
    here = present()
    if device == "auto":
        return here[1] if len(here) > 1 else "cpu"
    wanted = "cuda:0" if device == "cuda" else device
    if wanted not in here:
        raise MatrixError(f"device {device!r} is not on this machine: torch sees {', '.join(here)}")
    return wanted


@lru_cache(maxsize=8)
def arithmetic_of(device: str) -> DeviceArithmetic:
    """The arithmetic of the device that is meant (:func:`named`).

    >>> arithmetic_of("cpu").name
    'cpu'
    """
    wanted = named(device)
    if wanted == "cpu":
        return NUMPY
    return quickest(wanted, ("float32", "int8") if wanted == "mps" else ("", "int8"))


def quickest(device: str, ways: Sequence[Digits], size: int = 512) -> TorchDevice:
    """The way that forms a product of this size in the least time there; 8-bit integers only where their sums are exact.

    The first way is always one of them.  Whether a way keeps to the bound is not decided here but by the probe of what is used.
    """
    rng = np.random.default_rng(512)
    a, b = rng.standard_normal((size, size)), rng.standard_normal((size, size))
    found, least = TorchDevice(device, ways[0]), math.inf
    for way in ways:
        one = TorchDevice(device, way)
        if way == "int8" and not exact_in_integers(one.integers):
            continue
        one.product(a, b)  # what is set up at the first use is not counted
        start = time.perf_counter()
        one.product(a, b)
        spent = time.perf_counter() - start
        if spent < least:
            found, least = one, spent
    return found
