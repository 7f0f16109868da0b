"""Closed curves in floats, and tubes around them that may be certified: proposals for :mod:`.periodic_tubes`.

A trajectory is followed until it comes back, again and again, to the same state.  P is made of the left Floquet vectors of the
linearization at the other pace: each of them falls at its own rate, and the tube asks for a quarter of the slowest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.dynamics.array_problem import array_problem
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings.periodic_tubes import Knot, Tube, can_have_tube, holds_state, is_tube
from eigentoken.numerics.readings.starts_in_a_basin import on_circle
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space

__all__ = ["closed_orbit", "periodic_tube", "states_on_orbit"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
#: Times are in units of one over the size of the weights.
BEFORE, LONGEST = 120.0, 240.0
#: A state that comes back so near is on its way to an orbit; nearer than CLOSED it is on it.
NEAR, CLOSED = 1e-2, 1e-9
RETURNS = 40
#: Velocities that are asked for at most, and a state that has run away.
EVALUATIONS, LARGE = 16_000, 1e3
SLOWEST = 5e-3
STILL = 1e-5
#: A multiplier of less has no direction in floats, and a form of which an eigenvalue is less beside another no factor.
LEAST, SKEWED = 1e-100, 1e-10
#: Numbers of knots that are tried, and radii.
FINENESS = (32, 64, 128)
RADII = ("1/20", "1/50", "1/100", "1/200", "1/500", "1/1500", "1/5000")
#: Points of the orbit at which it is linearized, between two knots.
WITHIN = 4
DIGITS = 32
#: Along the orbit the other pace brings back faster than it attracts by this (not as fast: Floquet vectors would meet).
ALONG = 1.5
KEPT = 64

_memory: OrderedDict[str, list[Tube]] = OrderedDict()


class _NoOrbit(ArithmeticError):
    """The trajectory runs away, or takes too long."""


@dataclass(frozen=True)
class ClosedOrbit:
    """A closed orbit: its states at equal times of one period, the period, and how often each coordinate winds."""

    states: Floats
    period: float
    windings: tuple[int, ...]


def periodic_tube(case: Case, wanted: Callable[[Tube], bool] = lambda tube: True) -> Tube | None:
    """A certified tube one of whose ellipsoids holds the start, and is as wanted, or ``None``."""
    instance = case.instance
    if not can_have_tube(instance):
        return None
    known = _memory.setdefault(_weights(instance), [])
    _memory.move_to_end(_weights(instance))
    while len(_memory) > KEPT:
        _memory.popitem(last=False)
    for tube in (*known, *(each for each in _proposals(instance))):
        held = _holding(instance, tube)
        if held is None or not holds_state(instance, held) or not wanted(held):
            continue
        if tube in known or is_tube(instance, tube):
            if tube not in known:
                known.append(tube)
            return held
    return None


def states_on_orbit(instance: Instance) -> list[list[list[float]]]:
    """Tokens along the closed orbit that the trajectory of the instance approaches; none where there is no orbit."""
    if not can_have_tube(instance) or instance.system.space is Space.ELLIPSOID:
        return []
    orbit = closed_orbit(instance, _first_pull(instance))
    if orbit is None:
        return []
    if on_circle(instance):
        return [[[float(np.cos(a)), float(np.sin(a))] for a in x] for x in orbit.states]
    return [[[float(a) for a in token] for token in x.reshape(instance.n, -1)] for x in orbit.states]


def _first_pull(instance: Instance) -> float:
    return 0.0 if instance.system.space is Space.EUCLIDEAN or on_circle(instance) else _scale(instance)


def _weights(instance: Instance) -> str:
    """What a tube depends on."""
    return repr((instance.system.name, instance.parameters, instance.mask, instance.n, instance.d))


def _holding(instance: Instance, tube: Tube) -> Tube | None:
    """The tube with the time at which its curve is nearest to the state; ``None``: it is not near."""
    at, step = _state(instance), float(tube.step)
    whole = 2 * np.pi if on_circle(instance) else 1e300
    centres = np.array([[float(a) for a in knot.centre] for knot in tube.knots])
    away = at - centres
    away = away - whole * np.round(away / whole)
    best = None
    for number in np.linalg.norm(away, axis=-1).argsort()[:2]:
        knot = tube.knots[number]
        velocity = np.array([float(a) for a in knot.velocity])
        shape = np.array([[float(a) for a in row] for row in knot.shape])
        since = float(away[number] @ shape @ velocity / (velocity @ shape @ velocity))
        if abs(since) <= step:
            time = Fraction(round((number * step + since) * 2**30), 2**30) % tube.period
            best = replace(tube, start=time) if best is None else best
    return best


def _state(instance: Instance) -> Floats:
    """The tokens as flat coordinates, or as angles."""
    x = np.array([[float(a) for a in token] for token in instance.tokens])
    return np.arctan2(x[:, 1], x[:, 0]) if on_circle(instance) else x.ravel()


def _velocity(instance: Instance, pull: float) -> Callable[[Floats], Floats]:
    """The velocity on flat states, with the pull to the manifold."""
    batch = batch_of(instance, 1, 1)
    now = array_problem(problem_of(batch), instance.n).at(np.zeros(1))
    metric = None if instance.metric is None else np.array([[float(a) for a in row] for row in instance.metric])

    def turning(angles: Floats) -> Floats:
        tokens = np.stack([np.cos(angles), np.sin(angles)], -1)[None]
        moved = np.asarray(now.advance(tokens))
        return np.asarray((tokens[..., 0] * moved[..., 1] - tokens[..., 1] * moved[..., 0]).ravel())

    def field(x: Floats) -> Floats:
        tokens = x.reshape(1, instance.n, instance.d)
        moved = np.asarray(now.advance(tokens))
        if pull:
            weighed = tokens if metric is None else tokens @ metric
            moved = moved + pull * (1 - (tokens * weighed).sum(-1, keepdims=True)) * tokens
        return np.asarray(moved.ravel())

    return turning if on_circle(instance) else field


def _scale(instance: Instance) -> float:
    """The size of the values."""
    total = 0.0
    name = instance.system.value
    for head in instance.parameters.get("heads", (instance.parameters,)):
        rows = None if name is None else head.get(name)
        total += 1.0 if rows is None else float(np.linalg.norm([[float(a) for a in row] for row in rows], 2))
    return max(total, 1e-3)


def closed_orbit(instance: Instance, pull: float) -> ClosedOrbit | None:
    """The orbit that the trajectory from the tokens approaches, where it comes back to itself."""
    field, unit = _velocity(instance, pull), 1 / _scale(instance)
    x = _state(instance)
    whole = 2 * np.pi if on_circle(instance) else 1e300

    spent = [0]

    def right(_: float, y: Floats) -> Floats:
        tick()
        spent[0] += 1
        if spent[0] > EVALUATIONS or not np.abs(y).max() < LARGE:
            raise _NoOrbit
        return field(y)

    try:
        return _followed(right, x, unit, whole)
    except _NoOrbit:
        return None


def _followed(right: Any, first: Floats, unit: float, whole: float) -> ClosedOrbit | None:
    """From the state on, until what comes back is where it was."""
    from scipy.integrate import solve_ivp

    with np.errstate(all="ignore"):
        x = _after(right, first, BEFORE * unit)
        for _ in range(RETURNS):
            if x is None or not np.isfinite(x).all():
                return None
            speed = right(0.0, x)
            if np.linalg.norm(speed) < STILL / unit:
                return None
            start, normal = x, speed / np.linalg.norm(speed)

            ends, horizon = _near(start, normal, whole), (0.0, LONGEST * unit)
            done = solve_ivp(right, horizon, start, method="DOP853", rtol=1e-11, atol=1e-12, events=ends)
            if len(done.t_events[0]) == 0:
                return None
            period, x = float(done.t_events[0][-1]), done.y_events[0][-1]
            turns = np.round((x - start) / whole)
            if np.abs(x - start - whole * turns).max() < CLOSED:
                times = np.linspace(0, period, FINENESS[-1] * WITHIN, endpoint=False)
                run = solve_ivp(right, (0.0, period), x, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=times)
                return ClosedOrbit(run.y.T, period, tuple(int(each) for each in turns))
    return None


def _near(start: Floats, normal: Floats, whole: float) -> Any:
    """The event of a crossing near the start (up to whole turns), once the trajectory has been away from it; it ends the run."""
    close = 4 * NEAR * (1 + np.abs(start).max())
    seen = {"away": False}

    def event(_: float, y: Floats) -> float:
        away = y - start - whole * np.round((y - start) / whole)
        here = bool(np.abs(away).max() < close)
        seen["away"] |= not here
        return float(away @ normal) if here and seen["away"] else -1.0

    event.direction = 1.0  # type: ignore[attr-defined]
    event.terminal = True  # type: ignore[attr-defined]
    return event


def _after(right: Any, x: Floats, time: float) -> Floats | None:
    from scipy.integrate import solve_ivp

    done = solve_ivp(right, (0.0, time), x, method="DOP853", rtol=1e-9, atol=1e-10)
    return np.asarray(done.y[:, -1]) if done.success else None


def _proposals(instance: Instance) -> Iterator[Tube]:
    """Tubes around the orbit, wide and coarse ones first."""
    flat = instance.system.space is Space.EUCLIDEAN or on_circle(instance)
    orbit = closed_orbit(instance, _first_pull(instance))
    if orbit is None:
        return
    pull = 0.0 if flat else _pull(instance, orbit)
    field = _velocity(instance, pull)
    count = len(orbit.states)
    h = orbit.period / count
    speeds = np.array([field(x) for x in orbit.states])
    slopes = [_slopes(field, x) for x in orbit.states]
    rate = _rate(slopes, h)
    if rate is None:
        return
    holds = ALONG * rate / (speeds * speeds).sum(-1)
    held = [J - k * np.outer(f, f) for J, k, f in zip(slopes, holds, speeds, strict=True)]
    shapes = _shapes(held, h)
    if shapes is None:
        return
    for knots in FINENESS:
        apart = count // knots
        made = tuple(
            Knot(
                tuple(_rational(a) for a in orbit.states[i]),
                tuple(_rational(a) for a in speeds[i]),
                tuple(tuple(_rational(P) for P in row) for row in shapes[i]),
                _rational(holds[i]),
            )
            for i in range(0, count, apart)
        )
        step = Fraction(round(orbit.period / knots * 2**40), 2**40)
        for eps in RADII:
            yield Tube(made, orbit.windings, step, Fraction(eps), _rational(rate / 4), _rational(pull))


def _pull(instance: Instance, orbit: ClosedOrbit) -> float:
    """Enough to come back to the sphere: there ``(1 - x^T W x)' = -2 (x^T W u + pull) (1 - x^T W x)``, x^T W u in the mean."""
    field = _velocity(instance, 0.0)
    metric = (
        np.eye(instance.d)
        if instance.metric is None
        else np.array([[float(a) for a in row] for row in instance.metric])
    )
    heights = []
    for (
        flat_state
    ) in orbit.states:  # radially f(s x) is s^T W (u - s^2 (x^T W u) x): its slope at s = 1 shows the height
        x = flat_state.reshape(instance.n, -1)
        out, back = (field((size * x).ravel()).reshape(x.shape) for size in (1 + 1e-5, 1 - 1e-5))
        heights.append(-np.einsum("ia,ab,ib->i", x, metric, out - back) / 4e-5)
    least = float(np.mean(heights, 0).min())
    return float(np.ceil(16 * max(0.0, _scale(instance) / 8 - least)) / 16)


