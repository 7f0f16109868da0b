"""Certified intervals as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

__all__ = ["at_least", "interval"]


def interval(ends: Sequence[float | str] | None, digits: int = 4) -> str:
    """A certified interval, as short as it can honestly be written: one number if both ends round to it, else outward.

    >>> interval((1.23449, 1.23451)), interval((17.5349, 17.7041)), interval((2.0, "inf"))
    ('[1.234, 1.235]', '[17.53, 17.71]', '[2, ∞]')
    >>> interval((-1.727e-153, 1.72e-153)), interval((0.0, 2.2e-308))  # about zero one digit says enough
    ('[-2e-153, 2e-153]', '[0, 3e-308]')
    """
    if ends is None:
        return "-"
    low, high = (float(end) for end in ends)
    if low == high or f"{low:.{digits}g}" == f"{high:.{digits}g}":
        return _shown(low, digits)
    if low <= 0 <= high and max(-low, high) < 1e-30:
        digits = 1
    below = Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(low))
    above = Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(high))
    return f"[{_shown(float(below), digits)}, {_shown(float(above), digits)}]"


def at_least(low: float, digits: int = 3) -> str:
    """A certified lower bound, rounded down.

    >>> at_least(2.33999), at_least(8.079e-07)
    ('2.33', '8.07e-07')
    """
    return _shown(float(Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(low))), digits)


def _shown(value: float, digits: int) -> str:
    return f"{value:.{digits}g}".replace("inf", "∞")
