"""A device that is not here: sums in a random order, every multiply-add fused, subnormal numbers flushed to zero.

The products are those of a machine that obeys IEEE arithmetic and nothing more.  ``spoil`` makes one that does not:
its operands are rounded to 11 bits first, as TF32 does.  :func:`chopped` and :func:`fixed_point` are products of others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.certified.devices import sliced_in_integers
from eigentoken.numerics.certified.error_free_products import two_sum
from eigentoken.numerics.certified.rounding import TINY, Array


def flushed(values: Array) -> Array:
    return np.where(np.abs(values) < TINY, 0.0, values)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a b = p + e`` exactly (Dekker), where nothing over- or underflows."""

    def halves(x: Array) -> tuple[Array, Array]:
        big = x * 134217729.0
        high = big - (big - x)
        return high, x - high

    p = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def fused(a: Array, b: Array, c: Array) -> Array:
    """``fl(a b + c)`` with one rounding."""
    p, e = two_product(a, b)
    s, t = two_sum(c, p)
    return flushed(s + (t + e))


def chopped(a: Array, b: Array) -> Array:
    """Every product and sum rounded towards zero."""

    def towards_zero(value: Array, rest: Array) -> Array:
        return np.where(np.sign(rest) * np.sign(value) < 0, np.nextafter(value, 0.0), value)

    total = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        left, right = np.broadcast_arrays(a[:, k : k + 1], b[k : k + 1])
        total = towards_zero(*two_sum(total, towards_zero(*two_product(left, right))))
    return total


def fixed_point(a: Array, b: Array, bits: int = 56) -> Array:
    """Float64 out of whole numbers: so many bits below the largest entry of each row and column, no more."""

    def cut(x: Array, axis: int) -> tuple[Array, Array]:
        exponent = np.frexp(np.abs(x).max(axis=axis, keepdims=True))[1]
        return np.trunc(np.ldexp(x, bits - exponent)), exponent - bits

    (left, first), (right, second) = cut(a, 1), cut(b, 0)
    whole = flint.fmpz_mat([[int(v) for v in row] for row in left]) * flint.fmpz_mat(
        [[int(v) for v in row] for row in right]
    )
    found = np.array([float(int(v)) for v in whole.entries()]).reshape(len(left), right.shape[1])
    return np.ldexp(found, first + second)


@dataclass
class SimulatedDevice:
    """An :class:`~eigentoken.numerics.certified.arithmetic.DeviceArithmetic` of its own; ``asked`` counts products."""

    seed: int = 0
    spoil: bool = False
    name: str = "simulated"
    least: int = 0
    factors: bool = True
    asked: int = 0
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def product(self, a: Array, b: Array) -> Array:
        self.asked += 1
        a, b = flushed(np.asarray(a, dtype=np.float64)), flushed(np.asarray(b, dtype=np.float64))
        if self.spoil:
            a, b = (np.ldexp(np.rint(np.frexp(x)[0] * 2**11), np.frexp(x)[1] - 11) for x in (a, b))
        inner = self.rng.permutation(a.shape[1])
        parts = []
        for block in np.array_split(inner, int(self.rng.integers(1, max(2, len(inner) // 3)))):
            total = np.zeros((a.shape[0], b.shape[1]))
            for k in block:
                total = fused(a[:, k : k + 1], b[k : k + 1], total)
            parts.append(total)
        while len(parts) > 1:  # the blocks in a random tree
            i, j = sorted(self.rng.choice(len(parts), 2, replace=False), reverse=True)
            first, second = parts.pop(i), parts.pop(j)
            parts.append(flushed(first + second))
        return parts[0]

    def integers(self, a: NDArray[np.int8], b: NDArray[np.int8]) -> NDArray[np.int64]:
        """Products of 8-bit integers, summed in 32 bits in a random order (spoiled: in 16 bits, with saturation)."""
        self.asked += 1
        inner = self.rng.permutation(a.shape[1])
        terms = a[:, inner].astype(np.int32)[:, :, None] * b[inner].astype(np.int32)[None]
        if not self.spoil:
            return np.asarray(terms.sum(axis=1, dtype=np.int32), dtype=np.int64)
        total = np.zeros((a.shape[0], b.shape[1]), dtype=np.int64)
        for k in range(len(inner)):
            total = np.clip(total + terms[:, k], -(2**15), 2**15 - 1)
        return total

    def factor(self, matrix: Array) -> Array | None:
        """A factor with its own errors, a few units in the last place of each entry."""
        try:
            found = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return None
        return np.asarray(found * (1 + 2.0**-53 * self.rng.integers(-2, 3, found.shape)))


@dataclass
class SimulatedIntegers(SimulatedDevice):
    """A device whose products are put together from those of 8-bit integers."""

    name: str = "simulated-integers"
    factors: bool = False

    def product(self, a: Array, b: Array) -> Array:
        return sliced_in_integers(a, b, self.integers)
