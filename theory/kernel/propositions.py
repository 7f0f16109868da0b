"""Propositions: relations between terms, words of the language, connectives and binders, as values.

Letters are sympy symbols (their sort is what they are declared to be: real, integer, positive), matrix symbols, indices of the
calculus, and vectors or token families (:class:`~.tensors.Family`).  A start of the system is implicit: words such as
``Converges`` speak of *the* trajectory; :class:`ForAlmostEvery` binds it.  An atom says of each term in it that it has a value
(:mod:`~eigentoken.theory.kernel.defined`).  Two propositions are the same up to the names of bound letters, the order of
conjuncts and disjuncts, and the direction in which an inequality is written (:func:`same`).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp
from sympy.core.function import AppliedUndef

from eigentoken.theory.calculus import DIMENSION, HEADS, TOKENS, Index
from eigentoken.theory.kernel.closed import exchange
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, AtTime, Tensor, VectorLetter, is_defined, letters_of, moves
from eigentoken.theory.language import claims, conditions
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import Angle, d, ell, matrix, n, p, q

__all__ = [
    "FALSE",
    "TRUE",
    "AnyLetter",
    "Atom",
    "Conjunction",
    "Disjunction",
    "Equivalence",
    "Exists",
    "ForAll",
    "ForAlmostEvery",
    "Implication",
    "Negation",
    "Proposition",
    "canonical",
    "conjuncts",
    "for_every",
    "free_letters",
    "proposition",
    "put",
    "quantities",
    "relation_of",
    "same",
]

AnyLetter: TypeAlias = "sp.Symbol | sp.MatrixSymbol | Index | VectorLetter"


class Proposition(ABC):  # noqa: B024 - a closed family of values
    """One of the classes below."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The fields of the class that it is: a derivation knows the shape of what it proved."""


@dataclass(frozen=True)
class Atom(Proposition):
    """A word of the language: a condition or claim that is no connective; a relation is the word ``Relation``."""

    word: Any


@dataclass(frozen=True)
class Conjunction(Proposition):
    parts: tuple[Proposition, ...]


@dataclass(frozen=True)
class Disjunction(Proposition):
    parts: tuple[Proposition, ...]


@dataclass(frozen=True)
class Negation(Proposition):
    part: Proposition


@dataclass(frozen=True)
class Implication(Proposition):
    left: Proposition
    right: Proposition


@dataclass(frozen=True)
class Equivalence(Proposition):
    left: Proposition
    right: Proposition


@dataclass(frozen=True)
class Binder(Proposition):
    letter: AnyLetter
    guard: Proposition
    body: Proposition

    def __post_init__(self) -> None:
        if not isinstance(self.letter, sp.Symbol | sp.MatrixSymbol | Index | VectorLetter):
            raise TypeError(f"{self.letter!r} is no letter")
        if isinstance(self.letter, VectorLetter) and is_defined(self.letter.name):
            raise Refused(f"{self.letter.name} is defined by the system: it is no letter")


class ForAll(Binder):
    """``body`` for every value of the letter (of its sort) for which the guard holds."""


class Exists(Binder):
    """Some value of the letter satisfies the guard and the body."""


@dataclass(frozen=True)
class ForAlmostEvery(Proposition):
    """``body`` for the trajectories of all starts but those of a set of measure zero."""

    body: Proposition


TRUE, FALSE = Conjunction(()), Disjunction(())


def for_every(said: Any, *letters: AnyLetter) -> Proposition:
    """``for every letter: said``, the first letter outermost."""
    found = proposition(said)
    for letter in reversed(letters):
        found = ForAll(letter, TRUE, found)
    return found


def relation_of(said: Any) -> Any:
    """The sympy relation of an atom that is one; ``None`` of anything else."""
    return said.word.relation if isinstance(said, Atom) and isinstance(said.word, conditions.Relation) else None


# -- from the words of the language -----------------------------------------------------------------------------------

_BOOLEANS: dict[type, Any] = {
    sp.And: lambda *parts: Conjunction(parts),
    sp.Or: lambda *parts: Disjunction(parts),
    sp.Not: Negation,
    sp.Implies: Implication,
    sp.Equivalent: Equivalence,
}


