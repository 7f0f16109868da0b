"""Matrices that are cheaper than their entries: products of thin factors, row scalings, rotary scores.

A system asks three things of a matrix M: ``M x_i`` for each token, the scores ``x_i^T M x_j``, and (for the reduction
to the span of the tokens) ``Q^T M Q``.  The structured matrices answer without building the d x d array, which is what
a real attention head (rank d_head) or a modulated score ``P(t) = D(t) P'`` needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = [
    "RotaryMatrix",
    "RowScaled",
    "StructuredMatrix",
    "act",
    "compress",
    "dense",
    "pair_scores",
]


class StructuredMatrix(ABC):
    """A matrix known by its action on tokens (rows of ``x``, shape ``(..., n, d)``)."""

    @abstractmethod
    def act(self, x: Tensor) -> Tensor:
        """``M x_i`` for each token i."""

    @abstractmethod
    def pair_scores(self, x: Tensor) -> Tensor:
        """``x_i^T M x_j``, shape ``(..., n, n)``."""

    @abstractmethod
    def dense(self) -> Tensor:
        """The entries of M."""

    @abstractmethod
    def compress(self, basis: Tensor) -> Tensor | StructuredMatrix:
        """``Q^T M Q`` for a basis Q of shape ``(..., d, r)``."""


@dataclass(frozen=True)
class RowScaled(StructuredMatrix):
    """``M = diag(scale) matrix``: the modulated scores ``D(t) P'`` of Abella et al., sections 7.2 to 7.4."""

    scale: Tensor
    matrix: Tensor

    def act(self, x: Tensor) -> Tensor:
        return (x @ self.matrix.mT) * self.scale.unsqueeze(-2)

    def pair_scores(self, x: Tensor) -> Tensor:
        return (x * self.scale.unsqueeze(-2)) @ (x @ self.matrix.mT).mT

    def dense(self) -> Tensor:
        return self.scale.unsqueeze(-1) * self.matrix

    def compress(self, basis: Tensor) -> Tensor:
        return (basis * self.scale.unsqueeze(-1)).mT @ (self.matrix @ basis)


@dataclass(frozen=True)
class RotaryMatrix:
    """Position-dependent scores ``W_li = Q R_(l-i) K^T`` (PH-T7), with R rotating the pairs of coordinates.

    ``query`` and ``key`` are (d, r), r even; pair m turns by ``frequencies[m]`` a position.  Called with ``(l, i)`` it
    gives the matrix W_li (the form that loop-only twins read); :meth:`pair_scores` does all pairs at once.
    """

    query: Tensor
    key: Tensor
    frequencies: Tensor

    def __post_init__(self) -> None:
        r = self.query.shape[-1]
        if r % 2 or self.key.shape != self.query.shape or self.frequencies.shape != (r // 2,):
            raise ValueError(
                "Rotary needs query and key of one shape (d, r) with r even and r/2 frequencies, got "
                f"{tuple(self.query.shape)}, {tuple(self.key.shape)}, {tuple(self.frequencies.shape)}"
            )

    def turn(self, y: Tensor, positions: Tensor) -> Tensor:
        """Row l of ``y`` (..., n, r) times R_l: each pair (a, b) becomes (a cos + b sin, b cos - a sin)."""
        angle = positions.to(y.dtype).unsqueeze(-1) * self.frequencies.to(y.dtype)
        cos, sin = torch.cos(angle), torch.sin(angle)
        a, b = y[..., 0::2], y[..., 1::2]
        return torch.stack((a * cos + b * sin, b * cos - a * sin), dim=-1).flatten(-2)

    def pair_scores(self, x: Tensor) -> Tensor:
        """``x_l^T W_li x_i`` for all l, i."""
        positions = torch.arange(x.shape[-2], device=x.device)
        return self.turn(x @ self.query, positions) @ self.turn(x @ self.key, positions).mT

    def __call__(self, l: int, i: int) -> list[list[float]]:
        """W_li as rows of floats."""
        angle = (l - i) * self.frequencies
        cos, sin = torch.cos(angle), torch.sin(angle)
        rotation = torch.zeros(2 * len(angle), 2 * len(angle), dtype=self.query.dtype)
        for m in range(len(angle)):
            rotation[2 * m, 2 * m] = rotation[2 * m + 1, 2 * m + 1] = cos[m]
            rotation[2 * m, 2 * m + 1] = -sin[m]
            rotation[2 * m + 1, 2 * m] = sin[m]
        rows: list[list[float]] = (self.query @ rotation @ self.key.mT).tolist()
        return rows


def act(matrix: Any, x: Tensor) -> Tensor:
    """``M x_i`` for each token; ``None`` is the identity."""
    if matrix is None:
        return x
    if isinstance(matrix, StructuredMatrix):
        return matrix.act(x)
    tokens = x.contiguous() if 0 in x.stride() else x  # an expanded average: the product is ten times slower on it
    return tokens @ _entries(matrix, x).mT


def pair_scores(matrix: Any, x: Tensor) -> Tensor:
    """``x_i^T M x_j`` for each pair of tokens."""
    if isinstance(matrix, StructuredMatrix | RotaryMatrix):
        return matrix.pair_scores(x)
    if callable(matrix):
        return _scores_by_pair(matrix, x)
    return x @ (x @ _entries(matrix, x).mT).mT


def dense(matrix: Any, like: Tensor) -> Tensor:
    """The entries of a matrix in the arithmetic of ``like``."""
    return matrix.dense() if isinstance(matrix, StructuredMatrix) else _entries(matrix, like)


def compress(matrix: Any, basis: Tensor) -> Any:
    """``Q^T M Q``; ``None`` (the identity) becomes ``Q^T Q``, which is the identity for an orthonormal basis."""
    if matrix is None:
        return None
    if isinstance(matrix, StructuredMatrix):
        return matrix.compress(basis)
    return basis.mT @ (_entries(matrix, basis) @ basis)


def _entries(matrix: Any, like: Tensor) -> Tensor:
    if isinstance(matrix, Tensor):
        return matrix
    if isinstance(matrix, Sequence):
        matrix = [[float(entry) for entry in row] for row in matrix]
    return torch.as_tensor(matrix, dtype=like.dtype, device=like.device)


def _scores_by_pair(score: Any, x: Tensor) -> Tensor:
    n = x.shape[-2]
    rows = [
        torch.stack(
            [(x[..., i, :] * act(score(i, j), x[..., j : j + 1, :])[..., 0, :]).sum(-1) for j in range(n)], dim=-1
        )
        for i in range(n)
    ]
    return torch.stack(rows, dim=-2)
