"""Numbers of the matrices of a layer, enclosed by the second arithmetic, and intervals that a document states of them.

A matrix is a product of stored factors, known in floats within a Frobenius distance rho.  *Norm*: from below by one vector,
``|M x| / |x|``; from above by ``t^2 I - M^T M > 0`` (:func:`.floats.definite_above`).  *Largest real part, gap, leader*: from
discs that hold the spectrum, k of a component holding k eigenvalues (:func:`.leaders.places`).

A stated interval is confirmed if it contains the enclosure found here, giving way by :data:`ROUND` of the size of the matrix,
and is no wider than :data:`WIDER` times that enclosure and :data:`LOOSE` of the size; if the two are disjoint it is false.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import acb, arb
from numpy.typing import ArrayLike, NDArray

from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED, Exact, exact_input, form_terms
from eigentoken.numerics.recheck.matrices.floats import U, definite_above, scaled
from eigentoken.numerics.recheck.matrices.leaders import places
from eigentoken.numerics.recheck.matrices.locating import BallPlaces, FloatPlaces

__all__ = [
    "Ends",
    "Near",
    "SpectrumDiscs",
    "exact_sum",
    "factors_of",
    "interval_differs",
    "near_sum",
    "norm_ends",
    "quotient",
    "spectra",
]

Floats = NDArray[np.float64]
Ends = tuple[float, float]
Factors = Sequence[tuple[Any, Any]]

ROUND, LOOSE, WIDER = 1e-9, 1e-5, 64
SLIP = 2.0**-49


def outward(low: float, high: float) -> Ends:
    """A little wider: pays for the few roundings of an end."""
    return low - SLIP * abs(low) - 2.0**-1060, high + SLIP * abs(high) + 2.0**-1060


def quotient(above: Ends | None, below: Ends | None) -> Ends | None:
    """Of two enclosures of numbers that are not negative; None where the divisor may be zero."""
    if above is None or below is None or not below[0] > 0:
        return None
    low, high = outward(above[0] / below[1], above[1] / below[0])
    return max(0.0, low), high


@dataclass(frozen=True, eq=False)
class Near:
    """A matrix within the Frobenius distance ``rho`` of ``values``."""

    values: Floats
    rho: float

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.values)) * (1 + 2.0**-30) + self.rho

    @property
    def skew(self) -> Near:
        """``(M - M^T) / 2``."""
        return Near(0.5 * (self.values - self.values.T), self.rho + 2 * U * self.size)

    def divided(self, scale: float) -> Near:
        return Near(self.values / scale, self.rho / scale * (1 + 4 * U) + 2 * U * self.size / scale)

    def minus(self, other: Near) -> Near:
        return Near(self.values - other.values, self.rho + other.rho + 2 * U * (self.size + other.size))


def near_sum(factors: Factors) -> Near:
    """``sum_k A_k B_k`` of matrices that are given exactly, by one product of floats: k roundings on each path of a sum."""
    left = np.concatenate([np.asarray(a, dtype=np.float64) for a, _ in factors], axis=1)
    right = np.concatenate([np.asarray(b, dtype=np.float64) for _, b in factors], axis=0)
    sizes = float(np.linalg.norm(left)) * float(np.linalg.norm(right))
    return Near(left @ right, (left.shape[1] + 4) * U * sizes * (1 + 2.0**-30) + 2.0**-1000)


def exact_sum(factors: Factors) -> Exact:
    """The same, exactly where that is asked for."""
    inputs = {
        f"{side}{k}": exact_input(np.asarray(m))
        for k, pair in enumerate(factors)
        for side, m in zip("ab", pair, strict=True)
    }
    found = form_terms([[[f"a{k}", False], [f"b{k}", False]] for k in range(len(factors))], inputs)
    near = near_sum(factors)
    return Exact(found.build, None, "", found.shape, (near.values, near.rho))


def norm_ends(matrix: Near) -> Ends | None:
    """An enclosure of the spectral norm; None where it was not bounded from above."""
    values, e, lost = scaled(matrix.values)
    rho = math.ldexp(matrix.rho, -e) * (1 + 2.0**-40) + lost
    size = float(np.linalg.norm(values)) * (1 + 2.0**-30)
    if size == 0.0:
        return 0.0, matrix.rho
    tall = values if values.shape[0] >= values.shape[1] else values.T
    direction = np.linalg.svd(tall)[2][0]
    length = float(np.linalg.norm(direction))
    least = (float(np.linalg.norm(tall @ direction)) - (tall.shape[1] + 8) * U * size * length) / length - rho
    gram = tall.T @ tall
    gram = 0.5 * (gram + gram.T)
    n = len(gram)
    error = (tall.shape[0] + 8) * U * size * size * (1 + 2.0**-30)
    for share in (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8):
        top = max(least, 0.0) * (1 + share) + 2 * rho
        target = -gram
        target.flat[:: n + 1] += top * top
        if definite_above(target, 0.0, error + 4 * U * top * top * math.sqrt(n)):
            low, high = outward(math.ldexp(max(0.0, least), e), math.ldexp(top + rho, e))
            return max(0.0, low), high
    return None


@dataclass(frozen=True, eq=False)
class SpectrumDiscs:
    """Discs that hold the spectrum, in floats rounded outward; a component of k discs holds k eigenvalues."""

    re: Floats
    im: Floats
    radii: Floats

    def with_zeros(self, count: int) -> SpectrumDiscs:
        """Together with ``count`` further eigenvalues that are exactly zero."""
        none = np.zeros(count)
        return SpectrumDiscs(*(np.concatenate([each, none]) for each in (self.re, self.im, self.radii)))

    def score(self, by: str) -> tuple[Floats, Floats]:
        """Lower and upper ends of the real part, the modulus or ``|1 + lambda|`` on each disc."""
        added = 1.0 if by == "step" else 0.0
        middle = self.re if by == "real-part" else np.hypot(self.re + added, self.im)
        spread = self.radii + SLIP * (added + np.abs(middle))
        return middle - spread, middle + spread

    def component(self, index: int) -> NDArray[np.bool_]:
        """The discs that may be connected with this one."""
        z, found, waiting = self.re + 1j * self.im, np.zeros(len(self.re), dtype=bool), [index]
        found[index] = True
        while waiting:
            k = waiting.pop()
            fresh = ~(np.abs(z - z[k]) * (1 - SLIP) > (self.radii + self.radii[k]) * (1 + SLIP)) & ~found
            found |= fresh
            waiting += np.flatnonzero(fresh).tolist()
        return found

    def may_lead(self, by: str) -> list[int]:
        """Discs that no other disc is certainly ahead of."""
        low, high = self.score(by)
        return [int(k) for k in np.flatnonzero(high >= low.max())]

    def largest_real_part(self) -> Ends:
        low, high = self.score("real-part")
        lead = int(np.argmax(low))
        return outward(float(low[self.component(lead)].min()), float(high.max()))

    def leader(self, by: str) -> str | None:
        """``1``: one real simple eigenvalue; ``2``: one pair that is not real; None where the discs do not tell.

        Alone in its disc and alone in the lead an eigenvalue is its own conjugate, which has the same score.  Two discs off the
        axis, each alone, hold an eigenvalue and its conjugate.
        """
        leading = self.may_lead(by)
        alone = all(int(self.component(k).sum()) == 1 for k in leading)
        if len(leading) == 1 and alone:
            return "1"
        off_axis = all(abs(self.im[k]) * (1 - SLIP) > self.radii[k] for k in leading)
        return "2" if len(leading) == 2 and alone and off_axis else None

    def zero_leads(self) -> bool:
        """Do two or more eigenvalues that are exactly zero (:meth:`with_zeros`) lead by real part?"""
        _, high = self.score("real-part")
        zeros = (self.re == 0) & (self.im == 0) & (self.radii == 0)
        return int(zeros.sum()) > 1 and bool((high[~zeros] < 0).all())

    def gap(self) -> Ends | None:
        """How far the largest real part is ahead of the next: zero for a leader that is not real."""
        leading = self.may_lead("real-part")
        low, high = self.score("real-part")
        if all(abs(self.im[k]) * (1 - SLIP) > self.radii[k] for k in leading):
            return 0.0, 0.0
        if self.leader("real-part") != "1" or len(low) < 2:
            return None
        (lead,) = leading
        others = np.delete(np.arange(len(low)), lead)
        runner = int(others[np.argmax(low[others])])
        behind = float(low[self.component(runner)].min())
        least, most = outward(float(low[lead] - high[others].max()), float(high[lead]) - behind)
        return max(0.0, least), most

    def alpha_star(self) -> Ends | None:
        """``min 2 (l - Re z) / (|z|^2 - l^2)`` over eigenvalues z with ``|z| > l``, l the real simple positive leader."""
        if self.leader("real-part") != "1":
            return None
        (lead,) = self.may_lead("real-part")
        if not self.re[lead] > self.radii[lead]:
            return None
        top = arb(float(self.re[lead]), float(self.radii[lead]))
        least = most = math.inf
        for k in range(len(self.re)):
            if k == lead:
                continue
            x, y = (arb(float(part[k]), float(self.radii[k])) for part in (self.re, self.im))
            excess, ahead = x * x + y * y - top * top, 2 * (top - x)
            if excess > 0:
                value = ahead / excess
                least, most = min(least, float(value.lower())), min(most, float(value.upper()))
            elif not excess < 0:
                least = min(least, float((ahead / excess.upper()).lower()))
        return outward(least, most) if math.isfinite(most) else (least, math.inf)


def spectra(matrix: Exact, until: float, reach: Fraction = Fraction(0)) -> Iterator[SpectrumDiscs]:
    """Discs of the spectrum of every matrix within ``reach``, coarse ones first."""
    for _, found in places(matrix, reach, until, coarse=True):
        if isinstance(found, FloatPlaces):
            e, discs = found.exponent, found.discs
            re, im, radii = (np.ldexp(each, e) for each in (discs.re, discs.im, discs.radii))
            yield SpectrumDiscs(re, im, radii * (1 + SLIP) + 2.0**-1000)
        elif isinstance(found, BallPlaces):
            yield _rounded(found.discs.centers, found.discs.radii)


def _rounded(centers: Sequence[acb], radii: Sequence[arb]) -> SpectrumDiscs:
    re = np.array([float(c.real.mid()) for c in centers])
    im = np.array([float(c.imag.mid()) for c in centers])
    wide = np.array([float(flint.arb(r).upper()) for r in radii])
    return SpectrumDiscs(re, im, wide * (1 + SLIP) + SLIP * np.hypot(re, im) + 2.0**-1000)


def interval_differs(stated: Any, found: Ends | None, size: float) -> str | None:
    """None where the stated interval is confirmed, ``undecided: ...`` where it is open, else what is wrong with it.

    ``stated`` None states nothing; ``"inf"`` is an open end.
    """
    if stated is None:
        return None
    low, high = (float(end) for end in stated)
    if not low <= high:
        return "the ends of the interval are the wrong way round"
    if found is None:
        return f"{UNCONFIRMED}the number was not found again"
    if high < found[0] or low > found[1]:
        return f"[{low:.17g}, {high:.17g}] is stated, the weights give [{found[0]:.17g}, {found[1]:.17g}]"
    give = ROUND * size
    if low > found[0] + give or high < found[1] - give:
        return f"{UNCONFIRMED}the interval is narrower than what is found here, [{found[0]:.17g}, {found[1]:.17g}]"
    wide = 0.0 if math.isinf(high) and math.isinf(found[1]) else high - low
    if wide > WIDER * (found[1] - found[0] if math.isfinite(found[1]) else 0.0) + LOOSE * size:
        return f"{UNCONFIRMED}the interval is wider than what is found here, [{found[0]:.17g}, {found[1]:.17g}]"
    return None


def factors_of(heads: Sequence[Mapping[str, ArrayLike]], role: str) -> Factors:
    """``O V`` of each head (``values``), or ``Q^T K`` (``scores``: the score matrix times the scale)."""
    if role == "values":
        return [(each["O"], each["V"]) for each in heads]
    return [(np.asarray(each["Q"]).T, each["K"]) for each in heads]
