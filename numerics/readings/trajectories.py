"""Where trajectories go: runs of a batch, and the distance of states to places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.flows import follow
from eigentoken.numerics.dynamics.maps import iterate
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra
from eigentoken.numerics.instances.batches import Batch
from eigentoken.theory.points import (
    AntipodalAt,
    BipartiteAt,
    ConsensusAt,
    ConsensusSet,
    Hemisphere,
    Place,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.systems import Space, Time

__all__ = ["DISTANCES", "Run", "distance", "problem_of", "run"]

LAYERS = 1500
HORIZON = 120.0
STILL = 1e-9


def problem_of(batch: Batch) -> Problem:
    """The batch as the integrators take it."""
    return Problem(batch.system, batch.parameters, batch.mask, TorchAlgebra())


@dataclass(frozen=True, eq=False)
class Run:
    """The end of each trajectory, whether it is at rest there, and how large it is."""

    final: Tensor
    motion: Tensor
    size: Tensor
    finite: Tensor

    @property
    def settled(self) -> Tensor:
        """At rest: the last motion is far below what any slow approach would still show."""
        return self.finite & (self.motion <= STILL * (1 + self.size))


def run(batch: Batch, layers: int = LAYERS, horizon: float = HORIZON) -> Run:
    """Follow every instance: ``layers`` layers of a map, or a flow up to ``horizon``."""
    problem = problem_of(batch)
    with torch.no_grad():
        if batch.system.time is Time.MAP:
            orbit = iterate(problem, batch.tokens, layers, stop_distance=STILL / 10)
            moved = torch.linalg.vector_norm(orbit.final - orbit.previous, dim=-1).amax(-1)
            final, finite = orbit.final, orbit.finite
        else:
            final, moved, finite = _flow(problem, batch, horizon)
        size = torch.linalg.vector_norm(final, dim=-1).amax(-1)
    return Run(final, torch.nan_to_num(moved, nan=torch.inf), torch.nan_to_num(size, nan=torch.inf), finite)


def _flow(problem: Problem, batch: Batch, horizon: float) -> tuple[Tensor, Tensor, Tensor]:
    limit = 1e6
    if batch.system.space is Space.EUCLIDEAN:
        final = _bounded_flow(problem, batch.tokens, min(horizon, 25.0), limit)
    else:
        final = follow(
            problem, batch.tokens, horizon, keep=False, rtol=1e-7, atol=1e-10, stop_speed=STILL / 10, max_steps=4000
        ).final
    speed = torch.linalg.vector_norm(problem.advance(final, horizon), dim=-1).amax(-1)
    return final, speed, torch.isfinite(final).all(-1).all(-1)


def _bounded_flow(problem: Problem, x: Tensor, horizon: float, limit: float, parts: int = 100) -> Tensor:
    """Runge-Kutta of order 4 with a step for each instance; instances that grow beyond the limit are stopped there."""
    value, score = (torch.ones(len(x), dtype=x.dtype), torch.zeros(len(x), dtype=x.dtype))
    for each, other in problem.heads(0.0):
        value = value if each is None else value + torch.linalg.matrix_norm(each, ord=2)
        score = score if other is None else score + torch.linalg.matrix_norm(other, ord=2)
    clock = torch.zeros(len(x), dtype=x.dtype)
    for _ in range(parts * 4):
        size = torch.linalg.vector_norm(x, dim=-1).amax(-1)
        active = (clock < horizon) & (size < limit) & torch.isfinite(size)
        if not bool(active.any()):
            break
        rate = value * (1 + score * size * size)
        step = torch.where(active, torch.minimum(horizon - clock, 0.5 / rate + 0.02 * horizon / parts), 0.0)
        h = step.reshape(-1, 1, 1)
        one = problem.advance(x, 0.0)
        two = problem.advance(x + h / 2 * one, 0.0)
        three = problem.advance(x + h / 2 * two, 0.0)
        four = problem.advance(x + h * three, 0.0)
        x = torch.where((h > 0), x + h / 6 * (one + 2 * two + 2 * three + four), x)
        clock = clock + step
    return x


#: Distance of states to a place: type -> function of (place, batch, states); for words added by authors too.
DISTANCES: dict[type, Callable[[Any, Batch, Tensor], Tensor]] = {}


def distance(place: Place, batch: Batch, x: Tensor) -> Tensor:
    """How far the states ``x`` are from the place, up to the global sign: ``(B,)``."""
    for base in type(place).__mro__:
        if base in DISTANCES:
            return DISTANCES[base](place, batch, x)
    raise ValueError(f"no distance is known to {type(place).__name__}: register one in DISTANCES")


def _enter(*types: type) -> Callable[[Any], Any]:
    def enter(function: Any) -> Any:
        for each in types:
            DISTANCES[each] = function
        return function

    return enter


def _unit(batch: Batch, place: Any) -> Tensor:
    from eigentoken.numerics.instances.states import on_manifold

    vector = batch.eigenvector(place.term, batch.integer(place.index))
    found: Tensor = on_manifold(batch, vector.unsqueeze(1))
    return found


@_enter(ConsensusAt)
def _(place: ConsensusAt, batch: Batch, x: Tensor) -> Tensor:
    vector = _unit(batch, place)
    sides = [torch.linalg.vector_norm(x - sign * vector, dim=-1).amax(-1) for sign in (1.0, -1.0)]
    return torch.minimum(*sides)


@_enter(BipartiteAt)
def _(place: BipartiteAt, batch: Batch, x: Tensor) -> Tensor:
    vector = _unit(batch, place)
    sides = [torch.linalg.vector_norm(x - sign * vector, dim=-1) for sign in (1.0, -1.0)]
    return torch.minimum(*sides).amax(-1)


@_enter(AntipodalAt)
def _(place: AntipodalAt, batch: Batch, x: Tensor) -> Tensor:
    first = x[:, :1]
    sides = [torch.linalg.vector_norm(x - sign * first, dim=-1) for sign in (1.0, -1.0)]
    return torch.minimum(*sides).amax(-1)


@_enter(ConsensusSet)
def _(place: ConsensusSet, batch: Batch, x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x - x[:, :1], dim=-1).amax(-1)


@_enter(Zero)
def _(place: Zero, batch: Batch, x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x, dim=-1).amax(-1)


@_enter(Polygonal)
def _(place: Polygonal, batch: Batch, x: Tensor) -> Tensor:
    from dataclasses import replace

    system = replace(batch.system, value=None)
    push = system.influence(TorchAlgebra(), batch.parameters, x, batch.mask, 0.0)
    return torch.linalg.vector_norm(push, dim=-1).amax(-1)


@_enter(SomeEquilibrium)
def _(place: SomeEquilibrium, batch: Batch, x: Tensor) -> Tensor:
    moved = problem_of(batch).advance(x, 0.0)
    return torch.linalg.vector_norm(moved - x if batch.system.time is Time.MAP else moved, dim=-1).amax(-1)


@_enter(Hemisphere)
def _(place: Hemisphere, batch: Batch, x: Tensor) -> Tensor:
    w = batch.extra.get("w") if place.normal is None else batch.eigenvector(place.normal, 1, place.left)
    if w is None:
        raise ValueError("Hemisphere without a normal needs tokens drawn in a hemisphere: add InHemisphere()")
    heights = torch.einsum("bnd,bd->bn", x, w)
    start = torch.einsum("bnd,bd->bn", batch.tokens, w).mean(-1, keepdim=True)
    return (-heights * torch.sign(start)).amax(-1).clamp_min(0.0)
