"""The bounds at given tokens in floats with error bounds of the re-check's own: quick, and a little above what balls give.

Stacks of floats with a bound on how far, in the Frobenius norm, the true matrix may be (:class:`~.row_operators.NearStack`).
Exponentials, sines and cosines are those of balls (FLINT), rounded once: ``e^s`` for s within ``off`` of its float is within a
relative ``2 off`` of that of the float (``off <= 1``), and a row of weights is a quotient of such numbers and their sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from eigentoken.numerics.recheck.documents.reading import fine_product
from eigentoken.numerics.recheck.layers.row_operators import (
    MORE,
    NearStack,
    dominating,
    exact_stack,
    row_operator_above,
    size_above,
)
from eigentoken.numerics.recheck.matrices.floats import FLOOR, U, spectral_above

__all__ = ["QuickLayer", "variation_above"]

Floats = NDArray[np.float64]
#: A relative error that covers a number of balls of 128 bits rounded to a float.
ROUNDED = 2.0**-52
Turned = tuple[Sequence[int], Sequence[int], Sequence[float]]


class QuickLayer:
    """The layer of :class:`~.token_bounds.GivenLayer` in floats; every number is at least that of the formula, or ``None``."""

    def __init__(self, heads: Sequence[Mapping[str, Any]], seen: Any, allowed: Any, turned: Turned | None) -> None:
        self.heads, self.turned = heads, turned
        self.seen, self.allowed = np.asarray(seen, dtype=np.float64), np.asarray(allowed, dtype=bool)
        self._attended: dict[int, tuple[NearStack, Floats, Floats] | None] = {}
        self._values: dict[int, NearStack] = {}
        self._sizes: dict[int, tuple[float, float] | None] = {}
        self._jacobians: dict[int, tuple[float, float] | None] = {}

    def _mapped(self, head: int, name: str, bias: str | None = None) -> NearStack:
        """``W x_j`` of every token (``+ b``)."""
        found = _fine(self.seen, np.asarray(self.heads[head][name], dtype=np.float64).T)
        shift = None if bias is None else self.heads[head].get(bias)
        if shift is None:
            return found
        return found.minus(exact_stack(-np.broadcast_to(np.asarray(shift, dtype=np.float64), found.floats.shape)))

    def _value(self, head: int) -> NearStack:
        """``V x_j`` without a bias."""
        if head not in self._values:
            self._values[head] = self._mapped(head, "V")
        return self._values[head]

    @cached_property
    def _angles(self) -> tuple[Floats, Floats]:
        """Cosines and sines of ``p theta``, each rounded once."""
        assert self.turned is not None
        frequencies = [arb(float(each)) for each in self.turned[2]]
        pairs = [[(arb(p) * each).sin_cos() for each in frequencies] for p in range(len(self.seen))]
        sines, cosines = (np.array([[float(each[k].mid()) for each in row] for row in pairs]) for k in (0, 1))
        return cosines, sines

    def _turned(self, rows: NearStack) -> NearStack:
        """The row at position p turned by ``p theta``: a rotation moves no distance."""
        if self.turned is None:
            return rows
        first, second = (np.asarray(each, dtype=np.intp) for each in self.turned[:2])
        cosines, sines = self._angles
        a, b, found = rows.floats[:, first], rows.floats[:, second], rows.floats.copy()
        found[:, first], found[:, second] = cosines * a - sines * b, sines * a + cosines * b
        off = float(rows.off) + 8 * (U + ROUNDED) * float(rows.size)
        return NearStack(found, np.asarray(off * MORE + FLOOR))

    def attention(self, head: int) -> tuple[NearStack, Floats, Floats] | None:
        """The scores, and the weights with what each entry may be off; ``None`` where the scores are not known to 1."""
        if head not in self._attended:
            self._attended[head] = self._rows(head)
        return self._attended[head]

    def _rows(self, head: int) -> tuple[NearStack, Floats, Floats] | None:
        q, k = (self._turned(self._mapped(head, name, f"{name.lower()}_bias")) for name in "QK")
        together, scale = _fine(q.floats, k.floats.T), float(self.heads[head]["scale"])
        spread = q.off * (k.size + k.off) + q.size * k.off
        if not (scale > 0 and np.isfinite(together.floats).all() and math.isfinite(float(together.off))):
            return None
        scores = NearStack(
            together.floats / scale,
            np.asarray((float(together.off + spread) + 2 * U * float(together.size)) / scale * MORE + FLOOR),
        )
        off = float(scores.off)
        if not off <= 0.5:
            return None
        hidden = np.where(self.allowed, scores.floats, -np.inf)
        gaps = hidden - hidden.max(axis=1, keepdims=True)  # each rounded once
        lost = off + U * np.where(self.allowed, np.abs(gaps), 0.0)
        sizes = np.zeros(gaps.shape)
        sizes[self.allowed] = [float(arb(float(gap)).exp().mid()) for gap in gaps[self.allowed]]
        n = len(sizes)
        slip = 2 * lost.max(axis=1, keepdims=True) * MORE + ROUNDED  # of every exponential of the row, and of their sum
        weights = sizes / sizes.sum(axis=1, keepdims=True)
        relative = 2 * slip / (1 - slip) + (n + 4) * U
        away = np.where(self.allowed, np.abs(weights) * relative * MORE + FLOOR, 0.0)
        return (scores, weights, away) if np.isfinite(away).all() and float(slip.max()) < 0.5 else None

    def mixed(self, head: int) -> NearStack | None:
        """``Pi sum_j a_ij V x_j``, the rows less their mean."""
        found = self.attention(head)
        if found is None:
            return None
        _, weights, away = found
        return centred(NearStack(weights, size_above(away)).times(self._value(head)))

    def diversity(self) -> float | None:
        """``|O| |[Pi A_h X V_h^T]_h|_F`` of BD-D2 (a)."""
        parts = [self.mixed(head) for head in range(len(self.heads))]
        known = [each for each in parts if each is not None]
        if len(known) < len(parts):
            return None
        total = math.fsum(float(each.size + each.off) ** 2 for each in known)
        whole = np.concatenate([np.asarray(each["O"], dtype=np.float64) for each in self.heads], axis=1)
        return spectral_above(whole) * math.sqrt(total) * MORE

    def diversity_from_norms(self) -> float | None:
        """``|O| |V| max_h |Pi A_h| |Pi X_*|_F`` of BD-D2b."""
        rows = [self.attention(head) for head in range(len(self.heads))]
        known = [each for each in rows if each is not None]
        if len(known) < len(rows):
            return None
        middles = [centred(NearStack(weights, size_above(away))) for _, weights, away in known]
        kept = [spectral_above(each.floats) + float(each.off) for each in middles]
        O, V = (
            np.concatenate([np.asarray(each[name], dtype=np.float64) for each in self.heads], axis=axis)
            for name, axis in (("O", 1), ("V", 0))
        )
        apart = centred(exact_stack(self.seen))
        return spectral_above(O) * spectral_above(V) * max(kept) * float(apart.size + apart.off) * MORE * MORE

    def longest(self, head: int, name: str) -> float:
        """``max_j |W x_j + b|`` of the queries or the keys."""
        found = self._mapped(head, name, f"{name.lower()}_bias")
        lengths = np.sqrt((found.floats * found.floats).sum(axis=1)) * (1 + found.floats.size * U) * MORE
        return float(lengths.max()) + float(found.off) * MORE + FLOOR

    def any_weights(self) -> float | None:
        """``sum_h sqrt(n) max_j |O_h V_h (x_j - xbar)|`` of BD-D3."""
        total = 0.0
        for head in range(len(self.heads)):
            turned = np.asarray(self.heads[head]["O"], dtype=np.float64).T
            apart = centred(self._value(head)).times(exact_stack(turned))
            lengths = np.sqrt((apart.floats * apart.floats).sum(axis=1)) * (1 + apart.floats.size * U) * MORE
            total += float(lengths.max()) + float(apart.off)
        return total * math.sqrt(len(self.seen)) * MORE + FLOOR

    def norms(self, head: int) -> tuple[float, float] | None:
        """At least ``|U|`` and ``|P|`` of a head: ``|R V|`` with an R that dominates O, and the same of Q and K."""
        if head not in self._sizes:
            self._sizes[head] = self._norms(head)
        return self._sizes[head]

    def _norms(self, head: int) -> tuple[float, float] | None:
        Q, K, V, O = (np.asarray(self.heads[head][name], dtype=np.float64) for name in "QKVO")
        found, scale = [], float(self.heads[head]["scale"])
        for outer, inner in ((O, V), (Q.T, K)):
            R = dominating(outer)
            if R is None or not scale > 0:
                return None
            through = R.times(exact_stack(inner))
            small = through.times(through.turned)  # |R V|^2 = |R V V^T R^T|, of the size of a head
            square = spectral_above(0.5 * (small.floats + small.floats.T)) + float(small.off)
            found.append(math.sqrt(square * MORE) * MORE)
        return found[0], found[1] / scale * MORE

    def along(self, direction: Floats, away: float) -> float:
        """``sum_h (max_j - min_j) z^T O_h V_h x_j`` of BD-H2 for a z within ``away`` of ``direction``."""
        total, z = 0.0, NearStack(direction[:, None], np.asarray(away))
        for head, given in enumerate(self.heads):
            pulled = exact_stack(np.asarray(given["O"], dtype=np.float64).T).times(z)
            heights = self._value(head).times(pulled)
            total += (float(np.ptp(heights.floats)) * MORE + 2 * float(heights.off) + U * float(heights.size)) * MORE
        return total * MORE + FLOOR

    def variation(self, head: int) -> float | None:
        """``max_ij sum_l |a_il - a_jl|/2``."""
        found = self.attention(head)
        return None if found is None else variation_above(found[1], found[2])

    def oscillation(self, head: int) -> float | None:
        """``max_ij osc_l (s_il - s_jl)`` of the scores."""
        found = self.attention(head)
        if found is None:
            return None
        scores = found[0].floats
        gaps = scores[:, None] - scores[None]
        width = float((gaps.max(-1) - gaps.min(-1)).max())
        return (width + 4 * float(found[0].off) + 8 * U * float(np.abs(scores).max())) * MORE + FLOOR

    def jacobian(self, head: int) -> tuple[float, float] | None:
        """The bounds of BD-J2 and BD-J3."""
        if head not in self._jacobians:
            rows = self.attention(head)
            self._jacobians[head] = (
                None if rows is None else row_operator_above(self.heads[head], self.seen, rows[1], rows[2])
            )
        return self._jacobians[head]

    def sink(self, head: int) -> float | None:
        """``1 - min_j a_j1``."""
        found = self.attention(head)
        return None if found is None else (1 - float((found[1] - found[2])[:, 0].min())) * MORE


def variation_above(weights: Floats, away: Floats) -> float:
    """At least ``max_ij sum_l |a_il - a_jl|/2`` of rows that are entry by entry within ``away``."""
    apart = max(float(np.abs(weights - row).sum(axis=1).max()) for row in weights)
    return (apart / 2 + float(away.sum(axis=1).max())) * (1 + 4 * len(weights) * U) * MORE


def _fine(a: Floats, b: Floats) -> NearStack:
    """The product of exact floats, as near as one rounding where its entries allow it."""
    found = fine_product((a, 0.0), (b, 0.0))
    return exact_stack(a).times(exact_stack(b)) if found is None else NearStack(found[0], np.asarray(found[1]))


def centred(rows: NearStack) -> NearStack:
    """The rows less their mean: ``Pi X`` with ``Pi = I - 1 1^T / n``, whose float entries are each off by a rounding or two."""
    n = rows.floats.shape[0]
    projector = NearStack(np.eye(n) - 1.0 / n, np.asarray(4 * U * n + FLOOR))
    return projector.times(rows)
