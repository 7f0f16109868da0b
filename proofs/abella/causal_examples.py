"""AB-T5.1, the numbers: the bad third start by enclosures, frozen tokens for unbounded P, and the vectors of the sheet."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.properties.deterministic_data import FLOATS, as_floats, det_matrix, scaled
from eigentoken.proofs.properties.trajectories import ball, enclose, integrate, precision
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.systems.algebra import causal_mask
from eigentoken.theory.systems.catalogue import system

__all__ = [
    "angles_example",
    "bad_angle",
    "bad_start_between",
    "discrete_sphere_stays",
    "sphere_example",
    "unbounded_causal_freezes",
]


def _planar_field(_: Any, x: Any) -> list[Any]:
    """Angles of tokens 2, 3 for P = 0, one head, token 1 at angle 0, d = 2."""
    from flint import arb

    return [-x[0].sin() / arb(8).sqrt(), -(x[1].sin() + (x[1] - x[0]).sin()) / arb(18).sqrt()]


def bad_start_between(low: str, high: str, time: int = 18, steps: int = 54) -> Verdict:
    """Some third angle in [low, high] has no consensus at token 1, although the whole interval avoids pi.

    From ``low`` the lifted angle is below pi at a time when 0 < theta_2 < pi: the tokens 0, theta_2, theta_3 lie in an open half
    circle and go to consensus with lifted limit 0 (AB-X1).  From ``high`` it is above pi + theta_2: then theta_3 - 2 pi, 0,
    theta_2 lie in an open half circle and the lifted limit is 2 pi.  Both sets of starts are open and disjoint; an
    interval is connected, so a start in between does neither.
    """
    from flint import arb

    with precision(50):
        second = arb.pi() / 2
        if not (ball(low) > arb.pi() and ball(high) < arb.pi() + second):
            return undecided("the interval does not avoid -y_1")
        below = enclose(_planar_field, [second, ball(low)], time, steps=steps, order=16, digits=50)
        above = enclose(_planar_field, [second, ball(high)], time, steps=steps, order=16, digits=50)
        first = bool(below[0] > 0 and below[0] < arb.pi() and below[1] < arb.pi() and below[1] > 0)
        last = bool(above[0] > 0 and above[0] < arb.pi() and above[1] > arb.pi() + above[0] and above[1] < 2 * arb.pi())
    if first and last:
        return holds(
            f"theta_2 = pi/2: from theta_3 = {low} the third token reaches the half circle of token 1 from one side, from {high} "
            "from the other (enclosures): some start in between, none of which is -y_1, does not reach consensus"
        )
    return undecided("the enclosures do not decide both sides")


def bad_angle(second: float) -> float:
    """The bad third angle for P = 0: backwards in time the bad trajectory attracts, with theta_2 in closed form (floats)."""
    import math

    late = 44.0
    slope = math.tan(second / 2)

    def other(t: float) -> float:
        return 2 * math.atan(slope * math.exp(-t / math.sqrt(8)))

    def field(t: float, x: Any) -> list[float]:
        return [(math.sin(x[0]) + math.sin(x[0] - other(late - t))) / math.sqrt(18)]

    return integrate(field, [math.pi + other(late) / 2], [late])[0][0]


def sphere_example() -> list[float]:
    """The bad third token on S^2 for P = 0.8 det_matrix(3), y_1 = e_1, y_2 = e_2, and its distance to -y_1."""
    import math

    score = as_floats(scaled(0.8, det_matrix(3)))

    def speeds(second: float, third: float) -> list[float]:
        points = [(math.cos(angle), math.sin(angle), 0.0) for angle in (0.0, second, third)]
        field = system("causal-flow").advance(FLOATS, {"U": None, "P": score}, tuple(points), causal_mask(3))
        return [field[i][1] * points[i][0] - field[i][0] * points[i][1] for i in (1, 2)]

    late = 44.0
    last = integrate(lambda _, x: [speeds(x[0], 0.0)[0]], [math.pi / 2], [late])[0][0]
    start = integrate(lambda _, x: [-each for each in speeds(x[0], x[1])], [last, math.pi + last / 2], [late])[0]
    point = (math.cos(start[1]), math.sin(start[1]))
    return [*point, math.hypot(point[0] + 1, point[1])]


def angles_example() -> list[Any]:
    """Angles at t = 10 from (0, pi/2, 2.5) by enclosure, and theta_2 in closed form."""
    from flint import arb

    with precision(50):
        end = enclose(_planar_field, [arb.pi() / 2, "5/2"], 10, steps=30, order=16, digits=50)
        return [*end, 2 * (-10 / arb(8).sqrt()).exp().atan()]


def unbounded_causal_freezes() -> Verdict:
    """P(t) = e^{2t} I, causal, two tokens at angle 1: the second token stays above angle 0.85 (see AB-X1)."""
    from flint import arb

    def field(t: Any, x: Any) -> list[Any]:
        return [-x[0].sin() / arb(2).sqrt() / (1 + ((2 * t).exp() * (1 - x[0].cos())).exp())]

    with precision(40):
        end = enclose(field, ["1"], 2, steps=160, order=14, digits=40)[0]
        floor = ball("0.85")
        rate = 1 - floor.cos()
        grown = ball(4).exp()
        tail = (-rate * grown).exp() / (2 * rate * grown)
        if end - tail > floor:
            return holds("the angle of the second token stays above 0.85 for all times")
    return undecided("the enclosure does not separate the angle from 0.85")


def discrete_sphere_stays() -> Verdict:
    """On S^0 = {1, -1} no token moves: the starts with different tokens, of positive measure, never reach consensus."""
    one = sp.Integer(1)
    speed = velocity("causal-flow", {"U": None, "P": ((one,),)}, ((one,), (-one,), (one,)))
    if all(entry == 0 for row in speed for entry in row):
        return holds("tokens 1, -1, 1 on S^0 have velocity zero exactly")
    return fails(f"the velocity is {speed}")
