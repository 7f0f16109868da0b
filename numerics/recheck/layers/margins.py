"""The margins of a leader, found again: BD-E1 and BD-E2 by inertia instead of eigenvalues, BD-H1 by other discs.

For a symmetric H with one positive eigenvalue and all others negative, ``sym(H (M - c I)) > 0`` shows that exactly one eigenvalue
of M lies right of c and none on it (Ostrowski and Schneider, 1962).  With ``H = 2 v v^T - I`` for a v from anywhere this is asked
for a c near ``c_0 - sigma`` (the others are left of it) and one near ``c_0 + sigma`` (the leader is right of it).  M is the
product of the stored factors in floats with a bound; definiteness and norms are those of the float verifier.  For BD-H1 discs
of the core ``V O`` hold the spectrum (:func:`.numbers.spectra`), coarse ones first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eigentoken.numerics.recheck.documents.reading import fine_product
from eigentoken.numerics.recheck.layers.numbers import SpectrumDiscs, exact_sum, spectra
from eigentoken.numerics.recheck.matrices.floats import FLOOR, Floats, U, definite_above, scaled, spectral_above

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["MARGINS", "FoundMargin", "factors_found", "judged_margin", "margin_found"]

#: A stated bound is above the one found here by at most this part of the size of the numbers that it is made of: it is made of a
#: sigma that is smaller by a 2^-20 of it (BD-E1, BD-E2), or of discs of its own (BD-H1).
MARGINS = {"BD-E1": 2.0**-18, "BD-E2": 2.0**-18, "BD-H1": 1e-5}
#: How far inside of ``sigma`` the two lines are put, and so how far above the formula at most what is found is.
INSIDE = (2.0**-32, 2.0**-27, 2.0**-24, 2.0**-22)
ABOVE = 2.0**-21


class FoundMargin(NamedTuple):
    """At least the formula, how much more may be stated, and what the formula is at least."""

    above: float
    slack: float
    below: float


def margin_found(statement: str, factors: Sequence[tuple[ArrayLike, ArrayLike]]) -> FoundMargin | None:
    """Of ``M = sum_h O_h V_h``; ``None`` where no leader with a margin was shown on the right of 0."""
    if statement not in ("BD-E1", "BD-E2"):
        return None
    outer = np.concatenate([np.asarray(O, dtype=np.float64) for O, _ in factors], axis=1)
    inner = np.concatenate([np.asarray(V, dtype=np.float64) for _, V in factors], axis=0)
    formed = fine_product((outer, 0.0), (inner, 0.0))
    if formed is None or formed[0].shape[0] < 2 or not np.any(formed[0]):
        return None
    values, e, lost = scaled(formed[0])
    rho = math.ldexp(formed[1], -e) * (1 + 2.0**-40) + lost
    lines = _lines(values, rho)
    if lines is None or not lines[1] > 0:
        return None
    low, high = map(Fraction, lines)
    if statement == "BD-E1":
        return _near(statement, _above(max(Fraction(0), low) / high), 1.0)
    size = Fraction(spectral_above(values)) + Fraction(rho)
    room = 2 * (high - low) / Fraction(2) ** e  # in the units of the weights, where the bound is a length
    return _near(statement, _above((size**2 - high**2) / room), _above(size**2 / room))


def _near(statement: str, above: float, size: float) -> FoundMargin:
    """What is found of lines inside of sigma is above the formula by less than :data:`ABOVE` of the size."""
    return FoundMargin(above, MARGINS[statement] * size, above - ABOVE * size)


def factors_found(factors: Sequence[tuple[ArrayLike, ArrayLike]], until: float) -> Iterator[FoundMargin]:
    """``(1 + m)/(1 + lambda)`` of BD-H1 for ``M = sum_h O_h V_h``, of one head through its core, the coarse values first."""
    alone = factors[0][::-1] if len(factors) == 1 and np.shape(factors[0][0])[1] < np.shape(factors[0][0])[0] else None
    for discs in spectra(exact_sum(factors if alone is None else [alone]), until):
        lead = int(np.argmax(discs.re))
        ends, sizes = discs.score("real-part"), discs.score("modulus")
        least, most = float(ends[0][lead]), np.delete(sizes[1], lead)
        beyond = float(most.max(initial=0.0)) * (1 + 2.0**-45)
        if int(discs.component(lead).sum()) == 1 and least > beyond and math.isfinite(least):
            above = _above((1 + Fraction(beyond)) / (1 + Fraction(least)))
            inner = _one_of_the_others(discs, sizes[0], lead)
            below = (1 + inner) / (1 + float(ends[1][lead]) * (1 + 2.0**-45)) * (1 - 2.0**-45)
            yield FoundMargin(above, MARGINS["BD-H1"] * above, below)


def _one_of_the_others(discs: SpectrumDiscs, low: Floats, lead: int) -> float:
    """At most the largest modulus of an eigenvalue beside the leader: one lies in each set of discs that are connected."""
    others = np.delete(np.arange(len(low)), lead)
    if not len(others):
        return 0.0
    outer = int(others[np.argmax(low[others])])
    return max(0.0, float(low[discs.component(outer)].min())) * (1 - 2.0**-45)


def judged_margin(stated: float | None, found: FoundMargin | None) -> tuple[str, str]:
    """``holds``, ``fails`` or ``undecided`` of a stated bound beside the one found here, and why."""
    if found is None or stated is None or not math.isfinite(found.above):
        return "undecided", "not covered: this arithmetic shows no leader with a margin"
    if not found.below <= stated <= found.above + found.slack:
        return "fails", f"{stated!r} is stated, the formula gives {found.above:.12g}"
    if stated < found.above:
        return "undecided", f"{stated!r} is stated, at most {found.above:.12g} is shown here"
    return "holds", f"at least {found.above:.12g}, found again with error bounds"


def _above(value: Fraction) -> float:
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _lines(values: Floats, rho: float) -> tuple[float, float] | None:
    """Two numbers with one eigenvalue right of both and all others left of both, as near to ``c_0 -+ sigma`` as is shown."""
    places, vectors = np.linalg.eigh(0.5 * (values + values.T))
    v = np.ascontiguousarray(vectors[:, -1])
    square = float(v @ v)
    if not (np.isfinite(places).all() and 0.5 < square < 2.0):
        return None
    middle, half = float(places[-1] + places[-2]) / 2, float(places[-1] - places[-2]) / 2
    room = half**2 - float(np.linalg.norm(0.5 * (values - values.T) @ v)) ** 2 / square
    if not room > 0:
        return None
    for inside in INSIDE:
        sigma = math.sqrt(room) * (1 - inside)
        if all(_one_right_of(values, rho, v, c) for c in (middle - sigma, middle + sigma)):
            return middle - sigma, middle + sigma
    return None


def _one_right_of(values: Floats, rho: float, v: Floats, c: float) -> bool:
    """Has every matrix within rho exactly one eigenvalue right of c, and none on that line?

    The floats of H are within ``2^-20`` of ``2 v v^T/|v|^2 - I``, whose eigenvalues are 1 and -1, so that they have its inertia.
    """
    n = len(values)
    if n * U > 2.0**-30:
        return False
    reflected = np.outer(v, v) * (2.0 / float(v @ v))  # exactly symmetric
    reflected.flat[:: n + 1] -= 1.0
    turned = reflected @ values
    form = 0.5 * (turned + turned.T) - c * reflected
    sizes = [float(np.linalg.norm(each)) * (1 + each.size * U) + FLOOR for each in (reflected, values, turned, form)]
    rounding = (n + 2) * U * sizes[0] * sizes[1] + 4 * U * (sizes[2] + abs(c) * sizes[0] + sizes[3])
    return definite_above(form, 0.0, (rounding + rho * (1 + 2.0**-20)) * (1 + 2.0**-30) + FLOOR)
