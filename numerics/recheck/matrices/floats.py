"""The minimal float verifier, for matrices too large for exact arithmetic: it trusts matrix products only.

Bound used throughout, for any order of summation: ``||fl(A B) - A B||_F <= k u' ||A||_F ||B||_F`` with inner size k and
``u' = 1.01 * 2^-53`` (Higham, section 3.5; inputs are scaled and ``2^-1000`` is added, so that underflow is covered).

* ``definite_above(S, c, rho)``: some triangular R, from anywhere, with ``||S - s I - R R^T||_F <= s - c - rho`` proves
  ``lambda_min > c`` for every matrix within rho of S, since ``R R^T`` is semidefinite.
* ``beyond_real_part``: a symmetric P with ``Q = 2 beta P - P A - A^T P > 0`` has as many negative eigenvalues as A has
  eigenvalues with real part above beta, and none lies on the line (Ostrowski and Schneider, 1962).  ``Q`` moves by at
  most ``2 ||P|| ||E||`` with A.
* ``beyond_modulus``: the same with ``Q = beta^2 P - A^T P A > 0`` and moduli (Taussky 1964, Wimmer 1973); Q moves by at
  most ``||P|| (2 ||A|| ||E|| + ||E||^2)``.
* P has exactly one negative eigenvalue if ``x^T P x < 0`` for one x and ``P + r r^T > 0`` for one r.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dlauum, dpotrf

__all__ = [
    "beyond_modulus",
    "beyond_real_part",
    "definite_above",
    "inverse_reach",
    "nearest_float",
    "plain_spectral_above",
    "quick_spectral_above",
    "quotient_below",
    "scaled",
    "scaled_above",
    "scaled_below",
    "sign_counts",
    "spectral_above",
    "spectral_above_each",
]

Floats = NDArray[np.float64]
U = 1.01 * 2.0**-53
FLOOR = 2.0**-1000


def _more(value: float) -> float:
    """A little above: pays for the few roundings of scalar bookkeeping."""
    return value * (1 + 2.0**-40) + FLOOR


def _frobenius(a: Floats) -> float:
    entries = a.ravel(order="K")
    return _more(math.sqrt(float(entries @ entries)) * (1 + a.size * U))


def plain_spectral_above(a: Floats) -> float:
    size = np.abs(a)
    mixed = math.sqrt(float(size.sum(axis=0).max()) * float(size.sum(axis=1).max())) * (1 + max(a.shape) * 4 * U)
    return min(_frobenius(a), _more(mixed))


def scaled(values: Floats) -> tuple[Floats, int, float]:
    """``(values 2^-e, e, bound on what subnormals lost)`` with largest entry near 1."""
    largest = float(np.abs(values).max())
    e = math.frexp(largest)[1] if largest > 0 else 0
    return np.ldexp(values, -e), e, values.size * FLOOR


def nearest_float(value: Fraction) -> float:
    """The nearest float, infinite where it is out of range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def scaled_above(value: Fraction, e: int) -> float:
    """A float that is not below ``value 2^-e`` (infinite if it is too large)."""
    exact = value * Fraction(2) ** -e
    nearest = nearest_float(exact)
    if math.isinf(nearest):
        return math.inf if exact > 0 else -math.nextafter(math.inf, 0.0)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def scaled_below(value: Fraction, e: int) -> float:
    """A float that is not above ``value 2^-e``."""
    return -scaled_above(-value, e)


def quotient_below(matrix: Floats, rho: float, x: Floats, bound: float) -> bool:
    """Is ``x^T M x < bound x^T x`` for every M within rho of this matrix?  (``(2n + 4) u |x|^T |M| |x|`` of rounding)"""
    largest = float(np.abs(x).max(initial=0.0))
    if not (0.0 < largest < math.inf and math.isfinite(bound) and np.isfinite(matrix).all()):
        return False
    x = np.ldexp(x, -math.frexp(largest)[1])
    n = len(x)
    size = np.abs(x)
    squares = float(x @ x) * (1 + 2 * n * U)
    error = (2 * n + 4) * U * float(size @ (np.abs(matrix) @ size)) + squares * (rho + 4 * n * U * abs(bound))
    return bool(float(x @ (matrix @ x)) + _more(error) < bound * float(x @ x))


