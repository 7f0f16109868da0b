"""The push of softmax heads on tokens that are not reduced to their span, on the processor: in place, without copies.

``u_i = sum_h F_h sum_j a^h_ij x_j`` as :meth:`eigentoken.theory.systems.system.System.sublayer` has it.  What differs is
the order of the work: the rows ``x_i^T M_h`` of all tokens meet the matrix in one product, the weights become what they
are in the place of the scores, tokens that causal attention hides are not multiplied, and heads without a value matrix
are added before they meet the tokens.

``singles`` are the same heads in float32, for half the price of a product or less.  What that changes of a push is measured on a
few tokens (:meth:`WholeHeads.rounding`): the integrator compares it with what a step may be wrong by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.fused import blocks
from eigentoken.numerics.dynamics.matrices import RowScaled
from eigentoken.numerics.dynamics.products import exponentials, plain, product, shares
from eigentoken.numerics.dynamics.torch_algebra import mask_tensor
from eigentoken.theory.systems.algebra import MaskValue, ParameterValue

__all__ = ["WholeHeads", "whole_heads"]

#: Below so many numbers the calls cost more than the work.
SMALL = 1 << 13
#: Fewer numbers are not worth the probe of what float32 scores change, which is made on so many tokens.
LARGE, PROBED = 1 << 16, 32
#: Entries of matrices up to this size are sums and exponents of float32 without overflow.
SINGLE_RANGE = 2.0**60


@dataclass(frozen=True, eq=False)
class WholeHeads:
    """The heads of one time: matrices F_h (``None``: the identity) and M_h that all instances share.

    ``singles``: the same in float32, where tokens in float32 may be pushed by these.
    """

    values: Sequence[Tensor | None]
    scores: Sequence[Tensor]
    mask: MaskValue
    over_root_d: bool
    singles: WholeHeads | None = None

    def rounding(self, x: Tensor) -> float:
        """What float32 changes of ``u``, at the worst of some tokens that are spread over all instances."""
        assert self.singles is not None
        n, d = x.shape[-2:]
        tokens = x.reshape(-1, n, d)
        at = torch.linspace(0, tokens.shape[0] * n - 1, min(PROBED, tokens.shape[0] * n)).long()
        some, others = tokens.reshape(-1, d)[at], tokens[at // n]
        allowed = mask_tensor(self.mask, n, x.device)
        hidden = None if allowed is None else ~allowed[at % n]
        exact, rounded = self._pushes(some, others, hidden), self.singles._pushes(some.float(), others.float(), hidden)
        return float(torch.linalg.vector_norm(rounded - exact, dim=-1).max()) * (d**-0.5 if self.over_root_d else 1.0)

    def _pushes(self, some: Tensor, others: Tensor, hidden: Tensor | None) -> Tensor:
        """The push on each of ``some`` tokens by the others of its instance, but for the factor of d."""
        total = torch.zeros_like(some)
        for value, score in zip(self.values, self.scores, strict=True):
            scores = torch.bmm(others, (some @ score).unsqueeze(-1)).squeeze(-1)
            weights = torch.softmax(scores if hidden is None else scores.masked_fill(hidden, -math.inf), -1)
            average = torch.bmm(weights.unsqueeze(1), others).squeeze(1)
            total += average if value is None else average @ value.mT
        return total

    def __call__(self, x: Tensor) -> Tensor:
        """``u`` for tokens (..., n, d), in their arithmetic."""
        if self.singles is not None and x.dtype is torch.float32:
            return self.singles(x)
        n, d = x.shape[-2:]
        causal = isinstance(self.mask, str) and self.mask == "causal"
        allowed = mask_tensor(self.mask, n, x.device)
        seen = None if allowed is None else allowed.to(x.dtype)
        tokens = x.reshape(-1, n, d).contiguous()
        rows = tokens.new_empty(len(self.scores), *tokens.shape)
        for score, place in zip(self.scores, rows, strict=True):
            product(tokens.view(-1, d), score, place.view(-1, d))
        together = all(value is None for value in self.values)
        push = torch.empty_like(tokens)
        for first, last in blocks(n, causal):
            visible, some = tokens[:, :last], slice(first, last)
            weights = tokens.new_empty(len(rows), len(tokens), last - first, last)
            for part, place in zip(rows, weights, strict=True):
                product(part[:, some], visible.mT, place)
            exponentials(weights, None if seen is None else seen[..., some, some if causal else slice(None)])
            shares(weights, d**-0.5 if self.over_root_d else 1.0)
            if together:
                push[:, some] = product(weights.sum(0) if len(weights) > 1 else weights[0], visible)
            else:  # the rows of these tokens are done: their averages take the place
                for part, some_weights in zip(rows, weights, strict=True):
                    product(some_weights, visible, part[:, some])
        return (push if together else self._valued(rows)).view(x.shape)

    def _valued(self, averages: Tensor) -> Tensor:
        """``sum_h F_h averages_h``."""
        total, d = torch.zeros_like(averages[0]), averages.shape[-1]
        for value, average in zip(self.values, averages, strict=True):
            if value is None:
                total += average
            else:
                total.view(-1, d).addmm_(average.view(-1, d), value.mT)
        return total


def whole_heads(
    heads: Sequence[tuple[ParameterValue, ParameterValue]],
    mask: MaskValue,
    over_root_d: bool,
    like: Tensor,
    single: bool = False,
) -> WholeHeads | None:
    """The heads, if they are plain matrices in the arithmetic of ``like`` that all its instances share; else ``None``.

    ``None`` also for few tokens, where the operations of the algebra one by one are faster.  A modulated
    score ``diag(s) M'`` is multiplied out, once for all tokens.  ``single``: in float32, too, where that has their range.
    """

    if like.numel() < SMALL:
        return None

    def fits(value: ParameterValue) -> bool:
        return isinstance(value, Tensor) and value.ndim == 2 and value.dtype == like.dtype and plain(value)

    scores = [m.dense() if isinstance(m, RowScaled) else m for _, m in heads]
    values = [v for v, _ in heads]
    own_mask = isinstance(mask, Tensor) and mask.ndim > 2
    if (
        not (heads and plain(like))
        or own_mask
        or not all(map(fits, scores))
        or not all(v is None or fits(v) for v in values)
    ):
        return None
    singles = None
    largest = max(float(each.abs().max()) for each in (*scores, *values) if each is not None)
    if single and like.numel() >= LARGE and largest < SINGLE_RANGE:
        floats = [None if each is None else each.float() for each in values]
        singles = WholeHeads(floats, [each.float() for each in scores], mask, over_root_d)
    return WholeHeads(values, scores, mask, over_root_d, singles)
