"""Rotary positions, certified: ``P(delta) = Q^T R_delta K / scale`` and ``Delta W(delta) = Q^T (R_delta - I) K / scale``.

R_delta turns the k-th coordinate pair by the angle ``delta w_k`` (Su et al., RoFormer, 2021; PH-T7).  Its entries are
enclosed by ball arithmetic (Arb), for **every** frequency within a relative 2^-50 of the listed one, so that the result
is true of the mathematical ``theta^(-2k/dims)`` and of its float.  A 2 x 2 block whose cosine and sine are off by (a, b) is
off by ``sqrt(a^2 + b^2)`` in the spectral norm, and R is block diagonal; the product with K rounds by gamma_2 a row.
R_delta is orthogonal, so the rank of P(delta) is that of P.  With ``Q^T = W_Q T_Q`` and ``K^T = W_K T_K`` (orthonormal
columns, triangular T; :func:`eigentoken.numerics.layers.low_rank.triangular`) the norm of ``Q^T X K`` is that of
``T_Q X T_K^T`` (d_h x d_h) for every X: two decompositions a head, whatever the number of offsets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from eigentoken.documents.check_document import Rotary as RotaryDocument
from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.certified.rounding import TINY, Array, frobenius_above, gamma, up
from eigentoken.numerics.layers.low_rank import triangular
from eigentoken.numerics.layers.quantities import Interval, as_json, divided_interval, norm_of, scaled_interval
from eigentoken.numerics.layers.weights import HeadWeights

__all__ = ["RotaryChange", "RotaryPairs", "rotary_change", "turned_keys"]

OFFSETS = (1, 8, 64)


@dataclass(frozen=True, eq=False)
class RotaryPairs:
    """The turned coordinate pairs (first[k], second[k]) of a head and the angle of each for one position."""

    first: Sequence[int]
    second: Sequence[int]
    frequencies: Sequence[float]

    @cached_property
    def _turns(self) -> dict[tuple[int, bool], tuple[Array, Array, float]]:
        return {}

    def turn(self, delta: int, *, minus_identity: bool) -> tuple[Array, Array, float]:
        """``(c, s, radius)``: cosines (minus 1) and sines of the pairs, off by at most radius in the 2-norm of a block."""
        if (delta, minus_identity) not in self._turns:  # the same for all heads
            self._turns[delta, minus_identity] = self._turned(delta, minus_identity)
        return self._turns[delta, minus_identity]

    def _turned(self, delta: int, minus_identity: bool) -> tuple[Array, Array, float]:
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

    def as_dict(self) -> RotaryDocument:
        return {
            "offset": self.delta,
            "norm": as_json(self.norm),
            "change": as_json(self.change),
            "relative_change": as_json(self.relative),
        }


def turned_keys(keys: Enclosure, pairs: RotaryPairs, delta: int, *, minus_identity: bool = False) -> Enclosure:
    """``R_delta K`` or ``(R_delta - I) K`` for keys K (d_h rows), as an enclosure with its radius."""
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
    queries, keys = triangular(head.named("Q").transpose), triangular(head.named("K").transpose).transpose
    plain = _norm(head, queries, keys)
    found = []
    for delta in offsets:
        whole = _norm(head, queries, turned_keys(keys, pairs, delta))
        change = _norm(head, queries, turned_keys(keys, pairs, delta, minus_identity=True))
        found.append(RotaryChange(delta, whole, change, divided_interval(change, plain)))
    return found


def _norm(head: HeadWeights, queries: Enclosure, keys: Enclosure) -> Interval:
    low, high = scaled_interval(norm_of(product(queries, keys)), head.scale)
    return max(low, 0.0), high
