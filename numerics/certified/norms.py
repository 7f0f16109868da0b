"""Norms and distances: the spectral norm as an interval, the distance to the symmetric matrices and to the identity.

``||M||_2 <= t`` iff ``t^2 I - M^T M`` is positive semidefinite: a definiteness question about a product with a rounding
radius (:mod:`eigentoken.numerics.certified.enclosures`).  From below, ``||M x|| / ||x||`` for one vector.  The nearest symmetric
matrix to M in the spectral norm is ``(M + M^T) / 2``, at distance ``||M - M^T|| / 2`` (Fan and Hoffman, 1955).

Rank and nonsingularity are decided here too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from eigentoken.numerics.certified.arithmetic import multiply, trusted
from eigentoken.numerics.certified.definiteness import cholesky_bound, rayleigh_above, smallest_direction
from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.certified.error_free_products import sliced_product, two_sum
from eigentoken.numerics.certified.exact_kernels import PRIME, nullity
from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, ExactMatrix
from eigentoken.numerics.certified.lapack import eigenvector
from eigentoken.numerics.certified.rounding import (
    TINY,
    UNIT,
    Array,
    down,
    frobenius_above,
    gamma,
    inflate,
    scale_down,
    scale_up,
    spectral_norm_above,
    up,
)

__all__ = [
    "PRIME",
    "RankBounds",
    "distance_to_identity",
    "distance_to_symmetric",
    "float_norm",
    "inverse_margin",
    "modular_rank",
    "norm_interval",
    "plain_distance_to_identity",
    "rank_of",
    "sharply_exceeds",
]

#: Up to this order the guess for the top vector comes from squarings of the Gram matrix.
SQUARED = 96
#: Above it, from this many Lanczos steps.
LANCZOS = 32
#: A wider interval than this ratio is worth an eigen-decomposition, up to the order beside it.
CLOSE, DECOMPOSED = 1 + 1e-5, 1024


def float_norm(matrix: Array) -> tuple[float, float]:
    """Certified ``(low, high)`` of the spectral norm of a finite float matrix (scaled by a power of two inside)."""
    with np.errstate(all="ignore"):
        largest = float(np.abs(matrix).max(initial=0.0))
        if largest == 0.0:
            return 0.0, 0.0
        if not trusted():  # without a product that may be trusted: max |m_ij| <= ||M||_2 <= sqrt(m n) max |m_ij|
            return largest, up(largest * math.sqrt(matrix.size))
        shift = math.frexp(largest)[1]
        scaled = np.ldexp(matrix, -shift)  # entries that become subnormal lose at most TINY each
        lost = scaled.size * TINY
        crude = up(spectral_norm_above(scaled) + lost)
        tall = scaled if scaled.shape[0] >= scaled.shape[1] else np.ascontiguousarray(scaled.T)
        gram = multiply(tall.T, tall)
        low = max(down(_stretch_below(tall, _top_vector(gram)) - lost), down(float(np.abs(scaled).max()), 1))
        high = up(_sharper(tall, gram, low, crude) + lost)
        if high > low * CLOSE and tall.shape[1] <= DECOMPOSED:  # two singular values near the top
            found = eigenvector(gram, tall.shape[1] - 1)
            low = low if found is None else max(low, down(_stretch_below(tall, found) - lost))
            high = min(high, up(_sharper(tall, gram, low, crude) + lost))
        return scale_down(min(low, high), shift), scale_up(high, shift)


def _top_vector(gram: Array) -> Array:
    """A vector that M stretches much (a guess, nothing is claimed), from ``M^T M``: a power of it, or Lanczos steps."""
    n = gram.shape[0]
    x = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    x = x + 1e-3 * float(x.max())
    if n <= SQUARED:  # six squarings cost less than many small products one by one
        power = gram
        for _ in range(6):
            power = power / max(float(np.abs(power).max()), 1e-300)
            power = power @ power
        x = power @ x
    else:
        x = _ritz_vector(gram, x)
    if not np.isfinite(x).all() or not np.any(x):
        return np.ones(n)
    return np.asarray(x / float(np.abs(x).max()))


def _ritz_vector(gram: Array, x: Array) -> Array:
    """The best vector for the largest eigenvalue in the span of ``x, G x, ..., G^31 x``."""
    basis = np.empty((LANCZOS, gram.shape[0]))
    values, links = np.zeros(LANCZOS), np.zeros(LANCZOS)
    count, x = 0, x / float(np.linalg.norm(x))
    while True:
        basis[count] = x
        x = gram @ x
        values[count] = float(basis[count] @ x)
        for _ in range(2):
            x = x - (basis[: count + 1] @ x) @ basis[: count + 1]
        size, count = float(np.linalg.norm(x)), count + 1
        if count == LANCZOS or not size > 1e-14 * abs(values[0]):
            break
        links[count - 1], x = size, x / size
    small = np.diag(values[:count]) + np.diag(links[: count - 1], 1) + np.diag(links[: count - 1], -1)
    return np.asarray(np.linalg.eigh(small)[1][:, -1] @ basis[:count])


def _stretch_below(matrix: Array, x: Array) -> float:
    """A lower bound on ``||M x|| / ||x||``."""
    m, n = matrix.shape
    y = matrix @ x
    error = gamma(n) * inflate(np.abs(matrix) @ np.abs(x), n + 1) + n * TINY
    length = float(np.linalg.norm(y)) * (1 - (2 * m + 8) * UNIT)
    slip = float(np.linalg.norm(error)) * (1 + (2 * m + 8) * UNIT)
    size = float(np.linalg.norm(x)) * (1 + (2 * n + 8) * UNIT)
    if not (size > 0 and math.isfinite(length)):
        return 0.0
    return down(max(length - slip, 0.0) / size, 4)


def _sharper(matrix: Array, gram: Array, low: float, crude: float) -> float:
    """Try ``t^2 I - M^T M > 0`` for t just above the lower bound, from the nearest that the rounding of the test allows."""
    n = matrix.shape[1]
    gram = 0.5 * (gram + gram.T)
    size = frobenius_above(matrix)
    radius = up((gamma(matrix.shape[0] + 2)) * size * size + 2 * matrix.size * max(matrix.shape) * TINY, 8)
    nearest = 1.1 * gamma(n + 3) * n + 0.55 * radius / max(low * low, 1e-300)
    for excess in (nearest, *(each for each in (1e-9, 1e-6, 1e-3, 1e-2, 0.1) if each > nearest)):
        t = low * (1 + excess) + 1e-300
        if t >= crude:
            break
        gap = -gram
        gap.flat[:: n + 1] += t * t
        widened = up(radius + 4 * UNIT * up(t * t + float(np.abs(gram.diagonal()).max())))
        if cholesky_bound(gap, widened) is not None:
            return up(t)
    return crude


def sharply_exceeds(enclosure: Enclosure, bound: Fraction) -> bool | None:
    """Is ``||M||_2 > bound``, from ``bound^2 I - M^T M`` to about twice the digits (sliced products)?  None where it is not seen.

    For M whose norm is within rounding of the bound, as of a matrix that is orthogonal but for its last digits.
    """
    n = enclosure.shape[1]
    if enclosure.radius or bound <= 0 or not trusted():
        return None
    square = (bound * Fraction(2) ** -enclosure.exponent) ** 2
    if not 2.0**-100 < square < 2.0**100:
        return None
    high = float(square)
    low = float(square - Fraction(high))
    with np.errstate(all="ignore"):
        try:
            gram = sliced_product(np.ascontiguousarray(enclosure.center.T), enclosure.center, 4)
        except ValueError:  # a column is too small for slices beside the others
            return None
        gap = -(gram.high + gram.low)
        top, rest = two_sum(np.full(n, high), -gram.high.diagonal())
        gap.flat[:: n + 1] = top + ((rest + low) - gram.low.diagonal())
        gap = 0.5 * (gap + gap.T)
        slips = np.abs(gap).max() + np.abs(gram.low).max() + np.abs(rest).max() + abs(low)
        error = frobenius_above(gram.error) + up(8 * UNIT * n * float(slips) + 2.0**-104 * high * n + n * n * TINY, 8)
        if cholesky_bound(gap, error) is not None:
            return False
        direction = smallest_direction(gap)
        return True if direction is not None and rayleigh_above(gap, error, direction) < 0 else None


def norm_interval(enclosure: Enclosure) -> tuple[float, float]:
    """``(low, high)`` of ``||M||_2`` over the enclosure, in the units of the scaled center."""
    low, high = float_norm(enclosure.center)
    return max(0.0, down(low - enclosure.radius)), up(high + enclosure.radius)


def distance_to_symmetric(enclosure: Enclosure) -> tuple[float, float]:
    """``(low, high)`` of the spectral distance to the symmetric matrices, scaled units."""
    half = 0.5 * (enclosure.center - enclosure.center.T)
    low, high = float_norm(half)
    slop = up(UNIT * frobenius_above(half) + half.shape[0] * TINY + enclosure.radius)
    return max(0.0, down(low - slop)), up(high + slop)


def distance_to_identity(enclosure: Enclosure) -> tuple[float, float]:
    """``(low, high)`` of ``||M - I||_2``, scaled units (the identity is ``2^-exponent I`` there)."""
    low, high = plain_distance_to_identity(enclosure)
    return scale_down(low, -enclosure.exponent), scale_up(high, -enclosure.exponent)


def plain_distance_to_identity(enclosure: Enclosure) -> tuple[float, float]:
    """``(low, high)`` of ``||M - I||_2`` in the units of M itself.

    Entries far below or above one would overflow beside the identity: there ``1 - ||M|| <= ||M - I|| <= 1 + ||M||``, or the same
    with the terms in the other order.
    """
    n, exponent = enclosure.shape[0], enclosure.exponent
    if abs(exponent) > 300:
        bottom, top = norm_interval(enclosure)
        below, above = scale_down(bottom, exponent), scale_up(top, exponent)
        return max(0.0, down(1.0 - above), down(below - 1.0)), up(1.0 + above)
    difference = enclosure.center.copy()
    difference.flat[:: n + 1] -= math.ldexp(1.0, -exponent)
    low, high = float_norm(difference)
    rounded = float(
        np.abs(difference.diagonal()).max()
    )  # only the diagonal was rounded, and its norm is its largest entry
    slop = up(up(UNIT * rounded) + TINY + enclosure.radius)
    return scale_down(max(0.0, down(low - slop)), exponent), scale_up(up(high + slop), exponent)


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
        defect = multiply(inverse, matrix)
        defect.flat[:: n + 1] -= 1.0
        size = frobenius_above(inverse)
        g = up(frobenius_above(defect) + gamma(n + 1) * up(size * frobenius_above(matrix) + n) + 2 * n**3 * TINY, 8)
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
    floats = trusted() and math.isfinite(enclosure.radius)
    if floats and enclosure.is_square:
        margin = inverse_margin(enclosure.center, enclosure.radius)
        known = RankBounds(known.low, full, 0.0, "", ("approximate inverse",))
        if margin is not None:
            return RankBounds(full, full, margin, "approximate inverse", known.tried)
        if enclosure.square_factors is not None and enclosure.slack == 0:
            # a product that is nearly singular, of factors that are not
            parts = [inverse_margin(each.center, each.radius) for each in enclosure.square_factors]
            if None not in parts:
                return RankBounds(full, full, 0.0, "approximate inverses of two factors", known.tried)
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
    none = nullity(enclosure.exact)
    known = RankBounds(low, full, 0.0, known.rung, (*known.tried, "exact kernel"))
    if none is not None:
        return RankBounds(columns - none, columns - none, 0.0, "exact kernel", known.tried)
    try:
        exact = enclosure.exact.rank(deadline)
    except DeadlinePassed as late:
        return RankBounds(low, full, 0.0, known.rung, (*known.tried, str(late)))
    return RankBounds(exact, exact, 0.0, "exact elimination", (*known.tried, "exact elimination"))
