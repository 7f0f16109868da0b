"""Certified intervals as they are printed."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

__all__ = ["interval"]


def interval(ends: Any, digits: int = 4) -> str:
    """A certified interval, as short as it can honestly be written: one number if both ends round to it, else outward.

    >>> interval((1.23449, 1.23451)), interval((17.5349, 17.7041)), interval((2.0, "inf"))
    ('[1.234, 1.235]', '[17.53, 17.71]', '[2, ∞]')
    """
    if ends is None:
        return "-"
    low, high = (float(end) for end in ends)
    if low == high or f"{low:.{digits}g}" == f"{high:.{digits}g}":
        return _shown(low, digits)
    below = Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(low))
    above = Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(high))
    return f"[{_shown(float(below), digits)}, {_shown(float(above), digits)}]"


def _shown(value: float, digits: int) -> str:
    return f"{value:.{digits}g}".replace("inf", "∞")
