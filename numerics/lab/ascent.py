"""Climb the violation of a claim by its gradient, and go back to the conditions after every step.

The parameters (and the tokens, where the claim is about states or starts) are moved along the normalised gradient of the
violation: of the spectral radius through the eigenvalues, of an observable through its definition, of the distance to a
claimed limit through the dynamics.  Symmetric matrices are symmetrised, tokens retracted or put back at their place; an
instance whose conditions broke, or that did not get worse, stays where it was with a shorter step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import MatrixPlan
from eigentoken.numerics.instances.sampling import condition_violation
from eigentoken.numerics.instances.states import on_manifold, place_state
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings.trajectories import distance, problem_of
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.systems.system import Time

__all__ = ["climb"]

STEPS = 12
LAYERS = 40


def climb(target: Target, batch: Batch, steps: int = STEPS) -> tuple[Batch, int]:
    """The batch after climbing, and how many instances were looked at on the way."""
    if any(callable(value) for value in batch.parameters.values()) or "heads" in batch.parameters:
        return batch, batch.count
    reach = torch.full((batch.count,), 0.1, dtype=torch.float64)
    with torch.no_grad():
        height = _objective(target, batch)
    looked = batch.count
    for _ in range(steps):
        tick()
        directions = _gradient(target, batch)
        if directions is None:
            break
        tried = _moved(target, batch, directions, reach)
        with torch.no_grad():
            value = _objective(target, tried)
            good = (value > height) & (condition_violation(target.plan, tried) < 0) & tried.finite
        looked += batch.count
        batch = _chosen(good, tried, batch)
        height = torch.where(good, value, height)
        reach = torch.where(good, reach * 1.5, reach * 0.4)
    return batch, looked


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
    return target.violation(batch)


def _gradient(target: Target, batch: Batch) -> dict[str, Tensor] | None:
    leaves = {name: value.detach().clone().requires_grad_() for name, value in batch.parameters.items()}
    free = target.plan.place is None
    tokens = batch.tokens.detach().clone().requires_grad_(free)
    moved = batch.with_parameters(leaves, tokens)
    try:
        if isinstance(target.plan.place, ConsensusAt | BipartiteAt):
            moved = place_state(target.plan.place, moved, torch.Generator().manual_seed(0))
        value = _objective(target, moved)
        clean = torch.where(torch.isfinite(value), value, torch.zeros_like(value))
        if not clean.requires_grad:
            return None
        wanted = [*leaves.values(), *([tokens] if free else [])]
        found = torch.autograd.grad(clean.sum(), wanted, allow_unused=True)
    except RuntimeError:  # eigenvectors that are not differentiable: a tie
        return None
    names = [*leaves, *(["tokens"] if free else [])]
    return {
        name: torch.nan_to_num(torch.zeros_like(leaf) if gradient is None else gradient, posinf=0.0, neginf=0.0)
        for name, leaf, gradient in zip(names, wanted, found, strict=True)
    }


def _moved(target: Target, batch: Batch, directions: dict[str, Tensor], reach: Tensor) -> Batch:
    squares = torch.stack([value.reshape(batch.count, -1).square().sum(-1) for value in directions.values()])
    share = reach / squares.sum(0).sqrt().clamp_min(1e-12)

    def step(name: str, value: Tensor) -> Tensor:
        return value + share.reshape(-1, *([1] * (value.ndim - 1))) * directions[name]

    steps = {each.name for each in batch.system.further if each.kind == "step"}
    parameters: dict[str, Any] = {}
    for name, value in batch.parameters.items():
        new = step(name, value)
        if name == "alpha" or name in steps:
            new = new.clamp_min(1e-6)
        elif target.plan.matrices.get(matrix(name), MatrixPlan()).symmetric or name == batch.system.metric:
            new = (new + new.mT) / 2
        parameters[name] = new
    tokens = step("tokens", batch.tokens) if "tokens" in directions else batch.tokens
    moved = batch.with_parameters(parameters, tokens)
    if "tokens" in directions:
        return moved.with_parameters(parameters, on_manifold(moved, tokens))
    if isinstance(target.plan.place, ConsensusAt | BipartiteAt):
        return place_state(target.plan.place, moved, torch.Generator().manual_seed(0))
    return moved


def _chosen(good: Tensor, tried: Batch, before: Batch) -> Batch:
    def pick(new: Tensor, old: Tensor) -> Tensor:
        return torch.where(good.reshape(-1, *([1] * (new.ndim - 1))), new.detach(), old)

    parameters = {name: pick(tried.parameters[name], value) for name, value in before.parameters.items()}
    return before.with_parameters(parameters, pick(tried.tokens, before.tokens))