def proposition(said: Any) -> Proposition:
    """A word, a sympy relation or Boolean, or several of them, as a proposition.

    >>> x = sp.Symbol("x", real=True)
    >>> proposition(sp.And(x > 0, x < 1)).parts[0].word.relation
    x > 0
    """
    if isinstance(said, Proposition):
        return said
    if isinstance(said, bool) or said in (sp.true, sp.false):
        return TRUE if said else FALSE
    if type(said) in _BOOLEANS:
        return _BOOLEANS[type(said)](*map(proposition, said.args))
    if isinstance(said, sp.core.relational.Relational):
        return Atom(conditions.Relation(said))
    if isinstance(said, conditions.Relation):
        inner = said.relation
        return Atom(said) if isinstance(inner, sp.core.relational.Relational) else proposition(inner)
    return _of_word(said)


def _of_word(said: Any) -> Proposition:
    if isinstance(said, conditions.AllOf):
        return Conjunction(tuple(map(proposition, said.parts)))
    if isinstance(said, conditions.AnyOf):
        return Disjunction(tuple(map(proposition, said.parts)))
    if isinstance(said, conditions.Not):
        return Negation(proposition(said.part))
    if isinstance(said, claims.InFull):
        return proposition(said.said)
    if isinstance(said, claims.Iff):
        return Equivalence(proposition(said.claim), proposition(said.condition))
    if isinstance(said, claims.When):
        return Implication(proposition(said.condition), proposition(said.claim))
    if isinstance(said, conditions.Condition | claims.Claim):
        return Atom(said)
    raise TypeError(f"a proposition is made of words and relations, got {said!r}")


def conjuncts(said: Proposition) -> tuple[Proposition, ...]:
    """The parts of a conjunction, flat; of anything else, itself."""
    if isinstance(said, Conjunction):
        return tuple(inner for part in said.parts for inner in conjuncts(part))
    return (said,)


# -- letters ------------------------------------------------------------------------------------------------------------


def children(said: Proposition) -> Iterator[Proposition]:
    """The propositions directly inside."""
    for each in fields(said):  # type: ignore[arg-type]
        value = getattr(said, each.name)
        yield from (part for part in (value if type(value) is tuple else (value,)) if isinstance(part, Proposition))


def everywhere(said: Proposition) -> Iterator[Proposition]:
    """Itself, and every proposition inside."""
    yield said
    for each in children(said):
        yield from everywhere(each)


def relations_in(said: Proposition) -> Iterator[Any]:
    """Every relation that stands in it."""
    yield from (found for each in everywhere(said) if (found := relation_of(each)) is not None)


def quantities(said: Proposition) -> Iterator[Tensor]:
    """Every quantity of the calculus that stands in a relation of it."""
    for each in relations_in(said):
        yield from each.atoms(Tensor)


def bound_letters(said: Proposition) -> frozenset[Any]:
    """The letters that are bound somewhere in it."""
    return frozenset(each.letter for each in everywhere(said) if isinstance(each, Binder))


def free_letters(thing: Any) -> frozenset[Any]:
    """The letters that occur and are not bound: symbols, matrices, indices, vectors."""
    if isinstance(thing, Atom):
        return frozenset(_letters(thing.word))
    if isinstance(thing, Binder):
        return (free_letters(thing.guard) | free_letters(thing.body)) - {thing.letter}
    if isinstance(thing, Proposition):
        return frozenset().union(*(free_letters(part) for part in children(thing)))
    return frozenset(_letters(thing))


