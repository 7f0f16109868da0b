"""Small matrices of balls (FLINT): their lengths, norms and Cholesky factors, and floats that are not below a ball."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, arb_mat

from eigentoken.numerics.recheck.matrices.floats import spectral_above

__all__ = [
    "centred_rows",
    "factor_of",
    "float_above",
    "floats_of",
    "gram_of",
    "length_of",
    "lengths_of_rows",
    "norm_above",
    "squared_rows",
]


def centred_rows(x: Any) -> Any:
    """The rows less their mean."""
    ones = arb_mat(1, x.nrows(), [1] * x.nrows())
    mean = ones * x * (arb(1) / x.nrows())
    return x - ones.transpose() * mean


def length_of(x: Any) -> Any:
    """The Frobenius norm."""
    return sum((each * each for each in x.entries()), arb(0)).sqrt()


def lengths_of_rows(x: Any) -> list[Any]:
    """The Euclidean length of each row."""
    return [each.sqrt() for each in squared_rows(x)]


def squared_rows(x: Any) -> list[Any]:
    """The squared length of each row."""
    columns = range(x.ncols())
    return [sum((x[i, k] * x[i, k] for k in columns), arb(0)) for i in range(x.nrows())]


def gram_of(matrix: Any) -> Any:
    return matrix.transpose() * matrix


def factor_of(gram: Any) -> Any:
    """R, upper triangular, with ``R^T R = G + delta I`` for a delta of the size of the last bits."""
    n = gram.nrows()
    delta = arb(float_above(sum((gram[k, k] for k in range(n)), arb(0)))) * arb(2) ** -70 + arb(2) ** -900
    found = arb_mat(n, n)
    for i in range(n):
        for j in range(i, n):
            rest = gram[i, j] - sum((found[k, i] * found[k, j] for k in range(i)), arb(0))
            found[i, j] = (rest + delta).sqrt() if i == j else rest / found[i, i]
    return found


def floats_of(matrix: Any) -> tuple[Any, Any]:
    """Middles as floats, and how far the true entries may be from them."""
    shape = (matrix.nrows(), matrix.ncols())
    entries = matrix.entries()
    middles = np.array([float(each.mid()) for each in entries]).reshape(shape)
    radii = np.array([float(each.rad()) for each in entries]).reshape(shape)
    return middles, radii * (1 + 2.0**-40) + 2.0**-52 * np.abs(middles) + 2.0**-1000


def norm_above(matrix: Any) -> float:
    """At least the spectral norm of every matrix in the balls."""
    middles, off = floats_of(matrix)
    if not (np.isfinite(middles).all() and np.isfinite(off).all()):
        return math.inf
    return (spectral_above(middles) + float(np.linalg.norm(off)) * (1 + 2.0**-30)) * (1 + 2.0**-50)


def float_above(value: Any) -> float:
    """A float that is not below the ball."""
    upper = value.upper() if hasattr(value, "upper") else value
    found = float(upper)
    if not math.isfinite(found):
        return math.inf
    return found if arb(found) >= upper else math.nextafter(found, math.inf)
