"""Which eigenvalue is ahead: by real part, by modulus, or by ``|1 + alpha lambda|`` for a map with step alpha.

From discs (:mod:`eigentoken.numerics.certified.spectra`): if the score of every point of one disc with a real center exceeds the
score of every point of all other discs, that disc is disjoint from the others, holds exactly one eigenvalue, and is its
own mirror image; so the eigenvalue is real, simple and strictly dominant.  If a whole component of discs off the real
axis scores above every disc that touches the axis, a non-real eigenvalue is ahead of every real one.  Scores are
Lipschitz (1, 1, |alpha|), so a disc of radius r has scores within ``lip r`` of its center's.  Because radii grow
linearly with a further perturbation rho (``growth``), the largest rho that keeps the separation is a certified margin,
and the ``score`` at which the discs would touch then is what a certificate names: with ``l`` the lowest score of the
leaders and growth g, ``rho = min_j (l - h_j) / (g + g_j)`` and ``beta = l - g rho >= h_j + g_j rho`` for all j.  A re-check
in the same normalised basis has radii and rates that are not larger (its inverse is exact or its residual sharper), so
that it can confirm every smaller margin.

From exact roots (:mod:`eigentoken.numerics.certified.exact_spectra`) where the discs do not separate.

Eigenvector: in the eigenbasis the eigenvector z of the isolated disc 1 has its largest component at 1 (else the
eigenvalue would lie in another disc), so ``|z_j| <= r_j / (|c_j - c_1| - r_1)``, and the angle between the true
eigenvector and column x_1 has ``sin <= sum_j |z_j| ||x_j|| / ||x_1||`` (Varga, section 1.1).  For a symmetric center:
Davis and Kahan, ``sin <= ||S x - w x|| / gap``, once for rounding and once for the perturbation.

A certificate of strict dominance worth storing: one symmetric matrix that turns dominance into definiteness.

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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eigentoken.documents.certificate import LeadBy, LeaderKind
from eigentoken.numerics.certified.arithmetic import multiply, trusted
from eigentoken.numerics.certified.definiteness import cholesky_bound, quick_estimate
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, allow_charpoly
from eigentoken.numerics.certified.exact_spectra import Leader, leading_eigenvalue
from eigentoken.numerics.certified.rounding import (
    UNIT,
    Array,
    down,
    frobenius_above,
    gamma,
    inflate,
    spectral_norm_above,
    up,
)
from eigentoken.numerics.certified.spectra import Discs, eigenvalue_discs, symmetric_discs

__all__ = [
    "ORDERS",
    "Dominance",
    "StoredDominance",
    "discs_of",
    "dominance",
    "eigenvector_angle",
    "forget_discs",
    "lyapunov_certificate",
    "middle_score",
    "scaled_step",
    "scores",
]

ORDERS = ("real-part", "modulus", "step")


@dataclass(frozen=True)
class Dominance:
    """The certified kind of the leading eigenvalues; numbers are in the units of the scaled center.

    ``kind``: ``simple-real``, ``simple-pair``, ``non-real``, ``multiple-real``, ``multiple-pair``, ``tie`` or
    ``unknown`` (see :class:`~eigentoken.numerics.certified.exact_spectra.Leader`).  ``separation``: two scores with all leaders
    above the second and everybody else below the first.  ``margin``: the kind persists, and ``score`` stays between,
    under every perturbation of that spectral norm.
    """

    kind: LeaderKind | Literal["unknown"]
    by: LeadBy
    margin: float = 0.0
    separation: tuple[float, float] | None = None
    score: float | None = None
    leader: tuple[complex, float] | None = None
    rung: str = ""
    tried: tuple[str, ...] = ()
    index: int = -1
    discs: Discs | None = field(default=None, repr=False)
    exact: Leader | None = field(default=None, repr=False)


def discs_of(enclosure: Enclosure, *, sliced: bool = False) -> Discs | None:
    """The eigenvalue discs of an enclosure, in the units of its scaled center; the last two (of small matrices, six) are kept."""
    return (_discs_of_small if enclosure.shape[0] <= _SMALL else _discs)(enclosure, sliced)


def _found(enclosure: Enclosure, sliced: bool) -> Discs | None:
    if not (trusted() and math.isfinite(enclosure.radius)):
        return None
    if enclosure.center_is_symmetric:
        return symmetric_discs(enclosure.symmetric_spectrum)
    same = enclosure if sliced else enclosure.same_center  # whose eigenbasis serves here as well
    basis = None if same is None else discs_of(same)
    return eigenvalue_discs(enclosure.center, enclosure.radius, symmetric=False, sliced=sliced, basis=basis)


#: Up to this width two arrays of discs are small beside what a check holds anyway.
_SMALL = 512
_discs = lru_cache(maxsize=2)(_found)
_discs_of_small = lru_cache(maxsize=6)(_found)


def forget_discs() -> None:
    """Remember none (for measurements)."""
    _discs.cache_clear()
    _discs_of_small.cache_clear()


def scores(discs: Discs, by: LeadBy, step: float = 0.0, step_error: float = 0.0) -> tuple[Array, Array, Array]:
    """``(middle, spread, growth)``: every point of disc i scores within spread of middle.

    ``step`` is alpha in the units of the scaled center, known up to ``step_error``.
    """
    if by == "real-part":
        return discs.centers.real, discs.radii, discs.growth
    size = np.abs(discs.centers)
    if by == "modulus":
        return size, inflate(discs.radii + 8 * UNIT * size, 2), discs.growth
    middle = np.abs(1.0 + step * discs.centers)
    lip = up(abs(step) + step_error)
    slop = 16 * UNIT * (1.0 + lip * size) + step_error * size * (1 + 8 * UNIT)
    return middle, inflate(lip * discs.radii + slop, 4), inflate(lip * discs.growth, 2)


def dominance(enclosure: Enclosure, by: LeadBy, alpha: Fraction | None, deadline: Deadline) -> Dominance:
    """Who is ahead, for every matrix of the enclosure."""
    if by not in ORDERS:
        raise ValueError(f"by must be one of {', '.join(ORDERS)}, got {by!r}")
    if by == "step" and alpha is None:
        raise ValueError("a step needs alpha: |1 + alpha lambda|")
    with np.errstate(all="ignore"):
        return _climb(enclosure, by, alpha, deadline)


def scaled_step(enclosure: Enclosure, alpha: Fraction | None) -> tuple[float, float]:
    """alpha in the units of the scaled center, and a bound on the error of that float."""
    if alpha is None:
        return 0.0, 0.0
    exact = alpha * Fraction(2) ** enclosure.exponent
    try:
        step = exact.numerator / exact.denominator
    except OverflowError:
        return math.inf, math.inf
    return step, 0.0 if Fraction(step) == exact else up(abs(step) * UNIT)


def _climb(enclosure: Enclosure, by: LeadBy, alpha: Fraction | None, deadline: Deadline) -> Dominance:
    n = enclosure.shape[0]
    if n == 1:
        center = float(enclosure.center[0, 0])
        return Dominance("simple-real", by, math.inf, leader=(complex(center), enclosure.radius), rung="one by one")
    known = Dominance("unknown", by)
    if by == "step" and alpha == 0 and enclosure.slack == 0 and enclosure.exact is not None:  # every score is 1
        leader = leading_eigenvalue(enclosure.exact, by, alpha, deadline)
        return replace(known, kind=leader.kind, exact=leader, rung="every score is 1")
    step, step_error = scaled_step(enclosure, alpha)
    for sliced in (False, True):
        if sliced and (enclosure.center_is_symmetric or n <= 64):
            break
        discs = discs_of(enclosure, sliced=sliced) if math.isfinite(step) else None
        name = "sliced discs" if sliced else "discs"
        known = replace(known, tried=(*known.tried, name))
        if discs is None:
            continue
        found = _from_discs(discs, by, step, step_error)
        known = replace(found, tried=known.tried)
        if known.kind != "unknown":
            return known
    if enclosure.slack > 0 or not enclosure.has_exact:
        return known
    leader = _exact_leader(enclosure, by, alpha, deadline)
    tried = (*known.tried, "exact characteristic polynomial" + (f" ({leader.why})" if leader.why else ""))
    if leader.kind == "unknown":
        return replace(known, exact=leader, tried=tried)
    return replace(
        known, kind=leader.kind, margin=0.0, exact=leader, rung="exact characteristic polynomial", tried=tried
    )


def _exact_leader(enclosure: Enclosure, by: LeadBy, alpha: Fraction | None, deadline: Deadline) -> Leader:
    """From the characteristic polynomial; a matrix too large for it is not written in exact numbers."""
    try:
        allow_charpoly(enclosure.shape[0], deadline)
    except DeadlinePassed as late:
        return Leader("unknown", why=str(late))
    assert enclosure.exact is not None
    return leading_eigenvalue(enclosure.exact, by, alpha if by == "step" else None, deadline)


def _from_discs(discs: Discs, by: LeadBy, step: float, step_error: float) -> Dominance:
    middle, spread, growth = scores(discs, by, step, step_error)
    best = int(np.argmax(middle))
    nothing = Dominance("unknown", by, discs=discs, index=best)
    if discs.centers[best].imag == 0.0:
        others = np.arange(discs.size) != best
        return (
            _isolated(discs, by, middle, spread, growth, np.array([best], dtype=np.intp), others, "simple-real")
            or nothing
        )
    pair = np.flatnonzero((discs.centers == discs.centers[best]) | (discs.centers == np.conj(discs.centers[best])))
    if pair.size == 2 and bool((np.abs(discs.centers[pair].imag) > discs.radii[pair]).all()):
        others = np.ones(discs.size, dtype=bool)
        others[pair] = False
        found = _isolated(discs, by, middle, spread, growth, pair, others, "simple-pair")
        if found is not None:
            # the two discs must also stay off the axis
            room = np.abs(discs.centers[pair].imag) - discs.radii[pair]
            off = float((room / np.maximum(discs.growth[pair], 1e-300)).min())
            return replace(found, margin=min(found.margin, down(off)))
    return _non_real(discs, by, step, step_error, best) or nothing


def _isolated(
    discs: Discs,
    by: LeadBy,
    middle: Array,
    spread: Array,
    growth: Array,
    top: NDArray[np.intp],
    others: NDArray[np.bool_],
    kind: LeaderKind,
) -> Dominance | None:
    i = int(top[0])
    low = float((middle[top] - inflate(spread[top], 2)).min())
    low -= 4 * UNIT * abs(low)
    if not bool(others.any()):
        reach, margin, score = -math.inf, math.inf, middle_score(-math.inf, low)
    else:
        high = middle[others] + inflate(spread[others], 2)
        high = high + 4 * UNIT * np.abs(high)
        reach = float(high.max())
        if not low > reach:
            return None
        rate = float(growth[top].max()) + growth[others]
        margin = down(float(((low - high) / np.maximum(rate * (1 + 4 * UNIT), 1e-300)).min()), 8)
        own = max(float(growth[top].max()), 1e-300)
        score = low - own * margin
        score = score if reach < score < low else middle_score(reach, low)
        # a float score is not exactly there: what it allows on both sides (score and ends are close: differences are exact)
        behind = down(float(((score - high) / np.maximum(growth[others] * (1 + 4 * UNIT), 1e-300)).min()), 8)
        margin = min(margin, down((low - score) / own, 8), behind)
    center = complex(discs.centers[i])
    return Dominance(kind, by, margin, (reach, low), score, (center, float(discs.radii[i])), discs.method, (), i, discs)


def _ahead_off_axis(discs: Discs, by: LeadBy, step: float, step_error: float, best: int) -> tuple[float, float] | None:
    """(highest score that touches the axis, lowest score of the component of ``best``) if the second is larger."""
    middle, spread, _ = scores(discs, by, step, step_error)
    touching = np.abs(discs.centers.imag) <= discs.radii
    component = discs.component(best)
    if bool(touching[component].any()):
        return None
    low = float((middle[component] - inflate(spread[component], 2)).min())
    high = float((middle[touching] + inflate(spread[touching], 2)).max()) if bool(touching.any()) else -math.inf
    low, high = low - 4 * UNIT * abs(low), high + 4 * UNIT * abs(high) if math.isfinite(high) else high
    return (high, low) if low > high else None


def _non_real(discs: Discs, by: LeadBy, step: float, step_error: float, best: int) -> Dominance | None:
    found = _ahead_off_axis(discs, by, step, step_error, best)
    if found is None:
        return None
    rho = abs(complex(discs.centers[best]).imag) / max(float(discs.growth[best]), 1e-300)
    margin, last = 0.0, found
    for _ in range(30):
        after = _ahead_off_axis(discs.grown(rho), by, step, step_error, best) if rho > 0 else None
        if after is not None:
            margin, last = down(rho), after
            break
        rho *= 0.5
    leader = (complex(discs.centers[best]), float(discs.radii[best]))
    return Dominance("non-real", by, margin, found, middle_score(*last), leader, discs.method, (), best, discs)


def eigenvector_angle(found: Dominance) -> tuple[Array, float] | None:
    """``(x, s)``: the ``simple-real`` leading eigenvector makes an angle with x whose sine is at most s.

    Only where the discs themselves show who leads: after an exact rung, ``index`` is the largest float and may be another one.
    """
    discs = found.discs
    if found.kind != "simple-real" or found.exact is not None or discs is None or discs.vectors is None:
        return None
    i = found.index
    distance = np.abs(discs.centers - discs.centers[i]) * (1 - 8 * UNIT) - discs.radii[i] * (1 + 8 * UNIT)
    others = np.arange(discs.size) != i
    if not bool((distance[others] > 0).all()):
        return None
    x = np.ascontiguousarray(discs.vectors[:, i])
    norm = float(np.linalg.norm(x)) * (1 - (2 * x.size + 8) * UNIT)
    if discs.method == "symmetric intervals":  # Davis and Kahan: sin <= residual / gap, twice, and 1/||x|| <= 2
        gap = float(distance[others].min()) - float(discs.radii[i])
        return (x, up(4.0 * float(discs.radii[i]) / gap, 4)) if gap > 0 and norm > 0.5 else None
    parts = discs.radii[others] / distance[others]
    largest = float(np.sqrt(np.square(discs.vectors).sum(axis=0)).max()) * (1 + (2 * x.size + 8) * UNIT)
    sine = up(float(inflate(float(parts.sum()), discs.size + 4)) * largest / norm, 6)
    return x, min(sine, 1.0)


def middle_score(below: float, above: float) -> float:
    """A float score strictly between, where there is one (else the upper end, at which the leaders start)."""
    if not math.isfinite(below):
        below = above - max(1.0, abs(above))
    middle = below + (above - below) / 2
    return middle if below < middle < above else above


_SMALLEST = 65  # below, exact arithmetic and balls re-check without any stored matrix
_NEAR = 100.0  # another eigenvalue is so much nearer to the leader than most: the inverse must be good


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
        stored = _build(centers, beta, found, discs)
        if stored is None or found.by != "step":
            return _supported(a, beta, found.by, stored, enclosure.radius)
        lip = abs(scaled_step(enclosure, alpha)[0])
        result = _supported(a, beta, "modulus", stored, up(lip * enclosure.radius))
        return None if result is None else _with_margin(result, down(result.margin / lip) if lip > 0 else 0.0)


def _with_margin(stored: StoredDominance, margin: float) -> StoredDominance:
    return StoredDominance(stored.matrix, stored.vector, stored.row, margin)


def _build(centers: NDArray[np.complex128], beta: float, found: Dominance, discs: Discs) -> StoredDominance | None:
    weights = 1.0 / (beta - centers.real) if found.by == "real-part" else 1.0 / (1.0 - (np.abs(centers) / beta) ** 2)
    if not np.isfinite(weights).all() or int((weights < 0).sum()) != 1:
        return None
    sizes = np.abs(weights)
    near = float(sizes.max()) > _NEAR * float(np.median(sizes))
    vectors, inverse = discs.vectors, discs.refined_inverse() if near else discs.inverse
    if vectors is None or inverse is None:
        return None
    p = multiply(inverse.T, weights[:, None] * inverse)
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
        product = multiply(p, a)
        q = (2 * beta) * p - (product + product.T)
        error = up(4 * (n + 4) * UNIT * norm_p * (norm_a + abs(beta)), 8)
        rate = up(2 * spectral_norm_above(p))
    else:
        q = (beta * beta) * p - multiply(a.T, multiply(p, a))
        error = up(4 * gamma(n + 4) * norm_p * (norm_a * norm_a + beta * beta), 8)
        rate = up(4 * spectral_norm_above(p) * up(spectral_norm_above(a)))
    q = 0.5 * (q + q.T)
    try:
        guess = quick_estimate(q)
        smallest = float(np.linalg.eigvalsh(q)[0]) if guess is None else guess
    except (np.linalg.LinAlgError, ValueError):
        return None
    for share in (0.5, 0.2, 0.05):
        reach = share * smallest / rate
        if reach > radius and cholesky_bound(q, up(error + rate * reach)) is not None:
            return _with_margin(stored, down(reach - radius))
    return None
