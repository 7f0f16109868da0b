"""Search for violations: seeded, independent units of work, each with one method; a unit gives the same on any machine.

``enumeration`` goes through small structured matrices, ``batches`` draws thousands of instances by construction,
``ascent`` climbs the violation by its gradient through the spectrum or the dynamics and goes back to the conditions after
each step, ``hypothesis`` lets Hypothesis steer with ``target()``, ``equilibria`` looks for attracting equilibria away from
a claimed limit, ``basins`` follows many starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Contradiction, Plan
from eigentoken.numerics.instances.sampling import branches, condition_violation, sample
from eigentoken.numerics.instances.structured import structured_batches
from eigentoken.numerics.lab.ascent import climb
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.batched_jacobians import spectrum
from eigentoken.numerics.readings.trajectories import distance, problem_of
from eigentoken.theory.claims import AlmostEveryConverges, Converges, Diverges
from eigentoken.theory.points import AntipodalAt, BipartiteAt, ConsensusAt
from eigentoken.theory.systems import Space, Time
from eigentoken.theory.terms import k, matrix

__all__ = ["METHODS", "Finding", "Unit", "UnitResult", "run_unit", "units"]

METHODS = ("enumeration", "batches", "ascent", "hypothesis", "equilibria", "basins")

#: Violations below this are rounding.
SEEN = 1e-9


@dataclass(frozen=True)
class Unit:
    """One piece of work: a method, its seed, and how many instances it looks at."""

    method: str
    seed: int
    size: int


@dataclass(frozen=True, eq=False)
class Finding:
    """A float violation: the single instance, the plan (with its place) that it belongs to, and who found it."""

    batch: Batch
    plan: Plan
    violation: float
    method: str


@dataclass(frozen=True, eq=False)
class UnitResult:
    """What one unit tried and found, best first."""

    unit: Unit
    tried: int
    best: float
    findings: tuple[Finding, ...] = ()
    corners: dict[str, int] = field(default_factory=dict)
    unsettled: int = 0
    error: str = ""


def units(target: Target, seed: int) -> Iterator[Unit]:
    """The endless list of work for a target, cheap and telling methods first."""
    number = 0
    plan: tuple[tuple[str, int], ...] = (
        ("equilibria", 400), ("basins", 128), ("batches", 256), ("equilibria", 1500), ("ascent", 24), ("basins", 512),
    ) if target.about_limits else (
        ("enumeration", 1500), ("batches", 1500), ("ascent", 48), ("batches", 4000), ("hypothesis", 60), ("ascent", 96),
    )  # fmt: skip
    if target.claim is None:
        plan = (("enumeration", 600), ("batches", 600), ("hypothesis", 60), ("batches", 1500))
    while True:
        for method, size in plan:
            yield Unit(method, seed * 1_000_003 + number, size)
            number += 1


def run_unit(target: Target, unit: Unit) -> UnitResult:
    """Do one unit of work."""
    load()
    torch.set_num_threads(1)
    work = {
        "enumeration": _enumeration,
        "batches": _batches,
        "ascent": _ascent,
        "hypothesis": _hypothesis,
        "equilibria": _equilibria,
        "basins": _batches,
    }
    try:
        return work[unit.method](target, unit)
    except Contradiction as problem:
        return UnitResult(unit, 0, float("-inf"), error=str(problem))


def _gathered(
    unit: Unit, seen: list[tuple[Batch, Tensor, Plan]], tried: int, corners: dict[str, int] | None = None, most: int = 6
) -> UnitResult:
    """The best instances over all batches, and the counts."""
    findings: list[Finding] = []
    best = float("-inf")
    unsettled = 0
    for batch, values, plan in seen:
        known = ~values.isnan()
        unsettled += int((~known).sum())
        if not bool(known.any()):
            continue
        clean = torch.where(known, values, torch.full_like(values, -torch.inf))
        best = max(best, float(clean.max()))
        for index in clean.argsort(descending=True)[:2].tolist():
            if float(clean[index]) > SEEN:
                findings.append(Finding(batch.take([index]), plan, float(clean[index]), unit.method))
    findings.sort(
        key=lambda each: (each.violation < 1e-4, each.batch.n * each.batch.d, each.batch.n, -min(each.violation, 1.0))
    )
    return UnitResult(unit, tried, best, tuple(findings[:most]), corners or {}, unsettled)


def _batches(target: Target, unit: Unit) -> UnitResult:
    cells = max(6, unit.size // 64) if target.about_limits else None
    drawn = sample(target.plan, unit.size, unit.seed, cells_at_most=cells)
    seen = [(batch, target.violation(batch), target.plan) for batch in drawn.batches]
    return _gathered(unit, seen, drawn.count, drawn.corners)


def _enumeration(target: Target, unit: Unit) -> UnitResult:
    seen: list[tuple[Batch, Tensor, Plan]] = []
    tried = 0
    for plan in branches(target.plan):
        for batch in structured_batches(plan, unit.size, unit.seed):
            good = condition_violation(plan, batch) < 0
            if not bool(good.any()):
                continue
            kept = batch.take(good)
            tried += kept.count
            seen.append((kept, target.violation(kept), plan))
    return _gathered(unit, seen, tried, {"small structured matrices": tried})


def _ascent(target: Target, unit: Unit) -> UnitResult:
    drawn = sample(target.plan, unit.size, unit.seed, cells_at_most=8)
    seen = []
    tried = 0
    for batch in drawn.batches:
        climbed, looked = climb(target, batch)
        tried += looked
        seen.append((climbed, target.violation(climbed), target.plan))
    return _gathered(unit, seen, tried)


def _hypothesis(target: Target, unit: Unit) -> UnitResult:
    from eigentoken.numerics.lab.steered import steered_search

    seen, tried = steered_search(target, unit.size, unit.seed)
    return _gathered(unit, [(batch, value, target.plan) for batch, value in seen], tried)


# --- equilibria elsewhere --------------------------------------------------------------------------------------------


def _equilibria(target: Target, unit: Unit) -> UnitResult:
    """Equilibria away from the claimed limit: any one refutes "every", an attracting one refutes "almost every"."""
    inner = target.inner
    name = target.plan.system.value
    if not isinstance(inner, Converges | AlmostEveryConverges):
        if isinstance(inner, Diverges):
            return _enumeration(target, replace(unit, size=4 * unit.size))
        return _batches(target, replace(unit, size=min(unit.size, 128)))
    places: list[Any] = [AntipodalAt()]
    if name is not None:
        places += [BipartiteAt(matrix(name), k), ConsensusAt(matrix(name), k)]
    if target.plan.system.space is Space.EUCLIDEAN:
        return _consensus_growth(target, unit)
    seen: list[tuple[Batch, Tensor, Plan]] = []
    tried = 0
    for number, place in enumerate(places):
        plan = target.plan.at(place)
        try:
            drawn = list(_near(plan, unit, number))
        except (Contradiction, ValueError):
            continue
        for batch in drawn:
            tried += batch.count
            away = distance(inner.place, batch, batch.tokens)
            moved = problem_of(batch).advance(batch.tokens, 0.0)
            rest = moved - batch.tokens if batch.system.time is Time.MAP else moved
            still = torch.linalg.vector_norm(rest, dim=-1).amax(-1) < 1e-8
            found = spectrum(batch).margin()
            attracting = torch.where(found.abs() < 1e-9, torch.full_like(found, 1e-3), -found)
            value = torch.ones_like(found) if isinstance(inner, Converges) else attracting
            value = torch.where(still & (away > 1e-2), value, torch.full_like(value, -1.0))
            seen.append((batch, value, plan))
    return _gathered(unit, seen, tried)


def _near(plan: Plan, unit: Unit, number: int) -> Iterator[Batch]:
    for branch in branches(plan):
        for batch in structured_batches(branch, unit.size, unit.seed + number):
            good = condition_violation(branch, batch) < 0
            if bool(good.any()):
                yield batch.take(good)
    yield from sample(plan, unit.size, unit.seed + number).batches


def _consensus_growth(target: Target, unit: Unit) -> UnitResult:
    """Euclidean flows: equal tokens move by the value matrix alone, so its spectrum decides; also resting states."""
    drawn = sample(replace(target.plan, distinct=None), unit.size, unit.seed)
    seen: list[tuple[Batch, Tensor, Plan]] = []
    name = str(target.plan.system.value)
    for batch in drawn.batches:
        growth = torch.linalg.eigvals(batch.named(name)).real.amin(-1)
        equal = batch.at(batch.tokens[:, :1].expand_as(batch.tokens).clone())
        good = condition_violation(target.plan, equal) < 0
        seen.append((equal, torch.where(good, growth, torch.full_like(growth, -1.0)), target.plan))
    return _gathered(unit, seen, drawn.count)
