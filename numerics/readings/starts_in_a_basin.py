"""An exact start whose trajectory is caught elsewhere: followed by validated arithmetic into a contraction region.

The region (:class:`~eigentoken.numerics.readings.contraction_regions.Region`) is one in which everything converges to a
point away from the claimed place; the trajectory from the exact start is enclosed, layer by layer for a map, by a Taylor
method for a flow, until the enclosure lies inside it.  Starts near the exact one are caught as well, so an open set of
starts is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
import torch
from flint import arb

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.dynamics.enclosed_trajectories import NoEnclosure, enclose
from eigentoken.numerics.dynamics.enclosed_trajectories import precision as digits_of
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.rational import rounded, sphere_point
from eigentoken.numerics.readings.bracketed_starts import angular_field
from eigentoken.numerics.readings.trajectories import distance, problem_of, run
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import ball_setting
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "Capture",
    "capture",
    "departure",
    "enclosed_ends",
    "flow_field",
    "is_caught",
    "on_circle",
    "state_at",
    "steps_for",
]

DIGITS = 60
ORDER = 18
MOST_LAYERS = 300
LONGEST = 60.0
FLOAT_STEP = 0.05
FINE = 10**9
#: Lipschitz bound times time beyond which balls of this many digits grow too large.
REACH = 100.0
#: Few steps are tried first: each costs the same, and the answer needs few of the digits.
SHARES = (0.15, 0.3, 0.6, 1.0)
#: An enclosure by few steps is taken where its balls are smaller than this, so that a second integration has room.
SHARP = 1e-8
#: A float trajectory this far inside a region is taken to be in it: a proposal.
INSIDE = 0.8
#: A float trajectory that is slower than this goes nowhere: nothing is proposed.
AT_REST = 1e-10
#: A trajectory that ends nearer than this to the claimed place shows nothing.
AWAY = 1e-3


@dataclass(frozen=True)
class Capture:
    """The region (rational), and when the trajectory is inside: a number of layers, or a time with its steps."""

    region: Any
    time: Fraction
    steps: int

    def as_data(self) -> dict[str, Any]:
        return {**self.region.as_data(), "time": str(self.time), "steps": self.steps}


def capture(case: Case, place: Any = None) -> Capture | None:
    """A region that catches the trajectory from the tokens of the case, or ``None``; at once where it ends at the place."""
    from eigentoken.numerics.readings.contraction_regions import contraction_region, region_in_a_frame

    instance = case.instance
    if instance.system.space is Space.ELLIPSOID or instance.system.rotary is not None:
        return None
    batch = batch_of(instance, case.k, case.p)
    finish = run(batch)
    if not bool(finish.settled.all()):
        return None
    if place is not None and float(distance(place, batch, finish.final)[0]) < AWAY:
        return None
    final = finish.final[0].tolist()
    flat = instance.system.space is Space.EUCLIDEAN
    tokens = [[rounded(a, FINE) for a in token] if flat else list(sphere_point(token, FINE)) for token in final]
    exact = tuple(tuple(sp.Rational(a.numerator, a.denominator) for a in token) for token in tokens)
    ended = Case(replace(instance, tokens=exact), case.k, case.p, case.extra)
    region = contraction_region(ended) or region_in_a_frame(ended)
    if region is None:
        return None
    found = _arrival(batch, region)
    if found is None:
        return None
    time, steps = found
    if instance.system.time is not Time.MAP and float(time) * _speed(batch) > 8 * REACH:
        return None
    if instance.system.time is Time.MAP:
        caught = Capture(region, time, steps)
        return caught if is_caught(instance, caught) else None
    for number, end in enclosed_ends(instance, time, steps):
        inside = _in_region(region, end)
        if inside is not None:
            return Capture(region, time, number) if inside else None
    return None


def _arrival(batch: Any, region: Any) -> tuple[Fraction, int] | None:
    """When a float trajectory is well inside the region: a proposal."""
    shape = np.array([[float(a) for a in row] for row in region.shape])
    centre = np.array([[float(a) for a in token] for token in region.centre]).reshape(-1)
    problem, x = problem_of(batch), batch.tokens
    discrete = batch.system.time is Time.MAP

    def inside() -> bool:
        away = x[0].reshape(-1).numpy() - centre
        return bool(np.sqrt(max(away @ shape @ away, 0.0)) < float(region.eps) * INSIDE)

    layers = MOST_LAYERS if discrete else int(LONGEST / FLOAT_STEP)
    with torch.no_grad():
        for layer in range(layers + 1):
            if inside():
                if discrete:
                    return Fraction(layer), layer
                time = Fraction(layer) * Fraction(1, 20)
                return time, max(1, int(float(time) * _speed(batch)) + 1)
            if discrete:
                x = problem.advance(x, layer)
            else:
                half = problem.retract(x + FLOAT_STEP / 2 * problem.advance(x, 0.0))
                x = problem.retract(x + FLOAT_STEP * problem.advance(half, 0.0))
    return None


def departure(case: Case, normal: Any) -> tuple[Fraction, int] | None:
    """A time at which a float trajectory has a token well outside ``w^T x > 0`` (all tokens start inside): a proposal."""
    batch = batch_of(case.instance, case.k, case.p)
    w = torch.tensor([float(entry) for entry in normal], dtype=torch.float64)
    problem, x = problem_of(batch), batch.tokens
    side = torch.sign((x @ w).mean())
    with torch.no_grad():
        for step in range(int(LONGEST / FLOAT_STEP / 2)):
            if float((side * (x @ w)).min()) < -1e-2 * float(torch.linalg.vector_norm(w)):
                time = Fraction(step) * Fraction(1, 20)
                return time, max(1, int(float(time) * _speed(batch)) + 1)
            velocity = problem.advance(x, 0.0)
            if float(velocity.abs().max()) < AT_REST:
                return None
            half = problem.retract(x + FLOAT_STEP / 2 * velocity)
            x = problem.retract(x + FLOAT_STEP * problem.advance(half, 0.0))
    return None


def steps_for(batch: Any, time: Fraction) -> int:
    """Steps of a validated integration up to the time, for the strength of the batch's one instance."""
    return max(1, int(float(time) * _speed(batch)) + 1)


