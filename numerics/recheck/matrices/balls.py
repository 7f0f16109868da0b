"""Ball arithmetic of the re-check (FLINT): eigenvalue discs, eigenvector angles and congruences for medium matrices.

Candidates (eigenvectors, transforms) come from floats and are not trusted.  With any nonsingular complex X the matrix
``B = X^-1 M X`` is evaluated in balls; Gershgorin's theorem on B, with a perturbation of spectral norm t adding at most
``t sqrt n ||row_i(X^-1)||_2 ||X||_2`` to row i, gives discs; a component of k discs holds exactly k eigenvalues.  For a
symmetric matrix the perturbation adds t to each radius (Bauer and Fike, and continuity of the eigenvalues).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import flint
import numpy as np

if TYPE_CHECKING:
    from flint import acb, acb_mat, arb

__all__ = ["ATTEMPTS", "BallDiscs", "congruence_counts", "discs", "squared"]

PRECISION = 160


@dataclass(frozen=True)
class BallDiscs:
    """Centers (exact complex numbers) and radii (upper bounds, as exact balls) of discs that hold the spectrum."""

    centers: list[acb]
    radii: list[arb]
    columns: acb_mat
    inverse: acb_mat
    precision: int = PRECISION


#: How candidates are found and at how many bits: floats; a finer approximation; both finer.
ATTEMPTS = ("float basis", "refined basis", "refined basis, 800 bits")


def squared(value: Any) -> Any:
    """``|z|^2`` of a complex ball (FLINT's own power of a real ball has no value where the ball reaches below zero)."""
    return value.real * value.real + value.imag * value.imag


def _arb(value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _matrix(numerators: flint.fmpz_mat, denominator: flint.fmpz) -> Any:
    return flint.arb_mat(numerators) * (1 / flint.arb(denominator))


def discs(
    numerators: flint.fmpz_mat,
    denominator: flint.fmpz,
    reach: Fraction,
    *,
    attempt: str = ATTEMPTS[0],
) -> BallDiscs | None:
    """Discs of every matrix within ``reach``.

    Candidates come from numpy, or (refined) from FLINT's uncertified approximation at working precision.
    """
    old, flint.ctx.prec = flint.ctx.prec, (800 if "800" in attempt else PRECISION) + int(numerators.nrows())
    try:
        return _discs(numerators, denominator, reach, refined="refined" in attempt)
    except (ZeroDivisionError, np.linalg.LinAlgError, OverflowError):
        return None
    finally:
        flint.ctx.prec = old


def _exponent(value: Any) -> int:
    mantissa, exponent = value.mid().man_exp()
    return int(abs(mantissa)).bit_length() + int(exponent) if mantissa else -(10**6)


def _columns(matrix: Any, n: int, *, refined: bool) -> list[list[Any]]:
    """Columns of length one (of a power-of-two multiple, so that LAPACK sees the digits that the issuer saw)."""
    scale = flint.arb(2) ** -max(_exponent(matrix[i, j]) for i in range(n) for j in range(n))
    if refined:
        _, right = (flint.acb_mat(matrix) * flint.acb(scale)).eig(right=True, algorithm="approx")
        columns = [[right[i, j].mid() for i in range(n)] for j in range(n)]
    else:
        floats = np.array([[float((matrix[i, j] * scale).mid()) for j in range(n)] for i in range(n)])
        vectors = np.linalg.eig(floats)[1].astype(np.complex128)
        columns = [[flint.acb(float(v.real), float(v.imag)) for v in vectors[:, j]] for j in range(n)]
    for column in columns:
        norm = sum((squared(c) for c in column), flint.arb(0)).sqrt().mid()
        if norm > 0:
            column[:] = [(c / norm).mid() for c in column]
    return columns


def _discs(numerators: flint.fmpz_mat, denominator: flint.fmpz, reach: Fraction, *, refined: bool) -> BallDiscs | None:
    n = numerators.nrows()
    matrix = _matrix(numerators, denominator)
    columns = _columns(matrix, n, refined=refined)
    x = flint.acb_mat(n, n, [columns[j][i] for i in range(n) for j in range(n)])
    inverse = x.inv()
    similar = inverse * (flint.acb_mat(matrix) * x)
    centers, radii = [], []
    spread = _arb(reach)
    normal = bool(numerators == numerators.transpose())
    norm_x = _spectral_above(x, n) * flint.arb(n).sqrt() if reach and not normal else None
    for i in range(n):
        center = similar[i, i].mid()
        radius = abs(similar[i, i] - center)
        for j in range(n):
            if j != i:
                radius += abs(similar[i, j])
        if normal:
            radius += spread
        elif norm_x is not None:
            row = sum((squared(inverse[i, j]) for j in range(n)), flint.arb(0)).sqrt()
            radius += spread * row * norm_x
        if not radius.is_finite():
            return None
        centers.append(center)
        radii.append(flint.arb(radius.upper()))
    return BallDiscs(centers, radii, x, inverse, flint.ctx.prec)


def _spectral_above(x: Any, n: int) -> Any:
    """``||X||_2`` is at most ``||X||_F``, and its square at most ``||X^* X||_inf`` (largest row sum of moduli)."""
    gram = x.conjugate().transpose() * x
    sums = [sum((abs(gram[i, j]) for j in range(n)), flint.arb(0)).upper() for i in range(n)]
    rows = flint.arb(max(sums, key=float))
    trace = flint.arb(sum((gram[i, i].real for i in range(n)), flint.arb(0)).upper())
    return (rows if float(rows) < float(trace) else trace).sqrt() * (1 + flint.arb(2) ** -40)


def congruence_counts(
    numerators: flint.fmpz_mat, denominator: flint.fmpz, beyond: Fraction, transform: Any
) -> tuple[int, int]:
    """Certified numbers of eigenvalues of a symmetric matrix above ``beyond`` and below its negative.

    ``T (S - beyond I) T^T`` strictly diagonally dominant with positive diagonal is definite, so S has that many
    eigenvalues above ``beyond``.
    """
    old, flint.ctx.prec = flint.ctx.prec, PRECISION + 64
    try:
        n = numerators.nrows()
        matrix = _matrix(numerators, denominator)
        rows = [[float(v) for v in row] for row in transform]
        t = flint.arb_mat(len(rows), n, [flint.arb(v) for row in rows for v in row])
        product = t * matrix * t.transpose()
        gram = t * t.transpose()
        found = []
        for sign in (1, -1):
            chosen = [i for i in range(len(rows)) if sign * product[i, i] > 0]
            ok = all(
                sign * product[i, i] - _arb(beyond) * gram[i, i]
                > sum((abs(sign * product[i, j] - _arb(beyond) * gram[i, j]) for j in chosen if j != i), flint.arb(0))
                for i in chosen
            )
            found.append(len(chosen) if ok else 0)
        return found[0], found[1]
    finally:
        flint.ctx.prec = old


def float_transform(matrix: Any) -> Any:
    """Rows that make ``T S T^T`` close to a matrix of signs: eigenvectors over square roots (a candidate)."""
    w, x = np.linalg.eigh(matrix)
    floor = float(np.abs(w).max()) * matrix.shape[0] * 2.0**-52
    return (x / np.sqrt(np.maximum(np.abs(w), max(floor, 1e-300)))).T
