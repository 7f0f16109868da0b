"""Spectra of intrinsic Jacobians for thousands of instances at once, in closed form (PM-L10).

``du_i/dx_l = F [a_il (I + (x_l - xbar_i) x_i^T M) + delta_il C_i M^T]`` summed over the heads, and then

* map: ``(1/r_i) (I - yhat_i yhat_i^T W) (delta_il I + alpha du_i/dx_l)``,
* flow: ``(I - x_i x_i^T W) du_i/dx_l - delta_il (x_i^T W u_i + x_i u_i^T W)``.

Where tokens coincide in groups and everybody sees everybody, zero-sum perturbations inside a group split off: the
spectrum is that of the quotient (one token a group) and, for each group of m tokens, ``J_ii - J_il`` (m - 1 times).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.certified.eigen import eigvals
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra, derivative_along, mask_tensor
from eigentoken.numerics.instances.batches import Batch
from eigentoken.theory.systems.system import Space, Time

__all__ = ["BatchedEigenvalues", "jacobian_rows", "spectrum", "tangent_frames"]


@dataclass(frozen=True, eq=False)
class BatchedEigenvalues:
    """Distinct classes of eigenvalues: values ``(B, m)`` with one multiplicity for each column."""

    values: Tensor
    counts: tuple[int, ...]
    time: Time

    def worst(self) -> Tensor:
        """Spectral radius of a map, largest real part of a flow; ``-inf`` where there is no direction."""
        if self.values.shape[-1] == 0:
            return torch.full((len(self.values),), -torch.inf, dtype=torch.float64)
        size = self.values.abs() if self.time is Time.MAP else self.values.real
        return size.amax(-1)

    def margin(self) -> Tensor:
        """Above zero where a perturbation grows: spectral radius minus 1, or the largest real part."""
        return self.worst() - (1.0 if self.time is Time.MAP else 0.0)

    def all(self) -> Tensor:
        """Every eigenvalue as often as it occurs, ``(B, n (d - 1))``."""
        return torch.repeat_interleave(self.values, torch.tensor(self.counts, dtype=torch.long), dim=-1)


def jacobian_rows(batch: Batch, rows: Sequence[int]) -> Tensor:
    """The blocks ``d advance_i / d x_l`` for i in ``rows``: ``(B, R, n, d, d)``."""
    if batch.system.rotary is not None or not batch.system.standard:
        return _by_columns(batch, rows)
    x = batch.tokens
    system, n, d = batch.system, batch.n, batch.d
    eye = torch.eye(d, dtype=x.dtype)
    own = torch.zeros(len(rows), n, dtype=x.dtype)
    own[torch.arange(len(rows)), torch.tensor(list(rows))] = 1.0
    allowed = mask_tensor(batch.mask, n)
    scale = 1 / math.sqrt(d) if system.over_root_d else 1.0
    chosen = x[:, list(rows)]
    total = torch.zeros(batch.count, len(rows), n, d, d, dtype=x.dtype)
    push = torch.zeros_like(chosen)
    for value, score in system.heads(batch.parameters, 0.0):
        weights = _weights(chosen, x, score, None if allowed is None else allowed[list(rows)])
        mean = weights @ x
        inner = weights[..., None, None] * eye
        if score is not None:
            turned = chosen @ score  # rows x_i^T M
            away = x.unsqueeze(1) - mean.unsqueeze(2)
            inner = inner + torch.einsum("brl,brla,brc->brlac", weights, away, turned)
            spread = torch.einsum("brl,brla,brlc->brac", weights, away, away) @ score.mT.unsqueeze(1)
            inner = inner + own[None, :, :, None, None] * spread.unsqueeze(2)
        total = total + scale * (inner if value is None else torch.einsum("bij,brljk->brlik", value, inner))
        push = push + scale * (mean if value is None else mean @ value.mT)
    return _projected(batch, chosen, push, total, own)


def _by_columns(batch: Batch, rows: Sequence[int]) -> Tensor:
    """The same blocks by differentiating the system itself: scores that depend on the positions, other equations."""
    problem = Problem(batch.system, batch.parameters, batch.mask, TorchAlgebra())
    columns = []
    for l in range(batch.n):
        for c in range(batch.d):
            along = torch.zeros_like(batch.tokens)
            along[:, l, c] = 1.0
            columns.append(derivative_along(lambda x: problem.advance(x, 0.0), batch.tokens, along))
    full = torch.stack(columns, -1).reshape(batch.count, batch.n, batch.d, batch.n, batch.d)
    return full[:, list(rows)].permute(0, 1, 3, 2, 4)


def _weights(chosen: Tensor, x: Tensor, score: Any, allowed: Tensor | None) -> Tensor:
    scores = torch.zeros(*chosen.shape[:2], x.shape[1], dtype=x.dtype) if score is None else chosen @ score @ x.mT
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return torch.softmax(scores, dim=-1)


def _projected(batch: Batch, chosen: Tensor, push: Tensor, total: Tensor, own: Tensor) -> Tensor:
    system, d = batch.system, batch.d
    if system.space is Space.EUCLIDEAN:
        return total
    metric = _metric(batch)
    eye = torch.eye(d, dtype=chosen.dtype)
    if system.time is Time.MAP:
        alpha = batch.parameters["alpha"].reshape(-1, 1, 1)
        y = chosen + alpha * push
        norm = (y * _lowered(y, metric)).sum(-1).sqrt()
        hat = y / norm.unsqueeze(-1)
        project = (eye - hat.unsqueeze(-1) * _lowered(hat, metric).unsqueeze(-2)) / norm[..., None, None]
        inner = own[None, :, :, None, None] * eye + alpha[..., None, None] * total
        return project.unsqueeze(2) @ inner
    project = eye - chosen.unsqueeze(-1) * _lowered(chosen, metric).unsqueeze(-2)
    lowered = _lowered(push, metric)
    height = (chosen * lowered).sum(-1)
    back = height[..., None, None] * eye + chosen.unsqueeze(-1) * lowered.unsqueeze(-2)
    return project.unsqueeze(2) @ total - own[None, :, :, None, None] * back.unsqueeze(2)


def _metric(batch: Batch) -> Tensor | None:
    name = batch.system.metric
    if name is None:
        return None
    value = batch.named(name)
    return value(0.0) if callable(value) else value


def _lowered(x: Tensor, metric: Tensor | None) -> Tensor:
    return x if metric is None else x @ metric


def tangent_frames(batch: Batch, rows: Sequence[int]) -> Tensor:
    """Orthonormal bases of the tangent spaces at the tokens of ``rows``: ``(B, R, d, d - 1)`` (all of R^d, Euclidean)."""
    if batch.system.space is Space.EUCLIDEAN:
        return torch.eye(batch.d, dtype=torch.float64).expand(batch.count, len(rows), batch.d, batch.d)
    normal = _lowered(batch.tokens[:, list(rows)], _metric(batch))
    unit = normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)
    side = torch.where(unit[..., :1] < 0, -1.0, 1.0).to(unit.dtype)
    mirror = torch.cat([unit[..., :1] + side, unit[..., 1:]], -1)  # Householder: sends the normal to the first axis
    scale = 2 / mirror.square().sum(-1)[..., None, None]
    reflection = torch.eye(batch.d, dtype=unit.dtype) - scale * mirror.unsqueeze(-1) * mirror.unsqueeze(-2)
    return reflection[..., 1:]


def spectrum(batch: Batch) -> BatchedEigenvalues:
    """The intrinsic spectrum at the tokens of the batch, taken as an equilibrium."""
    system, n, d = batch.system, batch.n, batch.d
    directions = d if system.space is Space.EUCLIDEAN else d - 1
    if directions == 0:
        return BatchedEigenvalues(torch.zeros(batch.count, 0, dtype=torch.complex128), (), system.time)
    if batch.groups is None or batch.mask is not None or system.rotary is not None or not system.standard:
        rows = range(n)
        blocks = jacobian_rows(batch, list(rows))
        frames = tangent_frames(batch, list(rows))
        small = torch.einsum("bria,brlij,bljc->brlac", frames, blocks, frames)
        full = small.permute(0, 1, 3, 2, 4).reshape(batch.count, n * directions, n * directions)
        return BatchedEigenvalues(_eigenvalues(full), (1,) * (n * directions), system.time)
    labels = batch.groups
    first = [labels.index(label) for label in dict.fromkeys(labels)]
    members = [[i for i, label in enumerate(labels) if label == labels[rep]] for rep in first]
    blocks = jacobian_rows(batch, first)
    frames = tangent_frames(batch, first)
    summed = torch.stack([blocks[:, :, group].sum(2) for group in members], 2)
    small = torch.einsum("bria,brlij,bljc->brlac", frames, summed, frames)
    m = len(first)
    quotient = small.permute(0, 1, 3, 2, 4).reshape(batch.count, m * directions, m * directions)
    values, counts = [_eigenvalues(quotient)], [1] * (m * directions)
    for r, group in enumerate(members):
        if len(group) > 1:
            difference = blocks[:, r, group[0]] - blocks[:, r, group[1]]
            inside = frames[:, r].mT @ difference @ frames[:, r]
            values.append(_eigenvalues(inside))
            counts += [len(group) - 1] * directions
    return BatchedEigenvalues(torch.cat(values, -1), tuple(counts), system.time)


def _eigenvalues(matrices: Tensor) -> Tensor:
    finite = torch.isfinite(matrices).all(-1).all(-1)
    ready = torch.where(finite[:, None, None], matrices, torch.zeros_like(matrices))
    values = eigvals(ready)
    return torch.where(finite.unsqueeze(-1), values, torch.full_like(values, torch.nan))
