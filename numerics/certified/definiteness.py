"""Signs of the eigenvalues of a symmetric matrix, at LAPACK speed.

Everything here is about a float matrix S (exactly symmetric) and a number rho: the claims are about **every**
symmetric matrix within rho of S in the spectral norm.

* :func:`cholesky_bound` (Rump, *Verification of positive definiteness*, BIT 46, 2006).  If ``potrf`` runs to completion
  on ``S' = S - c I`` (diagonal rounded down), then ``R R^T = S' + D`` with ``||D||_2 <= g/(1-g) tr(S') + tiny``,
  ``g = gamma_{n+3}`` (n+3: a blocked solve may multiply by stored reciprocals), so ``lambda_min(S) >= c - ||D||_2``.
  OpenBLAS reports success on NaN and Inf, so the diagonal of the factor is looked at too.
* The same on a device (:func:`_factor_there`), where nobody knows how the factor is made: for **any** R,
  ``lambda_min(S') >= -||S' - R R^T||_2``, and the residual is bounded by one product.
* :func:`rayleigh_above`: for one vector x, ``lambda_min <= x^T S x / x^T x`` with
  ``|fl(x^T S x) - x^T S x| <= gamma_{2n+2} |x|^T |S| |x|``.
* :func:`eigenvalue_intervals`: with ``S X = X W + R`` and ``delta = ||X^T X - I||_2 < 1`` the polar factor Q of X is
  orthogonal with ``||X - Q||_2 <= delta`` (Higham, *Functions of Matrices*, Lemma 8.17), hence
  ``||S Q - Q W||_2 <= ||R||_2 + delta (||S||_2 + ||W||_2)`` and Weyl's theorem gives
  ``|lambda_i - w_i|`` at most that, for the sorted eigenvalues.
* :func:`equilibrated`: a congruence by powers of two, exact up to entries that become subnormal.
* :func:`refined_congruence`: ``B = T S T^T`` by sliced products, entrywise bounds to about u^2 ||T||^2 ||S||; the signs
  of B are signs of S (Sylvester): each negative eigenvalue of B is one of S, and B nonsingular makes T nonsingular.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.certified.arithmetic import current, factors_there, multiply, residual_above
from eigentoken.numerics.certified.error_free_products import sliced_product
from eigentoken.numerics.certified.lapack import dpotrf, dtrtrs, eigenvector, spotrf, strtrs
from eigentoken.numerics.certified.rounding import TINY, Array, down, frobenius_above, gamma, inflate, up

__all__ = [
    "cholesky_bound",
    "cholesky_factor",
    "eigenvalue_intervals",
    "equilibrated",
    "estimate_of_factor",
    "quick_estimate",
    "rayleigh_above",
    "refined_congruence",
    "smallest_direction",
    "smallest_estimate",
]


def cholesky_bound(matrix: Array, rho: float, extra: float | None = None, *, room: Array | None = None) -> float | None:
    """A certified ``m > 0`` with ``lambda_min(S) >= rho + m``, or None.

    ``extra`` asks for m at least that large; ``room`` is an array of the same shape that may be overwritten.
    """
    found = cholesky_factor(matrix, rho, extra, room=room)
    return None if found is None else found[0]


def cholesky_factor(
    matrix: Array, rho: float, extra: float | None = None, *, room: Array | None = None
) -> tuple[float, Array] | None:
    """The bound of :func:`cholesky_bound`, and the lower triangular factor of the shifted matrix (upper part unused)."""
    n = matrix.shape[0]
    diagonal = matrix.diagonal()
    least, most = float(diagonal.min()), float(diagonal.max())
    if not (least > rho and math.isfinite(most)):
        return None
    g = gamma(n + 3)
    backward = up(g / (1.0 - g) * float(inflate(float(diagonal.sum()), n)) + n * (6 * n + 3 * most + 3) * TINY, 8)
    wanted = backward if extra is None else extra
    there = factors_there(n)
    if there:
        backward = up(2 * backward)  # the residual of a factor, and the rounding of the product that shows it
    shift = up(backward + rho + wanted)
    if not shift < least:
        return None
    work = np.empty(matrix.shape) if room is None else room
    np.copyto(work, matrix)  # C order; its transpose is the same matrix in Fortran order
    work.flat[:: n + 1] = np.nextafter(diagonal - shift, -np.inf)
    if there:
        return _factor_there(work, backward, wanted)
    factor, info = dpotrf(work.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        return None
    pivots = factor.diagonal()
    if not (float(pivots.min()) > 0.0 and math.isfinite(float(pivots.sum()))):
        return None
    return down(wanted), factor


def _factor_there(shifted: Array, backward: float, wanted: float) -> tuple[float, Array] | None:
    """The bound from a factor that a device guessed: ``wanted``, where ``||S' - R R^T||`` is at most ``backward``."""
    factor = current().factor(shifted)
    if factor is None or not np.isfinite(factor).all():
        return None
    return (down(wanted), factor) if residual_above(shifted, np.tril(factor)) <= backward else None


