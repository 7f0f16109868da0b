"""The Jacobian of one head at given tokens: the bounds of BD-J2 and BD-J3, certified, and the norm by power iteration.

With ``v_j = V x_j``, ``k_j = K x_j`` and the weights a_ij, ``S_i = diag(sqrt a_i) (v - mean_i v)`` (n, d_h), and the same T_i
of the keys: ``|U C_i U^T| = |S_i O^T|^2`` and ``U C_i P^T = O S_i^T T_i Q / scale``: everything has the size of a head.  An
orthogonal factor of O (or Q^T) is off by what its Gram matrix and the residual show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, frobenius_above, gamma, inflate, up
from eigentoken.numerics.layers.certified_attention import CONSTANT, Balls, exact, linear, times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Tall", "head_norms", "jacobian_bounds", "jacobian_norms", "norms_above", "norms_with"]

#: Steps of the power iteration: what it finds is at most the norm.
STEPS = 40
#: A guess of a squared norm is taken where it is seen to be off by no more than this part of it.
CLOSE = 1e-8


def norms_above(center: Array, off: Array) -> Array:
    """At least the spectral norm of each matrix within ``off`` of one of the stack (m, k, l), from a Cholesky factor.

    With ``G = A A^T`` and **any** R, t: ``|A|^2 <= t + |t I - G - R R^T|``; R is the factor of ``t I - G``, t just above a guess.
    """
    if not np.isfinite(center).all():
        return np.full(len(center), math.inf)
    flat = center if center.shape[1] <= center.shape[2] else np.swapaxes(center, 1, 2)
    _, k, columns = flat.shape
    exponent = np.frexp(np.abs(flat).max(axis=(1, 2)))[1]
    scaled = np.ldexp(
        flat, -exponent[:, None, None]
    )  # entries at most 1; one that becomes subnormal loses at most TINY
    gram = scaled @ np.swapaxes(scaled, 1, 2)
    squares = np.asarray(inflate((scaled * scaled).sum((1, 2)), k * columns + 2))
    above = _factored(gram, squares)
    largest = inflate(above + gamma(columns + 1) * squares + k * k * columns * TINY, 6)
    found = inflate(np.sqrt(np.minimum(largest, squares)) + k * columns * TINY, 4)
    return np.asarray(inflate(np.ldexp(found, exponent) + 4 * TINY + off, 4))


def _factored(gram: Array, squares: Array) -> Array:
    """At least the largest eigenvalue of each symmetric matrix near ``gram`` as it stands (infinite where no factor is found)."""
    k = gram.shape[-1]
    for guess in (_guessed, _by_values):
        top = np.asarray(guess(gram) + 4 * (k + 8) * UNIT * squares + 2.0**-500)
        shifted = -gram
        diagonal = np.einsum("mii->mi", shifted)
        diagonal += top[:, None]
        try:
            factor = np.asarray(np.linalg.cholesky(shifted), dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
        rest = _root_of_squares(shifted - factor @ np.swapaxes(factor, 1, 2))
        size = _root_of_squares(factor) ** 2
        with np.errstate(all="ignore"):
            found = (
                inflate(top * (1 + 2 * UNIT) + rest * (1 + 4 * UNIT) + gamma(k + 3) * inflate(size, 3), 8) + k**3 * TINY
            )
        return np.where(np.isfinite(found), found, math.inf)
    return np.full(len(gram), math.inf)


def _guessed(gram: Array) -> Array:
    """A number just above the largest eigenvalue of each matrix, most often: Rayleigh's quotient and four residuals."""
    power = gram / np.maximum(np.abs(gram).max(axis=(1, 2), keepdims=True), 1e-300)
    x = np.sqrt(np.maximum(np.einsum("mii->mi", power), 0.0))[:, :, None] + 1e-3
    for _ in range(4):
        power = power @ power
        power /= np.maximum(np.abs(power).max(axis=(1, 2), keepdims=True), 1e-300)
    for _ in range(12):
        x = power @ x
        x /= np.maximum(np.abs(x).max(axis=1, keepdims=True), 1e-300)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
    for _ in range(2):  # the best vector of the plane of x and its residual: two close leaders are told apart
        image = gram @ x
        value = (x * image).sum(axis=1, keepdims=True)
        rest = image - value * x
        length = np.linalg.norm(rest, axis=1, keepdims=True)
        other = rest / np.maximum(length, 1e-300)
        second = (other * (gram @ other)).sum(axis=1, keepdims=True)
        angle = 0.5 * np.arctan2(2 * length, value - second)
        x = np.cos(angle) * x + np.sin(angle) * other
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
    image = gram @ x
    value = (x * image).sum(axis=1, keepdims=True)
    found, off = value[:, 0, 0], 4 * np.linalg.norm(image - value * x, axis=1)[:, 0]
    open_ones = ~(off <= CLOSE * found)  # several close leaders
    found = found + off
    if open_ones.any():
        found[open_ones] = _by_values(gram[open_ones])
    return np.asarray(found)


