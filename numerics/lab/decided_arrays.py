"""Arrays of :class:`DecidedNumber` that numpy's own functions take, with certified ``numpy.linalg``.

``a @ b``, ``a.sum()``, ``numpy.exp(a)``, ``a.max()`` and comparisons are numpy's loops over objects; eigenvalues,
determinants, inverses, norms and ranks are computed here, in exact or ball arithmetic.  What has no certified version raises
:class:`NotDecided`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, fmpq, fmpq_mat
from scipy.optimize import linear_sum_assignment

from eigentoken.numerics.lab.decided_numbers import DecidedNumber, NotDecided, decided, enclosure

__all__ = ["DecidedArray", "decided_array"]


class DecidedArray(np.ndarray):
    """A numpy array of decided numbers.

    >>> a = decided_array([[2, 1], [1, 2]])
    >>> np.linalg.eigvalsh(a)[0] == 1, bool((a @ a > 3).all()), np.linalg.det(a) == 3
    (True, True, True)
    """

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _CERTIFIED:
            return _CERTIFIED[function](*args, **kwargs)
        if getattr(function, "__module__", "") == "numpy.linalg":
            raise NotDecided(f"numpy.linalg.{function.__name__} has no certified version")
        return super().__array_function__(function, types, args, kwargs)

    def astype(self, dtype: Any, *options: Any, **named: Any) -> Any:
        if dtype not in (object, np.object_):
            raise NotDecided("the predicate turns exact numbers into floats")
        return super().astype(dtype, *options, **named)

    def max(  # type: ignore[override]
        self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any
    ) -> Any:
        return _extreme(self, axis, keepdims, largest, out, options)

    def min(  # type: ignore[override]
        self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any
    ) -> Any:
        return _extreme(self, axis, keepdims, lambda a, b: -largest(-a, -b), out, options)

    @property  # type: ignore[misc]
    def real(self) -> Any:
        return _each(self, lambda number: number.real)

    @property  # type: ignore[misc]
    def imag(self) -> Any:
        return _each(self, lambda number: number.imag)


def decided_array(values: Any) -> DecidedArray:
    """The array with every entry as a decided number."""
    plain = np.array(values, dtype=object)
    made = np.empty(plain.shape, dtype=object)
    for index in np.ndindex(plain.shape):
        made[index] = decided(plain[index])
        if made[index] is NotImplemented:
            raise NotDecided(f"{plain[index]!r} is no number")
    return made.view(DecidedArray)


def _each(array: Any, function: Callable[[DecidedNumber], DecidedNumber]) -> DecidedArray:
    made = np.empty(array.shape, dtype=object)
    for index in np.ndindex(array.shape):
        made[index] = function(array[index])
    return made.view(DecidedArray)


def largest(a: DecidedNumber, b: DecidedNumber) -> DecidedNumber:
    """The larger one; of two enclosures that overlap, an enclosure of it."""
    if isinstance(a.value, acb) or isinstance(b.value, acb):
        raise NotDecided("complex numbers are compared by size")
    if isinstance(a.value, fmpq) and isinstance(b.value, fmpq):
        return a if a.value >= b.value else b
    return DecidedNumber(enclosure(a).max(enclosure(b)))


def _extreme(array: Any, axis: Any, keepdims: bool, choose: Any, out: Any, options: Any) -> Any:
    if out is not None or options or isinstance(axis, tuple) or array.size == 0:
        raise NotDecided("max and min take an axis and keepdims, of arrays that are not empty")
    plain = np.asarray(array).reshape(-1) if axis is None else np.moveaxis(np.asarray(array), axis, 0)
    found = plain[0]
    for other in plain[1:]:
        found = choose(found, other) if plain.ndim == 1 else _each_of_two(choose, found, other)
    if not keepdims:
        return found.view(DecidedArray) if isinstance(found, np.ndarray) else found
    shape = (
        [1] * array.ndim if axis is None else [1 if k == axis % array.ndim else m for k, m in enumerate(array.shape)]
    )
    made = np.empty(shape, dtype=object)
    made[...] = np.reshape(found, shape) if isinstance(found, np.ndarray) else found
    return made.view(DecidedArray)


def _each_of_two(choose: Any, first: Any, second: Any) -> Any:
    made = np.empty(first.shape, dtype=object)
    for index in np.ndindex(first.shape):
        made[index] = choose(first[index], second[index])
    return made


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


def _balls(rows: Sequence[Sequence[DecidedNumber]]) -> acb_mat:
    return acb_mat([[acb(enclosure(entry)) for entry in row] for row in rows])


def _spectrum(rows: Sequence[Sequence[DecidedNumber]]) -> list[Any]:
    """All eigenvalues with multiplicity: rational ones exact, others in balls, in no order."""
    exact = _exact(rows)
    if exact is None:
        try:
            return list(_balls(rows).eig(multiple=True))
        except (ValueError, ArithmeticError):
            raise NotDecided("the eigenvalues could not be enclosed") from None
    found: list[Any] = []
    for factor, multiplicity in exact.charpoly().factor()[1]:
        if factor.degree() == 1:
            found += [-factor[0] / factor[1]] * int(multiplicity)
        else:
            found += [root for root, _ in factor.complex_roots()] * int(multiplicity)
    return found


def _eigvals(a: Any) -> DecidedArray:
    """All eigenvalues, in the order in which numpy lists those of the matrix of floats next to this one."""
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
        return _ascending(_spectrum(full))
    middle, off = _middle(full)
    return _each(_ascending(_spectrum(middle)), lambda number: DecidedNumber(enclosure(number) + arb(0, off)))


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


def _ascending(values: list[Any]) -> DecidedArray:
    """Real eigenvalues in order: the i-th is between the i-th smallest lower end and the i-th smallest upper end."""
    real = [value.real if isinstance(value, acb) else value for value in values]
    if all(isinstance(value, fmpq) for value in real):
        return decided_array(sorted(real))
    balls = [enclosure(decided(value)) for value in real]
    ends = zip(_sorted_ends(balls, "lower"), _sorted_ends(balls, "upper"), strict=True)
    return decided_array([low.union(high) for low, high in ends])


def _sorted_ends(balls: Sequence[arb], end: str) -> list[arb]:
    """The exact ends of the balls in ascending order."""
    ends = [getattr(ball, end)() for ball in balls]
    if any(not each.is_finite() for each in ends):
        raise NotDecided("an eigenvalue has no finite enclosure")
    ordered: list[arb] = []
    for each in ends:  # exact numbers (radius zero): comparisons are decided
        place = next((index for index, other in enumerate(ordered) if each < other), len(ordered))
        ordered.insert(place, each)
    return ordered


def _det(a: Any) -> DecidedNumber:
    rows = _square(a)
    exact = _exact(rows)
    return decided(exact.det() if exact is not None else _slim(_balls(rows).det()))


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


def _solve(a: Any, b: Any) -> Any:
    return _inv(a) @ decided_array(b)


def _matrix_rank(a: Any) -> int:
    exact = _exact(_rows(a))
    if exact is None:
        raise NotDecided("the rank of a matrix that is not rational is not decided")
    return int(exact.rank())


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Vectors: 1, 2, infinity; matrices: 1, 2 (the largest singular value), infinity, Frobenius."""
    array = decided_array(x)
    sizes = np.abs(array)
    if ord is None or ord == "fro":
        return _roots((sizes * sizes).sum(axis=axis, keepdims=keepdims))
    if isinstance(axis, tuple) or array.ndim > 2 or ord not in (1, 2, np.inf):
        raise NotDecided(f"the norm with ord = {ord!r}, axis = {axis!r} has no certified version")
    if array.ndim == 1 or axis is not None:
        if ord == 2:
            return _roots((sizes * sizes).sum(axis=axis, keepdims=keepdims))
        return sizes.sum(axis=axis, keepdims=keepdims) if ord == 1 else sizes.max(axis=axis, keepdims=keepdims)
    if ord == 2:
        return _roots(_eigvalsh(array.T @ array)[-1])
    return sizes.sum(axis=0 if ord == 1 else 1).max()


