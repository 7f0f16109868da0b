"""Tokens of a batch: at a place, in a hemisphere (or just outside), or anywhere."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.clusters import clustered
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.instances.regions import into_region
from eigentoken.theory.language.places import (
    AntipodalAt,
    AtMostClusters,
    BipartiteAt,
    Clustering,
    ConsensusAt,
    ConsensusSet,
    EachAt,
    Equiangular,
    Hemisphere,
    Place,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.readings import PLACED
from eigentoken.theory.systems.system import Space

__all__ = ["in_hemisphere", "on_manifold", "place_state", "tokens_for"]


def on_manifold(batch: Batch, x: Tensor) -> Tensor:
    """``x_i / |x_i|_W``, or ``x`` itself in Euclidean space."""
    system = batch.system
    if system.space is Space.EUCLIDEAN:
        return x
    metric = None if system.metric is None else batch.named(system.metric)
    if metric is None:
        return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / torch.einsum("bni,bij,bnj->bn", x, metric, x).sqrt().unsqueeze(-1)


def tokens_for(plan: Plan, batch: Batch, corner: str, generator: torch.Generator) -> Batch:
    """The batch with tokens where the plan wants them."""
    if plan.place is not None:
        return place_state(plan.place, batch, generator)
    if plan.on_a_line:
        return _on_a_line(batch, generator)
    x = torch.randn(batch.count, batch.n, batch.d, generator=generator, dtype=torch.float64)
    if plan.euclidean:
        x = x * torch.exp(0.7 * torch.randn(batch.count, 1, 1, generator=generator, dtype=torch.float64))
    if corner == "repeated":
        x = x[:, :1] + 0.05 * x
    elif corner == "tie at the top" and batch.n > 1:
        x = torch.cat([x[:, :1], -x[:, :1] + 0.05 * x[:, 1:]], 1)
    if plan.opposite and batch.n > 1:
        x = torch.cat([x[:, :-1], -x[:, :1]], 1)
    if plan.distinct is False:
        x = x[:, :1].expand_as(x).clone()
    batch = batch.at(on_manifold(batch, x))
    if plan.hemisphere is not None:
        batch = in_hemisphere(plan, batch, generator)
    return batch if plan.start is None else into_region(plan.start, batch, generator)


def _on_a_line(batch: Batch, generator: torch.Generator) -> Batch:
    """The first p tokens at any unit vector (half of them where there is no split), the others at its negative."""
    w = torch.randn(batch.count, 1, batch.d, generator=generator, dtype=torch.float64)
    first = batch.p if 0 < batch.p < batch.n else (batch.n + 1) // 2
    x = torch.cat([w.expand(-1, first, -1), -w.expand(-1, batch.n - first, -1)], 1)
    return _put(batch, x / torch.linalg.vector_norm(w, dim=-1, keepdim=True), (0,) * first + (1,) * (batch.n - first))


def in_hemisphere(plan: Plan, batch: Batch, generator: torch.Generator) -> Batch:
    """The batch with each token turned into the hemisphere (or the last one just outside)."""
    asked = plan.hemisphere
    assert asked is not None
    if asked.normal is None:
        w = torch.randn(batch.count, batch.d, generator=generator, dtype=torch.float64)
        w = w / torch.linalg.vector_norm(w, dim=-1, keepdim=True)
    else:
        w = batch.eigenvector(asked.normal, 1, asked.left)
    heights = torch.einsum("bnd,bd->bn", batch.tokens, w)
    x = torch.where((heights < 0).unsqueeze(-1), -batch.tokens, batch.tokens)
    if not asked.inside:  # one token just across the boundary, and one clearly inside
        other = x[:, -1] - 2 * torch.einsum("bd,bd->b", x[:, -1], w).unsqueeze(-1) * w
        x = torch.cat([x[:, :-1], other.unsqueeze(1)], 1)
        if asked.normal is None:
            x[:, -1] = -x[:, :-1].mean(1)
            x = on_manifold(batch, x)
    return replace(batch, tokens=x, groups=None, extra={**batch.extra, "w": w}, _memory={})


def place_state(place: Place, batch: Batch, generator: torch.Generator) -> Batch:
    """The batch with its tokens at the place (one state of it, where the place is a set)."""
    found: Batch = PLACED(place, batch, generator)
    return found


def _put(batch: Batch, x: Tensor, groups: tuple[int, ...] | None) -> Batch:
    return batch.at(on_manifold(batch, x), groups)


@PLACED.register(ConsensusAt)
def placed_consensus_at(place: ConsensusAt, batch: Batch, generator: torch.Generator) -> Batch:
    vector = batch.eigenvector(place.term, batch.integer(place.index))
    return _put(batch, vector.unsqueeze(1).expand(-1, batch.n, -1).clone(), (0,) * batch.n)


@PLACED.register(BipartiteAt)
def placed_bipartite_at(place: BipartiteAt, batch: Batch, generator: torch.Generator) -> Batch:
    vector = batch.eigenvector(place.term, batch.integer(place.index)).unsqueeze(1)
    x = torch.cat([vector.expand(-1, batch.p, -1), -vector.expand(-1, batch.q, -1)], 1)
    return _put(batch, x, (0,) * batch.p + (1,) * batch.q)


def _direction(batch: Batch, generator: torch.Generator) -> Tensor:
    """A unit vector near the top eigenvector of the value matrix as often as anywhere."""
    w = torch.randn(batch.count, batch.d, generator=generator, dtype=torch.float64)
    w = w / torch.linalg.vector_norm(w, dim=-1, keepdim=True)
    name = batch.system.value
    value = None if name is None else batch.named(name)
    if isinstance(value, Tensor):
        top = torch.linalg.eigh((value + value.mT) / 2).eigenvectors[..., -1]
        near = torch.rand(batch.count, 1, generator=generator, dtype=torch.float64)
        w = torch.where(near < 0.5, top + 0.4 * near * w, w)
    return w / torch.linalg.vector_norm(w, dim=-1, keepdim=True)


def _balanced_scores(batch: Batch, w: Tensor) -> Batch:
    """Change each score matrix by a multiple of ``w w^T`` so that ``w^T M w = 0``: then ``+-w`` attend evenly.

    Scores that are the metric of the ellipsoid as well stay as they are: they are positive definite.
    """
    name = batch.system.score
    if name is None or name == batch.system.metric:
        return batch
    outer = w.unsqueeze(-1) * w.unsqueeze(-2)

    def balanced(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return value - torch.einsum("bi,bij,bj->b", w, value, w).reshape(-1, 1, 1) * outer

    parameters = dict(batch.parameters)
    if name in parameters:
        parameters[name] = balanced(parameters[name])
    else:
        parameters["heads"] = [{**head, name: balanced(head[name])} for head in parameters["heads"]]
    return batch.with_parameters(parameters)


@PLACED.register(AntipodalAt)
def placed_antipodal_at(place: AntipodalAt, batch: Batch, generator: torch.Generator) -> Batch:
    if not place.has_states(batch.n):
        return _put(batch, torch.full_like(batch.tokens, torch.nan), None)
    w = _direction(batch, generator)
    half = batch.n // 2
    x = torch.cat([w.unsqueeze(1).expand(-1, half, -1), -w.unsqueeze(1).expand(-1, half, -1)], 1)
    ready = _balanced_scores(batch, w)
    extra = {**batch.extra, place.name: w}
    return replace(_put(ready, x, (0,) * half + (1,) * half), p=half, extra=extra, _memory={})


@PLACED.register(EachAt)
def placed_each_at(place: EachAt, batch: Batch, generator: torch.Generator) -> Batch:
    vector = batch.eigenvector(place.term, batch.integer(place.index)).unsqueeze(1)
    signs = torch.where(torch.rand(batch.count, batch.n, 1, generator=generator, dtype=torch.float64) < 0.5, 1.0, -1.0)
    return _put(batch, signs * vector, None)


@PLACED.register(Equiangular)
def placed_equiangular(place: Equiangular, batch: Batch, generator: torch.Generator) -> Batch:
    """``sqrt(1 - rho) e_i + c sum_j e_j`` in a random basis, of any length in Euclidean space; equal tokens where d < n."""
    count, n, d = batch.count, batch.n, batch.d
    frame = torch.linalg.qr(torch.randn(count, d, d, generator=generator, dtype=torch.float64)).Q.mT
    if n > d:
        x = (
            frame[:, :1].expand(-1, n, -1).clone()
            if place.cosine in (None, 1)
            else torch.full_like(batch.tokens, torch.nan)
        )
        return _put(batch, x, None)
    low = -1.0 / (n - 1) if n > 1 else -1.0
    share = torch.rand(count, 1, 1, generator=generator, dtype=torch.float64)
    rho = low + (1 - low) * (0.02 + 0.96 * share)
    if place.cosine is not None:
        rho = torch.full_like(rho, float(place.cosine))
    own = (1 - rho).clamp_min(0).sqrt()
    common = ((1 + (n - 1) * rho).clamp_min(0).sqrt() - own) / n
    axes = frame[:, :n]
    x = own * axes + common * axes.sum(1, keepdim=True)
    if batch.system.space is Space.EUCLIDEAN:
        x = x * torch.exp(0.7 * torch.randn(count, 1, 1, generator=generator, dtype=torch.float64))
    return _put(batch, x, None)


@PLACED.register(Polygonal)
def placed_polygonal(place: Polygonal, batch: Batch, generator: torch.Generator) -> Batch:
    """Antipodal pairs (even n), with a triangle (odd n) or two pairs in general position where scores are uniform."""
    uniform = batch.system.score is None
    if (
        not uniform and batch.system.score == batch.system.metric
    ):  # each token attends most to its own side: no such state
        return _put(batch, torch.full_like(batch.tokens, torch.nan), None)
    spread = float(torch.rand(1, generator=generator)) < 0.5
    if batch.n % 2 == 0 and not (uniform and batch.n > 2 and spread):
        return place_state(AntipodalAt(), batch, generator)
    if not uniform or batch.n < 2 or batch.d < 2:
        return _put(batch, torch.full_like(batch.tokens, torch.nan), None)
    frame = torch.linalg.qr(torch.randn(batch.count, batch.d, batch.d, generator=generator, dtype=torch.float64)).Q
    tokens: list[Tensor] = []
    if batch.n % 2:
        for turn in range(3):
            angle = 2 * math.pi * turn / 3
            tokens.append(math.cos(angle) * frame[..., 0] + math.sin(angle) * frame[..., 1])
    while len(tokens) < batch.n:
        w = torch.randn(batch.count, batch.d, generator=generator, dtype=torch.float64)
        w = w / torch.linalg.vector_norm(w, dim=-1, keepdim=True)
        tokens += [w, -w]
    return _put(batch, torch.stack(tokens, 1), None)


@PLACED.register(Clustering)
def placed_clustering(place: Clustering, batch: Batch, generator: torch.Generator) -> Batch:
    return clustered(batch, generator)


@PLACED.register(Zero)
def placed_zero(place: Zero, batch: Batch, generator: torch.Generator) -> Batch:
    return replace(batch, tokens=torch.zeros_like(batch.tokens), groups=(0,) * batch.n, _memory={})


@PLACED.register(ConsensusSet)
def placed_consensus_set(place: ConsensusSet, batch: Batch, generator: torch.Generator) -> Batch:
    x = torch.randn(batch.count, 1, batch.d, generator=generator, dtype=torch.float64)
    return _put(batch, x.expand(-1, batch.n, -1).clone(), (0,) * batch.n)


@PLACED.register(AtMostClusters)
def placed_at_most_clusters(place: AtMostClusters, batch: Batch, generator: torch.Generator) -> Batch:
    groups = tuple(i % place.count for i in range(batch.n))
    x = torch.randn(batch.count, place.count, batch.d, generator=generator, dtype=torch.float64)
    return _put(batch, x[:, list(groups)], groups)


@PLACED.register(SomeEquilibrium, Hemisphere)
def placed_some_equilibrium_or_hemisphere(place: Place, batch: Batch, generator: torch.Generator) -> Batch:
    x = torch.randn(batch.count, batch.n, batch.d, generator=generator, dtype=torch.float64)
    batch = _put(batch, x, None)
    if isinstance(place, Hemisphere):
        from eigentoken.numerics.instances.plans import HemispherePlan

        plan = Plan(batch.system, hemisphere=HemispherePlan(place.normal, place.left))
        return in_hemisphere(plan, batch, generator)
    return batch
