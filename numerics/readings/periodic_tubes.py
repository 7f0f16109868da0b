"""Tubes around a closed curve that trajectories do not leave: what shows that something turns for ever, with no symmetry asked.

Let ``g`` be a closed curve of period T, ``P(t) > 0`` and ``k(t)`` of the same period, and follow trajectories at another pace:

    ``y' = (1 + w) f(y)``,  ``w = -k(t) <g'(t), y - g(t)>``,   ``|w| < 1/2`` in the tube ``|y - g(t)|_P(t) <= eps``.

With A an enclosure of the Jacobian of the right side over the tube, ``r = f(g) - g'`` and

    ``A^T P + P A + P' + 2 rate P < 0``   and   ``|r|_P < rate eps``

``|y - g|_P`` falls where it is eps: the tube is not left.  So every trajectory that starts in ``E = {|y - g(t)|_P(t) <= eps}``,
at some t, comes back to it for ever (``w > -1/2``), by Brouwer's theorem one of them is periodic, and none converges to a closed
set that does not meet E.  The time along the tube replaces a section and its return map.  (Contraction transverse to a
flow: Borg 1960; Manchester and Slotine, Transverse contraction criteria, Systems and Control Letters 63, 2014.)

On the circle y are the angles, and g may wind: ``g(t + T) = g(t) + 2 pi (windings)``.  Else y are the coordinates, with the pull
``p (1 - x^T W x) x``, which vanishes on the sphere.  g and P are cubics of Hermite between knots (for P with the slopes
``(P_k+1 - P_k-1)/2h``), k is linear, the knots are rational.  The proposals are in
:mod:`eigentoken.numerics.readings.tube_proposals`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, arb_mat, arb_series, ctx, fmpq, fmpq_mat

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.readings.bracketed_starts import angular_field
from eigentoken.numerics.readings.contraction_regions import pull_back
from eigentoken.numerics.readings.starts_in_a_basin import on_circle
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import ball_setting, jacobian
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.exactness.krawczyk import positive_definite
from eigentoken.theory.systems.system import Time

__all__ = ["Knot", "Tube", "can_have_tube", "holds_state", "is_tube", "start_box"]

BITS_HERE = 96
#: More coordinates than this are not looked at.
MOST_COORDINATES = 9
#: An interval between two knots is halved so often, and the residual is bounded on so many parts of a piece.
HALVINGS, PARTS = 7, (2, 8)
#: Between knots P is at least this share of the nearest one; so boxes are wider by ``1/sqrt`` of it.
SHRUNK, WIDER = Fraction(3, 4), 1.16
Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Knot:
    """Where the curve is, its velocity, the form P, and k."""

    centre: Row
    velocity: Row
    shape: tuple[Row, ...]
    hold: Fraction


@dataclass(frozen=True)
class Tube:
    """The knots, the time between two of them, the radius, the rate, and the pull to the sphere."""

    knots: tuple[Knot, ...]
    windings: tuple[int, ...]
    step: Fraction
    eps: Fraction
    rate: Fraction
    pull: Fraction
    start: Fraction = Fraction(0)
    "The time along the curve at which the ellipsoid holds the start."

    @property
    def period(self) -> Fraction:
        return self.step * len(self.knots)

    def as_data(self) -> dict[str, Any]:
        return {
            "windings": list(self.windings),
            "eps": str(self.eps),
            "rate": str(self.rate),
            "pull": str(self.pull),
            "step": str(self.step),
            "start": str(self.start),
            "knots": [
                {
                    "centre": [str(a) for a in knot.centre],
                    "velocity": [str(a) for a in knot.velocity],
                    "shape": [[str(row[j]) for j in range(i + 1)] for i, row in enumerate(knot.shape)],
                    "hold": str(knot.hold),
                }
                for knot in self.knots
            ],
        }


def can_have_tube(instance: Instance) -> bool:
    """A flow of the papers' equation whose weights do not depend on positions, in few coordinates."""
    system = instance.system
    few = instance.n * (1 if on_circle(instance) else instance.d) <= MOST_COORDINATES
    return few and system.time is Time.FLOW and system.standard and system.rotary is None


