"""BD-P7 far from the start: how tokens of a pre-norm flow near a leader approach it, as powers of the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigentoken.proofs.bounds.heads import softmax
from eigentoken.proofs.properties.trajectories import integrate

__all__ = ["late_slopes"]


def late_slopes() -> list[float]:
    """V = diag(1, 2/5, -3/10), beta = 2, three tokens near e_1 with lengths near 1 at t = 0: the slopes of the logarithms of
    ``|x_1 - x_2|/xbar_1``, ``xbar_2/xbar_1`` and ``xbar_3/xbar_1`` in ln t from t = 10^4 to 10^5 (in ln(1 + t), in doubles)."""
    start = np.array([[1, 0.01, 0.01], [1, -0.01, 0.02], [1, 0.02, -0.01]])

    def field(log: float, state: Any) -> list[float]:
        x = np.reshape(state, start.shape)
        theta = x / np.linalg.norm(x, axis=1, keepdims=True)
        return list(np.exp(log) * (softmax(2 * theta @ theta.T) @ theta * [1, 0.4, -0.3]).ravel())

    states = integrate(field, list(start.ravel()), [float(np.log(1e4 + 1)), float(np.log(1e5 + 1))], tolerance=1e-12)
    sizes = []
    for state in states:
        x = np.reshape(state, start.shape)
        mean = x.mean(0)
        sizes.append([np.linalg.norm(x[0] - x[1]) / mean[0], abs(mean[1]) / mean[0], abs(mean[2]) / mean[0]])
    return [float(np.log10(late / early)) for early, late in zip(*sizes, strict=True)]
