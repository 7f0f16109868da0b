"""The torch twin of every system: the operations of :mod:`eigentoken.theory.systems.algebra` on ``(..., n, d)`` arrays.

A state is a tensor whose last two axes are tokens and coordinates; whatever stands before them is a batch of instances.
Uniform weights never become an n x n array: the full average is a mean, the causal one a running mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.matrices import act, pair_scores
from eigentoken.theory.systems.algebra import MaskValue, Number, ParameterValue, State, checked_function

__all__ = ["TorchAlgebra", "UniformWeights", "derivative_along", "mask_tensor"]


def derivative_along(function: Callable[[Tensor], Tensor], x: Tensor, along: Tensor) -> Tensor:
    """``D function(x) [along]``: what the transposed derivative does to weights is linear in them, and is differentiated by them.

    Twice backwards, because forwards torch takes each product with a constant apart in Python.

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> derivative_along(lambda each: (each**3).sum(), x, torch.tensor([1.0, 0.0], dtype=torch.float64))
    tensor(3., dtype=torch.float64)
    """
    start = x.detach().requires_grad_(True)
    with torch.enable_grad():
        value = function(start)
        if not value.requires_grad:  # it does not depend on x
            return torch.zeros_like(value)
        weights = torch.zeros_like(value, requires_grad=True)
        (pulled,) = torch.autograd.grad(value, start, weights, create_graph=True)
        (pushed,) = torch.autograd.grad(pulled, weights, along)
    return pushed


@dataclass(frozen=True)
class UniformWeights:
    """``a_ij = scale / #(unmasked j)`` kept as a rule, not an array; ``mask`` is ``None``, "causal" or boolean."""

    mask: Tensor | str | None
    scale: float

    def average(self, x: Tensor) -> Tensor:
        if self.mask is None:
            return (x.mean(-2, keepdim=True) * self.scale).expand_as(x)
        if isinstance(self.mask, str):
            counts = torch.arange(1, x.shape[-2] + 1, dtype=x.dtype, device=x.device).unsqueeze(-1)
            return x.cumsum(-2) * (self.scale / counts)
        return self.dense(x) @ x

    def dense(self, x: Tensor) -> Tensor:
        """The n x n array, for those who ask for it."""
        n = x.shape[-2]
        allowed = torch.ones(n, n, dtype=torch.bool, device=x.device) if self.mask is None else self.mask
        if isinstance(allowed, str):
            allowed = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        weights = allowed.to(x.dtype)
        return self.scale * weights / weights.sum(-1, keepdim=True)


