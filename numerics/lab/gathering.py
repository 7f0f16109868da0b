"""What a unit of the search looked at, and the best of what it found: pieces come in, findings go out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.lab.steadiness import is_steady
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings.observed_claims import ON_BOUNDARY
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.readings import OBSERVED
from eigentoken.theory.language.terms import MatrixNumber

__all__ = ["SEEN", "Gathered", "Piece", "SearchFinding", "Unit", "UnitResult", "on_the_edge", "ranges"]

#: Violations below this are rounding.
SEEN = 1e-9
#: A relation that holds by less than this holds within rounding.
EDGE = 1e-11
#: Violations of a batch that are looked at again, whether they are rounding, until two are not.
DOUBTED = 8


@dataclass(frozen=True)
class Unit:
    """One piece of work: a method, its seed, how many instances it looks at, and after how many seconds it is cut."""

    method: str
    seed: int
    size: int
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class SearchFinding:
    """A float violation: the single instance, the plan (with its place) that it belongs to, and who found it."""

    batch: Batch
    plan: Plan
    violation: float
    method: str
    hint: bool = False
    "Not a violation that was seen, only a place where one may be certified: never a candidate."
    restless: bool = False
    "A trajectory that comes to no rest: evidence to follow up."
    ring: bool = False
    "A ring of tokens, whose symmetry must survive the rounding: taken as it stands."


@dataclass(frozen=True, eq=False)
class UnitResult:
    """What one unit tried and found, best first."""

    unit: Unit
    tried: int
    best: float
    findings: tuple[SearchFinding, ...] = ()
    corners: dict[str, int] = field(default_factory=dict)
    unsettled: int = 0
    error: str = ""
    volume: dict[str, tuple[float, float]] = field(default_factory=dict)
    "The smallest and the largest n, d, step and matrix norm that were looked at."
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Piece:
    """A batch that was looked at: its violations, the plan it belongs to, how many were tried, under which corners."""

    batch: Batch
    values: Tensor
    plan: Plan
    tried: int
    corners: Mapping[str, int] = field(default_factory=dict)
    hints: Tensor | None = None
    restless: bool = False
    ring: bool = False


class Gathered:
    """The best instances over all pieces, and the counts."""

    def __init__(self, unit: Unit, target: Target) -> None:
        self.unit, self.target = unit, target
        self.tried = self.unsettled = 0
        self.best = float("-inf")
        self.findings: list[SearchFinding] = []
        self.corners: dict[str, int] = {}
        self.volume: dict[str, tuple[float, float]] = {}

    def add(self, piece: Piece) -> None:
        if piece.batch.count == 0:
            return
        self.tried += piece.tried
        for name, count in piece.corners.items():
            self.corners[name] = self.corners.get(name, 0) + count
        self.volume = ranges(self.volume, _volume(piece.batch))
        known = ~piece.values.isnan()
        self.unsettled += int((~known).sum())
        if not bool(known.any()):
            return
        clean = torch.where(known, piece.values, torch.full_like(piece.values, -torch.inf))
        # within rounding of the boundary no violation was seen: that is for the exact check
        hints = piece.values == ON_BOUNDARY
        hints = hints if piece.hints is None else hints | piece.hints
        taken, rounding = 0, torch.zeros_like(hints)
        for index in clean.argsort(descending=True, stable=True)[:DOUBTED].tolist():
            value, hint = float(clean[index]), bool(hints[index])
            if taken == 2 or not (value > SEEN or hint):
                break
            alone = piece.batch.take([index])
            if not hint and not is_steady(self.target, alone, value):
                rounding[index] = True
                continue
            taken += 1
            hint = hint or (self.target.about_limits and on_the_edge(piece.plan, alone))
            found = SearchFinding(alone, piece.plan, value, self.unit.method, hint, piece.restless, piece.ring)
            self.findings.append(found)
        if bool(rounding.any()) and taken == 0:  # what is below those that are rounding is not looked at
            clean = clean.clamp_max(0.0)
        judged = clean[~hints & ~rounding]
        if len(judged):
            self.best = max(self.best, float(judged.max()))

    def result(self, most: int = 6) -> UnitResult:
        def simplest(each: SearchFinding) -> tuple[Any, ...]:
            return each.violation < 1e-4, each.batch.n * each.batch.d, each.batch.n, -min(each.violation, 1.0)

        found = tuple(sorted(self.findings, key=simplest)[:most])
        return UnitResult(self.unit, self.tried, self.best, found, self.corners, self.unsettled, volume=self.volume)


def on_the_edge(plan: Plan, batch: Batch) -> bool:
    """Does a strict relation hold of the instance only within rounding?  Then its limit is not seen in floats.

    With ``lambda_1(B) < 0`` and an eigenvalue of -1e-15 a token decays, and seems to rest for ever.
    """
    for condition, satisfied in plan.conditions:
        if not isinstance(condition, Relation) or not condition.relation.atoms(MatrixNumber):
            continue
        strict = isinstance(condition.relation, sp.StrictLessThan | sp.StrictGreaterThan)
        if strict == satisfied:  # asked for as it stands, or the negation of one that admits equality
            value = OBSERVED(condition, batch)
            if bool(((value if satisfied else -value) > -EDGE).any()):
                return True
    return False


def ranges(
    first: dict[str, tuple[float, float]], second: dict[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """The ranges that hold both."""
    both = dict(first)
    for name, (low, high) in second.items():
        known = both.get(name, (low, high))
        both[name] = (min(low, known[0]), max(high, known[1]))
    return both


def _volume(batch: Batch) -> dict[str, tuple[float, float]]:
    found = {"n": (float(batch.n), float(batch.n)), "d": (float(batch.d), float(batch.d))}
    for group in (batch.parameters, *batch.parameters.get("heads", ())):
        for name, value in group.items():
            if isinstance(value, Tensor) and value.numel():
                norm = torch.linalg.matrix_norm if value.ndim > 2 else partial(torch.linalg.vector_norm, dim=-1)
                sizes = value if value.ndim == 1 else norm(value)
                label = name if value.ndim == 1 else f"|{name}|"
                found = ranges(found, {label: (float(sizes.min()), float(sizes.max()))})
    return found
