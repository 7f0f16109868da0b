"""Tubes that trajectories do not leave, by the second arithmetic: mpmath intervals, derivatives by series or in closed form.

    ``y' = (1 + w) f(y)``,  ``w = -k <g', y - g>``,  ``A^T P + P A + P' + 2 rate P < 0``,  ``|f(g) - g'|_P < rate eps``

on the tube ``|y - g(t)|_P(t) <= eps``: every start in the ellipsoid at one knot comes back to it for ever.  The coordinates are
angles on the circle, where g may wind; else those of the tokens, with the pull to the sphere.  A piece that is too long for these
intervals is halved.  Nothing of the data is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import iv

from eigentoken.numerics.recheck.refutations.flows import Series
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval, interval_jacobian, is_definite
from eigentoken.numerics.recheck.refutations.regions import box_is_far, fraction, total
from eigentoken.numerics.recheck.refutations.vector_fields import circle_field, velocity_field
from eigentoken.theory.systems.system import Space, Time

__all__ = ["tube_returns"]

#: An interval between two knots is halved so often, and there are at most so many of them.
HALVINGS, MOST = 9, 1024
#: Between knots P is at least this share of the nearest one, and boxes are wider by more than 1/sqrt of it.
SHARE, WIDER = Fraction(7, 10), Fraction(6, 5)
Row = list[Any]


def tube_returns(look: IndependentInstance, place: Any, data: Mapping[str, Any]) -> bool:
    """Is the tube of the data one, does it hold the start, and is its ellipsoid there away from the place?"""
    instance = look.instance
    if instance.system.time is not Time.FLOW or not instance.system.standard or instance.system.rotary is not None:
        return False
    before = iv.dps
    iv.dps = 24
    try:
        tube = _Tube(look, data)
        return (
            tube.is_sound() and tube.holds_start() and box_is_far(look, place, tube.start_tokens()) and tube.all_fall()
        )
    finally:
        iv.dps = before


class _Tube:
    """The data as numbers, and the field in its coordinates."""

    def __init__(self, look: IndependentInstance, data: Mapping[str, Any]) -> None:
        self.look, instance = look, look.instance
        self.n, self.d = instance.n, instance.d
        self.round = instance.system.space is Space.SPHERE and self.d == 2
        self.size = self.n if self.round else self.n * self.d
        knots = data["knots"]
        self.centres = [[Fraction(str(a)) for a in knot["centre"]] for knot in knots]
        self.velocities = [[Fraction(str(a)) for a in knot["velocity"]] for knot in knots]
        self.lower = [[[Fraction(str(a)) for a in row] for row in knot["shape"]] for knot in knots]
        self.holds = [fraction(knot["hold"]) for knot in knots]
        self.windings = list(data["windings"])
        self.step, self.eps, self.rate, self.pull = (
            Fraction(str(data[each])) for each in ("step", "eps", "rate", "pull")
        )
        self.start = Fraction(str(data["start"]))
        self.field = circle_field(instance) if self.round else velocity_field(instance)

    def is_sound(self) -> bool:
        """Sizes, signs and types are what they must be, and the forms are positive definite."""
        count, size = len(self.centres), self.size
        if any(type(each) is not int for each in self.windings) or not 3 <= count <= MOST:
            return False
        if not (min(self.step, self.eps, self.rate) > 0 and 0 <= self.start < count * self.step):
            return False
        if any(len(row) != size for row in (*self.centres, *self.velocities, self.windings)):
            return False
        if any([len(row) for row in shape] != list(range(1, size + 1)) for shape in self.lower):
            return False
        if not self.round and any(self.windings):
            return False
        self.shapes = [
            [[shape[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)] for shape in self.lower
        ]
        rows = [[[_number(a) for a in row] for row in shape] for shape in self.shapes]
        self.widths = [self._widths(number, shape) for number, shape in enumerate(rows)]
        return all(is_definite(shape) for shape in rows) and all(each is not None for each in self.widths)

    def _widths(self, number: int, shape: list[Row]) -> Row | None:
        """Half widths of a box that holds the ellipsoid: ``[[P, e_a], [e_a^T, (w_a/eps)^2]]`` is positive definite."""
        floats = np.array([[float(a) for a in row] for row in self.shapes[number]])
        with np.errstate(all="ignore"):
            found = float(self.eps) * np.sqrt(np.abs(np.diag(np.linalg.pinv(floats)))) * 1.001
        for a in range(self.size):
            corner = (iv.mpf(float(found[a])) / _number(self.eps)) ** 2
            bordered = [[*row, iv.mpf(int(i == a))] for i, row in enumerate(shape)]
            bordered.append([*(iv.mpf(int(i == a)) for i in range(self.size)), corner])
            if not is_definite(bordered):
                return None
        return [iv.mpf([-float(each), float(each)]) for each in found]

    def _at_start(self) -> tuple[Row, list[Row], Row]:
        """The centre, the form and half widths of the ellipsoid of the start."""
        k = self.start // self.step
        since = self.start - k * self.step
        nearest = k if 2 * since <= self.step else (k + 1) % len(self.centres)
        s, widths = _number(since), self.widths[nearest]
        assert widths is not None
        form = [[_at(entry, s) for entry in row] for row in self._form(k)]
        return [_at(each, s) for each in self._curve(k)], form, [_number(WIDER) * each for each in widths]

    def start_tokens(self) -> list[Row]:
        """Tokens of all states in the ellipsoid of the start."""
        centre, _, widths = self._at_start()
        box = [a + b for a, b in zip(centre, widths, strict=True)]
        if self.round:
            return [[iv.cos(a), iv.sin(a)] for a in box]
        return [box[i : i + self.d] for i in range(0, len(box), self.d)]

    def holds_start(self) -> bool:
        """The exact state is in the ellipsoid."""
        state = [[interval(entry) for entry in token] for token in self.look.instance.tokens]
        centre, form, _ = self._at_start()
        if self.round:
            pairs = [
                (y * iv.cos(c) - x * iv.sin(c), x * iv.cos(c) + y * iv.sin(c))
                for (x, y), c in zip(state, centre, strict=True)
            ]
            if any(not cosine.a > 0 for _, cosine in pairs):
                return False
            away = [iv.atan2(sine, cosine) for sine, cosine in pairs]
        else:
            away = [a - c for a, c in zip((a for token in state for a in token), centre, strict=True)]
        return bool(_form_at(away, form).b < (_number(self.eps) ** 2).a)

    def all_fall(self) -> bool:
        """Both inequalities on every piece."""
        count = len(self.centres)
        for k in reversed(range(count)):  # the winding is in the last interval
            curve, form = self._curve(k), self._form(k)
            if not self._falls(k, curve, form, Fraction(0), self.step, HALVINGS):
                return False
        return True

    def _curve(self, k: int) -> list[Row]:
        following = (k + 1) % len(self.centres)
        end = [_number(a) for a in self.centres[following]]
        if following == 0:
            end = [a + 2 * turns * iv.pi for a, turns in zip(end, self.windings, strict=True)]
        start = [_number(a) for a in self.centres[k]]
        u, v = ([_number(a) for a in self.velocities[j]] for j in (k, following))
        return [_hermite(*each, _number(self.step)) for each in zip(start, end, u, v, strict=True)]

    def _form(self, k: int) -> list[list[Row]]:
        before, here, there, after = (self.shapes[j % len(self.shapes)] for j in range(k - 1, k + 3))
        h, size = self.step, self.size
        return [
            [
                _hermite(
                    *(_number(a) for a in (here[i][j], there[i][j], (there[i][j] - before[i][j]) / (2 * h))),
                    *(_number(a) for a in ((after[i][j] - here[i][j]) / (2 * h), h)),
                )
                for j in range(size)
            ]
            for i in range(size)
        ]

    def _falls(
        self, k: int, curve: list[Row], form: list[list[Row]], first: Fraction, last: Fraction, left: int
    ) -> bool:
        if self._falls_whole(k, curve, form, first, last):
            return True
        half = (first + last) / 2
        return left > 0 and all(self._falls(k, curve, form, *ends, left - 1) for ends in ((first, half), (half, last)))

    def _falls_whole(self, k: int, curve: list[Row], form: list[list[Row]], first: Fraction, last: Fraction) -> bool:
        count, size = len(self.centres), self.size
        middle, span = _number((first + last) / 2), iv.mpf([_number(first).a, _number(last).b])
        away = span - middle
        nearest = k if first + last <= self.step else (k + 1) % count
        change = [[_slope(entry, span) for entry in row] for row in form]
        P = [
            [_at(entry, middle) + away * slope for entry, slope in zip(row, slopes, strict=True)]
            for row, slopes in zip(form, change, strict=True)
        ]
        known = self.shapes[nearest]
        if not is_definite([[P[i][j] - _number(SHARE * known[i][j]) for j in range(size)] for i in range(size)]):
            return False
        widths = self.widths[nearest]
        assert widths is not None
        out = [_number(WIDER) * each for each in widths]
        at, slope = [_at(each, middle) for each in curve], [_slope(each, span) for each in curve]
        box = [a + away * b + c for a, b, c in zip(at, slope, out, strict=True)]
        full = self._slopes(box)
        speed = [
            v + total(a * (c - b) for a, b, c in zip(row, at, box, strict=True))
            for v, row in zip(self._speed(at), full, strict=True)
        ]
        ends = (self.holds[k], self.holds[(k + 1) % count])
        hold = iv.mpf([min(each.a for each in ends), max(each.b for each in ends)])
        pace = hold * total(a * b for a, b in zip(slope, out, strict=True))
        if not (pace.a > -0.5 and pace.b < 0.5):
            return False
        room = (_number(self.rate * self.eps) ** 2).a
        if not any(
            all(_form_at(gap, P).b < room for gap in self._residuals(curve, first, last, full, parts))
            for parts in (2, 8)
        ):
            return False
        A = [[(1 - pace) * full[i][j] - hold * speed[i] * slope[j] for j in range(size)] for i in range(size)]
        plain = np.linalg.inv(np.linalg.cholesky(np.array([[float(a) for a in row] for row in known])))
        C = [[iv.mpf(float(a)) for a in row] for row in plain]
        product = _matmul(_matmul(_matmul(C, P), A), _turned(C))
        rest = _matmul(
            _matmul(C, [[change[i][j] + 2 * _number(self.rate) * P[i][j] for j in range(size)] for i in range(size)]),
            _turned(C),
        )
        gap = [
            [-product[i][j] - product[j][i] - (rest[i][j] + rest[j][i]) / 2 for j in range(size)] for i in range(size)
        ]
        return is_definite(gap)

    def _residuals(self, curve: list[Row], first: Fraction, last: Fraction, full: list[Row], parts: int) -> list[Row]:
        """``f(g) - g'`` on parts of the piece, by the mean value theorem in time."""
        found = []
        for part in range(parts):
            low, high = first + (last - first) * part / parts, first + (last - first) * (part + 1) / parts
            middle, span = _number((low + high) / 2), iv.mpf([_number(low).a, _number(high).b])
            slope, bend = [_slope(each, span) for each in curve], [2 * c[2] + 6 * span * c[3] for c in curve]
            moved = zip(self._speed([_at(each, middle) for each in curve]), curve, full, bend, strict=True)
            found.append(
                [
                    v
                    - _slope(c, middle)
                    + (span - middle) * (total(a * b for a, b in zip(row, slope, strict=True)) - b2)
                    for v, c, row, b2 in moved
                ]
            )
        return found

    def _speed(self, at: Row) -> Row:
        """The velocity; off the sphere with the pull."""
        found = [each[0] for each in self.field(None, [_series(a, 0) for a in at])]
        if self.round or self.look.instance.system.space is Space.EUCLIDEAN:
            return found
        metric = self.look.instance.metric
        for i in range(0, self.size, self.d):
            x = at[i : i + self.d]
            low = (
                x if metric is None else [total(interval(a) * b for a, b in zip(row, x, strict=True)) for row in metric]
            )
            excess = _number(self.pull) * (1 - total(a * b for a, b in zip(x, low, strict=True)))
            for a in range(self.d):
                found[i + a] = found[i + a] + excess * x[a]
        return found

    def _slopes(self, box: Row) -> list[Row]:
        """The Jacobian: series along each angle, or the closed form."""
        if not self.round:
            pull = None if self.look.instance.system.space is Space.EUCLIDEAN else _number(self.pull)
            return interval_jacobian(
                self.look.instance, [box[i : i + self.d] for i in range(0, self.size, self.d)], pull
            )[1]
        columns = []
        for j in range(self.size):
            line = [_series(a, int(i == j)) for i, a in enumerate(box)]
            columns.append([each[1] for each in self.field(None, line)])
        return [list(row) for row in zip(*columns, strict=True)]


def _series(value: Any, slope: int) -> Series:
    return Series(lambda k, _: value if k == 0 else iv.mpf(slope if k == 1 else 0))


def _hermite(x: Any, y: Any, u: Any, v: Any, h: Any) -> Row:
    """Coefficients of the cubic from x with the slope u to y with the slope v."""
    mean = (y - x) / h
    return [x, u, (3 * mean - 2 * u - v) / h, (u + v - 2 * mean) / (h * h)]


def _at(c: Row, s: Any) -> Any:
    return c[0] + s * (c[1] + s * (c[2] + s * c[3]))


def _slope(c: Row, s: Any) -> Any:
    return c[1] + s * (2 * c[2] + 3 * s * c[3])


def _form_at(x: Row, P: Sequence[Row]) -> Any:
    return total(a * p * b for a, row in zip(x, P, strict=True) for b, p in zip(x, row, strict=True))


def _matmul(a: Sequence[Row], b: Sequence[Row]) -> list[Row]:
    columns = list(zip(*b, strict=True))
    return [[total(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]


def _turned(a: Sequence[Row]) -> list[Row]:
    return [list(row) for row in zip(*a, strict=True)]


def _number(value: Fraction) -> Any:
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)
