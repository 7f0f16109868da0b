"""Forms that decide stability on the centre directions, by the second arithmetic: values at points in place of polynomials.

The certificate names directions C in the tangent spaces (they must span the kernel of the linearization, and 0 must be a
semisimple eigenvalue with all others inside), a form V, a form s and a Gram matrix G.  The identity

    ``grad V(c) . g(c) = s(c) V(c) + z(c)^T G z(c)``

is one of forms of degree r; it holds where it holds at all points c with whole coordinates ``>= 0`` of sum r. At each of them
``g(c)`` is read off three coefficients of a series in t along ``x(t) = (v + t C c + t^2 w)/|...|``, in Fractions, by
equations that are written here. With ``g_2 = 0`` (its values at the points of sum 2) the vector w is that of the centre
manifold. Series are lists ``[order 0, ..., order 3]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import sympy as sp

from eigentoken.numerics.recheck.refutations.exact_motions import all_inside, z
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space, Time

__all__ = ["decided_on_the_centre"]

Series = list[Fraction]
Rows = list[list[Fraction]]
LAST = 3


class _Refused(ArithmeticError):
    """No exact series here."""


def _fraction(value: Any) -> Fraction:
    number = sp.sympify(value)
    if not number.is_Rational:
        raise _Refused(f"{number} is not rational")
    return Fraction(int(number.p), int(number.q))


def _matrix(rows: Any) -> Rows:
    return [[_fraction(entry) for entry in row] for row in rows]


def _times(a: Series, b: Series) -> Series:
    return [sum((a[i] * b[k - i] for i in range(k + 1)), Fraction(0)) for k in range(LAST + 1)]


def _add(a: Series, b: Series, factor: Fraction = Fraction(1)) -> Series:
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def _inverse(a: Series) -> Series:
    made = [1 / a[0]]
    for k in range(1, LAST + 1):
        made.append(-sum((a[i] * made[k - i] for i in range(1, k + 1)), Fraction(0)) / a[0])
    return made


def _exp_of_small(a: Series) -> Series:
    """``1 + a + a^2/2 + a^3/6``: a begins with the order 1."""
    if a[0] != 0:
        raise _Refused("the tokens that one sees do not have equal scores")
    square = _times(a, a)
    cube = _times(square, a)
    return [Fraction(int(k == 0)) + a[k] + square[k] / 2 + cube[k] / 6 for k in range(LAST + 1)]


def _root(a: Series) -> Series:
    """By Newton's iteration ``r <- (r + a/r)/2``, which doubles the orders that are right."""
    p, q = a[0].numerator, a[0].denominator
    if p <= 0 or isqrt(p) ** 2 != p or isqrt(q) ** 2 != q:
        raise _Refused("a length is not rational")
    r = [Fraction(isqrt(p), isqrt(q)), Fraction(0), Fraction(0), Fraction(0)]
    for _ in range(2):
        r = [x / 2 for x in _add(r, _times(a, _inverse(r)))]
    return r


def _dot(x: Sequence[Series], y: Sequence[Series]) -> Series:
    total = [Fraction(0)] * (LAST + 1)
    for a, b in zip(x, y, strict=True):
        total = _add(total, _times(a, b))
    return total


def _apply(matrix: Rows | None, x: list[Series]) -> list[Series]:
    if matrix is None:
        return x
    return [
        [sum((c * s[k] for c, s in zip(row, x, strict=True)), Fraction(0)) for k in range(LAST + 1)] for row in matrix
    ]