def is_tube(instance: Instance, tube: Tube) -> bool:
    """Check every piece of the tube in ball arithmetic: the inequalities in the head of this module, nothing else."""
    if not can_have_tube(instance) or len(tube.knots) < 3 or not (tube.eps > 0 and tube.rate > 0 and tube.step > 0):
        return False
    if any(tube.windings) and not on_circle(instance):
        return False
    with precision(BITS_HERE):
        if not all(positive_definite(_matrix(knot.shape)) for knot in tube.knots):
            return False
        field = _Field(instance, tube.pull)
        widths = [_half_widths(knot, tube.eps) for knot in tube.knots]
        numbers = _spread(len(tube.knots))
        return all(_falls(field, tube, k, (Fraction(0), tube.step), widths, HALVINGS) for k in numbers)


def _at_start(tube: Tube) -> tuple[list[Any], list[Any], list[float]]:
    """The centre, the form and half widths of the ellipsoid of the start."""
    k = int(tube.start / tube.step)
    since = tube.start - k * tube.step
    nearest = k if 2 * since <= tube.step else (k + 1) % len(tube.knots)
    widths = [WIDER * each for each in _half_widths(tube.knots[nearest], tube.eps)]
    return _curve(tube, k).at(_ball(since)), _form(tube, k).at(_ball(since)), widths


def start_box(instance: Instance, tube: Tube) -> tuple[tuple[arb, ...], ...]:
    """Tokens, in balls, of all states in the ellipsoid of the start."""
    with precision(BITS_HERE):
        centre, _, widths = _at_start(tube)
        box = [a + arb(0, arb(b).upper()) for a, b in zip(centre, widths, strict=True)]
        if on_circle(instance):
            return tuple(tuple(a.sin_cos()[::-1]) for a in box)
        return tuple(tuple(box[i : i + instance.d]) for i in range(0, len(box), instance.d))


def holds_state(instance: Instance, tube: Tube) -> bool:
    """Is the exact state of the instance in the ellipsoid of the start?"""
    if not 0 <= tube.start < tube.period:
        return False
    with precision(BITS_HERE):
        centre, form, _ = _at_start(tube)
        tokens = ball_setting(instance, BITS_HERE).tokens
        if on_circle(instance):
            away = []
            for (x, y), angle in zip(tokens, centre, strict=True):  # the angle from the centre to the token
                sine, cosine = angle.sin_cos()
                away.append(arb.atan2(y * cosine - x * sine, x * cosine + y * sine))
        else:
            away = [a - c for a, c in zip((a for token in tokens for a in token), centre, strict=True)]
        return bool(_form_at(away, form) < _ball(tube.eps) ** 2)


