"""``check`` on synthetic layers whose system is known: heads, mask and positions chosen, weights small integers.

A statement can be about a layer only if one of its systems has the layer's mask and positions, allows its heads, and has its
identity or missing matrices; this is decided here from the list of systems alone.  Where a statement is about the layer, its
conditions of symmetry, definiteness and invertibility on the value and score matrices are decided by rational elimination.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from eigentoken.numerics.layers.layer_readings import read_layer
from eigentoken.numerics.layers.symbol_values import Answers
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.conditions import (
    NegativeDefinite,
    Nonsingular,
    PositiveDefinite,
    PositiveSemidefinite,
    Symmetric,
)
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system as system_named

from . import exact
from .exact import Rows
from .judging import Case, Domain


@cache
def _asked() -> tuple[Any, ...]:
    """The statements that list conditions and are about their systems: one with a subject of its own is not judged by these."""
    import eigentoken.numerics.readings  # noqa: F401 - the readings of conditions
    from eigentoken.theory.statements.subjects import subject_of

    return tuple(each for each in statements() if each.conditions and subject_of(each.id) is None)


def _acting(heads: list[tuple[Rows, Rows]]) -> list[tuple[Rows, Rows]]:
    """Heads with equal scores act as one, with the sum of their values; a head with value zero does not act."""
    merged: list[tuple[Rows, Rows]] = []
    for value, score in heads:
        if not any(any(row) for row in value):
            continue
        for index, (own, same) in enumerate(merged):
            if same == score:
                merged[index] = (exact.plus(own, value), same)
                break
        else:
            merged.append((value, score))
    return [head for head in merged if any(any(row) for row in head[0])]


def _about(statement: Any, heads: list[tuple[Rows, Rows]], mask: str, rotary: bool) -> bool:
    """Could the statement be about this layer?  Generous where the statement says that it covers more."""
    covers = statement.covers
    if covers.replaced:
        return False
    acting = _acting(heads)
    n = len(heads[0][0])
    for name in statement.systems:
        listed = name if not isinstance(name, str) else system_named(name)
        if listed.mask != mask and mask not in covers.masks and "any" not in covers.masks:
            continue
        if (
            (listed.rotary is not None) != rotary
            and "any" not in covers.positions
            and ("rotary" not in covers.positions or not rotary)
        ):
            continue
        several = listed.multihead or covers.heads is not None
        if not several and len(acting) > 1:
            continue
        if len(acting) == 1 and not listed.multihead:
            value, score = acting[0]
            if listed.value is None and value != exact.identity(n):
                continue
            if (
                listed.score is None
                and listed.rotary is None
                and any(any(row) for row in score)
                and covers.heads is None
            ):
                continue
        return True
    return False


def _truth(condition: Any, name: str, heads: list[tuple[Rows, Rows]]) -> bool | None:
    """A condition on the value or score matrix of one acting head, or None where it is not one of those decided here."""
    acting = _acting(heads)
    if len(acting) != 1 or not isinstance(
        condition, Symmetric | PositiveDefinite | PositiveSemidefinite | NegativeDefinite | Nonsingular
    ):
        return None
    listed = system_named(name)
    letters = {letter: rows for letter, rows in zip((listed.value, listed.score), acting[0], strict=True) if letter}
    rows = letters.get(str(condition.term))
    if rows is None or listed.multihead or listed.rotary or listed.metric:
        return None
    if isinstance(condition, Symmetric):
        return rows == exact.transpose(rows)
    if isinstance(condition, Nonsingular):
        return exact.rank(rows) == len(rows)
    p, q, z = exact.inertia(exact.symmetric_part(rows))
    signs = {PositiveDefinite: q == z == 0, NegativeDefinite: p == z == 0, PositiveSemidefinite: q == 0}
    return signs[type(condition)]


def _ask(heads: list[tuple[Rows, Rows]], mask: str, rotary: bool) -> Iterator[Case]:
    n = len(heads[0][0])
    one = np.eye(n)
    arrays = [
        {"Q": one, "K": exact.as_floats(score), "V": exact.as_floats(value), "O": one, "scale": 1.0}
        for value, score in heads
    ]
    positions = "rotary" if rotary else "none"
    weights = LayerWeights.from_arrays(0, arrays, mask=mask, positions=positions, placement="pre", norm="layernorm")
    answers = Answers()
    shown = [[_integers(value), _integers(score)] for value, score in heads]
    for statement in _asked():
        reading = read_layer(statement, weights, answers)
        word = str(reading.answer)
        what = f"{statement.id} on heads (U, P) = {shown}, {mask}, {positions}"
        if not _about(statement, heads, mask, rotary):
            yield Case(
                word, "" if word == "not about this model" else f"{what}: {word}, but it is not about this layer"
            )
            continue
        if word == "not about this model" or reading.system is None:
            yield Case(word)
            continue
        wrong, known = "", []
        for condition in statement.conditions:
            truth = _truth(condition, reading.system, heads)
            verdict = reading.conditions.get(LATEX(condition))
            known.append(truth)
            if (
                truth is not None
                and verdict is not None
                and str(verdict.answer) != "undecided"
                and verdict.is_holds != truth
            ):
                wrong = f"{what}: {LATEX(condition)} {verdict.answer}, but it is {truth}"
        if word == "holds" and False in known:
            wrong = wrong or f"{what}: holds, but a condition is false"
        if word == "fails" and known and all(each is True for each in known):
            wrong = wrong or f"{what}: fails, but every condition is true"
        yield Case(word, wrong)


def _integers(rows: Rows) -> list[list[str]]:
    return [[str(entry) for entry in row] for row in rows]


def _matrix(rng: Any, n: int) -> Rows:
    """Zero, identity, definite, symmetric, singular or any small integers."""
    draw = int(rng.integers(7))
    if draw == 0:
        return exact.scaled(exact.identity(n), 0)
    if draw == 1:
        return exact.identity(n, int(rng.choice([1, 1, -1, 2])))
    any_one = rng.integers(-2, 3, (n, n))
    if draw in (2, 3):
        made = any_one @ any_one.T + (np.eye(n, dtype=int) if rng.random() < 0.7 else 0)
        return exact.fractions(made * int(rng.choice([-1, 1])))
    if draw == 4:
        return exact.fractions(any_one + any_one.T)
    return exact.fractions(any_one)


def one_head(rng: Any) -> Iterator[Case]:
    """One head, full attention."""
    n = int(rng.integers(2, 4))
    yield from _ask([(_matrix(rng, n), _matrix(rng, n))], "full", False)


def several_heads(rng: Any) -> Iterator[Case]:
    """Two or three heads: of equal scores, with zero values, that cancel, or different ones."""
    n = int(rng.integers(2, 4))
    heads = [(_matrix(rng, n), _matrix(rng, n)) for _ in range(int(rng.integers(2, 4)))]
    if rng.random() < 0.4:
        heads[1] = (heads[1][0], heads[0][1])
    if rng.random() < 0.2:
        heads[0] = (exact.scaled(heads[1][0], -1), heads[0][1])
    yield from _ask(heads, "full", False)


def other_systems(rng: Any) -> Iterator[Case]:
    """Causal masks and rotary positions, one head or two."""
    n = int(rng.integers(2, 4))
    heads = [(_matrix(rng, n), _matrix(rng, n)) for _ in range(int(rng.integers(1, 3)))]
    mask, rotary = [("causal", False), ("causal", True), ("full", True)][int(rng.integers(3))]
    yield from _ask(heads, mask, rotary)


DOMAIN = Domain(
    "check",
    "words on synthetic layers with known systems",
    60_000,
    {"one head": one_head, "several heads": several_heads, "causal, rotary": other_systems},
    seeds_at_once=5,
)
