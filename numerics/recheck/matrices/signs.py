"""Re-check of counts of eigenvalues of a symmetric matrix beyond a bound, by exact elimination, floats or balls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import flint
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from eigentoken.numerics.recheck.documents.reading import Exact
from eigentoken.numerics.recheck.matrices import balls, floats, rational
from eigentoken.numerics.recheck.matrices.parts import halved

__all__ = [
    "FLOATS_FROM",
    "PRIME",
    "at_least",
    "certain_counts",
    "contradicted",
    "direction_below",
    "extreme_directions",
    "reaches_below",
    "seen_kernel",
    "symmetric_exact",
]

EXACT_SIZE = 64
#: From this size on floats with their bounds are asked before exact elimination, whose cost grows with n^4 and more.
FLOATS_FROM = 13
#: Lanczos steps for a candidate direction.
KRYLOV = 24
PRIME = 2305843009213693921  # not the prime of the issuer
Floats = NDArray[np.float64]


def symmetric_exact(matrix: Exact) -> Exact:
    """``(M + M^T) / 2``; the floats only where M is symmetric already."""
    values = matrix.floats
    same = values is not None and np.array_equal(values, values.T)

    def build() -> tuple[flint.fmpz_mat, flint.fmpz]:
        return matrix.numerators + matrix.numerators.transpose(), matrix.denominator * 2

    if same:
        return Exact(build, values, "", matrix.shape)
    near = halved(matrix.approximate, 1.0)
    return Exact(build, None, "", matrix.shape, near, lambda: halved(matrix.finely, 1.0))


def at_least(
    matrix: Exact,
    shift: Fraction,
    positive: int,
    negative: int,
    zero: int,
    beyond: Fraction,
    until: float,
    transform: Floats | None,
) -> str | None:
    """Has the symmetric ``M + shift I`` that many eigenvalues above ``beyond``, below minus it, and at zero?"""
    n = matrix.shape[0]
    if zero and n >= FLOATS_FROM and seen_kernel(matrix, shift) >= zero:
        zero = 0
    if n < FLOATS_FROM or zero:
        return _exactly(matrix, shift, positive, negative, zero, beyond, until)
    if positive <= 1 and negative <= 1:
        return _by_directions(matrix, shift, positive, negative, beyond, until)
    with np.errstate(all="ignore"):
        for each in matrix.ever_sharper():
            found = _by_floats(each, shift, beyond, transform)
            if found[0] >= positive and found[1] >= negative:
                return None
        false = contradicted(matrix, shift, positive, negative, beyond)
        if false is not None:
            return false
    if n <= 400:
        shifted = rational.shifted(matrix.numerators, matrix.denominator, shift)
        approximate = _nearest(matrix, shift)
        for candidate in (transform, balls.float_transform(approximate)):
            if candidate is not None and candidate.shape == (n, n) and np.isfinite(candidate).all():
                found = balls.congruence_counts(*shifted, beyond, candidate)
                if found[0] >= positive and found[1] >= negative:
                    return None
    return _exactly(matrix, shift, positive, negative, zero, beyond, until)


def certain_counts(matrix: Exact, at: Fraction, until: float, exact_size: int = EXACT_SIZE) -> tuple[int, int]:
    """Numbers of eigenvalues of a symmetric matrix that are certainly above, and certainly below, a value."""
    if matrix.shape[0] <= exact_size:
        return rational.counts(rational.shifted(matrix.numerators, matrix.denominator, -at)[0], until)[:2]
    with np.errstate(all="ignore"):
        return _by_floats(matrix, -at, Fraction(0), None)


def seen_kernel(matrix: Exact, shift: Fraction) -> int:
    """Independent rational vectors in the kernel of ``M + shift I``: from floats, confirmed exactly (0 where not seen).

    The right singular vectors of small singular values, brought to an echelon form, are rounded to small fractions.
    """
    values = _nearest(matrix, shift)
    _, sizes, rows = np.linalg.svd(values)
    basis = rows[sizes <= 1e-12 * len(sizes) * max(float(sizes[0]), 1e-300)].copy()
    if not 0 < len(basis) <= 16:
        return 0
    taken: list[int] = []
    for k in range(len(basis)):
        column = int(np.argmax(np.abs(basis[k])))
        basis[k] /= basis[k, column]
        others = [i for i in range(len(basis)) if i != k]
        basis[others] -= np.outer(basis[others, column], basis[k])
        taken.append(column)
    if not np.isfinite(basis).all() or len(set(taken)) != len(taken):
        return 0
    fractions = [[Fraction(float(entry)).limit_denominator(10**5) for entry in row] for row in basis]
    whole = [[int(entry * math.lcm(*(each.denominator for each in row))) for entry in row] for row in fractions]
    vectors = flint.fmpz_mat(whole)
    if int(flint.nmod_mat(vectors, PRIME).rank()) != len(whole):
        return 0
    moved = rational.shifted(matrix.numerators, matrix.denominator, shift)[0]
    return len(whole) if moved * vectors.transpose() == flint.fmpz_mat(moved.nrows(), len(whole)) else 0


def contradicted(matrix: Exact, shift: Fraction, positive: int, negative: int, beyond: Fraction) -> str | None:
    """Shown false: so many eigenvalues are certified below ``beyond`` that too few can be above it, or mirrored."""
    n = matrix.shape[0]
    if positive:
        below = _by_floats(matrix, shift - beyond, Fraction(0), None)[1]
        if below + positive > n:
            return f"{below} eigenvalues are below the bound, so that {positive} of {n} cannot be above it"
    if negative:
        above = _by_floats(matrix, shift + beyond, Fraction(0), None)[0]
        if above + negative > n:
            return f"{above} eigenvalues are above the bound, so that {negative} of {n} cannot be below it"
    return None


def _by_directions(
    matrix: Exact, shift: Fraction, positive: int, negative: int, beyond: Fraction, until: float
) -> str | None:
    """One eigenvalue on a side, by one vector (from floats, not trusted)."""
    below = not negative or reaches_below(matrix, -beyond - shift)
    above = not positive or reaches_below(matrix, -beyond + shift, flip=True)
    if below and above:
        return None
    with np.errstate(all="ignore"):
        false = contradicted(matrix, shift, positive, negative, beyond)
    return false if false is not None else _exactly(matrix, shift, positive, negative, 0, beyond, until)


def extreme_directions(values: Floats, place: int) -> Iterator[Floats]:
    """Vectors near the eigenvector of the smallest (0) or largest (-1) eigenvalue, from floats: candidates, not trusted.

    A few Lanczos steps first, which is enough where the eigenvalue is well apart or the bound is not sharp.
    """
    n = values.shape[0]
    if n >= 4 * KRYLOV:
        basis = np.empty((KRYLOV, n))
        x = 1.0 + np.cos(np.arange(n, dtype=np.float64))
        for k in range(KRYLOV):
            x -= basis[:k].T @ (basis[:k] @ x)
            x -= basis[:k].T @ (basis[:k] @ x)
            size = float(np.linalg.norm(x))
            basis[k] = x / size if 0.0 < size < math.inf else 0.0
            x = values @ basis[k]
        small = basis @ values @ basis.T
        if np.isfinite(small).all():
            yield np.ascontiguousarray(np.linalg.eigh(0.5 * (small + small.T))[1][:, place] @ basis)
    place = place % n
    yield np.ascontiguousarray(eigh(values, subset_by_index=[place, place], check_finite=False)[1][:, 0])


def _exactly(
    matrix: Exact, shift: Fraction, positive: int, negative: int, zero: int, beyond: Fraction, until: float
) -> str | None:
    if positive:
        found = rational.counts(rational.shifted(matrix.numerators, matrix.denominator, shift - beyond)[0], until)[0]
        if found < positive:
            return f"{found} eigenvalues are above the bound, not {positive}"
    if negative:
        found = rational.counts(rational.shifted(matrix.numerators, matrix.denominator, shift + beyond)[0], until)[1]
        if found < negative:
            return f"{found} eigenvalues are below the bound, not {negative}"
    if zero:
        found = rational.counts(rational.shifted(matrix.numerators, matrix.denominator, shift)[0], until)[2]
        if found < zero:
            return f"{found} eigenvalues are zero, not {zero}"
    return None


def _nearest(matrix: Exact, shift: Fraction) -> Floats:
    """A float approximation of ``M + shift I``, scaled near 1 (a candidate maker only)."""
    values, e, _ = matrix.rounded
    result = values.copy()
    result.flat[:: values.shape[0] + 1] += floats.nearest_float(shift * Fraction(2) ** -e)
    return result


def _by_floats(matrix: Exact, shift: Fraction, beyond: Fraction, transform: Floats | None) -> tuple[int, int]:
    """Counts by the minimal float verifier; the exact matrix is rounded once, with a bound."""
    values, e, rho = matrix.rounded
    scale = Fraction(2) ** -e
    moved, bound = floats.nearest_float(shift * scale), floats.nearest_float(beyond * scale)
    if not (math.isfinite(moved) and math.isfinite(bound)):
        return 0, 0
    target = values.copy()
    target.flat[:: target.shape[0] + 1] += moved
    rho += 2.0**-51 * (abs(moved) + float(np.abs(values.diagonal()).max(initial=0.0)))
    return floats.sign_counts(target, rho, bound * (1 + 2.0**-50) + 2.0**-1000, transform)


def reaches_below(matrix: Exact, bound: Fraction, *, flip: bool = False) -> bool:
    """Has ``M`` (``-M`` with ``flip``) an eigenvalue below ``bound``, shown by a vector?  All in floats first, then exactly."""
    tried = []
    for x in extreme_directions(matrix.rounded[0], -1 if flip else 0):
        if _below_in_floats(matrix, x, bound, flip):
            return True
        tried.append(x)
    return any(direction_below(matrix, x, bound, flip=flip) for x in reversed(tried))


def _below_in_floats(matrix: Exact, direction: Floats, bound: Fraction, flip: bool) -> bool:
    for each in matrix.ever_sharper():
        if each is not matrix and each.approximate is None:
            return False  # from here on it is formed exactly
        values, e, rho = each.rounded
        with np.errstate(all="ignore"):
            if floats.quotient_below(-values if flip else values, rho, direction, floats.scaled_below(bound, e)):
                return True
    return False


def direction_below(matrix: Exact, direction: Floats, bound: Fraction, *, flip: bool = False) -> bool:
    """Is ``x^T M x < bound x^T x`` (of ``-M`` with ``flip``)?  By floats with their bounds, else in exact arithmetic."""
    if _below_in_floats(matrix, direction, bound, flip):
        return True
    pairs = [float(v).as_integer_ratio() for v in direction]
    q = max(d for _, d in pairs)
    x = flint.fmpz_mat(len(pairs), 1, [p * (q // d) for p, d in pairs])
    value = (x.transpose() * matrix.numerators * x)[0, 0] * (-1 if flip else 1)
    length = (x.transpose() * x)[0, 0]
    return bool(length > 0 and value * bound.denominator < length * bound.numerator * matrix.denominator)