def definite_above(matrix: Floats, c: float, rho: float) -> bool:
    """Is ``lambda_min > c`` for every symmetric matrix within rho of this exactly symmetric one?"""
    n = matrix.shape[0]
    if not (np.isfinite(matrix).all() and math.isfinite(c) and rho >= 0 and math.isfinite(rho)):
        return False
    diagonal = matrix.diagonal()
    room = _more(4 * (n + 4) * U * (float(np.abs(diagonal).sum()) + n * abs(c)))
    s = c + rho + room
    target = matrix.copy()
    target.flat[:: n + 1] -= s
    upper = _upper_factor(target)
    if upper is None:
        return False
    slip = _more(2 * U * float(np.linalg.norm(diagonal)) + 2 * U * math.sqrt(n) * abs(s))  # the diagonal was rounded
    # the upper triangle of S - s I - R R^T, twice: n roundings on each path of the product, one of the difference
    product_error = _more((n + 2) * U * (_frobenius(upper) ** 2 + _frobenius(target)))
    triangle = np.triu(target.T - dlauum(upper, lower=0, overwrite_c=1)[0])
    residual = (
        math.sqrt(2.0) * _frobenius(triangle) * (1 + 4 * U) + product_error + slip + 8 * U * (abs(s) + abs(c) + rho)
    )
    return bool(_more(residual) < (s - c - rho) * (1 - 2.0**-40))


def _upper_factor(target: Floats) -> Floats | None:
    """An upper triangular R with ``R R^T`` near the matrix, in Fortran order: the Cholesky factor, turned around.

    ``J S J = L L^T`` gives ``S = (J L J)(J L J)^T``: in that form LAPACK multiplies a triangle with its transpose in n^3 / 3
    operations.  None where there is no such factor; what comes back need not be trusted.
    """
    factor, info = dpotrf(np.ascontiguousarray(target[::-1, ::-1]).T, lower=1, clean=1, overwrite_a=1)
    if info != 0 or not np.isfinite(factor).all():
        return None
    return np.asfortranarray(factor[::-1, ::-1])


def sign_counts(matrix: Floats, rho: float, beyond: float, transform: Floats | None) -> tuple[int, int]:
    """Certified numbers of eigenvalues above ``beyond`` and below its negative, of every matrix within rho."""
    n = matrix.shape[0]
    if definite_above(matrix, beyond, rho):
        return n, 0
    if definite_above(-matrix, beyond, rho):
        return 0, n
    if transform is None or transform.shape[1] != n or transform.dtype != np.float64:
        transform = np.ascontiguousarray(np.linalg.eigh(matrix)[1].T)
    if not np.isfinite(transform).all():
        return 0, 0
    size = np.abs(transform).max(axis=1, keepdims=True)
    if not bool((size > 0).all()):
        return 0, 0
    transform = np.ldexp(transform, -np.frexp(size)[1])
    quotients = np.einsum("ij,ij->i", transform @ matrix, transform)
    lengths = np.einsum("ij,ij->i", transform, transform)
    doubtful = 16 * (rho + n * U * _frobenius(matrix)) * lengths  # a row near the kernel would spoil the others
    found = []
    for sign in (1.0, -1.0):
        rows = transform[quotients * sign > doubtful]
        found.append(rows.shape[0] if rows.shape[0] and _compressed(sign * matrix, rows, rho, beyond) else 0)
    return found[0], found[1]


def _compressed(matrix: Floats, rows: Floats, rho: float, beyond: float) -> bool:
    """Is ``T (S - beyond I) T^T > 0``?  Then S has that many eigenvalues above ``beyond``."""
    n = matrix.shape[0]
    shifted = matrix.copy()
    shifted.flat[:: n + 1] -= beyond
    b = rows @ shifted @ rows.T
    b = 0.5 * (b + b.T)
    t, s = _frobenius(rows), _frobenius(shifted)
    error = _more((2 * n + 6) * U * t * t * s + 4 * U * _frobenius(b) + t * t * (rho + 2 * U * (s + abs(beyond))))
    return definite_above(b, 0.0, error)


