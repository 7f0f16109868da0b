"""Short decimals on the safe side of a ball: what a document states, and what its formulas are evaluated with."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

__all__ = ["above", "ball_of", "below", "text"]

DIGITS = 12


def _exact(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _grain(value: Fraction, digits: int) -> Fraction:
    """The unit of the last of so many significant decimal digits."""
    if value == 0:
        return Fraction(1, 10**digits)
    return Fraction(10) ** (math.floor(math.log10(abs(value))) + 1 - digits)


def below(value: arb, digits: int = DIGITS) -> Fraction:
    """A decimal not above the ball.

    >>> text(below(arb(2).sqrt(), 4)), text(above(arb(2).sqrt(), 4))
    ('1.414', '1.415')
    """
    low = _exact(value.lower())
    unit = _grain(low, digits)
    return math.floor(low / unit) * unit


def above(value: arb, digits: int = DIGITS) -> Fraction:
    """A decimal not below the ball."""
    return -below(-value, digits)


def ball_of(value: Fraction) -> arb:
    return arb(value.numerator) / arb(value.denominator)


def text(value: Fraction) -> str:
    """The exact decimal of a number whose denominator divides a power of ten; ``p/q`` of any other."""
    denominator, places = value.denominator, 0
    while (10**places) % denominator and places < 60:
        places += 1
    if (10**places) % denominator:
        return f"{value.numerator}/{denominator}"
    whole = value.numerator * (10**places // denominator)
    digits = str(abs(whole)).rjust(places + 1, "0")
    sign = "-" if whole < 0 else ""
    return sign + (digits if not places else f"{digits[:-places]}.{digits[-places:]}")
