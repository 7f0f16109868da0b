"""``numpy.linalg`` on decided numbers: eigenvalues, determinants, inverses, norms, ranks and singular values, certified.

Rational matrices are treated exactly, others in ball arithmetic; what is refused raises :class:`NotDecided`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, arb_mat, fmpq, fmpq_mat

from eigentoken.numerics.author_code.decided_arrays import DecidedArray, decided_array, each, enter
from eigentoken.numerics.author_code.decided_numbers import DecidedNumber, NotDecided, decided, enclosure
from eigentoken.numerics.author_code.decided_order import ascending, root
from eigentoken.theory.exactness.polynomials import enclosed_eigenvalues, exact_eigenvalues

__all__: list[str] = []


def _rows(given: Any) -> list[list[DecidedNumber]]:
    array = decided_array(given)
    if array.ndim != 2:
        raise NotDecided("matrices are taken one at a time")
    return [list(row) for row in array]


def _square(given: Any) -> list[list[DecidedNumber]]:
    rows = _rows(given)
    if any(len(row) != len(rows) for row in rows):
        raise np.linalg.LinAlgError("the matrix is not square")
    return rows


def _exact(rows: Sequence[Sequence[DecidedNumber]]) -> fmpq_mat | None:
    if not all(isinstance(entry.value, fmpq) for row in rows for entry in row):
        return None
    return fmpq_mat([[entry.value for entry in row] for row in rows])


def _balls(rows: Sequence[Sequence[DecidedNumber]]) -> Any:
    """The matrix in real balls, or in complex ones where an entry is complex."""
    entries = [[enclosure(entry) for entry in row] for row in rows]
    if any(isinstance(entry, acb) for row in entries for entry in row):
        return acb_mat([[acb(entry) for entry in row] for row in entries])
    return arb_mat(entries)


def _spectrum(rows: Sequence[Sequence[DecidedNumber]]) -> list[Any]:
    """All eigenvalues with multiplicity: rational ones exact, others in balls, in no order."""
    exact = _exact(rows)
    if exact is not None:
        return [root for root, multiplicity in exact_eigenvalues(exact) for _ in range(multiplicity)]
    found = enclosed_eigenvalues(acb_mat(_balls(rows)))
    if found is None:
        raise NotDecided("the eigenvalues could not be enclosed")
    return found


@enter(np.linalg.eigvals)
def _eigvals(a: Any) -> DecidedArray:
    """All eigenvalues, in the order in which numpy lists those of the matrix of floats next to this one."""
    from scipy.optimize import linear_sum_assignment

    rows = _square(a)
    values = [_slim(value) for value in _spectrum(rows)]
    middles = np.array([_middle_of(decided(value)) for value in values])
    near = np.array([[_middle_of(entry) for entry in row] for row in rows])
    floats = np.linalg.eigvals(near if near.imag.any() else near.real)
    where, which = linear_sum_assignment(np.abs(floats[:, None] - middles[None, :]))
    return decided_array([values[which[place]] for place in np.argsort(where)])


def _middle_of(number: DecidedNumber) -> complex:
    """A float near the number: for an order, never for an answer."""
    ball = acb(enclosure(number))
    return complex(float(ball.real.mid()), float(ball.imag.mid()))


def _slim(value: Any) -> Any:
    return value.real if isinstance(value, acb) and value.imag.is_zero() else value


@enter(np.linalg.eigvalsh)
def _eigvalsh(a: Any, UPLO: str = "L") -> DecidedArray:
    """Ascending, of the symmetric matrix whose lower (or upper) triangle is given, as numpy does.

    The i-th smallest is enclosed by the i-th smallest lower and upper ends: no gap is assumed.
    """
    rows = _square(a)
    lower = UPLO.upper() == "L"
    size = range(len(rows))
    full = [[rows[max(i, j)][min(i, j)] if lower else rows[min(i, j)][max(i, j)] for j in size] for i in size]
    if any(isinstance(entry.value, acb) for row in full for entry in row):
        raise NotDecided("complex entries: eigvalsh is certified for real symmetric matrices")
    if _exact(full) is not None:
        return decided_array(ascending([_real_part(each) for each in _spectrum(full)]))
    middle, off = _middle(full)
    ordered = ascending([_real_part(each) for each in _spectrum(middle)])
    return decided_array([DecidedNumber(enclosure(number) + arb(0, off)) for number in ordered])


def _real_part(value: Any) -> Any:
    """An eigenvalue of a symmetric matrix is real."""
    return value.real if isinstance(value, acb) else value


def _middle(rows: Sequence[Sequence[DecidedNumber]]) -> tuple[list[list[DecidedNumber]], arb]:
    """The exact midpoints of the entries, and a bound of the Frobenius norm of what is left.

    By Weyl no eigenvalue of a symmetric matrix moves by more than that norm.
    """
    balls = [[enclosure(entry) for entry in row] for row in rows]
    if any(not ball.is_finite() for row in balls for ball in row):
        raise NotDecided("an entry of the matrix has no finite enclosure")
    square = sum((arb(ball.rad()) ** 2 for row in balls for ball in row), arb(0))
    return [[DecidedNumber(_dyadic(ball.mid())) for ball in row] for row in balls], square.sqrt().upper()


def _dyadic(value: arb) -> fmpq:
    mantissa, exponent = value.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


@enter(np.linalg.det)
def _det(a: Any) -> DecidedNumber:
    rows = _square(a)
    exact = _exact(rows)
    return decided(exact.det() if exact is not None else _slim(_balls(rows).det()))


@enter(np.linalg.inv)
def _inv(a: Any) -> DecidedArray:
    rows = _square(a)
    exact = _exact(rows)
    try:
        inverse = (exact if exact is not None else _balls(rows)).inv()
    except ZeroDivisionError:
        if exact is not None:
            raise np.linalg.LinAlgError("Singular matrix") from None
        raise NotDecided("the enclosures do not tell whether the matrix is singular") from None
    size = range(len(rows))
    return decided_array([[_slim(inverse[i, j]) for j in size] for i in size])


@enter(np.linalg.solve)
def _solve(a: Any, b: Any) -> Any:
    return _inv(a) @ decided_array(b)


@enter(np.linalg.matrix_rank)
def _matrix_rank(A: Any) -> int:
    """Exact for rational matrices; of others it is decided only where it is full."""
    rows = _rows(A)
    exact = _exact(rows)
    if exact is not None:
        return int(exact.rank())
    array = decided_array(A)
    small = array @ array.T if array.shape[0] <= array.shape[1] else array.T @ array
    if any(isinstance(entry.value, acb) for entry in small.reshape(-1)) or not enclosure(_det(small)) > 0:
        raise NotDecided("the rank of a matrix that is not rational is decided only where it is full")
    return int(min(array.shape))


def _singular_values(array: Any) -> Any:
    """Descending: the roots of the eigenvalues of the smaller Gram matrix."""
    _rows(array)
    if any(isinstance(entry.value, acb) for entry in array.reshape(-1)):
        raise NotDecided("singular values are certified for real matrices")
    gram = array @ array.T if array.shape[0] <= array.shape[1] else array.T @ array
    return each(np.asarray(_eigvalsh(gram))[::-1], root)


@enter(np.linalg.svdvals)
def _svdvals(x: Any) -> Any:
    return _singular_values(decided_array(x))


@enter(np.linalg.svd)
def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if compute_uv:
        raise NotDecided("numpy.linalg.svd has no certified version for singular vectors: ask for compute_uv=False")
    return _singular_values(decided_array(a))


@enter(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Vectors: 1, 2, infinity; matrices: 1, 2 (the largest singular value), infinity, Frobenius, nuclear."""
    array = decided_array(x)
    sizes = np.abs(array)
    text = isinstance(ord, str)
    if ord is None or (text and ord == "fro" and array.ndim == 2 and axis is None):
        return _roots((sizes * sizes).sum(axis=axis, keepdims=keepdims))
    on_vectors = array.ndim == 1 or (axis is not None and not isinstance(axis, tuple))
    if on_vectors and not text and ord in (1, 2, np.inf):
        if ord == 2:
            return _roots((sizes * sizes).sum(axis=axis, keepdims=keepdims))
        return sizes.sum(axis=axis, keepdims=keepdims) if ord == 1 else sizes.max(axis=axis, keepdims=keepdims)
    if array.ndim != 2 or axis is not None or keepdims or (text and ord != "nuc") or (not text and ord not in _ORDERS):
        raise NotDecided("this norm has no certified version")
    if text:
        return _singular_values(array).sum()
    if ord == 2 or ord == -2:
        return _singular_values(array)[0 if ord == 2 else -1]
    return sizes.sum(axis=0 if ord == 1 else 1).max()


#: Norms of matrices.
_ORDERS = (1, 2, -2, np.inf)


def _roots(squares: Any) -> Any:
    """Square roots of numbers that are known not to be negative."""
    return root(squares) if isinstance(squares, DecidedNumber) else each(np.asarray(squares), root)
