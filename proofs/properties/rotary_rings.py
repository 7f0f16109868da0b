"""PH-T7 and PH-T8, the exact example: four tokens, quarter turns, ``Q = diag(a, 1/a) = K^{-1}``; rings; the numbers of both."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import sympy as sp

from eigentoken.proofs.properties.trajectories import ball, enclose, integrate
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate, sign
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.systems.algebra import Number, ParameterValue

if TYPE_CHECKING:
    from flint import arb

__all__ = [
    "SMALL",
    "C",
    "a",
    "claimed_speed",
    "consensus_still_decays",
    "minus_identity",
    "negative_c_grows",
    "quarter_scores",
    "r",
    "radial_speed",
    "radius_example",
    "radius_follows_the_modulus",
    "rings_are_equilibria",
    "rotary_destroys_convergence",
    "rotary_example",
    "shrinking_example",
    "small_average",
    "states",
]

a, r = sp.symbols("a r", positive=True)


_TURNS = (((1, 0), (0, 1)), ((0, -1), (1, 0)), ((-1, 0), (0, -1)), ((0, 1), (-1, 0)))


def quarter_scores(stretch: sp.Expr | int, diagonal: sp.Expr | int = 0) -> ParameterValue:
    """``W_li = Q R_{l-i} K^T + lambda I`` for quarter turns, Q = diag(a, 1/a), K = Q^{-1}."""

    def score(l: int, i: int) -> Any:
        turn = _TURNS[(l - i) % 4]
        q = (stretch, 1 / stretch)
        k = (1 / stretch, stretch)
        return tuple(
            tuple(q[row] * turn[row][column] * k[column] + (diagonal if row == column else 0) for column in range(2))
            for row in range(2)
        )

    return score


def states(size: Number, root: Number = None) -> tuple[tuple[Number, ...], ...]:
    side = size / (sp.sqrt(2) if root is None else root)
    return tuple(((-1) ** l * side, (-1) ** l * side) for l in range(4))


def minus_identity() -> Any:
    return ((sp.Integer(-1), sp.Integer(0)), (sp.Integer(0), sp.Integer(-1)))


def radial_speed(diagonal: sp.Expr = 0) -> list[sp.Expr]:
    """``dr/dt`` from both coordinates of all four tokens of the registered system; they must agree."""
    given = {"B": minus_identity(), "W": None, "pair_score": quarter_scores(a, diagonal)}
    speed = velocity("token-flow", given, states(r))
    return [(-1) ** l * sp.sqrt(2) * entry for l, row in enumerate(speed) for entry in row]


C = (a**2 - a**-2) / 2


def claimed_speed(diagonal: sp.Expr = 0) -> sp.Expr:
    """``r (e^{-lambda r^2} cosh(c r^2) - e^{lambda r^2} cosh(r^2)) / (... + ...)``."""
    far = sp.exp(-diagonal * r**2) * sp.cosh(sp.expand(C * r**2))
    near = sp.exp(diagonal * r**2) * sp.cosh(r**2)
    return r * (far - near) / (far + near)


SMALL = sp.Symbol("epsilon", real=True)


def small_average() -> sp.Expr:
    """``sum_i p_i eps z_i`` for three tokens with scores ``eps^2 c_i``."""
    tokens, scores = sp.symbols("z_1 z_2 z_3", real=True), sp.symbols("c_1 c_2 c_3", real=True)
    weights = [sp.exp(SMALL**2 * score) for score in scores]
    return SMALL * sum(w * z for w, z in zip(weights, tokens, strict=True)) / sum(weights)


def rings_are_equilibria() -> Verdict:
    """``x_l = R(l theta) x_0`` with Q = K = I, B = -I, theta = 2 pi/L: the registered velocity is zero, exactly."""

    def turn(steps: int, size: int) -> Any:
        angle = 2 * sp.pi * steps / size
        return ((sp.cos(angle), -sp.sin(angle)), (sp.sin(angle), sp.cos(angle)))

    for size in (2, 3, 4, 6):
        for start in ((sp.Integer(1), sp.Integer(0)), (sp.Integer(2), sp.Integer(-1))):
            tokens = tuple(
                tuple(sp.expand(row[0] * start[0] + row[1] * start[1]) for row in turn(l, size)) for l in range(size)
            )
            given = {"B": minus_identity(), "W": None, "pair_score": lambda l, i, size=size: turn(l - i, size)}
            speed = velocity("token-flow", given, tokens)
            if any(not identity_verdict(entry, sp.Integer(0)).is_holds for row in speed for entry in row):
                return fails(f"a ring of {size} tokens moves")
    return holds("rings of 2, 3, 4 and 6 tokens have velocity zero exactly")


def consensus_still_decays() -> Verdict:
    """In the diverging example, the consensus state x has velocity -x: exactly, for symbolic x."""
    x = tuple(sp.symbols("x_1 x_2", real=True))
    given = {"B": minus_identity(), "W": None, "pair_score": quarter_scores(sp.Integer(2))}
    speed = velocity("token-flow", given, (x,) * 4)
    if all(identity_verdict(v, -entry).is_holds for row in speed for v, entry in zip(row, x, strict=True)):
        return holds("with rotary scores of the diverging example every consensus state has velocity -x and tends to 0")
    return fails("a consensus state does not decay")


def rotary_destroys_convergence() -> Verdict:
    """At a = 2, r = 3/5 the radius grows although W = I, A = -I: certified sign."""
    value = radial_speed()[0].subs({a: 2, r: sp.Rational(3, 5)})
    if sign(value) == 1:
        return holds("a = 2: W = I, A = -I, and the radius grows at r = 3/5 (and at every r > 0)")
    return fails("the radius does not grow")


def rotary_example() -> list[arb]:
    """``W_21`` and ``dx_1/dt`` at r = 0.6, a = 2."""
    score = quarter_scores(sp.Integer(2))(1, 0)
    given = {"B": minus_identity(), "W": None, "pair_score": quarter_scores(sp.Integer(2))}
    speed = velocity("token-flow", given, states(sp.Rational(3, 5)))
    return [*(entry for row in score for entry in row), *(evaluate(entry).real for entry in speed[0])]


def negative_c_grows() -> Verdict:
    """At a = 1/2, c = -15/8, the radial speed is that of a = 2 and positive at r = 3/5: certified."""
    here, there = (radial_speed()[0].subs({a: value, r: sp.Rational(3, 5)}) for value in (sp.Rational(1, 2), 2))
    if C.subs(a, sp.Rational(1, 2)) == sp.Rational(-15, 8) and sign(here) == 1:
        same = identity_verdict(radial_speed()[0].subs(a, sp.Rational(1, 2)), radial_speed()[0].subs(a, 2))
        return holds("c = -15/8 < 1, and the radius grows as for a = 2") if same.is_holds else same
    return fails(f"the speeds are {here} and {there}")


def radius_follows_the_modulus(instances: int, seed: int) -> Verdict:
    """(c) on random stretches and radii: the certified sign of the radial speed is that of |c| - 1."""
    source = random.Random(seed)
    speed = radial_speed()[0]
    for _ in range(instances):
        stretch, radius = (sp.Rational(source.randint(low, high), 10) for low, high in ((3, 30), (1, 12)))
        c = (stretch**2 - stretch**-2) / 2
        found, wanted = sign(speed.subs({a: stretch, r: radius})), sign(abs(c) - 1)
        if found != wanted:
            return fails(f"a = {stretch}, c = {c}, r = {radius}: the sign of the speed is {found}, of |c| - 1 {wanted}")
    return holds(f"{instances} instances: the radius moves as |c| - 1 says")


def shrinking_example() -> list[float]:
    """``r(1000)`` from r(0) = 0.6 for c = 1/2, in floats."""

    def field(_: float, x: Any) -> list[float]:
        far, near = math.cosh(x[0] ** 2 / 2), math.cosh(x[0] ** 2)
        return [x[0] * (far - near) / (far + near)]

    return [integrate(field, [0.6], [1000.0])[0][0]]


def radius_example(c: str) -> list[arb]:
    """``r(3)`` from r(0) = 0.6, by enclosure."""

    def field(_: Any, x: Any) -> list[Any]:
        square = x[0] * x[0]
        far, near = ((each * square).exp() + (-each * square).exp() for each in (ball(c), ball(1)))
        return [x[0] * (far - near) / (far + near)]

    return enclose(field, ["3/5"], 3, steps=60, order=14, digits=40)
