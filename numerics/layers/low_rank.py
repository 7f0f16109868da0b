"""One head's matrix ``M = A B`` (A: d x r, B: r x d, r < d) certified through its factors; M is never formed.

*Compression.*  Let ``Z^T = [A, B^T]`` (d x 2r) and take a float ``Z^T = Q T + E`` with ``||Q^T Q - I|| <= g < 1``.  With the
polar decomposition ``Q = W H`` (W has orthonormal columns, ``||H - I|| <= g``) and ``[W, W']`` orthogonal,

    ``[W, W']^T M [W, W'] = (T_A T_B^T) (+) 0 + Err,   ||Err|| <= |T_A| e_B + e_A |T_B| + e_A e_B,   e_X = g |T_X| + ||E||``

so up to an orthogonal change of basis M is the small matrix ``C = T_A T_B^T`` (2r x 2r) padded with zeros, within a radius
that is bounded here: norms, distances and the eigenvalues of sym(M) (Weyl) are those of C and zero, within the radius.

*Spectrum.*  The nonzero eigenvalues of A B are those of the core ``B A`` (r x r), and 0 has multiplicity at least d - r.

*Rank.*  At most r: a fact of the shapes.  It is r when ``A^T A`` and ``B B^T`` are positive definite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigentoken.documents.verdict_document import Eigenvalue
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.certified.exact_matrices import Deadline
from eigentoken.numerics.certified.lapack import dpotrf, dtrtrs
from eigentoken.numerics.certified.norms import RankBounds, distance_to_identity, rank_of
from eigentoken.numerics.certified.rounding import TINY, Array, frobenius_above, gamma, scale_down, scale_up, up
from eigentoken.numerics.layers.quantities import (
    Interval,
    distance_interval,
    in_units,
    norm_of,
    real_parts,
    symmetric_extremes,
)
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["LowRank", "triangular"]

UNIT = "spectral norm"
#: Beyond this width no d x d matrix of a single head is formed, not even to decide an exact equality.
DENSE_LIMIT = 1024
#: Columns that a Cholesky factor makes orthonormal up to this are as good as those of reflections.
ORTHONORMAL = 1e-13


@dataclass(frozen=True, eq=False)
class LowRank:
    """``M = first second`` with exact factors of shapes (d, r) and (r, d), r < d, or a second one within its radius."""

    first: Enclosure
    second: Enclosure
    time_limit: float = 1.0
    dense: bool = True
    "May M be formed, to decide an exact equality?"

    def __post_init__(self) -> None:
        d, r = self.first.shape
        if self.second.shape != (r, d):
            raise ValueError(
                f"the factors must have shapes (d, r) and (r, d), got {self.first.shape}, {self.second.shape}"
            )

    @property
    def d(self) -> int:
        return self.first.shape[0]

    @property
    def r(self) -> int:
        return self.first.shape[1]

    @property
    def may_be_formed(self) -> bool:
        return self.dense and self.d <= DENSE_LIMIT

    @cached_property
    def core(self) -> Enclosure:
        """``second first`` (r x r): its nonzero eigenvalues are those of M, with multiplicities."""
        return product(self.second, self.first)

    @cached_property
    def _compressed(self) -> tuple[Enclosure, Array | None]:
        """C with its radius, named as M, and the float basis Q (``None`` where nothing is saved: 2r >= d)."""
        if 2 * self.r >= self.d:
            return product(self.first, self.second), None
        a, shift_a = _of_size_one(self.first.center)
        b, shift_b = _of_size_one(self.second.center.T)
        q, t, g, e = _orthonormal(np.hstack([a, b]))
        if not g < 0.5:
            return product(self.first, self.second), None
        m, r = t.shape[0], self.r
        t_a, t_b = t[:, :r], t[:, r:]
        size_a, size_b = frobenius_above(t_a), frobenius_above(t_b)
        e_a = up(g * size_a + e + scale_up(self.first.radius, -shift_a), 8)
        e_b = up(g * size_b + e + scale_up(self.second.radius, -shift_b), 8)
        rounding = up(gamma(r + 1) * size_a * size_b + r * m * m * TINY, 8)
        radius = up(up(size_a * e_b + e_a * size_b + e_a * e_b, 8) + rounding, 8)
        first, second = self.first, self.second  # not self: no cycle keeps the factors alive
        found = Enclosure(
            np.ascontiguousarray(t_a @ t_b.T),
            radius,
            0.0,
            self.first.exponent + self.second.exponent + shift_a + shift_b,
            None,
            lambda: {**first.inputs, **second.inputs},
            tuple(left + right for left in first.terms for right in second.terms),
        )
        return found, q

    @property
    def compressed(self) -> Enclosure:
        """C: M in an orthonormal basis is C padded with zeros, within the radius of this enclosure."""
        return self._compressed[0]

    @cached_property
    def with_kernel(self) -> Enclosure:
        """C beside one zero: where the largest eigenvalue of sym(M) is positive, its two largest are those of this matrix's."""
        found, basis = self._compressed
        if basis is None:
            return found  # M itself
        return Enclosure(np.pad(found.center, (0, 1)), found.radius, found.slack, found.exponent)

    @cached_property
    def norm(self) -> Interval:
        """``||M||`` in the spectral norm."""
        return norm_of(self.compressed)

    @cached_property
    def _symmetry(self) -> Verdict:
        """Whether C is symmetric; the verdict knows the distance."""
        return self._ask("symmetric")

    @cached_property
    def to_symmetric(self) -> Interval:
        """``||M - M^T|| / 2``: the spectral distance to the symmetric matrices."""
        return distance_interval(self._symmetry)

    @cached_property
    def to_identity(self) -> Interval:
        """``||M - I||``, at least 1 because M has a kernel."""
        low, high = in_units(self.compressed, distance_to_identity(self.compressed))
        beside = up(1.0 + scale_up(self.compressed.radius, self.compressed.exponent))
        return max(low, 1.0), max(high, beside)

    @cached_property
    def symmetric_extremes(self) -> tuple[Interval, Interval] | None:
        """Intervals of the smallest and the largest eigenvalue of sym(M); M has a kernel, so 0 lies between them."""
        found = symmetric_extremes(self.compressed)
        if found is None:
            return None
        (low, below), (above, high) = found
        # the zeros beside C move by the radius, too, unless C is certainly on one side: then they stay exactly 0
        bottom = 0.0 if low > 0 else min(low, -below)
        top = 0.0 if high < 0 else max(high, -above)
        return (bottom, min(below, 0.0)), (max(above, 0.0), top)

    @cached_property
    def _factor_ranks(self) -> tuple[RankBounds, RankBounds]:
        deadline = Deadline.after(self.time_limit)
        return rank_of(self.first, deadline), rank_of(self.second, deadline)

    @property
    def first_is_injective(self) -> Verdict:
        """Has the first factor rank r?  The margin is the distance to a matrix of smaller rank."""
        found = self._factor_ranks[0]
        if found.low == self.r:
            margin = scale_down(found.margin, self.first.exponent)
            return holds(f"the first factor has rank {self.r} ({found.rung})", margin=margin, unit=UNIT)
        return undecided(f"the rank of the first factor is between {found.low} and {found.high}")

    @property
    def rank(self) -> Verdict:
        """The rank, which is at most r by the shapes: ``holds`` where both factors are certified to have rank r.

        The margin is that of the weaker factor: the rank stays r while neither factor moves by more.
        """
        found = self._factor_ranks
        low = max(0, found[0].low + found[1].low - self.r)  # Sylvester's rank inequality
        details: VerdictDetails = {"rank": [low, min(found[0].high, found[1].high)]}
        if low == self.r:
            factors = zip(found, (self.first, self.second), strict=True)
            margin = min(scale_down(bound.margin, factor.exponent) for bound, factor in factors)
            reason = f"rank {self.r} of {self.d}: both factors have rank {self.r}"
            return holds(reason, margin=margin, unit="spectral norm of a factor", details=details)
        return undecided(f"rank between {low} and {self.r}: a factor is not certified of full rank", details=details)

    @cached_property
    def core_parts(self) -> tuple[list[float], list[float]] | None:
        """The ordered real parts of the core."""
        return real_parts(self.core)

    def parts(self) -> tuple[list[float], list[float]] | None:
        """The real parts of the core and d - r zeros, in order: entry k encloses the (k+1)-th largest real part of M."""
        found = self.core_parts
        if found is None:
            return None
        zeros = [0.0] * (self.d - self.r)
        return sorted(found[0] + zeros, reverse=True), sorted(found[1] + zeros, reverse=True)

    def inertia(self) -> Verdict:
        """Of sym(M): exactly (r, r, d - 2r) where ``[A, B^T]`` has full column rank 2r <= d, certified by its Gram matrix.

        ``sym(A B) = Z^T J Z / 2`` with ``Z^T = [A, B^T]`` and J of inertia (r, r, 0) (Sylvester).
        """
        if 2 * self.r > self.d:
            return undecided(f"2 x {self.r} rows are more than {self.d}: the factors do not fix the inertia")
        scaled = (self.first, self.second.transpose)
        (a, shift_a), (b, shift_b) = (_of_size_one(each.center) for each in scaled)
        radii = (scale_up(each.radius, -shift) for each, shift in zip(scaled, (shift_a, shift_b), strict=True))
        stacked = Enclosure(np.hstack([a, b]), up(sum(radii) + 2 * a.size * TINY, 4))
        full = rank_of(stacked, Deadline.after(self.time_limit))
        if full.low < 2 * self.r:
            return undecided(f"the rank of [A, B^T] is between {full.low} and {full.high}")
        counts = [self.r, self.r, self.d - 2 * self.r]
        details: VerdictDetails = {"inertia": counts, "certified": "full rank of the factors"}
        if self.symmetric_extremes is not None:
            smallest, largest = self.symmetric_extremes
            details["eigenvalues_of_symmetric_part"] = {"smallest": [*smallest], "largest": [*largest]}
        reason = "inertia ({}, {}, {}): the factors have full rank".format(*counts)
        return holds(reason, margin=0.0, unit=UNIT, details=details)

    def certify(self, name: str) -> Verdict:
        """One of the conditions that theorems put on a matrix, asked of M on the whole of R^d."""
        if name not in _ASKED:
            return undecided(f"{name} is not decided through the factors of a head")
        verdict: Verdict = _ASKED[name](self, name)
        return verdict

    @property
    def deficient(self) -> str:
        return f"the rank is at most {self.r} of {self.d} (the factors are {self.d} x {self.r} and {self.r} x {self.d})"

    def _ask(self, name: str) -> Verdict:
        """The condition on C, and where that settles the one on M, a verdict whose certificate speaks of M."""
        compressed, basis = self._compressed
        verdict = certify(name, compressed, time_limit=self.time_limit)
        certificate = verdict.certificate
        if basis is None or certificate is None:
            return verdict
        arrays: dict[str, Array] = {}
        if "direction" in certificate.arrays:
            direction = np.asarray(certificate.arrays["direction"], dtype=np.float64)
            arrays = {"direction": np.ascontiguousarray(basis @ direction)}
        data = {**certificate.data, "shape": [self.d, self.d]}
        return replace(verdict, certificate=replace(certificate, data=data, arrays=arrays))