def _by_values(gram: Array) -> Array:
    """The same guess from all eigenvalues."""
    return np.asarray(np.linalg.eigvalsh(gram)[:, -1] * (1 + 1e-12))


def _root_of_squares(stack: Array) -> Array:
    """At least the Frobenius norm of each matrix of floats."""
    size = np.sqrt((stack * stack).sum((-1, -2)))
    return np.asarray(inflate(size, 2 * stack.shape[-1] * stack.shape[-2] + 8) + 2.0**-400)


def _frobenius(stack: Balls) -> Array:
    """At least the Frobenius norm of each matrix of a stack."""
    return _root_of_squares(np.asarray(inflate(np.abs(stack.center) + stack.radius, 2)))


class Tall:
    """``W = Q R`` of a tall exact matrix: R, at least ``|R|``, at least ``|Q|``, at least ``|W - Q R|``."""

    def __init__(self, whole: Array) -> None:
        basis, self.R = np.linalg.qr(whole)
        self.size, rows, columns = frobenius_above(self.R), *basis.shape
        width = frobenius_above(basis)
        gram = basis.T @ basis
        gram.flat[:: columns + 1] -= 1.0
        lost = 2 * rows * columns * TINY
        defect = up(frobenius_above(gram) * (1 + 4 * UNIT) + gamma(rows + 3) * up(width * width + columns) + lost, 8)
        self.stretch = float(inflate(math.sqrt(1 + defect), 2))
        rounding = gamma(columns + 3) * up(width * self.size + frobenius_above(whole))
        self.rest = up(frobenius_above(whole - basis @ self.R) * (1 + 4 * UNIT) + rounding + lost, 8)

    @classmethod
    def of(cls, head: Mapping[str, ArrayLike | None]) -> tuple[Tall, Tall]:
        """Of O and of ``Q^T``, once for all bounds of a head."""
        O, Q = (np.asarray(cast("ArrayLike", head[name]), dtype=np.float64) for name in "OQ")
        return cls(O), cls(Q.T)


def norms_with(pairs: Sequence[tuple[Tall, Array]]) -> list[float]:
    """At least ``|W S|`` for each tall W and exact S: ``|R S| |Q| + |W - Q R| |S|``; those of one shape are found together."""
    sizes = [frobenius_above(stored) for _, stored in pairs]
    offs = [
        up(gamma(len(tall.R) + 1) * tall.size * size + 2 * stored.size * TINY, 4)
        for (tall, stored), size in zip(pairs, sizes, strict=True)
    ]
    cores = [tall.R @ stored for tall, stored in pairs]
    found = np.zeros(len(pairs))
    for shape in {core.shape for core in cores}:
        alike = [place for place, core in enumerate(cores) if core.shape == shape]
        found[alike] = norms_above(
            np.array([cores[place] for place in alike]), np.array([offs[place] for place in alike])
        )
    return [
        float(inflate(float(core) * tall.stretch + size * tall.rest, 4))
        for core, size, (tall, _) in zip(found, sizes, pairs, strict=True)
    ]


def _roots(weights: Balls) -> Balls:
    """``sqrt(a)``, entry by entry."""
    high = np.sqrt(np.maximum(weights.center + weights.radius, 0.0))
    low = np.sqrt(np.maximum(weights.center - weights.radius, 0.0))
    return Balls((low + high) / 2, inflate((high - low) / 2 + 4 * UNIT * high, 4))


