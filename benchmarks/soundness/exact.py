"""Rational linear algebra, written here and only here: Fractions, elimination, nothing shared with the issuer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Rows = list[list[Fraction]]


def fractions(matrix: Any) -> Rows:
    """The exact entries of floats, integers, Fractions or texts ``p/q``."""
    return [[Fraction(entry) for entry in (row.tolist() if hasattr(row, "tolist") else row)] for row in matrix]


def transpose(a: Rows) -> Rows:
    return [list(column) for column in zip(*a, strict=True)]


def times(a: Rows, b: Rows) -> Rows:
    columns = transpose(b)
    return [
        [sum((x * y for x, y in zip(row, column, strict=True) if x and y), Fraction(0)) for column in columns]
        for row in a
    ]


def plus(a: Rows, b: Rows, factor: Fraction | int = 1) -> Rows:
    return [[x + factor * y for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]


def scaled(a: Rows, factor: Fraction | int) -> Rows:
    return [[factor * x for x in row] for row in a]


def identity(n: int, factor: Fraction | int = 1) -> Rows:
    return [[Fraction(factor) if i == j else Fraction(0) for j in range(n)] for i in range(n)]


def symmetric_part(a: Rows) -> Rows:
    return scaled(plus(a, transpose(a)), Fraction(1, 2))


def inertia(symmetric: Rows) -> tuple[int, int, int]:
    """Numbers of positive, negative and zero eigenvalues: symmetric elimination with 1 x 1 and 2 x 2 pivots (Sylvester)."""
    a = [row[:] for row in symmetric]
    positive = negative = 0
    while a:
        n = len(a)
        at = next((i for i in range(n) if a[i][i]), None)
        if at is not None:
            pivot = a[at][at]
            positive, negative = positive + (pivot > 0), negative + (pivot < 0)
            rest = [i for i in range(n) if i != at]
            a = [
                [a[i][j] - a[i][at] * a[at][j] / pivot if a[i][at] and a[at][j] else a[i][j] for j in rest]
                for i in rest
            ]
            continue
        pair = next(((i, j) for i in range(n) for j in range(i) if a[i][j]), None)
        if pair is None:
            return positive, negative, n
        i, j = pair  # [[0, c], [c, 0]]: one eigenvalue of each sign
        positive, negative, c = positive + 1, negative + 1, a[i][j]
        rest = [k for k in range(n) if k not in pair]
        a = [[a[k][m] - (a[k][i] * a[j][m] + a[k][j] * a[i][m]) / c for m in rest] for k in rest]
    return positive, negative, 0


def rank(matrix: Rows) -> int:
    """The rank by elimination."""
    a = [row[:] for row in matrix]
    found = 0
    for column in range(len(a[0])):
        at = next((i for i in range(found, len(a)) if a[i][column]), None)
        if at is None:
            continue
        a[found], a[at] = a[at], a[found]
        for i in range(found + 1, len(a)):
            if a[i][column]:
                factor = a[i][column] / a[found][column]
                a[i] = [x - factor * y for x, y in zip(a[i], a[found], strict=True)]
        found += 1
        if found == len(a):
            break
    return found


def inverse(matrix: Rows) -> Rows | None:
    """The inverse, or None for a singular matrix."""
    n = len(matrix)
    a = [[*row, *unit] for row, unit in zip(matrix, identity(n), strict=True)]
    for column in range(n):
        at = next((i for i in range(column, n) if a[i][column]), None)
        if at is None:
            return None
        a[column], a[at] = a[at], a[column]
        pivot = a[column][column]
        a[column] = [x / pivot for x in a[column]]
        for i in range(n):
            if i != column and a[i][column]:
                factor = a[i][column]
                a[i] = [x - factor * y for x, y in zip(a[i], a[column], strict=True)]
    return [row[n:] for row in a]


def gram(matrix: Rows) -> Rows:
    """``M^T M`` or ``M M^T``, whichever is smaller: the same largest eigenvalue, the square of the norm."""
    turned = transpose(matrix)
    return times(turned, matrix) if len(matrix[0]) <= len(matrix) else times(matrix, turned)


def least_at_least(symmetric: Rows, bound: Fraction) -> bool:
    """Is every eigenvalue >= bound?"""
    return inertia(plus(symmetric, identity(len(symmetric)), -bound))[1] == 0


def largest_at_least(symmetric: Rows, bound: Fraction) -> bool:
    """Is some eigenvalue >= bound?"""
    positive, _, zero = inertia(plus(symmetric, identity(len(symmetric)), -bound))
    return positive + zero > 0


def norm_at_most(matrix: Rows, bound: Fraction) -> bool:
    """Is ``||M||_2 <= bound``?"""
    return bound >= 0 and not any(
        inertia(plus(gram(matrix), identity(min(len(matrix), len(matrix[0]))), -bound * bound))[:1]
    )


def norm_at_least(matrix: Rows, bound: Fraction) -> bool:
    """Is ``||M||_2 >= bound``?"""
    return bound <= 0 or largest_at_least(gram(matrix), bound * bound)


def frobenius_squared(matrix: Rows) -> Fraction:
    return sum((x * x for row in matrix for x in row), Fraction(0))


def unimodular(rng: Any, n: int, steps: int = 6, size: int = 2) -> tuple[Rows, Rows]:
    """An integer matrix of determinant +-1 and its inverse, from elementary operations."""
    t, s = identity(n), identity(n)
    for _ in range(steps if n > 1 else 0):
        i, j = rng.choice(n, 2, replace=False)
        k = int(rng.integers(-size, size + 1))
        t[i] = [x + k * y for x, y in zip(t[i], t[j], strict=True)]  # E t
        for row in s:  # s E^-1
            row[j] -= k * row[i]
    return t, s


def as_floats(rows: Rows) -> Any:
    """The float64 array of the same numbers, or None where some entry is no float."""
    import numpy as np

    try:
        array = np.array([[float(entry) for entry in row] for row in rows])
    except OverflowError:
        return None
    exact = all(Fraction(array[i, j]) == rows[i][j] for i in range(len(rows)) for j in range(len(rows[0])))
    return array if exact else None


def given(rng: Any, rows: Rows) -> Any:
    """The matrix as a user might give it: floats of one layout or another where they are exact, else texts ``p/q``."""
    import numpy as np

    array = as_floats(rows)
    if array is None or rng.random() < 0.05:
        return [[str(entry) for entry in row] for row in rows]
    draw = rng.random()
    if draw < 0.1:
        return np.asfortranarray(array)
    if draw < 0.2:
        return np.repeat(np.repeat(array, 2, axis=0), 2, axis=1)[::2, ::2]
    if draw < 0.3:
        with np.errstate(over="ignore"):
            small = array.astype(np.float32)
        return small if np.array_equal(small.astype(np.float64), array) else array
    return array


def columns_of(rows: Rows) -> Sequence[list[Fraction]]:
    return transpose(rows)
