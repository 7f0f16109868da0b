"""Points with many equal tokens: everything is computed for one token of each group, counted with its size.

With full attention a token sees the other tokens only through how many of them sit where.  For a group of c equal tokens the
Jacobian is split by two representatives: one token alone and the c - 1 others together; from these the block of the
zero-sum parts, ``J_ii - J_ij`` (c - 1 times), and the quotient by the groups (sums over each group) are read off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eigentoken.theory.systems.algebra import LoopAlgebra, Mask

__all__ = ["CountedAlgebra", "distinct", "zero_sum_and_quotient"]

Matrix = list[list[Any]]


@dataclass(frozen=True)
class CountedAlgebra(LoopAlgebra):
    """The loops with token j standing for ``counts[j]`` equal tokens; the weights are those of whole groups."""

    counts: tuple[int, ...] = ()

    def attention(
        self, x: Sequence[Sequence[Any]], score: Any, mask: Mask, over_root_d: bool
    ) -> tuple[tuple[Any, ...], ...]:
        """``c_j e^{s_ij} / sum_l c_l e^{s_il}``; full attention only."""
        if mask is not None:
            raise ValueError("mask must be None: counted tokens need full attention")
        rows = []
        for i in range(len(x)):
            terms = []
            for j, count in enumerate(self.counts):
                weight = self.one
                if score is not None:
                    pushed = [sum_of(a * b for a, b in zip(row, x[j], strict=True)) for row in score]
                    weight = self.exp(sum_of(a * b for a, b in zip(x[i], pushed, strict=True)))
                terms.append(weight * (count * self.one))
            total = sum_of(terms)
            if over_root_d:
                total = total * self.sqrt(len(x[0]) * self.one)
            rows.append(tuple(term / total for term in terms))
        return tuple(rows)


def sum_of(values: Any) -> Any:
    """The sum in any arithmetic."""
    total: Any = 0
    for value in values:
        total = total + value
    return total


def distinct(tokens: Sequence[Sequence[Any]]) -> tuple[list[Sequence[Any]], list[int]]:
    """The tokens without repetitions (equal in normal form), and for each token its place among them."""
    kept: list[Sequence[Any]] = []
    places = []
    for token in tokens:
        for place, known in enumerate(kept):
            if all(a == b for a, b in zip(token, known, strict=True)):
                places.append(place)
                break
        else:
            places.append(len(kept))
            kept.append(token)
    return kept, places


def zero_sum_and_quotient(matrix: Matrix, counts: Sequence[int], width: int) -> list[tuple[Matrix, int]]:
    """Blocks with multiplicities, from the Jacobian at split groups.

    ``counts`` are the sizes of the groups; a group of one token has one place in the matrix, a larger one two: one token, and
    the others together.
    """
    places: list[tuple[int, int | None]] = []
    at = 0
    for count in counts:
        places.append((at, at + 1 if count > 1 else None))
        at += 1 if count == 1 else 2

    def part(i: int, j: int) -> Matrix:
        return [row[j * width : (j + 1) * width] for row in matrix[i * width : (i + 1) * width]]

    blocks: list[tuple[Matrix, int]] = []
    quotient: Matrix = []
    for (one, others), count in zip(places, counts, strict=True):
        if others is not None:
            own, shared = part(one, one), part(one, others)
            difference = [
                [a - b / (count - 1) for a, b in zip(x, y, strict=True)] for x, y in zip(own, shared, strict=True)
            ]
            blocks.append((difference, count - 1))
        rows: Matrix = [[] for _ in range(width)]
        for first, rest in places:
            both = part(one, first)
            if rest is not None:
                both = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(both, part(one, rest), strict=True)]
            for row, more in zip(rows, both, strict=True):
                row.extend(more)
        quotient += rows
    return [*blocks, (quotient, 1)]
