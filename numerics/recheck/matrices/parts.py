"""Matrices made of a matrix: its skew part, the same less the identity, its Gram matrix; exact, formed when asked for."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np

from eigentoken.numerics.recheck.documents.reading import Exact, Near, RecheckError, near_product, near_sum
from eigentoken.numerics.recheck.matrices import rational

__all__ = ["gram_of", "halved", "part_of", "surely_nonzero"]


def part_of(matrix: Exact, form: str) -> Exact:
    """M itself, half of ``M - M^T``, or ``M - I``."""
    if form == "itself":
        return matrix
    if form == "skew-part":
        values = matrix.floats

        def skew() -> tuple[flint.fmpz_mat, flint.fmpz]:
            if values is not None and np.array_equal(values, values.T):
                return flint.fmpz_mat(*matrix.shape), flint.fmpz(1)
            return matrix.numerators - matrix.numerators.transpose(), matrix.denominator * 2

        near = halved(matrix.approximate, -1.0)
        return Exact(skew, None, "", matrix.shape, near, lambda: halved(matrix.finely, -1.0))
    if form == "minus-identity":
        given = matrix.approximate
        near = None if given is None else near_sum(given, (np.eye(*matrix.shape), 0.0), -1.0)
        return Exact(
            lambda: rational.shifted(matrix.numerators, matrix.denominator, Fraction(-1)), None, "", matrix.shape, near
        )
    raise RecheckError(f"unknown form {form!r}")


def halved(given: Near | None, sign: float) -> Near | None:
    """``(M + sign M^T) / 2`` of floats near M, with a bound, exactly symmetric or skew."""
    return None if given is None else near_sum(given, (given[0].T, given[1]), sign, 0.5)


def _gram_in_floats(matrix: Exact, shift: Fraction, sign: int) -> Near | None:
    """The Gram matrix in floats with a bound, exactly symmetric."""
    given = matrix.approximate
    if given is None:
        return None
    turned = (given[0].T, given[1])
    found = near_product(turned, given) if matrix.shape[1] <= matrix.shape[0] else near_product(given, turned)
    if found is None:
        return None
    whole = near_sum(found, (found[0].T, found[1]), 1.0, 0.5)
    try:
        moved = float(shift)
    except OverflowError:
        return None
    diagonal = np.eye(found[0].shape[0]) * moved
    if whole is None:
        return None
    return near_sum((whole[0] * sign, whole[1]), (diagonal, 2.0**-52 * abs(moved) * len(diagonal)))


def surely_nonzero(matrix: Exact) -> bool:
    """Is an entry of the floats farther from zero than the floats are from the matrix?"""
    given = matrix.approximate
    return given is not None and float(np.abs(given[0]).max()) > given[1]


def gram_of(matrix: Exact, shift: Fraction, sign: int) -> Exact:
    """``sign M^T M + shift I`` of the smaller side."""

    def build() -> tuple[flint.fmpz_mat, flint.fmpz]:
        m = matrix.numerators
        product = m.transpose() * m if m.ncols() <= m.nrows() else m * m.transpose()
        return rational.shifted(product * sign, matrix.denominator**2, shift)

    side = min(matrix.shape)
    return Exact(build, None, "", (side, side), _gram_in_floats(matrix, shift, sign))
