"""How often independent uniform points lie in one open hemisphere: Wendel's count, exactly."""

from __future__ import annotations

from math import comb

import sympy as sp

__all__ = ["hemisphere_share"]


def hemisphere_share(points: int, dimension: int) -> sp.Rational:
    """``2^{1-l} sum_{k<m} C(l-1, k)`` for l points on the unit sphere of R^m.  Reference: Wendel, Math. Scand. 11 (1962).

    >>> hemisphere_share(5, 3)
    11/16
    """
    if points < 1 or dimension < 1:
        return sp.Rational(0)
    return sp.Rational(sum(comb(points - 1, k) for k in range(dimension)), 2 ** (points - 1))
