"""Samples of a plan: thousands of instances in batches of one shape and one corner, repeatable from a seed.

The last word belongs to the conditions themselves: whatever was constructed and does not satisfy them all (coupled
relations) is left out and counted.  A plan that yields nothing is either contradictory, which is then proved and said
(:class:`~eigentoken.numerics.instances.plans.Contradiction`), or too thin to hit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.construction import construct
from eigentoken.numerics.instances.plans import Contradiction, NotFound, Plan
from eigentoken.numerics.instances.spectra import CORNERS
from eigentoken.theory.language import terms
from eigentoken.theory.language.readings import GENERATED, OBSERVED, SYMBOLIC

__all__ = ["DrawnSample", "branches", "condition_violation", "corner_names", "sample"]

MOST_ROUNDS = 6
FEWEST_CELLS = 44


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """What was drawn: batches of one shape and corner each, how many were constructed, and the corners reached."""

    batches: tuple[Batch, ...]
    constructed: int

    @property
    def count(self) -> int:
        return sum(batch.count for batch in self.batches)

    @property
    def corners(self) -> dict[str, int]:
        """Instances by named corner: spectra, small sizes, even n, equal splits."""
        found: dict[str, int] = {}
        for batch in self.batches:
            for name in corner_names(batch):
                found[name] = found.get(name, 0) + batch.count
        return dict(sorted(found.items()))


def corner_names(batch: Batch) -> Iterator[str]:
    """The named corners that the instances of a batch are in."""
    yield batch.corner
    if batch.n <= 2:
        yield f"n = {batch.n}"
    if batch.n % 2 == 0:
        yield "even n"
    if batch.p == batch.q:
        yield "p = q"


def branches(plan: Plan) -> list[Plan]:
    """One plan for each choice among alternatives ("or")."""
    if not plan.alternatives:
        return [plan]
    found = []
    for choice in product(*plan.alternatives):
        made = replace(plan, alternatives=())
        try:
            for condition, satisfied in choice:
                made = GENERATED(condition, made, satisfied)
        except Contradiction:
            continue
        found += branches(made)
    if not found:
        raise Contradiction("no alternative of an 'or' agrees with the other conditions")
    return found


def condition_violation(plan: Plan, batch: Batch) -> Tensor:
    """The worst violation over all conditions of the plan (their negations for near misses); a metric that is none breaks all."""
    worst = torch.full((batch.count,), -torch.inf, dtype=torch.float64)
    for condition, satisfied in plan.conditions:
        value = OBSERVED(condition, batch)
        worst = torch.maximum(worst, value if satisfied else -value)
    broken = batch.undefined
    if batch.system.metric is not None:
        metric = batch.named(batch.system.metric)
        failed = torch.linalg.cholesky_ex(metric(0.0) if callable(metric) else metric).info
        broken = broken | (failed != 0)
    return torch.where(broken, torch.full_like(worst, torch.inf), worst)


def sample(
    plan: Plan, count: int, seed: int, *, corners: Sequence[str] = CORNERS, cells_at_most: int | None = None
) -> DrawnSample:
    """At least ``count`` instances that satisfy every condition, over all shapes and corners of the plan.

    Cells (shape x corner) draw from generators of their own, so a sample does not depend on how it is split; fewer cells
    give larger batches (``cells_at_most``), which is what trajectories want.
    """
    plans = branches(plan)
    cells = [(each, shape, corner) for each in plans for shape in _chosen(each, seed) for corner in corners]
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(cells), generator=generator).tolist()[: cells_at_most or max(FEWEST_CELLS, count // 8)]
    kept: list[Batch] = []
    constructed = 0
    clash: Contradiction | None = None
    have = 0
    for round_ in range(MOST_ROUNDS):
        share = max(1, -(-max(count - have, 1) // len(order))) * (1 if round_ == 0 else 2)
        for number in order:
            tick()
            each, shape, corner = cells[number]
            own = torch.Generator().manual_seed(_mixed(seed, number, round_))
            try:
                batch = construct(each, shape, corner, share, own)
            except Contradiction as problem:
                clash = problem
                continue
            constructed += share
            finite = batch.finite
            if not bool(finite.any()):
                continue
            batch = batch if bool(finite.all()) else batch.take(finite)
            good = condition_violation(each, batch) < 0
            if bool(good.any()):
                kept.append(batch if bool(good.all()) else batch.take(good))
                have += kept[-1].count
            if have >= count and round_ > 0:
                break
        if have >= count:
            break
        if have == 0 or round_ >= 2:
            order = torch.randperm(len(cells), generator=generator).tolist()
            if have == 0 and round_ >= 2:
                break
    if not kept:
        _explain(plan, clash)
    return DrawnSample(tuple(kept), constructed)


def _mixed(seed: int, cell: int, round_: int) -> int:
    return (seed * 1_000_003 + cell * 7919 + round_ * 104_729 + 17) % (2**63 - 1)


def _chosen(plan: Plan, seed: int) -> list[tuple[int, int, int, int]]:
    """Every small shape, and a few of the larger ones."""
    shapes = plan.shapes()
    small = [each for each in shapes if each[0] <= 4 and each[1] <= 3]
    large = [each for each in shapes if each not in small]
    generator = torch.Generator().manual_seed(seed + 1)
    picked = [large[i] for i in torch.randperm(len(large), generator=generator)[:8].tolist()]
    if len(small) > 24:
        small = [small[i] for i in sorted(torch.randperm(len(small), generator=generator)[:24].tolist())]
    return small + picked


def _explain(plan: Plan, clash: Contradiction | None) -> None:
    """Say why nothing could be made: a proof that the conditions contradict each other, or that they are too thin."""
    if clash is not None:
        raise clash
    contradiction = _proved_contradiction(plan)
    if contradiction:
        raise Contradiction(f"the conditions contradict each other, no instance exists: {contradiction}")
    said = "; ".join(("" if satisfied else "not ") + str(condition) for condition, satisfied in plan.conditions)
    where = "" if plan.place is None else f" with its tokens at {type(plan.place).__name__}"
    what = f" that satisfies all of: {said}" if said else ""
    raise NotFound(f"no instance of {plan.system.name}{where} was found{what}")


def _proved_contradiction(plan: Plan) -> str:
    """The relations that have no common solution over the reals, or nothing where that was not proved."""
    from eigentoken.theory.proving.real_arithmetic import satisfiable

    facts: list[Any] = []
    said: list[str] = []
    for condition, satisfied in plan.conditions:
        meaning = SYMBOLIC(condition)
        meaning = meaning if satisfied else sp.Not(meaning)
        if any(str(symbol).startswith("[") for symbol in meaning.free_symbols):
            continue
        facts.append(meaning)
        said.append(str(condition) if satisfied else f"not {condition}")
    numbers = sorted({each for fact in facts for each in fact.atoms(terms.Eigenvalue)}, key=str)
    for one in numbers:
        for other in numbers:
            if one.args[0] == other.args[0] and _above(one.args[1], other.args[1]):
                facts.append(sp.Ge(one, other))
    if not facts:
        return ""
    together, _ = terms.plain(sp.And(*facts, evaluate=False))
    try:
        verdict = satisfiable([together], seconds=5)
    except (ValueError, TypeError):
        return ""
    return ", ".join(said) if verdict.is_fails else ""


def _above(first: Any, second: Any) -> bool:
    return (
        bool(sp.sympify(second - first).is_positive)
        or (first == 1 and second in (terms.d, terms.k, terms.ell))
        or (second == terms.d and first in (terms.k, terms.ell))
    )
