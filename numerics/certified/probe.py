"""The backend probe: a device may issue certificates only after its arithmetic was seen to obey the bounds.

Every float bound here assumes ``|fl(A B) - A B| <= gamma_k |A| |B|`` entrywise, in any order of summation.  TF32,
float16 accumulation, Strassen-like products, rounding towards zero and float64 that is put together from whole-number slices
with one scale for a row do not obey it.  The probe multiplies graded integer matrices (rows and
columns scaled by powers of two, with cancellation) whose product is known exactly from integer arithmetic, and takes
the worst ratio of observed error to bound.  It also factors graded definite matrices (``R R^T`` against S, Rump's
bound) and looks whether subnormal numbers survive.  A backend whose ratio exceeds 1 is refused.  A probe is evidence
about a backend, not a proof of it: that is why certificates are re-checked by another arithmetic
(:mod:`eigentoken.numerics.recheck`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigentoken.numerics.certified.exact_matrices import ExactMatrix
from eigentoken.numerics.certified.rounding import UNIT, Array

__all__ = [
    "BackendRefused",
    "Probe",
    "probe_arithmetic",
    "probe_numpy",
]

_CACHE: dict[str, Probe] = {}


class BackendRefused(ValueError):
    """The backend failed its probe: it may not issue certificates."""


@dataclass(frozen=True)
class Probe:
    """Worst observed error over its bound, for products and for Cholesky factors; ``passed`` needs both at most 1."""

    backend: str
    product_ratio: float
    factor_ratio: float
    subnormals: bool

    @property
    def passed(self) -> bool:
        return self.within and self.subnormals

    @property
    def within(self) -> bool:
        """Did products and factors keep to their bounds?  (A device may flush subnormal results: the bounds pay for it.)"""
        return self.product_ratio <= 1.0 and self.factor_ratio <= 1.0

    def require(self, *, subnormals: bool = True) -> Probe:
        """This probe, or :class:`BackendRefused` with the numbers."""
        if not (self.passed if subnormals else self.within):
            raise BackendRefused(
                f"backend {self.backend} may not issue certificates: product error {self.product_ratio:.3g} and factor "
                f"error {self.factor_ratio:.3g} times the bound, subnormal numbers kept: {self.subnormals}"
            )
        return self


def _graded(rng: np.random.Generator, rows: int, columns: int, spread: int, *, by_row: bool) -> Array:
    whole = rng.integers(-(2**52), 2**52, size=(rows, columns)).astype(np.float64)
    exponents = rng.integers(-spread, spread + 1, size=rows if by_row else columns)
    return np.asarray(np.ldexp(whole, exponents[:, None] if by_row else exponents[None, :]))


def _product_ratio(matmul: Callable[[Array, Array], Array], rng: np.random.Generator, size: int) -> float:
    inner = size + 3
    a, b = _graded(rng, size, inner, 12, by_row=True), _graded(rng, inner, size, 12, by_row=False)
    half = inner // 2  # cancellation: the second half of the inner index almost undoes the first
    a[:, half : 2 * half] = a[:, :half]
    b[half : 2 * half, :] = -b[:half, :] + np.ldexp(rng.integers(-9, 9, size=(half, size)).astype(np.float64), -9)
    # small rows against large columns of the inner index: what a Strassen-like scheme spoils
    a[: size // 2, :half] = np.ldexp(a[: size // 2, :half], -200)
    b[:half, : size // 2] = np.ldexp(b[:half, : size // 2], -200)
    return _error_over_bound(matmul, a, b)


def _plain_ratio(matmul: Callable[[Array, Array], Array], rng: np.random.Generator) -> float:
    """The same for matrices without grading, which a device may treat in another way (error-free slices, tensor cores)."""
    a, b = rng.standard_normal((9, 300)), rng.standard_normal((300, 9))
    a[:, 150:], b[150:] = a[:, :150], -b[:150] + np.ldexp(b[:150], -30)
    return _error_over_bound(matmul, a, b)


def _complementary_ratio(matmul: Callable[[Array, Array], Array], rng: np.random.Generator) -> float:
    """Large entries that meet small ones, along the inner index: what a scheme with one scale for a row spoils.

    Float64 out of whole-number slices (cuBLAS's emulation) keeps a fixed number of bits below the largest entry of a row or
    column; every product here is of the size that such a scheme drops.
    """
    a, b = rng.standard_normal((9, 40)), rng.standard_normal((40, 9))
    exponents = np.where(np.arange(40) % 2, 0, -45)
    return _error_over_bound(matmul, np.ldexp(a, exponents[None]), np.ldexp(b, (-45 - exponents)[:, None]))


def _directed_ratio(matmul: Callable[[Array, Array], Array]) -> float:
    """Sums of one and of numbers just below its last bit, one at any place: what rounding towards zero loses each time."""
    inner = 65
    small = 2.0**-52 * (1 - 2.0**-20)
    a = np.full((13, inner), small)
    a[np.arange(13), np.linspace(0, inner - 1, 13).astype(int)] = 1.0
    signs = np.where(np.arange(13) % 2, 1.0, -1.0)
    return _error_over_bound(matmul, a, np.broadcast_to(signs, (inner, 13)).copy())


def _large_ratio(matmul: Callable[[Array, Array], Array], rng: np.random.Generator, size: int) -> float:
    """A few entries of a product that is large enough for the routine that large products get."""
    a, b = rng.standard_normal((size, size)), rng.standard_normal((size, size))
    a[:, size // 2 :], b[size // 2 :] = a[:, : size // 2], -b[: size // 2] + np.ldexp(b[: size // 2], -30)
    few = np.array([0, 1, size // 2, size - 1])

    def of_few(_: Array, __: Array) -> Array:
        return np.asarray(matmul(a, b), dtype=np.float64)[np.ix_(few, few)]

    return _error_over_bound(of_few, a[few], b[:, few])


def _error_over_bound(matmul: Callable[[Array, Array], Array], a: Array, b: Array) -> float:
    """The largest ``|fl(A B) - A B| / (k u |A| |B|)``, in exact arithmetic."""
    size, inner = a.shape
    left, right = ExactMatrix.from_floats(a), ExactMatrix.from_floats(b)
    truth = left.times(right)
    size_bound = ExactMatrix.from_floats(np.abs(a)).times(ExactMatrix.from_floats(np.abs(b)))
    observed = np.asarray(matmul(a, b), dtype=np.float64)
    if observed.shape != (size, size) or not np.isfinite(observed).all():
        return float("inf")
    seen = ExactMatrix.from_floats(observed)
    errors = seen.numerators * truth.denominator - truth.numerators * seen.denominator
    below, worst = int(seen.denominator) * inner, 0.0
    for entry, bound in zip(errors.entries(), size_bound.numerators.entries(), strict=True):
        if entry != 0:
            worst = max(worst, _over(abs(int(entry)), int(bound) * below) / UNIT)
    return worst


def _over(error: int, bound: int) -> float:
    """``error / bound``, rounded once."""
    try:
        return error / bound
    except (OverflowError, ZeroDivisionError):
        return float("inf")


def _factor_ratio(cholesky: Callable[[Array], Array], rng: np.random.Generator, size: int) -> float:
    base = rng.integers(-8, 9, size=(size, size)).astype(np.float64)
    grading = np.ldexp(1.0, rng.integers(-8, 9, size=size))
    matrix = (base @ base.T + size * np.eye(size)) * grading[:, None] * grading[None, :]  # exact: small integers
    factor = np.tril(np.asarray(cholesky(matrix), dtype=np.float64))
    if not np.isfinite(factor).all():
        return float("inf")
    exact = ExactMatrix.from_floats(factor)
    product = exact.times(exact.transpose())
    target = ExactMatrix.from_floats(matrix)
    errors = product.numerators * target.denominator - target.numerators * product.denominator
    below = int(product.denominator * target.denominator)
    sizes = np.array([_over(abs(int(entry)), below) for entry in errors.entries()]).reshape(matrix.shape)
    bounds = np.sqrt(matrix.diagonal()[:, None] * matrix.diagonal()[None]) * (size + 3) * UNIT
    return float((sizes / bounds).max())


def probe_arithmetic(
    backend: str,
    matmul: Callable[[Array, Array], Array],
    cholesky: Callable[[Array], Array] | None = None,
    sizes: tuple[int, ...] = (5, 33, 65),
    large: int = 0,
) -> Probe:
    """Probe any pair of functions; nothing is cached.  ``large``: also a square product of this even size."""
    rng = np.random.default_rng(20260)
    with np.errstate(all="ignore"):
        product = max(
            _plain_ratio(matmul, rng),
            _complementary_ratio(matmul, rng),
            _directed_ratio(matmul),
            _large_ratio(matmul, rng, large) if large else 0.0,
            *(_product_ratio(matmul, rng, size) for size in sizes),
        )
        factor = max(_factor_ratio(cholesky, rng, size) for size in sizes) if cholesky is not None else 0.0
        small = matmul(np.array([[2.0**-1070]]), np.array([[1.0]]))
    return Probe(backend, product, factor, bool(np.asarray(small).ravel()[0] == 2.0**-1070))


def _lapack_factor(matrix: Array) -> Array:
    """The factor of the routine that the certificates use (scipy may bring another LAPACK than numpy)."""
    from eigentoken.numerics.certified.lapack import dpotrf

    factor, info = dpotrf(np.array(matrix, order="F"), lower=1, clean=1, overwrite_a=1)
    return np.full(matrix.shape, np.nan) if info != 0 else np.asarray(factor)


def probe_numpy() -> Probe:
    """The probe of numpy's products and scipy's Cholesky factors, once a process."""
    if "numpy" not in _CACHE:
        _CACHE["numpy"] = probe_arithmetic("numpy", np.matmul, _lapack_factor)
    return _CACHE["numpy"]
