"""An ellipsoid around any stable equilibrium of any system, by the contraction principle.

``|x - c|_P <= eps`` on which the Jacobian has ``|J|_P <= q < 1`` (map) or the logarithmic norm at most ``-c`` (flow), and which
is mapped into itself (:func:`~eigentoken.numerics.readings.contraction_regions.is_contraction`): it holds exactly one
equilibrium, and the distance to it in the norm of P shrinks at that rate (Banach).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from eigentoken.numerics.basins.decimals import text
from eigentoken.numerics.basins.regions import BasinRegion, Floats, RegionRate
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings.contraction_regions import SHARE, Region, contraction_region, is_contraction
from eigentoken.theory.systems.system import Time

__all__ = ["ellipsoid_region"]

#: What is stated is smaller by this than what was certified: boxes of another arithmetic are up to twice as wide.
ROOM = Fraction(5, 2)
#: The largest ellipsoid is sought by this factor, so many times; its radius is divided by these, and on each ellipsoid the best
#: of these shares of the linear rate is stated.
GROWTH, GROWTHS = Fraction(5, 4), 8
DIVISORS = (1, 2, 8)
BETTER = (Fraction(2, 5), Fraction(1, 4), Fraction(1, 8))


def ellipsoid_region(case: Case) -> BasinRegion | None:
    """The largest certified ellipsoid, and the rates on it and on smaller ones; ``None`` where none was certified."""
    found = contraction_region(case)
    if found is None:
        return None
    for _ in range(GROWTHS):
        larger = replace(found, eps=_short(found.eps * GROWTH))
        if not is_contraction(case, larger):
            break
        found = larger
    found = replace(found, eps=_short(found.eps / ROOM))
    discrete = case.instance.system.time is Time.MAP
    linear = ((1 - found.rate) if discrete else found.rate) / Fraction(SHARE)
    rates: list[RegionRate] = []
    for divisor in DIVISORS:
        smaller = replace(found, eps=found.eps / divisor)
        tried = (replace(smaller, rate=_short(1 - share * linear if discrete else share * linear)) for share in BETTER)
        best = next((each for each in tried if is_contraction(case, replace(each, eps=each.eps * ROOM))), smaller)
        better = not rates or (best.rate < rates[0].rate if discrete else best.rate > rates[0].rate)
        rates = [RegionRate(best.eps, best.rate), *rates] if better else rates
    shape, centre = _floats(found)

    def measure(tokens: Floats) -> float:
        away = (tokens - centre).ravel()
        return float(np.sqrt(away @ shape @ away))

    return BasinRegion(
        "ellipsoid",
        None,
        discrete,
        tuple(rates),
        {
            "centre": [[text(a) for a in token] for token in found.centre],
            "shape": [[text(a) for a in row] for row in found.shape],
            "pull": text(found.pull),
        },
        measure,
    )


def _short(value: Fraction) -> Fraction:
    return Fraction(round(value * 10**6), 10**6)


def _floats(region: Region) -> tuple[Floats, Floats]:
    shape = np.array([[float(a) for a in row] for row in region.shape])
    return shape, np.array([[float(a) for a in token] for token in region.centre])
