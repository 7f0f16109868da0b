"""PM-X5 on instances: two antipodal groups at the top eigenvector e_1, of score zero, are left on one side, on both, or on none.

The layer itself is run.  Half of the tokens at z and half at -z stay such a state, and what they do is read from ``z_l/z_1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eigentoken.proofs.properties.token_fields import Array, attention, unit_rows

__all__ = ["kept_pairs", "left_sides"]


def _layer(x: Array, values: Array, M: Array, step: float) -> Array:
    return unit_rows(x + step * attention(x, M) @ x * values)


def _drawn(source: np.random.Generator) -> tuple[Array, Array]:
    """Eigenvalues with a simple positive leader, scores with ``e_1^T M e_1 = 0``."""
    size = int(source.integers(2, 5))
    values = np.append(1.0, source.uniform(-2, 0.9, size=size - 1))
    M = source.normal(size=(size, size))
    M[0, 0] = 0.0
    return values, M


def _grows(values: Array, M: Array, step: float, half: int, at: int, angle: float) -> float:
    """``|t| - |t^+|`` of ``t = z_l/z_1`` in one layer: negative where the state is left."""
    z = np.zeros(len(values))
    z[0], z[at] = np.cos(angle), np.sin(angle)
    x = np.array([z] * half + [-z] * half)
    after = _layer(x, values, M, step)[0]
    return float(abs(np.tan(angle)) - abs(after[at] / after[0]))


def left_sides(source: np.random.Generator) -> Mapping[str, float]:
    """A mixed score that is not zero: one side is left.  None, and a negative score of the other eigenvector: both are."""
    values, M = _drawn(source)
    half, at = int(source.integers(1, 4)), int(source.integers(1, len(values)))
    step = float(source.uniform(0.05, 3))
    mixed = M[0, at] + M[at, 0]
    angle = -np.sign(mixed) * min(0.02, 0.02 * abs(mixed) / (1 + abs(M[at, at])))
    found = {"one side": _grows(values, M, step, half, at, float(angle))}
    M[at, 0], M[at, at] = -M[0, at], -abs(M[at, at]) - 0.1
    for side in (1, -1):
        found[f"side {side}"] = _grows(values, M, step, half, at, side * float(source.uniform(0.005, 0.02)))
    return found


def kept_pairs(source: np.random.Generator) -> Mapping[str, float]:
    """Two tokens, no mixed score, lambda_2 < 0 and alpha |lambda_d| < 2: a pair that starts within 0.02 stays within 0.1.

    With a positive form across e_1 (``kept``), and with none (``at rest``), where every antipodal pair is fixed.
    """
    size = int(source.integers(2, 5))
    values = np.append(1.0, source.uniform(-2, -0.2, size=size - 1))
    step = float(source.uniform(0.1, 0.9)) * 2 / float(np.abs(values).max())
    skew, root = source.normal(size=(size, size)), source.normal(size=(size - 1, size - 1))
    M: Any = skew - skew.T
    found = {"at rest": _farthest(source, values, M, step)}
    z = unit_rows(source.normal(size=(1, size)))[0]
    pair = np.array([z, -z])
    found["a fixed pair"] = float(np.abs(_layer(pair, values, M, step) - pair).max()) - 1e-12
    M = M.copy()
    M[1:, 1:] += root @ root.T + 0.1 * np.eye(size - 1)
    found["kept"] = _farthest(source, values, M, step)
    return found


def _farthest(source: np.random.Generator, values: Array, M: Array, step: float) -> float:
    first = np.zeros((2, len(values)))
    first[:, 0] = 1, -1
    nudge = source.normal(size=first.shape)
    x = unit_rows(first + 0.02 * nudge / np.linalg.norm(nudge))
    worst = 0.0
    for _ in range(100):
        x = _layer(x, values, M, step)
        worst = max(worst, float(np.abs(x - first).max()))
    return worst - 0.1
