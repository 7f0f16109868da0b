"""Search for violations: seeded, independent units of work, each with one method; a unit gives the same on any machine.

``enumeration`` goes through small structured matrices, ``batches`` draws thousands of instances by construction,
``ascent`` climbs the violation by its gradient through the spectrum or the dynamics and goes back to the conditions after
each step, ``hypothesis`` lets Hypothesis steer with ``target()``, ``equilibria`` looks for attracting equilibria away from
a claimed limit, ``basins`` follows many starts, ``arcs`` looks for starts between two that reach consensus from opposite
sides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.certified.eigen import eigvals
from eigentoken.numerics.deadline import OutOfTime, limited, tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.joining import alike, together
from eigentoken.numerics.instances.plans import Contradiction, Plan
from eigentoken.numerics.instances.regions import margin_of, to_the_edge
from eigentoken.numerics.instances.sampling import branches, condition_violation, sample
from eigentoken.numerics.instances.structured import mirrored_states, structured_batches
from eigentoken.numerics.lab.ascent import climb
from eigentoken.numerics.lab.follow_up import restless
from eigentoken.numerics.lab.gathering import SEEN, Gathered, Piece, Unit, UnitResult
from eigentoken.numerics.lab.known_starts import known_starts, on_a_line
from eigentoken.numerics.lab.premises import within_premise
from eigentoken.numerics.lab.rings import growing_rings, has_rings
from eigentoken.numerics.lab.separating_starts import on_circles, starts_between
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.batched_jacobians import spectrum
from eigentoken.numerics.readings.observed_claims import ON_BOUNDARY
from eigentoken.numerics.readings.trajectories import distance, problem_of
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges, Diverges, Stable
from eigentoken.theory.language.places import (
    AntipodalAt,
    BipartiteAt,
    ConsensusAt,
    ConsensusSet,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.language.terms import k, matrix
from eigentoken.theory.systems.system import Space, Time

__all__ = ["looked_at_together", "methods", "run_unit", "units"]

#: The sizes of the scores, |W| |x|^2, of starts that are far out.
FAR_SCORES = (64.0, 4096.0)
#: Structured instances that are made for each one that is looked at: most miss a condition, and to see that is cheap.
OVER = 4
#: Seconds of an author's code between two looks at the time.
PORTION = 0.05
#: Instances whose spectra or predicates are looked at at once.
CACHED = 1024
STRUCTURED = "small structured matrices"


def methods(target: Target) -> tuple[tuple[str, int], ...]:
    """A round of work for a target, cheap and telling methods first: methods with the sizes of their units."""
    plan: tuple[tuple[str, int], ...] = (
        ("equilibria", 400), ("basins", 768), ("batches", 2048), ("equilibria", 1500), ("ascent", 24), ("basins", 4096),
    ) if target.about_limits else (
        ("enumeration", 1500), ("batches", 1500), ("ascent", 48), ("batches", 4000), ("hypothesis", 60), ("ascent", 96),
    )  # fmt: skip
    if isinstance(target.inner, Converges) and isinstance(target.inner.place, ConsensusSet) and on_circles(target.plan):
        plan = (("arcs", 200), *plan)
    if target.claim is None:
        plan = (("enumeration", 600), ("batches", 600), ("hypothesis", 60), ("ascent", 24), ("batches", 1500))
    return plan


def units(target: Target, seed: int) -> Iterator[Unit]:
    """The endless list of work for a target, round after round."""
    number = 0
    while True:
        for method, size in methods(target):
            yield Unit(method, seed * 1_000_003 + number, size)
            number += 1


def run_unit(target: Target, unit: Unit, end: float | None = None) -> UnitResult:
    """Do one unit of work; at ``end`` (a time of the clock) it stops with what it has."""
    load()
    torch.set_num_threads(1)
    gathered = Gathered(unit, target)
    start = time.time()
    if unit.seconds is not None:
        end = min(start + unit.seconds, math.inf if end is None else end)
    try:
        with limited(end):
            for piece in _WORK[unit.method](target, unit):
                gathered.add(piece)
    except OutOfTime:
        pass
    except Contradiction as problem:
        return UnitResult(unit, 0, float("-inf"), error=str(problem))
    found = replace(gathered.result(), seconds=time.time() - start)
    if found.tried == 0 and target.claim is None and target.conjecture.given is not None:
        return replace(found, error="no instance was found where given is true")
    return found


def _cells(unit: Unit) -> int | None:
    """A unit that may be cut draws from few cells, so that it has something by then."""
    return None if unit.seconds is None else max(4, unit.size // 24)


def _basins(target: Target, unit: Unit) -> Iterator[Piece]:
    """Batches as drawn; before them few instances of few tokens in the plane, where a wave is followed up soonest."""
    if (
        isinstance(target.inner, Converges | AlmostEveryConverges)
        and 2 in target.plan.d
        and len(target.plan.shapes()) > 4
    ):
        fewest = tuple(sorted(target.plan.n)[:2])
        narrowed = replace(target, plan=target.plan.sized(fewest, (2,)))
        try:
            for piece in _batches(narrowed, replace(unit, size=min(unit.size, 192))):
                yield replace(piece, plan=target.plan)
        except Contradiction:
            pass
    yield from _batches(target, unit)


def _batches(target: Target, unit: Unit) -> Iterator[Piece]:
    cells = max(6, unit.size // 256) if target.about_limits else _cells(unit)  # a trajectory costs the same for many
    drawn = sample(target.plan, unit.size, unit.seed, cells_at_most=cells)
    corners = drawn.corners
    for each in looked_at_together(drawn.batches, target):
        tick()
        if target.claim is None:
            for batch in each:
                for part, values in _portions(target, unit, within_premise(target, batch)):
                    yield Piece(part, values, target.plan, part.count, corners)
                    corners = {}
            continue
        # along trajectories what was joined is one piece; elsewhere each corner keeps its worst instances
        batch = together(each)
        values = target.violation(batch)
        if len(each) > 1 and not target.about_limits:
            for part, own in zip(each, values.split([part.count for part in each]), strict=True):
                yield Piece(part, own, target.plan, part.count, corners)
                corners = {}
            continue
        yield Piece(batch, values, target.plan, batch.count, corners)
        corners = {}
        going = restless(target.claim, batch, values)
        if going is not None:
            nothing = ON_BOUNDARY * torch.linspace(1, 0.5, going.count, dtype=torch.float64)
            yield Piece(going, nothing, target.plan, 0, hints=nothing > 0, restless=True)


def _portions(target: Target, unit: Unit, batch: Batch) -> Iterator[tuple[Batch, Tensor]]:
    """The instances with their violations; in a unit that may be cut as many at once as an author's code does in a moment."""
    first, many = 0, batch.count if unit.seconds is None else 1
    while first < batch.count:
        part = batch if many >= batch.count else batch.take(slice(first, first + many))
        begun = time.time()
        yield part, target.violation(part)
        first += many
        many = min(8 * many, max(1, int(many * PORTION / max(time.time() - begun, 1e-6))))


