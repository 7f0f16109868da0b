"""What is measured on tokens: distances, the papers' functions, correlations, effective rank.

Every function takes tokens ``x`` of shape ``(..., n, d)`` and returns one number an instance (or one a token, where it
says so).  The letters and numbers are those of the papers and of the statement sheets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.matrices import act, pair_scores

__all__ = [
    "alignment_increment",
    "cosine_gap",
    "diameter",
    "effective_rank",
    "ellipsoid_potential",
    "energy",
    "height_deficit",
    "mean_distance",
    "norms",
    "oja_potential",
    "pair_form",
    "pairwise_distances",
    "subspace_correlation",
    "vector_correlation",
]

#: Differences of coordinates that are formed at once (128 MB in doubles).
MOST_DIFFERENCES: Final = 2**24


def pairwise_distances(x: Tensor, metric: Tensor | None = None) -> Tensor:
    """``|x_i - x_j|_W``, shape (..., n, n); formed from differences, so close tokens keep their digits."""
    gap = x.unsqueeze(-2) - x.unsqueeze(-3)
    weighted = gap if metric is None else gap @ metric.mT
    return (gap * weighted).sum(-1).clamp_min(0).sqrt()


def _distances(x: Tensor) -> Iterator[Tensor]:
    """The distances of all pairs; block by block, from differences too, where all at once would need too much memory."""
    n, d = x.shape[-2:]
    if n * x.numel() <= MOST_DIFFERENCES:
        yield pairwise_distances(x)
        return
    rows = max(1, MOST_DIFFERENCES * d // x.numel())
    for first in range(0, n, rows):
        yield torch.cdist(x[..., first : first + rows, :], x, compute_mode="donot_use_mm_for_euclid_dist")


def diameter(x: Tensor) -> Tensor:
    """``max_ij |x_i - x_j|``."""
    return torch.stack([block.amax((-2, -1)) for block in _distances(x)]).amax(0)


def mean_distance(x: Tensor) -> Tensor:
    """The mean of ``|x_i - x_j|`` over i < j."""
    n = x.shape[-2]
    return torch.stack([block.sum((-2, -1)) for block in _distances(x)]).sum(0) / max(1, n * (n - 1))


def norms(x: Tensor) -> Tensor:
    """``|x_i|``, one number a token."""
    return torch.linalg.vector_norm(x, dim=-1)


def cosine_gap(x: Tensor, absolute: bool = False) -> Tensor:
    """E of eq. (25): ``1 - (1/n) sum_i cos(x_1, x_i)``.

    The paper prints ``|cos|`` and says that E vanishes only at consensus; with the bars an antipodal pair also gives
    zero (AB-E25), so the signed form is the default.
    """
    unit = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    cosine = (unit * unit[..., :1, :]).sum(-1)
    return 1 - (cosine.abs() if absolute else cosine).mean(-1)


def ellipsoid_potential(x: Tensor, P: Tensor) -> Tensor:
    """``V_P = -1/2 sum_ij exp(x_i^T P x_j)``, eq. (10): decreases along the ellipsoid flow (AB-T3.1)."""
    return -0.5 * pair_scores(P, x).exp().sum((-2, -1))


def oja_potential(x: Tensor, V: Tensor) -> Tensor:
    """``W = -1/2 xbar^T V xbar``: decreases along the Oja flow, and the map if ``alpha <= 1/|lambda_d|`` (PM-L7)."""
    mean = x.mean(-2, keepdim=True)
    return -0.5 * (mean * act(V, mean)).sum((-2, -1))


def height_deficit(x: Tensor, v: Tensor, metric: Tensor | None = None) -> Tensor:
    """Eq. (13): ``max_i (1 - v^T W x_i)``, nonincreasing from an open hemisphere around v (AB-T4.1).

    The paper writes ``1 - v^T x_i``; on an ellipsoid that can be negative, hence the metric (AB-T4.1, point 1).
    """
    return (1 - act(metric, x) @ v).amax(-1)


def energy(x: Tensor, A: Tensor) -> Tensor:
    """``-1/2 sum_l x_l^T A x_l``: decreases along the token flow when A is symmetric negative definite (PH-T2)."""
    return -0.5 * (x * act(A, x)).sum((-2, -1))


def pair_form(x: Tensor, A: Tensor) -> Tensor:
    """``(x_l - x_k)^T A (x_l - x_k)`` for each pair: nondecreasing along the token flow for symmetric A (PH-T1)."""
    gap = x.unsqueeze(-2) - x.unsqueeze(-3)
    return (gap * (gap @ A.mT)).sum(-1)


def vector_correlation(x: Tensor, v: Tensor) -> Tensor:
    """``x_i^T v / (|x_i| |v|)``, one number a token (eq. (4))."""
    return (x @ v) / (torch.linalg.vector_norm(x, dim=-1) * torch.linalg.vector_norm(v))


def subspace_correlation(x: Tensor, S: Tensor) -> Tensor:
    """``|Pi_S x_i| / |x_i|`` for the span of the columns of S, one number a token (eqs. (6), (7))."""
    basis = torch.linalg.qr(S).Q
    return torch.linalg.vector_norm(x @ basis, dim=-1) / torch.linalg.vector_norm(x, dim=-1)


def alignment_increment(before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
    """``Delta rho`` and ``Pi`` of eqs. (4), (5): mean growth of the absolute correlation, and how often it grows."""
    gain = after.abs() - before.abs()
    return gain.mean(), (gain > 0).to(gain.dtype).mean()


def effective_rank(x: Tensor) -> Tensor:
    """``exp(H)`` with H the entropy of the normalised singular values of the n x d token matrix: 1 at consensus."""
    singular = torch.linalg.svdvals(x)
    share = singular / singular.sum(-1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)
    return torch.exp(-torch.special.xlogy(share, share).sum(-1))