def _orthonormal(z: Array) -> tuple[Array, Array, float, float]:
    """``(Q, T, g, e)`` in floats with ``z = Q T + E``, ``||E|| <= e`` and ``||Q^T Q - I|| <= g``."""
    q, t, gram = _triangular_basis(z)
    m = t.shape[0]
    size_q, size_t = frobenius_above(q), frobenius_above(t)
    defect = z - q @ t
    sizes = up(frobenius_above(z) + size_q * size_t)
    e = up(frobenius_above(defect) + gamma(m + 3) * sizes + 2 * defect.size * TINY, 8)
    g = up(frobenius_above(gram) + gamma(z.shape[0] + 3) * up(size_q * size_q + m) + m * m * TINY, 8)
    return q, t, g, e


def _triangular_basis(z: Array) -> tuple[Array, Array, Array]:
    """Q and T in floats with z near Q T, and ``fl(Q^T Q) - I``; what they are worth is bounded by the caller.

    T is the Cholesky factor of ``z^T z``, a third of the work of reflections, while the columns are far from dependent.
    """
    m = z.shape[1]
    factor, refused = dpotrf(z.T @ z, lower=0, clean=1)
    if not refused:
        turned, refused = dtrtrs(factor, z.T, lower=0, trans=1)
        q = turned.T
        gram = q.T @ q
        gram.flat[:: m + 1] -= 1.0
        if not refused and float(np.abs(gram).max()) < ORTHONORMAL:
            return q, np.ascontiguousarray(factor), gram
    q, t = np.linalg.qr(z)
    gram = q.T @ q
    gram.flat[:: m + 1] -= 1.0
    return q, t, gram