def _spread(rows: Balls, means: Balls, roots: Balls) -> Balls:
    """``sqrt(a_ij) (r_j - mean_i)`` for every i: (n, n, k)."""
    apart = Balls(rows.center[None], rows.radius[None]).minus(Balls(means.center[:, None], means.radius[:, None]))
    center = roots.center[..., None] * apart.center
    size = np.abs(roots.center[..., None]) + roots.radius[..., None]
    radius = size * apart.radius + roots.radius[..., None] * np.abs(apart.center) + UNIT * np.abs(center)
    return Balls(center, inflate(radius, 6))


def jacobian_bounds(
    head: Mapping[str, Any],
    x: Balls,
    weights: Balls,
    factors: tuple[Tall, Tall] | None = None,
    size_of_values: float | None = None,
) -> tuple[float, float]:
    """The bounds of BD-J2 and BD-J3 on the norm of the Jacobian.

    BD-J2: ``sqrt(max_l sum_i a_il t_i^2) + max_i |U C_i P^T|`` with ``t_i^2 = |U|^2 + |q_i|^2 |U C_i U^T|``, from above.

    BD-J3: the norm of the nonnegative (n, n) matrix ``a_il (|U| + |U (x_l - m_i)| |q_i|)``, on its diagonal also
    ``|U C_i P^T|``.  Each entry is at least the norm of the block ``df_i/dx_l`` (its triangle inequality), and the norm of a
    nonnegative matrix grows with its entries: it is at least that of the norms of the blocks, which the statement speaks of.

    ``size_of_values``: what is at least ``|U|``, where it is known.
    """
    scale, n = float(head["scale"]), len(x.center)
    output, query = Tall.of(head) if factors is None else factors
    values, keys = linear(x, head["V"]), linear(x, head["K"])
    roots = _roots(weights)
    spread = _spread(values, times(weights, values), roots)
    keyed = _spread(keys, times(weights, keys), roots)
    gradients = linear(linear(x, head["Q"], head.get("q_bias")), np.asarray(head["K"], dtype=np.float64).T)
    lengths = inflate(gradients.lengths()[1] / scale * (1 + 4 * CONSTANT), 4)
    V = np.asarray(head["V"], dtype=np.float64)
    whole = norms_with([(output, V)])[0] if size_of_values is None else size_of_values
    size, size_k = _frobenius(spread), _frobenius(keyed)  # of every matrix in the balls
    off, off_k = _root_of_squares(spread.radius), _root_of_squares(keyed.radius)
    width, width_k = len(output.R), len(query.R)
    few = 4 * n * (width + width_k) * TINY
    off_rows = inflate((off + gamma(width) * size) * output.size, 6) + few
    through = spread.center @ output.R.T
    sizes = inflate(norms_above(through, off_rows) * output.stretch + size * output.rest, 4)
    sharp = inflate(whole * whole + (lengths * sizes) ** 2, 6)
    core = np.swapaxes(spread.center, -1, -2) @ keyed.center
    off_core = inflate(size * off_k + off * size_k + gamma(n) * size * size_k, 8) + few
    both = inflate(output.size * query.size, 2)
    turned = (
        inflate(both * (off_core + gamma(width + width_k + 2) * inflate(size * size_k, 2)), 8) + (width + width_k) * few
    )
    inner = norms_above(output.R @ core @ query.R.T, turned)
    slack = inflate(output.rest * query.size + query.rest * output.size + output.rest * query.rest, 4)
    own = inflate(
        (inner + inflate(size * size_k, 2) * slack) * output.stretch * query.stretch / scale * (1 + 4 * CONSTANT), 8
    )
    columns = inflate((weights.center + weights.radius).T @ sharp, n + 4)
    apart = exact(through).lengths()[1] + off_rows[:, None]
    reach = inflate(apart * output.stretch + (size * output.rest)[:, None], 4) * (
        roots.center + roots.radius
    )  # a_il |U (x_l - m_i)|
    blocks = inflate((weights.center + weights.radius) * whole + inflate(reach, 2) * lengths[:, None], 6)
    blocks[np.arange(n), np.arange(n)] += own
    by_blocks = norms_above(inflate(blocks, 2)[None], np.zeros(1))
    return float(inflate(math.sqrt(float(columns.max())) + float(own.max()), 4)), float(by_blocks[0])


