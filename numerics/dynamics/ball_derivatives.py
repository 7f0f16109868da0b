"""First derivatives in ball arithmetic: numbers ``value + slope . dz`` over arb, for the loop form of the systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from eigentoken.theory.systems.algebra import LoopAlgebra

__all__ = ["Dual", "dual_algebra", "inverse_of_midpoint", "positive_definite"]


@dataclass(frozen=True, eq=False)
class Dual:
    """A ball and its gradient (a 1 x width row of balls): forward differentiation with rigorous enclosures."""

    value: arb
    slope: arb_mat

    @staticmethod
    def constant(value: Any, width: int) -> Dual:
        return Dual(arb(value), arb_mat(1, width))

    @staticmethod
    def variable(value: Any, index: int, width: int) -> Dual:
        slope = arb_mat(1, width)
        slope[0, index] = 1
        return Dual(arb(value), slope)

    def __add__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slope + other.slope)
        return Dual(self.value + other, self.slope)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __sub__(self, other: Any) -> Dual:
        return self + (-other)

    def __rsub__(self, other: Any) -> Dual:
        return (-self) + other

    def __mul__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.slope * other.value + other.slope * self.value)
        return Dual(self.value * other, self.slope * arb(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        return self * other.reciprocal() if isinstance(other, Dual) else self * (1 / arb(other))

    def __rtruediv__(self, other: Any) -> Dual:
        return self.reciprocal() * other

    def reciprocal(self) -> Dual:
        inverse = 1 / self.value
        return Dual(inverse, self.slope * (-inverse * inverse))

    def exp(self) -> Dual:
        grown = self.value.exp()
        return Dual(grown, self.slope * grown)

    def sqrt(self) -> Dual:
        root = self.value.sqrt()
        return Dual(root, self.slope * (1 / (2 * root)))


def dual_algebra(width: int) -> LoopAlgebra:
    """The loop algebra whose scalars are :class:`Dual` numbers with gradients of the given width."""
    return LoopAlgebra(lambda y: y.exp(), lambda y: y.sqrt(), Dual.constant(arb(1), width))


def inverse_of_midpoint(matrix: arb_mat) -> arb_mat | None:
    """A floating-point inverse of the midpoints, as exact balls; ``None`` if that matrix is numerically singular."""
    size = matrix.nrows()
    middle = np.array([[float(matrix[r, c].mid()) for c in range(size)] for r in range(size)])
    if not np.isfinite(middle).all() or np.linalg.cond(middle) > 1e13:
        return None
    inverse = np.linalg.inv(middle)
    return arb_mat(size, size, [arb(float(inverse[r, c])) for r in range(size) for c in range(size)])


def positive_definite(matrix: arb_mat) -> bool:
    """True only if every symmetric matrix in the ball matrix is positive definite (LDL^T with positive pivots).

    The matrix must be symmetric up to its balls; the strict upper triangle is read.
    """
    size = matrix.nrows()
    rows = [[(matrix[r, c] + matrix[c, r]) / 2 for c in range(size)] for r in range(size)]
    for k in range(size):
        pivot = rows[k][k]
        if not pivot > 0:
            return False
        for r in range(k + 1, size):
            factor = rows[r][k] / pivot
            for c in range(k + 1, r + 1):
                rows[r][c] = rows[r][c] - factor * rows[c][k]
    return True
