"""Rounding: the constants and the few inequalities that every bound of this room rests on.

With ``u = 2^-53`` and ``gamma_k = k u / (1 - k u)``, a sum of products formed with at most k roundings on any path,
**in any order, with or without fused multiply-add**, satisfies ``|fl(s) - s| <= gamma_k sum |a_i b_i| + k TINY``
(Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1).  ``TINY = 2^-1022`` is more than an
underflow can lose, so that a machine which flushes subnormal results to zero is covered.  No rounding mode is switched.

For non-negative terms the computed value obeys ``s (1 - u)^k <= fl(s) + k TINY``, hence
``s <= fl(s) (1 + (2 k + 4) u) + 2 k TINY`` while ``k u <= 1/100``; :func:`inflate` adds what its own roundings need.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "TINY",
    "UNIT",
    "Array",
    "down",
    "frobenius_above",
    "gamma",
    "inflate",
    "scale_down",
    "scale_up",
    "spectral_norm_above",
    "up",
]

UNIT = 2.0**-53
TINY = 2.0**-1022
Array = NDArray[np.float64]


def gamma(k: int) -> float:
    """An upper bound on ``k u / (1 - k u)``; refuses k beyond which the first-order reasoning is not used here."""
    if k * UNIT > 0.01:
        raise ValueError(f"gamma_k needs k u <= 1/100, got k = {k}: the matrix is too large for these bounds")
    return k * UNIT / (1.0 - k * UNIT) * (1.0 + 8 * UNIT)


def inflate(value: Any, roundings: int) -> Any:
    """An upper bound on a non-negative quantity, computed with at most ``roundings`` roundings on any path."""
    if roundings * UNIT > 0.01:
        raise ValueError(f"inflate needs k u <= 1/100, got k = {roundings}")
    return value * (1.0 + (2 * roundings + 12) * UNIT) + (2 * roundings + 2) * TINY


def up(value: float, steps: int = 4) -> float:
    """A float strictly above the exact result of at most ``steps`` roundings on positive operands."""
    return float(inflate(value, steps)) if value >= 0 else -down(-value, steps)


def down(value: float, steps: int = 4) -> float:
    """A float below the exact result of at most ``steps`` roundings on positive operands (never below zero)."""
    if value < 0:
        return -up(-value, steps)
    return max(0.0, value * (1.0 - (2 * steps + 12) * UNIT) - (2 * steps + 2) * TINY)


def scale_down(value: float, exponent: int) -> float:
    """``value * 2^exponent`` rounded towards zero, for a lower bound ``value >= 0`` (largest float if too large)."""
    if value <= 0 or math.isinf(value):
        return max(value, 0.0)
    try:
        scaled = math.ldexp(value, exponent)
    except OverflowError:
        return math.nextafter(math.inf, 0.0)
    exact = scaled != 0.0 and math.ldexp(scaled, -exponent) == value
    return scaled if exact else math.nextafter(scaled, 0.0)


def scale_up(value: float, exponent: int) -> float:
    """``value * 2^exponent`` rounded away from zero, for an upper bound ``value >= 0`` (overflow gives infinity)."""
    if value == 0 or math.isinf(value):
        return value
    try:
        scaled = math.ldexp(value, exponent)
    except OverflowError:
        return math.inf
    if math.isinf(scaled):
        return math.inf
    exact = scaled != 0.0 and math.ldexp(scaled, -exponent) == value
    return scaled if exact else math.nextafter(scaled, math.inf)


def frobenius_above(matrix: Array) -> float:
    """An upper bound on the Frobenius norm, hence on the spectral norm (entries at most 2^400 in modulus)."""
    if matrix.size == 0:
        return 0.0
    flat = matrix.ravel(order="K")
    squares = float(np.dot(flat, flat))
    return up(math.sqrt(float(inflate(squares, matrix.size + 2))), 4)


def spectral_norm_above(matrix: Array) -> float:
    """An upper bound on ``||A||_2``: the smaller of ``||A||_F`` and ``sqrt(||A||_1 ||A||_inf)``."""
    if matrix.size == 0:
        return 0.0
    absolute = np.abs(matrix)
    terms = max(matrix.shape) + 2
    columns = float(inflate(float(absolute.sum(axis=0).max()), terms))
    rows = float(inflate(float(absolute.sum(axis=1).max()), terms))
    mixed = up(math.sqrt(up(columns * rows)), 4)
    return min(frobenius_above(matrix), mixed)
