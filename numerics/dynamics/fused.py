"""All heads in one pass, for heads whose value matrix is the identity, in the coordinates of the tokens' span.

With ``x = c Q^T`` the scores of head h are ``c G_h c^T``, ``G_h = Q^T M_h Q``
(:mod:`eigentoken.numerics.dynamics.compressed_scores`), and since no value matrix stands between them the weights are
added before they meet the tokens: ``u = (sum_h A_h) c`` is one product instead of one a head.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.compressed_scores import CompressedScore, plain, product
from eigentoken.numerics.dynamics.torch_algebra import mask_tensor

__all__ = ["FusedHeads"]

#: Causal attention is cut into blocks of about so many tokens, each of which sees only the tokens up to its last.
BLOCK, MOST_BLOCKS = 16, 8


class FusedHeads:
    """``u_i = scale sum_h sum_j a^h_ij c_j`` with ``a^h = softmax(c Q^T M_h(t) Q c^T)`` over the tokens of the mask.

    ``scores`` are the M_h: matrices, structured matrices or functions of time; ``basis`` is Q, (..., d, r).  With
    ``triangular`` the mask is causal and token i lies in the span of the first i columns of Q, as the triangular factor
    of a QR decomposition has it and causal attention keeps it: what is zero is then not multiplied.
    """

    def __init__(self, scores: Sequence[Any], basis: Tensor, mask: Any, scale: float, triangular: bool = False) -> None:
        self.scores = tuple(CompressedScore(score, basis) for score in scores)
        self.mask, self.scale, self.triangular = mask, scale, triangular
        self._seen: Tensor | None = None

    def prepare(self, times: Sequence[Any], within: float = 0.0) -> None:
        """Make the matrices of several times together (the stages of a step), see :meth:`CompressedScore.prepare`."""
        for score in self.scores:
            score.prepare(times, within)

    def seen(self, like: Tensor) -> Tensor | None:
        """1 where a token is seen and 0 where it is not; ``None`` for full attention."""
        n = like.shape[-2]
        if self._seen is None or self._seen.shape[-1] != n:
            allowed = mask_tensor(self.mask, n, like.device)
            self._seen = None if allowed is None else allowed.to(like.dtype)
        return self._seen

    def __call__(self, c: Tensor, t: Any = None) -> Tensor:
        matrices, seen, n = [score.at(t) for score in self.scores], self.seen(c), c.shape[-2]
        blocks = min(max(1, round(n / BLOCK)), MOST_BLOCKS) if self.triangular else 1
        if blocks == 1:
            return self._push(c, c, matrices, seen)
        cuts = [n * k // blocks for k in range(blocks + 1)]
        push = torch.zeros_like(c)
        for first, last in pairwise(cuts):
            visible = None if seen is None else seen[first:last, first:last]
            whole = c[..., :last, :last]
            self._push(whole[..., first:, :], whole, matrices, visible, push[..., first:last, :last])
        return push

    def _push(
        self, queries: Tensor, c: Tensor, matrices: Sequence[Tensor], seen: Tensor | None, out: Tensor | None = None
    ) -> Tensor:
        """The pushes of the tokens ``c`` on the tokens ``queries``, in the first coordinates that these have.

        ``seen`` is that of the last tokens of ``c``: what comes before them is seen by all queries.
        """
        count, r = queries.shape[-2], c.shape[-1]
        joined = queries.new_empty(*c.shape[:-2], len(matrices) * count, r)
        for k, matrix in enumerate(matrices):
            product(queries, matrix[..., :r, :r], joined[..., k * count : (k + 1) * count, :])
        weights = exponentials(product(joined, c.mT).unflatten(-2, (len(matrices), count)), seen)
        weights.mul_(weights.sum(-1, keepdim=True).reciprocal_().mul_(self.scale))
        return product(weights.sum(-3) if len(matrices) > 1 else weights.squeeze(-3), c, out)


def exponentials(scores: Tensor, seen: Tensor | None = None) -> Tensor:
    """``exp(scores)`` in place, 0 where the last tokens are not ``seen``.

    Where the numbers would leave the range of the arithmetic each row is divided by its largest: a weight is a quotient
    of these, so that does not matter.

    >>> exponentials(torch.tensor([[1000.0, 2000.0], [0.0, 0.0]]), torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([[1., 0.],
            [1., 1.]])
    """
    low, high = (float(each) for each in torch.aminmax(scores))
    most = math.log(torch.finfo(scores.dtype).max) / 2
    last = scores if seen is None else scores[..., -seen.shape[-1] :]
    if not -most < low <= high < most:
        if seen is not None:
            last.masked_fill_(seen == 0, -math.inf)
        scores.sub_(scores.amax(-1, keepdim=True))
    if plain(scores):
        np.exp(scores.numpy(), out=scores.numpy())
    else:
        scores.exp_()
    if seen is not None:
        last.mul_(seen)
    return scores
