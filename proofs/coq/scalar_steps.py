"""Steps of arithmetic: a scalar lemma over the reals, and its application to the quantities of the step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.proofs.coq.lemmas import ScalarInequality
from eigentoken.proofs.coq.moduli import without_moduli
from eigentoken.proofs.coq.speech import Env, Speech
from eigentoken.proofs.coq.terms import Names, condition
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    Implication,
    Negation,
    Proposition,
    children,
    conjuncts,
    relation_of,
)

__all__ = ["ScalarStep", "scalar_step"]


@dataclass(frozen=True)
class ScalarLemma:
    """``for all reals: hypotheses -> one relation``, and scripts to try, in this order."""

    name: str
    statement: str
    scripts: tuple[Callable[[], str], ...]


@dataclass(frozen=True)
class ScalarStep:
    """``for all reals: hypotheses -> conclusion``, by a scalar lemma for each of its parts; and how it is applied in the step."""

    name: str
    statement: str
    lemmas: tuple[ScalarLemma, ...]
    script: str
    "The step from its lemmas."
    values: tuple[str, ...]
    needed: tuple[str, ...]
    "The hypotheses, of the values."
    gives: str


def _boolean(said: Proposition) -> Any:
    """A proposition without binders as a sympy Boolean; each relation says where its terms are defined."""
    if isinstance(said, Atom):
        return sp.And(
            _strict(relation_of(said)), *map(_strict, sorted(where_defined(said.word), key=sp.default_sort_key))
        )
    if isinstance(said, Conjunction | Disjunction):
        return (sp.And if isinstance(said, Conjunction) else sp.Or)(*map(_boolean, said.parts))
    if isinstance(said, Negation):
        return sp.Not(_boolean(said.part))
    if isinstance(said, Implication):
        return sp.Implies(_boolean(said.left), _boolean(said.right))
    if isinstance(said, Equivalence):
        left, right = _boolean(said.left), _boolean(said.right)
        return sp.And(sp.Implies(left, right), sp.Implies(right, left))
    raise TypeError(f"arithmetic reads relations and connectives, got {said!r}")


def _strict(relation: Any) -> Any:
    """An inequality from the smaller to the larger side, as it stands in the canonical form."""
    if isinstance(relation, sp.Gt):
        return sp.Lt(relation.lts, relation.gts, evaluate=False)
    return sp.Le(relation.lts, relation.gts, evaluate=False) if isinstance(relation, sp.Ge) else relation


def _conditions(said: Proposition) -> frozenset[Any]:
    here = where_defined(said.word) if isinstance(said, Atom) else frozenset()
    return here.union(*map(_conditions, children(said)))


class _Values(Names):
    """The letters of a scalar lemma by what they stand for in the step."""

    def __init__(self, speech: Speech, letters: Iterable[sp.Symbol], env: Env) -> None:
        super().__init__()
        self.texts = {each.name: speech.real(speech.quantities[each], env) for each in letters}

    def of(self, symbol: sp.Symbol) -> str:
        return self.texts[symbol.name]


def scalar_step(
    name: str, premises: Iterable[Proposition], wanted: Proposition, speech: Speech, env: Env | None = None
) -> ScalarStep:
    """The lemma of an arithmetic step: what its premises say, and that what is wanted holds and is defined.

    ``env``: the values of letters that only premises speak of.
    """
    parts = [part for each in premises for part in conjuncts(each)]
    given = [speech.bare(_boolean(each)) for each in parts]
    goal = sp.And(speech.bare(_boolean(wanted)), *(speech.bare(_strict(each)) for each in _conditions(wanted)))
    letters = sorted(set().union(*(sp.sympify(each).free_symbols for each in (*given, goal))), key=str)
    sorts = [fact for each in letters for fact in _sorts(each, speech.quantities[each])]
    made = ScalarInequality([*sorts, *given], goal, defined=True)
    values = _Values(speech, letters, env or {})
    split = _Split(name, made.names)
    script = split.script(made.goal, tuple(made.given))
    return ScalarStep(
        name,
        made.statement(),
        tuple(split.lemmas),
        f"{made.opening()} parts. {script}",
        tuple(values.of(each) for each in made.names.symbols()),
        tuple(condition(each, values) for each in made.given),
        condition(made.goal, values),
    )


class _Split:
    """A conclusion in its parts: a lemma for each relation, under what is assumed on the way to it."""

    def __init__(self, name: str, names: Names) -> None:
        self.name, self.names = name, names
        self.lemmas: list[ScalarLemma] = []

    def script(self, goal: Any, given: tuple[Any, ...]) -> str:
        if isinstance(goal, sp.And):
            inner = [self.script(each, given) for each in goal.args]
            text = inner[-1]
            for each in reversed(inner[:-1]):
                text = f"split; [{each} | {text}]"
            return text
        if isinstance(goal, sp.Implies):
            return f"intro; parts; {self.script(goal.args[1], (*given, *_conjuncts(goal.args[0])))}"
        either = next((each for each in given if isinstance(each, sp.Or)), None)
        if either is not None:
            rest = tuple(each for each in given if each is not either)
            cases = [self.script(goal, (*rest, *_conjuncts(each))) for each in either.args]
            number = len(self.lemmas)
            text = f"{cases[-1]}"
            for each in reversed(cases[:-1]):
                text = f"destruct either{number}_ as [either{number}_|either{number}_]; [parts; {each} | parts; {text}]"
            return f"assert (either{number}_ : {condition(either, self.names)}) by assumption; {text}"
        return self._leaf(goal, given)

    def _leaf(self, goal: Any, given: tuple[Any, ...]) -> str:
        if goal is sp.true:
            return "exact I"
        made = ScalarInequality([each for each in given if each is not sp.true], goal, defined=True)
        name = f"{self.name}_{len(self.lemmas) + 1}"
        quick = f"{made.opening()}\nall: scalar."
        lighter = without_moduli(made)
        scripts = (lambda: quick, lambda: "solve [by_hand].", lighter.script, lambda: lighter.script(hints=True))
        self.lemmas.append(ScalarLemma(name, made.statement(), scripts))
        letters = " ".join(self.names.of(each) for each in made.names.symbols())
        return f"apply ({name} {letters}); given" if letters else f"apply {name}; given"


def _conjuncts(said: Any) -> tuple[Any, ...]:
    return tuple(each for part in said.args for each in _conjuncts(part)) if isinstance(said, sp.And) else (said,)


def _sorts(symbol: sp.Symbol, letter: Any) -> list[Any]:
    """What a letter is declared to be, of the symbol that stands for it."""
    if not isinstance(letter, sp.Symbol):
        return []
    if letter.is_positive:
        return [sp.Le(1, symbol) if letter.is_integer else sp.Lt(0, symbol)]
    if letter.is_negative:
        return [sp.Lt(symbol, 0)]
    return [sp.Le(0, symbol)] if letter.is_nonnegative else []
