"""What a layer's heads do to given tokens, with error bounds: ``o_i = [V_1 xbar_i^1; ...; V_H xbar_i^H]`` as balls.

Tokens and weights are exact floats.  Every array is a center and a radius, entry by entry; a product of float arrays of
inner length k is off by at most ``gamma_k |A||B|`` (:mod:`eigentoken.numerics.certified.rounding`), and the radii go through
``|A| r_B + r_A |B| + r_A r_B``.  Exponentials come from a table of Arb's values; a frequency or a score scale stands for
every number within a relative 2^-50 of it, so that the bounds are true of ``theta^(-2k/dims)`` and ``sqrt(d_h)`` and of
their floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx

from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, gamma, inflate
from eigentoken.numerics.layers.rotary_scores import RotaryPairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Balls", "exact", "linear", "mixed_values", "scores_and_weights", "times"]

#: A relative error that covers the float of a square root or a power.
CONSTANT = 2.0**-50


@dataclass(frozen=True, eq=False)
class Balls:
    """Real numbers, entry by entry within ``radius`` of ``center`` (an infinite or NaN radius claims nothing)."""

    center: Array
    radius: Array

    def plus(self, other: Balls) -> Balls:
        """The sum."""
        center = self.center + other.center
        return Balls(center, inflate(self.radius + other.radius + UNIT * np.abs(center) + TINY, 4))

    def minus(self, other: Balls) -> Balls:
        """The difference."""
        return self.plus(Balls(-other.center, other.radius))

    def lengths(self) -> tuple[Array, Array]:
        """Lower and upper bounds on the Euclidean lengths along the last axis."""
        k = self.center.shape[-1]
        lost = k * 2.0**-500  # the square root of what squares lose below TINY
        length = np.linalg.norm(self.center, axis=-1)
        spread = inflate(np.linalg.norm(self.radius, axis=-1), 2 * k + 4) + lost
        low = length * (1 - (4 * k + 16) * UNIT) - spread - lost
        return np.maximum(low, 0.0) * (1 - 4 * UNIT), inflate(inflate(length, 2 * k + 4) + spread + lost, 3)


def exact(values: Any) -> Balls:
    """Floats as the numbers that they are."""
    center = np.asarray(values, dtype=np.float64)
    return Balls(center, np.zeros_like(center))


def linear(x: Balls, W: Any, bias: Any = None) -> Balls:
    """``W x + b`` for rows x (..., k) and exact W (m, k), b (m)."""
    weight = np.asarray(W, dtype=np.float64)
    found = times(x, Balls(np.swapaxes(weight, -1, -2), np.zeros(weight.shape[::-1])))
    return found if bias is None else found.plus(exact(bias))


def times(a: Balls, b: Balls) -> Balls:
    """The product of two matrices (or stacks of them)."""
    k = a.center.shape[-1]
    size_a, size_b = np.abs(a.center), np.abs(b.center)
    radius = gamma(k) * inflate(size_a @ size_b, k + 1) + k * TINY
    if a.radius.any():  # most factors are exact
        radius = radius + inflate(a.radius @ (size_b + b.radius), k + 4)
    if b.radius.any():
        radius = radius + inflate(size_a @ b.radius, k + 4)
    return Balls(a.center @ b.center, inflate(radius, 6))


def mixed_values(
    heads: Sequence[Mapping[str, ArrayLike | None]],
    seen: ArrayLike,
    allowed: ArrayLike,
    pairs: RotaryPairs | None = None,
) -> Balls:
    """o (..., n, H d_h) for rows ``seen`` (..., n, d): keys ``Q, K, V, scale`` of a head, and ``q_bias, k_bias, v_bias``.

    ``allowed`` (n, n): which keys a query may see; ``pairs``: rotary positions 0, 1, ..., n - 1.
    """
    x = exact(seen)
    with np.errstate(all="ignore"):
        found = [_mixed(head, x, np.asarray(allowed, dtype=bool), pairs) for head in heads]
    return Balls(*(np.concatenate([getattr(each, part) for each in found], -1) for part in ("center", "radius")))


def scores_and_weights(
    head: Mapping[str, Any], x: Balls, allowed: Any, pairs: RotaryPairs | None
) -> tuple[Balls, Balls]:
    """The scores ``(Q x_i + b_Q)^T (K x_j + b_K) / scale`` of all pairs, and the rows of weights."""
    q, k = (linear(x, head[name], head.get(f"{name.lower()}_bias")) for name in "QK")
    if pairs is not None:
        q, k = _turned(q, pairs), _turned(k, pairs)
    scores = times(q, Balls(np.swapaxes(k.center, -1, -2), np.swapaxes(k.radius, -1, -2)))
    divided = _divided(scores, float(head["scale"]))
    return divided, _softmax(divided, allowed)


def _mixed(head: Mapping[str, Any], x: Balls, allowed: Any, pairs: RotaryPairs | None) -> Balls:
    _, weights = scores_and_weights(head, x, allowed, pairs)
    return times(weights, linear(x, head["V"], head.get("v_bias")))


def _divided(scores: Balls, scale: float) -> Balls:
    center = scores.center / scale
    return Balls(center, inflate(scores.radius / scale + 2 * CONSTANT * (np.abs(center) + scores.radius / scale), 6))


def _turned(rows: Balls, pairs: RotaryPairs) -> Balls:
    """``R_p x_p`` for the row at position p."""
    first, second = np.asarray(pairs.first, dtype=np.intp), np.asarray(pairs.second, dtype=np.intp)
    center, radius = rows.center.copy(), rows.radius.copy()
    for position in range(center.shape[-2]):
        cosines, sines, off = pairs.turn(position, minus_identity=False)
        a, b = rows.center[..., position, first], rows.center[..., position, second]
        size, spread = np.abs(a) + np.abs(b), rows.radius[..., position, first] + rows.radius[..., position, second]
        center[..., position, first] = cosines * a - sines * b
        center[..., position, second] = sines * a + cosines * b
        wide = inflate((off + gamma(4)) * size + (1 + off) * spread + 4 * TINY, 8)
        radius[..., position, first] = radius[..., position, second] = wide
    return Balls(center, radius)


def _softmax(scores: Balls, allowed: Any) -> Balls:
    """Rows of weights: ``exp(s_ij - m_i) / sum_k exp(s_ik - m_i)`` for any m_i; zero where it is not allowed."""
    hidden = np.where(allowed, scores.center, -np.inf)
    shifted = hidden - hidden.max(axis=-1, keepdims=True)
    off = inflate(scores.radius + 2 * UNIT * np.where(allowed, np.abs(shifted), 0.0), 3)
    slip = np.where(off <= 1.0, inflate(2 * off + 4 * CONSTANT, 3), np.inf)  # e^t - 1 <= 2 t for 0 <= t <= 1
    sizes = np.where(allowed, _exponentials(shifted), 0.0)
    low = np.where(allowed, np.maximum(sizes * (1 - slip) * (1 - 8 * UNIT) - TINY, 0.0), 0.0)
    high = np.where(allowed, inflate(sizes * (1 + slip) + TINY, 3), 0.0)
    n = sizes.shape[-1]
    least = low.sum(axis=-1, keepdims=True) * (1 - (2 * n + 8) * UNIT)
    most = inflate(high.sum(axis=-1, keepdims=True), n + 1)
    below, above = low / most * (1 - 8 * UNIT), np.minimum(inflate(high / least, 3), 1.0)
    center = 0.5 * (below + above)
    return Balls(center, np.where(allowed, inflate((above - below) / 2 + 4 * UNIT * above, 4), 0.0))


#: Entries of the table of exponentials in a unit: ``e^t = e^(j/64) e^r`` with ``|r| <= 1/128``.
PER_UNIT = 64
#: Below it every exponential is Arb's: the table stays far from subnormal numbers.
TABLED = -600.0
#: Below it an exponential is less than TINY.
VANISHED = -800.0


def _exponentials(values: Array) -> Array:
    """``e^t`` for ``t <= 0`` within a relative 2^-50 plus TINY (NaN where that accuracy was not reached).

    ``j = 64 t`` rounded, and ``r = t - j/64`` is exact (Sterbenz, or j = 0).  ``e^(j/64)`` is Arb's, within u;
    ``q = e^r - 1`` by Taylor's formula to r^8, off by less than 2^-73 in the remainder and by 16 u |q| in rounding, |q| < 1/100;
    ``T (1 + q)`` adds two roundings: less than 4 u in all, where 8 u are allowed.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    found = np.zeros(flat.shape)
    near = (flat >= TABLED) & (flat <= 0.0)
    steps = np.rint(flat[near] * PER_UNIT)
    r = flat[near] - steps / PER_UNIT
    q = np.full(r.shape, 1 / 40320)
    for factorial in (5040, 720, 120, 24, 6, 2, 1):
        q = 1 / factorial + r * q
    places, where = np.unique(steps, return_inverse=True)
    table = np.array([_exponential(float(place) / PER_UNIT) for place in places])
    found[near] = table[where] * (1.0 + r * q) if places.size else 0.0
    far = ~near & ~(flat < VANISHED)
    found[far] = [_exponential(float(value)) for value in flat[far]]
    return found.reshape(np.shape(values))


@lru_cache(maxsize=65536)
def _exponential(value: float) -> float:
    """``e^t`` from Arb, rounded once (NaN where that accuracy was not reached)."""
    old, ctx.prec = ctx.prec, 128
    try:
        found = arb(value).exp()
        return float(found.mid()) if found.rel_accuracy_bits() >= 60 else float("nan")
    finally:
        ctx.prec = old
