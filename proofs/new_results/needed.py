"""What fails of the new results where one of their conditions is dropped: exact instances, or balls."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.power_method.pm_n01_consensus_any_layer import SPIRAL_F
from eigentoken.proofs.properties.exact_points import agree, image, instance, point_is
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate

__all__ = [
    "a_lone_value_flips",
    "a_pair_across_rests",
    "a_pair_across_rests_in_the_flow",
    "a_sheared_ball_grows",
    "a_sheared_ball_grows_in_the_flow",
    "a_sheared_half_space_is_left",
    "a_sheared_half_space_is_left_in_the_flow",
    "a_spiral_repels",
    "a_turn_never_ends",
    "negative_leaders_repel",
    "negative_leaders_repel_in_the_flow",
    "negative_scores_fall",
    "one_token_grows",
    "other_scores_fall",
    "without_values_nothing_falls",
]

_ZERO, _ONE, _HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)


def _sheared(shear: int) -> tuple[tuple[Any, ...], ...]:
    """Eigenvalues 1 and 1/2; ``e_1`` is the top eigenvector, ``(1, 2 shear)`` the left one."""
    return ((_ONE, sp.Integer(shear)), (_ZERO, _HALF))


_NO_SCORES = ((_ZERO, _ZERO), (_ZERO, _ZERO))


def _layer(value: Any, token: tuple[Any, Any], step: Any = 1) -> tuple[Any, Any]:
    """``x + alpha V x`` of equal tokens, not normalised."""
    pushed = sp.Matrix(value) * sp.Matrix(token)
    return token[0] + step * pushed[0], token[1] + step * pushed[1]


def a_sheared_half_space_is_left() -> Verdict:
    """PM-X1 without ``V = V^T``: V = (1, 1; 0, 1/2), alpha = 1, one token along (1, -3): the next is along (-1, -9/2)."""
    after = _layer(_sheared(1), (_ONE, sp.Integer(-3)))
    return holds(f"a token of positive height goes to the direction of {after}") if after[0] < 0 else fails(f"{after}")


def a_sheared_half_space_is_left_in_the_flow() -> Verdict:
    """CT-12 without ``V = V^T``: V = (1, 1; 0, 1/2), equal tokens (7, -24)/25 move along ``e^{tV} x``: with the left eigenvector
    u = (1, 2), ``u^T x = -41/25 < 0``, so that ``e^{-t} e^{tV} x`` tends to ``(u^T x) e_1``, out of the half space."""
    V, x, u = sp.Matrix(_sheared(1)), sp.Matrix([7, -24]) / 25, sp.Matrix([1, 2])
    left = sp.simplify(u.T * V - u.T) == sp.zeros(1, 2)
    side = (u.T * x)[0]
    return holds(f"u^T x = {side}, e_1^T x = {x[0]}") if left and side < 0 < x[0] else fails(f"{left}, {side}")


def a_pair_across_rests() -> Verdict:
    """PM-X1 without the hemisphere: ``V = diag(1, 1/2)``, M = 0, alpha = 1: the tokens ``e_1, -e_1`` do not move."""
    given = {"V": [["1", "0"], ["0", "1/2"]], "M": [["0", "0"], ["0", "0"]], "alpha": "1"}
    return agree(image(instance("attention-map", [["1", "0"], ["-1", "0"]], **given)), ("1", "0", "-1", "0"))


def a_pair_across_rests_in_the_flow() -> Verdict:
    """CT-12 without the hemisphere: the same pair of the flow."""
    given = {"V": ((_ONE, _ZERO), (_ZERO, _HALF)), "M": _NO_SCORES}
    speeds = velocity("attention-flow", given, ((_ONE, _ZERO), (-_ONE, _ZERO)))
    return holds("both velocities are 0") if not any(each for row in speeds for each in row) else fails(f"{speeds}")


def a_lone_value_flips() -> Verdict:
    """PM-X1 without ``lambda_1 > 0``: d = 1, V = -1, alpha = 2: the token 1 is sent to ``1 - 2 = -1``."""
    after = _ONE - 2
    return holds(f"1 + alpha lambda_1 = {after}") if after < 0 else fails(f"{after}")


def a_sheared_ball_grows() -> Verdict:
    """PM-X2 without ``V = V^T``: V = (1, 20; 0, 1/2), M = 0, alpha = 1, one token along (1, -1/20): the tangent 1/20 becomes
    3/40, though with the eigenvalues 1 and 1/2 its ball is one that contracts (eta below 1/3)."""
    start = (_ONE, sp.Rational(-1, 20))
    after = _layer(_sheared(20), start)
    tangent, inside = abs(after[1] / after[0]), sp.sqrt(1 + start[1] ** 2) - 1 < sp.Rational(1, 3)
    return holds(f"1/20 becomes {tangent}") if inside and tangent > sp.Rational(1, 20) else fails(f"{tangent}")


def a_sheared_ball_grows_in_the_flow() -> Verdict:
    """CT-13 without ``V = V^T``: V = (1, 20; 0, 1/2), M = 0, one token along (1, r), r = -1/10: ``r' = r/2 - r (1 + 20 r)``."""
    r, V = sp.Rational(-1, 10), sp.Matrix(_sheared(20))
    pushed = V * sp.Matrix([1, r])
    rate = r * (pushed[1] - r * pushed[0])
    inside = sp.sqrt(1 + r**2) - 1 < sp.Rational(1, 3)
    return holds(f"r r' = {rate} > 0") if inside and rate > 0 else fails(f"{rate}")


