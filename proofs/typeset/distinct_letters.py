"""One letter, one meaning: in a printed derivation a name that stands for things of two sorts is given to one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import sympy as sp

from eigentoken.theory.calculus import Index
from eigentoken.theory.kernel.propositions import (
    AnyLetter,
    Atom,
    Binder,
    Proposition,
    bound_letters,
    free_letters,
    inside,
    named,
    put,
)
from eigentoken.theory.kernel.tensors import VectorLetter

__all__ = ["clashing", "relettered", "sort"]


def sort(letter: AnyLetter) -> str:
    """What a letter stands for.

    >>> sort(sp.Symbol("x", real=True)), sort(Index("token", "i"))
    ('number', 'token')
    """
    if isinstance(letter, Index):
        return letter.kind
    if isinstance(letter, VectorLetter):
        return "vector"
    return "matrix" if isinstance(letter, sp.MatrixSymbol) else "number"


def clashing(said: Iterable[Proposition], claims: Iterable[Proposition] = ()) -> dict[AnyLetter, AnyLetter]:
    """Other letters for those whose name another sort keeps: the sort of the claims, or the one that is there most."""
    first = {each for claim in claims for each in free_letters(claim) | bound_letters(claim)}
    seen: Counter[AnyLetter] = Counter()
    for each in said:
        seen.update(free_letters(each) | bound_letters(each))
    sorts: dict[str, Counter[str]] = {}
    for letter, times in seen.items():
        sorts.setdefault(letter.name, Counter())[sort(letter)] += times + (10**6 if letter in first else 0)
    found: dict[AnyLetter, AnyLetter] = {}
    for letter in sorted(seen, key=lambda each: (each.name, sort(each))):
        kept = sorts[letter.name].most_common(1)[0][0]
        if sort(letter) != kept:
            mark = sorted(set(sorts[letter.name]) - {kept}).index(sort(letter)) + 1
            found[letter] = named(letter, letter.name + "'" * mark)
    return found


def relettered(said: Proposition, letters: Mapping[AnyLetter, AnyLetter]) -> Proposition:
    """A copy with other letters, bound or not."""
    if not letters:
        return said
    if not isinstance(said, Atom):
        if isinstance(said, Binder) and said.letter in letters:
            new = letters[said.letter]
            said = type(said)(new, put(said.guard, {said.letter: new}), put(said.body, {said.letter: new}))
        return inside(said, lambda part: relettered(part, letters))
    return put(said, {old: new for old, new in letters.items() if old in free_letters(said)})