def head_norms(heads: Sequence[Mapping[str, Any]], factors: Sequence[tuple[Tall, Tall]]) -> list[tuple[float, float]]:
    """At least ``|O V|`` and at least ``|Q^T K| / scale`` of each head."""
    pairs = [
        (tall, np.asarray(head[name], dtype=np.float64))
        for head, both in zip(heads, factors, strict=True)
        for tall, name in zip(both, "VK", strict=True)
    ]
    found = norms_with(pairs)
    return [
        (U, float(inflate(P / float(head["scale"]) * (1 + 4 * CONSTANT), 4)))
        for head, U, P in zip(heads, found[::2], found[1::2], strict=True)
    ]


def jacobian_norms(heads: Sequence[Mapping[str, Any]], x: Array, weights: Sequence[Array]) -> list[float]:
    """The norm of the Jacobian (n d, n d) of each head, by power iteration in doubles: lower estimates.

    What moves is a combination of the rows of V, Q and K, so that it is followed by its coefficients.  With the change
    ``s_ij = q_i dk_j + dq_i k_j`` of the scores, ``sum_j a_ij s_ij (v_j - mean_i v) = sum_j a_ij (s_ij - mean_i s) v_j``.
    """
    found = [0.0] * len(heads)
    shapes = [tuple(np.shape(head[name]) for name in "QV") for head in heads]
    for shape in dict.fromkeys(shapes):
        alike = [place for place, each in enumerate(shapes) if each == shape]
        sizes = _largest_stretch([heads[place] for place in alike], x, np.array([weights[place] for place in alike]))
        for place, size in zip(alike, sizes, strict=True):
            found[place] = float(size)
    return found


def _largest_stretch(heads: Sequence[Mapping[str, Any]], x: Array, weights: Array) -> Array:
    """The norms of heads of one shape."""
    Q, K, V, O = (np.array([head[name] for head in heads], dtype=np.float64) for name in "QKVO")
    scale, width, both = np.array([[[float(head["scale"])]] for head in heads]), V.shape[1], V.shape[1] + Q.shape[1]
    biases = [np.zeros(Q.shape[1]) if head.get("q_bias") is None else head["q_bias"] for head in heads]
    q = (x @ _turned(Q) + np.array(biases, dtype=np.float64)[:, None]) / scale
    values, keys = x @ _turned(V), x @ _turned(K) / scale
    rows = np.concatenate([V, Q, K], axis=1)
    gram, squares = rows @ _turned(rows), _turned(O) @ O
    start = np.random.default_rng(0).standard_normal(x.shape)
    moved = start @ _turned(rows) / np.linalg.norm(start)
    coefficients, squared = np.empty_like(moved), np.zeros(len(heads))
    for _ in range(STEPS):
        by_value, by_query, by_key = moved[..., :width], moved[..., width:both], moved[..., both:]
        inner = weights @ by_value + _apart(weights, q @ _turned(by_key) + by_query @ _turned(keys)) @ values
        back = inner @ squares
        squared = np.maximum((inner * back).sum((1, 2)), 0.0)
        pulled = _apart(weights, back @ _turned(values))
        coefficients[..., :width] = _turned(weights) @ back
        coefficients[..., width:both], coefficients[..., both:] = pulled @ keys, _turned(pulled) @ q
        moved = coefficients @ gram
        lengths = np.sqrt(np.maximum((coefficients * moved).sum((1, 2)), 0.0))
        moved /= np.where(squared > 0.0, lengths, 1.0)[:, None, None]  # a head that moves nothing stays at 0
    return np.asarray(np.sqrt(squared))


def _turned(stack: Array) -> Array:
    return np.swapaxes(stack, -1, -2)


def _apart(weights: Array, scores: Array) -> Array:
    """``a_ij (s_ij - sum_l a_il s_il)``."""
    weighted = weights * scores
    return np.asarray(weighted - weights * weighted.sum(axis=-1, keepdims=True))