def inverse_reach(matrix: Floats) -> float:
    """A number t such that every matrix within t of this one is nonsingular (0 if nothing was shown)."""
    n = matrix.shape[0]
    try:
        y: Floats = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return 0.0
    if not np.isfinite(y).all() or float(np.abs(y).max()) > 2.0**300:
        return 0.0
    g = y @ matrix
    g.flat[:: n + 1] -= 1.0
    defect = _more(_frobenius(g) + (n + 2) * U * (_frobenius(y) * _frobenius(matrix) + n))
    if not defect < 1:
        return 0.0
    return (1 - defect) * (1 - 2.0**-30) / spectral_above(y)


def spectral_above(matrix: Floats) -> float:
    """An upper bound on the spectral norm: a guess t that ``t^2 I - M^T M > 0`` confirms, else a crude bound."""
    return _confirmed_norm(matrix, lambda shape: [float(np.linalg.norm(shape, 2)) * (1 + 1e-7)])


def spectral_above_each(stack: Floats) -> Floats:
    """The same for each matrix of a stack (m, k, l): the factors are found, and their residuals bounded, together."""
    if not np.isfinite(stack).all():
        return np.full(len(stack), math.inf)
    shape, e, lost = scaled(stack)
    gram = np.swapaxes(shape, 1, 2) @ shape
    gram = 0.5 * (gram + np.swapaxes(gram, 1, 2))
    k, n = stack.shape[1:]
    size = np.sqrt((shape * shape).sum((1, 2))) * (1 + k * n * U) * (1 + 2.0**-40) + FLOOR
    t = np.linalg.norm(shape, 2, axis=(1, 2)) * (1 + 1e-7)
    rho = (k + 4) * U * size * size + 4 * U * t * t * math.sqrt(n) + 2 * size * lost + FLOOR
    s = rho + 8 * (n + 4) * U * n * (t * t + size * size) + FLOOR  # what the residual of a factor may be
    target = -gram
    diagonal = np.arange(n)
    target[:, diagonal, diagonal] += (t * t - s)[:, None]
    try:
        factor = np.linalg.cholesky(target)
    except np.linalg.LinAlgError:
        return np.array([spectral_above(each) for each in stack])
    rest = target - factor @ np.swapaxes(factor, 1, 2)
    lengths = [np.sqrt((each * each).sum((1, 2))) * (1 + 2 * n * n * U) for each in (rest, factor, target)]
    residual = lengths[0] + (n + 2) * U * (lengths[1] ** 2 + lengths[2]) + 4 * U * math.sqrt(n) * (t * t + s)
    shown = np.isfinite(residual) & (residual * (1 + 2.0**-30) < (s - rho) * (1 - 2.0**-30)) & (e < 1000)
    found = np.ldexp(t, min(e, 1000)) * (1 + 2.0**-39) + FLOOR
    return np.array([float(found[i]) if shown[i] else spectral_above(stack[i]) for i in range(len(stack))])


def quick_spectral_above(matrix: Floats) -> float:
    """The same with guesses from a few steps of the power method: some percent larger, without singular values."""

    def guesses(shape: Floats) -> list[float]:
        x = np.cos(np.arange(shape.shape[1]) + 1.0)
        for _ in range(24):
            x = shape.T @ (shape @ (x / float(np.linalg.norm(x))))
        size = math.sqrt(float(np.linalg.norm(x)))
        return [size * 1.02, size * 1.2]

    return _confirmed_norm(matrix, guesses)


