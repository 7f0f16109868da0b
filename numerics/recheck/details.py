"""What ``certify --json`` shows beside its certificate: numbers that no fact states are shown false here, or stand.

The intervals of the extreme eigenvalues of sym(M), of a norm or of a distance, and the disc of the leading eigenvalue, are
about every matrix within the slack s of T.  An interval ``[low, high]`` of the smallest eigenvalue is false if an eigenvalue
of sym(T) lies below ``low + s`` (then that of ``T - s I`` is below low), or if all lie above ``high - s``; the others are
mirror images.  A disc is false if it meets no disc of T found here.  A number that is true, but weaker, is not refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.numerics.recheck.leaders import places
from eigentoken.numerics.recheck.locating import BallPlaces, FloatPlaces, Places, arb_of
from eigentoken.numerics.recheck.reading import Exact
from eigentoken.numerics.recheck.signs import certain_counts, symmetric_exact

__all__ = ["shown_false"]

_FORMS = {"symmetric": "skew-part", "identity": "minus-identity", "norm-bound": "itself"}


def shown_false(
    condition: str,
    details: Mapping[str, Any],
    matrix: Exact,
    part: Callable[[str], Exact],
    gram: Callable[[Exact], Exact],
    slack: Fraction,
    until: float,
) -> str | None:
    """Why a number of the details is false, or None.

    ``part(form)`` is M itself, its skew part or ``M - I``; ``gram(M)`` is ``M^T M`` of the smaller side.
    """
    ends = details.get("eigenvalues_of_symmetric_part")
    if isinstance(ends, Mapping):
        whole = symmetric_exact(matrix)
        for name, above in (("smallest", False), ("largest", True)):
            if name in ends and not _extreme_fits(whole, ends[name], slack, until, largest=above):
                return f"the {name} eigenvalue of the symmetric part is not in the interval shown"
    for name in ("norm", "distance"):
        if condition in _FORMS and isinstance(details.get(name), list):
            square = gram(part(_FORMS[condition]))
            if not _norm_fits(square, details[name], slack, until):
                return f"the {name} is not in the interval shown"
    leader = details.get("eigenvalue")
    if isinstance(leader, Mapping) and not _meets_a_disc(matrix, leader, until):
        return "the eigenvalue shown is not one of the matrix"
    return None


def _number(value: Any) -> Fraction | None:
    return None if value is None else Fraction(value)


def _extreme_fits(matrix: Exact, ends: Any, slack: Fraction, until: float, *, largest: bool) -> bool:
    low, high = (_number(end) for end in ends)
    n = matrix.shape[0]
    if low is not None:
        _, below = certain_counts(matrix, low + slack, until)
        if below >= (n if largest else 1):
            return False
    if high is not None:
        above, _ = certain_counts(matrix, high - slack, until)
        if above >= (1 if largest else n):
            return False
    return True


def _norm_fits(square: Exact, ends: Any, slack: Fraction, until: float) -> bool:
    """The largest eigenvalue of ``M^T M`` is the square of the norm."""
    low, high = (_number(end) for end in ends)
    if high is not None and (high < slack or certain_counts(square, (high - slack) ** 2, until)[0] >= 1):
        return False
    if low is None or low == 0:
        return True
    return certain_counts(square, (low + slack) ** 2, until)[1] < square.shape[0]


def _meets_a_disc(matrix: Exact, shown: Mapping[str, Any], until: float) -> bool:
    re, im = _number(shown.get("re")), _number(shown.get("im"))
    if re is None or im is None:
        return True
    # without a radius the nearest float of an exact root was shown
    radius = _number(shown["radius"]) if "radius" in shown else (abs(re) + abs(im)) / 2**50 + Fraction(1, 2**1074)
    if radius is None:
        return True
    first = next((place for _, place in places(matrix, Fraction(0), until) if place is not None), None)
    return first is None or _meets(first, re, im, radius)


def _meets(place: Places, re: Fraction, im: Fraction, radius: Fraction) -> bool:
    if isinstance(place, BallPlaces):
        old, flint.ctx.prec = flint.ctx.prec, place.discs.precision
        try:
            point, reach = flint.acb(arb_of(re), arb_of(im)), arb_of(radius)
            pairs = zip(place.discs.centers, place.discs.radii, strict=True)
            return any(not abs(center - point) > r + reach for center, r in pairs)
        finally:
            flint.ctx.prec = old
    if isinstance(place, FloatPlaces):
        unit = Fraction(2) ** -place.exponent
        x, y, reach = (float(value * unit) for value in (re, im, radius))
        distance = np.hypot(place.discs.re - x, place.discs.im - y)
        slip = 2.0**-40 * (abs(x) + abs(y) + reach)
        return bool((distance * (1 - 2.0**-40) <= place.discs.radii + reach + slip).any())
    return True
