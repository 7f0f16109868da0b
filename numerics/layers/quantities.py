"""Numbers of a layer as certified intervals: ordered eigenvalues, norms, the gap, the threshold alpha*.

From eigenvalue discs: a component of m discs holds exactly m eigenvalues, so each of them has its real part in the
interval that the component covers; the k-th largest real part then lies between the k-th largest lower end and the
k-th largest upper end.  Everything else is ball arithmetic on the discs (Arb).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from eigentoken.documents.check_document import Interval as IntervalDocument
from eigentoken.numerics.certified.dominance import discs_of
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.norms import norm_interval
from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, down, scale_down, scale_up, up
from eigentoken.numerics.certified.spectra import Discs
from eigentoken.theory.language.verdicts import Verdict

__all__ = [
    "Interval",
    "alpha_star",
    "as_json",
    "ball",
    "distance_interval",
    "divided_interval",
    "in_units",
    "norm_of",
    "principal_basis",
    "real_parts",
    "scaled_interval",
    "spectral_discs",
    "symmetric_extremes",
    "trace_of",
    "without_factors",
]

Interval = tuple[float, float]


def spectral_discs(enclosure: Enclosure) -> tuple[Discs, int] | None:
    """The discs and the binary exponent of their unit, or ``None`` where no bound was found."""
    with np.errstate(all="ignore"):
        discs = discs_of(enclosure)
    return None if discs is None or not np.isfinite(discs.radii).all() else (discs, enclosure.exponent)


def real_parts(enclosure: Enclosure) -> tuple[list[float], list[float]] | None:
    """Lower and upper ends of all real parts, each sorted from the top: entry k encloses the (k+1)-th largest."""
    found = spectral_discs(enclosure)
    if found is None:
        return None
    discs, exponent = found
    low = np.nextafter(discs.centers.real - discs.radii, -np.inf)
    high = np.nextafter(discs.centers.real + discs.radii, np.inf)
    done = _alone(discs)
    for index in np.flatnonzero(~done):
        if done[index]:
            continue
        members = discs.component(int(index))
        low[members], high[members] = low[members].min(), high[members].max()
        done[members] = True
    lows = [_scaled(float(value), exponent, below=True) for value in np.sort(low)[::-1]]
    highs = [_scaled(float(value), exponent, below=False) for value in np.sort(high)[::-1]]
    return lows, highs


def _alone(discs: Discs, block: int = 256) -> NDArray[np.bool_]:
    """Discs that touch no other (by the generous test of :meth:`Discs.component`): components of their own."""
    alone = np.empty(discs.size, dtype=bool)
    for start in range(0, discs.size, block):
        rows = slice(start, start + block)
        distance = np.abs(discs.centers[rows, None] - discs.centers) * (1 - 8 * UNIT)
        near = distance <= (discs.radii[rows, None] + discs.radii) * (1 + 8 * UNIT)
        alone[rows] = np.count_nonzero(near, axis=1) == 1  # itself
    return alone


def _scaled(value: float, exponent: int, *, below: bool) -> float:
    """``value 2^exponent`` rounded outward."""
    if value == 0.0:
        return 0.0
    grow = (value > 0) != below
    moved = scale_up(abs(value), exponent) if grow else scale_down(abs(value), exponent)
    return math.copysign(moved, value)


def norm_of(enclosure: Enclosure, divided_by: float = 1.0) -> Interval:
    """The interval of the spectral norm, in the units of the input, divided by a positive scale."""
    low, high = norm_interval(enclosure)
    low, high = scale_down(low, enclosure.exponent), scale_up(high, enclosure.exponent)
    if divided_by == 1.0:
        return low, high
    return math.nextafter(low / divided_by, 0.0), math.nextafter(high / divided_by, math.inf)


def trace_of(enclosure: Enclosure) -> Interval:
    """The interval of the trace: ``|tr E| <= d |E|`` for what the center is off by."""
    exact = math.fsum(np.diagonal(enclosure.center).tolist())
    off = up(enclosure.shape[0] * enclosure.radius, 2) + abs(exact) * 2.0**-52 + TINY
    return signed_in_units((exact - off, exact + off), enclosure.exponent)


def signed_in_units(ends: Interval, exponent: int) -> Interval:
    """An interval of numbers of any sign, times ``2^exponent``, rounded outwards (its ends twice)."""
    low, high = down(ends[0], 2), up(ends[1], 2)
    return (
        scale_down(low, exponent) if low >= 0 else -scale_up(-low, exponent),
        scale_up(high, exponent) if high >= 0 else -scale_down(-high, exponent),
    )


def without_factors(enclosure: Enclosure) -> Enclosure:
    """The enclosure with the hashes of its inputs but without the factors themselves: no exact rung, less memory."""
    inputs = enclosure.inputs
    return replace(enclosure, _exact=None, _inputs=lambda: inputs, square_factors=None)


def principal_basis(enclosure: Enclosure) -> Array | None:
    """Rows that span the leading eigenspace by real part, orthonormal: one real eigenvector, or a pair's plane (floats).

    From the approximate eigenvectors that the discs were made with: for measurements, not for verdicts.
    """
    found = spectral_discs(enclosure)
    if found is None or found[0].vectors is None:
        return None
    centers, vectors = found[0].centers, found[0].vectors
    first = int(np.argmax(centers.real))
    pair = [first] if centers[first].imag == 0 else [first, first + 1 if centers[first].imag > 0 else first - 1]
    return np.ascontiguousarray(np.linalg.qr(vectors[:, sorted(pair)])[0].T)


def distance_interval(verdict: Verdict) -> Interval:
    """The distance that a verdict about an equality (``symmetric``, ``identity``) knows."""
    low, high = verdict.details["distance"]
    return 0.0 if low is None else low, math.inf if high is None else high


def as_json(interval: Interval | None) -> IntervalDocument:
    """Infinite ends as text: JSON has no infinity."""
    if interval is None:
        return None
    return [value if math.isfinite(value) else ("inf" if value > 0 else "-inf") for value in interval]


def in_units(enclosure: Enclosure, interval: Interval) -> Interval:
    """An interval of non-negative numbers in the units of the scaled center, in those of the input."""
    return scale_down(interval[0], enclosure.exponent), scale_up(interval[1], enclosure.exponent)


def scaled_interval(interval: Interval, scale: float) -> Interval:
    """``interval / scale`` for a positive scale, rounded outward; zero stays zero."""
    if scale == 1.0:
        return interval
    low, high = (value / scale for value in interval)
    return (
        math.nextafter(low, -math.inf) if interval[0] else 0.0,
        math.nextafter(high, math.inf) if interval[1] else 0.0,
    )


def symmetric_extremes(enclosure: Enclosure) -> tuple[Interval, Interval] | None:
    """Intervals of the smallest and the largest eigenvalue of sym(M), in the units of the input."""
    found = enclosure.symmetric_spectrum
    if found is None:
        return None
    w, e, _ = found
    low, high = (
        (
            _scaled(math.nextafter(float(value) - e, -math.inf), enclosure.exponent, below=True),
            _scaled(math.nextafter(float(value) + e, math.inf), enclosure.exponent, below=False),
        )
        for value in (w[0], w[-1])
    )
    return low, high


def divided_interval(above: Interval, below: Interval) -> Interval | None:
    """The quotient of two non-negative intervals, or ``None`` where the divisor may be zero."""
    if not below[0] > 0:
        return None
    return math.nextafter(above[0] / below[1], 0.0), math.nextafter(above[1] / below[0], math.inf)


def ball(low: float, high: float) -> arb:
    """The ball that covers an interval with finite ends."""
    return arb(low).union(arb(high))


def alpha_star(enclosure: Enclosure) -> Interval | None:
    """The step below which consensus on the leading eigenvector is stable, as an interval (PM-N1).

    ``alpha* = min over |lambda_l| > lambda_1 of 2 (lambda_1 - Re lambda_l) / (|lambda_l|^2 - lambda_1^2)``, infinite if
    no eigenvalue is larger in modulus.  Needs a real, simple, positive leader by real part; otherwise ``None``.
    """
    found = spectral_discs(enclosure)
    if found is None:
        return None
    discs, exponent = found
    first = int(np.argmax(discs.centers.real))
    top = float(discs.centers.real[first])
    others = np.arange(discs.size) != first
    ahead = bool((discs.centers.real + discs.radii)[others].max(initial=-np.inf) < top - 2 * float(discs.radii[first]))
    if not discs.on_axis[first] or not ahead or top <= float(discs.radii[first]):
        return None
    leader = arb(top, float(discs.radii[first]))
    low, high = math.inf, math.inf
    for center, radius in zip(discs.centers[others], discs.radii[others], strict=True):
        if abs(center) + radius < top - float(discs.radii[first]) - 1e-12 * top:
            continue
        value = acb(arb(float(center.real), float(radius)), arb(float(center.imag), float(radius)))
        excess = value.real * value.real + value.imag * value.imag - leader * leader
        ahead_by = 2 * (leader - value.real)
        if excess > 0:
            quotient = ahead_by / excess
            low, high = min(low, float(quotient.lower())), min(high, float(quotient.upper()))
        elif not excess < 0:  # its modulus may or may not exceed lambda_1: then alpha* may be large, or larger
            bound = ahead_by / excess.upper()
            low = min(low, float(bound.lower()))
    unit = Fraction(2) ** -exponent  # alpha has the inverse unit of an eigenvalue
    return _outward(low, unit, below=True), _outward(high, unit, below=False)


def _outward(value: float, unit: Fraction, *, below: bool) -> float:
    if math.isinf(value):
        return value
    moved = float(Fraction(value) * unit)
    return moved * (1 - 2.0**-50) if below else moved * (1 + 2.0**-50)  # three roundings to nearest, with room
