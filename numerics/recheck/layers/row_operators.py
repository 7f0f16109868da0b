"""The bounds of BD-J2 and BD-J3 on the norm of a Jacobian in floats with the re-check's own error bounds: quick, near balls.

Every array is a stack of floats with a bound on how far, in the Frobenius norm, the true matrix may be from it; a product with
inner size k errs by at most ``k u' |A|_F |B|_F`` (:mod:`eigentoken.numerics.recheck.matrices.floats`).  With floats R such that
``R^T R - O^T O`` is certainly semidefinite, ``|O M| <= |R M|``: R is the Cholesky factor of ``O^T O + delta I``, and delta
pays for its residual.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.recheck.matrices.floats import FLOOR, U, spectral_above, spectral_above_each

__all__ = ["MORE", "NearStack", "dominating", "exact_stack", "row_operator_above", "size_above"]

Floats = NDArray[np.float64]
MORE = 1 + 2.0**-40  # pays for the few roundings of scalar bookkeeping


def size_above(a: Floats) -> Floats:
    """At least the Frobenius norm of each matrix (the last two axes)."""
    squares = np.einsum("...ij,...ij->...", a, a)
    return np.asarray(np.sqrt(squares) * (1 + a.shape[-1] * a.shape[-2] * U) * MORE + FLOOR)


@dataclass(frozen=True, eq=False)
class NearStack:
    """Matrices, each within ``off`` of the true one in the Frobenius norm."""

    floats: Floats
    off: Floats

    @property
    def size(self) -> Floats:
        """At least the norm of the floats."""
        return size_above(self.floats)

    def times(self, other: NearStack) -> NearStack:
        k = self.floats.shape[-1]
        mine, others = self.size, other.size
        rounding = (k + 2) * U * mine * others
        return NearStack(
            self.floats @ other.floats, (rounding + self.off * (others + other.off) + mine * other.off) * MORE + FLOOR
        )

    def minus(self, other: NearStack) -> NearStack:
        found = self.floats - other.floats
        return NearStack(found, (self.off + other.off + 2 * U * size_above(found)) * MORE + FLOOR)

    @property
    def turned(self) -> NearStack:
        return NearStack(np.swapaxes(self.floats, -1, -2), self.off)


def exact_stack(values: Any) -> NearStack:
    floats = np.asarray(values, dtype=np.float64)
    return NearStack(floats, np.zeros(floats.shape[:-2]))


def dominating(matrix: Floats) -> NearStack | None:
    """R (upper triangular, exact floats) with ``|matrix y| <= |R y|`` for every y; None where none was shown."""
    whole = exact_stack(matrix)
    gram = whole.turned.times(whole)
    n, room = gram.floats.shape[0], float(gram.off) + 64 * (gram.floats.shape[0] + 8) * U * float(gram.size)
    target = 0.5 * (gram.floats + gram.floats.T)
    target[np.diag_indices(n)] += 2 * room + FLOOR
    try:
        factor = exact_stack(np.linalg.cholesky(target).T)
    except np.linalg.LinAlgError:
        return None
    rest = factor.turned.times(factor).minus(exact_stack(target))
    # R^T R >= target - |rest|, target >= gram + 2 room - rounding, gram >= the true one - off
    lost = (
        float(size_above(rest.floats)) + float(rest.off) + float(gram.off) + 8 * U * float(size_above(target))
    ) * MORE
    return factor if math.isfinite(lost) and lost < 2 * room else None


def row_operator_above(head: Mapping[str, Any], seen: Any, weights: Floats, off: Floats) -> tuple[float, float] | None:
    """At least ``sqrt(max_j sum_i a_ij t_i^2) + max_i |O M_i Q| / scale``, and the norm by blocks of BD-J3; None where
    floats show none.

    ``t_i^2 = |O V|^2 + |q_i|^2 |O C_i O^T|``; C_i and M_i: the covariances of values with values, and with keys, under row i
    of the attention weights, which are within ``off`` of ``weights`` entry by entry.
    """
    x, scale = np.asarray(seen, dtype=np.float64), float(head["scale"])
    Q, K, V, O = (np.asarray(head[name], dtype=np.float64) for name in "QKVO")
    R, S = dominating(O), dominating(Q.T)
    if R is None or S is None or not (np.isfinite(weights).all() and np.isfinite(off).all() and scale > 0):
        return None
    n = len(x)
    values, keys = (exact_stack(x).times(exact_stack(each.T)) for each in (V, K))
    asked = exact_stack(x).times(exact_stack(Q.T))
    if head.get("q_bias") is not None:
        shift = np.broadcast_to(np.asarray(head["q_bias"], dtype=np.float64), asked.floats.shape)
        asked = asked.minus(exact_stack(-shift))
    rows = NearStack(asked.floats[:, None, :], np.full(n, float(asked.off))).times(exact_stack(K))
    lengths = (rows.size + rows.off) / scale * MORE
    attended = NearStack(weights[:, None, :], size_above(off[:, None, :]))
    means_v, means_k = attended.times(values), attended.times(keys)
    weighted_floats = weights[:, :, None] * values.floats
    largest = np.abs(weights).max(axis=1) + off.max(axis=1)
    slip = largest * float(values.off) + off.max(axis=1) * float(values.size) + 2 * U * size_above(weighted_floats)
    weighted = NearStack(np.swapaxes(weighted_floats, 1, 2), slip * MORE + FLOOR)
    spread = weighted.times(values).minus(means_v.turned.times(means_v))
    mixed = weighted.times(keys).minus(means_v.turned.times(means_k))
    outer, inner = R.times(spread).times(R.turned), R.times(mixed).times(S.turned)
    through = R.times(exact_stack(V))
    whole = (spectral_above(through.floats) + float(through.off)) * MORE
    sharp = (whole * whole + lengths * lengths * (spectral_above_each(outer.floats) + outer.off)) * MORE
    own = (spectral_above_each(inner.floats) + inner.off) / scale * MORE
    columns = (np.abs(weights) + off).T @ sharp * MORE
    placed, middles = values.times(R.turned), means_v.times(R.turned)
    apart = placed.floats[None] - middles.floats
    reach = np.sqrt((apart * apart).sum(axis=-1)) * (1 + apart.shape[-1] * U) * MORE
    reach = (reach * MORE + (float(placed.off) + middles.off)[:, None]) * MORE + FLOOR
    blocks = (np.abs(weights) + off) * (whole + reach * lengths[:, None]) * MORE
    blocks[np.arange(n), np.arange(n)] += own
    by_rows = float((math.sqrt(float(columns.max())) + float(own.max())) * MORE)
    return by_rows, spectral_above(blocks) * MORE
