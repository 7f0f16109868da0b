"""Where discs lie: on which side of a score, off the real axis, apart from each other; for floats and for balls.

A score is the real part, the modulus, or ``|1 + alpha lambda|``; it is Lipschitz with constant 1, 1, ``|alpha|``.
Comparisons are decided with bounds on every rounding: an entry is true only where the whole disc is on that side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.recheck.matrices.balls import BallDiscs
from eigentoken.numerics.recheck.matrices.bases import FloatDiscs
from eigentoken.numerics.recheck.matrices.floats import nearest_float, scaled_above

__all__ = ["BallPlaces", "FloatPlaces", "Places", "Score", "arb_of"]

Mask = NDArray[np.bool_]
SLIP = 2.0**-49  # relative: 16 u, above the few roundings of one comparison


def arb_of(value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _dyadic(value: Any) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@dataclass(frozen=True)
class Score:
    """``by``: real-part, modulus, or step with its alpha."""

    by: str
    alpha: Fraction | None = None


class Places(ABC):
    """Discs that hold the spectrum of every matrix of a set; a component of k discs holds k eigenvalues."""

    @abstractmethod
    def sides(self, score: Score, beta: Fraction) -> tuple[Mask, Mask]:
        """(wholly beyond beta, wholly inside beta)."""

    @abstractmethod
    def off_axis(self) -> Mask:
        """Discs that do not touch the real axis."""

    @abstractmethod
    def real_parts(self) -> tuple[list[Fraction], list[Fraction]]:
        """For each disc a number not above, and one not below, all its real parts."""

    @abstractmethod
    def near(self, index: int) -> Mask:
        """Discs that are not shown to be disjoint from this one."""

    def component(self, index: int) -> Mask:
        """The discs that may be connected with this one."""
        found = np.zeros_like(self.near(index))
        frontier = [index]
        found[index] = True
        while frontier:
            fresh = self.near(frontier.pop()) & ~found
            found |= fresh
            frontier.extend(np.flatnonzero(fresh).tolist())
        return found


@dataclass(frozen=True)
class BallPlaces(Places):
    """Discs in balls."""

    discs: BallDiscs

    def sides(self, score: Score, beta: Fraction) -> tuple[Mask, Mask]:
        old, flint.ctx.prec = flint.ctx.prec, self.discs.precision
        try:
            bound = arb_of(beta)
            step = None if score.alpha is None else arb_of(score.alpha)
            beyond, inside = [], []
            for center, radius in zip(self.discs.centers, self.discs.radii, strict=True):
                if score.by == "real-part":
                    middle, spread = center.real, radius
                elif step is None:
                    middle, spread = abs(center), radius
                else:
                    middle, spread = abs(1 + step * center), abs(step) * radius
                beyond.append(bool(middle - spread > bound))
                inside.append(bool(middle + spread < bound))
            return np.array(beyond), np.array(inside)
        finally:
            flint.ctx.prec = old

    def off_axis(self) -> Mask:
        return np.array([abs(c.imag) > r for c, r in zip(self.discs.centers, self.discs.radii, strict=True)])

    def real_parts(self) -> tuple[list[Fraction], list[Fraction]]:
        old, flint.ctx.prec = flint.ctx.prec, self.discs.precision
        try:
            pairs = list(zip(self.discs.centers, self.discs.radii, strict=True))
            low = [_dyadic((center.real - radius).lower()) for center, radius in pairs]
            return low, [_dyadic((center.real + radius).upper()) for center, radius in pairs]
        finally:
            flint.ctx.prec = old

    def near(self, index: int) -> Mask:
        c, r = self.discs.centers, self.discs.radii
        old, flint.ctx.prec = flint.ctx.prec, self.discs.precision
        try:
            return np.array([not abs(c[index] - c[j]) > r[index] + r[j] for j in range(len(c))])
        finally:
            flint.ctx.prec = old


@dataclass(frozen=True)
class FloatPlaces(Places):
    """Discs in floats, in units of ``2^exponent``."""

    discs: FloatDiscs
    exponent: int

    def sides(self, score: Score, beta: Fraction) -> tuple[Mask, Mask]:
        re, im, radii = self.discs.re, self.discs.im, self.discs.radii
        size = np.hypot(re, im)
        with np.errstate(all="ignore"):
            if score.by == "real-part":
                middle, spread = re, radii
            elif score.alpha is None:
                middle, spread = size, radii + SLIP * size
            else:
                alpha = score.alpha * Fraction(2) ** self.exponent
                step = nearest_float(alpha)
                middle = np.hypot(1.0 + step * re, step * im)
                spread = abs(step) * radii * (1 + SLIP) + SLIP * (1.0 + abs(step) * size)
            high = scaled_above(beta, 0 if score.by == "step" else self.exponent)
            low = -scaled_above(-beta, 0 if score.by == "step" else self.exponent)
            spread = spread * (1 + SLIP) + SLIP * np.abs(middle) + 2.0**-1000
            return np.asarray(middle - spread > high), np.asarray(middle + spread < low)

    def off_axis(self) -> Mask:
        return np.asarray(np.abs(self.discs.im) > self.discs.radii)

    def real_parts(self) -> tuple[list[Fraction], list[Fraction]]:
        unit = Fraction(2) ** self.exponent
        exact = [
            (Fraction(c), Fraction(r)) for c, r in zip(self.discs.re.tolist(), self.discs.radii.tolist(), strict=True)
        ]
        return [(c - r) * unit for c, r in exact], [(c + r) * unit for c, r in exact]

    def near(self, index: int) -> Mask:
        z, r = self.discs.re + 1j * self.discs.im, self.discs.radii
        return np.asarray(~(np.abs(z - z[index]) * (1 - SLIP) > (r + r[index]) * (1 + SLIP)))
