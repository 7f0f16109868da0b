"""Stored factors whose products are given matrices: how a layer is written that has a neighbour for its F, or its scores.

Two ways.  *Near*: ``O'`` and ``K'`` beside the values and queries that are there, ``O' V = F'`` and ``Q^T K' = S'`` by least
squares; rounding moves the products, so that only open conditions survive it.  *As it stands*: the neighbour is itself a stored
matrix, ``O' = [I 0]`` and ``V' = F'``, which rounds entry by entry: a symmetric matrix stays symmetric, the identity itself.
So for scores: ``Q' = I``, ``K' = S'``; where ``S' = X F'`` with a symmetric X, ``Q' = X`` and ``K' = V'``.  The heads of such a
layer are others: they have d / H coordinates each of what F' puts out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from eigentoken.numerics.certified.enclosures import Enclosure, total
from eigentoken.numerics.certified.rounding import Array
from eigentoken.numerics.layers.nearest import Nearby
from eigentoken.numerics.layers.quantities import Interval, norm_of, scaled_interval
from eigentoken.numerics.layers.weights import LayerWeights

__all__ = ["Factors", "StoredHeads", "as_it_stands", "moved_scores", "moved_values", "near"]

#: The stacked matrices of a layer that change: [O_1 ... O_H], and the rows of all heads below one another.
Factors = dict[Literal["O", "Q", "K", "V"], Array]


@dataclass(frozen=True, eq=False)
class StoredHeads:
    """The stacked matrices of a layer; ``values_of``: which heads have the same value rows; ``turned``: scores have positions."""

    O: Array
    Q: Array
    K: Array
    V: Array
    scale: float
    values_of: Sequence[int]
    turned: bool = False


def near(wanted: Nearby, stored: StoredHeads) -> Factors | None:
    """Other outputs, and keys, beside what else is stored; None where these cannot reach the neighbour."""
    made: Factors = {}
    if wanted.value is not None:
        outputs = _solved(stored.V.T, wanted.value.T, stored.O.T)
        if outputs is None:
            return None
        made["O"] = outputs.T
    if wanted.score is not None:
        keys = _solved(stored.Q.T, wanted.score, stored.K) if _has_one_score(stored) else None
        if keys is None:
            return None
        made["K"] = keys
    return made or None


def _solved(A: Array, B: Array, start: Array) -> Array | None:
    """X near ``start`` with ``A X = B``; None where the columns of A do not span what it takes."""
    A, start = np.asarray(A, dtype=np.float64), np.asarray(start, dtype=np.float64)
    missing = B - A @ start
    change = np.linalg.lstsq(A, missing, rcond=None)[0]
    if not np.linalg.norm(A @ change - missing) <= 1e-6 * (np.linalg.norm(missing) or 1.0):
        return None
    return np.asarray(start + change)


def as_it_stands(wanted: Nearby, stored: StoredHeads) -> Factors | None:
    """The neighbour as a stored matrix; None where the heads have too few rows for it, or the scores are not one head's."""
    made: Factors = {}
    F = wanted.value
    if F is None and wanted.quotient is not None:  # the values that are there, as one matrix
        F = np.asarray(stored.O, dtype=np.float64) @ np.asarray(stored.V, dtype=np.float64)
    if F is not None:
        values = _divided(F, stored)
        if values is None:
            return None
        made |= values
    if wanted.score is None:
        return made
    d, rows = stored.Q.shape[1], len(stored.Q)
    if rows < d or not _has_one_score(stored):
        return None
    below = np.zeros((rows - d, d))
    if wanted.quotient is None:
        made["Q"], made["K"] = np.vstack([np.eye(d), below]), np.vstack([wanted.score, below])
    elif len(made["V"]) == rows:
        made["Q"], made["K"] = np.vstack([wanted.quotient * stored.scale, below]), made["V"]
    else:
        return None
    return made


def _has_one_score(stored: StoredHeads) -> bool:
    """Is the sum of the scores that of one head, without positions?"""
    return len(stored.values_of) == 1 and not stored.turned


def _divided(F: Array, stored: StoredHeads) -> Factors | None:
    """``[I 0]`` and F: the rows of F, a head after the other; None where the heads have fewer rows than F."""
    wide, d = stored.O.shape[1] // len(stored.values_of), len(F)
    O, rows, taken = np.zeros(stored.O.shape), {}, 0
    for head, group in enumerate(stored.values_of):
        if group not in rows:
            take = min(wide, d - taken)
            rows[group] = np.zeros((wide, d))
            rows[group][:take] = F[taken : taken + take]
            O[taken : taken + take, head * wide : head * wide + take] = np.eye(take)
            taken += take
    return None if taken < d else {"O": O, "V": np.concatenate([rows[group] for group in stored.values_of])}


def moved_values(before: LayerWeights, after: LayerWeights) -> Interval:
    """The enclosure of ``|F' - F|`` of two layers."""
    return norm_of(_apart(after.value, before.value))


def moved_scores(before: LayerWeights, after: LayerWeights) -> Interval | None:
    """The enclosure of ``|P' - P|`` of the layers' only head; None where there are several."""
    if len(before.heads) != 1:
        return None
    return scaled_interval(norm_of(_apart(after.heads[0].score, before.heads[0].score)), before.heads[0].scale)


def _apart(one: Enclosure, other: Enclosure) -> Enclosure:
    return total([one, replace(other, center=-other.center, _exact=None)])
