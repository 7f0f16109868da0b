"""What a float in the code of a predicate may stand for.

``0.1`` is written for 1/10, ``np.pi`` for pi, ``np.linspace(0, 1, 4)[1]`` for 1/3; none of them is the binary fraction that
is stored.  A float with at most ``SHORT`` significant bits (2.0, 0.5, 0.75, 1000.0) is exact.  A literal of the source is any
number within a relative distance of 2^-40 of it, and a float that was computed also within 2^-50 of it (cos(pi/2) is 6e-17,
and means 0): so nothing is refuted by less than the rounding of the author's own numbers.  Finer constants are written as
``fractions.Fraction`` or as numbers of sympy; ``pi``, ``e`` and ``tau`` are recognised.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

__all__ = ["COMPUTED", "LITERAL", "SHORT", "computed_float", "is_exact_float", "literal_float"]

#: Significant bits up to which a float is taken to be the number it looks like.
SHORT = 10
#: Relative distance within which a float stands for a number, 2^-40.
LITERAL = fmpq(1, 2**40)
#: Absolute distance that a computed float may be off as well, 2^-50.
COMPUTED = fmpq(1, 2**50)


def is_exact_float(value: float) -> bool:
    """Is the float a short binary fraction?

    >>> [is_exact_float(each) for each in (0.0, 1.0, -0.375, 1e3, 0.1, 1e-9, math.pi)]
    [True, True, True, True, False, False, False]
    """
    numerator = abs(Fraction(value).numerator)
    while numerator and numerator % 2 == 0:
        numerator //= 2
    return numerator.bit_length() <= SHORT


def literal_float(value: float) -> arb:
    """All numbers that a literal of the source may stand for."""
    return _known(value) or _around(value, fmpq(0))


def computed_float(value: float) -> arb:
    """All numbers that a float which was computed may stand for."""
    return _known(value) or _around(value, COMPUTED)


def _known(value: float) -> Any:
    """An enclosure of pi, e or tau and of the float next to it."""
    found = {math.pi: arb.pi, math.e: arb.const_e, math.tau: lambda: 2 * arb.pi()}.get(abs(value))
    return None if found is None else arb(value).union(found() if value > 0 else -found())


def _around(value: float, off: fmpq) -> arb:
    exact = Fraction(value)
    middle = fmpq(exact.numerator, exact.denominator)
    far = abs(middle) * LITERAL + off
    return arb(value) + arb(0, (arb(far.p) / arb(far.q)).upper())
