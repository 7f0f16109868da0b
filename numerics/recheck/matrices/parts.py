"""Matrices made of a matrix: its skew part, the same less the identity, its Gram matrix; exact, formed when asked for."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np

from eigentoken.numerics.recheck.documents.reading import Exact, RecheckError
from eigentoken.numerics.recheck.matrices import rational

__all__ = ["gram_of", "part_of"]


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

        return Exact(skew, None, "", matrix.shape)
    if form == "minus-identity":
        return Exact(
            lambda: rational.shifted(matrix.numerators, matrix.denominator, Fraction(-1)), None, "", matrix.shape
        )
    raise RecheckError(f"unknown form {form!r}")


def gram_of(matrix: Exact, shift: Fraction, sign: int) -> Exact:
    """``sign M^T M + shift I`` of the smaller side."""

    def build() -> tuple[flint.fmpz_mat, flint.fmpz]:
        m = matrix.numerators
        product = m.transpose() * m if m.ncols() <= m.nrows() else m * m.transpose()
        return rational.shifted(product * sign, matrix.denominator**2, shift)

    side = min(matrix.shape)
    return Exact(build, None, "", (side, side))
