"""A certificate of strict dominance worth storing: one symmetric matrix that turns dominance into definiteness.

With ``X^-1 A X = D`` (real blocks) and ``Y ~ X^-1``, the matrix ``P = Y^T diag(w) Y`` with
``w_i = 1 / (beta - Re lambda_i)`` satisfies ``2 beta P - P A - A^T P = 2 Y^T Y > 0``, and with
``w_i = 1 / (1 - |lambda_i|^2 / beta^2)`` it satisfies ``beta^2 P - A^T P A = beta^2 Y^T Y > 0``.  By the inertia
theorems of Ostrowski and Schneider (1962) and of Taussky (1964) and Wimmer (1973), **any** P that passes such a
definiteness test has as many negative eigenvalues as A has eigenvalues beyond beta: whoever re-checks needs two
definiteness tests and one product, and need not know where P came from. The definiteness holds for all A within
``lambda_min(Q) / (2 ||P||)`` (for moduli with ``2 ||A|| ||P||``): a margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eigentoken.documents.certificate import LeadBy
from eigentoken.numerics.certified.definiteness import cholesky_bound
from eigentoken.numerics.certified.dominance import Dominance, scaled_step
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.rounding import UNIT, Array, down, frobenius_above, gamma, spectral_norm_above, up

__all__ = ["StoredDominance", "lyapunov_certificate"]

_SMALLEST = 65  # below, exact arithmetic and balls re-check without any stored matrix


@dataclass(frozen=True)
class StoredDominance:
    """P, a vector with ``x^T P x < 0``, a row with ``P + r r^T > 0``, and the margin that they support."""

    matrix: Array
    vector: Array
    row: Array
    margin: float


def lyapunov_certificate(enclosure: Enclosure, found: Dominance, alpha: Fraction | None) -> StoredDominance | None:
    """P for a ``simple-real`` leader of a large nonsymmetric matrix, verified here once; None where it fails."""
    discs = found.discs
    if found.kind != "simple-real" or discs is None or discs.size < _SMALLEST or enclosure.center_is_symmetric:
        return None
    if discs.vectors is None or discs.inverse is None or found.score is None:
        return None
    with np.errstate(all="ignore"):
        a, centers = enclosure.center, discs.centers
        if found.by == "step":
            step, _ = scaled_step(enclosure, alpha)
            a, centers = step * a + np.eye(a.shape[0]), 1.0 + step * centers
        beta = found.score
        stored = _build(a, centers, beta, found, discs.vectors, discs.inverse)
        if stored is None or found.by != "step":
            return _supported(a, beta, found.by, stored, enclosure.radius)
        lip = abs(scaled_step(enclosure, alpha)[0])
        result = _supported(a, beta, "modulus", stored, up(lip * enclosure.radius))
        return None if result is None else _with_margin(result, down(result.margin / lip) if lip > 0 else 0.0)


def _with_margin(stored: StoredDominance, margin: float) -> StoredDominance:
    return StoredDominance(stored.matrix, stored.vector, stored.row, margin)


def _build(
    a: Array, centers: NDArray[np.complex128], beta: float, found: Dominance, vectors: Array, inverse: Array
) -> StoredDominance | None:
    weights = 1.0 / (beta - centers.real) if found.by == "real-part" else 1.0 / (1.0 - (np.abs(centers) / beta) ** 2)
    if not np.isfinite(weights).all() or int((weights < 0).sum()) != 1:
        return None
    p = inverse.T @ (weights[:, None] * inverse)
    p = p + p.T
    size = float(np.abs(p).max())
    if not (0 < size < math.inf):
        return None
    shift = -math.frexp(size)[1]
    p = np.ldexp(p, shift)
    lead = found.index
    row = inverse[lead] * math.sqrt(math.ldexp(4.0 * abs(float(weights[lead])), shift))
    return StoredDominance(
        np.ascontiguousarray(p), np.ascontiguousarray(vectors[:, lead]), np.ascontiguousarray(row), 0.0
    )


def _supported(
    a: Array, beta: float, by: LeadBy, stored: StoredDominance | None, radius: float
) -> StoredDominance | None:
    """The margin that P certifies, by the definiteness bound of this room; None if it certifies nothing."""
    if stored is None:
        return None
    n, p = a.shape[0], stored.matrix
    norm_p, norm_a = frobenius_above(p), frobenius_above(a)
    if by == "real-part":
        product = p @ a
        q = (2 * beta) * p - (product + product.T)
        error = up(4 * (n + 4) * UNIT * norm_p * (norm_a + abs(beta)), 8)
        rate = up(2 * spectral_norm_above(p))
    else:
        q = (beta * beta) * p - a.T @ (p @ a)
        error = up(4 * gamma(n + 4) * norm_p * (norm_a * norm_a + beta * beta), 8)
        rate = up(4 * spectral_norm_above(p) * up(spectral_norm_above(a)))
    q = 0.5 * (q + q.T)
    try:
        smallest = float(np.linalg.eigvalsh(q)[0])
    except np.linalg.LinAlgError:
        return None
    for share in (0.5, 0.2, 0.05):
        reach = share * smallest / rate
        if reach > radius and cholesky_bound(q, up(error + rate * reach)) is not None:
            return _with_margin(stored, down(reach - radius))
    return None