class _Equation:
    """The papers' equations, for one or more heads, with any mask, in series."""

    def __init__(self, instance: Instance) -> None:
        system, given = instance.system, instance.parameters
        plain = system.standard and system.rotary is None and system.metric is None
        if not plain or instance.metric is not None or (system.over_root_d and isqrt(instance.d) ** 2 != instance.d):
            raise _Refused("not one of the equations that are written here")
        self.system, self.n, self.d = system, instance.n, instance.d
        heads = given["heads"] if system.multihead else (given,)
        self.heads = [
            (
                None if system.value is None or head.get(system.value) is None else _matrix(head[system.value]),
                None if system.score is None else _matrix(head[system.score]),
            )
            for head in heads
        ]
        self.factor = Fraction(1, isqrt(instance.d)) if system.over_root_d else Fraction(1)
        self.step = _fraction(given["alpha"]) if system.time is Time.MAP else None
        mask = instance.mask
        self.seen = [[j for j in range(self.n) if mask is None or mask[i][j]] for i in range(self.n)]
        self.at = _matrix(instance.tokens)
        self.flat = system.space is Space.EUCLIDEAN
        if not self.flat and any(sum(a * a for a in token) != 1 for token in self.at):
            raise _Refused("a token is not of length 1")

    def _push(self, x: list[list[Series]], i: int) -> list[Series]:
        push = [[Fraction(0)] * (LAST + 1) for _ in range(self.d)]
        for value, score in self.heads:
            weights = self._weights(x, i, score)
            mass = [Fraction(0)] * (LAST + 1)
            for w in weights:
                mass = _add(mass, w)
            share = _inverse(mass)
            mean = []
            for a in range(self.d):
                total = [Fraction(0)] * (LAST + 1)
                for w, j in zip(weights, self.seen[i], strict=True):
                    total = _add(total, _times(w, x[j][a]))
                mean.append(_times(total, share))
            push = [_add(p, u, self.factor) for p, u in zip(push, _apply(value, mean), strict=True)]
        return push

    def _weights(self, x: list[list[Series]], i: int, score: Rows | None) -> list[Series]:
        one = [Fraction(1), Fraction(0), Fraction(0), Fraction(0)]
        if score is None:
            return [one for _ in self.seen[i]]
        scores = [_dot(x[i], _apply(score, x[j])) for j in self.seen[i]]
        return [_exp_of_small(_add(each, scores[0], Fraction(-1))) for each in scores]

    def moved(self, first: Sequence[Fraction], second: Sequence[Fraction]) -> list[Series]:
        """The velocity (the change in one layer) of ``y = v + t first + t^2 second``, ``x = y/|y|``, along the tokens v.

        The part of y along v is kept at v: ``y = x/<v, x>``.
        """
        d = self.d
        y = [
            [[self.at[i][a], first[i * d + a], second[i * d + a], Fraction(0)] for a in range(d)] for i in range(self.n)
        ]
        lengths = [None if self.flat else _root(_dot(token, token)) for token in y]
        x = [
            token if r is None else [_times(entry, _inverse(r)) for entry in token]
            for token, r in zip(y, lengths, strict=True)
        ]
        found: list[Series] = []
        for i in range(self.n):
            push = self._push(x, i)
            found += self._changed(y[i], x[i], push, lengths[i], self.at[i])
        return found

    def _changed(
        self, y: list[Series], x: list[Series], push: list[Series], r: Series | None, v: list[Fraction]
    ) -> list[Series]:
        steady = [[a, Fraction(0), Fraction(0), Fraction(0)] for a in v]
        if self.step is not None:
            image = [_add(a, b, self.step) for a, b in zip(x, push, strict=True)]
            if r is None:
                return [_add(b, a, Fraction(-1)) for a, b in zip(y, image, strict=True)]
            height = _dot(steady, image)
            if height[0] <= 0:
                raise _Refused("a token is turned over")
            back = _inverse(height)
            return [_add(_times(b, back), a, Fraction(-1)) for a, b in zip(y, image, strict=True)]
        if r is None:
            return push
        radial = _dot(x, push)
        speed = [_add(u, _times(radial, a), Fraction(-1)) for u, a in zip(push, x, strict=True)]
        height = _dot(steady, speed)
        return [_times(r, _add(u, _times(height, a), Fraction(-1))) for u, a in zip(speed, y, strict=True)]


def _points(m: int, total: int) -> list[list[int]]:
    if m == 1:
        return [[total]]
    return [[first, *rest] for first in range(total + 1) for rest in _points(m - 1, total - first)]