def _roots(squares: Any) -> Any:
    """Square roots of numbers that are known not to be negative, also where an enclosure reaches below zero."""
    if isinstance(squares, DecidedNumber):
        ball = enclosure(squares)
        if isinstance(squares.value, fmpq) or ball.lower() >= 0:
            return squares.sqrt()
        return DecidedNumber(arb(0).union(ball.upper().sqrt()))
    return _each(np.asarray(squares), _roots) if np.ndim(squares) else _roots(squares.item())


def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    first, second = decided_array(a), decided_array(b)
    return np.abs(first - second) <= decided(atol) + decided(rtol) * np.abs(second)


def _allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    return bool(np.all(_isclose(a, b, rtol, atol)))


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    first, second = decided_array(a1), decided_array(a2)
    return first.shape == second.shape and bool(np.all(first == second))


#: Certified versions of functions of numpy.
_CERTIFIED: dict[Any, Callable[..., Any]] = {
    np.linalg.eigvals: _eigvals,
    np.linalg.eigvalsh: _eigvalsh,
    np.linalg.det: _det,
    np.linalg.inv: _inv,
    np.linalg.solve: _solve,
    np.linalg.matrix_rank: _matrix_rank,
    np.linalg.norm: _norm,
    np.max: lambda a, *options, **named: decided_array(a).max(*options, **named),
    np.min: lambda a, *options, **named: decided_array(a).min(*options, **named),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.isclose: _isclose,
    np.allclose: _allclose,
    np.array_equal: _array_equal,
}
