"""Steering by a rank-one edit of a layer's output matrix (PM-S1, PM-S2, PM-S3).

With ``O = [O_1 ... O_H]`` and ``V = [V_1; ...; V_H]`` square and invertible, ``O' = O + mu w z^T V^-1`` gives
``F' = O' V = F + mu w z^T``; with ``z^T w = 1`` its leading eigenvalue is about ``mu + z^T F w`` and the eigenvector is
within ``|P_w F w| / mu`` of w.  What is *claimed* is claimed of the matrix as it is stored after rounding: its leader and
the angle of the leading eigenvector to w are certified there.  For one token (PM-S3), with ``u_i`` the old update and
``kappa_i = z^T V^-1 o_i``:

    tan angle(x_i^+, +-w) <= (|x_i| + |u_i|) / (|mu kappa_i| - |x_i| - |u_i|)   where the denominator is positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentoken.numerics.certify import certify
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.verdicts import Verdict

__all__ = ["Edit", "TokenGuarantee", "certify_edit", "edit_output", "token_guarantees"]

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Edit:
    """The edit: the new output matrix (float64, before it is stored), and its parts."""

    output: Array
    direction: Array
    left: Array
    strength: float
    value_condition: float


def edit_output(O: Any, V: Any, direction: Any, strength: float, left: Any = None) -> Edit:
    """``O + mu w z^T V^-1``; w is normalised, z is w unless given, and scaled to ``z^T w = 1``."""
    output, value = np.asarray(O, dtype=np.float64), np.asarray(V, dtype=np.float64)
    if value.shape[0] != value.shape[1]:
        raise ValueError(f"V must be square (H d_head = d) to steer, got {value.shape}: this layer cannot be edited so")
    w = np.asarray(direction, dtype=np.float64).ravel()
    if w.shape != (value.shape[1],):
        raise ValueError(f"direction must have {value.shape[1]} entries, got {w.size}: it is a vector in token space")
    size = float(np.linalg.norm(w))
    if not np.isfinite(size) or size == 0:
        raise ValueError("direction must be a finite vector that is not zero")
    if not (np.isfinite(strength) and strength > 0):
        raise ValueError(f"strength must be a positive number, got {strength}")
    w = w / size
    z = w if left is None else np.asarray(left, dtype=np.float64).ravel()
    overlap = float(z @ w)
    if overlap == 0:
        raise ValueError("the left vector must not be orthogonal to the direction: z^T w = 1 is needed (PM-S1)")
    z = z / overlap
    row = np.linalg.solve(value.T, z)
    return Edit(output + strength * np.outer(w, row), w, z, strength, float(np.linalg.cond(value)))


def certify_edit(weights: LayerWeights, direction: Array) -> dict[str, Verdict]:
    """Of the layer as stored: its leader by real part, by |1 + lambda|, and the certified leading eigenvector."""
    value = weights.value
    return {
        "leader by real part": certify("dominant-real-part", value),
        "leader by |1 + lambda|": certify("dominant-step", value, alpha=1),
        "leading eigenvector": certify("principal-eigenvector", value),
    }


@dataclass(frozen=True)
class TokenGuarantee:
    """How far token i can end from the line of w, from its own numbers; ``None`` where nothing is guaranteed."""

    kappa: float
    tangent_bound: float | None


def token_guarantees(x: Array, update: Array, mixed: Array, V: Any, edit: Edit) -> list[TokenGuarantee]:
    """PM-S3 for tokens x (m, d) with old update u (m, d) and mixed values o (m, H d_head)."""
    kappas = np.linalg.solve(np.asarray(V, dtype=np.float64), mixed.T).T @ edit.left
    sizes = np.linalg.norm(x, axis=1) + np.linalg.norm(update, axis=1)
    room = np.abs(edit.strength * kappas) - sizes
    return [
        TokenGuarantee(float(kappa), float(size / free) if free > 0 else None)
        for kappa, size, free in zip(kappas, sizes, room, strict=True)
    ]
