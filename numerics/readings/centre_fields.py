"""The field on the centre directions of an equilibrium, to its lowest order, in exact rational numbers.

Near an equilibrium let u be coordinates in which it is 0 (on the sphere ``x_i = (v_i + B_i u_i)/|v_i + B_i u_i|``),
and ``u' = A u + f_2(u) + f_3(u) + ...`` (a map: ``u+ - u``).  Where 0 is a semisimple eigenvalue of A
and no other is on the boundary,
``R^N = ker A + im A``; with ``u = C c + R h(c)`` the centre manifold is ``A R h_2(c) = -(f_2(C c))_R``, and on it

    ``c' = g_2(c) = (f_2(C c))_C``,   or, where that vanishes,   ``c' = g_3(c) = (f(C c + R h_2(c)))_C`` to the third order,

up to terms of higher order.  What is stable or unstable for the field on the centre manifold is so for all states near it
(the reduction principle: Carr, Applications of Centre Manifold Theory, 1981, Theorem 2 of chapter 2 and section 2.8).

The equations are those of the systems: their operations run on power series in one variable t, whose coefficients are polynomials
in c.  A score has one exponential ``e^a`` of a rational number in front; what would add two different ones is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import sympy as sp
from flint import fmpq, fmpq_mat, fmpq_mpoly_ctx

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.algebra import LoopAlgebra, mapped
from eigentoken.theory.systems.system import Space, Time

__all__ = ["CentreField", "NoSeries", "Polynomial", "centre_field"]

#: Terms of higher order are not looked at.
ORDER = 3
#: More coordinates than this are not looked at, and more centre directions neither.
LARGEST, WIDEST = 24, 6


Polynomial = dict[tuple[int, ...], Fraction]
"the coefficient of each monomial, by its exponents"


class NoSeries(ArithmeticError):
    """A number that is not rational, or a sum of two different exponentials."""


def _rational(value: Any) -> fmpq:
    number = sp.sympify(value)
    if not number.is_Rational:
        raise NoSeries(f"{number} is not rational")
    return fmpq(int(number.p), int(number.q))


class Power:
    """``e^a (c_0 + c_1 t + ... + c_3 t^3)`` with a rational and coefficients in a ring of polynomials (or numbers)."""

    __slots__ = ("a", "c")

    def __init__(self, c: Sequence[Any], a: fmpq = fmpq(0)) -> None:  # noqa: B008 - numbers do not change
        self.c, self.a = list(c), a

    def _with(self, other: Any) -> Power:
        return other if isinstance(other, Power) else Power([other] + [0 * self.c[0]] * ORDER)

    def _is_zero(self) -> bool:
        return all(each == 0 for each in self.c)

    def __add__(self, other: Any) -> Power:
        there = self._with(other)
        if self._is_zero() or there._is_zero():
            return there if self._is_zero() else self
        if self.a != there.a:
            raise NoSeries("scores that are not equal at the state")
        return Power([x + y for x, y in zip(self.c, there.c, strict=True)], self.a)

    __radd__ = __add__

    def __neg__(self) -> Power:
        return Power([-x for x in self.c], self.a)

    def __sub__(self, other: Any) -> Power:
        return self + -self._with(other)

    def __rsub__(self, other: Any) -> Power:
        return self._with(other) + -self

    def __mul__(self, other: Any) -> Power:
        if not isinstance(other, Power):
            return Power([x * other for x in self.c], self.a)
        made = [sum((self.c[i] * other.c[k - i] for i in range(1, k + 1)), self.c[0] * other.c[k]) for k in _ORDERS]
        return Power(made, self.a + other.a)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Power:
        there = self._with(other)
        first = _constant(there.c[0])
        if first == 0:
            raise NoSeries("a division by 0")
        made: list[Any] = []
        for k in _ORDERS:
            made.append((self.c[k] - sum((there.c[i] * made[k - i] for i in range(1, k + 1)), 0 * self.c[0])) / first)
        return Power(made, self.a - there.a)

    def __rtruediv__(self, other: Any) -> Power:
        return self._with(other) / self


_ORDERS = range(ORDER + 1)


def _constant(value: Any) -> fmpq:
    """A coefficient of order 0, which is a number."""
    if isinstance(value, int | fmpq):
        return fmpq(value)
    if value.is_constant():
        found = value.to_dict()
        return next(iter(found.values())) if found else fmpq(0)
    raise NoSeries("a state that depends on the coordinates")


def _exponential(s: Any) -> Power:
    if s.a != 0:
        raise NoSeries("an exponential of an exponential")
    made = [s.c[0] * 0 + 1]
    for k in _ORDERS[1:]:
        made.append(sum((i * s.c[i] * made[k - i] for i in range(1, k + 1)), 0 * s.c[0]) / fmpq(k))
    return Power(made, _constant(s.c[0]))


def _square_root(s: Any) -> Power:
    first = _constant(s.c[0])
    p, q = int(first.p), int(first.q)
    if s.a != 0 or p <= 0 or isqrt(p) ** 2 != p or isqrt(q) ** 2 != q:
        raise NoSeries("a square root that is not rational")
    root = fmpq(isqrt(p), isqrt(q))
    made = [s.c[0] * 0 + root]
    for k in _ORDERS[1:]:
        inner = sum((made[i] * made[k - i] for i in range(1, k)), 0 * s.c[0])
        made.append((s.c[k] - inner) / (2 * root))
    return Power(made)


def _largest(token: Sequence[fmpq]) -> int:
    """Where the entry with the largest absolute value is."""
    return max(range(len(token)), key=lambda a: abs(token[a]))


class _Chart:
    """The field in coordinates around the state of an instance; ``pivots[i]`` is left out of token i on the sphere."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.system = instance, instance.system
        self.tokens = [[_rational(entry) for entry in token] for token in instance.tokens]
        flat = self.system.space is Space.EUCLIDEAN
        self.pivots = [None if flat else _largest(token) for token in self.tokens]
        self.places = [(i, a) for i, pivot in enumerate(self.pivots) for a in range(instance.d) if a != pivot]
        self.parameters = mapped(instance.parameters, _rational)

    def advanced(self, u: Sequence[Sequence[Any]], ring: Callable[[Any], Any]) -> list[list[Any]]:
        """The orders 0 .. 3 in t of ``u'`` (``u+ - u``) along ``u = u[0] t + u[1] t^2``; one list for each coordinate."""

        def power(*terms: Any) -> Power:
            return Power([ring(each) for each in [*terms, 0, 0, 0, 0][: ORDER + 1]])

        at = {place: number for number, place in enumerate(self.places)}
        y, radius = [], []
        for i, token in enumerate(self.tokens):
            pivot = self.pivots[i]
            row = [power(token[a], *[part[at[i, a]] for part in u]) if a != pivot else power(0) for a in self._axes]
            if pivot is not None:  # y = v + B u with B u orthogonal to v
                away = [power(0, *[part[at[i, a]] for part in u]) if a != pivot else power(0) for a in self._axes]
                inner = sum((token[a] * away[a] for a in self._axes), power(0))
                row[pivot] = power(token[pivot]) - inner / token[pivot]
            y.append(row)
            square = sum((entry * entry for entry in row), power(0))
            radius.append(power(1) if pivot is None else _square_root(square))
        x = tuple(tuple(entry / r for entry in row) for row, r in zip(y, radius, strict=True))
        algebra = LoopAlgebra(_exponential, _square_root, power(1))
        moved = self.system.advance(algebra, self.parameters, x, self.instance.mask)
        found = []
        for i, a in self.places:
            found.append(self._coordinate(i, a, y[i], radius[i], moved[i]))
        if any(each.a != 0 for each in found):
            raise NoSeries("an exponential is left")
        return [each.c for each in found]

    @property
    def _axes(self) -> range:
        return range(self.instance.d)

    def _coordinate(self, i: int, a: int, y: list[Power], r: Power, moved: Sequence[Any]) -> Power:
        discrete, pivot = self.system.time is Time.MAP, self.pivots[i]
        if pivot is None:
            return moved[a] - y[a] if discrete else moved[a]
        height = moved[0] * self.tokens[i][0]
        for b in self._axes[1:]:
            height = height + moved[b] * self.tokens[i][b]
        return moved[a] / height - y[a] if discrete else (moved[a] - height * y[a]) * r

    def tangents(self, columns: Sequence[Sequence[fmpq]]) -> list[list[fmpq]]:
        """Directions in these coordinates as directions of the tokens, nd entries each."""
        found = []
        for column in columns:
            at = dict(zip(self.places, column, strict=True))
            whole: list[fmpq] = []
            for i, token in enumerate(self.tokens):
                row = [at.get((i, a), fmpq(0)) for a in self._axes]
                pivot = self.pivots[i]
                if pivot is not None:
                    row[pivot] = -sum((token[a] * row[a] for a in self._axes), fmpq(0)) / token[pivot]
                whole += row
            found.append(whole)
        return found


