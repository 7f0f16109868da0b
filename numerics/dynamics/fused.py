"""All heads in one pass, for heads whose value matrix is the identity, in the coordinates of the tokens' span.

With ``x = c Q^T`` the scores of head h are ``c G_h c^T``, ``G_h = Q^T M_h Q``, and since no value matrix stands between
them the weights are added before they meet the tokens: ``u = (sum_h A_h) c`` is one product instead of one a head.  For
``M_h(t) = diag(s_h(t)) M'_h`` the product ``M'_h Q`` is made once, and the G_h of all heads and of all stages of a step
are one matrix product.  That product is most of the work, so a stage that has no weight in the result of a step takes
its G_h by interpolation in time from those of the other stages (:func:`lagrange`; the order is kept, see
:class:`eigentoken.numerics.dynamics.flows.Tableau`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from eigentoken.numerics.dynamics.matrices import RowScaled, compress
from eigentoken.numerics.dynamics.torch_algebra import mask_tensor

__all__ = ["FusedHeads", "lagrange", "product"]

#: How many numbers are scaled at once: about what the caches of one core hold.
CHUNK = 1 << 18

#: Causal attention is cut into blocks of about so many tokens, each of which sees only the tokens up to its last.
BLOCK, MOST_BLOCKS = 12, 8

#: Rows of the large product are filled up to a multiple of this: the kernels of the matrix product are so wide.
ROWS = 4


def lagrange(nodes: Sequence[float], at: float) -> list[float]:
    """Weights w with ``sum_k w_k p(nodes_k) = p(at)`` for every polynomial p of degree below ``len(nodes)``.

    >>> lagrange([0.0, 1.0], 0.25)
    [0.75, 0.25]
    """
    return [math.prod((at - other) / (node - other) for other in nodes if other != node) for node in nodes]


def product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """``a @ b`` for many small matrices: by numpy on the processor, where its loop over them is a fifth faster.

    ``out`` is a place of the right shape to write to, which may be a part of a larger tensor.
    """
    plain = a.device.type == "cpu" and a.dtype in {torch.float32, torch.float64}
    if not plain or a.requires_grad or b.requires_grad:
        return a @ b if out is None else out.copy_(a @ b)
    made = np.matmul(a.numpy(), b.numpy(), out=None if out is None else out.numpy())
    return torch.from_numpy(made) if out is None else out


class FusedHeads:
    """``u_i = scale sum_h sum_j a^h_ij c_j`` with ``a^h = softmax(c Q^T M_h(t) Q c^T)`` over the tokens of the mask.

    ``scores`` are the M_h: matrices, structured matrices or functions of time; ``basis`` is Q, (..., d, r).  With
    ``triangular`` the mask is causal and token i lies in the span of the first i columns of Q, as the triangular factor
    of a QR decomposition has it and causal attention keeps it: what is zero is then not multiplied.
    """

    def __init__(self, scores: Sequence[Any], basis: Tensor, mask: Any, scale: float, triangular: bool = False) -> None:
        self.triangular = triangular
        self.scores, self.basis, self.mask, self.scale = tuple(scores), basis, mask, scale
        r = basis.shape[-1]
        self.rows = functional.pad(basis.mT, (0, 0, 0, -r % ROWS)).contiguous()
        self._fixed = [compress(score, basis) for score in self.scores if not callable(score)]
        self._moving = [score for score in self.scores if callable(score)]
        self._sources: list[Tensor] = []
        self._products = self._found = torch.empty(0)
        self._ready: dict[Any, Tensor] = {}
        self._bias: Tensor | None = None

    def matrices(self, t: Any) -> Tensor:
        """The G_h(t) beside each other, (..., r, heads r); their order does not matter for the sum over heads."""
        key = t if self._moving else None
        if key not in self._ready:
            self.prepare([key])
        return self._ready[key]

    def prepare(self, times: Sequence[Any], between: Mapping[Any, Mapping[Any, float]] | None = None) -> None:
        """Make the matrices of several times together (the stages of a step); those of other times are forgotten.

        ``between`` says of which times the matrices are to be combined from those of other times: time -> weights.
        """
        if not self._moving and self._ready:
            return
        combined = {} if between is None or not self._moving else between
        wanted = [t for t in dict.fromkeys(times) if t not in combined] if self._moving else [None]
        kept = {t: self._ready[t].clone() for t in wanted if t in self._ready}  # what follows writes over the buffer
        new = [t for t in wanted if t not in kept]
        parts: list[list[Tensor]] = [list(self._fixed) for _ in new]
        modulated: list[list[RowScaled]] = []
        for score in self._moving:
            values = [score(t) for t in new]
            if all(isinstance(value, RowScaled) and value.scale.ndim == 1 for value in values):
                modulated.append(values)
            else:
                for made, value in zip(parts, values, strict=True):
                    made.append(compress(value, self.basis))
        if modulated and new:
            joined = self._modulated(modulated)
            for made, part in zip(parts, joined.chunk(len(new), dim=-1), strict=True):
                made.append(part)
        for t, made in zip(new, parts, strict=True):
            kept[t] = made[0] if len(made) == 1 else torch.cat(torch.broadcast_tensors(*made), dim=-1)
        for t, weights in combined.items():
            (first, weight), *others = weights.items()
            kept[t] = kept[first] * weight
            for other, weight in others:
                kept[t].add_(kept[other], alpha=weight)
        self._ready = kept

    def _modulated(self, heads: Sequence[Sequence[RowScaled]]) -> Tensor:
        """``Q^T diag(s_h(t)) (M'_h Q)`` for all times and heads, (..., r, times heads r).

        A few instances at a time: what is scaled is used while it is in the cache.
        """
        r, d = self.basis.shape[-1], self.basis.shape[-2]
        rows = self.rows.reshape(-1, *self.rows.shape[-2:])
        sources = [values[0].matrix for values in heads]
        if [id(source) for source in sources] != [id(source) for source in self._sources]:
            self._sources = sources
            self._products = torch.empty(len(sources), *rows.shape, dtype=rows.dtype, device=rows.device)
            for source, product in zip(sources, self._products, strict=True):
                torch.matmul(self.rows, source.mT, out=product.view(self.rows.shape))
        scales = torch.stack([torch.stack([value.scale for value in values]) for values in heads], dim=1).unsqueeze(-2)
        width = scales.shape[0] * len(heads) * r
        if self._found.shape[-1] != width:
            self._found = torch.empty(*rows.shape[:-1], width, dtype=rows.dtype, device=rows.device)
        found = self._found
        size = max(1, CHUNK // (width * d))
        scaled = torch.empty(min(size, len(rows)), *scales.shape[:2], r, d, dtype=rows.dtype, device=rows.device)
        products = self._products[..., :r, :].transpose(0, 1).unsqueeze(1)
        for begin in range(0, len(rows), size):
            part = slice(begin, begin + size)
            count = len(rows[part])
            torch.mul(products[part], scales, out=scaled[:count])
            torch.bmm(rows[part], scaled[:count].reshape(count, width, d).mT, out=found[part])
        return found[..., :r, :].reshape(*self.basis.shape[:-2], r, width)

    def bias(self, like: Tensor) -> Tensor | None:
        """0 where a token is seen and minus infinity where it is not; ``None`` for full attention."""
        n = like.shape[-2]
        if self._bias is None or self._bias.shape[-1] != n:
            allowed = mask_tensor(self.mask, n, like.device)
            if allowed is None:
                return None
            self._bias = torch.zeros(allowed.shape, dtype=like.dtype, device=like.device)
            self._bias.masked_fill_(~allowed, -math.inf)
        return self._bias

    def __call__(self, c: Tensor, t: Any = None) -> Tensor:
        matrices, bias, n = self.matrices(t), self.bias(c), c.shape[-2]
        blocks = min(max(1, round(n / BLOCK)), MOST_BLOCKS) if self.triangular else 1
        if blocks == 1:
            return self._push(c, c, matrices, bias).mul_(self.scale)
        cuts = [n * k // blocks for k in range(blocks + 1)]
        push = torch.zeros_like(c)
        for first, last in pairwise(cuts):
            seen, visible = c[..., :last, :last], None if bias is None else bias[first:last, first:last]
            self._push(seen[..., first:, :], seen, matrices, visible, push[..., first:last, :last])
        return push.mul_(self.scale)

    def _push(
        self, queries: Tensor, c: Tensor, matrices: Tensor, bias: Tensor | None, out: Tensor | None = None
    ) -> Tensor:
        """The pushes of the tokens ``c`` on the tokens ``queries``, in the first coordinates that these have, unscaled.

        ``bias`` is that of the last tokens of ``c``: what comes before them is seen by all queries.
        """
        r, step = c.shape[-1], matrices.shape[-2]
        total: Tensor | None = None
        for begin in range(0, matrices.shape[-1], step):
            scores = product(product(queries, matrices[..., :r, begin : begin + r]), c.mT)
            if bias is not None:
                scores[..., -bias.shape[-1] :].add_(bias)
            weights = torch.softmax(scores, dim=-1)
            total = weights if total is None else total.add_(weights)
        assert total is not None
        return product(total, c, out)
