"""One attention head in doubles: weights, outputs, Jacobian blocks and the bounds of the sheet, for property tests.

Tokens are rows; ``scores[i, j] = (Q x_i + b_Q)^T (K x_j + b_K) / scale``, with a mask; ``f_i = U m_i``, ``m_i = sum_j a_ij x_j``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "HeadAtTokens",
    "centred",
    "diameter",
    "norm",
    "norm_derivative",
    "normalised",
    "osc",
    "random_head",
    "softmax",
    "stochastic",
    "variation",
]

Array = np.ndarray[Any, np.dtype[np.float64]]


def norm(matrix: Any) -> float:
    """The spectral norm."""
    found = np.atleast_2d(np.asarray(matrix, dtype=float))
    return float(np.linalg.norm(found, 2)) if found.size else 0.0


def osc(numbers: Any) -> float:
    """``max - min``."""
    return float(np.max(numbers) - np.min(numbers))


def softmax(scores: Array) -> Array:
    """Along the last axis; minus infinity is a key that is not seen."""
    moved = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(moved / moved.sum(-1, keepdims=True))


def variation(a: Array, b: Array) -> float:
    """Half of the l1 distance of two probability vectors."""
    return float(np.abs(a - b).sum() / 2)


def diameter(x: Array) -> float:
    """The largest distance of two rows."""
    return float(np.linalg.norm(x[:, None] - x[None], axis=-1).max())


def centred(x: Array) -> Array:
    """The rows minus their mean."""
    return np.asarray(x - x.mean(0, keepdims=True))


def stochastic(source: np.random.Generator, n: int, causal: bool = False) -> Array:
    """Random rows of weights that sum to one, some of them far from even."""
    scores = source.normal(size=(n, n)) * source.choice([0.3, 3.0, 30.0])
    return softmax(np.where(np.tril(np.ones((n, n), dtype=bool)), scores, -np.inf) if causal else scores)


@dataclass(frozen=True)
class HeadAtTokens:
    """A head and its tokens."""

    x: Array
    P: Array
    U: Array
    bias: Array
    "``K^T b_Q / scale``, what the query bias adds to every q_i."
    mask: Array

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def q(self) -> Array:
        """``q_i``, rows: the gradient of the score of a key in the key."""
        return np.asarray(self.x @ self.P + self.bias)

    @property
    def scores(self) -> Array:
        return np.asarray(np.where(self.mask, self.q @ self.x.T, -np.inf))

    @property
    def weights(self) -> Array:
        return softmax(self.scores)

    @property
    def output(self) -> Array:
        return np.asarray(self.weights @ self.x @ self.U.T)

    def moments(self) -> tuple[Array, Array]:
        """``m_i`` and ``C_i``."""
        a = self.weights
        means = a @ self.x
        apart = self.x[None] - means[:, None]
        return means, np.asarray(np.einsum("ij,ijk,ijl->ikl", a, apart, apart))

    def blocks(self) -> Array:
        """``d f_i / d x_l`` (n, n, d, d), by the formula of BD-J1."""
        a, (means, spreads) = self.weights, self.moments()
        d = self.x.shape[1]
        own = self.x[None] - means[:, None]
        inner = a[..., None, None] * (np.eye(d) + own[..., :, None] * self.q[:, None, None, :])
        inner[np.arange(self.n), np.arange(self.n)] += spreads @ self.P.T
        return np.asarray(self.U @ inner)

    def jacobian(self) -> Array:
        """The whole matrix, (n d, n d)."""
        found, d = self.blocks(), self.x.shape[1]
        return np.asarray(found.transpose(0, 2, 1, 3).reshape(self.n * d, self.n * d))

    def row_operator_bounds(self) -> tuple[float, float]:
        """``B_2`` and ``B_1`` of BD-J2."""
        a, (_, spreads) = self.weights, self.moments()
        lengths = (self.q**2).sum(1)
        d = self.x.shape[1]
        sharp = [norm(self.U @ (np.eye(d) + s * c) @ self.U.T) for s, c in zip(lengths, spreads, strict=True)]
        plain = [1 + s * norm(c) for s, c in zip(lengths, spreads, strict=True)]
        own, own_plain = (max(norm(m @ c @ self.P.T) for c in spreads) for m in (self.U, np.eye(d)))
        columns = float(np.max(a.T @ np.asarray(sharp))), float(np.max(a.T @ np.asarray(plain)))
        return np.sqrt(columns[0]) + own, norm(self.U) * (np.sqrt(columns[1]) + own_plain)

    def block_norm_bound(self) -> float:
        """``B_3`` of BD-J3."""
        found = self.blocks()
        return norm([[norm(block) for block in row] for row in found])

    def ball_bounds(self, radius: float) -> tuple[float, float]:
        """The two forms of BD-L1, with the bias where there is one."""
        p = norm(self.P) * radius**2
        with_bias = radius * (norm(self.P) * radius + float(np.linalg.norm(self.bias)))
        first = np.sqrt(self.n * (1 + 16 * with_bias**2 / 27)) + p
        top = np.exp(min(2 * with_bias, 700.0))
        column = self.n * top / (top + self.n - 1)
        return norm(self.U) * first, norm(self.U) * (np.sqrt(column * (1 + with_bias**2)) + p)

    def omega(self) -> Array:
        """``osc_l (s_il - s_jl)`` for every pair of queries; for rows that see the same keys."""
        gaps = self.scores[:, None] - self.scores[None]
        return np.asarray(gaps.max(-1) - gaps.min(-1))


def random_head(source: np.random.Generator, *, masks: bool = True, biases: bool = True) -> HeadAtTokens:
    """A random head with at most five tokens in at most four dimensions; corners (equal tokens, zero weights) among them."""
    n, d = int(source.integers(1, 6)), int(source.integers(1, 5))
    x = source.normal(size=(n, d)) * source.choice([0.3, 1.0, 3.0])
    if source.random() < 0.15:
        x[:] = x[0]
    P, U = source.normal(size=(d, d)) * source.choice([0.0, 0.5, 2.0], p=[0.1, 0.5, 0.4]), source.normal(size=(d, d))
    if source.random() < 0.1:
        U = np.zeros_like(U)
    bias = source.normal(size=d) if biases and source.random() < 0.5 else np.zeros(d)
    causal = masks and source.random() < 0.4
    mask = np.tril(np.ones((n, n), dtype=bool)) if causal else np.ones((n, n), dtype=bool)
    return HeadAtTokens(x, P, U, bias, mask)


def normalised(x: Array, gain: Array, bias: Array, eps: float, *, centre: bool) -> Array:
    """RMSNorm, or LayerNorm (``centre``), of rows."""
    y = x - x.mean(-1, keepdims=True) if centre else x
    return np.asarray(gain * y / np.sqrt((y**2).mean(-1, keepdims=True) + eps) + bias)


def norm_derivative(x: Array, gain: Array, eps: float, *, centre: bool) -> Array:
    """The Jacobian of BD-N2 at one vector."""
    d = len(x)
    y = x - x.mean() if centre else x
    sigma = np.sqrt((y**2).mean() + eps)
    inner = np.eye(d) - np.outer(y, y) / (d * sigma**2)
    if centre:
        inner = inner - np.ones((d, d)) / d
    return np.asarray(np.diag(gain) @ inner / sigma)
