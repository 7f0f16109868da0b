"""The list of textbook theorems that the kernel uses: what a reader must believe, printed from the schemas themselves.

A schema has letters of kinds; it is printed for letters that stand for anything of their kind (a vector ``z``, a quantity of each
token, a number), so that what is printed is what the kernel applies.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Iterator
from typing import Any

import sympy as sp

from eigentoken.proofs import steps
from eigentoken.theory.calculus import SLOT, Expression, Index, dot, vector
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Proposition, proposition
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix

__all__ = ["all_theorems", "hypotheses_and_conclusion", "theorem_page"]


def all_theorems() -> list[Textbook]:
    """Every theorem that a module of the steps states, in the order of their names."""
    modules = [
        importlib.import_module(f"{steps.__name__}.{each.name}") for each in pkgutil.iter_modules(steps.__path__)
    ]
    found = {each.key: each for module in modules for each in vars(module).values() if isinstance(each, Textbook)}
    return sorted(found.values(), key=lambda each: (each.name.removeprefix("the ").lower(), each.key))


def _stand_ins(letter: str, kind: type) -> Iterator[Any]:
    """Objects that are nothing but of the kind."""
    if issubclass(kind, sp.MatrixSymbol):
        yield matrix(letter)
    elif issubclass(kind, Expression):
        token = Index("token", "p")
        yield vector(letter)
        for place in (SLOT, token):
            yield dot(vector(STATE, place), vector(letter))
        yield dot(vector(STATE, token), vector(STATE, token)).summed(token)
        yield dot(vector(letter), vector(letter))
    elif issubclass(kind, Proposition):
        height = dot(vector(STATE, Index("token", "q")), vector(letter))
        yield ForAll(Index("token", "q"), TRUE, proposition(sp.Gt(Tensor(height), 0)))
    elif issubclass(kind, Index):
        yield Index("token", letter)
    elif issubclass(kind, VectorLetter):
        yield VectorLetter(letter)
    elif issubclass(kind, sp.Basic):
        yield sp.Symbol(letter, real=True)


def hypotheses_and_conclusion(theorem: Textbook) -> tuple[tuple[Proposition, ...], Proposition] | None:
    """The schema for letters that stand for anything; ``None`` where these kinds have no such letters."""
    kinds = [kind if isinstance(kind, tuple) else (kind,) for kind in theorem.letters.values()]
    choices = [
        [each for one in several for each in _stand_ins(letter, one)]
        for letter, several in zip(theorem.letters, kinds, strict=True)
    ]
    for objects in itertools.product(*choices):
        try:
            return theorem.of(**dict(zip(theorem.letters, objects, strict=True)))
        except (Refused, TypeError, ValueError):
            continue
    return None


def theorem_page() -> Iterator[str]:
    """The page in Markdown."""
    yield "# Textbook theorems"
    yield ""
    yield "What the kernel takes from books: besides its rules and the engines behind them, this is what a reader must believe."
    yield "Hypotheses and conclusion are printed from the schema that the kernel applies, for letters that stand for anything of"
    yield "their kind; books are cited by author, title and chapter (numbers of theorems were not checked)."
    for theorem in all_theorems():
        yield ""
        yield f"## {theorem.name[0].upper()}{theorem.name[1:]}"
        yield ""
        yield f"`{theorem.key}`. {theorem.reference}."
        yield ""
        said = hypotheses_and_conclusion(theorem)
        if said is None:
            kinds = ", ".join(f"`{letter}`: {_kind(kind)}" for letter, kind in theorem.letters.items())
            yield f"Letters: {kinds}. It is printed where it is applied (`eigentoken show ID`)."
            continue
        given, conclusion = said
        yield from (f"- if ${latex(each)}$" for each in given)
        yield f"- then ${latex(conclusion)}$"


def _kind(kind: type | tuple[type, ...]) -> str:
    return " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
