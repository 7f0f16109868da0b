"""Climb the violation of a claim by its gradient, and go back to the conditions after every step.

The parameters (and the tokens, where the claim is about states or starts) are moved along the normalised gradient of the
violation: of the spectral radius through the eigenvalues, of an observable through its definition, of the distance to a
claimed limit through the dynamics.  A margin of a free predicate has no gradient: its slopes are differences.  Symmetric
matrices are symmetrised, tokens retracted or put back at their place; an instance whose conditions or premise broke, or that did
not get worse, stays where it was with a shorter step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.regions import margin_of
from eigentoken.numerics.instances.sampling import condition_violation
from eigentoken.numerics.instances.states import place_state
from eigentoken.numerics.lab.premises import difference_slopes, leaves, moved_by, picked, premise_holds, with_leaves
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings.trajectories import distance, problem_of
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.system import Time

__all__ = ["climb"]

STEPS = 12
LAYERS = 40
#: Steps of a flow after which a region may be left; what a start outside it costs.
FLOW_STEPS, PENALTY = 4, 20.0
#: Rows of matrices and tokens may become so long, or so many times as long as they were.
WIDE, ROOM = 6.0, 2.0
#: Along a boundary so many times as many steps are made.
SLIDES = 3


def climb(target: Target, batch: Batch, steps: int = STEPS) -> tuple[Batch, int]:
    """The batch after climbing, and how many instances were looked at on the way."""
    given = (batch.parameters, *batch.parameters.get("heads", ()))
    if any(callable(value) for group in given for value in group.values()):
        return batch, batch.count
    reach = torch.full((batch.count,), 0.1, dtype=torch.float64)
    with torch.no_grad():
        height = _objective(target, batch)
    looked, window = batch.count, None if target.about_limits else _Window.around(batch)
    kept = isinstance(getattr(target.inner, "region", None), StateRegion)
    for step in range(steps * SLIDES if kept else steps):
        tick()
        directions = _gradient(target, batch)
        if directions is None:
            break
        if kept and step % 3:  # at the boundary of a region tokens have nowhere to go: the parameters alone
            directions["tokens"] = torch.zeros_like(directions["tokens"])
        tried = moved_by(target, batch, directions, reach)
        with torch.no_grad():
            value = _objective(target, tried)
            good = (value > height) & (condition_violation(target.plan, tried) < 0) & tried.finite
            good = good & premise_holds(target, tried)
            good = good if window is None else good & window.holds(tried)
        looked += batch.count
        batch = picked(good, tried, batch)
        height = torch.where(good, value, height)
        reach = torch.where(good, reach * 1.5, reach * 0.4)
    return batch, looked


@dataclass(frozen=True)
class _Window:
    """How large the matrices and tokens of each instance may become: far out a violation is rounding more than anything else.

    A conjecture about large numbers begins with such, and has a window around them; one about limits has none.
    """

    most: Mapping[str, Tensor]

    @classmethod
    def around(cls, batch: Batch) -> _Window:
        return cls({name: (ROOM * size).clamp_min(WIDE) for name, size in _sizes(batch).items()})

    def holds(self, batch: Batch) -> Tensor:
        inside = torch.ones(batch.count, dtype=torch.bool)
        for name, size in _sizes(batch).items():
            inside = inside & (size <= self.most[name])
        return inside


def _sizes(batch: Batch) -> dict[str, Tensor]:
    found = {name: value for name, value in leaves(batch).items() if value.ndim > 1} | {"tokens": batch.tokens}
    return {
        name: torch.linalg.vector_norm(value, dim=-1).reshape(batch.count, -1).amax(-1) for name, value in found.items()
    }


def _objective(target: Target, batch: Batch) -> Tensor:
    inner = target.inner
    if isinstance(inner, Converges | AlmostEveryConverges):
        problem, x = problem_of(batch), batch.tokens
        for layer in range(LAYERS):
            if batch.system.time is Time.MAP:
                x = problem.advance(x, layer)
            else:
                half = problem.retract(x + 0.1 * problem.advance(x, 0.0))
                x = problem.retract(x + 0.2 * problem.advance(half, 0.0))
        return distance(inner.place, batch, x)
    region = getattr(inner, "region", None)
    if isinstance(region, StateRegion):  # a start on the boundary, and a next state as far outside as can be
        problem, x = problem_of(batch), batch.tokens
        for _ in range(1 if batch.system.time is Time.MAP else FLOW_STEPS):
            moved = problem.advance(x, 0.0)
            x = moved if batch.system.time is Time.MAP else problem.retract(x + 0.05 * moved)
        start = margin_of(region, batch, batch.tokens)
        return -margin_of(region, batch, x) - PENALTY * (-start).clamp_min(0.0)
    return target.violation(batch)


def _gradient(target: Target, batch: Batch) -> dict[str, Tensor] | None:
    if target.claim is None:
        found = difference_slopes(target, batch, target.violation)
        return found if any(bool(value.any()) for value in found.values()) else None
    own = {name: value.detach().clone().requires_grad_() for name, value in leaves(batch).items()}
    free = target.plan.place is None
    tokens = batch.tokens.detach().clone().requires_grad_(free)
    moved = with_leaves(batch, own, tokens)
    try:
        if isinstance(target.plan.place, ConsensusAt | BipartiteAt):
            moved = place_state(target.plan.place, moved, torch.Generator().manual_seed(0))
        value = _objective(target, moved)
        clean = torch.where(torch.isfinite(value), value, torch.zeros_like(value))
        if not clean.requires_grad:
            return None
        wanted = [*own.values(), *([tokens] if free else [])]
        slopes = torch.autograd.grad(clean.sum(), wanted, allow_unused=True)
    except RuntimeError:  # eigenvectors that are not differentiable: a tie
        return None
    names = [*own, *(["tokens"] if free else [])]
    return {
        name: torch.nan_to_num(torch.zeros_like(leaf) if gradient is None else gradient, posinf=0.0, neginf=0.0)
        for name, leaf, gradient in zip(names, wanted, slopes, strict=True)
    }