class _Field:
    """Velocity and Jacobian on flat coordinates: angles on the circle, else the coordinates of the tokens."""

    def __init__(self, instance: Instance, pull: Fraction) -> None:
        self.setting, self.d, self.pull = ball_setting(instance, BITS_HERE), instance.d, _ball(pull)
        self.turning: Any = None
        if on_circle(instance):
            root = arb(2).sqrt() if instance.system.over_root_d else arb(1)
            functions = (lambda a: a.exp(), lambda a: a.sin_cos()[::-1])
            self.turning = angular_field(instance, lambda e: expression_ball(sp.sympify(e), BITS_HERE), root, functions)

    def _tokens(self, at: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(at[i : i + self.d]) for i in range(0, len(at), self.d))

    def speed(self, at: Sequence[Any]) -> list[Any]:
        """The velocity."""
        if self.turning is not None:
            return list(self.turning(None, at))
        tokens, metric = self._tokens(at), self.setting.metric
        found = []
        for x, v in zip(tokens, self.setting.advance(tokens), strict=True):
            low = x if metric is None else [_dot(row, x) for row in metric]
            excess = self.pull * (1 - _dot(x, low))
            found += [a + excess * b for a, b in zip(v, x, strict=True)]
        return found

    def slopes(self, box: Sequence[Any]) -> list[list[Any]]:
        """The Jacobian over the box."""
        if self.turning is None:
            tokens = self._tokens(box)
            full = jacobian(self.setting, tokens)
            pull_back(self.setting.metric, self.pull, tokens, tokens, [arb(0)] * len(box), full)
            return full
        before = ctx.cap
        ctx.cap = 2
        try:
            columns = []
            for j in range(len(box)):
                line = [arb_series([a, int(i == j)]) for i, a in enumerate(box)]
                columns.append(
                    [each[1] if isinstance(each, arb_series) else arb(0) for each in self.turning(None, line)]
                )
        finally:
            ctx.cap = before
        return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class _Cubic:
    """``c_0 + c_1 s + c_2 s^2 + c_3 s^3`` in each coordinate, in balls."""

    coefficients: tuple[tuple[Any, ...], ...]

    @classmethod
    def between(cls, a: Sequence[Any], b: Sequence[Any], u: Sequence[Any], v: Sequence[Any], h: Any) -> _Cubic:
        """From a with the slope u to b with the slope v, in the time h."""
        found = []
        for x, y, p, q in zip(a, b, u, v, strict=True):
            slope = (y - x) / h
            found.append((x, p, (3 * slope - 2 * p - q) / h, (p + q - 2 * slope) / (h * h)))
        return cls(tuple(found))

    def at(self, s: Any) -> list[Any]:
        return [c0 + s * (c1 + s * (c2 + s * c3)) for c0, c1, c2, c3 in self.coefficients]

    def slope(self, s: Any) -> list[Any]:
        return [c1 + s * (2 * c2 + 3 * s * c3) for _, c1, c2, c3 in self.coefficients]

    def bend(self, s: Any) -> list[Any]:
        return [2 * c2 + 6 * s * c3 for _, _, c2, c3 in self.coefficients]


@lru_cache(maxsize=8)
def _curve(tube: Tube, k: int) -> _Cubic:
    """g between two knots; after the last one comes the first, a winding later."""
    count = len(tube.knots)
    here, there = tube.knots[k], tube.knots[(k + 1) % count]
    last = [_ball(a) for a in there.centre]
    if k + 1 == count:
        last = [a + 2 * turns * arb.pi() for a, turns in zip(last, tube.windings, strict=True)]
    start = [_ball(a) for a in here.centre]
    u, v = ([_ball(a) for a in each.velocity] for each in (here, there))
    return _Cubic.between(start, last, u, v, _ball(tube.step))


@lru_cache(maxsize=8)
def _form(tube: Tube, k: int) -> _Cubic:
    """P between two knots, row after row."""
    near = [[_ball(a) for row in tube.knots[j % len(tube.knots)].shape for a in row] for j in range(k - 1, k + 3)]
    h = _ball(tube.step)
    u, v = ([(b - a) / (2 * h) for a, b in zip(near[j], near[j + 2], strict=True)] for j in (0, 1))
    return _Cubic.between(near[1], near[2], u, v, h)


def _falls(
    field: _Field, tube: Tube, k: int, span: tuple[Fraction, Fraction], widths: list[list[float]], left: int
) -> bool:
    """Both inequalities on a piece of the interval after a knot; a piece that is too long is halved."""
    tick()
    if _falls_whole(field, tube, k, *span, widths):
        return True
    half = (span[0] + span[1]) / 2
    ends = ((span[0], half), (half, span[1]))
    return left > 0 and all(_falls(field, tube, k, each, widths, left - 1) for each in ends)