@dataclass(frozen=True)
class TorchAlgebra:
    """Batched torch arithmetic for :class:`eigentoken.theory.systems.system.System`.

    ``root_dimension`` replaces d in the weights that are divided by ``sqrt(d)``: needed when the tokens are written in
    the coordinates of a subspace.  Masks may be ``None`` or "full", "causal", a boolean tensor or a 0/1 matrix.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    >>> system("oja-flow").advance(TorchAlgebra(), {"V": [[1, 0], [0, 0]]}, x)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.0000]], dtype=torch.float64)
    """

    root_dimension: int | None = None

    def attention(
        self, x: Tensor, score: ParameterValue, mask: MaskValue, over_root_d: bool
    ) -> Tensor | UniformWeights:
        scale = 1.0 / math.sqrt(self.root_dimension or x.shape[-1]) if over_root_d else 1.0
        if score is None:
            causal = isinstance(mask, str) and mask == "causal"
            return UniformWeights("causal" if causal else mask_tensor(mask, x.shape[-2], x.device), scale)
        scores = pair_scores(score, x)
        allowed = mask_tensor(mask, x.shape[-2], x.device)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        return weights * scale if over_root_d else weights

    def average(self, weights: Tensor | UniformWeights, x: Tensor) -> Tensor:
        return weights.average(x) if isinstance(weights, UniformWeights) else weights @ x

    def apply(self, matrix: ParameterValue, x: Tensor) -> Tensor:
        return act(matrix, x)

    def add(self, x: Tensor, u: State, step: Number = 1) -> Tensor:
        pushed = u if isinstance(u, Tensor) else torch.as_tensor(u, dtype=x.dtype, device=x.device)
        if isinstance(step, Tensor):
            return x + (step.reshape((*step.shape, 1, 1)) if step.ndim and step.ndim < x.ndim else step) * pushed
        return x + pushed if isinstance(step, int) and step == 1 else torch.add(x, pushed, alpha=float(step))

    def normalise(self, y: Tensor, metric: ParameterValue = None) -> Tensor:
        if metric is None:
            return y / torch.linalg.vector_norm(y, dim=-1, keepdim=True)
        return y / (y * act(metric, y)).sum(-1, keepdim=True).sqrt()

    def tangent(self, x: Tensor, u: Tensor, metric: ParameterValue = None) -> Tensor:
        height = (x * act(metric, u)).sum(-1, keepdim=True)
        return torch.addcmul(u, height, x, value=-1)

    def scores(self, x: Tensor, matrix: ParameterValue) -> Tensor:
        return x @ x.mT if matrix is None else pair_scores(matrix, x)

    def function(self, name: str, values: Tensor) -> Tensor:
        result: Tensor = getattr(torch, checked_function(name))(values)
        return result

    def masked(self, weights: Tensor, mask: MaskValue) -> Tensor:
        allowed = mask_tensor(mask, weights.shape[-1], weights.device)
        return weights if allowed is None else weights.masked_fill(~allowed, 0.0)

    def shares(self, weights: Tensor) -> Tensor:
        return weights / weights.sum(-1, keepdim=True)

    def hardest(self, scores: Tensor, mask: MaskValue) -> Tensor:
        allowed = mask_tensor(mask, scores.shape[-1], scores.device)
        seen = scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
        return self.shares((seen == seen.amax(-1, keepdim=True)).to(scores.dtype))

    def product(self, a: Tensor, b: Tensor) -> Tensor:
        return a * b

    def scale(self, x: Tensor, number: Number) -> Tensor:
        if isinstance(number, Tensor):  # one number, or one for each instance of a batch
            return x * (number.reshape((*number.shape, 1, 1)) if number.ndim else number)
        return x * float(number)

    def shift(self, x: Tensor, vector: Any) -> Tensor:
        if vector is None:
            return x
        added = vector if isinstance(vector, Tensor) else torch.as_tensor(vector, dtype=x.dtype, device=x.device)
        return x + added.unsqueeze(-2)


def mask_tensor(mask: MaskValue, n: int, device: torch.device | str = "cpu") -> Tensor | None:
    """A mask as a boolean tensor, ``None`` for full attention; refuses a token that sees nobody.

    >>> mask_tensor("causal", 2)
    tensor([[ True, False],
            [ True,  True]])
    """
    if mask is None or (isinstance(mask, str) and mask == "full"):
        return None
    if isinstance(mask, Tensor) and mask.dtype is torch.bool:
        return mask
    if isinstance(mask, str):
        if mask != "causal":
            raise ValueError(f"mask must be 'full', 'causal' or a 0/1 matrix, got {mask!r}")
        return torch.ones(n, n, dtype=torch.bool, device=device).tril()
    rows = mask.tolist() if isinstance(mask, Tensor) else [list(row) for row in mask]
    return _checked_mask(rows, n).to(device)


def _checked_mask(rows: Sequence[Sequence[Any]], n: int) -> Tensor:
    if len(rows) != n or any(len(row) != n for row in rows):
        raise ValueError(f"mask must be {n} x {n} for {n} tokens, got {len(rows)} rows: one row a token")
    entries = torch.tensor([[float(entry) for entry in row] for row in rows])
    if not torch.all((entries == 0) | (entries == 1)):
        raise ValueError("mask entries must be 0 or 1: 1 where token i attends to token j")
    blind = (entries.sum(-1) == 0).nonzero().flatten().tolist()
    if blind:
        raise ValueError(f"mask row {blind[0]} is all zero: every token must see at least one token")
    return entries.bool()