def a_turn_never_ends() -> Verdict:
    """CT-10 without ``V = V^T``: V a quarter turn, M = V, one token: its velocity has length one wherever it is."""
    t = sp.Symbol("t", real=True)
    turn = ((_ZERO, -_ONE), (_ONE, _ZERO))
    (speed,) = velocity("attention-flow", {"V": turn, "M": turn}, ((sp.cos(t), sp.sin(t)),))
    size = sp.simplify(sum(each**2 for each in speed))
    return holds("|x'| = 1 at every state") if size == 1 else fails(f"|x'|^2 = {size}")


def other_scores_fall() -> Verdict:
    """PM-X4 with scores that are no multiple of V: V = diag(1, 1/10), M = diag(-1, 20), alpha = 1, one token (3, 4)/5."""
    M, before = sp.diag(-1, 20), sp.Matrix([3, 4]) / 5
    after = sp.Matrix(_layer(((_ONE, _ZERO), (_ZERO, sp.Rational(1, 10))), tuple(before)))
    forms = [(before.T * M * before)[0], (after.T * M * after)[0] / after.dot(after)]
    return holds(f"the score falls from {forms[0]} to {forms[1]}") if forms[1] < forms[0] else fails(f"{forms}")


def negative_scores_fall() -> Verdict:
    """PM-X4 with c = -1: V = I, M = -I, alpha = 1, tokens e_1, e_2: the cosine rises, and ``e^{-cos}`` falls."""
    own, other = 1 + sp.exp(-1) / (1 + sp.exp(-1)), 1 / (1 + sp.exp(-1))
    cosine = evaluate(2 * own * other / (own**2 + other**2), 30).real
    return holds(f"the cosine becomes {cosine}") if cosine > 0 else fails(f"{cosine}")


def a_spiral_repels() -> Verdict:
    """PM-T2+ without ``V = V^T``: V = 1 + (9/10, -3; 3, 9/10), alpha = 3/10, alpha |V| < 1: principal consensus is unstable."""
    size = evaluate(sp.Rational(3, 10) * sp.sqrt(sp.Rational(981, 100)), 30).real
    if not size < 1:
        return fails(f"alpha |V| = {size}")
    return point_is(
        instance("oja-map", [["1", "0", "0"]] * 3, V=SPIRAL_F, alpha="3/10"), "consensus", stable="unstable"
    )


_NEGATIVE = [["-1/4", "0"], ["0", "-1/2"]]


def negative_leaders_repel() -> Verdict:
    """PM-T2+ without ``lambda_1 > 0``: V = diag(-1/4, -1/2), alpha = 1: principal consensus is unstable."""
    return point_is(instance("oja-map", [["1", "0"]] * 3, V=_NEGATIVE, alpha="1"), "consensus", stable="unstable")


def negative_leaders_repel_in_the_flow() -> Verdict:
    """CT-9a without ``lambda_1 > 0``: V = diag(-1/4, -1/2): principal consensus is unstable."""
    return point_is(instance("oja-flow", [["1", "0"]] * 3, V=_NEGATIVE), "consensus", stable="unstable")


def without_values_nothing_falls() -> Verdict:
    """PH-X3 without ``B + W = 0``: B = 0, W = 1: nothing moves, and the energy does not fall."""
    speed = velocity("token-flow", {"B": ((_ZERO,),), "W": ((_ONE,),)}, ((_ONE,), (-_ONE,)))
    return holds("all velocities are 0") if not any(each for row in speed for each in row) else fails(f"{speed}")


def one_token_grows() -> Verdict:
    """PH-X3 without ``sym W > 0``: W = -1, B = 1, one token x: E = x^2/2 has the rate x^2 > E, and mu = -1."""
    x = sp.Symbol("x", positive=True)
    ((speed,),) = velocity("token-flow", {"B": ((_ONE,),), "W": ((-_ONE,),)}, ((x,),))
    rate = sp.simplify(x * speed)
    return holds("E' = x^2 exceeds -mu E = x^2/2") if rate == x**2 else fails(f"{rate}")