def triangular(tall: Enclosure) -> Enclosure:
    """T (r x r) with ``A = W T`` within the radius of this enclosure, for A (d x r) and a W with orthonormal columns.

    ``||A X B^T|| = ||T_A X T_B^T||`` within what the radii allow: norms of products with one A and many X cost r x r.
    """
    scaled, shift = _of_size_one(tall.center)
    _, t, g, e = _orthonormal(scaled)
    if not g < 0.5:
        return tall
    radius = up(g * frobenius_above(t) + e + scale_up(tall.radius, -shift), 8)
    return Enclosure(t, radius, 0.0, tall.exponent + shift)


def _of_size_one(matrix: Array) -> tuple[Array, int]:
    """The matrix times a power of two that brings its largest entry near 1 (subnormal entries lose at most TINY)."""
    shift = math.frexp(float(np.abs(matrix).max()))[1]
    return np.ldexp(matrix, -shift), shift


def _definite(head: LowRank, name: str) -> Verdict:
    """A matrix with a kernel is not definite; how far sym(M) is on the other side is certified where it is."""
    verdict = head._ask(name)
    if verdict.is_fails:
        return verdict
    return fails(f"x^T M x = 0 on the kernel: {head.deficient}", margin=0.0, unit=UNIT)


def _semidefinite(head: LowRank, name: str) -> Verdict:
    verdict = head._ask(name)
    if verdict.is_fails or not head.may_be_formed:
        return (
            verdict
            if verdict.is_fails
            else undecided(f"no eigenvalue of sym(M) is certified negative: {verdict.reason}")
        )
    return certify(name, product(head.first, head.second), time_limit=head.time_limit)


