"""Simple rational numbers, rational points of spheres, rational orthogonal matrices: exact instances that people can read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["LADDER", "rounded", "sphere_point", "weight"]

#: Denominators that are tried in turn, coarse first.
LADDER = (1, 2, 3, 4, 5, 8, 10, 20, 50, 100, 1000, 10**5, 10**8)


def rounded(value: float, denominator: int) -> Fraction:
    """The nearest multiple of ``1/denominator``.

    >>> rounded(0.26, 4)
    Fraction(1, 4)
    """
    return Fraction(round(float(value) * denominator), denominator)


def sphere_point(x: Sequence[float], denominator: int) -> tuple[Fraction, ...]:
    """A rational point of the unit sphere near x, by stereographic projection from the far pole of its largest axis.

    With ``y = x_rest / (1 + |x_a|)`` rounded, the point is ``(1 - |y|^2, 2 y) / (1 + |y|^2)`` up to the sign of the axis.

    >>> sphere_point([0.6, 0.8], 3)
    (Fraction(3, 5), Fraction(4, 5))
    """
    axis = max(range(len(x)), key=lambda i: abs(x[i]))
    sign = 1 if x[axis] >= 0 else -1
    length = sum(float(a) ** 2 for a in x) ** 0.5
    y = [rounded(float(a) / length / (1 + abs(x[axis]) / length), denominator) for i, a in enumerate(x) if i != axis]
    square = sum((a * a for a in y), Fraction(0))
    point = [2 * a / (1 + square) for a in y]
    point.insert(axis, sign * (1 - square) / (1 + square))
    return tuple(point)


def weight(value: Fraction) -> int:
    """How much there is to read: 0 for 0, more for larger numerators and denominators."""
    return 0 if value == 0 else abs(value.numerator) + 2 * (value.denominator - 1)
