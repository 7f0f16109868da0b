"""What is searched: one target for each claim of a conjecture and each side of an equivalence."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Contradiction, Plan, plan_for
from eigentoken.numerics.lab.conjectures import Conjecture, ConjectureError
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.claims import AlmostEveryConverges, Claim, Converges, Diverges, ForwardInvariant, Iff, When
from eigentoken.theory.readings import GENERATED, OBSERVED
from eigentoken.theory.systems import Time

__all__ = ["Target", "predicate_violation", "targets"]


@dataclass(frozen=True)
class Target:
    """A claim with the plan of its instances; ``claim`` is ``None`` for the free predicate."""

    conjecture: Conjecture
    claim: Claim | None
    plan: Plan
    side: bool = True

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
        found: Tensor = OBSERVED(self.claim, batch)
        return found


def targets(conjecture: Conjecture) -> list[Target]:
    """All targets; raises :class:`ConjectureError` where the conditions leave no instance."""
    found: list[Target] = []
    try:
        plan = plan_for(conjecture.system, conjecture.conditions)
        sizes = {"n": conjecture.n, "d": conjecture.d}
        plan = plan.sized(*(None if given is None else tuple(given) for given in sizes.values()))
        if conjecture.n is None:
            plan = replace(plan, n=(1, *plan.n))
        if conjecture.mask is not None:
            plan = replace(plan, mask=conjecture.mask)
        plan.shapes()
    except Contradiction as problem:
        raise conjecture.error(f"{conjecture.name}: {problem}") from None
    for claim in conjecture.claims:
        for side in (True, False) if isinstance(claim, Iff) else (True,):
            try:
                made = Target(conjecture, claim, GENERATED(claim, plan, side), side)
                found.append(replace(made, plan=_small(made)) if hasattr(made.inner, "observable") else made)
            except Contradiction as problem:
                if side:
                    raise conjecture.error(f"{conjecture.name}: {problem}") from None
    if conjecture.holds_if is not None:
        found.append(Target(conjecture, None, plan))
    return found


def _small(target: Target) -> Plan:
    """Observables are written with loops: small sizes, unless others were asked for."""
    plan, conjecture = target.plan, target.conjecture
    n = tuple(each for each in plan.n if each <= 4) if conjecture.n is None else plan.n
    d = tuple(each for each in plan.d if each <= 3) if conjecture.d is None else plan.d
    return replace(plan, n=n or plan.n, d=d or plan.d)


class FloatInstance(SimpleNamespace):
    """One instance for a free predicate: parameters and tokens as numpy arrays."""

    def is_equilibrium(self) -> bool:
        """Does the state stay where it is (within rounding)?  The exact instance decides this exactly."""
        batch: Batch = self._batch
        moved = problem_of(batch).advance(batch.tokens, 0.0)
        rest = moved - batch.tokens if batch.system.time is Time.MAP else moved
        return bool(rest.abs().max() < 1e-9)


def one_instance(batch: Batch, index: int) -> FloatInstance:
    """One instance of a batch with numpy arrays as attributes, for predicates."""

    def plain(value: Any) -> Any:
        value = value(0.0) if callable(value) else value
        if isinstance(value, list):
            return [SimpleNamespace(**{name: plain(each) for name, each in head.items()}) for head in value]
        return value[index].numpy() if value.ndim > 1 else float(value[index])

    parameters = {name: plain(value) for name, value in batch.parameters.items()}
    tokens = batch.tokens[index].numpy()
    one = batch.take([index])
    return FloatInstance(**parameters, tokens=tokens, n=batch.n, d=batch.d, k=batch.k, p=batch.p, q=batch.q, _batch=one)


def call_predicate(conjecture: Conjecture, instance: Any) -> Any:
    """``holds_if(instance)``; what it raises is told with the line in the file."""
    assert conjecture.holds_if is not None
    try:
        return conjecture.holds_if(instance)
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == conjecture.file]
        said = f"{conjecture.name}: holds_if raised {type(problem).__name__}: {problem}"
        raise ConjectureError(said, conjecture.file, (lines[-1] if lines else conjecture.line) or 1) from None


def predicate_violation(conjecture: Conjecture, batch: Batch) -> Tensor:
    """1 where the predicate is false, -1 where it is true."""
    answers = [-1.0 if bool(call_predicate(conjecture, one_instance(batch, b))) else 1.0 for b in range(batch.count)]
    return torch.tensor(answers, dtype=torch.float64)
