"""A second validated integration: Taylor series of mpmath intervals by their recurrences, with an a-priori box.

It shares neither the balls nor the Picard iteration of :mod:`eigentoken.numerics.dynamics.enclosed_trajectories`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath import iv
from mpmath.libmp.libmpi import mpi_add, mpi_mul, mpi_zero

from eigentoken.numerics.recheck.refutations.interval_recheck import interval, interval_jacobian
from eigentoken.numerics.recheck.refutations.vector_fields import (
    circle_angles,
    circle_field,
    is_plain_circle_flow,
    velocity_field,
)
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.system import Space, Time

__all__ = ["NotEnclosed", "Series", "arc_is_opposed", "interval_flow", "second_end", "slope_along"]

ORDER = 10
#: For longer times.
HIGH_ORDER = 18
DIGITS = 40


class NotEnclosed(ArithmeticError):
    """No box was found that holds the solution on a step."""


class Series:
    """A power series whose coefficients are made when they are asked for."""

    __slots__ = ("_known", "_rule", "_slopes", "partner")

    def __init__(self, rule: Callable[[int, list[Any]], Any]) -> None:
        self._rule = rule
        self._known: list[Any] = []
        self._slopes: Series | None = None
        self.partner: Series | None = None

    def __getitem__(self, k: int) -> Any:
        while len(self._known) <= k:
            self._known.append(iv.convert(self._rule(len(self._known), self._known)))
        return self._known[k]

    def upto(self, k: int) -> list[Any]:
        """The coefficients 0 .. k."""
        if len(self._known) <= k:
            self[k]
        return self._known[: k + 1]

    def slopes(self) -> Series:
        """``t a'``: the coefficients ``k a_k``."""
        if self._slopes is None:
            self._slopes = Series(lambda k, _: k * self[k])
        return self._slopes

    def __add__(self, other: Any) -> Series:
        there = _series(other)
        return Series(lambda k, _: self[k] + there[k])

    __radd__ = __add__

    def __neg__(self) -> Series:
        return Series(lambda k, _: -self[k])

    def __sub__(self, other: Any) -> Series:
        return self + (-_series(other))

    def __rsub__(self, other: Any) -> Series:
        return _series(other) + (-self)

    def __mul__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return Series(lambda k, _: self[k] * other)
        return Series(lambda k, _: _products(self.upto(k), other.upto(k)[::-1]))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return Series(lambda k, _: self[k] / other)
        return Series(lambda k, q: (self[k] - _products(other.upto(k)[1:], q[::-1])) / other[0])

    def exp(self) -> Series:
        """``e' = a' e``."""
        steep = self.slopes()
        return Series(lambda k, e: iv.exp(self[0]) if k == 0 else _products(steep.upto(k)[1:], e[::-1]) / k)

    def sqrt(self) -> Series:
        """``r^2 = a``."""
        return Series(lambda k, r: iv.sqrt(self[0]) if k == 0 else (self[k] - _products(r[1:], r[:0:-1])) / (2 * r[0]))

    def __rtruediv__(self, other: Any) -> Series:
        return _series(other) / self

    def _circular(self) -> tuple[Series, Series]:
        """``s' = a' c`` and ``c' = -a' s``, together."""
        if self.partner is None:
            steep = self.slopes()

            def turned(k: int, other: Series) -> Any:
                return _products(steep.upto(k)[1:], other.upto(k - 1)[::-1]) / k

            sine: Series = Series(lambda k, _: iv.sin(self[0]) if k == 0 else turned(k, cosine))
            cosine: Series = Series(lambda k, _: iv.cos(self[0]) if k == 0 else -turned(k, sine))
            sine.partner, self.partner = cosine, sine
        assert self.partner.partner is not None
        return self.partner, self.partner.partner

    def sin(self) -> Series:
        return self._circular()[0]

    def cos(self) -> Series:
        return self._circular()[1]


def _series(value: Any) -> Series:
    return value if isinstance(value, Series) else Series(lambda k, _: value if k == 0 else iv.mpf(0))