def _confirmed_norm(matrix: Floats, guesses: Callable[[Floats], list[float]]) -> float:
    crude = plain_spectral_above(matrix)
    shape, e, lost = scaled(matrix)
    gram = shape.T @ shape
    gram = 0.5 * (gram + gram.T)
    size, n = _frobenius(shape), gram.shape[0]
    for t in guesses(shape):
        target = -gram
        target.flat[:: n + 1] += t * t
        error = _more((shape.shape[0] + 4) * U * size * size + 4 * U * t * t * math.sqrt(n) + 2 * size * lost)
        if definite_above(target, 0.0, error):
            return min(crude, _more(math.ldexp(t, e)) * (1 + 2.0**-40) if e < 1000 else crude)
    return crude


def _one_negative(p: Floats, x: Floats, r: Floats) -> bool | None:
    n = p.shape[0]
    value = float(x @ (p @ x))
    error = _more((2 * n + 4) * U * float(np.abs(x) @ (np.abs(p) @ np.abs(x))))
    if not value + error < 0:
        return False if value - error > 0 else None
    lifted = np.outer(r, r)  # exactly symmetric, as p is
    lifted += p
    slip = _more(6 * U * (_frobenius(p) + float(r @ r) * (1 + n * U)))
    return True if definite_above(lifted, 0.0, slip) else _not_definite(lifted, slip)


def _not_definite(matrix: Floats, rho: float) -> bool | None:
    """False if a direction shows that every symmetric matrix within rho of this one is not definite, else None."""
    n = matrix.shape[0]
    try:
        x = np.linalg.eigh(matrix)[1][:, 0]
    except np.linalg.LinAlgError:
        return None
    value = float(x @ (matrix @ x))
    error = (2 * n + 4) * U * float(np.abs(x) @ (np.abs(matrix) @ np.abs(x))) + rho * float(x @ x) * (1 + 2 * n * U)
    return False if value + _more(error) < 0 else None


def _usable(a: Floats, p: Floats, x: Floats, r: Floats) -> bool:
    n = a.shape[0]
    shapes = p.shape == (n, n) and x.shape == (n,) and r.shape == (n,)
    finite = shapes and all(bool(np.isfinite(m).all()) for m in (a, p, x, r))
    return finite and bool(np.any(p)) and bool(np.any(x)) and np.array_equal(p, p.T)


def _both(q: Floats, moved: float, error: float, p: Floats, x: Floats, r: Floats) -> bool | None:
    """``Q > moved`` and one negative eigenvalue of P: True, shown wrong, or None."""
    if not definite_above(q, moved, error):
        return _not_definite(q, error)
    return _one_negative(p, x, r)


def beyond_real_part(a: Floats, lost: float, beta: float, reach: float, p: Floats, x: Floats, r: Floats) -> bool | None:
    """Has every matrix within ``reach`` of a exactly one eigenvalue with real part above beta, and none at beta?

    True if P shows it, False if P is not such a matrix, None if neither was shown.
    """
    if not _usable(a, p, x, r):
        return False
    n = a.shape[0]
    k = p @ a
    norm_p, norm_a, two_p = _frobenius(p), _frobenius(a), plain_spectral_above(p)
    q = (2 * beta) * p - (k + k.T)  # exactly symmetric
    error = _more(2 * (n + 1) * U * norm_p * norm_a + 4 * U * (2 * abs(beta) * norm_p + 2 * norm_p * norm_a))
    return _both(q, _more(2 * two_p * (reach + lost)), error, p, x, r)


def beyond_modulus(a: Floats, lost: float, beta: float, reach: float, p: Floats, x: Floats, r: Floats) -> bool | None:
    """Has every matrix within ``reach`` of a exactly one eigenvalue of modulus above beta, and none at beta?"""
    if not (_usable(a, p, x, r) and beta > 0):
        return False
    n = a.shape[0]
    norm_p, norm_a = _frobenius(p), _frobenius(a)
    q = (beta * beta) * p - a.T @ (p @ a)
    error = _more((2 * n + 8) * U * norm_p * norm_a * norm_a + 6 * U * beta * beta * norm_p)
    q = 0.5 * (q + q.T)
    t = reach + lost
    moved = _more(plain_spectral_above(p) * (2 * plain_spectral_above(a) * t + t * t))
    return _both(q, moved, error, p, x, r)