def _speed(batch: Any) -> float:
    """Steps for a unit of time: a few for each unit of the Lipschitz bound."""
    total = 0.0
    if not batch.system.standard:  # no bound is known: the sizes of all parameters together
        for group in (batch.parameters, *batch.parameters.get("heads", ())):
            total += sum(
                float(torch.linalg.vector_norm(each)) for each in group.values() if isinstance(each, torch.Tensor)
            )
        return 8.0 * (1.0 + total) * (1.0 + total)
    for value, score in batch.system.heads(batch.parameters, 0.0):
        size = 1.0 if value is None else float(torch.linalg.matrix_norm(value[0], ord=2))
        total += size * (1.0 + (0.0 if score is None else 2 * float(torch.linalg.matrix_norm(score[0], ord=2))))
    return 8.0 * max(total, 0.5)


def flow_field(instance: Instance, parameters: Any, algebra: LoopAlgebra) -> Any:
    """The velocity on flat lists of coordinates, through the one definition of the system."""
    d = instance.d

    def field(_: Any, x: Any) -> list[Any]:
        tokens = tuple(tuple(x[i * d : (i + 1) * d]) for i in range(instance.n))
        moved = instance.system.advance(algebra, parameters, tokens, instance.mask)
        return [entry for token in moved for entry in token]

    return field


def is_caught(instance: Instance, caught: Capture) -> bool:
    """The enclosure of the trajectory lies in the region, in ball arithmetic."""
    discrete = instance.system.time is Time.MAP
    end = _after_layers(instance, caught.steps) if discrete else state_at(instance, caught.time, caught.steps)
    if end is None:
        return False
    return _in_region(caught.region, end) is True


def _in_region(region: Any, end: list[Any]) -> bool | None:
    """Is the state of these balls in the ellipsoid of the region?  ``None``: they meet its boundary."""
    with precision(256):
        away = [a - _ball(c) for a, c in zip(end, (c for token in region.centre for c in token), strict=True)]
        square = arb(0)
        for a, row in zip(away, region.shape, strict=True):
            for b, entry in zip(away, row, strict=True):
                square = square + a * _ball(entry) * b
        most = _ball(region.eps) ** 2
        return True if square < most else False if square >= most else None


def _ball(value: Fraction) -> Any:
    return arb(value.numerator) / arb(value.denominator)


def _after_layers(instance: Instance, layers: int) -> list[Any] | None:
    bits = 256 + 16 * layers
    with precision(bits):
        setting = ball_setting(instance, bits)
        tokens = setting.tokens
        for _ in range(layers):
            tick()
            tokens = setting.advance(tokens)
        return [entry for token in tokens for entry in token]


def enclosed_ends(instance: Instance, time: Fraction, steps: int) -> Iterator[tuple[int, list[Any]]]:
    """The state of a flow at the time by more and more steps, at most that many: their number, and sharp balls."""
    for number in dict.fromkeys(max(1, round(share * steps)) for share in SHARES):
        end = state_at(instance, time, number)
        if end is not None and (number == steps or all(float(each.rad()) < SHARP for each in end)):
            yield number, end


def state_at(instance: Instance, time: Fraction, steps: int) -> list[Any] | None:
    """Balls around the coordinates of a flow at the time; ``None`` where no enclosure was found."""
    with digits_of(DIGITS):
        setting = ball_setting(instance, 240)
        round_ = on_circle(instance)
        if round_:  # fewer coordinates, and no direction off the circle
            functions = (lambda a: a.exp(), lambda a: a.sin_cos()[::-1])
            root = arb(2).sqrt() if instance.system.over_root_d else arb(1)
            field = angular_field(instance, lambda e: expression_ball(sp.sympify(e), 240), root, functions)
            start = [arb.atan2(y, x) for x, y in setting.tokens]
        else:
            algebra = LoopAlgebra(lambda a: a.exp(), lambda a: a.sqrt(), arb(1))
            field = flow_field(instance, setting.parameters, algebra)
            start = [entry for token in setting.tokens for entry in token]
        try:
            end = enclose(field, start, time, steps=steps, order=ORDER, digits=DIGITS)
        except NoEnclosure:
            return None
        return [part for a in end for part in (a.cos(), a.sin())] if round_ else end


def on_circle(instance: Instance) -> bool:
    """Is the state given by one angle for each token, with the papers' equation for them?"""
    return instance.system.standard and instance.system.space is Space.SPHERE and instance.d == 2