def _products(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """``sum_j a_j b_j`` of intervals, by the operations that ``*`` and ``+`` of :data:`mpmath.iv` end in."""
    digits, total = iv.prec, mpi_zero
    for a, b in zip(left, right, strict=True):
        total = mpi_add(total, mpi_mul(a._mpi_, b._mpi_, digits), digits)
    return iv.make_mpf(total)


def _total(values: Any) -> Any:
    total: Any = iv.mpf(0)
    for value in values:
        total = total + value
    return total


def _coefficients(field: Any, x: Sequence[Any], order: int) -> list[list[Any]]:
    """Taylor coefficients of the solution through x: ``(k + 1) x_{k+1} = f(x)_k``."""
    speeds: list[Any] = []

    def variable(i: int) -> Series:
        return Series(lambda k, _: x[i] if k == 0 else _series(speeds[i])[k - 1] / k)

    variables = [variable(i) for i in range(len(x))]
    speeds += field(None, variables)
    return [[each[k] for k in range(order + 1)] for each in variables]


def interval_flow(field: Any, start: Sequence[Any], time: Fraction, steps: int, order: int = ORDER) -> list[Any]:
    """Intervals that hold the solution of the autonomous ``x' = f(x)`` at the time."""
    h = iv.mpf(time.numerator) / iv.mpf(time.denominator) / steps
    span = iv.mpf([0, h.b])
    x = list(start)
    for _ in range(steps):
        box = _box(field, x, span)
        near, far = _coefficients(field, x, order), _coefficients(field, box, order + 1)
        x = [
            _total(c * h**k for k, c in enumerate(low)) + high[order + 1] * h ** (order + 1)
            for low, high in zip(near, far, strict=True)
        ]
    return x


def _box(field: Any, x: Sequence[Any], span: Any) -> list[Any]:
    guess = list(x)
    for _ in range(15):
        try:
            speed = [each[1] for each in _coefficients(field, guess, 1)]
        except OverflowError:  # the guess has run away
            break
        image = [a + span * v for a, v in zip(x, speed, strict=True)]
        if all(i.a > g.a and i.b < g.b for i, g in zip(image, guess, strict=True)):
            return guess
        wide = iv.mpf([-1, 1])
        guess = [i + wide * ((i.b - i.a) / 4 + iv.mpf("1e-20")) for i in image]
    raise NotEnclosed("no box holds the solution: take shorter steps")


def arc_is_opposed(instance: Instance, m: int, time: str, steps: int) -> bool:
    """Both ends of the arc end in half circles, on different sheets: by the second integration."""
    iv.dps = max(iv.dps, DIGITS)
    if not is_plain_circle_flow(instance):
        return False
    field = circle_field(instance)
    found = []
    for sign in (1, -1):
        start = circle_angles(
            instance, m, sign, lambda y, x: iv.atan2(interval(sp.sympify(y)), interval(sp.sympify(x)))
        )
        try:
            found.append(_sheets(interval_flow(field, start, Fraction(time), steps)))
        except NotEnclosed:
            return False
    return None not in found and found[0] != found[1]


def _greater(a: Any, b: Any) -> Series:
    """The greater of two series at 0; where that is open, coefficients that hold both."""
    first, second = _series(a), _series(b)
    if first[0].a > second[0].b:
        return first
    if second[0].a > first[0].b:
        return second
    return Series(lambda k, _: iv.mpf([min(first[k].a, second[k].a), max(first[k].b, second[k].b)]))


def slope_along(observable: Any, instance: Instance, parameters: Any, state: Any, velocity: Any) -> Any:
    """The derivative of an observable along the flow: the first coefficient on the line through the state."""

    def line(a: Any, b: Any) -> Series:
        return Series(lambda k, _: a if k == 0 else b if k == 1 else iv.mpf(0))

    def constant(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [constant(each) for each in value]
        return {name: constant(each) for name, each in value.items()} if isinstance(value, Mapping) else _series(value)

    tokens = tuple(tuple(line(a, b) for a, b in zip(x, v, strict=True)) for x, v in zip(state, velocity, strict=True))
    algebra = LoopAlgebra(lambda a: a.exp(), lambda a: _series(a).sqrt(), _series(iv.mpf(1)), greater=_greater)
    ready = {name: constant(value) for name, value in parameters.items()}
    return _series(observable(algebra, instance.system, ready, tokens, instance.mask))[1]


def second_end(instance: Instance, time: str, steps: int) -> list[Any] | None:
    """The state after so many layers, or at the time, as intervals; ``None`` where no enclosure was found."""
    before = iv.dps
    iv.dps = 60 if instance.system.time is Time.FLOW else 60 + 4 * steps
    try:
        return _end(instance, Fraction(time), steps)
    except NotEnclosed:
        return None
    finally:
        iv.dps = before


def _end(instance: Instance, time: Fraction, steps: int) -> list[Any]:
    state = [[interval(sp.sympify(entry)) for entry in token] for token in instance.tokens]
    if instance.system.time is Time.MAP:
        for _ in range(steps):
            state, _ = interval_jacobian(instance, state)
        return [entry for token in state for entry in token]
    if instance.system.space is Space.SPHERE and instance.d == 2:
        angles = interval_flow(circle_field(instance), [iv.atan2(y, x) for x, y in state], time, steps, HIGH_ORDER)
        return [part for a in angles for part in (iv.cos(a), iv.sin(a))]
    return interval_flow(
        velocity_field(instance), [entry for token in state for entry in token], time, steps, HIGH_ORDER
    )


def _sheets(angles: Sequence[Any]) -> tuple[int, ...] | None:
    whole = 2 * iv.pi
    sheets = [round(float((a - angles[0]).mid) / 6.283185307179586) for a in angles]
    reduced = [a - angles[0] - k * whole for a, k in zip(angles, sheets, strict=True)]
    return tuple(sheets) if all((a - b).b < iv.pi.a for a in reduced for b in reduced) else None
