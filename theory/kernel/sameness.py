"""When two propositions are the same: up to bound letters, the order and nesting of parts, the direction of inequalities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from eigentoken.theory.kernel.propositions import (
    AnyLetter,
    Atom,
    Binder,
    Conjunction,
    Disjunction,
    Equivalence,
    Proposition,
    free_letters,
    inside,
    named,
    put,
    relation_of,
)
from eigentoken.theory.kernel.tensors import STATE, VectorLetter
from eigentoken.theory.language import conditions

__all__ = ["canonical", "same"]


def same(one: Proposition, other: Proposition) -> bool:
    """Equal up to bound letters, the order and nesting of conjuncts and disjuncts, and the direction of inequalities."""
    return canonical(one) == canonical(other)


@lru_cache(maxsize=100_000)
def canonical(said: Proposition) -> Proposition:
    """One spelling for all propositions that are the same."""
    if isinstance(said, Atom):
        relation = relation_of(said)
        return said if relation is None else Atom(_Turned(_turned(relation)))
    if isinstance(said, Conjunction | Disjunction):
        kind = type(said)
        flat: list[Proposition] = []
        for part in said.parts:
            inner = canonical(part)
            flat += inner.parts if isinstance(inner, kind) else (inner,)
        unique = tuple(sorted(set(flat), key=repr))
        return unique[0] if len(unique) == 1 else kind(unique)
    if isinstance(said, Binder) and said.letter != VectorLetter(STATE):
        used = {str(getattr(each, "name", each)) for each in free_letters(said)}
        letter = named(said.letter, next(f"#{i}" for i in range(len(used) + 1) if f"#{i}" not in used))
        return inside(_renamed(said, letter), canonical)
    found = inside(said, canonical)
    return Equivalence(*sorted((found.left, found.right), key=repr)) if isinstance(found, Equivalence) else found


def _renamed(said: Binder, letter: AnyLetter) -> Binder:
    table = {said.letter: letter}
    return type(said)(letter, put(said.guard, table), put(said.body, table))


@dataclass(frozen=True)
class _Turned(conditions.Condition):
    """A relation, written one way: its kind and its two sides, the smaller first."""

    relation: tuple[str, Any, Any]


def _turned(relation: Any) -> tuple[str, Any, Any]:
    if isinstance(relation, sp.Eq | sp.Ne):
        first, second = sorted(relation.args, key=sp.default_sort_key)
        return ("=" if isinstance(relation, sp.Eq) else "!=", first, second)
    return ("<" if isinstance(relation, sp.Gt | sp.Lt) else "<=", relation.lts, relation.gts)