def _slopes(field: Callable[[Floats], Floats], x: Floats, width: float = 1e-6) -> Floats:
    """The Jacobian by central differences."""
    columns = [(field(x + width * e) - field(x - width * e)) / (2 * width) for e in np.eye(len(x))]
    return np.stack(columns, 1)


def _rate(slopes: list[Floats], h: float) -> float | None:
    """The rate at which the orbit attracts: of the slowest multiplier but the one along it."""
    whole = _product([_exp(h * J) for J in slopes])
    if not np.isfinite(whole).all():
        return None
    values = np.sort(np.abs(np.linalg.eigvals(whole)))
    if len(values) < 2 or abs(values[-1] - 1) > 1e-2 or values[-2] > 1 - 1e-6:
        return None
    rate = float(-np.log(max(values[-2], 1e-12)) / (h * len(slopes)))
    return rate if rate * h * len(slopes) > SLOWEST else None


def _exp(matrix: Floats) -> Floats:
    from scipy.linalg import expm

    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond the floats is refused where it is used
        return np.asarray(expm(matrix))


def _product(factors: list[Floats]) -> Floats:
    whole = np.eye(len(factors[0]))
    with np.errstate(over="ignore", invalid="ignore"):
        for each in factors:
            whole = each @ whole
    return whole


