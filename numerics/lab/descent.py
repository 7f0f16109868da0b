"""From a counterexample towards a tighter condition: random changes that keep the violation and bring the condition nearer.

A counterexample to a conjecture with ``f < 4`` is moved, in floating point, until ``f < 3`` holds of it and the claim still
fails; then it is rounded and certified like any finding of the search.
"""

from __future__ import annotations

import torch

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.sampling import condition_violation
from eigentoken.numerics.lab.certify import Certified
from eigentoken.numerics.lab.gathering import SEEN, SearchFinding
from eigentoken.numerics.lab.premises import leaves, moved_by, picked, premise_holds
from eigentoken.numerics.lab.targets import Target

__all__ = ["descended"]

#: Copies of a counterexample that wander, and how many changes each tries.
COPIES, CHANGES = 48, 120
METHOD = "descent"


def descended(target: Target, witness: Certified, seed: int = 0) -> SearchFinding | None:
    """An instance near the witness that satisfies the conditions of the target, with the claim still violated."""
    case = witness.case
    start = batch_of(case.instance, case.k, case.p)
    if target.about_limits or any(callable(each) for each in start.parameters.values()):
        return None
    batch = start.take([0] * COPIES)
    if not bool((_violation(target, batch) > SEEN).all()):
        return None
    generator = torch.Generator().manual_seed(seed)
    height = condition_violation(target.plan, batch)
    reach = torch.logspace(-3, 0, COPIES, dtype=torch.float64)
    for _ in range(CHANGES):
        tick()
        if bool((height < 0).any()):
            best = int(torch.where(height < 0, _violation(target, batch), -torch.inf).argmax())
            alone = batch.take([best])
            return SearchFinding(alone, target.plan, float(_violation(target, alone)[0]), METHOD)
        tried = moved_by(target, batch, _directions(target, batch, generator), reach * _size(batch))
        value = condition_violation(target.plan, tried)
        good = (value < height) & (_violation(target, tried) > SEEN) & premise_holds(target, tried) & tried.finite
        batch, height = picked(good, tried, batch), torch.where(good, value, height)
        reach = torch.where(good, reach * 1.5, reach * 0.9).clamp(1e-4, 1.0)
    return None


def _violation(target: Target, batch: Batch) -> torch.Tensor:
    return torch.nan_to_num(target.violation(batch).detach(), nan=-1.0)


def _directions(target: Target, batch: Batch, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Random ones; of half of the instances along one parameter only, scaled with it."""
    named = leaves(batch) | ({"tokens": batch.tokens} if target.plan.place is None else {})
    chosen = torch.randint(len(named), (batch.count,), generator=generator)
    some = torch.rand(batch.count, generator=generator) < 0.5
    made = {}
    for number, (name, value) in enumerate(named.items()):
        noise = torch.randn(value.shape, generator=generator, dtype=torch.float64)
        keep = (~some | (chosen == number)).reshape(-1, *([1] * (value.ndim - 1)))
        made[name] = torch.where(keep, noise * (value.abs() + 0.1), torch.zeros_like(value))
    return made


def _size(batch: Batch) -> torch.Tensor:
    """How large the numbers of each instance are."""
    squares = [value.reshape(batch.count, -1).square().sum(-1) for value in leaves(batch).values()]
    return torch.stack([torch.ones(batch.count, dtype=torch.float64), *squares]).sum(0).sqrt()
