"""Which heads of a layer act, decided exactly: heads with equal scores are one head, a head with ``O V = 0`` is none.

The weights ``a^h_ij`` depend on the scores alone, so heads with the same score matrix add to one head with the value matrix
``sum_h O_h V_h``, and a group whose sum is zero moves no token.  A question is whether a sum of products of stored matrices
is the zero matrix.  One entry that is not zero, in exact rational arithmetic, says no; only a product whose every entry is
zero, in exact integer arithmetic, says yes.  Where that is too large to be asked the answer is no: heads are never merged
or left out on the strength of a float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from eigentoken.numerics.certified.exact_matrices import ExactMatrix
from eigentoken.numerics.certified.rounding import TINY, Array, gamma

__all__ = ["acting_groups", "has_no_scores", "is_identity", "product_is_zero", "same_scores"]

#: The largest width at which a whole product is formed in exact integers.
LARGEST = 512
#: Rows of a product that are formed together.
ROWS = 64


class StoredHead(Protocol):
    """What is read of a head here: its stored matrices, biases and scale."""

    @property
    def Q(self) -> Array: ...
    @property
    def K(self) -> Array: ...
    @property
    def V(self) -> Array: ...
    @property
    def O(self) -> Array: ...  # noqa: E743 - the letter of the papers
    @property
    def scale(self) -> float: ...
    @property
    def q_bias(self) -> Array | None: ...
    @property
    def k_bias(self) -> Array | None: ...


def product_is_zero(left: Array, right: Array) -> bool:
    """Is ``left @ right`` (d, r) (r, d) certified to be the zero matrix?  ``False`` where it is not, or is too large.

    >>> product_is_zero(np.array([[1.0, -1.0]]), np.array([[0.5], [0.5]]))
    True
    """
    first, second = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if not first.any() or not second.any():
        return True
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return False
    with np.errstate(all="ignore"):
        row = int(np.argmax(np.abs(first).max(axis=1)))
        column = int(np.argmax(np.nan_to_num(np.abs(first[row] @ second), nan=np.inf)))
    if max(first.shape[0], second.shape[1]) > LARGEST or _is_no_zero(first[row], second[:, column]):
        return False
    whole = ExactMatrix.from_floats(second).numerators
    for start in range(0, len(first), ROWS):  # never d x d at once
        exact = ExactMatrix.from_floats(np.ascontiguousarray(first[start : start + ROWS])).numerators * whole
        if any(entry != 0 for entry in exact.entries()):
            return False
    return True


def _is_no_zero(row: Array, column: Array) -> bool:
    """Is the inner product of two float vectors not zero?  In floats with a bound first, then exactly."""
    with np.errstate(all="ignore"):
        value, size = abs(float(row @ column)), float(np.abs(row) @ np.abs(column))
    k = len(row)
    if value > 2 * gamma(k + 1) * size + k * TINY and math.isfinite(size):
        return True
    return _entry(row, column) != 0


def _entry(row: Array, column: Array) -> Fraction:
    """The exact inner product of two float vectors."""
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, column, strict=True)), Fraction(0))


def is_identity(left: Array, right: Array, scale: float = 1.0) -> bool:
    """Is ``left @ right / scale`` certified to be the identity?"""
    d, r = np.shape(left)
    if r < d:
        return False  # its rank is below d
    one = np.eye(d)
    return product_is_zero(np.hstack([left, -scale * one]), np.vstack([right, one]))


def same_scores(head: StoredHead, other: StoredHead, turned: bool) -> bool:
    """Have two heads certainly the same weights?  With rotary positions only where Q, K and their biases are the same numbers.

    ``(Q x_i + b_Q)^T (K x_j + b_K)`` is ``x_i^T Q^T K x_j + b_Q^T K x_j`` up to what is the same for all keys j, which softmax
    does not see: ``[Q^T; b_Q^T] K / scale`` decides.
    """
    if has_no_scores(head, turned) and has_no_scores(other, turned):
        return True
    if head.scale != other.scale or head.Q.shape != other.Q.shape:
        return False
    if np.array_equal(_queries(head), _queries(other)) and np.array_equal(head.K, other.K):
        return not turned or np.array_equal(_bias(head.k_bias, head), _bias(other.k_bias, other))
    if turned:
        return False
    return product_is_zero(np.hstack([_queries(head), -_queries(other)]), np.vstack([head.K, other.K]))


def has_no_scores(head: StoredHead, turned: bool = False) -> bool:
    """Are the scores of the head certainly zero, so that it averages evenly?"""
    if turned:  # (Q x + b_Q)^T R (K y + b_K) is zero for every rotation only where a factor is
        return not _queries(head).any() or not (np.any(head.K) or np.any(_bias(head.k_bias, head)))
    return product_is_zero(_queries(head), head.K)


def _queries(head: StoredHead) -> Array:
    """``[Q^T; b_Q^T]`` (d + 1, d_h)."""
    return np.vstack([np.asarray(head.Q, dtype=np.float64).T, _bias(head.q_bias, head)])


def _bias(stored: Array | None, head: StoredHead) -> Array:
    return np.zeros(head.Q.shape[0]) if stored is None else np.asarray(stored, dtype=np.float64)


def acting_groups(heads: Sequence[StoredHead], turned: bool = False, alike: bool = True) -> tuple[tuple[int, ...], ...]:
    """The heads by equal scores, without the groups whose values add to zero: as many heads as the layer acts with.

    ``heads`` have Q, K, V, O and ``scale``; ``turned``: the scores depend on rotary positions.  Not ``alike``: positions add
    to the scores of each head what its weights do not show (ALiBi slopes, relative biases), so no two heads are one.
    """
    if not alike:
        return tuple((index,) for index, head in enumerate(heads) if not _no_values([head]))
    groups: list[list[int]] = []
    seen = [_one_score(head, heads[0]) for head in heads] if len(heads) > 1 else [None]
    for index, head in enumerate(heads):
        for group in groups:
            if seen[group[0]] == seen[index] and same_scores(heads[group[0]], head, turned):
                group.append(index)
                break
        else:
            groups.append([index])
    return tuple(tuple(group) for group in groups if not _no_values([heads[index] for index in group]))


def _one_score(head: StoredHead, first: StoredHead) -> Fraction | None:
    """One entry of ``Q^T K / scale``, exact, at the place where that of the first head is likely large: no two heads with
    different entries have the same scores."""
    row = int(np.argmax(np.abs(first.Q).sum(axis=0)))
    column = int(np.argmax(np.abs(first.K).sum(axis=0)))
    query, key = head.Q[:, row], head.K[:, column]
    if not (np.isfinite(query).all() and np.isfinite(key).all() and head.scale):
        return None
    return _entry(query, key) / Fraction(head.scale)


def _no_values(heads: Sequence[StoredHead]) -> bool:
    return product_is_zero(np.hstack([head.O for head in heads]), np.vstack([head.V for head in heads]))
