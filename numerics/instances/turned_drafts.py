"""A draft with its axes renamed or its tokens turned round: the same instance in another position, for conditions on those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from eigentoken.numerics.instances.exact import ExactDraft

__all__ = ["in_other_positions"]


def in_other_positions(made: ExactDraft) -> Iterator[ExactDraft]:
    """The tokens turned round, and the first axis exchanged with each other one; the systems of the papers do not mind."""
    d = len(made.tokens[0])
    for axis in range(d):
        order = list(range(d))
        order[0], order[axis] = axis, 0
        moved = made if axis == 0 else _renamed(made, order)
        if axis:
            yield moved
        yield replace(moved, tokens=tuple(tuple(-a for a in token) for token in moved.tokens))


def _renamed(made: ExactDraft, order: list[int]) -> ExactDraft:
    def matrix(value: Any) -> Any:
        return tuple(tuple(value[i][j] for j in order) for i in order)

    return replace(
        made,
        matrices={name: matrix(value) for name, value in made.matrices.items()},
        heads=tuple({name: matrix(value) for name, value in head.items()} for head in made.heads),
        tokens=tuple(tuple(token[i] for i in order) for token in made.tokens),
    )
