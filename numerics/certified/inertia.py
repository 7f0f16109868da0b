"""The ladder for symmetric questions: how many eigenvalues of sym(M) are positive, negative, exactly zero.

Rungs, each of which can only add certified facts: one Cholesky factorization; eigenvalue intervals from one ``eigh``;
the same after equilibration by powers of two; a congruence evaluated by sliced products (Sylvester's law of inertia);
the exact characteristic polynomial with Descartes' rule.  Where the input has slack, the exact rung counts the
eigenvalues beyond the slack on both sides (Weyl: an eigenvalue moves by at most the norm of the perturbation).
The bounds themselves are argued in :mod:`eigentoken.numerics.certified.definiteness` and
:mod:`eigentoken.numerics.certified.exact_matrices`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from eigentoken.numerics.certified.arithmetic import NUMPY, current, trusted
from eigentoken.numerics.certified.definiteness import (
    cholesky_bound,
    cholesky_factor,
    eigenvalue_intervals,
    equilibrated,
    estimate_of_factor,
    quick_estimate,
    rayleigh_above,
    refined_congruence,
    smallest_direction,
    smallest_estimate,
)
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.exact_kernels import nullity
from eigentoken.numerics.certified.exact_matrices import (
    Deadline,
    DeadlinePassed,
    ExactMatrix,
    sign_counts_of_polynomial,
)
from eigentoken.numerics.certified.rounding import Array

__all__ = ["AtOnce", "Signs", "definite_at_once", "exact_signs", "float_below", "mirrored", "signs_of"]

#: From this size on the margin of a definite matrix is guessed in single precision first.
SINGLE_FROM = 128
Goal = Callable[["Signs"], bool]


@dataclass(frozen=True)
class Signs:
    """Certified counts (lower bounds; they add up to ``size`` when everything is known) and certified intervals.

    ``smallest`` and ``largest`` enclose the extreme eigenvalues of sym(M), in the units of the scaled center, for every
    M of the enclosure; ``clearance`` bounds every ``|lambda_i|`` from below.  ``transform`` is a hint for a re-check.
    """

    size: int
    positive: int = 0
    negative: int = 0
    zero: int = 0
    smallest: tuple[float, float] = (-math.inf, math.inf)
    largest: tuple[float, float] = (-math.inf, math.inf)
    clearance: float = 0.0
    rung: str = ""
    tried: tuple[str, ...] = ()
    transform: Array | None = field(default=None, repr=False)
    witness: Array | None = field(default=None, repr=False)

    @property
    def complete(self) -> bool:
        return self.positive + self.negative + self.zero == self.size

    def joined(self, other: Signs) -> Signs:
        """Both sets of facts."""
        gained = (other.positive, other.negative, other.zero) != (0, 0, 0)
        return Signs(
            self.size,
            max(self.positive, other.positive),
            max(self.negative, other.negative),
            max(self.zero, other.zero),
            (max(self.smallest[0], other.smallest[0]), min(self.smallest[1], other.smallest[1])),
            (max(self.largest[0], other.largest[0]), min(self.largest[1], other.largest[1])),
            max(self.clearance, other.clearance),
            other.rung if gained or not self.rung else self.rung,
            self.tried + other.tried,
            self.transform if other.transform is None else other.transform,
            self.witness if other.witness is None else other.witness,
        )


def _from_intervals(w: Array, e: float, rung: str, *, scaled: bool) -> Signs:
    """Counts from ``|lambda_i - w_i| <= e``; of a congruent matrix (``scaled``) only the signs carry over."""
    n = w.shape[0]
    positive, negative = int((w > e).sum()), int((w < -e).sum())
    if scaled:
        return Signs(n, positive, negative, rung=rung, tried=(rung,))

    def lower(value: float) -> float:
        return float(np.nextafter(value - e, -np.inf))

    def upper(value: float) -> float:
        return float(np.nextafter(value + e, np.inf))

    clearance = max(0.0, lower(float(np.abs(w).min()))) if positive + negative == n else 0.0
    first, last = float(w[0]), float(w[-1])
    return Signs(
        n, positive, negative, 0, (lower(first), upper(first)), (lower(last), upper(last)), clearance, rung, (rung,)
    )


@dataclass(frozen=True)
class AtOnce:
    """What one factorization shows of the signs of a symmetric matrix, with a copy of the matrix and the factor in one array.

    LAPACK leaves the other triangle of what it factors as it was, so that the copy costs nothing beside the diagonal.
    """

    signs: Signs
    factor: Array = field(repr=False)
    diagonal: Array = field(repr=False)
    name: str
    slack: float

    def whole(self) -> tuple[Enclosure, Signs]:
        """What was asked about, with its digest, and the same signs with a margin near the smallest modulus.

        The one array becomes the matrix again, then a factor: the center of the enclosure is no matrix then.  What is below the
        diagonal is never written, so that this may be asked again after an interruption.
        """
        n = self.signs.size
        with np.errstate(all="ignore"):
            try:
                estimate = estimate_of_factor(self.factor)  # of a matrix from which the radius was subtracted
            except np.linalg.LinAlgError:
                estimate = 0.0
            target = mirrored(self.factor.T, self.diagonal)
            enclosure = Enclosure.from_floats(target if self.signs.positive else -target, self.slack, self.name)
            enclosure.inputs  # noqa: B018 - the digest is found now, before the array is a factor

            def attempt(aim: float) -> float | None:
                found = cholesky_bound(target, enclosure.radius, aim, room=target)
                if found is None:
                    mirrored(target, self.diagonal)
                return found

            bound = _raised(n, estimate, self.signs.clearance, attempt)
        return enclosure, _definite(n, 1.0 if self.signs.positive else -1.0, bound)


def mirrored(lower: Array, diagonal: Array, tile: int = 96) -> Array:
    """That very array, made the symmetric matrix with its part below the diagonal; what stands above it is not read.

    >>> mirrored(np.array([[0.0, 9.0], [-0.0, 0.0]]), np.array([1.0, 2.0])).tolist()
    [[1.0, -0.0], [-0.0, 2.0]]
    """
    n = len(diagonal)
    upper = np.tri(tile, dtype=bool).T
    for i in range(0, n, tile):
        rows = slice(i, i + tile)
        block = lower[rows, rows]
        np.copyto(block, block.T.copy(), where=upper[: len(block), : len(block)])
        for j in range(i + tile, n, tile):
            lower[rows, j : j + tile] = lower[j : j + tile, rows].T
    lower.flat[:: n + 1] = diagonal
    return lower


def definite_at_once(enclosure: Enclosure) -> AtOnce | None:
    """Definite by one factorization here, for a symmetric matrix so large that anything more would be felt; else None."""
    n = enclosure.shape[0]
    if n < SINGLE_FROM or current() is not NUMPY or not trusted():
        return None
    if not (enclosure.plain and enclosure.center_is_its_transpose):
        return None
    matrix, rho = enclosure.symmetric_part
    sign = _sign_of_diagonal(matrix)
    with np.errstate(all="ignore"):
        found = None if sign is None else cholesky_factor(matrix if sign > 0 else -matrix, rho)
    if sign is None or found is None:
        return None
    diagonal = matrix.diagonal() * sign
    return AtOnce(_definite(n, sign, found[0]), found[1], diagonal, enclosure.terms[0][0][0], enclosure.slack)


def _sign_of_diagonal(matrix: Array) -> float | None:
    """The sign that all diagonal entries have, or None."""
    diagonal = matrix.diagonal()
    sign = 1.0 if diagonal[0] > 0 else -1.0
    return sign if bool((diagonal * sign > 0).all()) else None


def _definite(n: int, sign: float, bound: float) -> Signs:
    rung = "cholesky"
    if sign > 0:
        return Signs(n, n, 0, 0, (bound, math.inf), (bound, math.inf), bound, rung, (rung,))
    return Signs(n, 0, n, 0, (-math.inf, -bound), (-math.inf, -bound), bound, rung, (rung,))


def _by_cholesky(matrix: Array, rho: float, *, refine: bool) -> Signs | None:
    """Definite, by one factorization (and a few more for a useful margin)."""
    n = matrix.shape[0]
    sign = _sign_of_diagonal(matrix)
    if sign is None:
        return None
    target = matrix if sign > 0 else -matrix
    bound = _bound_at_once(target, rho) if refine and n >= SINGLE_FROM else None
    if bound is None:
        first = cholesky_factor(target, rho)
        if first is None:
            return None
        bound = _larger_bound(target, rho, *first) if refine else first[0]
    return _definite(n, sign, bound)


def _bound_at_once(matrix: Array, rho: float) -> float | None:
    """A margin near the smallest eigenvalue by one factorization, where single precision is enough to guess it."""
    try:
        estimate = quick_estimate(matrix)
    except (np.linalg.LinAlgError, ValueError):
        return None
    aim = 0.0 if estimate is None else (estimate - rho) * (0.999 if matrix.shape[0] <= 256 else 0.95)
    return cholesky_bound(matrix, rho, aim) if math.isfinite(aim) and aim > 0.0 else None


def _larger_bound(matrix: Array, rho: float, bound: float, factor: Array) -> float:
    """Raise the certified margin towards the smallest eigenvalue, estimated (not trusted) from the first factor."""
    try:
        estimate = smallest_estimate(matrix, factor)
    except (np.linalg.LinAlgError, ValueError):
        return bound
    return _raised(len(matrix), estimate - rho, bound, lambda aim: cholesky_bound(matrix, rho, aim, room=factor.T))


def _raised(n: int, estimate: float, bound: float, attempt: Callable[[float], float | None]) -> float:
    """The first share of an estimate that an attempt proves, or the bound that is known."""
    for share in (0.999, 0.9, 0.5, 0.1) if n <= 256 else (0.95, 0.5, 0.1):
        aim = estimate * share
        if not aim > bound:
            break
        better = attempt(aim)
        if better is not None:
            return max(better, bound)
    return bound


def _by_direction(matrix: Array, rho: float, *, flip: bool) -> Signs | None:
    """One eigenvalue of the given sign, by a Rayleigh quotient: negative, or positive when ``flip``."""
    target = -matrix if flip else matrix
    x = smallest_direction(target)
    if x is None:
        return None
    quotient = rayleigh_above(target, rho, x)
    if not quotient < 0:
        return None
    n = matrix.shape[0]
    if flip:
        return Signs(n, 1, 0, 0, largest=(-quotient, math.inf), rung="rayleigh", tried=("rayleigh",), witness=x)
    return Signs(n, 0, 1, 0, smallest=(-math.inf, quotient), rung="rayleigh", tried=("rayleigh",), witness=x)


def float_below(value: Fraction) -> float:
    """A float that is not above a positive rational (zero if it is too small)."""
    if value <= 0:
        return 0.0
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        return math.nextafter(math.inf, 0.0)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


def exact_signs(exact: ExactMatrix, slack: Fraction, exponent: int, deadline: Deadline) -> Signs:
    """The exact rung, on the symmetric part of an exact matrix with slack (both in the units of the input)."""
    part = exact.symmetric_part()
    n = part.shape[0]
    rung = "exact characteristic polynomial"
    if slack == 0:
        polynomial = part.charpoly(deadline)
        positive, negative, zero = sign_counts_of_polynomial(polynomial)
        smallest, largest = (-math.inf, math.inf), (-math.inf, math.inf)
        clearance = 0.0
        if n in (positive, negative):  # |lambda| >= 1 / sum 1/|lambda_i| = |c_0 / c_1|
            ratio = abs(Fraction(int(polynomial[0]), int(polynomial[1]))) / int(part.denominator)
            clearance = float_below(ratio / Fraction(2) ** exponent)
            smallest = (clearance, math.inf) if positive else (-math.inf, -clearance)
            largest = smallest
        return Signs(n, positive, negative, zero, smallest, largest, clearance, rung, (rung,))
    positive = part.shifted(-slack).inertia(deadline)[0]
    negative = part.shifted(slack).inertia(deadline)[1]
    return Signs(n, positive, negative, 0, rung=rung, tried=(rung,))


def signs_of(enclosure: Enclosure, goal: Goal, deadline: Deadline, *, refine: bool = True) -> Signs:
    """Climb until ``goal`` is satisfied or the rungs or the time are used up."""
    with np.errstate(all="ignore"):
        return _climb(enclosure, goal, deadline, refine=refine)


def _climb(enclosure: Enclosure, goal: Goal, deadline: Deadline, *, refine: bool) -> Signs:
    n = enclosure.shape[0]
    known = Signs(n)
    cheap = n <= 40 and enclosure.has_exact
    if trusted() and math.isfinite(enclosure.radius):
        known = _float_rungs(enclosure, goal, known, refine=refine, quick=cheap)
        if goal(known):
            return known
    else:
        known = replace(known, tried=("no float rung: the backend did not pass its probe, or the radius is infinite",))
    if not enclosure.has_exact or enclosure.exact is None:
        return known
    if not cheap and enclosure.slack == 0:
        zero = nullity(enclosure.exact.symmetric_part())
        known = known.joined(Signs(n, zero=zero, rung="exact kernel")) if zero else known
        known = replace(known, tried=(*known.tried, "exact kernel"))
        if zero and not goal(known) and trusted():
            known = _beside_the_kernel(enclosure, known, zero)
        if goal(known):
            return known
    try:
        return known.joined(exact_signs(enclosure.exact, enclosure.slack_above, enclosure.exponent, deadline))
    except DeadlinePassed as late:
        return replace(known, tried=(*known.tried, str(late)))


def _beside_the_kernel(enclosure: Enclosure, known: Signs, zero: int) -> Signs:
    """Signs of ``T S T^T`` for the eigenvectors T of all but the ``zero`` smallest moduli, in sliced products.

    Each positive eigenvalue of the compression is one of S, and each negative one (Cauchy, Sylvester).
    """
    matrix, rho = enclosure.symmetric_part
    try:
        w, x = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        return known
    order = np.argsort(np.abs(w))[zero:]
    refined = refined_congruence(matrix, rho, np.ascontiguousarray((x[:, order] / np.sqrt(np.abs(w[order]))).T))
    again = None if refined is None else eigenvalue_intervals(*refined)
    if again is None:
        return known
    positive, negative = int((again[0] > again[1]).sum()), int((again[0] < -again[1]).sum())
    return known.joined(Signs(known.size, positive, negative, rung="exact kernel", tried=("sliced compression",)))


def _float_rungs(enclosure: Enclosure, goal: Goal, known: Signs, *, refine: bool, quick: bool) -> Signs:
    matrix, rho = enclosure.symmetric_part
    found = _by_cholesky(matrix, rho, refine=refine)
    if found is not None:
        known = known.joined(found)
        if goal(known):
            return known
    if matrix.shape[0] > 256:
        for flip in (False, True):
            found = _by_direction(matrix, rho, flip=flip)
            known = known.joined(found) if found is not None else known
            if goal(known):
                return known
    intervals = enclosure.symmetric_spectrum
    if intervals is not None:
        w, e, x = intervals
        found = _from_intervals(w, e, "eigenvalue intervals", scaled=False)
        known = known.joined(replace(found, transform=np.ascontiguousarray(x.T)))
        if goal(known):
            return known
    if quick:
        return known
    scaled = equilibrated(matrix, rho)
    if scaled is not None:
        matrix, rho, _ = scaled
        found = _by_cholesky(matrix, rho, refine=False)
        if found is not None:
            known = known.joined(Signs(found.size, found.positive, found.negative, rung="scaled", tried=("scaled",)))
            if goal(known):
                return known
        intervals = eigenvalue_intervals(matrix, rho)
        if intervals is not None:
            known = known.joined(_from_intervals(intervals[0], intervals[1], "scaled intervals", scaled=True))
            if goal(known):
                return known
    if intervals is None:
        return known
    w, _, x = intervals
    floor = float(np.abs(w).max()) * matrix.shape[0] * 2.0**-52
    transform = np.ascontiguousarray((x / np.sqrt(np.maximum(np.abs(w), floor))).T)
    refined = refined_congruence(matrix, rho, transform)
    if refined is not None:
        again = eigenvalue_intervals(*refined)
        if again is not None:
            found = _from_intervals(again[0], again[1], "sliced congruence", scaled=True)
            known = known.joined(found if scaled is not None else replace(found, transform=transform))
    return known