class _Reduced:
    """The field on the centre directions, by values."""

    def __init__(self, look: IndependentInstance, directions: Rows) -> None:
        self.equation, self.C = _Equation(look.instance), directions
        n, d, at = look.instance.n, look.instance.d, self.equation.at
        units = []
        for i in range(n):
            pivot = None if self.equation.flat else max((abs(entry), a) for a, entry in enumerate(at[i]))[1]
            for a in range(d):
                if a == pivot:
                    continue
                unit = [Fraction(0)] * (n * d)
                unit[i * d + a] = Fraction(1)
                if pivot is not None:
                    unit[i * d + pivot] = -at[i][a] / at[i][pivot]
                units.append((i * d + a, unit))
        self.units = units
        nothing = [Fraction(0)] * (n * d)
        columns = []
        for _, unit in units:
            change = self.equation.moved(unit, nothing)
            if any(each[0] != 0 for each in change):
                raise _Refused("the state is not at rest")
            columns.append([change[place][1] for place, _ in units])
        self.A = sp.Matrix(columns).T
        self.nothing = nothing
        self.m = len(directions)
        if any(len(row) != n * d for row in directions) or not self.m:
            raise _Refused("the directions are not of this state")
        local = sp.Matrix([[row[place] for place, _ in units] for row in directions]).T
        lifted = [
            [sum((row[place] * unit[k] for place, unit in units), Fraction(0)) for k in range(n * d)]
            for row in directions
        ]
        rank = self.A.rank()
        spans = local.rank() == self.m == len(units) - rank and (self.A * local).is_zero_matrix
        if lifted != directions or not spans or (self.A * self.A).rank() != rank:
            raise _Refused("the directions do not span the kernel, or 0 is not semisimple")
        self.rank = rank
        image = sp.Matrix.hstack(*self.A.columnspace()) if rank else sp.zeros(len(units), 0)
        self.T = sp.Matrix.hstack(local, image)
        self.back = self.T.inv()

    def others_inside(self, time: Time) -> bool:
        """All eigenvalues but the zeros: in the open half plane, or (of ``1 + A``) the open disc."""
        whole = self.A + sp.eye(self.A.rows) if time is Time.MAP else self.A
        limit, p = int(time is Time.MAP), sp.Poly(whole.charpoly(z).as_expr(), z, domain="QQ")
        for _ in range(self.m):
            p = p.quo(sp.Poly(z - limit, z, domain="QQ"))
        return p.eval(limit) != 0 and all_inside(p, time)

    def _along(self, c: Sequence[int]) -> list[Fraction]:
        size = len(self.nothing)
        return [sum((k * row[a] for k, row in zip(c, self.C, strict=True)), Fraction(0)) for a in range(size)]

    def _split(self, change: list[Series], order: int) -> sp.Matrix:
        return self.back * sp.Matrix([change[place][order] for place, _ in self.units])

    def second(self, c: Sequence[int]) -> sp.Matrix:
        return self._split(self.equation.moved(self._along(c), self.nothing), 2)

    def third(self, c: Sequence[int]) -> list[sp.Expr]:
        """The third order where the second vanishes, on the centre manifold ``w = -A^-1 (second order)`` in the image of A."""
        bent = list(self.nothing)
        if self.rank:
            inner = (self.back * self.A * self.T)[self.m :, self.m :]
            h = -inner.inv() * self.second(c)[self.m :, :]
            local = self.T[:, self.m :] * h
            for (_, unit), share in zip(self.units, local, strict=True):
                part = _fraction(share)
                bent = [a + part * b for a, b in zip(bent, unit, strict=True)]
        return list(self._split(self.equation.moved(self._along(c), bent), 3)[: self.m])


def decided_on_the_centre(look: IndependentInstance, data: Mapping[str, Any]) -> bool | None:
    """Stable in the sense of Lyapunov (``True``), or unstable (``False``), by the forms of the certificate; else ``None``."""
    try:
        reduced = _Reduced(look, _matrix(data["directions"]))
    except _Refused:
        return None
    k, m = int(data["degree"]), reduced.m
    V, G = _matrix(data["form"]), _matrix(data["gram"])
    S = None if data["multiplier"] is None else _matrix(data["multiplier"])
    linear = k == 2
    if k not in (2, 3) or len(V) != (1 if linear else m) or any(len(row) != m for row in V):
        return None
    if (S is not None and (linear or len(S) != m or not _definite(S))) or (not linear and _turned(V) != V):
        return None
    if not reduced.others_inside(look.instance.system.time) or not _definite(G):
        return None
    try:
        if k == 3 and any(any(reduced.second(c)[:m]) for c in _points(m, 2)):
            return None
        degree = 2 if linear else 4
        if not all(_agrees(reduced, c, V, S, G, linear) for c in _points(m, degree)):
            return None
    except _Refused:
        return None
    if linear:
        return False
    if S is None and _definite([[-entry for entry in row] for row in V]):
        return True
    return False if not (-sp.Matrix(V)).is_positive_semidefinite else None


def _agrees(reduced: _Reduced, c: list[int], V: Rows, S: Rows | None, G: Rows, linear: bool) -> bool:
    m = reduced.m
    if linear:
        g = list(reduced.second(c)[:m])
        slope = sum((V[0][a] * _fraction(g[a]) for a in range(m)), Fraction(0))
        return slope == _form(G, c)
    g = reduced.third(c)
    slope = 2 * sum((V[a][b] * c[a] * _fraction(g[b]) for a in range(m) for b in range(m)), Fraction(0))
    products = [c[a] * c[b] for a in range(m) for b in range(a, m)]
    right = _form(G, products) if len(G) == len(products) else None
    return right is not None and slope == right + (Fraction(0) if S is None else _form(S, c) * _form(V, c))


def _form(Q: Rows, c: Sequence[int]) -> Fraction:
    return sum((Q[a][b] * c[a] * c[b] for a in range(len(c)) for b in range(len(c))), Fraction(0))


def _turned(Q: Rows) -> Rows:
    return [list(column) for column in zip(*Q, strict=True)]


def _definite(Q: Rows) -> bool:
    """Symmetric, with all leading minors positive."""
    if any(len(row) != len(Q) for row in Q) or _turned(Q) != Q:
        return False
    whole = sp.Matrix([[sp.Rational(entry.numerator, entry.denominator) for entry in row] for row in Q])
    return all(whole[:k, :k].det() > 0 for k in range(1, len(Q) + 1))
