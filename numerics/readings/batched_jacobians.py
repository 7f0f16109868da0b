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

from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra, derivative_along, mask_tensor
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.readings.block_spectra import block_eigenvalues
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
    allowed = mask_tensor(batch.mask, batch.n)
    hidden = None if allowed is None else torch.where(allowed[list(rows)], 0.0, -math.inf)
    blocks, own = _parts(batch, batch.tokens[:, list(rows)], batch.tokens, hidden)
    places = torch.tensor(list(rows))
    blocks[:, torch.arange(len(places)), places] += own
    return blocks


def _parts(batch: Batch, chosen: Tensor, x: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """For the tokens ``chosen (B, R, d)``: the blocks ``(B, R, C, d, d)`` that the tokens ``x (B, C, d)`` have through their
    weights and places, and what a token has beside that in its own, ``(B, R, d, d)``.

    ``bias (R, C)`` is added to the scores: ``-inf`` where a token is hidden, the logarithm of the number of equal ones.
    """
    system = batch.system
    eye = torch.eye(batch.d, dtype=x.dtype)
    scale = 1 / math.sqrt(batch.d) if system.over_root_d else 1.0
    coupled: Any = 0.0
    alone: Any = 0.0
    push = torch.zeros_like(chosen)
    for value, score in system.heads(batch.parameters, 0.0):
        weights = scale * _weights(chosen, x, score, bias)
        mean = weights @ x
        push = push + (mean if value is None else mean @ value.mT)
        shares = weights[..., None, None] * (eye if value is None else value[:, None, None])
        if score is not None:
            away = x.unsqueeze(1) - mean.unsqueeze(2) / scale
            moved = weights.unsqueeze(-1) * (away if value is None else away @ value.mT.unsqueeze(1))
            shares = shares + moved.unsqueeze(-1) * (chosen @ score)[:, :, None, None, :]
            alone = alone + moved.mT @ (away @ score.mT.unsqueeze(1))
        coupled = coupled + shares
    if not isinstance(alone, Tensor):
        alone = torch.zeros(*chosen.shape, batch.d, dtype=x.dtype)
    return _projected(batch, chosen, push, coupled, alone)


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


def _weights(chosen: Tensor, x: Tensor, score: Any, bias: Tensor | None) -> Tensor:
    scores = torch.zeros(*chosen.shape[:2], x.shape[1], dtype=x.dtype) if score is None else chosen @ score @ x.mT
    return torch.softmax(scores if bias is None else scores + bias, dim=-1)


def _projected(batch: Batch, chosen: Tensor, push: Tensor, coupled: Tensor, alone: Tensor) -> tuple[Tensor, Tensor]:
    """The blocks of the push ``u_i``, and those of a token in itself, as blocks of the next state or of the velocity."""
    system = batch.system
    if system.space is Space.EUCLIDEAN:
        return coupled, alone
    metric = _metric(batch)
    eye = torch.eye(batch.d, dtype=chosen.dtype)
    if system.time is Time.MAP:
        alpha = batch.parameters["alpha"].reshape(-1, 1, 1)
        y = chosen + alpha * push
        norm = (y * _lowered(y, metric)).sum(-1, keepdim=True).sqrt()
        hat, reach = y / norm, (alpha / norm).unsqueeze(-1)
        coupled = reach.unsqueeze(2) * _without(hat, metric, coupled)
        return coupled, _without(hat, metric, eye / norm.unsqueeze(-1) + reach * alone)
    lowered = _lowered(push, metric)
    height = (chosen * lowered).sum(-1)
    back = height[..., None, None] * eye + chosen.unsqueeze(-1) * lowered.unsqueeze(-2)
    return _without(chosen, metric, coupled), _without(chosen, metric, alone) - back


def _without(unit: Tensor, metric: Tensor | None, blocks: Tensor) -> Tensor:
    """``(I - x x^T W) J`` for the blocks ``J (B, R, d, d)`` or ``(B, R, C, d, d)`` of each token of ``unit (B, R, d)``."""
    spread = unit if blocks.ndim == 4 else unit.unsqueeze(2)
    low = _lowered(unit, metric) if blocks.ndim == 4 else _lowered(unit, metric).unsqueeze(2)
    return blocks - spread.unsqueeze(-1) * (low.unsqueeze(-2) @ blocks)


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
        return BatchedEigenvalues(block_eigenvalues(small, small[:, :0, 0]), (1,) * (n * directions), system.time)
    labels = batch.groups
    first = [labels.index(label) for label in dict.fromkeys(labels)]
    sizes = [labels.count(labels[each]) for each in first]
    tokens = batch.tokens[:, first]
    blocks, own = _parts(batch, tokens, tokens, torch.tensor(sizes, dtype=torch.float64).log().expand(len(first), -1))
    frames = tangent_frames(batch, first)
    alone = frames.mT @ own @ frames
    quotient = (frames.mT.unsqueeze(2) @ blocks) @ frames.unsqueeze(1)
    quotient.diagonal(dim1=1, dim2=2).add_(alone.movedim(1, -1))
    several = [r for r, size in enumerate(sizes) if size > 1]
    values = block_eigenvalues(quotient, alone[:, several])
    counts = [1] * (len(first) * directions)
    for r in several:
        counts += [sizes[r] - 1] * directions
    return BatchedEigenvalues(values, tuple(counts), system.time)
