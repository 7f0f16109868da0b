"""Shrink a float violation to an exact one that a person can read.

Small shapes first, then coarse numbers first: the violating instance is turned to a simple basis, rounded to multiples of
1, 1/2, 1/3, ... until the violation is still there and certifies; then each number is made simpler while the certificate
stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp
import torch

from eigentoken.numerics.deadline import OutOfTime, limited, tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact import ExactDraft, batch_of, draft
from eigentoken.numerics.instances.exact_values import Case, NoValue
from eigentoken.numerics.instances.joining import joined
from eigentoken.numerics.instances.plans import Contradiction, Plan
from eigentoken.numerics.instances.rational import LADDER
from eigentoken.numerics.instances.sampling import branches, condition_violation, sample
from eigentoken.numerics.instances.structured import structured_batches
from eigentoken.numerics.instances.turned_drafts import in_other_positions
from eigentoken.numerics.lab.certify import Certified, certify_case, claim_verdict
from eigentoken.numerics.lab.follow_up import at_rest, followed_up
from eigentoken.numerics.lab.gathering import SearchFinding
from eigentoken.numerics.lab.premises import premise_holds, within_premise
from eigentoken.numerics.lab.rings import FINE
from eigentoken.numerics.lab.simplify import simplify
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings.trajectories import run
from eigentoken.theory.classification.instances import Instance, InstanceError
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.places import AntipodalAt
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.systems.system import Space

__all__ = ["Tried", "debunked", "shrink"]

PER_SHAPE = 96
#: Certificates that are tried for one finding, at most.
CERTIFICATES = 120
#: A finding that is clearly violated is shrunk to one that is, not to a boundary case.
STRICT = 1e-5


class Spent(Exception):
    """The certificates that may be tried for one finding are used up."""


@dataclass
class Tried:
    """What earlier findings about a target have shown of the smaller instances, which are the same for each of them.

    ``in_vain`` has for a plan, a shape and what is asked of its candidates the certificates that all of them took, if none held.
    """

    plans: list[Plan] = field(default_factory=list)
    in_vain: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def number(self, plan: Plan) -> int:
        """The place of the plan among those that were met."""
        found = next((index for index, each in enumerate(self.plans) if each is plan), None)
        if found is None:
            self.plans.append(plan)
        return len(self.plans) - 1 if found is None else found


@dataclass
class _Shrinking:
    """One finding on its way to an exact counterexample: the best so far, and how many certificates may still be tried."""

    target: Target
    plan: Plan
    floor: float
    settles: bool
    "The violation is a trajectory that settles elsewhere (not a start that is at rest already)."
    left: int
    tried: Tried
    best: Certified | None = None
    draft: ExactDraft | None = None
    "That of the best."
    refused: set[str] = field(default_factory=set)
    "Digests of instances that did not certify: roundings often meet again."

    def spend(self, certificates: int) -> None:
        """So many certificates that were tried before are not tried again, but counted."""
        if certificates > self.left:
            raise Spent
        self.left -= certificates


def shrink(
    target: Target,
    finding: SearchFinding,
    end: float | None = None,
    seed: int = 0,
    tried: Tried | None = None,
    first_by: float | None = None,
) -> Certified | None:
    """The simplest certified counterexample that was reached, or ``None``.

    The work is bounded by a number of certificates, so that the outcome does not depend on the speed of the machine; at
    ``end`` (a time of the clock) it stops with what it has, and at ``first_by`` where it has nothing.  ``tried`` is handed from
    one finding about the target to the next: what it saves is counted, so that the outcome is the same without it.
    """
    floor = STRICT if finding.violation > 10 * STRICT and not target.about_limits else -1e-9
    settles = isinstance(target.inner, Converges | AlmostEveryConverges) and finding.method != "equilibria"
    job = _Shrinking(target, finding.plan, floor, settles, CERTIFICATES, Tried() if tried is None else tried)
    try:
        with limited(end):
            try:
                _first(job, finding, seed, end if first_by is None else first_by)
            except OutOfTime:
                tick()  # raises where the whole time is over
            made = job.draft
            if made is not None:
                simplify(job.plan, made, partial(_tested, job))
    except (OutOfTime, Spent):
        pass
    return job.best


def _first(job: _Shrinking, finding: SearchFinding, seed: int, end: float | None) -> None:
    """Look for a draft that certifies, of the smallest shape that has one."""
    with limited(end):
        if finding.method == "arcs":  # the smallest already; the trajectories of others show nothing of it
            next((each for each in _drafts(job, finding.batch) if _tested(job, each)), None)
            return
        if finding.ring:
            made = draft(finding.plan, finding.batch, FINE, as_it_stands=True)
            if made is not None and _tested(job, made):
                return
        if finding.restless:
            next((each for each in followed_up(finding.plan, finding.batch) if _tested(job, each)), None)
            return
        for shape in _smaller_shapes(finding.plan, finding.batch):
            if _of_shape(job, shape, finding, seed) is not None:
                return


def debunked(target: Target, finding: SearchFinding) -> bool:
    """Is the violation an artefact of rounding?

    A condition that is an inequality certainly fails of its own numbers, or at a rational instance next to it the claim holds.
    """
    if _misses_a_condition(target, finding.batch):
        return True
    if target.about_limits:
        return False
    made = draft(finding.plan, finding.batch, LADDER[-1], as_it_stands=target.claim is None)
    instance = None if made is None else made.instance()
    if made is None or instance is None:
        return False
    return claim_verdict(target, Case(instance, made.k, made.p)).is_holds


def _misses_a_condition(target: Target, batch: Batch) -> bool:
    """Does a strict inequality between numbers of the matrices certainly fail of the floats as they are, taken exactly?

    Eigenvalues of a matrix that is nearly defective are known to half of the digits only, so that floats may see it hold.
    """
    asked = [each for each in target.conjecture.conditions if isinstance(each, Relation)]
    asked = [each for each in asked if isinstance(each.relation, sp.StrictGreaterThan | sp.StrictLessThan)]
    flat = batch.system.space is Space.EUCLIDEAN
    tokens = [[str(int(a == 0 and not flat)) for a in range(batch.d)]] * batch.n
    try:
        given = {name: _exactly(value) for name, value in batch.parameters.items() if value is not None}
        case = Case(Instance.of(batch.system.name, tokens, **given), batch.k, batch.p) if asked else None
        return case is not None and any(CERTIFIED(each, case).is_fails for each in asked)
    except (InstanceError, TypeError, ValueError, NoValue):
        return False


def _exactly(value: Any) -> Any:
    """The numbers of a batch of one, as texts that are exactly these floats."""
    if isinstance(value, list | tuple):
        return [{name: _exactly(each) for name, each in head.items()} for head in value]
    if not isinstance(value, torch.Tensor):
        raise TypeError("numbers that depend on time")

    def texts(entry: Any) -> Any:
        return [texts(each) for each in entry] if isinstance(entry, list) else str(Fraction(entry))

    return texts(value[0].tolist())


def _smaller_shapes(plan: Plan, batch: Batch) -> list[tuple[int, int, int, int]]:
    own = (batch.n, batch.d, batch.k, batch.p)
    fitting = [s for s in plan.shapes() if s[0] <= batch.n and s[1] <= batch.d and s != own]
    fitting.sort(key=lambda s: (s[0] * s[1], s[0], s[1], s[2], abs(2 * s[3] - s[0])))
    small = [s for s in fitting if s[0] * s[1] < batch.n * batch.d][:12]
    return [*small, own]


def _of_shape(
    job: _Shrinking, shape: tuple[int, int, int, int], finding: SearchFinding, seed: int
) -> ExactDraft | None:
    """An exact violation of the shape: at structured instances, then at drawn ones, then at the finding itself."""
    own = finding.batch
    mine = shape == (own.n, own.d, own.k, own.p)
    if mine and job.target.about_limits:
        made = _rounded(job, own)
        if made is not None:
            return made
    least = job.floor if finding.hint else max(job.floor, 0.0)
    key = (job.tried.number(job.plan), shape, seed, least, job.floor, job.settles)
    if key in job.tried.in_vain:
        job.spend(job.tried.in_vain[key])
    else:
        before = job.left
        for batch in _candidates(job.target, job.plan, shape, seed, least):
            made = _rounded(job, batch)
            if made is not None:
                return made
        job.tried.in_vain[key] = before - job.left
    return _rounded(job, own) if mine and not job.target.about_limits else None


def _candidates(
    target: Target, plan: Plan, shape: tuple[int, int, int, int], seed: int, least: float
) -> Iterator[Batch]:
    """Violating instances of the shape: structured ones, then drawn ones."""
    narrowed = plan.sized((shape[0],), (shape[1],))
    many = (4 if target.about_limits else 32) * PER_SHAPE
    pools: list[Any] = []
    try:
        for branch in branches(narrowed):
            pools.append((branch, [b for b in structured_batches(branch, many, seed) if (b.k, b.p) == shape[2:]]))
        drawn = [b for b in sample(narrowed, PER_SHAPE, seed).batches if (b.k, b.p) == shape[2:]]
        pools.append((narrowed, joined(drawn) if target.about_limits else drawn))
    except Contradiction:
        pools = []
    for branch, batches in pools:
        found: list[tuple[float, Batch]] = []
        for batch in batches:
            if batch.count == 0:
                continue
            good = condition_violation(branch, batch) < 0
            if not bool(good.any()):
                continue
            kept = within_premise(target, batch.take(good))
            if kept.count == 0:
                continue
            values = _violations(target, plan, kept)
            height = values if not target.about_limits else torch.where(values > 0, -_effort(kept), values - 1e9)
            for index in height.argsort(descending=True)[:2].tolist():
                if float(values[index]) > least:
                    found.append((float(height[index]), kept.take([index])))
        found.sort(key=lambda each: -each[0])
        for _, batch in found[:3]:
            yield batch


def _effort(batch: Batch) -> torch.Tensor:
    """How dear a validated trajectory will be: it is the dearer the stronger the scores are; then simple states first."""
    effort = torch.ones(batch.count, dtype=torch.float64)
    for group in (batch.parameters, *batch.parameters.get("heads", ())):
        for name, value in group.items():
            if isinstance(value, torch.Tensor) and name == batch.system.score:
                effort = effort + 2 * torch.linalg.matrix_norm(value)
    return effort


def _violations(target: Target, plan: Plan, batch: Batch) -> torch.Tensor:
    """The violation that a finding of the plan was about: for a limit claim at an equilibrium, that it attracts."""
    if target.about_limits and plan.place is not None:
        from eigentoken.numerics.readings.batched_jacobians import spectrum

        margin = spectrum(batch).margin()
        return torch.where(margin < 1e-9, torch.ones_like(margin), -margin)
    return torch.nan_to_num(target.violation(batch), nan=-1.0)


def _rounded(job: _Shrinking, batch: Batch) -> ExactDraft | None:
    """The coarsest rounding that certifies; for a limit, at the end of the trajectory first."""
    if job.settles and job.plan.place is None:
        ended = _at_the_limit(job, batch)
        if ended is not None:
            return ended
    return next((made for made in _drafts(job, batch) if _tested(job, made)), None)


def _drafts(job: _Shrinking, batch: Batch) -> Iterator[ExactDraft]:
    """Exact drafts near the instance, coarse ones first."""
    bases = (
        (True, False)
        if (job.plan.in_its_basis or job.target.claim is None)
        and (job.plan.place is None or isinstance(job.plan.place, AntipodalAt))
        else (False,)
    )
    for denominator in LADDER:
        for as_it_stands in bases:
            tick()
            made = draft(job.plan, batch, denominator, as_it_stands=as_it_stands)
            if made is not None:
                yield made
                if job.plan.start is not None and job.plan.place is not None and not made.further:
                    yield from in_other_positions(made)


def _at_the_limit(job: _Shrinking, batch: Batch) -> ExactDraft | None:
    """For a trajectory that settles elsewhere: look for a certified attracting region around its end."""
    finish = run(batch)
    if not bool(finish.finite.all()):
        return None
    ended = batch.at(finish.final)
    if float(condition_violation(job.plan, ended)[0]) > 1e-6:  # the limit itself is no start that the conditions allow
        return None
    for made in _drafts(job, ended):
        settled = _settled_draft(made)
        for each in (made, settled):
            if each is not None and _tested(job, each):
                return each
    return None


def _settled_draft(made: ExactDraft) -> ExactDraft | None:
    """The draft with its tokens moved to where the rounded parameters send them (rational points near the limit)."""
    from eigentoken.numerics.instances.rational import sphere_point

    instance = made.instance()
    if instance is None:
        return None
    finish = run(batch_of(instance, made.k, made.p))
    if not bool(finish.settled.all()):
        return at_rest(made)
    tokens = finish.final[0].tolist()
    if instance.system.space == "euclidean":
        return None
    return replace(made, tokens=tuple(sphere_point(token, 10**9) for token in tokens))


def _groups(tokens: Any) -> tuple[int, ...]:
    listed = [tuple(token) for token in tokens]
    return tuple(listed.index(token) for token in listed)


def _tested(job: _Shrinking, made: ExactDraft) -> bool:
    """A quick look in floating point, then the certificate, which becomes the best so far."""
    target, plan = job.target, job.plan
    instance = made.instance()
    if instance is None:
        return False
    batch = batch_of(instance, made.k, made.p, _groups(made.tokens))
    worst = condition_violation(replace(plan, conditions=tuple((c, True) for c in target.conjecture.conditions)), batch)
    if float(worst[0]) > 1e-9:
        return False
    if not target.about_limits:
        value = float(target.violation(batch)[0])
        if not value > (job.floor if target.claim is not None else 0.0) or not bool(premise_holds(target, batch)):
            return False
    if instance.digest() in job.refused:
        return False
    if job.left == 0:
        raise Spent
    job.left -= 1
    found = certify_case(target, Case(instance, made.k, made.p))
    if found is not None:
        job.best, job.draft = found, made
    else:
        job.refused.add(instance.digest())
    return found is not None
