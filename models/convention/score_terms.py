"""Positions that add to the scores: ALiBi, learned biases of offsets, and DeBERTa's terms of content and position.

Each is called with the queries and keys of all heads, (..., H, n, d_h), and gives what is added to ``q^T k / scale``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eigentoken.display import with_shapes
from eigentoken.models.convention.rotary import Array


@dataclass(frozen=True)
class Alibi:
    """``slope_h (j - i)`` for query i and key j (Press et al., 2022)."""

    kind: ClassVar[str] = "ALiBi"
    slopes: tuple[float, ...]

    def __call__(self, q: Array, k: Array) -> Array:
        n = q.shape[-2]
        offset = np.subtract.outer(np.arange(n), np.arange(n)).T
        return np.multiply.outer(np.asarray(self.slopes), offset)


def alibi_slopes(heads: int, largest: float = 8.0) -> tuple[float, ...]:
    """``2^(-largest m / H)``, m = 1 .. H; for H no power of two those of the power below, then every second of that above.

    >>> alibi_slopes(4)
    (0.25, 0.0625, 0.015625, 0.00390625)
    """
    power = 1 << (heads.bit_length() - 1)

    def of(count: int) -> list[float]:
        return [2.0 ** (-largest * m / count) for m in range(1, count + 1)]

    return tuple(of(power) + of(2 * power)[0::2][: heads - power])


@dataclass(frozen=True, eq=False, repr=False)
class OffsetBias:
    """``learned[bucket(j - i), h]``: a learned number for each head and bucket of offsets (Raffel et al., T5, 2020)."""

    __repr__ = with_shapes

    kind: ClassVar[str] = "relative"
    learned: Array
    both_ways: bool
    farthest: int

    def __call__(self, q: Array, k: Array) -> Array:
        n = q.shape[-2]
        offset = np.subtract.outer(np.arange(n), np.arange(n)).T
        buckets = log_buckets(offset, len(self.learned), self.both_ways, self.farthest)
        return np.moveaxis(self.learned[buckets], -1, 0)


def log_buckets(offset: Array, count: int, both_ways: bool, farthest: int) -> Array:
    """T5's buckets: half of them for single offsets, the others wider and wider up to ``farthest``; signs apart if both ways."""
    first = np.zeros_like(offset)
    size = count // 2 if both_ways else count
    if both_ways:
        first = np.where(offset > 0, size, 0)
        distance = np.abs(offset)
    else:
        distance = np.maximum(-offset, 0)
    exact = size // 2
    with np.errstate(divide="ignore"):
        # in single precision, as the models were trained: an offset at the edge of a bucket must fall on their side
        ratio = np.log(distance.astype(np.float32) / np.float32(exact)) / np.float32(math.log(farthest / exact))
        far = exact + np.where(distance < exact, 0.0, ratio * np.float32(size - exact)).astype(np.int64)
    return np.asarray(first + np.where(distance < exact, distance, np.minimum(far, size - 1)))


@dataclass(frozen=True, eq=False, repr=False)
class GridBias:
    """A learned number for each head and pair of places in a grid of patches behind a class token (Bao et al., BEiT, 2022)."""

    __repr__ = with_shapes

    kind: ClassVar[str] = "relative"
    learned: Array
    rows: int
    columns: int

    def __call__(self, q: Array, k: Array) -> Array:
        n = self.rows * self.columns + 1
        place = np.stack(np.meshgrid(np.arange(self.rows), np.arange(self.columns), indexing="ij")).reshape(2, -1)
        between = place[:, :, None] - place[:, None, :] + np.array([self.rows - 1, self.columns - 1])[:, None, None]
        index = np.zeros((n, n), dtype=np.int64)
        index[1:, 1:] = between[0] * (2 * self.columns - 1) + between[1]
        last = len(self.learned)
        index[0, :], index[:, 0], index[0, 0] = last - 3, last - 2, last - 1
        return np.moveaxis(self.learned[index], -1, 0)


@dataclass(frozen=True, eq=False, repr=False)
class Disentangled:
    """DeBERTa (He et al., 2021): content to position and position to content beside content to content.

    ``(q_i^T k^r_{b(i-j)} + k_j^T q^r_{b(i-j)}) / scale`` with keys and queries ``k^r, q^r`` (H, 2 s, d_h) of relative positions
    and ``b(t)`` the bucket of an offset; a part that the model does not have is None.
    """

    __repr__ = with_shapes

    kind: ClassVar[str] = "disentangled"
    position_keys: Array | None
    position_queries: Array | None
    scale: float
    span: int
    buckets: int
    farthest: int

    def __call__(self, q: Array, k: Array) -> Array:
        n = q.shape[-2]
        offset = np.subtract.outer(np.arange(n), np.arange(n))
        if self.buckets > 0:
            offset = signed_log_buckets(offset, self.buckets, self.farthest)
        here = np.clip(offset + self.span, 0, 2 * self.span - 1)
        found: Any = np.zeros((*q.shape[:-1], n), dtype=q.dtype)
        if self.position_keys is not None:
            every = q @ self.position_keys.astype(q.dtype).swapaxes(-1, -2)
            found = found + np.take_along_axis(every, np.broadcast_to(here, found.shape), -1)
        if self.position_queries is not None:
            every = k @ self.position_queries.astype(q.dtype).swapaxes(-1, -2)
            found = found + np.take_along_axis(every, np.broadcast_to(here.T, found.shape), -1).swapaxes(-1, -2)
        return np.asarray(found / q.dtype.type(self.scale))


def signed_log_buckets(offset: Array, buckets: int, farthest: int) -> Array:
    """DeBERTa-v2's buckets: offsets below half of them as they are, larger ones logarithmically up to ``farthest``."""
    middle = buckets // 2
    distance = np.where(np.abs(offset) < middle, middle - 1, np.minimum(np.abs(offset), farthest - 1)).astype(
        np.float32
    )
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # with two buckets a distance of 0 stands for offsets that are kept
        ratio = np.log(distance / np.float32(middle)) / np.float32(math.log((farthest - 1) / middle))
        far = np.ceil(ratio * np.float32(middle - 1)) + middle
    return np.asarray(np.where(np.abs(offset) <= middle, offset, far * np.sign(offset)).astype(np.int64))


ScoreTerms = Alibi | OffsetBias | GridBias | Disentangled