@dataclass(frozen=True)
class CentreField:
    """``c' = g(c)``, homogeneous of the degree; the directions C as nd entries of tokens each."""

    degree: int
    g: tuple[Polynomial, ...]
    directions: tuple[tuple[fmpq, ...], ...]


def centre_field(instance: Instance) -> CentreField | None:
    """The lowest terms on the centre directions; ``None`` where they are not of this form, or are not rational."""
    system = instance.system
    if not system.standard or system.rotary is not None or instance.metric is not None:
        return None
    try:
        return _reduced(_Chart(instance))
    except (NoSeries, ZeroDivisionError, sp.SympifyError):
        return None


def _reduced(chart: _Chart) -> CentreField | None:
    size = len(chart.places)
    if not 0 < size <= LARGEST:
        return None
    unit = [[fmpq(int(i == j)) for i in range(size)] for j in range(size)]
    columns = []
    for direction in unit:
        orders = chart.advanced([direction], fmpq)
        if any(each[0] != 0 for each in orders):
            return None  # not at rest
        columns.append([each[1] for each in orders])
    A = fmpq_mat(columns).transpose()
    rank = A.rank()
    m = size - rank
    if not 0 < m <= WIDEST or (A * A).rank() != rank or not _off_the_boundary(A, m, chart.system.time):
        return None
    C, R = _kernel(A), _image(A)
    T = fmpq_mat([*C, *R]).transpose()
    back = T.inv()
    context = fmpq_mpoly_ctx.get(tuple(f"c{i}" for i in range(m)), "lex")
    gens = context.gens()

    def ring(value: Any) -> Any:
        return context.constant(value) if isinstance(value, int | fmpq) else value

    first = [sum((C[j][i] * gens[j] for j in range(m)), ring(0)) for i in range(size)]
    second = _split(back, [each[2] for each in chart.advanced([first], ring)], ring)
    ahead = tuple(tuple(each) for each in chart.tangents(C))
    if any(each != 0 for each in second[:m]):
        return CentreField(2, _terms(second[:m]), ahead)
    inner = back * A * T
    h: list[Any] = []
    if rank:
        block = fmpq_mat([[inner[m + i, m + j] for j in range(rank)] for i in range(rank)]).inv()
        h = [-sum((block[i, j] * second[m + j] for j in range(rank)), ring(0)) for i in range(rank)]
    bent = [sum((R[j][i] * h[j] for j in range(rank)), ring(0)) for i in range(size)]
    third = _split(back, [each[3] for each in chart.advanced([first, bent], ring)], ring)[:m]
    return CentreField(3, _terms(third), ahead) if any(each != 0 for each in third) else None


