"""The flows of the cluster literature in floats, with attention weights that sum to one: for vectors and property tests.

Tokens are rows ``x_i``; ``a_ij = softmax_j(x_i^T P x_j)``, over ``j <= i`` where the mask is causal.  In Euclidean space
``x_i' = sum_j a_ij V x_j``; on the sphere the tangential part of it (SA), or of ``(1/n) sum_j e^{x_i^T P x_j} V x_j`` (USA).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigentoken.proofs.properties.trajectories import extrapolated, integrate

__all__ = [
    "attention",
    "euclidean",
    "on_circle",
    "precise",
    "random_units",
    "rescaled",
    "run",
    "sphere",
    "turning",
    "unit_rows",
]

Array = np.ndarray[Any, np.dtype[np.float64]]


def unit_rows(rows: Any) -> Array:
    """Each row divided by its norm."""
    given = np.asarray(rows, dtype=float)
    return np.asarray(given / np.linalg.norm(given, axis=-1, keepdims=True))


def random_units(source: np.random.Generator, n: int, d: int) -> Array:
    """Independent uniform points of the sphere."""
    return unit_rows(source.normal(size=(n, d)))


def on_circle(angles: Sequence[float]) -> Array:
    """``(cos, sin)`` of each angle."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def attention(x: Array, score: Array, causal: bool = False) -> Array:
    """The attention matrix: rows sum to one."""
    scores = x @ score @ x.T
    if causal:
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def euclidean(x: Array, value: Array, score: Array) -> Array:
    """``sum_j a_ij V x_j``."""
    return np.asarray(attention(x, score) @ x @ value.T)


def rescaled(z: Array, t: float, value: Array, score: Array) -> Array:
    """``sum_j a_ij V (z_j - z_i)``: the flow of ``z_i = e^{-tV} x_i``, with weights at ``x = e^{tV} z``."""
    from scipy.linalg import expm

    x = z @ expm(t * value).T
    return np.asarray((attention(x, score) @ z - z) @ value.T)


def sphere(x: Array, value: Array, score: Array, *, causal: bool = False, softmax: bool = True) -> Array:
    """The tangential part of the push: SA, with ``causal`` CSA, without ``softmax`` USA."""
    weights = attention(x, score, causal) if softmax else np.exp(x @ score @ x.T) / len(x)
    push = weights @ x @ value.T
    return np.asarray(push - np.sum(push * x, axis=1, keepdims=True) * x)


def turning(angles: Sequence[Any], score: Any, value: Any = (1, 1), *, causal: bool = False) -> list[Any]:
    """The speeds of angles on the circle, in mpmath, scores ``diag(score)``, values ``diag(value)``, rows sum to one."""
    import mpmath

    units = [(mpmath.cos(each), mpmath.sin(each)) for each in angles]
    speeds = []
    for i, (c, s) in enumerate(units):
        seen = units[: i + 1] if causal else units
        weights = [mpmath.exp(score[0] * c * a + score[1] * s * b) for a, b in seen]
        up = mpmath.fdot(weights, [value[1] * b for _, b in seen])
        across = mpmath.fdot(weights, [value[0] * a for a, _ in seen])
        speeds.append((c * up - s * across) / mpmath.fsum(weights))
    return speeds


def precise(field: Any, start: Sequence[Any], time: Any, digits: int = 22) -> list[Any]:
    """The state at one time, in mpmath: ``field(t, state)`` is a list of numbers."""
    return extrapolated(field, start, [time], digits)[0]


def run(field: Any, start: Array, times: Sequence[float]) -> list[Array]:
    """States at the times from time 0: ``field(t, rows)`` is the velocity."""
    shape = start.shape

    def flat(t: float, state: Any) -> list[float]:
        return [float(each) for each in field(t, np.reshape(state, shape)).ravel()]

    return [np.reshape(each, shape) for each in integrate(flat, list(start.ravel()), times)]