def quick_estimate(matrix: Array) -> float | None:
    """An estimate of the smallest eigenvalue (not trusted) from a factor in single precision, at half the price of one here."""
    if not float(np.abs(matrix.diagonal()).max()) < 2.0**60:
        return None
    factor, refused = spotrf(matrix.astype(np.float32).T, lower=1, clean=0, overwrite_a=1)
    if refused or not np.isfinite(factor.diagonal()).all():
        return None
    return smallest_estimate(matrix, factor)


def smallest_estimate(matrix: Array, factor: NDArray[Any], steps: int = 4) -> float:
    """An estimate of the smallest eigenvalue (not trusted), by Lanczos steps with the inverse of a factored matrix."""
    n = matrix.shape[0]
    solve = strtrs if factor.dtype == np.float32 else dtrtrs  # with one right hand side half the time of potrs
    x = 1.0 + np.cos(np.arange(n, dtype=np.float64))
    basis: list[Array] = []
    for _ in range(min(steps, n)):
        for q in basis:
            x = x - q * float(q @ x)
        size = float(np.linalg.norm(x))
        if not (0.0 < size < math.inf):
            break
        basis.append(x / size)
        half = solve(factor, basis[-1].astype(factor.dtype, copy=False), lower=1)[0]
        x = solve(factor, half, lower=1, trans=1)[0].astype(np.float64)
    span, _ = np.linalg.qr(np.array([*basis, x]).T)
    return float(np.linalg.eigvalsh(span.T @ (matrix @ span))[0])


def estimate_of_factor(factor: Array, steps: int = 5) -> float:
    """An estimate of the smallest eigenvalue of ``R R^T`` (not trusted), from the factor alone: Lanczos with its inverse."""
    n = factor.shape[0]
    x = 1.0 + np.cos(np.arange(n, dtype=np.float64))
    basis: list[Array] = []
    images: list[Array] = []
    for _ in range(min(steps, n)):
        for q in basis:
            x = x - q * float(q @ x)
        size = float(np.linalg.norm(x))
        if not (0.0 < size < math.inf):
            break
        basis.append(x / size)
        x = dtrtrs(factor, dtrtrs(factor, basis[-1], lower=1)[0], lower=1, trans=1)[0]
        images.append(x)
    largest = float(np.linalg.eigvalsh(np.array(basis) @ np.array(images).T)[-1])
    return 1.0 / largest if largest > 0.0 else 0.0


def rayleigh_above(matrix: Array, rho: float, x: Array) -> float:
    """An upper bound on ``x^T M x / x^T x`` for every M within rho of S (infinite if x is useless)."""
    largest = float(np.abs(x).max(initial=0.0))
    if not (0.0 < largest < math.inf):
        return math.inf
    x = np.ldexp(x, -math.frexp(largest)[1])
    n = x.shape[0]
    value = float(x @ (matrix @ x))
    size = np.abs(x)
    spread = float(size @ (np.abs(matrix) @ size))
    error = up(gamma(2 * n + 2) * float(inflate(spread, 2 * n + 2)) + 2 * n * n * TINY)
    squares = float(x @ x)
    low, high = down(squares, n + 2), up(squares, n + 2)
    if low <= 0.0 or not math.isfinite(value):
        return math.inf
    top = up(value + error, 2) if value + error >= 0 else -down(-(value + error), 2)
    quotient = up(top / low) if top >= 0 else -down(-top / high)
    result = quotient + rho
    return up(result, 2) if result >= 0 else -down(-result, 2)


def smallest_direction(matrix: Array) -> Array | None:
    """A vector that makes the Rayleigh quotient small: a guess, nothing is claimed."""
    n = matrix.shape[0]
    diagonal = matrix.diagonal()
    worst = int(np.argmin(diagonal))
    if diagonal[worst] < 0:
        unit = np.zeros(n)
        unit[worst] = 1.0
        return unit
    return eigenvector(matrix, 0)


def eigenvalue_intervals(matrix: Array, rho: float, guess: Array | None = None) -> tuple[Array, float, Array] | None:
    """``(w, e, X)`` with ``|lambda_i(M) - w_i| <= e`` for the sorted eigenvalues of every M within rho of S.

    ``guess``: vectors that may be eigenvectors, of a neighbour; where they are, to the last digits, they are not found again.
    """
    norm_s = frobenius_above(matrix)
    found = None if guess is None else _as_guessed(matrix, guess, norm_s)
    if found is None:
        found = _decomposed(matrix)
    if found is None:
        return None
    n, (w, x, residual) = matrix.shape[0], found
    norm_x = frobenius_above(x)
    norm_w = float(np.abs(w).max())
    rounding = up(gamma(n + 2) * norm_x * (norm_s + norm_w) + 2 * n * n * (n + 2) * TINY, 8)
    first = up(frobenius_above(residual) + rounding)
    gram = multiply(x.T, x)
    gram.flat[:: n + 1] -= 1.0
    delta = up(frobenius_above(gram) + up(gamma(n + 1) * (norm_x * norm_x + n) + 2 * n**3 * TINY, 8))
    if not delta < 0.5:
        return None
    error = up(first + delta * (norm_s + norm_w) + rho, 8)
    return (w, error, x) if math.isfinite(error) else None


