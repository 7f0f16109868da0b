"""AB-X1 and AB-T4.1, examples: what fails for an unbounded P and outside a hemisphere, and the regression vectors."""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.properties.deterministic_data import (
    FLOATS,
    as_floats,
    det_matrix,
    det_tokens,
    diagonal,
    numbers,
    scaled,
)
from eigentoken.proofs.properties.trajectories import ball, enclose, integrate, precision
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.observables import dot
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.systems.catalogue import system

__all__ = ["antipodal_pair_stays", "end_example", "freeze_example", "start_example", "unbounded_freezes"]


def unbounded_freezes() -> Verdict:
    """P(t) = e^{2t} I on the circle, two tokens at angle 1: the gap stays above 0.66, by enclosures.

    The gap D obeys ``D' = -sqrt(2) sin D / (1 + exp(e^{2t} (1 - cos D)))``.  Up to t = 2 the solution is enclosed.  After
    that, while D >= 0.66, ``|D'| <= sqrt(2) exp(-c e^{2t})`` with c = 1 - cos 0.66, and the integral of the right side from T
    is at most ``sqrt(2) exp(-c e^{2T}) / (2 c e^{2T})``.
    """
    from flint import arb

    def field(t: Any, x: Any) -> list[Any]:
        return [-(arb(2).sqrt()) * x[0].sin() / (1 + ((2 * t).exp() * (1 - x[0].cos())).exp())]

    with precision(40):
        end = enclose(field, ["1"], 2, steps=160, order=14, digits=40)[0]
        floor = ball("0.66")
        rate = 1 - floor.cos()
        grown = ball(4).exp()
        tail = arb(2).sqrt() * (-rate * grown).exp() / (2 * rate * grown)
        if end - tail > floor:
            return holds(f"the gap is at least {(end - tail).str(8, radius=False)} for all times and never below 0.66")
    return undecided("the enclosure does not separate the gap from 0.66")


def antipodal_pair_stays() -> Verdict:
    """Tokens e_1, -e_1 on the circle with P = 0 lie in no open hemisphere and do not move."""
    one, nil = sp.Integer(1), sp.Integer(0)
    zero, unit = ((nil, nil), (nil, nil)), ((one, nil), (nil, one))
    given = {"heads": [{"U": None, "P": zero}], "W": unit}
    speed = velocity("ellipsoid-multihead-flow", given, ((one, nil), (-one, nil)))
    if all(entry == 0 for row in speed for entry in row):
        return holds("tokens e_1 and -e_1 have velocity zero exactly, so they never reach consensus")
    return fails(f"the velocity is {speed}")


def _sphere_data() -> tuple[Any, Any, Any]:
    scalars = numbers()
    metric = diagonal(scalars.one, 2 * scalars.one, 3 * scalars.one)
    side = scalars.one / scalars.sqrt(6 * scalars.one)
    normal = (side, side, side)
    tokens = scalars.normalise(det_tokens(4, 3), metric)
    tokens = tuple(tuple(entry if dot(normal, row) > 0 else -entry for entry in row) for row in tokens)
    return tokens, normal, metric


def start_example() -> list[Any]:
    """``min h(0)``, ``diam w(0)``, ``kappa`` and the four slopes of the heights."""
    scalars = numbers()
    tokens, normal, metric = _sphere_data()
    heights = [dot(normal, row) for row in tokens]
    from eigentoken.proofs.abella.ab_l41_attention_weight_bounds import bounds_example

    bound = bounds_example()[0]
    # v^T W^{-1} v = (1 + 1/2 + 1/3)/6, K^2 = 1
    widest = scalars.sqrt((scalars.one + scalars.one / 2 + scalars.one / 3) / 6)
    kappa = min(heights) / widest * scalars.exp(-2 * bound) / scalars.sqrt(3 * scalars.one)
    flow = system("ellipsoid-multihead-flow").advance(
        scalars, {"heads": [{"U": None, "P": det_matrix(3)}], "W": metric}, tokens
    )
    return [min(heights), _diameter(tokens, normal, scalars), kappa, *(dot(normal, row) for row in flow)]


def _diameter(tokens: Any, normal: Any, scalars: Any) -> Any:
    points = [[entry / dot(normal, row) for entry in row] for row in tokens]
    squares = [sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for p in points for q in points]
    return scalars.sqrt(max(squares))


def end_example() -> list[float]:
    """``min h(5)`` and ``diam w(5)`` for P(t) = cos(t) det_matrix(3)."""
    import math

    tokens, normal, metric = _sphere_data()
    weights, base = as_floats(metric), as_floats(det_matrix(3))
    flow = system("ellipsoid-multihead-flow")

    def field(t: float, state: Any) -> list[float]:
        rows = FLOATS.normalise(tuple(tuple(state[3 * i : 3 * i + 3]) for i in range(4)), weights)
        given = {"heads": [{"U": None, "P": scaled(math.cos(t), base)}], "W": weights}
        return [entry for row in flow.advance(FLOATS, given, rows) for entry in row]

    end = integrate(field, [float(entry) for row in tokens for entry in row], [5.0])[0]
    rows = FLOATS.normalise(tuple(tuple(end[3 * i : 3 * i + 3]) for i in range(4)), weights)
    side = [float(entry) for entry in normal]
    return [min(dot(side, row) for row in rows), _diameter(rows, side, FLOATS)]


def freeze_example() -> list[float]:
    """The frozen gaps of the unbounded example: full and causal attention, at t = 5."""
    import math

    def full(t: float, x: Any) -> list[float]:
        # past exponent 700 the weight is zero in floats
        grown = min(math.exp(2 * t) * (1 - math.cos(x[0])), 700.0)
        return [-math.sqrt(2) * math.sin(x[0]) / (1 + math.exp(grown))]

    def causal(t: float, x: Any) -> list[float]:
        grown = min(math.exp(2 * t) * (1 - math.cos(x[0])), 700.0)
        return [-math.sin(x[0]) / math.sqrt(2) / (1 + math.exp(grown))]

    return [integrate(full, [1.0], [5.0])[0][0], integrate(causal, [1.0], [5.0])[0][0]]


def layer_keeps_the_hull(instances: int, seed: int) -> Verdict:
    """One layer with U = I, W = 1 and P = 0, any step, in exact arithmetic: heights stay positive, projections in the hull."""
    source = random.Random(seed)
    for _ in range(instances):
        tokens = []
        for _ in range(source.choice((2, 3, 4))):
            t = sp.Rational(source.randint(-8, 8), 10)
            tokens.append(((1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)))  # v = e_1: the first coordinate is the height
        step = sp.Rational(source.randint(1, 60), source.choice((1, 7, 20)))
        before = [y / x for x, y in tokens]
        mean = [sum(each[k] for each in tokens) / len(tokens) for k in range(2)]
        for x, y in tokens:
            moved = (x + step * mean[0], y + step * mean[1])  # normalising keeps the quotient and the sign
            if not (moved[0] > 0 and min(before) <= moved[1] / moved[0] <= max(before)):
                return fails(f"the step {step} leaves the hull at {tokens}")
    return holds(f"{instances} exact layers keep the hull")
