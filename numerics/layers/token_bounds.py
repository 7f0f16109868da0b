"""Bounds of the sheet BD-* at given tokens of one layer, certified, and beside each what was measured there.

Weights and tokens are exact floats; a bound is a float that is at least the true one (balls, :mod:`.certified_attention`), made
larger by :data:`ROOM` so that another arithmetic can confirm it; what is measured is computed in doubles and is no bound.  A
bound is *vacuous* where it says no more than what is true of every head (``trivial``).

==========  ===================================================================================  ===============================
``BD-D2``   ``|Pi update|_F / |Pi X|_F``: the diversity that attention adds, (a)                 1: the skip may be undone
``BD-D3``   the same for any weights that sum to 1: ``sum_h sqrt(n) max_j |U_h (x_j - xbar)|``   1
``BD-N1``   the length of what the attention norm puts out
``BD-R1``   ``D(f) / D(U X)`` of a head without a mask: ``tanh(omega/4)``                        1: the hull of the values
``BD-R1b``  ``D(f) / D(X)`` of it, from norms: ``|U| tanh(|P| D(X)^2/4)``                        ``|U|``: the hull of the values
``BD-R4``   ``|D(Y) - D(X)| / D(X)`` of a layer: ``sum_h |U_h| tanh(|P_h| D(X)^2/4)``            1: the skip may be undone
``BD-M1``   ``D(f) / D(U X)`` of a causal head: ``1 - min_j a_j1``                               1
``BD-J2``   the norm of the Jacobian of a head                                                   no constant, BD-K1
``BD-J3``   the same from the norms of its blocks, each by the triangle inequality               no constant, BD-K1
``BD-D1``   ``D(f) / D(U X)`` of a head: ``max_ij sum_l |a_il - a_jl|/2``                        1: the hull of the values
``BD-H2``   ``(max_i - min_i) z^T update_i`` over that of ``z^T x_i``, along the sum z of the    1: the skip may be undone
            tokens, for any weights: ``sum_h (max_j - min_j) z^T U_h x_j``
``BD-D2b``  BD-D2 from norms: ``|O| |V| max_h |Pi A_h Pi| |Pi X_*|_F / |Pi X|_F``                1: the skip may be undone
``BD-L1``   the norm of the Jacobian, from norms and the largest length R of a token             no constant, BD-K1
``BD-T3``   the largest weight of a row with the most keys m: ``1/(1 + (m-1) e^-w)``,            1
            ``w = 2 max|q_i| max|k_j|/scale``
==========  ===================================================================================  ===============================
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentoken.documents.check_document import TokenBound
from eigentoken.numerics.certified.norms import float_norm
from eigentoken.numerics.certified.rounding import UNIT, Array, frobenius_above, gamma, inflate
from eigentoken.numerics.layers.certified_attention import Balls, exact, linear, scores_and_weights, times
from eigentoken.numerics.layers.head_jacobian import Tall, head_norms, jacobian_bounds, jacobian_norms, norms_above
from eigentoken.numerics.layers.rotary_scores import RotaryPairs
from eigentoken.numerics.layers.symbol_values import Answers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["ROOM", "Bound", "LayerAtTokens", "NormAtTokens", "bounds_of_layer"]

#: A bound is enlarged by this part of itself.
ROOM = 2.0**-20


@dataclass(frozen=True)
class Bound:
    """One bound of one statement, for a layer or a head of it; ``trivial`` is what every head satisfies, if anything."""

    statement: str
    head: int | None
    bound: float
    measured: float
    trivial: float | None = None

    @property
    def vacuous(self) -> bool:
        return not math.isfinite(self.bound) or (self.trivial is not None and self.bound >= self.trivial)

    def as_dict(self) -> TokenBound:
        known = math.isfinite(self.bound)
        return {
            "statement": self.statement,
            "head": self.head,
            "bound": self.bound if known else None,
            "measured": self.measured,
            "ratio": self.bound / self.measured if known and self.measured > 0 else None,
            "trivial": self.trivial,
            "vacuous": self.vacuous,
        }


def _with_room(value: float) -> float:
    return float(inflate(value * (1 + ROOM), 4))


@dataclass(frozen=True)
class NormAtTokens:
    """A norm with gain and bias, and what it put out at the tokens."""

    gain: Array
    bias: Array | None
    centred: bool
    output: Array

    def bound(self, known: Answers | None = None) -> Bound:
        """BD-N1: ``sqrt(d) |diag(g) Pi| + |b|`` (``sqrt(d) max|g| + |b|`` without centring)."""
        gain = np.asarray(self.gain, dtype=np.float64)
        d = len(gain)
        size = float(np.abs(gain).max())
        if self.centred:
            rows = np.repeat(gain[:, None], d, axis=1)
            inner = (known or Answers()).once("gain", lambda: float_norm(np.diag(gain) - rows / d)[1])
            size = min(size, inflate(inner + 4 * UNIT * d * size, 4))
        shift = 0.0 if self.bias is None else frobenius_above(np.asarray(self.bias, dtype=np.float64)[None])
        most = inflate(inflate(math.sqrt(d), 1) * size + shift, 4)
        lengths = np.linalg.norm(np.asarray(self.output, dtype=np.float64), axis=-1)
        return Bound("BD-N1", None, _with_room(most), float(lengths.max()))


@dataclass(frozen=True)
class LayerAtTokens:
    """One layer at tokens ``state`` (n, d), which attention reads as ``seen`` and changes by ``update``.

    ``heads``: ``Q, K, V, O, scale`` and the biases of each; ``allowed`` (n, n): which keys a query sees; ``norm``: ``None``
    where the layer has none.
    """

    heads: Sequence[Mapping[str, ArrayLike | None]]
    state: Array
    seen: Array
    update: Array
    allowed: Array
    pairs: RotaryPairs | None = None
    norm: NormAtTokens | None = None
    of_weights: Answers = field(default_factory=Answers, repr=False)
    "What was found of the weights and the gain alone: layers with the same ones share it."

    @property
    def factors(self) -> list[tuple[Tall, Tall]]:
        """O and ``Q^T`` of each head, through small triangles."""
        return self.of_weights.once("factors", lambda: [Tall.of(head) for head in self.heads])

    @property
    def norms(self) -> list[tuple[float, float]]:
        """At least ``|O V|`` and ``|Q^T K| / scale`` of each head."""
        return self.of_weights.once("norms", lambda: head_norms(self.heads, self.factors))

    def size_above(self, letter: str, axis: int) -> float:
        """At least the norm of all O, or V, beside each other."""
        parts = [np.asarray(head[letter], dtype=np.float64) for head in self.heads]
        return self.of_weights.once(letter, lambda: float_norm(np.concatenate(parts, axis=axis))[1])


def bounds_of_layer(layer: LayerAtTokens, asked: Sequence[str]) -> list[Bound]:
    """The bounds of the statements ``asked``, as they come in the table above (what they suppose is not looked at)."""
    x, mask = exact(layer.seen), np.asarray(layer.allowed, dtype=bool)
    norm = layer.norm
    found = [norm.bound(layer.of_weights)] if norm is not None and "BD-N1" in asked else []
    at_weights = {"BD-D1", "BD-D2", "BD-D2b", "BD-R1", "BD-M1", "BD-J2", "BD-J3", "BD-L1", "BD-T3"} & set(asked)
    of_norms = {"BD-J2", "BD-J3", "BD-R1b", "BD-R4", "BD-L1"} & set(asked)
    with np.errstate(all="ignore"):
        rows = [scores_and_weights(head, x, mask, layer.pairs) for head in layer.heads] if at_weights else []
        factors, norms = (layer.factors, layer.norms) if of_norms else ([], [])
        seen = [weights.center for _, weights in rows]
        measured = jacobian_norms(layer.heads, x.center, seen) if {"BD-J2", "BD-J3", "BD-L1"} & set(asked) else []
        found += _diversity(layer, x, rows, asked)
        found += _from_norms(layer, factors, norms, rows if mask.all() and layer.pairs is None else (), asked)
        for index, (head, (scores, weights)) in enumerate(zip(layer.heads, rows, strict=bool(rows))):
            found += _of_head(index, head, x, scores, weights, asked, layer.factors[index][0].R)
            if {"BD-J2", "BD-J3"} & set(asked):
                both = jacobian_bounds(head, x, weights, factors[index], norms[index][0])
                found += [
                    Bound(name, index, _with_room(bound), measured[index])
                    for name, bound in zip(("BD-J2", "BD-J3"), both, strict=True)
                    if name in asked
                ]
            if "BD-L1" in asked:
                found.append(Bound("BD-L1", index, _on_ball(head, x, *norms[index]), measured[index]))
            if "BD-T3" in asked:
                found.append(_diffuse(index, head, x, mask, weights))
    return found


def centred(x: Balls) -> Balls:
    """The rows minus their mean."""
    n = len(x.center)
    mean = x.center.mean(axis=0, keepdims=True)
    off = gamma(n + 1) * np.abs(x.center).mean(axis=0, keepdims=True) + x.radius.mean(axis=0, keepdims=True)
    return x.minus(Balls(np.broadcast_to(mean, x.center.shape), np.broadcast_to(inflate(off, n + 6), x.center.shape)))


def _size_above(x: Balls) -> float:
    """An upper bound on the Frobenius norm."""
    return float(frobenius_above(x.lengths()[1][None]))


def _diversity(
    layer: LayerAtTokens, x: Balls, rows: Sequence[tuple[Balls, Balls]], asked: Sequence[str]
) -> list[Bound]:
    """BD-D2 (a), BD-D2b and BD-D3, relative to the diversity before, and BD-H2."""
    if not {"BD-D2", "BD-D2b", "BD-D3", "BD-H2"} & set(asked):
        return []
    state, update = (np.asarray(each, dtype=np.float64) for each in (layer.state, layer.update))
    before = centred(exact(state)).lengths()[0]
    least = math.sqrt(float((before**2).sum())) * (1 - (2 * len(before) + 8) * UNIT)
    sizes = [float(np.linalg.norm(each - each.mean(0))) for each in (state, update)]
    measured, found = sizes[1] / sizes[0] if sizes[0] else 0.0, []
    values = [linear(x, head["V"]) for head in layer.heads] if {"BD-D2", "BD-D3", "BD-H2"} & set(asked) else []
    outputs = [np.asarray(head["O"], dtype=np.float64) for head in layer.heads]
    whole = layer.size_above("O", 1) if rows else 0.0
    if "BD-D2" in asked:
        mixed = [centred(times(weights, value)) for (_, weights), value in zip(rows, values, strict=True)]
        together = Balls(*(np.concatenate([getattr(e, part) for e in mixed], -1) for part in ("center", "radius")))
        found.append(Bound("BD-D2", None, _relative(whole * _size_above(together), least), measured, 1.0))
    if "BD-D2b" in asked:
        middles = [centred(weights) for _, weights in rows]  # Pi A = Pi A Pi, as A 1 = 1
        centers, radii = (np.array([getattr(each, part) for each in middles]) for part in ("center", "radius"))
        kept = float(norms_above(centers, np.array([frobenius_above(each) for each in radii])).max())
        size = inflate(whole * layer.size_above("V", 0) * kept * _size_above(centred(x)), 6)
        found.append(Bound("BD-D2b", None, _relative(size, least), measured, 1.0))
    if "BD-D3" in asked:
        reach = [
            float(linear(centred(value), out).lengths()[1].max()) for value, out in zip(values, outputs, strict=True)
        ]
        total = inflate(math.fsum(reach) * math.sqrt(len(state)), 4)
        found.append(Bound("BD-D3", None, _relative(total, least), measured, 1.0))
    if "BD-H2" in asked:
        found.append(_along_the_mean(state, update, values, outputs))
    return found


def _along_the_mean(state: Array, update: Array, values: Sequence[Balls], outputs: Sequence[Array]) -> Bound:
    """BD-H2 along ``z``, the sum of the tokens: its length cancels in the ratio."""
    n = len(state)
    total = state.sum(axis=0)
    z = Balls(total[None], inflate(gamma(n) * np.abs(state).sum(axis=0), n + 2)[None])
    reach = 0.0
    for value, out in zip(values, outputs, strict=True):
        pulled = times(z, exact(out))
        heights = times(value, Balls(pulled.center.T, pulled.radius.T))
        reach += _wide(heights)[1]
    before = times(exact(state), Balls(z.center.T, z.radius.T))
    widths = [float(np.ptp(each @ total)) for each in (state, update)]
    measured = widths[1] / widths[0] if widths[0] else 0.0
    size = inflate(reach, 2 * len(outputs) + 8)
    return Bound("BD-H2", None, _relative(size, _wide(before)[0]), measured, 1.0)


def _wide(numbers: Balls) -> tuple[float, float]:
    """Lower and upper bounds on the largest less the smallest."""
    width = float(np.max(numbers.center) - np.min(numbers.center))
    off = inflate(2 * float(np.max(numbers.radius)) + 4 * UNIT * float(np.max(np.abs(numbers.center))), 6)
    return max(0.0, (width - off) * (1 - 4 * UNIT)), float(inflate(width + off, 4))


def _from_norms(
    layer: LayerAtTokens,
    factors: Sequence[tuple[Tall, Tall]],
    norms: Sequence[tuple[float, float]],
    unmasked: Sequence[tuple[Balls, Balls]],
    asked: Sequence[str],
) -> list[Bound]:
    """BD-R4, and BD-R1b of each head: from the norms of the weights and the diameter of the tokens.

    ``unmasked``: scores and weights of the heads without a mask and positions, where they are known.
    """
    if not {"BD-R1b", "BD-R4"} & set(asked):
        return []
    d = layer.seen.shape[1]
    seen, found = np.asarray(layer.seen, dtype=np.float64), []
    before = _diameter(seen)
    square = inflate(before**2 * (1 + 2 * gamma(d + 4)), 4)
    shrunk = [inflate(math.tanh(min(inflate(P * square / 4, 4), 400.0)), 16) for _, P in norms]
    if "BD-R4" in asked:
        total = math.fsum(U * factor for (U, _), factor in zip(norms, shrunk, strict=True))
        after = _diameter(np.asarray(layer.state, dtype=np.float64) + layer.update)
        change = abs(after - before) / before if before > 0 else 0.0
        found.append(Bound("BD-R4", None, _with_room(inflate(total, len(norms) + 4)), change, 1.0))
    if "BD-R1b" in asked:
        for index, (head, (U, _), factor) in enumerate(zip(layer.heads, norms, shrunk, strict=True)):
            plain = unmasked[index] if unmasked else _without_mask(head, seen)
            values = seen @ np.asarray(head["V"], dtype=np.float64).T @ factors[index][0].R.T  # lengths as after O
            measured = _diameter(plain[1].center @ values) / before if before > 0 else 0.0
            found.append(Bound("BD-R1b", index, _with_room(inflate(U * factor, 4)), measured, U))
    return found


def _without_mask(head: Mapping[str, Any], seen: Array) -> tuple[Balls, Balls]:
    return scores_and_weights(head, exact(seen), np.ones((len(seen), len(seen)), dtype=bool), None)


def _relative(size: float, least: float) -> float:
    return _with_room(inflate(size / least, 6)) if least > 0 else math.inf


def _of_head(
    index: int,
    head: Mapping[str, Any],
    x: Balls,
    scores: Balls,
    weights: Balls,
    asked: Sequence[str],
    triangle: Array,
) -> list[Bound]:
    """BD-D1, BD-R1 and BD-M1; ``triangle``: of O, which leaves the same lengths."""
    a, found = weights.center, []
    if {"BD-D1", "BD-R1", "BD-M1"} & set(asked):
        values = x.center @ np.asarray(head["V"], dtype=np.float64).T @ triangle.T
        before, after = _diameter(values), _diameter(a @ values)
        measured = after / before if before > 0 else 0.0
    if "BD-D1" in asked:
        factor = min(1.0, _with_room(largest_variation(weights)))
        found.append(Bound("BD-D1", index, factor, measured, 1.0))
    if "BD-R1" in asked:
        quarter = inflate(min(largest_oscillation(scores) / 4, 400.0), 2)
        factor = min(1.0, _with_room(inflate(math.tanh(quarter), 16)))
        found.append(Bound("BD-R1", index, factor, measured, 1.0))
    if "BD-M1" in asked:
        least = float(np.max([0.0, np.min(a[:, 0] - weights.radius[:, 0])]))
        factor = min(1.0, _with_room(inflate(1 - least * (1 - 4 * UNIT), 2)))
        found.append(Bound("BD-M1", index, factor, measured, 1.0))
    return found


def _on_ball(head: Mapping[str, Any], x: Balls, U: float, P: float) -> float:
    """BD-L1: ``|U| (sqrt(n (1 + 16/27 p_b^2)) + p)``, ``p = |P| R^2``, ``p_b = p + R |K^T b_Q|/scale``: ``P`` has the scale."""
    radius, shift = float(x.lengths()[1].max()), 0.0
    if head.get("q_bias") is not None:
        turned = linear(exact(np.asarray(head["q_bias"], dtype=np.float64)[None]), np.asarray(head["K"]).T)
        shift = inflate(float(turned.lengths()[1].max()) / float(head["scale"]) * (1 + 2**-48), 4)
    p = inflate(P * radius**2, 4)
    with_bias = inflate(p + radius * shift, 4)
    return _with_room(inflate(U * (math.sqrt(len(x.center) * inflate(1 + 16 * with_bias**2 / 27, 8)) + p), 8))


def _diffuse(index: int, head: Mapping[str, Any], x: Balls, mask: Array, weights: Balls) -> Bound:
    """BD-T3 at the rows that see the most keys: a rotation by a position changes no length."""
    q, k = (float(linear(x, head[name], head.get(f"{name.lower()}_bias")).lengths()[1].max()) for name in "QK")
    width = inflate(2 * q * k / float(head["scale"]) * (1 + 2**-48), 6)
    counts = mask.sum(axis=1)
    most = int(counts.max())
    least = (most - 1) * math.exp(-width) * (1 - 2**-48)
    bound = min(1.0, _with_room(inflate(1 / (1 + least * (1 - 2**-48)), 4)))
    return Bound("BD-T3", index, bound, float(weights.center[counts == most].max()), 1.0)


def _diameter(rows: Array) -> float:
    return float(np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(-1)).max())


def largest_variation(weights: Balls) -> float:
    """At least ``max_ij sum_l |a_il - a_jl|/2``."""
    a, n = weights.center, len(weights.center)
    apart = max(float(np.abs(a - row).sum(axis=1).max()) for row in a)
    return float(inflate(apart / 2 + float(weights.radius.sum(axis=1).max()), 2 * n + 6))


def largest_oscillation(scores: Balls) -> float:
    """At least ``max_ij osc_l (s_il - s_jl)``."""
    gaps = scores.center[:, None] - scores.center[None]
    off = scores.radius[:, None] + scores.radius[None] + 2 * UNIT * np.abs(gaps)
    return float(inflate((gaps + inflate(off, 4)).max(-1) - (gaps - inflate(off, 4)).min(-1), 4).max())
