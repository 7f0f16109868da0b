"""Random matrices as tokens see them: what a null of redrawn attention weights draws for a head, and for a layer.

n tokens span at most m = min(n, d) directions, and a Gaussian matrix has the same law in every orthonormal basis; so of a matrix
(r, d) with independent normal entries only its first m columns G are drawn, and for what is beside the tokens the triangular
factor H of the other d - m columns, with normal entries below a diagonal of chi with d - m, d - m - 1, ... degrees of freedom
(Bartlett 1933).  ``[G, H]`` has the Gram matrix and the images of the tokens of the whole matrix, and ``C^-1 [G, H]``, where
``C C^T`` is that Gram matrix, those of a uniform orthonormal frame of rows (Mezzadri 2007).  Only the degrees depend on d.

Of the weights *Gaussian factors* redraws Q, K, V, O with independent normal entries of the same mean square; *random bases* puts
``Q R_1, K R_2, V R_3, R_4 O`` in their place, R independent and uniform: all singular values, of each head and of their sums, and
what positions and biases do inside a head, stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["HeadDraws", "draw_heads", "lower_factors", "random_rotations"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeadDraws:
    """``rows`` (N, k_q + k_k + k_v, m + t): queries, keys and values of each draw one below the other, the first ``m`` columns
    along the tokens; ``output`` (N, k_v, k_v'): a triangular factor of ``O^T``, with ``|O y| = |output^T y|``."""

    rows: Floats
    output: Floats
    m: int
    widths: tuple[int, int, int]

    def parts(self) -> tuple[Floats, Floats, Floats]:
        """Queries, keys, values."""
        first, second = self.widths[0], self.widths[0] + self.widths[1]
        return self.rows[:, :first], self.rows[:, first:second], self.rows[:, second:]

    def frames(self, d: int) -> tuple[Floats, Floats, Floats]:
        """The uniform orthonormal rows that Gram and Schmidt make of the first ``min(k, d)`` of each part."""
        return tuple(_frame(part[:, :d]) for part in self.parts())  # type: ignore[return-value]


def _frame(rows: Floats) -> Floats:
    lower = np.linalg.cholesky(rows @ rows.swapaxes(-1, -2))
    return np.asarray(np.linalg.solve(lower, rows))


def lower_factors(source: np.random.Generator, count: int, rows: int, columns: int) -> Floats:
    """The lower triangular (rows, min(rows, columns)) factors L, ``G = L Q``, of ``count`` Gaussian matrices (rows, columns)."""
    width = min(rows, columns)
    found = np.tril(source.standard_normal((count, rows, width)), -1)
    place = np.arange(width)
    found[:, place, place] = np.sqrt(source.chisquare(columns - place, (count, width)))
    return found


def draw_heads(
    source: np.random.Generator, count: int, widths: tuple[int, int, int], m: int, d: int, output: tuple[int, int]
) -> HeadDraws:
    """``count`` draws for a head whose queries, keys and values have ``widths`` rows, at tokens that span ``m`` of d directions.

    ``output``: the columns and rows of O, the width of values and d.
    """
    rows = sum(widths)
    along = source.standard_normal((count, rows, m))
    beside = lower_factors(source, count, rows, d - m) if d > m else np.zeros((count, rows, 0))
    return HeadDraws(np.concatenate([along, beside], axis=-1), lower_factors(source, count, *output), m, widths)


def random_rotations(source: np.random.Generator, count: int, d: int, columns: int) -> Floats:
    """``count`` uniform orthonormal frames (d, columns): the first columns of a uniform rotation."""
    base, triangle = np.linalg.qr(source.standard_normal((count, d, columns)))
    return np.asarray(base * np.sign(np.diagonal(triangle, axis1=-2, axis2=-1))[..., None, :])
