"""Deterministic data for regression vectors, and the arithmetic that they are computed in.

``det_tokens(l, d, k)_{ia} = sin(k (1.3 i + 0.7 a^2 + 0.9 i a))``, ``det_matrix(d, k)_{ab} = cos(k (0.5 a + 1.7 b +
0.3 a b^2))`` and ``det_spd(d) = M M^T / d + I/2`` (indices from 1): anybody can type them in again.  Values are mpmath
numbers of 40 digits unless an algebra of floats or balls is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from eigentoken.theory.language.observables import dot
from eigentoken.theory.systems.algebra import LoopAlgebra, Number

__all__ = [
    "BALLS",
    "DIGITS",
    "FLOATS",
    "as_floats",
    "as_numbers",
    "det_matrix",
    "det_spd",
    "det_tokens",
    "diagonal",
    "eigenvalues",
    "identity",
    "numbers",
    "scaled",
    "symmetric_eigenpairs",
    "times",
    "transposed",
]

DIGITS = 40
Matrix = tuple[tuple[Any, ...], ...]

#: The loops in Python floats.
FLOATS = LoopAlgebra(math.exp, math.sqrt, 1.0)


def _ball(value: Any) -> Any:
    from flint import arb

    return value if isinstance(value, arb) else arb(value)


#: The loops in real balls (Arb), at the precision of ``flint.ctx``.
BALLS = LoopAlgebra(lambda z: _ball(z).exp(), lambda z: _ball(z).sqrt(), 1)


def numbers() -> LoopAlgebra:
    """The loops in mpmath, 40 digits."""
    import mpmath

    mpmath.mp.dps = max(mpmath.mp.dps, DIGITS)
    return LoopAlgebra(mpmath.exp, mpmath.sqrt, mpmath.mpf(1))


def _exact(text: Any) -> Any:
    import mpmath

    mpmath.mp.dps = max(mpmath.mp.dps, DIGITS)
    value = Fraction(str(text))
    return mpmath.mpf(value.numerator) / value.denominator


def as_numbers(rows: Sequence[Sequence[Number]]) -> Matrix:
    """Rows of decimals, fractions or integers as mpmath numbers."""
    return tuple(tuple(_exact(entry) for entry in row) for row in rows)


def as_floats(rows: Sequence[Sequence[Number]]) -> Matrix:
    """Rows of numbers as Python floats."""
    return tuple(tuple(float(entry) for entry in row) for row in rows)


def det_tokens(count: int, d: int, k: int = 1) -> Matrix:
    """``sin(k (1.3 i + 0.7 a^2 + 0.9 i a))``.

    >>> print(f"{float(det_tokens(3, 3)[0][0]):.15f}")
    0.239249329213982
    """
    import mpmath

    c = [_exact(each) for each in ("1.3", "0.7", "0.9")]
    return tuple(
        tuple(mpmath.sin(k * (c[0] * i + c[1] * a * a + c[2] * i * a)) for a in range(1, d + 1))
        for i in range(1, count + 1)
    )


def det_matrix(d: int, k: int = 1) -> Matrix:
    """``cos(k (0.5 a + 1.7 b + 0.3 a b^2))``.

    >>> print(f"{float(det_matrix(3)[0][0]):.15f}")
    -0.801143615546934
    """
    import mpmath

    c = [_exact(each) for each in ("0.5", "1.7", "0.3")]
    return tuple(
        tuple(mpmath.cos(k * (c[0] * a + c[1] * b + c[2] * a * b * b)) for b in range(1, d + 1))
        for a in range(1, d + 1)
    )


def transposed(matrix: Sequence[Sequence[Number]]) -> Matrix:
    """``M^T``."""
    return tuple(zip(*matrix, strict=True))


def times(left: Sequence[Sequence[Number]], right: Sequence[Sequence[Number]]) -> Matrix:
    """``L R``."""
    columns = transposed(right)
    return tuple(tuple(dot(row, column) for column in columns) for row in left)


def scaled(factor: Number, matrix: Sequence[Sequence[Number]]) -> Matrix:
    """``c M``."""
    return tuple(tuple(factor * entry for entry in row) for row in matrix)


def diagonal(*entries: Number) -> Matrix:
    """``diag(entries)``."""
    return tuple(tuple(entry if a == b else 0 * entry for b in range(len(entries))) for a, entry in enumerate(entries))


def identity(d: int) -> Matrix:
    """The identity matrix."""
    return diagonal(*(1 for _ in range(d)))


def det_spd(d: int) -> Matrix:
    """``M M^T / d + I/2`` with ``M = det_matrix(d)``."""
    matrix = det_matrix(d)
    product = times(matrix, transposed(matrix))
    half = _exact("0.5")
    return tuple(
        tuple(entry / d + (half if a == b else 0) for b, entry in enumerate(row)) for a, row in enumerate(product)
    )


def eigenvalues(matrix: Sequence[Sequence[Number]]) -> list[Number]:
    """All eigenvalues in mpmath, by increasing real part (then imaginary part)."""
    import mpmath

    found, _ = mpmath.eig(mpmath.matrix([list(row) for row in matrix]))
    return sorted(found, key=lambda z: (float(mpmath.re(z)), float(mpmath.im(z))))


def symmetric_eigenpairs(matrix: Sequence[Sequence[Number]]) -> tuple[list[Number], list[tuple[Number, ...]]]:
    """Eigenvalues in increasing order and unit eigenvectors of a symmetric matrix, in mpmath."""
    import mpmath

    values, vectors = mpmath.eigsy(mpmath.matrix([list(row) for row in matrix]))
    d = len(matrix)
    return [values[k] for k in range(d)], [tuple(vectors[a, k] for a in range(d)) for k in range(d)]
