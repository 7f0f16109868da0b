"""Naming the limit of a trajectory, by the distances between tokens.

The name is a reading of floating-point numbers with a stated tolerance, not a verdict: whether an equilibrium exists
nearby and is stable is answered by :mod:`eigentoken.numerics.dynamics.equilibria`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.theory.systems.system import Space, Time

__all__ = ["Limit", "LimitClass", "name_limit", "name_limits"]


class LimitClass(StrEnum):
    """Where a trajectory went."""

    CONSENSUS = "consensus"
    BIPARTITE = "bipartite"
    POLYGONAL = "polygonal"
    CLUSTERING = "clustering"
    TWO_CYCLE = "2-cycle"
    ROTATING = "rotating pair"
    VANISHING = "vanishing"
    DIVERGING = "diverging"
    UNSETTLED = "unsettled"


@dataclass(frozen=True)
class Limit:
    """The class, the number of distinct tokens, how many sit opposite the first, and the size of the last motion."""

    kind: LimitClass
    clusters: int
    opposite: int
    motion: float


def name_limits(
    problem: Problem, x: Tensor, *, tolerance: float = 1e-4, still: float | None = None, t: float = 0.0
) -> list[Limit]:
    """Name each instance of a batch (B, n, d)."""
    problem = problem.like(x)
    with torch.no_grad():
        flat = x.reshape(-1, *x.shape[-2:])
        after = problem.advance(flat, t)
        push = problem.influence(flat, t)
        moved = after - flat if problem.system.time is Time.MAP else after
        motion = torch.linalg.vector_norm(moved, dim=-1).amax(-1)
        flipped = torch.linalg.vector_norm(after + flat, dim=-1).amax(-1)
        weight = torch.linalg.vector_norm(push, dim=-1).amax(-1)
        size = torch.linalg.vector_norm(flat, dim=-1)
        is_map = problem.system.time is Time.MAP
        return [
            _name(
                problem,
                flat[b],
                motion[b].item(),
                flipped[b].item() if is_map else None,
                weight[b].item(),
                size[b],
                tolerance,
                still,
            )
            for b in range(len(flat))
        ]


def name_limit(
    problem: Problem, x: Tensor, *, tolerance: float = 1e-4, still: float | None = None, t: float = 0.0
) -> Limit:
    """Name the state ``x`` (n, d) reached by a run.

    ``tolerance`` is the distance at which two tokens count as one; a state counts as at rest when no token moves more
    than ``still`` (default tolerance / 10) in a layer or a unit of time.
    """
    return name_limits(problem, x.unsqueeze(0), tolerance=tolerance, still=still, t=t)[0]


def _name(
    problem: Problem,
    x: Tensor,
    motion: float,
    flipped: float | None,
    weight: float,
    size: Tensor,
    tolerance: float,
    still: float | None,
) -> Limit:
    rest = tolerance / 10 if still is None else still
    if not bool(torch.isfinite(x).all()) or float(size.max()) > 1e8:
        return Limit(LimitClass.DIVERGING, 0, 0, motion)
    same, opposite = _equal(x, tolerance), _antipodal(x, tolerance)
    clusters = _count_clusters(same)
    agreed = bool(same[0].all())
    split = bool((same[0] | opposite[0]).all())
    behind = int((opposite[0] & ~same[0]).sum())
    if problem.system.space is Space.EUCLIDEAN:
        if float(size.max()) < tolerance:
            return Limit(LimitClass.VANISHING, 1, 0, motion)
        if motion > rest:
            return Limit(LimitClass.UNSETTLED, clusters, behind, motion)
    elif motion > rest:
        if flipped is not None and flipped <= rest:
            return Limit(LimitClass.TWO_CYCLE, clusters, behind, motion)
        kind = LimitClass.ROTATING if agreed and _rotates(problem, x, tolerance) else LimitClass.UNSETTLED
        return Limit(kind, clusters, behind, motion)
    if agreed:
        kind = LimitClass.CONSENSUS
    elif weight <= tolerance:
        # a zero push leaves nothing to align with: polygonal, antipodal pairs with p = q included
        kind = LimitClass.POLYGONAL
    elif split:
        kind = LimitClass.BIPARTITE
    else:
        kind = LimitClass.CLUSTERING
    return Limit(kind, clusters, behind, motion)


def _equal(x: Tensor, tolerance: float) -> Tensor:
    return torch.linalg.vector_norm(x.unsqueeze(0) - x.unsqueeze(1), dim=-1) <= tolerance


def _antipodal(x: Tensor, tolerance: float) -> Tensor:
    return torch.linalg.vector_norm(x.unsqueeze(0) + x.unsqueeze(1), dim=-1) <= tolerance


def _count_clusters(same: Tensor) -> int:
    seen = torch.zeros(len(same), dtype=torch.bool, device=same.device)
    clusters = 0
    for i in range(len(same)):
        if not bool(seen[i]):
            clusters += 1
            seen |= same[i]
    return clusters


def _rotates(problem: Problem, x: Tensor, tolerance: float, layers: int = 8) -> bool:
    """Do consensus tokens keep to one plane while moving (Case 2: a complex principal pair)?"""
    visited = [x[0]]
    state = x
    for _ in range(layers):
        if problem.system.time is Time.MAP:
            state = problem.advance(state, 0.0)
        else:
            speed = float(torch.linalg.vector_norm(problem.advance(state, 0.0), dim=-1).amax())
            state = _midpoint(problem, state, 0.2 / max(speed, 1e-9))
        visited.append(state[0])
    singular = torch.linalg.svdvals(torch.stack(visited))
    return (
        len(singular) > 1
        and float(singular[1]) > 10 * tolerance
        and (len(singular) < 3 or float(singular[2]) < 10 * tolerance)
    )


def _midpoint(problem: Problem, x: Tensor, h: float, parts: int = 8) -> Tensor:
    for _ in range(parts):
        middle = problem.retract(x + h / parts / 2 * problem.advance(x, 0.0))
        x = problem.retract(x + h / parts * problem.advance(middle, 0.0))
    return x