def _shapes(slopes: list[Floats], h: float) -> list[Floats] | None:
    """``P = sum_i |w_i><w_i|`` of the left Floquet vectors, each of mean length 1, the smallest eigenvalue of all scaled to 1.

    ``w_i . y`` falls at its own rate, so ``P' + A^T P + P A <= -2 r P`` with r the slowest.
    """
    count = len(slopes)
    moves = [_exp(h * (slopes[i] + slopes[(i + 1) % count]) / 2) for i in range(count)]
    whole = _product(moves)
    if not np.isfinite(whole).all():
        return None
    multipliers, w = np.linalg.eig(whole.T)
    if np.linalg.cond(w) > 1e5 or np.abs(multipliers).max() > 1 - 1e-6 or not np.abs(multipliers).min() > LEAST:
        return None
    steps = np.abs(multipliers) ** (1 / count)
    found = []
    for move in reversed(moves):  # w(t) = e^{rate h} move^T w(t + h)
        w = (move.T @ w) / steps
        found.append(w)
    found.reverse()
    lengths = np.mean([np.linalg.norm(each, axis=0) for each in found], 0)
    forms = [(each / lengths) @ (each / lengths).conj().T for each in found]
    real = [(each.real + each.real.T) / 2 for each in forms]
    if not np.isfinite(real).all():
        return None
    sizes = np.linalg.eigvalsh(np.array(real))
    least, most = float(sizes.min()), float(sizes.max())
    return [each / least for each in real] if least > SKEWED * most else None


def _rational(value: float) -> Fraction:
    return Fraction(round(float(value) * 2**DIGITS), 2**DIGITS)
