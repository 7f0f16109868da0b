"""Property tests of a statement, made from its own conditions and claims.

Under the conditions every claim is looked at on random and degenerate instances (:func:`test_statement`).  A count is never a
proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eigentoken.files.documents import Json
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Claim,
    Converges,
    Diverges,
    ForwardInvariant,
    Iff,
    InFull,
    LyapunovStable,
    When,
)
from eigentoken.theory.language.readings import GENERATED, OBSERVED
from eigentoken.theory.statements.statement import Statement

__all__ = [
    "PropertyReport",
    "claim_parts",
    "described",
    "drawn_for",
    "follows_trajectories",
    "inner_claim",
    "test_statement",
]

#: Float violations below this are rounding, not failures.
TOLERANCE = 1e-7
#: Trajectory claims cost a run each: this many instances at a time at most.
TRAJECTORIES, CELLS = 200, 6
#: A part whose instances are not all settled is drawn again, this many times at most.
ROUNDS = 4


@dataclass(frozen=True)
class PropertyReport:
    """What was tried and what was seen: ``worst`` is the largest violation (negative: all claims held with room).

    ``settled`` counts, for each system and claim (an equivalence has two sides), the instances on which something was seen;
    ``formulas`` the same for claims in full, whose guards few draws may meet.
    """

    id: str
    instances: int
    violations: int
    worst: float
    unsettled: int = 0
    corners: dict[str, int] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    first: dict[str, Json] | None = None
    settled: tuple[tuple[str, int], ...] = ()
    formulas: tuple[tuple[str, int], ...] = ()
    unseen: int = 0
    "Claims that no instance looked at, in one of the systems at least."

    @property
    def seen(self) -> int:
        """The instances on which something was seen."""
        return self.instances - self.unsettled

    @property
    def least(self) -> int:
        """Settled instances of the part that has the fewest."""
        return min((count for _, count in self.settled), default=0)

    def summary(self) -> str:
        """One line."""
        text = f"{self.instances} instances, {self.violations} violations, worst {self.worst:.3g}"
        if self.settled:
            text += f", at least {self.least} settled for each of {len(self.settled)} claims"
        if self.formulas:
            text += f"; formulas seen on {', '.join(str(count) for _, count in self.formulas)}"
        if self.unsettled:
            text += f", {self.unsettled} unsettled"
        if self.skipped:
            text += f"; not generated: {'; '.join(self.skipped)}"
        return text


def claim_parts(claim: Claim) -> list[tuple[Claim, bool]]:
    """The claim with the side of its condition: an equivalence is looked at on both sides."""
    return [(claim, True), (claim, False)] if isinstance(claim, Iff) else [(claim, True)]


def follows_trajectories(claim: Claim) -> bool:
    """Is it looked at along trajectories, each of which costs a run?"""
    return isinstance(
        inner_claim(claim), Converges | AlmostEveryConverges | Diverges | ForwardInvariant | LyapunovStable
    )


def inner_claim(claim: Claim) -> Claim:
    while isinstance(claim, Iff | When):
        claim = claim.claim
    return claim


def drawn_for(claim: Claim, plan: Any, count: int, seed: int) -> Any:
    """A sample whose cells suit the claim: trajectories want few large batches, observables small sizes."""
    from eigentoken.numerics.instances.sampling import sample

    if follows_trajectories(claim):
        return sample(plan, min(count, TRAJECTORIES), seed, cells_at_most=min(CELLS, -(-CELLS * count // TRAJECTORIES)))
    if hasattr(inner_claim(claim), "observable") or isinstance(inner_claim(claim), InFull):
        shapes = plan.shapes()
        sizes, dimensions = (tuple(sorted({shape[place] for shape in shapes})) for place in (0, 1))
        small = plan.sized(tuple(n for n in sizes if n <= 4) or None, tuple(d for d in dimensions if d <= 3) or None)
        return sample(small, count, seed, cells_at_most=16)
    return sample(plan, count, seed)


def test_statement(statement: Statement, instances: int = 200, seed: int = 0) -> PropertyReport:
    """Look at every claim, for every system and on both sides of an equivalence, until ``instances`` are settled."""
    from eigentoken.numerics.readings import load

    load()
    systems = statement.systems or ("attention-map",)
    parts = [(system, *part) for system in systems for claim in statement.claims for part in claim_parts(claim)]
    tally = _Tally()
    for number, (system, claim, side) in enumerate(parts):
        name = f"{system}, {type(inner_claim(claim)).__name__}" + ("" if side else ", other side")
        known, found = 0, None
        for attempt in range(ROUNDS):
            few = 2 * (instances - known)  # once: of those that are left, some will not be settled either
            drawn = min(instances, few) if attempt == 1 else instances
            found = tally.look(statement, system, claim, side, drawn, seed * 1000 + number + 7919 * attempt, attempt)
            known += found or 0
            if found is None or known >= instances or (not found and isinstance(inner_claim(claim), InFull)):
                break
        if not known and found is not None and isinstance(inner_claim(claim), InFull):
            tally.unseen.add(claim)
            tally.skipped.append(
                f"{name} {number + 1}: it speaks of limits, of what exists, or behind guards that no draw met"
            )
        elif found is not None:
            (tally.formulas if isinstance(inner_claim(claim), InFull) else tally.settled).append((name, known))
        elif side:
            tally.unseen.add(claim)
            tally.skipped.append(f"{name}: {tally.problem}")
    return tally.report(statement.id)


@dataclass
class _Tally:
    """What was seen so far."""

    tried: int = 0
    violations: int = 0
    unsettled: int = 0
    worst: float = float("-inf")
    corners: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    unseen: set[Claim] = field(default_factory=set)
    settled: list[tuple[str, int]] = field(default_factory=list)
    formulas: list[tuple[str, int]] = field(default_factory=list)
    first: dict[str, Any] | None = None
    problem: str = ""
    shared: list[tuple[Any, int, int, tuple[Any, list[Any]]]] = field(default_factory=list)
    "What was drawn for formulas: the plan, how many, in which round, and the sample."

    def look(
        self, statement: Statement, system: str, claim: Claim, side: bool, instances: int, seed: int, attempt: int = 0
    ) -> int | None:
        """Look at one part on so many instances: how many were settled; ``None`` where no instance can be made."""
        from eigentoken.numerics.instances.plans import Contradiction, plan_for
        from eigentoken.numerics.readings import load

        load()
        try:
            plan = GENERATED(claim, plan_for(system, statement.conditions), side)
            drawn, batches = self._drawn(claim, plan, instances, seed, attempt)
        except Contradiction as problem:
            self.problem = str(problem)
            return None
        settled = 0
        for batch in batches:
            seen = OBSERVED(claim, batch)
            known = ~seen.isnan()
            settled += int(known.sum())
            self.unsettled += int((~known).sum())
            self.tried += batch.count
            if bool(known.any()):
                self.worst = max(self.worst, float(seen[known].max()))
            bad = (seen > TOLERANCE) & known
            self.violations += int(bad.sum())
            if self.first is None and bool(bad.any()):
                self.first = described(batch.take(bad.nonzero().flatten()[:1]), claim)
        for name, each in drawn.corners.items():
            self.corners[name] = self.corners.get(name, 0) + each
        return settled

    def _drawn(self, claim: Claim, plan: Any, instances: int, seed: int, attempt: int) -> tuple[Any, list[Any]]:
        """A sample, and its batches with those of one shape together; formulas with one plan share the instances."""
        from eigentoken.numerics.instances.joining import joined

        alike = isinstance(inner_claim(claim), InFull) and isinstance(plan.mask, str | None)
        for known, count, round_, earlier in self.shared if alike else ():
            if (count, round_) == (instances, attempt) and known == plan:
                return earlier
        sample = drawn_for(claim, plan, instances, seed)
        found = sample, joined(sample.batches)
        if alike:
            self.shared.append((plan, instances, attempt, found))
        return found

    def report(self, name: str) -> PropertyReport:
        return PropertyReport(
            name,
            self.tried,
            self.violations,
            self.worst,
            self.unsettled,
            self.corners,
            tuple(self.skipped),
            self.first,
            tuple(self.settled),
            tuple(self.formulas),
            len(self.unseen),
        )


test_statement.__test__ = False  # type: ignore[attr-defined]


def described(batch: Any, claim: Claim) -> dict[str, Any]:
    """One instance, for a message."""

    def listed(value: Any) -> Any:
        if callable(value):
            return "depends on time"
        if isinstance(value, list):
            return [{name: listed(each) for name, each in head.items()} for head in value]
        return value[0].tolist()

    return {
        "claim": type(claim).__name__,
        "system": batch.system.name,
        "k": batch.k,
        "p": batch.p,
        "corner": batch.corner,
        **{name: listed(value) for name, value in batch.parameters.items()},
        "tokens": batch.tokens[0].tolist(),
    }
