"""Enclosures of trajectories: a Taylor method in balls with an a-priori enclosure and Lagrange's remainder (Lohner).

The returned balls contain the exact solution: what is read from them is a theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from eigentoken.theory.systems.algebra import Number

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Field", "NoEnclosure", "ball", "enclose", "precision"]

#: ``field(t, x) -> dx/dt`` on flat sequences, using ``+ - * /`` and the methods ``exp``, ``sin``, ``cos`` of its numbers.
Field = Callable[[Number, Sequence[Number]], Sequence[Number]]


class NoEnclosure(ArithmeticError):
    """The a-priori enclosure could not be established: take a smaller step or more digits."""


@contextmanager
def precision(digits: int) -> Iterator[None]:
    """Balls of that many digits inside the block."""
    from flint import ctx

    before = ctx.dps
    ctx.dps = digits
    try:
        yield
    finally:
        ctx.dps = before


def ball(value: Number) -> arb:
    """An exact rational, decimal text or ball as a ball."""
    from flint import arb, fmpq

    if isinstance(value, arb):
        return value
    exact = Fraction(str(value))
    return arb(fmpq(exact.numerator, exact.denominator))


def _taylor(field: Field, t: Any, x: Sequence[Any], order: int) -> list[list[Any]]:
    """Taylor coefficients ``0 .. order`` of the solution through (t, x), by Picard iteration on truncated series."""
    from flint import arb_series, ctx

    before = ctx.cap
    series = [arb_series([each]) for each in x]
    try:
        for k in range(1, order + 1):
            ctx.cap = k + 1
            clock = arb_series([t, 1])
            speed = field(clock, series)
            series = [
                arb_series([start, *_coefficients(each, k, shift=1)]) for start, each in zip(x, speed, strict=True)
            ]
    finally:
        ctx.cap = before
    return [[*_coefficients(each, order + 1, shift=0)] for each in series]


def _coefficients(series: Any, count: int, *, shift: int) -> list[Any]:
    """``count`` coefficients; with ``shift=1`` those of the integral, without its constant."""
    from flint import arb, arb_series

    if not isinstance(series, arb_series):
        series = arb_series([series])
    found = [series[k] for k in range(count)]
    return [each / (k + 1) for k, each in enumerate(found)] if shift else [arb(each) for each in found]


def _box(field: Field, t: Any, h: Any, x: Sequence[Any]) -> list[Any]:
    """A box that contains the solution on [t, t + h]: ``x + [0, h] f(box)`` lies strictly inside it."""
    from flint import arb

    span = (h / 2).union(arb(0)).union(h)
    clock = t + span
    guess = [each + span * speed for each, speed in zip(x, field(clock, x), strict=True)]
    for _ in range(12):
        wide = [each + (each - start) * arb(0, "0.5") + arb(0, "1e-12") for each, start in zip(guess, x, strict=True)]
        image = [start + span * speed for start, speed in zip(x, field(clock, wide), strict=True)]
        if all(each.is_finite() for each in image) and all(w.contains(i) for w, i in zip(wide, image, strict=True)):
            return wide
        guess = [w.union(i) for w, i in zip(wide, image, strict=True)]
    raise NoEnclosure(f"no a-priori enclosure on a step of {h}: take a smaller step")


def enclose(
    field: Field,
    start: Sequence[Number],
    end: Number,
    *,
    steps: int,
    order: int = 14,
    digits: int = 50,
    begin: Number = 0,
) -> list[Number]:
    """Balls that contain the solution at ``end`` of ``x' = f(t, x)``, ``x(begin) = start`` (exact numbers or balls).

    >>> print(enclose(lambda t, x: [-x[0]], ["1"], 1, steps=8)[0].str(12, radius=False))
    0.367879441171
    """
    with precision(digits):
        first, last = Fraction(str(begin)), Fraction(str(end))
        h_exact = (last - first) / steps
        h = ball(h_exact)
        x = [ball(each) for each in start]
        for k in range(steps):
            t = ball(first + k * h_exact)
            box = _box(field, t, h, x)
            near = _taylor(field, t, x, order)
            far = _taylor(field, t + h / 2 + (h / 2) * _unit(), box, order + 1)
            x = [
                sum((c * h**m for m, c in enumerate(low)), ball(0)) + high[order + 1] * h ** (order + 1)
                for low, high in zip(near, far, strict=True)
            ]
        return x


def _unit() -> Any:
    from flint import arb

    return arb(0, 1)