def _symmetric(head: LowRank, name: str) -> Verdict:
    low, high = head.to_symmetric
    if low > 0:
        return head._symmetry
    if head.may_be_formed:
        return certify(name, product(head.first, head.second), time_limit=head.time_limit)
    return undecided(f"at a spectral distance of at most {high:.3g} from symmetric: exact equality was not asked")


def _identity(head: LowRank, name: str) -> Verdict:
    low, high = head.to_identity
    return fails(
        f"at spectral distance at least {low:.6g}: {head.deficient}",
        margin=low,
        unit=UNIT,
        details={"distance": [low, high if math.isfinite(high) else None], "norm": "spectral"},
    )


def _nonsingular(head: LowRank, name: str) -> Verdict:
    return fails(f"M is singular: {head.deficient}", margin=0.0, unit=UNIT, details=head.rank.details)


def _away_from_zero(disc: Eigenvalue) -> bool:
    """Is 0 certainly outside the disc?"""
    re, im, radius = disc["re"], disc["im"], disc["radius"]
    return re is not None and im is not None and radius is not None and math.hypot(re, im) * (1 - 2.0**-50) > radius


def _leader(head: LowRank, name: str) -> Verdict:
    """From the core's leader, against the eigenvalue 0 of multiplicity at least d - r."""
    verdict = certify(name, head.core, time_limit=head.time_limit)
    verdict = replace(verdict, reason=f"core B A of M = A B: {verdict.reason}", unit=f"{verdict.unit} of the core")
    ends = head.core_parts
    if name == "dominant-modulus":
        if (
            not verdict.is_undecided
            and "eigenvalue" in verdict.details
            and _away_from_zero(verdict.details["eigenvalue"])
        ):
            return verdict
        return undecided(f"whether the core leads the eigenvalue 0 is not certified: {verdict.reason}")
    if ends is None:
        return undecided(f"no bound on the spectrum of the core: {verdict.reason}")
    if ends[0][0] > 0:  # the largest real part of the core is positive: it leads the zeros
        return verdict
    if ends[1][0] < 0:
        zero = f"every eigenvalue of the core has a negative real part, and 0 is an eigenvalue {head.d - head.r}-fold"
        if head.d - head.r >= 2:
            return fails(f"the leading eigenvalue 0 is multiple: {zero}", margin=0.0, unit=UNIT)
        return holds(f"0 leads and is simple: {zero}", margin=0.0, unit=UNIT)
    return undecided(f"the sign of the core's leading real part is open: between {ends[0][0]:.3g} and {ends[1][0]:.3g}")


_ASKED: dict[str, Any] = {
    "symmetric": _symmetric,
    "identity": _identity,
    "positive-definite": _definite,
    "negative-definite": _definite,
    "positive-semidefinite": _semidefinite,
    "nonsingular": _nonsingular,
    "dominant-real-part": _leader,
    "dominant-modulus": _leader,
}