def _letters(thing: Any) -> set[Any]:
    if isinstance(thing, sp.Basic):
        found = set(thing.free_symbols)
        for each in thing.atoms(Tensor):
            found |= {matrix(one) if isinstance(one, str) else one for one in each.letters()}
        return {each for each in found if isinstance(each, sp.Symbol | sp.MatrixSymbol | Index | VectorLetter)}
    if isinstance(thing, str):
        return {matrix(thing), d}
    if isinstance(thing, Observable):
        return set()  # a function of the state and of the parameters of its system
    if isinstance(thing, BipartiteAt):  # p tokens on one side, q on the other
        return _letters(thing.term) | _letters(thing.index) | {n, p, q}
    if isinstance(thing, claims.SpectrumIs):  # its classes run over ell
        if ell in _letters(thing.place):
            raise Refused("the classes of a spectrum run over ell: its place has another letter")
        return (_letters(thing.place) | _letters(thing.classes)) - {ell}
    if isinstance(thing, tuple | list):
        return set().union(*map(_letters, thing)) if thing else set()
    if is_dataclass(thing) and not isinstance(thing, type):
        return set().union(*(_letters(getattr(thing, each.name)) for each in fields(thing)), set())
    return set()


def put(said: Proposition, table: Mapping[Any, Any]) -> Proposition:
    """The proposition with free letters replaced, all at once; a bound letter that would capture is renamed."""
    if not table:
        return said
    keep_time(said, table)
    if isinstance(said, Atom):
        kept = {old: new for old, new in table.items() if old != ell or not isinstance(said.word, claims.SpectrumIs)}
        return exchanged(said, lambda thing: _put(thing, kept))
    if isinstance(said, Binder):
        inner = {old: new for old, new in table.items() if old != said.letter}
        values = frozenset().union(*(value_letters(new) for old, new in inner.items() if old in free_letters(said)))
        values |= {TOKENS, HEADS, DIMENSION}  # a sum over tokens of what becomes one vector is n times it
        letter, guard, body = said.letter, said.guard, said.body
        if letter in values:
            other = fresh(letter, values | free_letters(guard) | free_letters(body) | set(inner))
            guard, body = put(guard, {letter: other}), put(body, {letter: other})
            letter = other
        return type(said)(letter, put(guard, inner), put(body, inner))
    if isinstance(said, ForAlmostEvery):
        here = free_letters(said)
        if any(old in here and _of_a_trajectory(new) for old, new in table.items()):
            raise Refused("what holds for almost every start is not about the value of one trajectory")
    return inside(said, lambda part: put(part, table))


def keep_time(said: Proposition, table: Mapping[Any, Any]) -> None:
    """A vector is one vector at all times: it becomes what moves with the state where it stands at one time only.

    For a guard and its body, or hypotheses and what they give, that is asked of all of them together.
    """
    for old, new in table.items():
        if isinstance(old, VectorLetter) and old.name != STATE and not isinstance(new, AtTime) and moves(new):
            found = set(times_of(said, old))
            if len(found) > 1 or any(bound for _, bound in found):
                raise Refused(f"{old.name} is one vector at several times: it cannot become what moves with the state")


def times_of(
    said: Proposition, letter: VectorLetter, bound: frozenset[Any] = frozenset()
) -> Iterator[tuple[Any, bool]]:
    """The times at which a vector stands free in it, and whether they are bound in it."""
    if isinstance(said, Binder):
        if said.letter == letter:
            return
        bound |= {said.letter}
    relation = relation_of(said)
    for each in () if relation is None else relation.atoms(Tensor):
        if letter in each.letters():
            yield each.time, each.time is not None and not bound.isdisjoint(each.time.free_symbols)
    for part in children(said):
        yield from times_of(part, letter, bound)


def _of_a_trajectory(value: Any) -> bool:
    """The state at a time, or a number that depends on it: under a binder of starts it would be another."""
    timed = isinstance(value, sp.Basic) and any(each.time is not None for each in value.atoms(Tensor))
    return timed or isinstance(value, AtTime) or (isinstance(value, sp.Basic) and value.has(Angle, AppliedUndef))


def inside(said: Proposition, change: Callable[[Proposition], Proposition]) -> Proposition:
    """The same connective (or binder) of the changed parts."""

    def changed(value: Any) -> Any:
        if type(value) is tuple:  # a letter is a tuple of another kind
            return tuple(map(change, value))
        return change(value) if isinstance(value, Proposition) else value

    return type(said)(*(changed(getattr(said, each.name)) for each in fields(said)))  # type: ignore[arg-type]


