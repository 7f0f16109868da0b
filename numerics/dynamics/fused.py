"""All heads in one pass, for heads whose value matrix is the identity, in the coordinates of the tokens' span.

With ``x = c Q^T`` the scores of head h are ``c G_h c^T``, ``G_h = Q^T M_h Q``, and since no value matrix stands between
them the weights are added before they meet the tokens: ``u = (sum_h A_h) c`` is one product instead of one a head.  For
``M_h(t) = diag(s_h(t)) M'_h`` the product ``M'_h Q`` is made once, the G_h of all heads are one matrix product a time,
and the stages of a step that fall on one time share it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.matrices import RowScaled, compress
from eigentoken.numerics.dynamics.torch_algebra import mask_tensor

__all__ = ["FusedHeads"]

#: How many numbers are scaled at once: about what the caches of one core hold.
CHUNK = 1 << 18


class FusedHeads:
    """``u_i = scale sum_h sum_j a^h_ij c_j`` with ``a^h = softmax(c Q^T M_h(t) Q c^T)`` over the tokens of the mask.

    ``scores`` are the M_h: matrices, structured matrices or functions of time; ``basis`` is Q, (..., d, r).
    """

    def __init__(self, scores: Sequence[Any], basis: Tensor, mask: Any, scale: float) -> None:
        self.scores, self.basis, self.mask, self.scale = tuple(scores), basis, mask, scale
        self.rows = basis.mT.contiguous()
        self._fixed = [compress(score, basis) for score in self.scores if not callable(score)]
        self._moving = [score for score in self.scores if callable(score)]
        self._sources: list[Tensor] = []
        self._products = torch.empty(0)
        self._last: tuple[Any, Tensor] | None = None
        self._bias: Tensor | None = None

    def matrices(self, t: Any) -> Tensor:
        """The G_h(t) beside each other, (..., r, heads r); their order does not matter for the sum over heads."""
        if self._last is not None and (not self._moving or self._last[0] == t):
            return self._last[1]
        modulated: list[RowScaled] = []
        parts = list(self._fixed)
        for value in (score(t) for score in self._moving):
            if isinstance(value, RowScaled) and value.scale.ndim == 1:
                modulated.append(value)
            else:
                parts.append(compress(value, self.basis))
        if modulated:
            parts.append(self._modulated(modulated))
        joined = parts[0] if len(parts) == 1 else torch.cat(torch.broadcast_tensors(*parts), dim=-1)
        self._last = (t, joined)
        return joined

    def _modulated(self, values: Sequence[RowScaled]) -> Tensor:
        """``Q^T diag(s_h) (M'_h Q)`` for all h, a few instances at a time: what is scaled is used while in the cache."""
        r, d = self.rows.shape[-2:]
        if [id(value.matrix) for value in values] != [id(source) for source in self._sources]:
            self._sources = [value.matrix for value in values]
            products = [(self.rows @ source.mT).reshape(-1, 1, r, d) for source in self._sources]
            self._products = torch.cat(products, dim=1)
        scales = torch.stack([value.scale for value in values]).unsqueeze(-2)
        rows, width = self.rows.reshape(-1, r, d), len(values) * r
        found = torch.empty(len(rows), r, width, dtype=rows.dtype, device=rows.device)
        size = max(1, CHUNK // (width * d))
        scaled = torch.empty_like(self._products[:size])
        for begin in range(0, len(rows), size):
            part = slice(begin, begin + size)
            count = len(rows[part])
            torch.mul(self._products[part], scales, out=scaled[:count])
            torch.bmm(rows[part], scaled[:count].reshape(count, width, d).mT, out=found[part])
        return found.reshape(*self.rows.shape[:-2], r, width)

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
        r = c.shape[-1]
        pulled = c @ self.matrices(t)
        bias = self.bias(c)
        total: Tensor | None = None
        for h in range(pulled.shape[-1] // r):
            scores = pulled[..., h * r : (h + 1) * r] @ c.mT
            weights = torch.softmax(scores if bias is None else scores.add_(bias), dim=-1)
            total = weights if total is None else total.add_(weights)
        assert total is not None
        return (total @ c).mul_(self.scale)
