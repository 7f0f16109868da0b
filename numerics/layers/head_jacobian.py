"""The Jacobian of one head at given tokens: the row-operator bound of BD-J2, certified, and the norm by power iteration.

With ``v_j = V x_j``, ``k_j = K x_j`` and the weights a_ij, ``S_i = diag(sqrt a_i) (v - mean_i v)`` (n, d_h), and the same T_i
of the keys: ``|U C_i U^T| = |S_i O^T|^2`` and ``U C_i P^T = O S_i^T T_i Q / scale``: everything has the size of a head.  An
orthogonal factor of O (or Q^T) is off by what its Gram matrix and the residual show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from eigentoken.numerics.certified.norms import float_norm
from eigentoken.numerics.certified.rounding import UNIT, Array, frobenius_above, inflate
from eigentoken.numerics.layers.certified_attention import CONSTANT, Balls, exact, linear, times

__all__ = ["head_norms", "jacobian_bound", "jacobian_norm", "norm_above", "norms_above"]

#: Steps of the power iteration: what it finds is at most the norm.
STEPS = 40


def norm_above(matrix: Balls) -> float:
    """At least the spectral norm of every matrix in the balls."""
    return float(norms_above(Balls(matrix.center[None], matrix.radius[None]))[0])


def norms_above(stack: Balls) -> Array:
    """At least the spectral norm of each matrix of a stack (m, k, l), from its singular value decomposition.

    With floats ``A = W diag(s) Z + E``: ``|A| <= max s |W| |Z| + |E|_F`` and ``|W|^2 <= 1 + |W^T W - I|_F``.
    """
    if not np.isfinite(stack.center).all():
        return np.full(len(stack.center), math.inf)
    left, values, right = np.linalg.svd(stack.center, full_matrices=False)
    identity = exact(np.broadcast_to(np.eye(left.shape[-1]), (len(left), left.shape[-1], left.shape[-1])))
    stretch = [
        np.sqrt(1 + _frobenius(times(_swapped(exact(each)), exact(each)).minus(identity)))
        for each in (left, np.swapaxes(right, -1, -2))
    ]
    scaled = left * values[:, None]
    rounding = Balls(scaled, inflate(UNIT * np.abs(scaled), 2))
    rest = _frobenius(times(rounding, exact(right)).minus(stack))
    return np.asarray(inflate(values[:, 0] * stretch[0] * stretch[1] + rest, 8))


def _frobenius(stack: Balls) -> Array:
    """At least the Frobenius norm of each matrix of a stack."""
    size = np.sqrt(((np.abs(stack.center) + stack.radius) ** 2).sum((-1, -2)))
    return np.asarray(inflate(size, 2 * stack.center.shape[-1] * stack.center.shape[-2] + 8) + 2.0**-400)


def _swapped(x: Balls) -> Balls:
    return Balls(np.swapaxes(x.center, -1, -2), np.swapaxes(x.radius, -1, -2))


class _Tall:
    """``W = Q R`` of a tall exact matrix: R, at least ``|Q|``, at least ``|W - Q R|``."""

    def __init__(self, W: Any) -> None:
        whole = np.asarray(W, dtype=np.float64)
        basis, self.R = np.linalg.qr(whole)
        gram = times(_swapped(exact(basis)), exact(basis)).minus(exact(np.eye(basis.shape[1])))
        self.stretch = float(inflate(math.sqrt(1 + norm_above(gram)), 2))
        self.rest = norm_above(times(exact(basis), exact(self.R)).minus(exact(whole)))


def _roots(weights: Balls) -> Balls:
    """``sqrt(a)``, entry by entry."""
    high = np.sqrt(np.maximum(weights.center + weights.radius, 0.0))
    low = np.sqrt(np.maximum(weights.center - weights.radius, 0.0))
    return Balls((low + high) / 2, inflate((high - low) / 2 + 4 * UNIT * high, 4))


def _spread(rows: Balls, means: Balls, roots: Balls) -> Balls:
    """``sqrt(a_ij) (r_j - mean_i)`` for every i: (n, n, k)."""
    apart = Balls(rows.center[None], rows.radius[None]).minus(Balls(means.center[:, None], means.radius[:, None]))
    center = roots.center[..., None] * apart.center
    size = np.abs(roots.center[..., None]) + roots.radius[..., None]
    radius = size * apart.radius + roots.radius[..., None] * np.abs(apart.center) + UNIT * np.abs(center)
    return Balls(center, inflate(radius, 6))


def jacobian_bound(head: Mapping[str, Any], x: Balls, weights: Balls) -> float:
    """``sqrt(max_l sum_i a_il t_i^2) + max_i |U C_i P^T|`` with ``t_i^2 = |U|^2 + |q_i|^2 |U C_i U^T|``, from above (BD-J2)."""
    scale, n = float(head["scale"]), len(x.center)
    output, query = _Tall(head["O"]), _Tall(np.asarray(head["Q"], dtype=np.float64).T)
    values, keys = linear(x, head["V"]), linear(x, head["K"])
    roots = _roots(weights)
    spread = _spread(values, times(weights, values), roots)
    keyed = _spread(keys, times(weights, keys), roots)
    gradients = linear(linear(x, head["Q"], head.get("q_bias")), np.asarray(head["K"], dtype=np.float64).T)
    lengths = inflate(gradients.lengths()[1] / scale * (1 + 4 * CONSTANT), 4)
    stored = np.asarray(head["V"], dtype=np.float64)
    whole = _through(output, norm_above(times(exact(output.R), exact(stored))), frobenius_above(stored))
    sizes = inflate(
        norms_above(times(spread, exact(output.R.T))) * output.stretch + _frobenius(spread) * output.rest, 4
    )
    sharp = inflate(whole * whole + (lengths * sizes) ** 2, 6)
    core = times(_swapped(spread), keyed)
    inner = norms_above(times(times(exact(output.R), core), exact(query.R.T)))
    slack = output.rest * float_norm(query.R)[1] + query.rest * float_norm(output.R)[1] + output.rest * query.rest
    own = inflate(
        (inner * output.stretch * query.stretch + 2 * _frobenius(core) * slack) / scale * (1 + 4 * CONSTANT), 8
    )
    columns = inflate((weights.center + weights.radius).T @ sharp, n + 4)
    return float(inflate(math.sqrt(float(columns.max())) + float(own.max()), 4))


def head_norms(head: Mapping[str, Any]) -> tuple[float, float]:
    """At least ``|O V|`` and at least ``|Q^T K| / scale``."""
    Q, K, V = (np.asarray(head[name], dtype=np.float64) for name in "QKV")
    output, query = _Tall(head["O"]), _Tall(Q.T)
    sizes = [
        _through(tall, norm_above(times(exact(tall.R), exact(stored))), frobenius_above(stored))
        for tall, stored in ((output, V), (query, K))
    ]
    return sizes[0], float(inflate(sizes[1] / float(head["scale"]) * (1 + 4 * CONSTANT), 4))


def _through(tall: _Tall, core: float, plain: float) -> float:
    """``|S W^T| <= |S R^T| |Q| + |S| |W - Q R|``."""
    return float(inflate(core * tall.stretch + plain * tall.rest, 4))


def jacobian_norm(head: Mapping[str, Any], x: Array, weights: Array) -> float:
    """The norm of the Jacobian (n d, n d), by power iteration in doubles: a lower estimate."""
    Q, K, V, O = (np.asarray(head[name], dtype=np.float64) for name in "QKVO")
    scale = float(head["scale"])
    bias = head.get("q_bias")
    q = (x @ Q.T + (0.0 if bias is None else np.asarray(bias, dtype=np.float64))) @ K / scale
    values, keys = x @ V.T, x @ K.T
    own, key = values[None] - (weights @ values)[:, None], keys[None] - (weights @ keys)[:, None]
    core = np.einsum("ij,ijk,ijl->ikl", weights, own, key) / scale
    moved = np.random.default_rng(0).standard_normal(x.shape)
    size = 0.0
    for _ in range(STEPS):
        moved /= np.linalg.norm(moved)
        inner = weights @ (moved @ V.T) + np.einsum("il,ilk->ik", weights * (q @ moved.T), own)
        inner += np.einsum("ikl,il->ik", core, moved @ Q.T)
        out = inner @ O.T
        size = float(np.linalg.norm(out))
        if size == 0.0:
            return 0.0
        back = out @ O
        moved = weights.T @ (back @ V) + np.einsum("il,ilk,ik->li", weights, own, back) @ q
        moved += np.einsum("ikl,ik->il", core, back) @ Q
    return size
