"""Readings of the opposite of a claim, and of an observable that decays at a rate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import BITS, Case, NoValue
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.readings.author_observables import author_decay, is_authors
from eigentoken.numerics.readings.certified_claims import change_of, handed_on, value_of
from eigentoken.numerics.readings.certified_conditions import negated
from eigentoken.numerics.readings.observed_claims import ON_BOUNDARY, observe, rate_of
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language.opposites_and_rates import Decays, Fails
from eigentoken.theory.language.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__: list[str] = []


@GENERATED.register(Fails)
def generated_fails(claim: Fails, plan: Plan, satisfy: bool = True) -> Plan:
    made: Plan = GENERATED(claim.claim, plan)
    return made


@OBSERVED.register(Fails)
def observed_fails(claim: Fails, batch: Batch) -> Tensor:
    """Within rounding of the boundary either may be true: this is for the exact check."""
    seen: Tensor = OBSERVED(claim.claim, batch)
    return torch.where(seen == ON_BOUNDARY, seen, -seen)


@CERTIFIED.register(Fails)
def certified_fails(claim: Fails, case: Case) -> Verdict:
    found: Verdict = CERTIFIED(claim.claim, case)
    opposite = negated(found)
    return replace(opposite, certificate=handed_on(found, opposite.answer))


@GENERATED.register(Decays)
def generated_decays(claim: Decays, plan: Plan, satisfy: bool = True) -> Plan:
    return plan.noticing(sp.sympify(claim.rate).free_symbols)


@OBSERVED.register(Decays)
def observed_decays(claim: Decays, batch: Batch) -> Tensor:
    change, noise = rate_of(claim.observable, batch)
    return change + batch.scalar(claim.rate) * observe(claim.observable, batch, batch.tokens) - noise


@CERTIFIED.register(Decays)
def certified_decays(claim: Decays, case: Case) -> Verdict:
    said = f"the change of {claim.observable.name} plus {claim.rate} times its value"
    if is_authors(claim.observable):
        exact = case.exact(sp.sympify(claim.rate))
        sign, shown = (
            (None, "the rate has no exact value") if exact is None else author_decay(claim.observable, case, exact)
        )
        return _told(sign, shown, said)
    for bits in BITS:
        try:
            with precision(bits):
                total: Any = change_of(claim.observable, case, bits) + case.ball(
                    sp.sympify(claim.rate), bits
                ) * value_of(claim.observable, case, bits)
        except NoValue as problem:
            return undecided(str(problem))
        if total > 0 or total <= 0:
            return _told(1 if total > 0 else -1, total.str(12), said)
    return _told(None, total.str(12), said)


def _told(sign: int | None, shown: str, said: str) -> Verdict:
    if sign is None:
        return undecided(f"{said} was not told from zero: {shown}")
    return fails(f"{said} is {shown} at this state") if sign > 0 else holds(f"{said} is {shown} at this state")
