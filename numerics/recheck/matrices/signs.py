"""Re-check of counts of eigenvalues of a symmetric matrix beyond a bound, by exact elimination, floats or balls."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.recheck.documents.reading import Exact
from eigentoken.numerics.recheck.matrices import balls, floats, rational

__all__ = ["at_least", "certain_counts", "direction_below", "symmetric_exact"]

EXACT_SIZE = 64
Floats = NDArray[np.float64]


def symmetric_exact(matrix: Exact) -> Exact:
    """``(M + M^T) / 2``; the floats only where M is symmetric already."""
    values = matrix.floats
    same = values is not None and np.array_equal(values, values.T)

    def build() -> tuple[flint.fmpz_mat, flint.fmpz]:
        return matrix.numerators + matrix.numerators.transpose(), matrix.denominator * 2

    return Exact(build, values if same else None, "", matrix.shape)


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
    if n <= EXACT_SIZE or zero:
        return _exactly(matrix, shift, positive, negative, zero, beyond, until)
    if positive <= 1 and negative <= 1:
        return _by_directions(matrix, shift, positive, negative, beyond, until)
    with np.errstate(all="ignore"):
        found = _by_floats(matrix, shift, beyond, transform)
        if found[0] >= positive and found[1] >= negative:
            return None
        false = _contradicted(matrix, shift, positive, negative, beyond)
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


def _contradicted(matrix: Exact, shift: Fraction, positive: int, negative: int, beyond: Fraction) -> str | None:
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
    """One eigenvalue on a side, by one vector (from floats, not trusted) in exact arithmetic."""
    vectors = np.linalg.eigh(_nearest(matrix, shift))[1]
    moved = rational.shifted(matrix.numerators, matrix.denominator, shift)
    turned = (-moved[0], moved[1])
    below = not negative or direction_below(Exact(lambda: moved, None, "", matrix.shape), vectors[:, 0], -beyond)
    above = not positive or direction_below(Exact(lambda: turned, None, "", matrix.shape), vectors[:, -1], -beyond)
    if below and above:
        return None
    with np.errstate(all="ignore"):
        false = _contradicted(matrix, shift, positive, negative, beyond)
    return false if false is not None else _exactly(matrix, shift, positive, negative, 0, beyond, until)


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


def direction_below(matrix: Exact, direction: Floats, bound: Fraction) -> bool:
    """Is ``x^T M x < bound x^T x`` in exact arithmetic?"""
    pairs = [float(v).as_integer_ratio() for v in direction]
    q = max(d for _, d in pairs)
    x = flint.fmpz_mat(len(pairs), 1, [p * (q // d) for p, d in pairs])
    value = (x.transpose() * matrix.numerators * x)[0, 0]
    length = (x.transpose() * x)[0, 0]
    return bool(length > 0 and value * bound.denominator < length * bound.numerator * matrix.denominator)
