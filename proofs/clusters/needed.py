"""What fails of the statements on clusters where one of their conditions is dropped: exact instances, or balls."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate

__all__ = [
    "a_plane_turns_the_average",
    "first_token_moves",
    "growing_ring",
    "larger_scores",
    "negative_scores_turn_round",
    "negative_values_pull_apart",
    "negative_values_spread_a_pair",
    "stable_tetrahedron",
    "values_above_one_grow",
    "values_that_move_a_lone_token",
]

_ONE = sp.Integer(1)


def negative_values_spread_a_pair() -> Verdict:
    """CL-2 without ``lambda_1 > 0``: ``B = -1``, ``W = 1``, tokens +-x: ``x' = -x tanh x^2``, which is at least ``-x^3``, so that
    ``x(t) >= x(0)/sqrt(1 + 2 x(0)^2 t)`` and ``e^t x`` exceeds every number: the coordinates have no limits."""
    x = sp.Symbol("x", positive=True)
    speed = velocity("token-flow", {"B": ((-_ONE,),), "W": ((_ONE,),)}, ((x,), (-x,)))[0][0]
    if sp.simplify((speed + x * sp.tanh(x**2)).rewrite(sp.exp)) != 0:
        return fails(f"the velocity is {speed}")
    t = sp.Symbol("t", positive=True)
    grown = sp.limit(sp.exp(t) / sp.sqrt(1 + 2 * t), t, sp.oo)
    return holds("e^t x(t) >= e^t/sqrt(1 + 2t) from x(0) = 1: no limit") if grown is sp.oo else fails(f"{grown}")


def negative_scores_turn_round() -> Verdict:
    """CL-3 without ``W > 0``: ``W = -1``, tokens +-1, queries 1 and 0: averages ``-tanh 1`` and 0."""
    found = evaluate(-sp.tanh(_ONE), 30).real
    return holds(f"(1 - 0)(m_1 - m_0) = {found} < 0") if found < 0 else fails(str(found))


def a_plane_turns_the_average() -> Verdict:
    """CL-3 without ``d = 1``: ``W = diag(1, 10)``, tokens +-(1, 1), queries ``a = (3/2, -1)`` and 0: the average of a is
    ``tanh(a^T W p) p``, p = (1, 1), with ``a^T W p = -17/2``, while ``a^T p = 1/2 > 0``."""
    p, a, W = sp.Matrix([1, 1]), sp.Matrix([sp.Rational(3, 2), -1]), sp.diag(1, 10)
    score, along = (a.T * W * p)[0], (a.T * p)[0]
    if score < 0 < along:
        return holds(f"(a - 0)^T (m_a - m_0) = {along} tanh({score}) < 0")
    return fails(f"{score}, {along}")


def values_above_one_grow() -> Verdict:
    """CL-4 without ``B = I``: ``B = 2``, equal tokens at 1 move with 2 > 1: the hull of ``e^{-t} x`` grows."""
    speed = velocity("token-flow", {"B": ((2 * _ONE,),), "W": ((_ONE,),)}, ((_ONE,), (_ONE,)))[0][0]
    return holds(f"the velocity is {speed} > 1") if speed > 1 else fails(f"{speed}")


def values_that_move_a_lone_token() -> Verdict:
    """CL-6 without ``B = -I``: ``B = I``: equal tokens x move with x, away from the origin."""
    x = sp.Symbol("x", positive=True)
    speed = velocity("token-flow", {"B": ((_ONE,),), "W": ((_ONE,),)}, ((x,), (x,)))[0][0]
    return holds("x' = x") if sp.simplify(speed - x) == 0 else fails(f"{speed}")


def growing_ring() -> Verdict:
    """CL-6 without ``W = W^T``: ``B = -I``, W the rotation with cos = 5/13, sin = 12/13 (sym W = 5/13 I > 0), three tokens on a
    ring: ``N_3`` has the sign of ``f(rho) = 3/2 rho c - ln cosh(sqrt 3/2 rho s) <= rho (3/2 c - sqrt 3/2 s) + ln 2`` (PH-X1),
    which is negative for every ``rho = r^2 >= 4``, so that the ring grows from r = 2 on."""
    c, s = sp.Rational(5, 13), sp.Rational(12, 13)
    slope, there = (evaluate(each, 40).real for each in (_level_slope(c, s), 4 * _level_slope(c, s) + sp.log(2)))
    if slope < 0 and there < 0:
        return holds(f"f <= {there} at rho = 4, and falls: the radius grows for ever")
    return fails(f"{slope}, {there}")


def _level_slope(c: Any, s: Any) -> Any:
    return sp.Rational(3, 2) * c - sp.sqrt(3) / 2 * s


def negative_values_pull_apart() -> Verdict:
    """CL-8 and CL-10 without the identity as value matrix: ``-I``: two tokens at right angles part, and consensus repels."""
    e = ((_ONE, sp.Integer(0)), (sp.Integer(0), _ONE))
    minus = tuple(tuple(-each for each in row) for row in e)
    zero = tuple(tuple(0 * each for each in row) for row in e)
    first, second = velocity("attention-flow", {"V": minus, "M": zero}, e)
    rate = sp.simplify(first[1] + second[0])
    return holds(f"their cosine falls at the rate {rate}") if rate < 0 else fails(f"{rate}")


def stable_tetrahedron() -> Verdict:
    """CL-10 below its range: d = 3, beta = -2, four tokens at the corners s/sqrt 3 of a regular tetrahedron, c = -1/3.

    The second derivative of ``sum_{i<j} phi(c_ij)``, over ``phi'(-1/3) > 0``, along tangent w is ``sum_{i<j} [beta (w_i^T x_j +
    x_i^T w_j)^2 + 2 w_i^T w_j + (|w_i|^2 + |w_j|^2)/3]``: a rational form.  On the eight tangent dimensions it has no positive
    eigenvalue and the eigenvalue 0 three times (rotations): a strict maximum modulo rotation, which attracts an open set.
    """
    signs = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    corners = [sp.Matrix(each) for each in signs]
    form, third = sp.zeros(12, 12), sp.Rational(1, 3)
    for i in range(4):
        for j in range(i):
            row = sp.zeros(1, 12)
            row[0, 3 * i : 3 * i + 3], row[0, 3 * j : 3 * j + 3] = corners[j].T, corners[i].T
            form += -2 * third * row.T * row
            for a in range(3):
                form[3 * i + a, 3 * j + a] += 1
                form[3 * j + a, 3 * i + a] += 1
                form[3 * i + a, 3 * i + a] += third
                form[3 * j + a, 3 * j + a] += third
    tangent = sp.diag(*(sp.eye(3) - third * each * each.T for each in corners))
    found = (tangent * form * tangent).eigenvals()
    inside = sum(times for value, times in found.items() if value < 0)
    if not any(value > 0 for value in found) and found.get(sp.Integer(0)) == 4 + 3 and inside == 5:
        return holds(f"eigenvalues {found}: four of the zeros are normal, three rotate")
    return fails(f"eigenvalues {found}")


def larger_scores() -> Verdict:
    """CL-7 without ``V = I``: V = 2 I, M = V (c = 1): the score of a token with itself is 2 > c."""
    score = (sp.Matrix([1, 0]).T * (2 * sp.eye(2)) * sp.Matrix([1, 0]))[0]
    return holds(f"x^T M x = {score} > 1") if score > 1 else fails(str(score))


def first_token_moves() -> Verdict:
    """CL-12 and CL-14 without ``U = I``: ``U = diag(2, 1)``: the first token, which sees itself alone, moves at (3, 4)/5."""
    U = ((2 * _ONE, sp.Integer(0)), (sp.Integer(0), _ONE))
    zero = ((sp.Integer(0),) * 2,) * 2
    token = (sp.Rational(3, 5), sp.Rational(4, 5))
    speed = velocity("causal-flow", {"U": U, "P": zero}, (token, token))[0]
    moved = [sp.simplify(each) for each in speed]
    return holds(f"its velocity is {moved}") if any(moved) else fails("it rests")
