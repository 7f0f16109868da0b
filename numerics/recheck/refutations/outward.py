"""Tokens of the Euclidean flow that all go out along one direction, by the second arithmetic: sympy and mpmath intervals.

With ``u^T B = b u^T`` the heights ``h = u^T x`` obey ``h_i' = b sum_j a_ij h_j``.  Where ``b > 0`` and all are positive, the
smallest grows like ``e^{bt}``.  Else let ``B e = b e``, ``u^T e = 1``, ``y = x - h e``, ``|B y| <= |b| |y|``, ``b e^T W e > 0``.
On the set ``|h_i| > r``, ``|y_i| < k |h_i| - m`` every pair of tokens has a score of modulus at least ``g |h_i h_j|`` and
the sign of ``b h_i h_j``.  A token with f friends (that sign is positive) and o others goes out where ``o < f q r``, with
``q = g r exp(1 + g r^2)``, and the set is kept where ``2 k o < m f q``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval
from eigentoken.theory.systems.system import Space, Time

__all__ = ["all_go_out"]


def all_go_out(look: IndependentInstance, data: Mapping[str, Any]) -> bool:
    """Is the start of the instance in the open set of the data, and does that go out?"""
    instance, system = look.instance, look.instance.system
    if system.space is not Space.EUCLIDEAN or system.time is not Time.FLOW or not system.standard or system.multihead:
        return False
    if system.rotary is not None or system.over_root_d or system.value is None or system.score is None:
        return False
    B, W = look.named(str(system.value)), look.named(str(system.score))
    X = sp.Matrix([list(token) for token in instance.tokens])
    if not all(entry.is_Rational for matrix in (B, W, X) for entry in matrix):
        return False
    u = _column(data["functional"], instance.d)
    if u is None or u.is_zero_matrix:
        return False
    b = (u.T * B * u)[0, 0] / (u.T * u)[0, 0]
    heights = list(X * u)
    if not (u.T * B - b * u.T).is_zero_matrix or b == 0:
        return False
    if data["direction"] is None:
        return bool(b > 0) and all(h > 0 for h in heights)
    e = _column(data["direction"], instance.d)
    if e is None or (u.T * e)[0, 0] != 1 or B * e != b * e:
        return False
    return _kept(look, B, W, b, (u, e), _numbers(data), heights)


def _kept(look: IndependentInstance, B: Any, W: Any, b: Any, pair: Any, numbers: Any, heights: list[Any]) -> bool:
    (u, e), (r, k, m), d = pair, numbers, look.instance.d
    beside = sp.eye(d) - e * u.T
    shrinks = beside.T * (b**2 * sp.eye(d) - B.T * B) * beside
    middle = (e.T * W * e)[0, 0]
    if not shrinks.is_positive_semidefinite or not b * middle > 0 or not r > 0:
        return False
    if (k, m) != (0, 0) if d == 1 else not (k > 0 and m > 0):
        return False
    for token, h in zip(look.instance.tokens, heights, strict=True):
        y, room = beside * sp.Matrix(list(token)), k * abs(h) - m
        if not abs(h) > r or (d > 1 and not (room > 0 and (y.T * y)[0, 0] < room**2)):
            return False
    iv.dps = max(iv.dps, 40)
    across = _norm(beside.T * W * e) + _norm(beside.T * W.T * e)
    g = interval(abs(middle)) - interval(k) * across - interval(k**2) * _norm(beside.T * W * beside)
    if not g.a > 0:
        return False
    q = g * interval(r) * iv.exp(1 + g * interval(r**2))
    mask = look.instance.mask
    for i, h in enumerate(heights):
        signs = [b * h * other > 0 for j, other in enumerate(heights) if mask is None or mask[i][j]]
        f, o = sum(map(bool, signs)), sum(not each for each in signs)
        if f == 0 or not (q * interval(r) * f).a > o:
            return False
        if d > 1 and not (interval(m) * f * q).a > (2 * interval(k) * o).b:
            return False
    return True


def _norm(matrix: Any) -> Any:
    return iv.sqrt(interval(sum((entry**2 for entry in matrix), sp.Integer(0))))


def _numbers(data: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    r, k, m = (_rational(data[each]) for each in ("reach", "aperture", "slack"))
    return r, k, m


def _column(entries: Any, d: int) -> Any:
    return sp.Matrix([_rational(each) for each in entries]) if len(entries) == d else None


def _rational(text: Any) -> Any:
    number = Fraction(str(text))
    return sp.Rational(number.numerator, number.denominator)
