"""Regions by inequalities on one exact instance: is the state inside, and is the region left?

Inside is decided exactly; a region is left by the next state of a map, or at a time at which the trajectory was enclosed, where
one of its margins is certainly negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
import torch

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import BITS, Case, relation_truth
from eigentoken.numerics.instances.regions import margin_of
from eigentoken.numerics.readings.author_observables import author_sign_at, is_authors
from eigentoken.numerics.readings.certified_claims import observable_sign
from eigentoken.numerics.readings.certified_conditions import verdict_of
from eigentoken.numerics.readings.exact_places import at_place
from eigentoken.numerics.readings.starts_in_a_basin import enclosed_ends, steps_for
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.classification.jacobians import ball_setting
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language.readings import CERTIFIED, MEMBERSHIP
from eigentoken.theory.language.regions import StartsIn, StateRegion, Where
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, holds, undecided
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.system import Space, Time

__all__ = ["margin_signs", "region_left"]

#: A float trajectory is looked at so many times, at this distance, with so many steps between.
LOOKS, STEP, PARTS = 80, Fraction(1, 20), 4
#: A margin below this is seen as outside: a proposal.
CLEARLY = -1e-3


@MEMBERSHIP.register(StateRegion)
def membership_region(region: StateRegion, case: Case) -> bool | None:
    """Every margin has its sign, exactly."""
    loops = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))
    instance = case.instance
    margins = region.margins(loops, instance.system, instance.parameters, instance.tokens, instance.mask)
    relation = sp.Gt if region.strict else sp.Ge
    return _all([relation_truth(case, relation(sp.sympify(each), 0, evaluate=False)) for each in margins])


@MEMBERSHIP.register(Where)
def membership_where(region: Where, case: Case) -> bool | None:
    signs = [observable_sign(each, case)[0] for each in region.observables]
    least = 1 if region.strict else 0
    return _all([None if sign is None else sign >= least for sign in signs])


def _all(parts: Sequence[bool | None]) -> bool | None:
    return False if False in parts else None if None in parts else True


@CERTIFIED.register(StartsIn)
def certified_starts_in(condition: StartsIn, case: Case) -> Verdict:
    return verdict_of(at_place(condition.region, case), "the tokens start in the region")


def region_left(region: StateRegion, case: Case) -> Verdict:
    """Does the trajectory from the state of the case, which is in the region, leave it?"""
    if at_place(region, case) is not True:
        return undecided("the state is not (known to be) in the region")
    if case.instance.system.time is Time.MAP:
        for bits in BITS:
            with precision(bits):
                after = [tuple(token) for token in ball_setting(case.instance, bits).advance()]
                seen = list(margin_signs(region, case, after, bits))
                if -1 in seen:
                    return fails("the next state is outside the region (ball arithmetic)", certificate=_certificate({}))
                if all(sign == 1 for sign in seen):
                    return holds("the next state is in the region (ball arithmetic)")
        return undecided("the next state is too close to the boundary")
    found = None if case.instance.system.space is Space.ELLIPSOID else _departure(region, case)
    if found is None:
        return undecided("the trajectory was not seen to leave the region")
    d, (time, few) = case.d, found
    for steps, end in enclosed_ends(case.instance, time, few):
        with precision(BITS[-1]):
            state = [tuple(end[i * d : (i + 1) * d]) for i in range(case.n)]
            if -1 in margin_signs(region, case, state, BITS[-1]):
                data = {"time": str(time), "steps": steps}
                reason = f"at t = {time} the state is outside the region (validated integration)"
                return fails(reason, certificate=_certificate(data))
    return undecided("the enclosure of the trajectory does not show that it left the region")


def margin_signs(region: StateRegion, case: Case, state: Any, bits: int) -> Iterator[int | None]:
    """The sign of each margin at a state of balls, ``None`` where it is open."""
    setting = ball_setting(case.instance, bits)
    if isinstance(region, Where) and any(map(is_authors, region.observables)):
        for each in region.observables:
            yield author_sign_at(each, case, tuple(state), bits)[0]
        return
    for margin in region.margins(
        setting.algebra(), case.instance.system, setting.parameters, state, case.instance.mask
    ):
        yield 1 if margin > 0 else -1 if margin < 0 else None


def _departure(region: StateRegion, case: Case) -> tuple[Fraction, int] | None:
    """A time at which a float trajectory is outside: a proposal."""
    batch = batch_of(case.instance, case.k, case.p)
    problem, x = problem_of(batch), batch.tokens
    with torch.no_grad():
        for number in range(1, LOOKS + 1):
            for _ in range(PARTS):
                half = problem.retract(x + float(STEP) / PARTS / 2 * problem.advance(x, 0.0))
                x = problem.retract(x + float(STEP) / PARTS * problem.advance(half, 0.0))
            if float(margin_of(region, batch, x)[0]) < CLEARLY:
                time = number * STEP
                return time, steps_for(batch, time)
    return None


def _certificate(data: dict[str, Any]) -> Certificate:
    return Certificate("region/left", "trajectories stay in the region", VerdictAnswer.FAILS, data=data)
