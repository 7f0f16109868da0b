"""Re-check of counts of eigenvalues of a symmetric matrix beyond a bound, by exact elimination, floats or balls."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.recheck import balls, floats, rational
from eigentoken.numerics.recheck.reading import Exact

__all__ = ["at_least", "direction_below", "symmetric_exact"]

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
        return _by_directions(matrix, shift, positive, negative, beyond)
    with np.errstate(all="ignore"):
        found = _by_floats(matrix, shift, beyond, transform)
        if found[0] >= positive and found[1] >= negative:
            return None
    if n <= 400:
        shifted = rational.shifted(matrix.numerators, matrix.denominator, shift)
        approximate = _nearest(matrix, shift)
        for candidate in (transform, balls.float_transform(approximate)):
            if candidate is not None and candidate.shape == (n, n) and np.isfinite(candidate).all():
                found = balls.congruence_counts(*shifted, beyond, candidate)
                if found[0] >= positive and found[1] >= negative:
                    return None
    return _exactly(matrix, shift, positive, negative, zero, beyond, until)


def _by_directions(matrix: Exact, shift: Fraction, positive: int, negative: int, beyond: Fraction) -> str | None:
    """One eigenvalue on a side, by one vector (from floats, not trusted) in exact arithmetic."""
    vectors = np.linalg.eigh(_nearest(matrix, shift))[1]
    moved = rational.shifted(matrix.numerators, matrix.denominator, shift)
    if negative and not direction_below(Exact(lambda: moved, None, "", matrix.shape), vectors[:, 0], -beyond):
        return "no direction confirms an eigenvalue below the bound"
    turned = (-moved[0], moved[1])
    if positive and not direction_below(Exact(lambda: turned, None, "", matrix.shape), vectors[:, -1], -beyond):
        return "no direction confirms an eigenvalue above the bound"
    return None


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
    n = matrix.shape[0]
    q = int(matrix.denominator)
    rows = matrix.numerators.tolist()
    top = max((abs(int(e)) for row in rows for e in row), default=1) or 1
    values = np.array([[int(e) / top for e in row] for row in rows], dtype=np.float64)
    values[np.arange(n), np.arange(n)] += float(shift * q / top)
    return values


def _by_floats(matrix: Exact, shift: Fraction, beyond: Fraction, transform: Floats | None) -> tuple[int, int]:
    """Counts by the minimal float verifier; the exact matrix is rounded once, with a bound."""
    n = matrix.shape[0]
    if matrix.floats is not None:
        values, e, rho = floats.scaled(matrix.floats)
    else:
        top = max((abs(int(v)) for v in matrix.numerators.entries()), default=1) or 1
        e = top.bit_length() - int(matrix.denominator).bit_length()
        factor = Fraction(2) ** -e / int(matrix.denominator)
        values = np.array(
            [[int(v) * factor.numerator / factor.denominator for v in row] for row in matrix.numerators.tolist()]
        )
        rho = float(np.linalg.norm(values)) * 2.0**-52 + 2.0**-900
    scale = Fraction(2) ** -e
    moved, bound = float(shift * scale), float(beyond * scale)
    if not (math.isfinite(moved) and math.isfinite(bound)):
        return 0, 0
    target = values.copy()
    target[np.arange(n), np.arange(n)] += moved
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