#: The part of the rounding of a residual that the residual of guessed eigenvectors may be.
_GUESSED = 0.05


def _decomposed(matrix: Array) -> tuple[Array, Array, Array] | None:
    """Eigenvalues, eigenvectors X and ``fl(S X - X D)``, in floats."""
    try:
        w, x = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(w).all() and np.isfinite(x).all()):
        return None
    residual = multiply(matrix, x)
    residual -= x * w
    return w, x, residual


def _as_guessed(matrix: Array, guess: Array, norm_s: float) -> tuple[Array, Array, Array] | None:
    """The same from guessed eigenvectors; ``None`` where their residual shows beside its rounding."""
    image = multiply(matrix, guess)
    w = (guess * image).sum(axis=0)
    image -= guess * w
    small = _GUESSED * gamma(matrix.shape[0] + 2) * frobenius_above(guess) * norm_s
    if not (np.isfinite(w).all() and frobenius_above(image) <= small):
        return None
    order = np.argsort(w)
    return w[order], np.ascontiguousarray(guess[:, order]), np.ascontiguousarray(image[:, order])


def equilibrated(matrix: Array, rho: float) -> tuple[Array, float, NDArray[np.int64]] | None:
    """``(D S D, its rho, exponents of D)`` with D of powers of two, or None where that changes nothing.

    Rows are brought to a largest entry near 1.  The scaled matrix is S congruent by D up to entries that became
    subnormal, which the returned rho includes; a ball of radius rho becomes one of radius ``rho max d_i^2``.
    """
    n = matrix.shape[0]
    exponents = np.zeros(n, dtype=np.int64)
    mantissa, raw = np.frexp(np.abs(matrix))
    logs = np.where(mantissa > 0, raw.astype(np.float64), -np.inf)
    for _ in range(6):
        top = (logs + exponents[:, None] + exponents[None, :]).max(axis=1)
        step = np.where(np.isfinite(top), np.rint(-top / 2), 0).astype(np.int64)
        exponents = exponents + step
        if not step.any():
            break
    if int(np.abs(exponents - exponents[0]).max()) <= 2:
        return None
    if rho > 0 and 2 * int(exponents.max()) > 900:
        return None
    total = exponents[:, None] + exponents[None, :]
    if int(np.abs(total).max()) > 4000:
        return None
    scaled = np.ldexp(matrix, np.clip(total, -4000, 4000).astype(np.int32))
    if not np.isfinite(scaled).all() or float(np.abs(scaled).max()) > 2.0**100:
        return None
    widened = up(rho * math.ldexp(1.0, max(2 * int(exponents.max()), -900))) if rho > 0 else 0.0
    lost = n * n * TINY if bool((np.abs(scaled) < 2.0**-1000).any()) else 0.0
    return scaled, (up(widened + lost) if lost else widened), exponents


def refined_congruence(matrix: Array, rho: float, transform: Array, count: int = 4) -> tuple[Array, float] | None:
    """``(B, rho_B)``: the float part of ``T S T^T`` and a spectral bound on everything else."""
    scale = np.abs(transform).max(axis=1, keepdims=True)
    if not (np.isfinite(scale).all() and bool((scale > 0).all())):
        return None
    transform = np.ldexp(transform, -np.frexp(scale)[1])
    # rows of T S T^T may be rescaled by powers of two at will: bring the diagonal near 1
    try:
        first = sliced_product(transform, matrix, count)
        second = sliced_product(first.high, np.ascontiguousarray(transform.T), count)
        third = multiply(first.low, transform.T)
    except ValueError:
        return None
    n = matrix.shape[0]
    size = np.abs(transform)
    low_error = gamma(n + 2) * multiply(np.abs(first.low), size.T)
    error = inflate(second.error + multiply(first.error, size.T) + low_error, n + 8)
    exact_sum = third + second.low
    value = second.high + exact_sum
    error = error + inflate(np.abs(exact_sum) + np.abs(value), 4) * 2.0**-52 + n * n * TINY
    square = 0.5 * (value + value.T)
    error = error + np.abs(square) * 2.0**-52 + np.abs(value - value.T)
    diagonal = np.abs(square.diagonal())
    if not bool((diagonal > 0).all()):
        return None
    powers = (-np.rint(np.log2(diagonal) / 2)).astype(np.int32)
    total = powers[:, None] + powers[None, :]
    if int(np.abs(total).max()) > 900:
        return None
    scaled, scaled_error = np.ldexp(square, total), np.ldexp(error, total)
    spread = 0.0
    if rho > 0:
        rows = np.ldexp(transform, powers[:, None])
        norm = frobenius_above(rows)
        spread = up(norm * norm * rho, 8)
    if not (np.isfinite(scaled).all() and np.isfinite(scaled_error).all()):
        return None
    return scaled, up(frobenius_above(scaled_error) * (1 + 2.0**-40) + spread + n * n * TINY)
