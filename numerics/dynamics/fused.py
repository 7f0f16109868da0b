"""All heads in one pass, for heads whose value matrix is the identity, in the coordinates of the tokens' span.

With ``x = c Q^T`` the scores of head h are ``c G_h c^T``, ``G_h = Q^T M_h Q``
(:mod:`eigentoken.numerics.dynamics.compressed_scores`), and since no value matrix stands between them the weights are
added before they meet the tokens: ``u = (sum_h A_h) c`` is one product instead of one a head.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.compressed_scores import CompressedScore
from eigentoken.numerics.dynamics.products import exponentials, product, shares
from eigentoken.numerics.dynamics.torch_algebra import mask_tensor

__all__ = ["FusedHeads", "blocks"]

#: Causal attention is cut into blocks of about so many tokens, each of which sees only the tokens up to its last.
BLOCK, MOST_BLOCKS = 16, 8


def blocks(n: int, causal: bool) -> list[tuple[int, int]]:
    """The tokens from first to last of each block; one block where nothing is hidden.

    >>> blocks(50, True)
    [(0, 16), (16, 33), (33, 50)]
    """
    count = min(max(1, round(n / BLOCK)), MOST_BLOCKS) if causal else 1
    return list(pairwise(n * k // count for k in range(count + 1)))


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
        if len(cuts := blocks(n, self.triangular)) == 1:
            return self._push(c, c, matrices, seen)
        push = torch.zeros_like(c)
        for first, last in cuts:
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
        shares(weights, self.scale)
        return product(weights.sum(-3) if len(matrices) > 1 else weights.squeeze(-3), c, out)
