"""Exact rational arithmetic of the re-check: elimination, characteristic polynomials and root counts of its own.

* ``counts(S)``: signs of the eigenvalues by symmetric elimination ``P S P^T = L D L^T`` over the rationals, with 2 x 2
  pivots ``[[0, b], [b, 0]]`` (one of each sign) where the remaining diagonal is zero (Sylvester).
* ``characteristic(M)``: Faddeev and LeVerrier's recursion (the issuer uses modular arithmetic).
* ``roots_right(p)``: roots in the open right half plane by the Routh array; None where the array is singular.
* ``real_roots_above(p, b)``: Sturm's theorem on the square-free part.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import pairwise

import flint

__all__ = ["LateError", "characteristic", "counts", "rank", "real_roots_above", "roots_right", "shifted", "square_free"]


class LateError(Exception):
    """The time limit was reached."""


def _check(until: float) -> None:
    if time.monotonic() > until:
        raise LateError("the time limit was reached in exact arithmetic")


def counts(matrix: flint.fmpz_mat, until: float) -> tuple[int, int, int]:
    """(positive, negative, zero) eigenvalues of a symmetric integer matrix."""
    n = matrix.nrows()
    rows = [[flint.fmpq(matrix[i, j]) for j in range(n)] for i in range(n)]
    positive = negative = 0
    active = list(range(n))
    while active:
        _check(until)
        pivot = min((i for i in active if rows[i][i] != 0), key=lambda i: _bits(rows[i][i]), default=None)
        if pivot is not None:
            d = rows[pivot][pivot]
            positive, negative = positive + (d > 0), negative + (d < 0)
            active.remove(pivot)
            for i in active:
                if rows[i][pivot] != 0:
                    factor = rows[i][pivot] / d
                    for j in active:
                        if j >= i and rows[pivot][j] != 0:
                            rows[i][j] = rows[j][i] = rows[i][j] - factor * rows[pivot][j]
            for i in active:
                rows[i][pivot] = rows[pivot][i] = flint.fmpq(0)
            continue
        found = next(((i, j) for i in active for j in active if j > i and rows[i][j] != 0), None)
        if found is None:
            break
        a, b = found
        x = rows[a][b]
        positive, negative = positive + 1, negative + 1
        active = [i for i in active if i not in (a, b)]
        columns = {i: (rows[i][a], rows[i][b]) for i in active}
        for i in active:
            for j in active:
                if j >= i:  # subtract [u_i, v_i] [[0, x], [x, 0]]^-1 [u_j, v_j]^T
                    change = (columns[i][0] * columns[j][1] + columns[i][1] * columns[j][0]) / x
                    rows[i][j] = rows[j][i] = rows[i][j] - change
    return int(positive), int(negative), n - int(positive) - int(negative)


def _bits(value: flint.fmpq) -> int:
    return int(value.p.bit_length() + value.q.bit_length())


def shifted(numerators: flint.fmpz_mat, denominator: flint.fmpz, shift: Fraction) -> tuple[flint.fmpz_mat, flint.fmpz]:
    """``M + shift I`` over a common denominator."""
    q = flint.fmpz(shift.denominator)
    found, added = numerators * q, denominator * shift.numerator
    for i in range(numerators.nrows()):
        found[i, i] += added
    return found, denominator * q


def rank(matrix: flint.fmpz_mat, until: float) -> int:
    """Gaussian elimination over the rationals."""
    rows = [[flint.fmpq(matrix[i, j]) for j in range(matrix.ncols())] for i in range(matrix.nrows())]
    found = 0
    for column in range(matrix.ncols()):
        _check(until)
        pivot = next((i for i in range(found, len(rows)) if rows[i][column] != 0), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        lead = rows[found]
        for i in range(found + 1, len(rows)):
            if rows[i][column] != 0:
                factor = rows[i][column] / lead[column]
                rows[i] = [a - factor * b if b != 0 else a for a, b in zip(rows[i], lead, strict=True)]
        found += 1
    return found


def characteristic(numerators: flint.fmpz_mat, denominator: flint.fmpz, until: float) -> flint.fmpq_poly:
    """``det(x I - M)`` for ``M = numerators / denominator``."""
    n = numerators.nrows()
    coefficients = [flint.fmpz(0)] * n + [flint.fmpz(1)]
    work = flint.fmpz_mat(n, n)
    one = flint.fmpz_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
    for k in range(1, n + 1):
        _check(until)
        work = numerators * work + one * coefficients[n - k + 1]
        product = numerators * work
        trace = sum((product[i, i] for i in range(n)), flint.fmpz(0))
        quotient = flint.fmpq(-trace, k)
        if quotient.q != 1:
            raise ArithmeticError("the recursion lost integrality")
        coefficients[n - k] = quotient.p
    # roots of det(x I - N) are denominator times those of M
    return flint.fmpq_poly([flint.fmpq(c, denominator ** (n - k)) for k, c in enumerate(coefficients)])


def square_free(p: flint.fmpq_poly) -> flint.fmpq_poly:
    return p / p.gcd(p.derivative()) if p.degree() > 0 else p


def roots_right(p: flint.fmpq_poly, until: float = math.inf) -> int | None:
    """Roots with positive real part, by the first column of the Routh array; None if a pivot vanishes."""
    coefficients = [p[k] for k in range(p.degree(), -1, -1)]
    upper, lower = coefficients[0::2], coefficients[1::2]
    first = [upper[0]]
    while lower:
        _check(until)
        if lower[0] == 0:
            return None
        first.append(lower[0])
        factor = upper[0] / lower[0]
        following = []
        for k in range(1, len(upper)):
            below = lower[k] if k < len(lower) else flint.fmpq(0)
            following.append(upper[k] - factor * below)
        upper, lower = lower, following
    if any(c == 0 for c in first):
        return None
    return sum(1 for a, b in pairwise(first) if (a > 0) != (b > 0))


def real_roots_above(p: flint.fmpq_poly, bound: Fraction, until: float = math.inf) -> int:
    """Distinct real roots in ``(bound, infinity)``, by Sturm's theorem."""
    chain = [square_free(p)]
    chain.append(chain[0].derivative())
    while chain[-1].degree() > 0:
        _check(until)
        remainder = chain[-2] % chain[-1]
        if remainder.degree() < 0:
            break
        chain.append(-remainder)
    at = flint.fmpq(bound.numerator, bound.denominator)
    here = [q(at) for q in chain if q.degree() >= 0]
    far = [q[q.degree()] for q in chain if q.degree() >= 0]
    if here[0] == 0:  # Sturm's theorem wants a bound that is not a root
        return _sturm_open(chain, bound, until)
    return _changes(here) - _changes(far)


def _sturm_open(chain: list[flint.fmpq_poly], bound: Fraction, until: float) -> int:
    """The count when the bound is a root: divide it out first."""
    linear = flint.fmpq_poly([flint.fmpq(-bound.numerator, bound.denominator), 1])
    rest = chain[0]
    while rest.degree() > 0 and rest(flint.fmpq(bound.numerator, bound.denominator)) == 0:
        rest = rest // linear
    return real_roots_above(rest, bound, until) if rest.degree() > 0 else 0


def _changes(values: list[flint.fmpq]) -> int:
    seen = [v for v in values if v != 0]
    return sum(1 for a, b in pairwise(seen) if (a > 0) != (b > 0))
