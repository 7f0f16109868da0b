"""A form that decides stability on the centre directions: Lyapunov's theorem and Chetaev's, by sums of squares in rationals.

For ``c' = g(c) + ...`` with g homogeneous of degree k (:mod:`eigentoken.numerics.readings.centre_fields`) let V be a
form of degree D and s one of degree k - 1, ``s(c) = |S^(1/2) c|^2`` (or 0), with

    ``grad V(c) . g(c) - s(c) V(c) = z(c)^T G z(c)``,   G positive definite,   z the monomials of degree (D + k - 1)/2.

* If V is positive somewhere the state is unstable: where ``V >= 0`` the left side gives ``V' >= a |c|^(D+k-1)``, and the
  terms left out are of higher order (Chetaev's theorem; for a map V grows from layer to layer by as much).
* If ``s = 0``, V is negative definite and all other eigenvalues are inside, the state is asymptotically stable (Lyapunov).

V and S are looked for in floats: V with ``s = 0`` by a linear matrix inequality (alternating projections), else cones around the
directions that the normalised field tends to, with an inequality for S.  What is found is rounded, G is solved for exactly, and
everything is decided again in rational numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from eigentoken.numerics.readings.centre_fields import CentreField, Polynomial, centre_field
from eigentoken.theory.classification.instances import Instance

__all__ = ["CentreForm", "centre_form", "is_decided"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Matrix = tuple[tuple[Fraction, ...], ...]

#: Projections of one search, and the smallest eigenvalue that G is given, relative to the size of the form.
STEPS, ROOMS = 400, (1e-2, 1e-3)
#: How thin the cones are around a growing direction, wide ones first.
WIDTHS = (1.0, 4.0, 16.0)
#: Starts and steps of the field on the sphere, and points at which a cone is looked at.
STARTS, MOVES, DRAWN = 16, 400, 200
#: Binary digits of a rounded form.
DIGITS = 20


@dataclass(frozen=True)
class CentreForm:
    """The form V (its coefficients for degree 1, a symmetric matrix for degree 2), S and G."""

    unstable: bool
    degree: int
    directions: Matrix
    form: Matrix
    "one row for a linear form"
    multiplier: Matrix | None
    gram: Matrix

    def as_data(self) -> dict[str, Any]:
        def texts(rows: Matrix) -> list[list[str]]:
            return [[str(entry) for entry in row] for row in rows]

        return {
            "degree": self.degree,
            "directions": texts(self.directions),
            "form": texts(self.form),
            "multiplier": None if self.multiplier is None else texts(self.multiplier),
            "gram": texts(self.gram),
        }

    @property
    def told(self) -> str:
        """What it shows, in words."""
        m = len(self.directions)
        kind = "linear" if len(self.form) == 1 and m > 1 else "quadratic"
        where = f"on the {m} centre direction{'s' * (m > 1)}, where the terms of order {self.degree} decide,"
        if self.unstable:
            inside = "" if self.multiplier is None else " in the cone where it is positive"
            return f"{where} a {kind} form grows{inside}, and it is positive at states as near as one likes (exact)"
        return f"{where} a positive definite quadratic form falls, and all other eigenvalues are inside (exact)"


def centre_form(instance: Instance) -> CentreForm | None:
    """A form that decides stability at the state of the instance, or ``None``."""
    field = centre_field(instance)
    if field is None:
        return None
    problem = _Problem(field)
    for V, S in problem.proposals():
        found = problem.decided(V, S)
        if found is not None:
            return found
    return None


def monomials(m: int, degree: int) -> list[tuple[int, ...]]:
    """Exponents of the monomials of the degree in m variables."""
    found = []
    for chosen in combinations_with_replacement(range(m), degree):
        found.append(tuple(chosen.count(i) for i in range(m)))
    return found


def _plus(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))


class _Problem:
    """The exact field, and the same as floats."""

    def __init__(self, field: CentreField) -> None:
        self.field, self.m, self.k = field, len(field.g), field.degree
        self.g = field.g
        self.D = 1 if self.k == 2 else 2
        self.top = self.D + self.k - 1
        self.z = monomials(self.m, self.top // 2)
        self.all = monomials(self.m, self.top)
        self.row = {key: number for number, key in enumerate(self.all)}
        self.pairs = [(i, j) for i in range(len(self.z)) for j in range(i + 1)]
        self.units = [tuple(int(i == j) for i in range(self.m)) for j in range(self.m)]
        self.keys = np.array(list({key for each in self.g for key in each}) or [(0,) * self.m])
        self.values = np.array([[float(each.get(tuple(key), 0)) for key in self.keys] for each in self.g])

    # --- exact ---

    def slope(self, V: Matrix) -> Polynomial:
        """``grad V . g``; a linear form is one row."""
        made: Polynomial = {}
        for b in range(self.m):
            weights = {(0,) * self.m: V[0][b]} if self.D == 1 else {self.units[a]: 2 * V[a][b] for a in range(self.m)}
            for shift, w in weights.items():
                for key, c in self.g[b].items():
                    at = _plus(key, shift)
                    made[at] = made.get(at, Fraction(0)) + w * c
        return made

    def product(self, S: Matrix, V: Matrix) -> Polynomial:
        """``s(c) V(c)`` of two quadratic forms."""
        made: Polynomial = {}
        R = range(self.m)
        for a in R:
            for b in R:
                for i in R:
                    for j in R:
                        at = _plus(_plus(self.units[a], self.units[b]), _plus(self.units[i], self.units[j]))
                        made[at] = made.get(at, Fraction(0)) + S[a][b] * V[i][j]
        return made

    def decided(self, V: Matrix, S: Matrix | None) -> CentreForm | None:
        """The certificate with these forms, if one is found near the float solution of G and is right."""
        wanted = self.slope(V)
        if S is not None:
            for key, c in self.product(S, V).items():
                wanted[key] = wanted.get(key, Fraction(0)) - c
        gram = self._gram(wanted)
        if gram is None:
            return None
        positive = self.D == 1 or any(each > 0 for each in _pivots_of(V))
        if not positive and (S is not None or not is_definite(_negative(V))):
            return None
        ahead = tuple(tuple(Fraction(int(e.p), int(e.q)) for e in row) for row in self.field.directions)
        found = CentreForm(positive, self.k, ahead, V, S, gram)
        return found if is_decided(self, found) else None

    def _gram(self, wanted: Polynomial) -> Matrix | None:
        target = np.array([float(wanted.get(key, 0)) for key in self.all])
        size = float(np.abs(target).max())
        for room in ROOMS if size > 0 else ():
            solved = _Inequality(self, target / size, None, None).solve(room)
            if solved is not None:
                return self._exact_gram(wanted, solved[1] * size)
        return None

    def _exact_gram(self, wanted: Polynomial, G: Floats) -> Matrix | None:
        scale = _scale(G)
        made = [[_round(G[max(i, j), min(i, j)], scale) for j in range(len(self.z))] for i in range(len(self.z))]
        left, count = dict(wanted), dict.fromkeys(self.all, 0)
        for i, a in enumerate(self.z):
            for j, b in enumerate(self.z):
                at = _plus(a, b)
                left[at] = left.get(at, Fraction(0)) - made[i][j]
                count[at] += 1
        for i, a in enumerate(self.z):
            for j, b in enumerate(self.z):
                at = _plus(a, b)
                made[i][j] += left[at] / count[at]
        whole = tuple(tuple(row) for row in made)
        return whole if is_definite(whole) else None

    # --- floats ---

    def proposals(self) -> Iterator[tuple[Matrix, Matrix | None]]:
        """Forms V, and S or None, rounded."""
        forms = (
            [(i, j) for i in range(self.m) for j in range(i + 1)] if self.D == 2 else [(0, i) for i in range(self.m)]
        )
        unit = [self._unit_form(i, j) for i, j in forms]
        columns = np.array([[float(p.get(key, 0)) for key in self.all] for p in (self.slope(each) for each in unit)]).T
        scale = float(np.abs(columns).max()) or 1.0
        solved = _Inequality(self, np.zeros(len(self.all)), columns / scale, None).solve(1.0)
        if solved is not None:
            yield self._form(forms, solved[0]), None
        if self.D == 2 and self.m > 1:
            yield from self._cones()

    def _unit_form(self, i: int, j: int) -> Matrix:
        if self.D == 1:
            return (tuple(Fraction(int(a == j)) for a in range(self.m)),)
        return tuple(tuple(Fraction(int({a, b} == {i, j})) for b in range(self.m)) for a in range(self.m))

    def _form(self, forms: Sequence[tuple[int, int]], values: Floats) -> Matrix:
        scale = _scale(values)
        if self.D == 1:
            return (tuple(_round(each, scale) for each in values),)
        made = [[Fraction(0)] * self.m for _ in range(self.m)]
        for (i, j), value in zip(forms, values, strict=True):
            made[i][j] = made[j][i] = _round(value, scale)
        return tuple(tuple(row) for row in made)

    def field_at(self, c: Floats) -> Floats:
        """g at points ``(..., m)``."""
        powers = np.prod(c[..., None, :] ** self.keys, axis=-1)
        return powers @ self.values.T

    def _cones(self) -> Iterator[tuple[Matrix, Matrix | None]]:
        """Cones ``|a|^2 - width |b|^2`` around the span of a growing direction or ring, each with its multiplier."""
        for plane in self._growing():
            for width in WIDTHS:
                P = plane @ plane.T - width * (np.eye(self.m) - plane @ plane.T)
                if not self._grows_in(P, plane):
                    continue
                V = _rounded(P)
                target = np.array([float(self.slope(V).get(key, 0)) for key in self.all])
                quadratic = [(i, j) for i in range(self.m) for j in range(i + 1)]
                columns = np.array(
                    [
                        [float(p.get(key, 0)) for key in self.all]
                        for p in (self.product(self._unit_form(i, j), V) for i, j in quadratic)
                    ]
                ).T
                size = float(np.abs(target).max()) or 1.0
                for room in ROOMS:
                    solved = _Inequality(self, target / size, None, -columns).solve(room)
                    if solved is not None and solved[2] is not None:
                        yield V, _rounded(solved[2] * size)
                        break

    def _grows_in(self, P: Floats, plane: Floats) -> bool:
        """Is the slope positive at points drawn from the cone ``c^T P c >= 0`` around the plane?  A quick look."""
        random = np.random.default_rng(1)
        c = random.standard_normal((DRAWN, self.m))
        c = c @ plane @ plane.T + (c - c @ plane @ plane.T) * random.uniform(0, 1, (DRAWN, 1))
        c = _unit(c)
        c = c[((c @ P) * c).sum(1) >= 0]
        return bool(len(c) and (((c @ P) * self.field_at(c)).sum(1) > 0).all())

    def _growing(self) -> list[Floats]:
        """Orthonormal bases of the spans of what the normalised field tends to while the length grows."""
        c = _unit(np.random.default_rng(0).standard_normal((STARTS, self.m)))
        seen, rate = np.zeros((STARTS, self.m, self.m)), np.zeros(STARTS)
        pace = 0.5 / (float(np.abs(self.field_at(c)).sum(1).max()) or 1.0)
        for step in range(MOVES):
            push = self.field_at(c)
            if 2 * step >= MOVES:
                seen += c[:, :, None] * c[:, None, :] / (MOVES / 2)
                rate += (c * push).sum(1)
            c = _unit(c + pace * push)
        found: list[Floats] = []
        for index in np.argsort(-rate):
            values, vectors = np.linalg.eigh(seen[index])
            plane = vectors[:, values > 1e-3]
            if rate[index] <= 1e-9 or plane.shape[1] == self.m:
                continue
            if all(each.shape != plane.shape or np.abs(each @ each.T - plane @ plane.T).max() > 1e-3 for each in found):
                found.append(_short(plane))
        return found[:2]


def _unit(c: Floats) -> Floats:
    length = np.linalg.norm(c, axis=1, keepdims=True)
    return c / np.where(length > 0, length, 1.0)


def _short(plane: Floats) -> Floats:
    """Small noise rounded away."""
    return np.where(np.abs(plane) < 1e-6, 0.0, plane)


class _Inequality:
    """Find y, S, G with ``forms y + target = sums(G) + ... `` and G, S in their cones, by averaged projections in floats.

    The linear equations: for each monomial, ``target + columns y + multiplied S - sum of G`` vanishes.
    """

    def __init__(self, problem: _Problem, target: Floats, columns: Floats | None, multiplied: Floats | None) -> None:
        self.problem, self.size, self.m = problem, len(problem.z), problem.m
        sums = np.zeros((len(problem.all), self.size * self.size))
        for i, a in enumerate(problem.z):
            for j, b in enumerate(problem.z):
                sums[problem.row[_plus(a, b)], i * self.size + j] = 1.0
        self.free = 0 if columns is None else columns.shape[1]
        parts = [] if columns is None else [columns]
        if multiplied is not None:
            spread = np.zeros((len(problem.all), self.m * self.m))
            quadratic = [(i, j) for i in range(self.m) for j in range(i + 1)]
            for number, (i, j) in enumerate(quadratic):
                for at in {i * self.m + j, j * self.m + i}:
                    spread[:, at] = multiplied[:, number] / (1 if i == j else 2)
            parts.append(spread)
        self.has_multiplier = multiplied is not None
        self.matrix = np.concatenate([*parts, -sums], 1)
        self.target = target
        self.inverse = np.linalg.pinv(self.matrix)

    def solve(self, room: float) -> tuple[Floats, Floats, Floats | None] | None:
        """y, G and S, with ``G >= room/2``; ``None`` where the projections do not get there."""
        x = np.zeros(self.matrix.shape[1])
        for _ in range(STEPS):
            near = self._onto_cones(x, room)
            turned = 2 * near - x
            flat = turned - self.inverse @ (self.matrix @ turned + self.target)
            if float(np.abs(flat - near).max()) < room / 20 / self.size:
                return self._read(flat, room)
            x = x + flat - near
            if float(np.abs(x).max()) > 1e6:
                return None
        return self._read(self._onto_affine(self._onto_cones(x, room)), room)

    def _onto_affine(self, x: Floats) -> Floats:
        return x - self.inverse @ (self.matrix @ x + self.target)

    def _read(self, x: Floats, room: float) -> tuple[Floats, Floats, Floats | None] | None:
        y, S, G = self._parts(x)
        if float(np.abs(self.matrix @ x + self.target).max()) > 1e-7 * (1 + float(np.abs(x).max())):
            return None
        if float(np.linalg.eigvalsh(G).min()) < room / 4:
            return None
        return y, G, S

    def _parts(self, x: Floats) -> tuple[Floats, Floats | None, Floats]:
        y, rest, S = x[: self.free], x[self.free :], None
        if self.has_multiplier:
            S = rest[: self.m * self.m].reshape(self.m, self.m)
            rest = rest[self.m * self.m :]
        return y, S, rest.reshape(self.size, self.size)

    def _onto_cones(self, x: Floats, room: float) -> Floats:
        y, S, G = self._parts(x)
        parts = [y]
        if S is not None:
            parts.append(_above(S, room).ravel())
        parts.append(_above(G, room).ravel())
        return np.concatenate(parts)


def _above(matrix: Floats, least: float) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.maximum(values, least)) @ vectors.T


def _scale(values: Floats) -> Fraction:
    top = float(np.abs(values).max())
    return Fraction(2) ** (DIGITS - int(np.ceil(np.log2(top if top > 0 else 1.0))))


def _round(value: float, scale: Fraction) -> Fraction:
    return Fraction(round(Fraction(float(value)) * scale)) / scale


def _rounded(form: Floats) -> Matrix:
    scale, size = _scale(form), len(form)
    return tuple(tuple(_round(form[max(i, j), min(i, j)], scale) for j in range(size)) for i in range(size))


def _negative(V: Matrix) -> Matrix:
    return tuple(tuple(-entry for entry in row) for row in V)


def is_definite(form: Matrix) -> bool:
    """Is a symmetric rational matrix positive definite?  By its pivots."""
    rows = [list(row) for row in form]
    for k in range(len(rows)):
        if not rows[k][k] > 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def _pivots_of(V: Matrix) -> list[Fraction]:
    """Values of the form at the axes and near its top eigenvector: one above 0 shows a positive direction."""
    size = len(V)
    form = np.array([[float(entry) for entry in row] for row in V])
    shares = np.linalg.eigh(form)[1][:, -1]
    tried = [[Fraction(round(float(a) * 1000), 1000) for a in shares]]
    tried += [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    return [sum((c[i] * V[i][j] * c[j] for i in range(size) for j in range(size)), Fraction(0)) for c in tried]


def is_decided(problem: _Problem, found: CentreForm) -> bool:
    """The identity, and all signs, in rational numbers."""
    wanted = problem.slope(found.form)
    if found.multiplier is not None:
        if not is_definite(found.multiplier):
            return False
        for key, c in problem.product(found.multiplier, found.form).items():
            wanted[key] = wanted.get(key, Fraction(0)) - c
    for i, a in enumerate(problem.z):
        for j, b in enumerate(problem.z):
            at = _plus(a, b)
            wanted[at] = wanted.get(at, Fraction(0)) - found.gram[i][j]
    return all(each == 0 for each in wanted.values()) and is_definite(found.gram)
