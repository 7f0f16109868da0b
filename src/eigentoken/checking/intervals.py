"""Certified intervals as they are printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["at_least", "interval", "interval_in_words", "share"]


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


def interval_in_words(ends: Sequence[float | str], digits: int = 3) -> str:
    """The same in a sentence, for numbers that are not negative.

    >>> interval_in_words((1.8301e-05, 0.1809)), interval_in_words((0.0, 2.881)), interval_in_words((3.15, 3.15))
    ('between 1.83e-05 and 0.181', 'at most 2.89', '3.15')
    """
    shown = interval(ends, digits)
    if not shown.startswith("["):
        return shown
    low, high = shown[1:-1].split(", ")
    return f"at most {high}" if float(low) == 0 else f"between {low} and {high}"


def share(part: Sequence[float | str] | None, whole: Sequence[float | str] | None, digits: int = 3) -> str:
    """One certified interval of numbers that are not negative over another.

    >>> share((1.0, 1.0), (2.0, 2.0)), share((1.0, 1.0), (0.0, 2.0)), share((0.0, 0.0), (0.0, 0.0))
    ('0.5', '[0.5, ∞]', '-')
    """
    if part is None or whole is None or not float(whole[1]) > 0:
        return "-"
    (low, high), (least, most) = (float(end) for end in part), (float(end) for end in whole)
    above = _quotient(high, least, math.inf) if least > 0 else math.inf
    return interval((_quotient(low, most, 0.0), above), digits)


def _quotient(part: float, whole: float, towards: float) -> float:
    """``part / whole``, one float on in the direction where the division was not exact."""
    found = part / whole
    exact = math.isfinite(found) and Fraction(found) * Fraction(whole) == Fraction(part)
    return found if exact else math.nextafter(found, towards)


def _shown(value: float, digits: int) -> str:
    return f"{value:.{digits}g}".replace("inf", "∞")