def _falls_whole(field: _Field, tube: Tube, k: int, first: Fraction, last: Fraction, widths: list[list[float]]) -> bool:
    count = len(tube.knots)
    middle, away = _span(first, last)
    nearest = k if first + last <= tube.step else (k + 1) % count
    form, curve = _form(tube, k), _curve(tube, k)
    size = len(curve.coefficients)
    change = form.slope(middle + away)
    P = [a + away * b for a, b in zip(form.at(middle), change, strict=True)]
    known = [a for row in tube.knots[nearest].shape for a in row]
    if not positive_definite(arb_mat(size, size, [a - _ball(SHRUNK * b) for a, b in zip(P, known, strict=True)])):
        return False
    slope, at = curve.slope(middle + away), curve.at(middle)
    out = [arb(0, arb(WIDER * each).upper()) for each in widths[nearest]]
    box = [a + away * b + c for a, b, c in zip(at, slope, out, strict=True)]
    full = field.slopes(box)
    # the velocity over the box, by the mean value theorem
    speed = [
        v + _dot(row, [b - a for a, b in zip(at, box, strict=True)])
        for v, row in zip(field.speed(at), full, strict=True)
    ]
    hold = _ball(tube.knots[k].hold).union(_ball(tube.knots[(k + 1) % count].hold))
    pace = -hold * _dot(slope, out)
    if not abs(pace) < 0.5:
        return False
    room = _ball(tube.rate * tube.eps)
    A = [[(1 + pace) * full[i][j] - speed[i] * hold * slope[j] for j in range(size)] for i in range(size)]
    plain = _coordinates(tube.knots[nearest].shape)
    whole, turned = arb_mat(size, size, P), plain.transpose()
    product = (plain * whole) * arb_mat(A) * turned
    rest = plain * (arb_mat(size, size, change) + _ball(2 * tube.rate) * whole) * turned
    if not positive_definite(-(product + product.transpose()) - rest):
        return False
    return any(
        all(_form_at(gap, P) < room * room for gap in _residuals(field, curve, first, last, full, parts))
        for parts in PARTS
    )


def _residuals(
    field: _Field, curve: _Cubic, first: Fraction, last: Fraction, full: list[list[Any]], parts: int
) -> Iterator[list[Any]]:
    """``f(g) - g'`` on parts of the piece, ``r(m) + (s - m) (J g' - g'')`` with the middle m of the part."""
    for part in range(parts):
        middle, away = _span(first + (last - first) * part / parts, first + (last - first) * (part + 1) / parts)
        slope, bend = curve.slope(middle + away), curve.bend(middle + away)
        moved = zip(field.speed(curve.at(middle)), curve.slope(middle), full, bend, strict=True)
        yield [v - u + away * (_dot(row, slope) - c) for v, u, row, c in moved]


@lru_cache(maxsize=512)
def _coordinates(shape: tuple[Row, ...]) -> arb_mat:
    """Coordinates in which the form is nearly the square: any nonsingular matrix is right, this one keeps the balls small."""
    inverse = np.linalg.inv(np.linalg.cholesky(np.array([[float(a) for a in row] for row in shape])))
    return arb_mat([[arb(float(a)) for a in row] for row in inverse])


def _half_widths(knot: Knot, eps: Fraction) -> list[float]:
    """Upper bounds of ``eps sqrt((P^-1)_aa)``, by the exact inverse: a box of these holds the ellipsoid."""
    inverse = fmpq_mat([[fmpq(a.numerator, a.denominator) for a in row] for row in knot.shape]).inv()
    roots = ((_ball(eps) * arb(inverse[a, a]).sqrt()).upper() for a in range(len(knot.shape)))
    return [float(each) * 1.001 for each in roots]


def _spread(count: int) -> list[int]:
    """All numbers below the count, far from each other first, so that a tube that is none is soon seen to be none."""
    stride = max(1, round(count * 0.382))
    while gcd(stride, count) != 1:
        stride -= 1
    return [(stride * k) % count for k in range(count)]


def _span(first: Fraction, last: Fraction) -> tuple[Any, Any]:
    """The middle, and what is added to it to reach all of the interval."""
    return _ball((first + last) / 2), arb(0, _ball((last - first) / 2).upper())


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))


def _form_at(x: Sequence[Any], P: Sequence[Any]) -> Any:
    size = len(x)
    return sum((x[i] * P[size * i + j] * x[j] for i in range(size) for j in range(size)), arb(0))


def _matrix(rows: Sequence[Sequence[Fraction]]) -> arb_mat:
    return arb_mat([[_ball(a) for a in row] for row in rows])


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
