"""Variants of a conjecture that would say more: a condition less, a weaker one, a sharper claim, another constant.

Where the direction in which a constant says more is not seen from the formula, both are offered: a variant is tried, not
assumed to be stronger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

import sympy as sp
from sympy.logic.boolalg import Boolean

from eigentoken.numerics.lab.conjectures import Conjecture, ConjectureError
from eigentoken.theory.language import claims, conditions
from eigentoken.theory.language.claims import Claim, Iff, When
from eigentoken.theory.language.conditions import Condition, Relation
from eigentoken.theory.language.documents import GIVEN
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import MatrixNumber, Rank

__all__ = ["ConjectureVariant", "Constant", "Part", "VariantKind", "constants", "variants"]

Part = Literal["conditions", "claims"]
VariantKind = Literal["drop", "weaken", "sharpen", "converse"]
Words = Condition | Claim
Path = tuple[str | int, ...]
_ORDERED = (sp.StrictLessThan, sp.LessThan, sp.StrictGreaterThan, sp.GreaterThan)
_LOOSE = {sp.StrictLessThan: sp.LessThan, sp.StrictGreaterThan: sp.GreaterThan}
#: Words that say less, by the word that says more.
_WEAKER: tuple[tuple[type, Callable[[Any], Condition]], ...] = (
    (conditions.PositiveDefinite, lambda word: conditions.PositiveSemidefinite(word.term)),
    (conditions.NonPrincipalModulusBelow, lambda word: conditions.SimpleTop(word.term)),
    (
        conditions.IsIdentity,
        lambda word: conditions.AllOf((conditions.Symmetric(word.term), conditions.PositiveDefinite(word.term))),
    ),
)
#: Claims that say more, by the claim that says less.
_SHARPER: tuple[tuple[type, Callable[[Any], Claim]], ...] = (
    (claims.AlmostEveryConverges, lambda word: claims.Converges(word.place)),
    (claims.LyapunovStable, lambda word: claims.Stable(word.place)),
    (claims.Nonnegative, lambda word: replace(word, strict=True)),
    (claims.Decreases, lambda word: replace(word, strict=True)),
    (claims.Increases, lambda word: replace(word, strict=True)),
    (claims.Diverges, lambda word: replace(word, every=True)),
)


@dataclass(frozen=True)
class ConjectureVariant:
    """The conjecture with one word changed, or (``converse``) with a condition that became one side of an equivalence."""

    kind: VariantKind
    part: Part
    number: int
    to: str
    "The word in its place, as LaTeX; empty where it is dropped."
    conjecture: Conjecture

    def near(self) -> tuple[Conjecture, ...]:
        """Where the variant says something that the conjecture does not: a converse where its inequality fails."""
        if self.kind != "converse":
            return ()
        claim = self.conjecture.claims[0]
        assert isinstance(claim, Iff) and isinstance(claim.condition, Relation)
        fails = Relation(claim.condition.relation.negated)
        return (replace(self.conjecture, conditions=(*self.conjecture.conditions, fails)),)


def variants(conjecture: Conjecture) -> Iterator[ConjectureVariant]:
    """Conditions dropped and weakened, claims sharpened, conditions as equivalences; what may not be said is left out."""
    for kind, part, number, new in _offered(conjecture):
        try:
            made = _converse(conjecture, number) if kind == "converse" else _with_word(conjecture, part, number, new)
        except (ConjectureError, ValueError):
            continue  # such as Stable of a set
        yield ConjectureVariant(kind, part, number, "" if new is None else str(LATEX(new)), made)


def _offered(conjecture: Conjecture) -> Iterator[tuple[VariantKind, Part, int, Words | None]]:
    for number in range(len(conjecture.conditions) + (conjecture.given is not None)):
        yield "drop", "conditions", number, None
    for number, condition in enumerate(conjecture.conditions):
        for weaker in _weaker(condition):
            yield "weaken", "conditions", number, weaker
    for number, claim in enumerate(conjecture.claims):
        for sharper in _sharper(claim):
            yield "sharpen", "claims", number, sharper
    plain = conjecture.claims and not any(isinstance(each, Iff | When) for each in conjecture.claims)
    for number, condition in enumerate(conjecture.conditions):
        if plain and isinstance(condition, Relation) and _ordered(condition):
            yield "converse", "conditions", number, condition


def _ordered(condition: Relation) -> bool:
    """An inequality that says something of the parameters, not only of sizes."""
    relation = condition.relation
    return isinstance(relation, _ORDERED) and not all(each.is_integer for each in _letters(relation))


def _letters(relation: Any) -> set[Any]:
    return {each for side in relation.args for each in _leaves(side)}


def _leaves(term: Any) -> Iterator[Any]:
    """Symbols and quantities of matrices that a term is made of; the index of an eigenvalue is no part of it."""
    if isinstance(term, MatrixNumber | sp.Symbol):
        yield term
    else:
        for each in term.args:
            yield from _leaves(each)


def _weaker(condition: Condition) -> Iterator[Condition]:
    made = next((make for kind, make in _WEAKER if type(condition) is kind), None)
    if made is not None:
        yield made(condition)
    if isinstance(condition, conditions.InHemisphere) and condition.normal is not None:
        yield conditions.InHemisphere()
    if isinstance(condition, Relation) and type(condition.relation) in _LOOSE and _ordered(condition):
        yield Relation(_LOOSE[type(condition.relation)](*condition.relation.args, evaluate=False))


def _sharper(claim: Claim) -> Iterator[Claim]:
    if isinstance(claim, When):
        yield claim.claim
        yield Iff(claim.claim, claim.condition)
    made = next((make for kind, make in _SHARPER if type(claim) is kind), None)
    if made is not None and made(claim) != claim:
        yield made(claim)


def _with_word(conjecture: Conjecture, part: Part, number: int, new: Words | None) -> Conjecture:
    if new is None:
        return conjecture.without(number)
    words = list(getattr(conjecture, part))
    words[number] = new
    if part == "conditions":
        return replace(conjecture, conditions=tuple(words))
    return replace(conjecture, claims=tuple(words))


def _converse(conjecture: Conjecture, number: int) -> Conjecture:
    """``R and others => claim`` as ``others => (claim <=> R)``."""
    condition = conjecture.conditions[number]
    both = tuple(Iff(claim, condition) for claim in conjecture.claims)
    return replace(conjecture.without(number), claims=both)


# --- constants -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant:
    """A number in an inequality of a condition, or of the condition inside a claim, and the ways in which it may be moved."""

    conjecture: Conjecture
    part: Part
    number: int
    path: Path
    inside: int
    "So many steps of the path lead to the inequality, the others to the number in it."
    value: sp.Rational
    whole: bool
    "Only integers make a difference."
    ways: tuple[Literal[-1, 1], ...]

    @property
    def word(self) -> str:
        """The word in which it stands, as LaTeX."""
        words = getattr(self.conjecture, self.part)
        return str(LATEX(words[self.number])) if self.number < len(words) else GIVEN

    def put(self, value: sp.Rational) -> Conjecture | None:
        """The conjecture with another number in its place; ``None`` where the inequality then says nothing, or no one's."""
        try:
            word = _put(getattr(self.conjecture, self.part)[self.number], self.path, value)
            return _with_word(self.conjecture, self.part, self.number, word)
        except (ConjectureError, ValueError):
            return None

    def between(self, one: sp.Rational, other: sp.Rational) -> Iterator[Condition]:
        """The inequality holds with one of the two numbers and fails with the other: where a difference could be seen."""
        relation = getattr(self.conjecture, self.part)[self.number]
        for step in self.path[: self.inside]:
            relation = getattr(relation, step) if isinstance(step, str) else _parts(relation)[step]
        first, second = (_put(relation, self.path[self.inside :], each) for each in (one, other))
        for holds, fails in ((first, second), (second, first)):
            if not {holds, fails} & {sp.true, sp.false}:
                yield conditions.AllOf((Relation(holds), Relation(fails.negated)))


