"""Rotary positions, certified: ``P(delta) = Q^T R_delta K / scale`` and ``Delta W(delta) = Q^T (R_delta - I) K / scale``.

R_delta turns the k-th coordinate pair by the angle ``delta w_k`` (Su et al., RoFormer, 2021; PH-T7).  Its entries are
enclosed by ball arithmetic (Arb), for **every** frequency within a relative 2^-50 of the listed one, so that the result
is true of the mathematical ``theta^(-2k/dims)`` and of its float.  A 2 x 2 block whose cosine and sine are off by (a, b) is
off by ``sqrt(a^2 + b^2)`` in the spectral norm, and R is block diagonal; the product with K rounds by gamma_2 a row.
R_delta is orthogonal, so the rows of ``[Q; R_delta K]`` span what ``Q`` and the turned keys span, and the rank of P(delta)
is that of P; norms are found through the factors (:mod:`eigentoken.numerics.layers.low_rank`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from eigentoken.numerics.enclosures import Enclosure
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.quantities import Interval, as_json, divided_interval, scaled_interval
from eigentoken.numerics.layers.weights import HeadWeights
from eigentoken.numerics.rounding import TINY, Array, frobenius_above, gamma, up

__all__ = ["RotaryChange", "RotaryPairs", "rotary_change", "turned_keys"]

OFFSETS = (1, 8, 64)


@dataclass(frozen=True, eq=False)
class RotaryPairs:
    """The turned coordinate pairs (first[k], second[k]) of a head and the angle of each for one position."""

    first: Sequence[int]
    second: Sequence[int]
    frequencies: Sequence[float]

    def turn(self, delta: int, *, minus_identity: bool) -> tuple[Array, Array, float]:
        """``(c, s, radius)``: cosines (minus 1) and sines of the pairs, off by at most radius in the 2-norm of a block."""
        cosines, sines = np.empty(len(self.frequencies)), np.empty(len(self.frequencies))
        worst = 0.0
        for index, frequency in enumerate(self.frequencies):
            angle = arb(delta) * arb(float(frequency)) * arb(1, 2.0**-50)
            exact = (angle.cos() - 1 if minus_identity else angle.cos()), angle.sin()
            cosines[index], sines[index] = (float(value.mid()) for value in exact)
            off = [abs(value - arb(float(value.mid()))).upper() for value in exact]
            worst = max(worst, math.nextafter(float((off[0] * off[0] + off[1] * off[1]).sqrt().upper()), math.inf))
        return cosines, sines, up(worst)


@dataclass(frozen=True)
class RotaryChange:
    """Certified intervals for one offset, in the units of the scores (divided by the scale)."""

    delta: int
    norm: Interval
    change: Interval
    relative: Interval | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "offset": self.delta,
            "norm": as_json(self.norm),
            "change": as_json(self.change),
            "relative_change": as_json(self.relative),
        }


def turned_keys(keys: Enclosure, pairs: RotaryPairs, delta: int, *, minus_identity: bool = False) -> Enclosure:
    """``R_delta K`` or ``(R_delta - I) K`` for exact keys K (d_h, d), as an enclosure with its radius."""
    cosines, sines, off = pairs.turn(delta, minus_identity=minus_identity)
    first, second = np.asarray(pairs.first, dtype=np.intp), np.asarray(pairs.second, dtype=np.intp)
    center = np.zeros_like(keys.center) if minus_identity else keys.center.copy()
    a, b = keys.center[first], keys.center[second]
    center[first] = cosines[:, None] * a - sines[:, None] * b
    center[second] = sines[:, None] * a + cosines[:, None] * b
    size = frobenius_above(keys.center)
    grown = up(2.0 + off) if minus_identity else up(1.0 + off)
    rounding = up(gamma(3) * 2.0 * grown * size + 4 * center.size * TINY, 8)
    return Enclosure(center, up(off * size + rounding + keys.radius * grown, 8), 0.0, keys.exponent)


def rotary_change(head: HeadWeights, pairs: RotaryPairs, offsets: Sequence[int] = OFFSETS) -> list[RotaryChange]:
    """``|P(delta)|``, ``|Delta W(delta)|`` and ``|Delta W(delta)| / |P(0)|`` (spectral norms) for each offset."""
    queries, keys = head.named("Q").transpose, head.named("K")
    plain = _norm(head, queries, keys)
    found = []
    for delta in offsets:
        whole = _norm(head, queries, turned_keys(keys, pairs, delta))
        change = _norm(head, queries, turned_keys(keys, pairs, delta, minus_identity=True))
        found.append(RotaryChange(delta, whole, change, divided_interval(change, plain)))
    return found


def _norm(head: HeadWeights, queries: Enclosure, keys: Enclosure) -> Interval:
    low, high = scaled_interval(LowRank(queries, keys).norm, head.scale)
    return max(low, 0.0), high
