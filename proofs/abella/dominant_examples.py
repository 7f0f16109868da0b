"""AB-X2, the examples: a symmetric pair beyond the modulus condition, heads that cancel in their sum, exact instances."""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate, sign

__all__ = ["heads_that_cancel", "identity_on_instances", "modulus_needed", "threshold"]


def threshold() -> Any:
    """``1 - cos 2 theta = ln(3/2)``: the angle beyond which two tokens leave v, for U = diag(1, -5), P = -I."""
    return sp.acos(1 - sp.log(sp.Rational(3, 2))) / 2


def _angular_speed(theta: Any) -> Any:
    """``theta'`` of the symmetric pair of angles (theta, -theta), from the registered system with full attention."""
    value = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(-5)))
    score = ((sp.Integer(-1), sp.Integer(0)), (sp.Integer(0), sp.Integer(-1)))
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    tokens = ((sp.cos(theta), sp.sin(theta)), (sp.cos(theta), -sp.sin(theta)))
    speed = velocity("ellipsoid-multihead-flow", {"heads": [{"U": value, "P": score}], "W": unit}, tokens)
    return -sp.sin(theta) * speed[0][0] + sp.cos(theta) * speed[0][1]


def modulus_needed() -> Verdict:
    """U = diag(1, -5): from angles +-0.6 the pair moves away from v = e_1 for ever: theta' > 0 on [0.6, pi/2).

    On the symmetric line ``theta' = -(1 + 5m) sin(theta) cos(theta) / sqrt 2`` with ``m = tanh((cos 2 theta - 1)/2)``, which
    decreases in theta; beyond the threshold ``1 + 5m < 0``.
    """
    theta = sp.Symbol("theta", real=True)
    claimed = -(1 + 5 * sp.tanh((sp.cos(2 * theta) - 1) / 2)) * sp.sin(theta) * sp.cos(theta) / sp.sqrt(2)
    angle = sp.Rational(3, 5)
    if any(not _agree(_angular_speed(point), claimed.subs(theta, point)) for point in (angle, sp.Rational(1, 5))):
        return fails("the formula for the angular speed is wrong")
    factor = 1 + 5 * sp.tanh((sp.cos(2 * angle) - 1) / 2)
    if sign(factor) == -1 and sign(_angular_speed(angle)) == 1:
        return holds("at theta = 0.6 (and beyond, since m decreases) the pair moves away from e_1 and tends to +-e_2")
    return fails("the pair moves towards e_1")


def heads_that_cancel() -> Verdict:
    """Heads 10 e_2 e_2^T with scores 30 x_2 y_2 and diag(1, -19/2) without scores: the sum diag(1, 1/2) meets the conditions.

    On the symmetric pair (theta, -theta) ``theta' = (10 tanh(30 sin(theta)^2) - 1) sin(theta) cos(theta) / sqrt 2``: from
    ``cos theta = 0.78`` the pair moves away from e_1 for ever, since tanh increases, and tends to +-e_2.
    """
    zero, unit = sp.zeros(2, 2).tolist(), sp.eye(2).tolist()
    heads = [
        {"U": sp.diag(0, 10).tolist(), "P": sp.diag(0, 30).tolist()},
        {"U": sp.diag(1, sp.Rational(-19, 2)).tolist(), "P": zero},
    ]

    def speed(cosine: Any, sine: Any) -> Any:
        tokens = ((cosine, sine), (cosine, -sine))
        found = velocity("ellipsoid-multihead-flow", {"heads": heads, "W": unit}, tokens)
        return cosine * found[0][1] - sine * found[0][0]

    points = [(x, sp.sqrt(1 - x**2)) for x in (sp.Rational(39, 50), sp.Rational(1, 10))]
    for cosine, sine in points:
        claimed = (10 * sp.tanh(30 * sine**2) - 1) * sine * cosine / sp.sqrt(2)
        if not _agree(speed(cosine, sine), claimed):
            return fails("the formula for the angular speed is wrong")
    if (
        sp.diag(0, 10) + sp.diag(1, sp.Rational(-19, 2)) == sp.diag(1, sp.Rational(1, 2))
        and sign(speed(*points[0])) == 1
    ):
        return holds("the sum of the heads is diag(1, 1/2), and from u^T y = 0.78 a symmetric pair moves away from e_1")
    return fails("the pair moves towards e_1")


def _agree(left: Any, right: Any) -> bool:
    ball = evaluate(left - right, 60)
    return bool(ball is not None and ball.contains(0) and ball.real.rad() < 1e-40)


def identity_on_instances(instances: int, seed: int) -> Verdict:
    """``dw_1/dt = sum a_1j (U w_j - lambda w_1)`` over heads and tokens, exactly: uniform weights, rational data in the plane.

    One or two heads with the left eigenvector u = e_1, each with its own eigenvalue.
    """
    source = random.Random(seed)
    zero, unit = sp.zeros(2, 2).tolist(), sp.eye(2).tolist()
    for _ in range(instances):
        heads = [
            tuple(sp.Rational(source.randint(1, 9), source.randint(1, 5)) for _ in range(3))
            for _ in range(source.choice((1, 2)))
        ]
        tokens = []
        for _ in range(3):
            t = sp.Rational(source.randint(-8, 8), 10)
            tokens.append(((1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)))
        given = [{"U": ((lam, sp.Integer(0)), (lift, other)), "P": zero} for lam, lift, other in heads]
        speed = velocity("ellipsoid-multihead-flow", {"heads": given, "W": unit}, tuple(tokens))
        y = tokens[0]
        slope = (speed[0][1] * y[0] - y[1] * speed[0][0]) / y[0] ** 2
        total: Any = 0
        for lam, lift, other in heads:
            for each in tokens:
                ratio = each[1] / each[0]
                total += each[0] / y[0] / (3 * sp.sqrt(2)) * (lift + other * ratio - lam * y[1] / y[0])
        if sp.simplify(slope - total) != 0:
            return fails(f"the identity fails at {tokens}")
    return holds(f"{instances} exact instances")