def exchanged(said: Atom, change: Callable[[Any], Any]) -> Proposition:
    """The atom with its terms changed; what the change hides of where the terms are defined is said beside it."""
    relation = relation_of(said)
    needed = {_truth(change, each) for each in where_defined(said.word)}
    if sp.false in needed:
        return FALSE
    new = proposition(change(said.word if relation is None else relation))
    lost = needed - {sp.true} - (where_defined(new.word) if isinstance(new, Atom) else frozenset())
    if not lost:
        return new
    if isinstance(said.word, claims.SpectrumIs):
        raise Refused(f"the formulas of the spectrum would hide that {', '.join(map(str, lost))}")
    return Conjunction((new, *map(proposition, sorted(lost, key=sp.default_sort_key))))


def _truth(change: Callable[[Any], Any], condition: Any) -> Any:
    try:
        return change(condition)
    except TypeError:  # sympy compares no numbers that are not real: a part of the term is undefined
        return sp.false


def value_letters(value: Any) -> frozenset[Any]:
    """The free letters of what a letter can be replaced by, or a theorem applied to."""
    if isinstance(value, Index | VectorLetter):
        return frozenset({value})
    if hasattr(value, "terms"):  # an expression of the calculus
        return frozenset(matrix(each) if isinstance(each, str) else each for each in letters_of(value))
    return free_letters(value)


def _put(thing: Any, table: Mapping[Any, Any]) -> Any:
    if isinstance(thing, sp.Basic):
        found = {each: each.put(table) for each in thing.atoms(Tensor)}
        plain = {old: new for old, new in table.items() if isinstance(old, sp.Symbol | sp.MatrixSymbol)}
        for each in (thing, *(scale for one in found for scale in one.coefficients())):
            keep_sizes(each, plain)
        return exchange(thing, {**plain, **found})
    if isinstance(thing, str):
        new = table.get(matrix(thing))
        if new is not None and not isinstance(new, sp.MatrixSymbol):
            raise Refused(f"{thing} is a name here: it can be replaced by another name only, got {new}")
        return thing if new is None else new.name
    if isinstance(thing, Observable):
        touched = [old for old in table if isinstance(old, sp.MatrixSymbol) and table[old] != old]
        if touched:
            raise Refused(f"the observable {thing.name} is written with the letters of its system: keep {touched}")
        return thing
    if isinstance(thing, tuple):
        return tuple(_put(each, table) for each in thing)
    if isinstance(thing, BipartiteAt) and not {n, p, q}.isdisjoint(table):
        raise Refused("a bipartite point has p tokens on one side and q on the other: these letters are what they are")
    if isinstance(thing, claims.SpectrumIs) and any(
        ell in value_letters(table[old]) for old in table if old in _letters(thing)
    ):
        raise Refused("the classes of a spectrum run over ell: give the other letter another name first")
    if is_dataclass(thing) and not isinstance(thing, type):
        return replace(thing, **{each.name: _put(getattr(thing, each.name), table) for each in fields(thing)})
    return thing


def keep_sizes(thing: Any, table: Mapping[Any, Any]) -> None:
    """``d`` is the size of the matrices: where one of them stands, another number would make it another matrix."""
    sizes = set().union(*(each.shape for each in thing.atoms(sp.MatrixSymbol)))
    if any(old in sizes and new != old for old, new in table.items()):
        raise Refused(f"the size of the matrices in {thing} is fixed")


def fresh(letter: AnyLetter, taken: Iterable[Any]) -> AnyLetter:
    """A letter of the same sort that is none of those taken."""
    if letter == VectorLetter(STATE):
        raise Refused("the letter of the state is what it is: another would be any vector")
    used = {str(getattr(each, "name", each)) for each in taken}
    number = next(i for i in range(1, len(used) + 2) if f"{letter.name}_{i}" not in used)
    return named(letter, f"{letter.name}_{number}")


def named(letter: AnyLetter, name: str) -> AnyLetter:
    if isinstance(letter, sp.MatrixSymbol):
        return sp.MatrixSymbol(name, *letter.shape)
    if isinstance(letter, sp.Symbol):
        return sp.Symbol(name, **letter.assumptions0)
    return letter._replace(name=name)


# -- when two are the same ---------------------------------------------------------------------------------------------------


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
