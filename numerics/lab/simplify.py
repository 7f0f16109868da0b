"""Simpler numbers: a certified counterexample is made easier to read, step by step, while its certificate stands.

Fewer heads and whole matrices first (integers, then rationals with small denominators, then a common factor), then single
entries, then tokens, then fewer tokens and coordinates; and again until nothing changes.  Where a condition speaks of
``A = W B^-1``, the entries of A and W are simplified and B is solved for, so that what is asked of A stays true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import sympy as sp

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.exact import ExactDraft, Rows, exact_rows, rows_of
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.instances.rational import weight
from eigentoken.theory.systems.system import Space

__all__ = ["Tested", "burden", "simplify"]

#: Does the draft still certify?
Tested = Callable[[ExactDraft], bool]
GRIDS = (1, 2, 3, 4, 10)
#: Simple points that are tried for a token.
POINTS = 8
ROUNDS = 4


@dataclass(frozen=True)
class _Derived:
    """A term ``A = left right^-1`` with demands of its own."""

    term: Any
    left: str
    right: str
    symmetric: bool


def simplify(plan: Plan, made: ExactDraft, tested: Tested) -> ExactDraft:
    """The simplest draft that was reached."""
    derived = _derived(plan, made)
    for _ in range(ROUNDS):
        before = made
        for moves in (_head_moves, _matrix_moves, _entry_moves, _token_moves, _size_moves):
            made = _improved(made, tested, partial(moves, plan, derived))
        if made == before:
            break
    return made


def _improved(
    made: ExactDraft, tested: Tested, moves: Callable[[ExactDraft], Iterator[Iterator[ExactDraft]]]
) -> ExactDraft:
    """For each place in turn the first simpler draft that still certifies."""
    number, weighs = 0, burden(made)
    while True:
        options = next((each for index, each in enumerate(moves(made)) if index == number), None)
        if options is None:
            return made
        for tried in options:
            tick()
            lighter = burden(tried)
            if lighter < weighs and tested(tried):
                made, weighs = tried, lighter
                break
        number += 1


def burden(made: ExactDraft) -> int:
    """How much there is to read in the draft."""
    total = 0 if made.alpha is None else weight(made.alpha)
    for group in (made.matrices, made.further, *made.heads):
        total += sum(_heavy(entry) for value in group.values() for entry in _flat(value))
    return total + len(made.heads) + sum(1 + _heavy(entry) for token in made.tokens for entry in token)


def _flat(value: Any) -> Iterator[Any]:
    """The numbers of a matrix, a vector or a number."""
    if isinstance(value, tuple):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def _heavy(entry: Any) -> int:
    return weight(entry) if isinstance(entry, Fraction) else len(str(entry))


# --- matrices --------------------------------------------------------------------------------------------------------


def _derived(plan: Plan, made: ExactDraft) -> _Derived | None:
    for term in plan.matrices:
        if isinstance(term, sp.MatrixSymbol) or not term.is_MatMul or len(term.args) != 2:
            continue
        left, right = term.args
        if isinstance(right, sp.Inverse) and {getattr(left, "name", ""), getattr(right.arg, "name", "")} <= {
            *made.matrices
        }:
            return _Derived(term, left.name, right.arg.name, bool(plan.matrices[term].symmetric))
    return None


def _grids(made: ExactDraft, derived: _Derived | None) -> dict[Any, Rows]:
    """The matrices whose entries may be chosen, by place: a name, (head, name), or the derived term."""
    found: dict[Any, Rows] = dict(made.matrices)
    found |= {(h, name): rows for h, head in enumerate(made.heads) for name, rows in head.items() if _is_matrix(rows)}
    if derived is not None:
        right = exact_rows(made.matrices[derived.right])
        del found[derived.right]
        if right.det() != 0:
            found[derived.term] = rows_of(exact_rows(made.matrices[derived.left]) * right.inv())
    return {place: rows for place, rows in found.items() if all(isinstance(a, Fraction) for row in rows for a in row)}


def _is_matrix(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(row, tuple) for row in value)


def _with_rows(made: ExactDraft, derived: _Derived | None, place: Any, rows: Rows) -> ExactDraft | None:
    if isinstance(place, tuple):
        h, name = place
        heads = list(made.heads)
        heads[h] = {**heads[h], name: rows}
        return replace(made, heads=tuple(heads))
    if derived is None or place not in (derived.term, derived.left):
        return replace(made, matrices={**made.matrices, place: rows})
    grids = {**_grids(made, derived), place: rows}
    if derived.term not in grids:
        return None
    middle, left = exact_rows(grids[derived.term]), exact_rows(grids[derived.left])
    if middle.det() == 0:
        return None
    solved = rows_of(middle.inv() * left)
    return replace(made, matrices={**made.matrices, derived.left: grids[derived.left], derived.right: solved})


def _rounded(rows: Rows, grid: int) -> Rows:
    return tuple(tuple(Fraction(round(entry * grid), grid) for entry in row) for row in rows)


def _divided(rows: Rows, unit: Fraction) -> Rows:
    return tuple(tuple(entry / unit for entry in row) for row in rows)


def _head_moves(plan: Plan, derived: _Derived | None, made: ExactDraft) -> Iterator[Iterator[ExactDraft]]:
    """One head less: left out (one of zero values is never needed), or added to one with the same scores."""
    value, score = plan.system.value, plan.system.score
    if len(made.heads) < 2 or value is None:
        return

    def fewer(h: int) -> Iterator[ExactDraft]:
        others = (*made.heads[:h], *made.heads[h + 1 :])
        yield replace(made, heads=others)
        for g, other in enumerate(others):
            if score is None or other[score] == made.heads[h][score]:
                rows = zip(other[value], made.heads[h][value], strict=True)
                total = tuple(tuple(a + b for a, b in zip(*pair, strict=True)) for pair in rows)
                yield replace(made, heads=(*others[:g], {**other, value: total}, *others[g + 1 :]))

    for h in reversed(range(len(made.heads))):
        yield fewer(h)


def _matrix_moves(plan: Plan, derived: _Derived | None, made: ExactDraft) -> Iterator[Iterator[ExactDraft]]:
    """A whole matrix at once: on a coarse grid, or divided by one of its entries."""

    def options(place: Any, rows: Rows) -> Iterator[ExactDraft]:
        entries = sorted({abs(entry) for row in rows for entry in row if entry != 0}, key=weight)
        tries = [_rounded(rows, grid) for grid in GRIDS] + [_divided(rows, unit) for unit in entries]
        for tried in sorted(tries, key=lambda each: sum(weight(entry) for row in each for entry in row)):
            draft = _with_rows(made, derived, place, tried)
            if draft is not None:
                yield draft

    for place, rows in _grids(made, derived).items():
        yield options(place, rows)


def _entry_moves(plan: Plan, derived: _Derived | None, made: ExactDraft) -> Iterator[Iterator[ExactDraft]]:
    """The step, then one entry at a time (with its mirror image where both are equal)."""
    if made.alpha is not None:
        yield (replace(made, alpha=value) for value in _simpler(made.alpha) if value > 0)
    for name, value in made.further.items():
        if isinstance(value, Fraction):
            yield (replace(made, further={**made.further, name: each}) for each in _simpler(value))
        else:
            for i, entry in enumerate(value):
                yield (_with_entry(made, name, i, each) for each in _simpler(entry))

    def options(place: Any, rows: Rows, i: int, j: int) -> Iterator[ExactDraft]:
        for value in _simpler(rows[i][j]):
            grid = [list(row) for row in rows]
            if i != j and grid[i][j] == grid[j][i]:
                grid[j][i] = value
            grid[i][j] = value
            draft = _with_rows(made, derived, place, tuple(tuple(row) for row in grid))
            if draft is not None:
                yield draft

    for place, rows in _grids(made, derived).items():
        for i, row in enumerate(rows):
            for j, entry in enumerate(row):
                yield options(place, rows, i, j) if entry != 0 else iter(())


def _with_entry(made: ExactDraft, name: str, i: int, entry: Fraction) -> ExactDraft:
    vector = made.further[name]
    return replace(made, further={**made.further, name: (*vector[:i], entry, *vector[i + 1 :])})


def _simpler(value: Fraction) -> list[Fraction]:
    options = {Fraction(0), Fraction(1), Fraction(-1), Fraction(2), Fraction(-2), Fraction(1, 2), Fraction(-1, 2)}
    options |= {Fraction(sign, size) for sign in (1, -1) for size in (3, 4)}
    options |= {Fraction(sign * size) for sign in (1, -1) for size in (3, 4, 5, 6, 8, 10)}
    for denominator in GRIDS:
        options.add(Fraction(round(value * denominator), denominator))
    return sorted((each for each in options if weight(each) < weight(value)), key=weight)


# --- tokens, and fewer of them ---------------------------------------------------------------------------------------


def _token_moves(plan: Plan, derived: _Derived | None, made: ExactDraft) -> Iterator[Iterator[ExactDraft]]:
    """Tokens that may be anywhere: simple points of the sphere, or simple coordinates."""
    if plan.place is not None or any(not isinstance(entry, Fraction) for token in made.tokens for entry in token):
        return

    def put(i: int, token: tuple[Fraction, ...]) -> ExactDraft:
        return replace(made, tokens=(*made.tokens[:i], token, *made.tokens[i + 1 :]))

    if plan.system.space is Space.ELLIPSOID:
        return
    for i, token in enumerate(made.tokens):
        if plan.system.space is Space.SPHERE:
            yield (put(i, point) for point in _nearby(token))
            continue
        for j, entry in enumerate(token):
            yield (put(i, (*token[:j], value, *token[j + 1 :])) for value in _simpler(entry))


def _nearby(token: tuple[Fraction, ...]) -> list[tuple[Fraction, ...]]:
    """The simple points of the sphere that are nearest, simplest first."""
    own = sum(weight(entry) for entry in token)
    points = [each for each in _simple_points(len(token)) if sum(weight(entry) for entry in each) < own]
    points.sort(key=lambda each: -sum(a * b for a, b in zip(each, token, strict=True)))
    return sorted(points[:POINTS], key=lambda each: sum(weight(entry) for entry in each))


def _simple_points(d: int) -> list[tuple[Fraction, ...]]:
    """Signed axes, and (3/5, 4/5), (5/13, 12/13), (8/17, 15/17) in each plane of two axes."""
    found = [tuple(Fraction(sign * int(i == a)) for i in range(d)) for a in range(d) for sign in (1, -1)]
    for a, b in product(range(d), repeat=2):
        for legs in ((3, 4, 5), (5, 12, 13), (8, 15, 17)) if a != b else ():
            for first, second in product((1, -1), repeat=2):
                point = [Fraction(0)] * d
                point[a], point[b] = Fraction(first * legs[0], legs[2]), Fraction(second * legs[1], legs[2])
                found.append(tuple(point))
    return found


def _size_moves(plan: Plan, derived: _Derived | None, made: ExactDraft) -> Iterator[Iterator[ExactDraft]]:
    """One token less; one coordinate less, where all tokens have 0 there."""
    shapes = set(plan.shapes())
    n, d = len(made.tokens), len(made.tokens[0])

    def fewer(i: int) -> Iterator[ExactDraft]:
        p = made.p - 1 if i < made.p else made.p
        if (n - 1, d, made.k, p) in shapes and made.mask in (None, "causal"):
            yield replace(made, tokens=(*made.tokens[:i], *made.tokens[i + 1 :]), p=p)

    def flatter(a: int) -> Iterator[ExactDraft]:
        def cut(value: Any) -> Any:
            if not isinstance(value, tuple):
                return value
            kept = [each for i, each in enumerate(value) if i != a]
            return tuple(cut(each) if isinstance(each, tuple) else each for each in kept)

        if (n, d - 1, made.k, made.p) in shapes and plan.system.rotary is None:
            yield replace(
                made,
                matrices={name: cut(rows) for name, rows in made.matrices.items()},
                further={name: cut(value) for name, value in made.further.items()},
                heads=tuple({name: cut(rows) for name, rows in head.items()} for head in made.heads),
                tokens=tuple(tuple(e for j, e in enumerate(token) if j != a) for token in made.tokens),
            )

    for i in range(n - 1, -1, -1):
        yield fewer(i) if i < len(made.tokens) else iter(())
    for a in range(d - 1, -1, -1):
        if all(str(token[a]) == "0" for token in made.tokens):
            yield flatter(a)