def _terms(polynomials: Sequence[Any]) -> tuple[Polynomial, ...]:
    return tuple(
        {tuple(int(e) for e in key): Fraction(int(c.p), int(c.q)) for key, c in each.to_dict().items()}
        for each in polynomials
    )


def _split(back: fmpq_mat, parts: Sequence[Any], ring: Callable[[Any], Any]) -> list[Any]:
    size = len(parts)
    return [sum((back[i, j] * parts[j] for j in range(size)), ring(0)) for i in range(size)]


def _kernel(A: fmpq_mat) -> list[list[fmpq]]:
    reduced, rank = A.rref()
    size = A.ncols()
    pivots = [next(j for j in range(size) if reduced[i, j] != 0) for i in range(rank)]
    basis = []
    for free in (j for j in range(size) if j not in pivots):
        vector = [fmpq(int(j == free)) for j in range(size)]
        for row, pivot in enumerate(pivots):
            vector[pivot] = -reduced[row, free]
        basis.append(vector)
    return basis


def _image(A: fmpq_mat) -> list[list[fmpq]]:
    reduced, rank = A.rref()
    pivots = [next(j for j in range(A.ncols()) if reduced[i, j] != 0) for i in range(rank)]
    return [[A[i, j] for i in range(A.nrows())] for j in pivots]


def _off_the_boundary(A: fmpq_mat, m: int, time: Time) -> bool:
    """Are all eigenvalues but the zeros off the axis (of ``1 + A`` off the circle)?  It has no root in common with its mirror."""
    z = sp.Symbol("z")
    coefficients = [A.charpoly()[i] for i in range(m, A.nrows() + 1)]
    p = sp.Poly([sp.Rational(int(c.p), int(c.q)) for c in reversed(coefficients)], z, domain="QQ")
    if time is Time.FLOW:
        mirror = p.compose(sp.Poly(-z, z))
    else:
        p = p.compose(sp.Poly(z - 1, z))
        mirror = sp.Poly(p.all_coeffs()[::-1], z, domain="QQ")
    return p.degree() == 0 or bool(p.gcd(mirror).degree() == 0)