def _parts(word: Any) -> tuple[Any, ...]:
    found: tuple[Any, ...] = word if isinstance(word, tuple) else word.args
    return found


def constants(conjecture: Conjecture) -> Iterator[Constant]:
    """The constants of the conditions, and of conditions inside claims, in the order in which they stand."""
    parts: tuple[Part, ...] = ("conditions", "claims")
    for part in parts:
        for number, word in enumerate(getattr(conjecture, part)):
            for path, relation, polarity in _relations(word, 1, ()):
                for inner, value in _numbers(relation, ()):
                    if len(inner) == 0:
                        continue
                    whole = all(each.is_integer or isinstance(each, Rank) for each in _letters(relation))
                    ways = _ways(relation, inner, polarity)
                    yield Constant(conjecture, part, number, (*path, *inner), len(path), value, whole, ways)


def _relations(word: Any, polarity: int, path: Path) -> Iterator[tuple[Path, Any, int]]:
    """Inequalities inside a word; the polarity is 1 where the conjecture says more the more often they hold, 0 if both matter."""
    if isinstance(word, _ORDERED):
        yield path, word, polarity
    elif isinstance(word, Boolean):
        for index, part in enumerate(word.args):
            turned = isinstance(word, sp.Not) or (isinstance(word, sp.Implies) and index == 0)
            known = isinstance(word, sp.And | sp.Or | sp.Not | sp.Implies)
            yield from _relations(part, (-polarity if turned else polarity) if known else 0, (*path, index))
    elif isinstance(word, tuple):
        for index, part in enumerate(word):
            yield from _relations(part, polarity, (*path, index))
    elif is_dataclass(word) and not isinstance(word, type):
        sign = -1 if isinstance(word, conditions.Not) else 0 if isinstance(word, Iff) else 1
        for each in fields(word):
            yield from _relations(getattr(word, each.name), sign * polarity, (*path, each.name))


def _numbers(term: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Rational numbers in a term: no exponents, no indices of eigenvalues, no sign of a difference."""
    if isinstance(term, MatrixNumber):
        return
    for index, part in enumerate(term.args):
        if isinstance(term, sp.Pow) and index == 1:
            continue
        if isinstance(part, sp.Rational):
            if not (isinstance(term, sp.Mul) and part == -1):
                yield (*path, index), part
        else:
            yield from _numbers(part, (*path, index))


def _ways(relation: Any, path: Path, polarity: int) -> tuple[Literal[-1, 1], ...]:
    """Upwards, downwards or both: where more instances satisfy the inequality, or where that is not seen."""
    letter = sp.Symbol("moved", real=True)
    moved = _put(relation, path, letter)
    slope = sp.simplify(sp.diff(moved.gts - moved.lts, letter)) * polarity
    if slope.is_positive:
        return (1,)
    return (-1,) if slope.is_negative else (-1, 1)


def _put(word: Any, path: Path, value: Any) -> Any:
    """The word with another value at the end of the path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        return replace(word, **{step: _put(getattr(word, step), rest, value)})
    args = tuple(_put(each, rest, value) if index == step else each for index, each in enumerate(_parts(word)))
    return args if isinstance(word, tuple) else word.func(*args)