def looked_at_together(batches: Sequence[Batch], target: Target) -> list[list[Batch]]:
    """Batches as a unit looks at them: all of a shape at once along trajectories, small ones at once for what is done once."""
    return alike(batches, None if target.about_limits else CACHED)


def _enumeration(target: Target, unit: Unit) -> Iterator[Piece]:
    for plan in branches(target.plan):
        for batch in structured_batches(plan, OVER * unit.size, unit.seed):
            tick()
            good = condition_violation(plan, batch) < 0
            if bool(good.any()):
                kept = within_premise(target, batch.take(good.nonzero().flatten()[: max(48, batch.count // OVER)]))
                for part, values in (
                    _portions(target, unit, kept) if target.claim is None else [(kept, target.violation(kept))]
                ):
                    # a multiplier of exactly 1 breaks a claim of strict stability, and floats see zero: for the exact check
                    marginal = values.abs() < SEEN if isinstance(target.inner, Stable) else None
                    yield Piece(part, values, plan, part.count, {STRUCTURED: part.count}, hints=marginal)


def _ascent(target: Target, unit: Unit) -> Iterator[Piece]:
    for batch in sample(target.plan, unit.size, unit.seed, cells_at_most=8 if unit.seconds is None else 2).batches:
        batch = within_premise(target, batch)
        region = getattr(target.inner, "region", None)
        if isinstance(region, StateRegion):
            batch = to_the_edge(region, batch, torch.Generator().manual_seed(unit.seed))
        if batch.count == 0:
            continue
        climbed, looked = climb(target, batch)
        if isinstance(region, StateRegion):
            climbed = climbed.take(margin_of(region, climbed, climbed.tokens) >= 0)
        yield Piece(climbed, target.violation(climbed), target.plan, looked)


def _hypothesis(target: Target, unit: Unit) -> Iterator[Piece]:
    from eigentoken.numerics.lab.hypothesis_search import steered_search

    seen, tried = steered_search(target, unit.size, unit.seed)
    for number, (batch, value) in enumerate(seen):
        yield Piece(batch, value, target.plan, tried if number == 0 else 0)


# --- equilibria elsewhere --------------------------------------------------------------------------------------------


def _equilibria(target: Target, unit: Unit) -> Iterator[Piece]:
    """Equilibria away from the claimed limit: any one refutes "every", an attracting one refutes "almost every"."""
    inner = target.inner
    name = target.plan.system.value
    if not isinstance(inner, Converges | AlmostEveryConverges):
        if isinstance(inner, Diverges):
            yield from _known(target, unit)
            yield from _resting(target, unit)
        else:
            yield from _edges(target, unit)
            yield from _batches(target, replace(unit, size=min(unit.size, 128)))
        return
    places: list[Any] = [AntipodalAt()]
    if name is not None:
        places += [BipartiteAt(matrix(name), k), ConsensusAt(matrix(name), k)]
    if target.plan.system.score is None:
        places.append(Polygonal())  # a manifold of equilibria, where weights are equal
    if target.plan.system.space is Space.EUCLIDEAN:
        if isinstance(inner, Converges):
            yield from _rings(target, unit)
            yield from _known(target, unit)
            yield from _resting(target, unit)
        if target.plan.system.standard:
            yield from _far_out(target, unit)
            yield from _consensus_growth(target, unit)
        else:
            yield from _batches(target, replace(unit, size=min(unit.size, 128)))
        return
    yield from _known(target, unit)
    for number, place in enumerate(places):
        plan = replace(target.plan.at(place), timed=())  # constant parameters: an equilibrium stays one
        try:
            drawn = list(_near(plan, unit, number))
        except (Contradiction, ValueError):
            continue
        for batch in drawn:
            tick()
            away = distance(inner.place, batch, batch.tokens)
            moved = problem_of(batch).advance(batch.tokens, 0.0)
            rest = moved - batch.tokens if batch.system.time is Time.MAP else moved
            still = torch.linalg.vector_norm(rest, dim=-1).amax(-1) < 1e-8
            found = spectrum(batch).margin()
            marginal = (found.abs() < 1e-9) & (not isinstance(inner, Converges))
            attracting = torch.where(marginal, torch.full_like(found, 1e-3), -found)
            value = torch.ones_like(found) if isinstance(inner, Converges) else attracting
            value = torch.where(still & (away > 1e-2), value, torch.full_like(value, -1.0))
            yield Piece(batch, value, plan, batch.count, hints=marginal & (value > 0))


def _edges(target: Target, unit: Unit) -> Iterator[Piece]:
    """Starts just inside the boundary of a region that is claimed to be kept."""
    region = getattr(target.inner, "region", None)
    if not isinstance(region, StateRegion):
        return
    generator = torch.Generator().manual_seed(unit.seed)
    for batch in sample(target.plan, min(unit.size, 768), unit.seed, cells_at_most=8).batches:
        tick()
        inside = batch.take(margin_of(region, batch, batch.tokens) >= 0)
        if inside.count:
            edge = to_the_edge(region, inside, generator)
            edge = edge.take(condition_violation(target.plan, edge) < 0)
            if edge.count:
                yield Piece(edge, target.violation(edge), target.plan, edge.count)


def _near(plan: Plan, unit: Unit, number: int) -> Iterator[Batch]:
    for branch in branches(plan):
        for batch in structured_batches(branch, unit.size, unit.seed + number):
            good = condition_violation(branch, batch) < 0
            if bool(good.any()):
                yield batch.take(good)
    yield from sample(plan, unit.size, unit.seed + number, cells_at_most=_cells(unit)).batches


def _rings(target: Target, unit: Unit) -> Iterator[Piece]:
    """Rings of tokens that grow without bound: they come to no place at all."""
    if has_rings(target.plan) and isinstance(getattr(target.inner, "place", None), Zero | SomeEquilibrium):
        for batch, growth in growing_rings(target.plan, min(unit.size, 200), unit.seed):
            yield Piece(batch, growth, target.plan, batch.count, ring=True)


def _far_out(target: Target, unit: Unit) -> Iterator[Piece]:
    """Starts so far out that each token attends to one alone, or to one end: there an escape can be certified."""
    name = target.plan.system.score
    if name is None or not isinstance(getattr(target.inner, "place", None), Zero | SomeEquilibrium):
        return
    for batch in sample(target.plan, min(unit.size, 128), unit.seed, cells_at_most=4).batches:
        score = batch.parameters.get(name)
        if not isinstance(score, Tensor) or batch.n < 2:
            continue
        tick()
        for tokens in (batch.tokens, on_a_line(batch)) if batch.d > 1 else (batch.tokens,):
            square = (tokens**2).sum(-1).mean(-1) * torch.linalg.matrix_norm(score)
            for size in FAR_SCORES:
                far = batch.at(tokens * (size / square.clamp_min(1e-9)).sqrt()[:, None, None])
                far = far.take(condition_violation(target.plan, far) < 0)
                if far.count:
                    yield Piece(far, target.violation(far), target.plan, far.count)


def _known(target: Target, unit: Unit) -> Iterator[Piece]:
    """Starts whose trajectories are known exactly: equal tokens, and mirrored ones on the line of an eigenvector."""
    for plan in branches(replace(target.plan, timed=())):
        sphere = plan.system.space is not Space.EUCLIDEAN
        for batch in _near(plan, unit, 0) if sphere else structured_batches(plan, 2 * unit.size, unit.seed):
            tick()
            for made, seen in known_starts(target.inner, batch):
                good = condition_violation(plan, made) < 0
                if bool(good.any()):
                    yield Piece(made.take(good), seen[good], plan, int(good.sum()), {STRUCTURED: int(good.sum())})


def _resting(target: Target, unit: Unit) -> Iterator[Piece]:
    """Small structured states that do not move, or equal tokens that decay: they reach no other place and do not diverge."""
    place = getattr(target.inner, "place", None)
    name = target.plan.system.value
    for plan in branches(replace(target.plan, timed=())):
        for batch in structured_batches(plan, 4 * unit.size, unit.seed):
            tick()
            if isinstance(target.inner, Diverges) and batch.count:
                equal = torch.arange(batch.count) % 2 == 0
                first = batch.tokens[:, :1].expand_as(batch.tokens)
                batch = batch.at(torch.where(equal[:, None, None], first, batch.tokens))
            good = condition_violation(plan, batch) < 0
            if not bool(good.any()):
                continue
            kept = batch.take(good)
            if plan.euclidean:  # parameters that satisfy the conditions are dear, states are cheap
                kept = mirrored_states(kept)
                kept = kept.take(condition_violation(plan, kept) < 0)
            velocity = problem_of(kept).advance(kept.tokens, 0.0)
            velocity = velocity - kept.tokens if plan.is_map and plan.euclidean else velocity
            found = torch.linalg.vector_norm(velocity, dim=-1).amax(-1) < 1e-9
            if place is not None:
                found &= distance(place, kept, kept.tokens) > 1e-2
            elif name is not None and not plan.system.multihead and plan.system.standard:
                same = torch.linalg.vector_norm(kept.tokens - kept.tokens[:, :1], dim=-1).amax(-1) < 1e-12
                found |= same & (eigvals(kept.named(name)).real.amax(-1) < -1e-9)
                if getattr(target.inner, "every", False):  # a token at the origin that does not move
                    still = torch.linalg.vector_norm(torch.cat([kept.tokens, velocity], -1), dim=-1) < 1e-12
                    found |= still.any(-1)
            value = torch.where(found, torch.ones(kept.count, dtype=torch.float64), -torch.ones(kept.count).double())
            yield Piece(kept, value, plan, kept.count, {STRUCTURED: kept.count})


def _consensus_growth(target: Target, unit: Unit) -> Iterator[Piece]:
    """Euclidean flows: equal tokens move by the value matrix alone, so its spectrum decides; also resting states."""
    drawn = sample(replace(target.plan, distinct=None), unit.size, unit.seed, cells_at_most=_cells(unit))
    name = str(target.plan.system.value)
    for batch in drawn.batches:
        growth = eigvals(batch.named(name)).real.amin(-1)
        equal = batch.at(batch.tokens[:, :1].expand_as(batch.tokens).clone())
        good = condition_violation(target.plan, equal) < 0
        value = torch.where(good, growth, torch.full_like(growth, -1.0))
        yield Piece(equal, value, target.plan, equal.count)


def _arcs(target: Target, unit: Unit) -> Iterator[Piece]:
    for batch, value, tried in starts_between(target.plan, unit.seed):
        yield Piece(batch, value, target.plan, tried)


_WORK = {
    "enumeration": _enumeration,
    "batches": _batches,
    "ascent": _ascent,
    "hypothesis": _hypothesis,
    "equilibria": _equilibria,
    "basins": _basins,
    "arcs": _arcs,
}
