"""What an edit does to the distribution of the next token, measured in floats: relative entropy and the likeliest token.

``KL(p || q) = sum_v p_v (log p_v - log q_v)`` in nats, p before and q after the edit, at each position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Damage", "damage"]

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Damage:
    """Mean and largest relative entropy over the positions (nats), and the share where the likeliest token stays."""

    positions: int
    mean_kl: float
    largest_kl: float
    top1_kept: float


def damage(before: ArrayLike, after: ArrayLike) -> Damage:
    """Of logits (..., vocabulary) before and after.

    >>> import numpy as np
    >>> found = damage(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 2.0]]))
    >>> found.positions, found.top1_kept, round(found.largest_kl, 4)
    (2, 0.5, 1.5232)
    """
    p, q = (_log_softmax(np.asarray(each, dtype=np.float64)) for each in (before, after))
    apart = np.sum(np.exp(p) * (p - q), axis=-1).ravel()
    kept = (p.argmax(axis=-1) == q.argmax(axis=-1)).ravel()
    return Damage(int(apart.size), float(max(0.0, apart.mean())), float(max(0.0, apart.max())), float(kept.mean()))


def _log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))
