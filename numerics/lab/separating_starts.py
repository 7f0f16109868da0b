"""Search for starts on the circle between two that reach consensus from opposite sides.

The last token is put at many angles, the lifted angles are followed in floating point, and where two neighbouring starts end on
different sheets (see :mod:`eigentoken.numerics.readings.bracketed_starts`) the start between them is narrowed down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Contradiction, Plan
from eigentoken.numerics.instances.sampling import condition_violation, sample
from eigentoken.numerics.instances.structured import structured_batches
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.systems.system import Space, Time

__all__ = ["on_circles", "starts_between"]

ANGLES = 36
STEPS = 160
STEP = 0.2
HALVINGS = 8
MOST = 12
#: A start this close to the antipode of the first token is the known one.
KNOWN = 0.02


def on_circles(plan: Plan) -> bool:
    """Is the plan about flows on spheres, with circles among the sizes?"""
    return (
        plan.system.standard
        and plan.system.space is Space.SPHERE
        and plan.system.time is Time.FLOW
        and 2 in plan.d
        and plan.place is None
    )


def starts_between(plan: Plan, seed: int) -> Iterator[tuple[Batch, Tensor, int]]:
    """Batches of starts that lie between sheets, with 1 for each (their violation), and how many starts were followed."""
    sizes = [n for n in plan.n if n >= 3]
    if not sizes:
        return
    small = replace(plan, timed=()).sized((min(sizes),), (2,))
    try:
        drawn = [*structured_batches(small, 8 * MOST, seed), *sample(small, MOST, seed, cells_at_most=2).batches]
    except Contradiction:
        return
    for batch in drawn:
        tick()
        apart = torch.linalg.vector_norm(batch.tokens[:, 1] - batch.tokens[:, 0], dim=-1) > 0.1
        if bool(apart.any()):
            yield from _between(small, batch.take(apart.nonzero().flatten()[:MOST]))


def _between(plan: Plan, batch: Batch) -> Iterator[tuple[Batch, Tensor, int]]:
    grid = torch.arange(ANGLES, dtype=torch.float64) * (2 * math.pi / ANGLES)
    rows = torch.arange(batch.count).repeat_interleave(ANGLES)
    many = batch.take(rows)
    sheets = _sheets(many, grid.repeat(batch.count)).reshape(batch.count, ANGLES, -1)
    following = torch.roll(sheets, -1, 1)
    known = ~(sheets.isnan() | following.isnan()).any(-1)
    jump = known & (sheets != following).any(-1)
    jump[:, -1] = False  # from the last angle to the first the lift itself jumps
    where = jump.nonzero()
    tried = many.count
    if len(where):
        chosen = batch.take(where[:, 0])
        low, high = grid[where[:, 1]], grid[where[:, 1]] + 2 * math.pi / ANGLES
        below = sheets[where[:, 0], where[:, 1]]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            found = _sheets(chosen, middle)
            tried += chosen.count
            lower = (found == below).all(-1)
            low, high = torch.where(lower, middle, low), torch.where(lower, high, middle)
        ready = _with_last(chosen, (low + high) / 2)
        good = condition_violation(plan, ready) < 0
        good &= torch.linalg.vector_norm(ready.tokens[:, -1] + ready.tokens[:, 0], dim=-1) > KNOWN
        if bool(good.any()):
            kept = ready.take(good)
            yield kept, _plainness(kept), tried
            return
    yield many.take([0]), torch.full((1,), -1.0, dtype=torch.float64), tried


def _plainness(batch: Batch) -> Tensor:
    """Positive; larger for small scores and starts far from the antipode of the first token."""
    away = torch.linalg.vector_norm(batch.tokens[:, -1] + batch.tokens[:, 0], dim=-1)
    size = torch.ones_like(away)
    for _, score in batch.system.heads(batch.parameters, 0.0):
        size = size + (0.0 if score is None else torch.linalg.matrix_norm(score))
    return (0.5 + away.clamp_max(0.5)) / size


def _with_last(batch: Batch, angle: Tensor) -> Batch:
    last = torch.stack([torch.cos(angle), torch.sin(angle)], -1).unsqueeze(1)
    return batch.at(torch.cat([batch.tokens[:, :-1], last], 1))


def _sheets(batch: Batch, angle: Tensor) -> Tensor:
    """The sheets of all tokens relative to the first when the tokens are in a half circle, ``nan`` where they are not."""
    ready = _with_last(batch, angle)
    problem, x = problem_of(ready), ready.tokens
    lifted = torch.atan2(x[..., 1], x[..., 0])
    lifted[:, -1] = angle
    with torch.no_grad():
        for _ in range(STEPS):
            one = problem.advance(x, 0.0)
            half = problem.retract(x + STEP / 2 * one)
            after = problem.retract(x + STEP * problem.advance(half, 0.0))
            cross = x[..., 0] * after[..., 1] - x[..., 1] * after[..., 0]
            lifted = lifted + torch.atan2(cross, (x * after).sum(-1))
            x = after
    away = lifted - lifted[:, :1]
    sheets = torch.round(away / (2 * math.pi))
    rest = away - 2 * math.pi * sheets
    inside = (rest.amax(-1) - rest.amin(-1)) < math.pi - 0.1
    return torch.where(inside.unsqueeze(-1), sheets, torch.full_like(sheets, torch.nan))
