"""Rank and nonsingularity.

* ``Y ~ M^-1`` with ``||I - Y M||_2 <= g < 1`` makes M nonsingular, and every matrix closer than ``(1 - g) / ||Y||_2``
  too (Neumann series); the products carry ``gamma_n |Y| |M|`` (Rump, *Verification methods*, Acta Numerica 2010).
* Full row or column rank: the Gram matrix ``M M^T`` is positive definite, by one Cholesky factorization.
* The rank modulo a prime never exceeds the rank; the rank over the integers is exact (FLINT, fraction-free
  elimination).  A deficient rank has no margin: an arbitrarily small change raises it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import flint
import numpy as np

from eigentoken.numerics.certified.definiteness import cholesky_bound
from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, ExactMatrix
from eigentoken.numerics.certified.norms import float_norm
from eigentoken.numerics.certified.probe import probe_numpy
from eigentoken.numerics.certified.rounding import TINY, Array, down, frobenius_above, gamma, up

__all__ = ["PRIME", "RankBounds", "inverse_margin", "modular_rank", "rank_of"]

PRIME = (1 << 61) - 1


@dataclass(frozen=True)
class RankBounds:
    """``low <= rank M <= high`` for every M of the enclosure; ``margin`` keeps the lower bound (scaled units)."""

    low: int
    high: int
    margin: float = 0.0
    rung: str = ""
    tried: tuple[str, ...] = ()


def modular_rank(exact: ExactMatrix, prime: int = PRIME) -> int:
    """The rank modulo a prime: a lower bound on the rank, in a fraction of a second at 768 x 128."""
    return int(flint.nmod_mat(exact.numerators, prime).rank())


def inverse_margin(matrix: Array, rho: float) -> float | None:
    """A certified ``m > 0`` such that every matrix within ``rho + m`` of the float matrix is nonsingular, or None."""
    n = matrix.shape[0]
    with np.errstate(all="ignore"):
        try:
            inverse: Array = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(inverse).all() or float(np.abs(inverse).max()) > 2.0**300:
            return None
        defect = inverse @ matrix
        defect.flat[:: n + 1] -= 1.0
        size = frobenius_above(inverse)
        g = up(frobenius_above(defect) + gamma(n + 1) * up(size * frobenius_above(matrix) + n) + n**3 * TINY, 8)
        if not g < 1.0:
            return None
        norm = min(size, float_norm(inverse)[1])
        margin = down(down((1.0 - g) * (1 - 2.0**-50)) / norm) - rho
        return down(margin) if margin > 0 else None


def rank_of(enclosure: Enclosure, deadline: Deadline, *, wanted: int | None = None) -> RankBounds:
    """Bounds on the rank; ``wanted`` stops as soon as a rank of that size is settled either way."""
    rows, columns = enclosure.shape
    full = min(rows, columns)
    known = RankBounds(0, full)
    floats = probe_numpy().passed and math.isfinite(enclosure.radius)
    if floats and enclosure.is_square:
        margin = inverse_margin(enclosure.center, enclosure.radius)
        known = RankBounds(known.low, full, 0.0, "", ("approximate inverse",))
        if margin is not None:
            return RankBounds(full, full, margin, "approximate inverse", known.tried)
    elif floats:
        with np.errstate(all="ignore"):
            bare = Enclosure(enclosure.center)
            gram = product(bare, bare.transpose) if rows < columns else product(bare.transpose, bare)
            matrix, rho = gram.symmetric_part
            bound = cholesky_bound(matrix, rho)
        known = RankBounds(known.low, full, 0.0, "", ("Gram matrix",))
        if bound is not None:  # sigma_min(center)^2 >= bound
            margin = down(math.sqrt(math.ldexp(bound, gram.exponent)), 4) - enclosure.radius
            if margin > 0:
                return RankBounds(full, full, down(margin), "Gram matrix", known.tried)
    if enclosure.slack > 0 or not enclosure.has_exact or enclosure.exact is None:
        return known
    low = modular_rank(enclosure.exact)
    known = RankBounds(low, full, 0.0, "rank modulo a prime", (*known.tried, "rank modulo a prime"))
    if low == full or (wanted is not None and low > wanted):
        return known
    try:
        exact = enclosure.exact.rank(deadline)
    except DeadlinePassed as late:
        return RankBounds(low, full, 0.0, known.rung, (*known.tried, str(late)))
    return RankBounds(exact, exact, 0.0, "exact elimination", (*known.tried, "exact elimination"))
