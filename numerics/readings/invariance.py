"""CERTIFIED for ``ForwardInvariant``: a token that starts on one side of a hyperplane and is certainly seen on the other.

The normal of the hyperplane is the top eigenvector that the region names (the left one where it says so).  A region
without a normal speaks of every hemisphere that holds the tokens: a linear program proposes one that is left, and only what
ball arithmetic confirms of it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import BITS, Case, NoValue
from eigentoken.numerics.readings.exact_places import at_place
from eigentoken.numerics.readings.region_membership import region_left
from eigentoken.numerics.readings.starts_in_a_basin import departure, enclosed_ends
from eigentoken.numerics.readings.trajectories import states_along
from eigentoken.theory.classification.jacobians import ball_setting
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.language import claims
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, holds, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["left_normal"]

#: Denominators of the normals that are tried: simple ones first.
ROUND = (1, 2, 4, 12, 60, 1000)
#: How far outside (in units of the height inside) a proposal must be.
CLEARLY = 1e-6
#: Float steps of a flow between two looks, their size, and how many looks.
STEPS, STEP, LOOKS = 5, 0.05, 12


@CERTIFIED.register(claims.ForwardInvariant)
def certified_forward_invariant(claim: claims.ForwardInvariant, case: Case) -> Verdict:
    """For a map: does the next state of a state of the region leave it?  For a flow: is the state outside at some time?"""
    region: Any = claim.region
    if isinstance(region, StateRegion):
        return region_left(region, case)
    if not isinstance(region, Hemisphere):
        return undecided(f"no method shows that {type(region).__name__} is left")
    try:
        normal = _given_normal(region, case)
    except NoValue as problem:
        return undecided(str(problem))
    if normal is None:
        normal = left_normal(case)
        if normal is None:
            return undecided("no hemisphere of the tokens was seen to be left")
    elif at_place(region, case) is not True:
        return undecided("the state is not (known to be) in the region")
    if case.instance.system.time is not Time.MAP:
        return _left_by_flow(case, normal)
    return _left_by_map(case, normal, free=region.normal is None)


def _given_normal(region: Any, case: Case) -> list[Any] | None:
    """The normal that the region names, or that comes with the case; ``None`` where every hemisphere is meant."""
    if region.normal is None:
        vector = case.extra.get("w")
        return None if vector is None else [sp.sympify(entry) for entry in vector]
    return list(case.eigenvector(region.normal.T if region.left else region.normal, 1))


def _left_by_map(case: Case, normal: Sequence[Any], free: bool) -> Verdict:
    for bits in BITS:
        with precision(bits):
            setting = ball_setting(case.instance, bits)
            side, after = _heights(case, normal, [tuple(token) for token in setting.advance()], bits)
            if side and any(side * height < 0 for height in after):
                reason = "the next state has a token outside the region (ball arithmetic)"
                return fails(reason, certificate=_certificate({"normal": _texts(normal)}))
            if side and not free and all(side * height > 0 for height in after):
                return holds("the next state is in the region (ball arithmetic)")
    return undecided("the next state is too close to the boundary")


def _left_by_flow(case: Case, normal: Sequence[Any]) -> Verdict:
    """A token is outside at a time at which the trajectory from this start was enclosed."""
    found = None if case.instance.system.space is Space.ELLIPSOID else departure(case, normal)
    if found is None:
        return undecided("the trajectory was not seen to leave the region")
    d, time = case.d, found[0]
    for steps, end in enclosed_ends(case.instance, *found):
        with precision(BITS[-1]):
            state = [tuple(end[i * d : (i + 1) * d]) for i in range(case.n)]
            side, heights = _heights(case, normal, state, BITS[-1])
            if not side or all(side * height >= 0 for height in heights):
                break  # more steps say the same
            if any(side * height < 0 for height in heights):
                certificate = _certificate({"time": str(time), "steps": steps, "normal": _texts(normal)})
                reason = f"at t = {time} a token is outside the region (validated integration)"
                return fails(reason, certificate=certificate)
    return undecided("the enclosure of the trajectory does not show that it left the region")


def _heights(case: Case, normal: Sequence[Any], state: Sequence[Sequence[Any]], bits: int) -> tuple[int, list[Any]]:
    """The side on which all tokens start (0: not certainly on one), and the heights ``w^T x_i`` of another state."""
    w = [expression_ball(sp.sympify(entry), bits) for entry in normal]

    def height(token: Sequence[Any]) -> Any:
        return sum((a * b for a, b in zip(w, token, strict=True)), 0 * w[0])

    start = [height([expression_ball(entry, bits) for entry in token]) for token in case.instance.tokens]
    side = 1 if all(each > 0 for each in start) else -1 if all(each < 0 for each in start) else 0
    return side, [height(token) for token in state]


def _certificate(data: dict[str, Any]) -> Certificate:
    return Certificate("region/left", "trajectories stay in the region", VerdictAnswer.FAILS, data=data)


def _texts(normal: Sequence[Any]) -> list[str]:
    return [str(entry) for entry in normal]


# --- every hemisphere ------------------------------------------------------------------------------------------------


def left_normal(case: Case) -> list[sp.Rational] | None:
    """A rational w with ``w^T x_i > 0`` for all tokens at the start and not for all of them later, in floats: a proposal."""
    batch = batch_of(case.instance, case.k, case.p)
    start = batch.tokens[0].numpy()
    for state in _states(batch):
        for token in state[np.isfinite(state).all(axis=1)]:  # a token that a layer takes to 0 has no direction
            made = _separating(start, token)
            if made is not None:
                return made
    return None


def _states(batch: Any) -> Iterator[np.ndarray]:
    """The next state of a map, or states along the flow."""
    discrete = batch.system.time is Time.MAP
    for number, x in enumerate(states_along(batch, 1 if discrete else STEPS * LOOKS, STEP), 1):
        if discrete or number % STEPS == 0:
            yield x[0].detach().numpy()


def _separating(start: np.ndarray, token: np.ndarray) -> list[sp.Rational] | None:
    """A simple w in the unit box with ``w^T x_i >= h`` at the start, ``w^T y <= -h``, and h as large as can be."""
    from scipy.optimize import linprog

    d = start.shape[1]
    rows = np.vstack([np.hstack([-start, np.ones((len(start), 1))]), np.append(token, 1.0)[None]])
    found = linprog(np.append(np.zeros(d), -1.0), rows, np.zeros(len(rows)), bounds=[(-1, 1)] * d + [(0, 1)])
    if not found.success or found.x[-1] < CLEARLY:
        return None
    for denominator in ROUND:
        w = [Fraction(round(entry * denominator), denominator) for entry in found.x[:-1]]
        floats = np.array([float(entry) for entry in w])
        if (start @ floats).min() > CLEARLY and float(token @ floats) < -CLEARLY:
            return [sp.Rational(entry.numerator, entry.denominator) for entry in w]
    return None
