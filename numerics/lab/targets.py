"""What is searched: one target for each claim of a conjecture and each side of an equivalence."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Contradiction, Plan, plan_for
from eigentoken.numerics.lab.conjectures import Conjecture
from eigentoken.numerics.lab.on_device import looked_at
from eigentoken.numerics.lab.predicates import predicate_violation, told
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.observed_claims import exact_check_follows
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Claim,
    Converges,
    Diverges,
    ForwardInvariant,
    Iff,
    TwoCycle,
    When,
)
from eigentoken.theory.language.opposites_and_rates import Fails
from eigentoken.theory.language.places import SomeEquilibrium, Zero
from eigentoken.theory.language.readings import GENERATED
from eigentoken.theory.systems.system import Time

__all__ = ["Target", "targets"]


@dataclass(frozen=True)
class Target:
    """A claim with the plan of its instances; ``claim`` is ``None`` for the free predicate."""

    conjecture: Conjecture
    claim: Claim | None
    plan: Plan
    side: bool = True
    device: str = "cpu"
    "Where large batches are looked at."

    @property
    def inner(self) -> Claim | None:
        """The claim inside an equivalence or a further condition."""
        claim = self.claim
        while isinstance(claim, Iff | When):
            claim = claim.claim
        return claim

    @property
    def about_limits(self) -> bool:
        return isinstance(self.inner, Converges | AlmostEveryConverges | Diverges | ForwardInvariant)

    def violation(self, batch: Batch) -> Tensor:
        """Positive where the claim is seen to fail, ``nan`` where nothing is seen."""
        if self.claim is None:
            return predicate_violation(self.conjecture, batch)
        observable = getattr(self.inner, "observable", None)
        named: AbstractContextManager[None] = nullcontext()
        if observable is not None:
            named = told(self.conjecture, f"the observable {observable.name} (with n = {batch.n}, d = {batch.d})")
        with named, exact_check_follows():
            return looked_at(self.claim, batch, self.device)


def targets(conjecture: Conjecture, *, partly: bool = False) -> list[Target]:
    """All targets; raises :class:`ConjectureError` where the conditions leave no instance.

    With ``partly`` claims and sides of equivalences for which they leave none are left out.
    """
    found: list[Target] = []
    load()
    try:
        plan = plan_for(conjecture.system, conjecture.conditions)
        plan = plan.sized(conjecture.sizes("n"), conjecture.sizes("d"))
        if conjecture.n is None:
            plan = replace(plan, n=(1, *plan.n))
        if conjecture.mask is not None:
            plan = replace(plan, mask=conjecture.mask)
        plan.shapes()
    except Contradiction as problem:
        raise conjecture.error(f"{conjecture.name}: {problem}") from None
    for claim in conjecture.claims:
        _check_place(conjecture, plan, claim)
        for side in (True, False) if isinstance(claim, Iff) else (True,):
            try:
                made = Target(conjecture, claim, GENERATED(claim, plan, side), side)
                found.append(replace(made, plan=_small(made)) if hasattr(made.inner, "observable") else made)
            except Contradiction as problem:
                if side and not partly:
                    raise conjecture.error(f"{conjecture.name}: {problem}") from None
    if conjecture.holds_if is not None:
        at = conjecture.at
        found.append(Target(conjecture, None, plan if at is None else plan.at(at)))
    return found


def _check_place(conjecture: Conjecture, plan: Plan, claim: Claim) -> None:
    """A place that is no state of the system, or that only a limit can be at, is an error of whoever wrote the claim."""
    while isinstance(claim, Iff | When | Fails):
        claim = claim.claim
    place = getattr(claim, "place", None)
    if isinstance(claim, TwoCycle) and plan.system.time is not Time.MAP:
        raise conjecture.error(f"{conjecture.name}: {conjecture.system} is a flow: a TwoCycle is one of a map")
    if isinstance(claim, Diverges) and not plan.euclidean:
        said = f"tokens of {conjecture.system} do not grow: Diverges belongs to Euclidean flows"
        raise conjecture.error(f"{conjecture.name}: {said}")
    if isinstance(place, Zero) and not plan.euclidean:
        said = f"no state of {conjecture.system} is at Zero: its tokens are never 0; Zero belongs to Euclidean flows"
        raise conjecture.error(f"{conjecture.name}: {said}")
    if isinstance(place, SomeEquilibrium) and not isinstance(claim, Converges | AlmostEveryConverges):
        said = f"{type(claim).__name__} needs a place that names states; SomeEquilibrium is only for limits (Converges)"
        raise conjecture.error(f"{conjecture.name}: {said}")


def _small(target: Target) -> Plan:
    """Observables are written with loops: small sizes, unless others were asked for."""
    plan, conjecture = target.plan, target.conjecture
    n = tuple(each for each in plan.n if each <= 4) if conjecture.n is None else plan.n
    d = tuple(each for each in plan.d if each <= 3) if conjecture.d is None else plan.d
    return replace(plan, n=n or plan.n, d=d or plan.d)
