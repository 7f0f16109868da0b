"""What the conditions of a statement ask of weights that are finite and do not depend on time: nothing, an inverse, or more.

A statement that asks nothing, or only that a matrix be invertible (which all matrices but a null set are), says the same of
random weights as of trained ones: it is listed apart.  Decided from the conditions, not from a list of statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from enum import IntEnum
from typing import Any

import sympy as sp

from eigentoken.theory.language import conditions as words
from eigentoken.theory.language.readings import ASKED
from eigentoken.theory.language.terms import MatrixNumber
from eigentoken.theory.systems.system import System

__all__ = ["Asks", "asks", "letters_of"]


class Asks(IntEnum):
    """In order: what asks more is not met by asking less."""

    NOTHING = 0
    INVERTIBLE = 1
    MORE = 2

    @property
    def word(self) -> str:
        return self.name.lower()


def asks(conditions: Sequence[words.Condition], listed: System) -> Asks:
    """The most that one of the conditions asks of the weights that play the letters of the system.

    A metric that is a parameter of its own is the identity for every layer: what is asked of it is not asked of weights.
    """
    weights = frozenset({listed.value, listed.score, *(listed.rotary or ()), "F"} - {None})
    return max((Asks(ASKED(each, weights)) for each in conditions), default=Asks.NOTHING)


@ASKED.register(words.Condition)
def asked_of_its_letters(condition: words.Condition, weights: frozenset[Any]) -> Asks:
    """More, if it speaks of a matrix of weights."""
    return Asks.MORE if letters_of(condition) & weights else Asks.NOTHING


@ASKED.register(
    words.InHemisphere,
    words.NotAllEqual,
    words.NoneOpposite,
    words.NotAllZero,
    words.BoundedInTime,
    words.UniformlyContinuous,
)
def asked_nothing(condition: words.Condition, weights: frozenset[Any]) -> Asks:
    """About the tokens, or true of every finite matrix that does not depend on time."""
    return Asks.NOTHING


@ASKED.register(words.AllOf)
def asked_all_of(condition: words.AllOf, weights: frozenset[Any]) -> Asks:
    return max((Asks(ASKED(part, weights)) for part in condition.parts), default=Asks.NOTHING)


@ASKED.register(words.AnyOf)
def asked_any_of(condition: words.AnyOf, weights: frozenset[Any]) -> Asks:
    return min((Asks(ASKED(part, weights)) for part in condition.parts), default=Asks.NOTHING)


@ASKED.register(words.Relation)
def asked_relation(condition: words.Relation, weights: frozenset[Any]) -> Asks:
    return asked_of_its_letters(condition, weights) if condition.relation.atoms(MatrixNumber) else Asks.NOTHING


@ASKED.register(words.Nonsingular)
def asked_nonsingular(condition: words.Nonsingular, weights: frozenset[Any]) -> Asks:
    return min(Asks.INVERTIBLE, asked_of_its_letters(condition, weights))


def letters_of(condition: Any) -> set[str]:
    """The names of the matrices that a condition speaks of."""
    found: set[str] = set()
    for each in fields(condition):
        value = getattr(condition, each.name)
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, words.Condition):
            found |= letters_of(value)
        elif isinstance(value, tuple):
            for part in value:
                found |= letters_of(part) if isinstance(part, words.Condition) else set()
        elif isinstance(value, sp.Basic):
            found |= {symbol.name for symbol in value.atoms(sp.MatrixSymbol)}
    return found
