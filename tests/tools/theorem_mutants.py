"""Textbook theorems replaced by stronger ones: a hypothesis lost, a strict conclusion, a rate in place of a limit, more systems.

A schema is what a reader must believe, and no proof can tell that it says too much.  A stronger one is noticed by its print: the
page of textbook theorems (``docs/tables/textbook.md``, which ``tools/tables.py --check`` compares) changes, and the file that
states it is part of the digest of each statement that cites it, so that recorded evidence is stale.  And it is contradicted: by a
small world in which what it still asks for is true and what it says is not (:mod:`tests.tools.small_worlds`), or by an example
in words; or it is still true, and the reason stands here.

    python -m tests.tools.theorem_mutants [keys]   counts them by kind, and names those of which nothing is known
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sympy as sp

from eigentoken.proofs.typeset.textbook_theorems import all_theorems, entry, readings
from eigentoken.theory.calculus import Expression
from eigentoken.theory.calculus.atoms import Base
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import (
    Atom,
    Binder,
    Exists,
    ForAll,
    Proposition,
    children,
    proposition,
    relation_of,
)
from eigentoken.theory.kernel.tensors import Tensor, bases_of

from .small_worlds import Silent, World, worlds
from .theorem_reasons import FAILS, STILL_TRUE

__all__ = ["Stronger", "contradicted", "known", "noticed", "sound", "stronger"]

_STRICT = {sp.Le: sp.Lt, sp.Ge: sp.Gt}


@dataclass(frozen=True)
class Stronger:
    """A theorem that says more than the one of the book, and what was changed."""

    kind: str
    what: str
    theorem: Textbook
    of: Textbook

    @property
    def name(self) -> str:
        return f"{self.of.key}: {self.what}"


def _schema(theorem: Textbook, change: Any) -> Textbook:
    """The theorem with another schema: ``change`` is applied to hypotheses and conclusion."""

    def says(**objects: Any) -> Any:
        given, conclusion = theorem.says(**objects)
        return change(tuple(map(proposition, given)), proposition(conclusion))

    says.__signature__ = inspect.signature(theorem.says)  # type: ignore[attr-defined]
    return replace(theorem, says=says)


def stronger(theorem: Textbook) -> Iterator[Stronger]:
    """Every theorem that this one becomes by one change."""
    given, conclusion = readings(theorem)[0]
    for place in range(len(given)):
        changed = _schema(theorem, lambda said, end, at=place: ((*said[:at], *said[at + 1 :]), end))
        yield Stronger("a hypothesis lost", f"without hypothesis {place + 1} of {len(given)}", changed, theorem)
    for kind, rule in (("a strict conclusion", _strict), ("for all", _everywhere), ("a rate for a limit", _rate)):
        for place in range(len(list(rule(conclusion)))):
            changed = _schema(theorem, lambda said, end, at=place, by=rule: (said, list(by(end))[at]))
            yield Stronger(kind, f"{kind}, place {place + 1}", changed, theorem)
    wider = {
        "time": replace(theorem, time=None),
        "autonomous": replace(theorem, autonomous=False),
        "space": replace(theorem, space=None),
    }
    if theorem.time is not None and not theorem.autonomous:
        moving = (each for each, kind in theorem.letters.items() if kind in (Expression, Proposition))
        wider["matrices that move"] = replace(theorem, moves=tuple(moving))
    for field, changed in wider.items():
        if changed != theorem:
            yield Stronger("more systems", f"for any {field}", changed, theorem)


def _in_one_place(said: Any, change: Any) -> Iterator[Proposition]:
    """The proposition with the change made at one place of its positive parts (guards and premises are not among them)."""
    yield from change(said)
    if isinstance(said, Binder):
        yield from (replace(said, body=each) for each in _in_one_place(said.body, change))
    elif hasattr(said, "parts"):
        for place, part in enumerate(said.parts):
            for each in _in_one_place(part, change):
                yield replace(said, parts=(*said.parts[:place], each, *said.parts[place + 1 :]))
    elif hasattr(said, "right") and type(said).__name__ == "Implication":
        yield from (replace(said, right=each) for each in _in_one_place(said.right, change))


def _strict(said: Proposition) -> Iterator[Proposition]:
    def change(part: Proposition) -> Iterator[Proposition]:
        relation = relation_of(part) if isinstance(part, Atom) else None
        if relation is not None and type(relation) in _STRICT:
            yield proposition(_STRICT[type(relation)](*relation.args, evaluate=False))

    return _in_one_place(said, change)


def _everywhere(said: Proposition) -> Iterator[Proposition]:
    def change(part: Proposition) -> Iterator[Proposition]:
        if isinstance(part, Exists):
            yield ForAll(part.letter, part.guard, part.body)

    return _in_one_place(said, change)


def _rate(said: Proposition) -> Iterator[Proposition]:
    """For every bound there is a time after which the quantity is below it: replaced by ``at most e^{-t}``."""

    def change(part: Any) -> Iterator[Proposition]:
        inner = part.body if isinstance(part, ForAll) else None
        after: Any = inner.body if isinstance(inner, Exists) else None
        relation = relation_of(after.body) if isinstance(after, ForAll) and isinstance(after.body, Atom) else None
        if isinstance(relation, sp.Le | sp.Lt) and relation.rhs == part.letter:
            bound = sp.Le(relation.lhs, sp.exp(-after.letter), evaluate=False)
            since = proposition(sp.Ge(after.letter, 0, evaluate=False))
            yield ForAll(after.letter, since, proposition(bound))

    return _in_one_place(said, change)


def noticed(each: Stronger) -> bool:
    """Is another page printed?"""
    return list(entry(each.theorem)) != list(entry(each.of))


# -- small worlds ------------------------------------------------------------------------------------------------------------


def _vectors(said: Proposition) -> frozenset[Base]:
    """The vectors, and families with one for each token, that stand in its terms."""
    if isinstance(said, Atom):
        relation = relation_of(said)
        found = () if relation is None else relation.atoms(Tensor)
        return frozenset(base for each in found for base in bases_of(each.key))
    return frozenset().union(*map(_vectors, children(said)))


@lru_cache(maxsize=64)
def _small(key: str, count: int) -> tuple[World, ...]:
    theorem = next(each for each in all_theorems() if each.key == key)
    given, conclusion = readings(theorem)[0]
    said = (*given, conclusion)
    return tuple(worlds(said, frozenset().union(*map(_vectors, said)), 17, count))


def contradicted(theorem: Textbook, count: int = 1500) -> World | None:
    """A small world in which its hypotheses are true and its conclusion is not."""
    given, conclusion = readings(theorem)[0]
    for world in _small(theorem.key, count):
        try:
            if all(map(world.holds, given)) and not world.holds(conclusion):
                return world
        except Silent:
            continue
    return None


def sound(theorem: Textbook, count: int = 1500) -> tuple[int, World | None]:
    """In how many worlds its hypotheses are true and something is said of the conclusion; and one that contradicts it."""
    given, conclusion = readings(theorem)[0]
    spoke = 0
    for world in _small(theorem.key, count):
        try:
            if all(map(world.holds, given)):
                if not world.holds(conclusion):
                    return spoke, world
                spoke += 1
        except Silent:
            continue
    return spoke, None


def known(each: Stronger) -> str:
    """Why it is false, or that it is still true; nothing where nothing is known."""
    reason = STILL_TRUE.get(each.name) or FAILS.get(each.name)
    if reason:
        return reason
    return "a small world" if contradicted(each.theorem) is not None else ""


def main(wanted: list[str]) -> int:
    kinds, answers, unknown = Counter[str](), Counter[str](), 0
    for theorem in (each for each in all_theorems() if not wanted or each.key in wanted):
        spoke, wrong = sound(theorem)
        print(
            f"{theorem.key}: its hypotheses are true in {spoke} small worlds"
            + (f", and it FAILS in {wrong}" if wrong else "")
        )
        for each in stronger(theorem):
            kinds[each.kind] += 1
            reason = known(each)
            told = {"still true": STILL_TRUE, "an example in words": FAILS}
            short = next((word for word, listed in told.items() if each.name in listed), reason)
            answers[short or "nothing known"] += 1
            seen = "" if noticed(each) else " NOT PRINTED"
            unknown += not reason or bool(seen)
            print(f"    {each.what}: {reason or 'NOTHING KNOWN'}{seen}")
    print(
        f"{sum(kinds.values())} stronger theorems: {dict(kinds)}; {dict(answers)}; {unknown} without a reason or unnoticed"
    )
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
