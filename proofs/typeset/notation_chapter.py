"""The chapter on notation: letters, systems and words, from the objects that the statements are made of.

Equations are printed by the calculus from the systems themselves; what a word means is the first sentence of its docstring.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import sympy as sp

from eigentoken.proofs.typeset.ascii_formulas import with_mathematics
from eigentoken.proofs.typeset.document import Block, Heading, Paragraph, PrintedTable
from eigentoken.proofs.typeset.summary import equation, in_words, typed
from eigentoken.theory.language.claims import Claim, InFull
from eigentoken.theory.language.conditions import Condition, Relation
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import MatrixNumber
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import System

__all__ = ["notation_chapter"]

LETTERS = (
    ("$n$, $d$", "the number of tokens, and their dimension"),
    ("$x_i$", "token i, a vector in $\\mathbb R^d$; on a sphere or ellipsoid where the system says so"),
    ("$y_i$, $r_i$", "what a map divides by its norm, and that norm"),
    (
        "$a_{ij}$, $\\bar x_i$",
        "the attention that token i pays to token j, and $\\sum_j a_{ij}x_j$; with a head, $a^h_{ij}$ and $\\bar x^h_i$",
    ),
    ("$\\alpha$", "the step of a map, positive"),
    ("$p$, $q$", "how many tokens stand on either side of a bipartite point, $p + q = n$"),
    ("$k$, $\\ell$", "numbers of eigenvalues, from the top"),
    (
        "$\\Delta[q]$",
        "the increment of q under one step of a map, or its derivative along a flow; $\\mathrm{D}[q](w)$ is that along w",
    ),
)


def notation_chapter(statements: Iterable[Statement]) -> Iterator[Block]:
    """Letters; systems with their equations; the words that conditions and claims use."""
    listed = list(statements)
    yield Heading(1, "Notation")
    yield PrintedTable(("letter", "what it stands for"), (*LETTERS, *_numbers(listed)))
    yield Heading(2, "Systems")
    yield Paragraph(
        "The weights are $a_{ij} = e^{x_i^{\\top}Mx_j}/\\sum_l e^{x_i^{\\top}Mx_l}$ over the tokens that the mask lets token i "
        "see, $1/n$ in a system without scores; M is the matrix of scores of the system."
    )
    named = sorted({name for told in listed for name in told.systems})
    yield PrintedTable(("system", "what it is", "equation"), tuple(_system(system(name)) for name in named))
    yield Heading(2, "Words")
    yield PrintedTable(("as printed", "what it says"), tuple(_words(listed)))


def _numbers(statements: Iterable[Statement]) -> Iterator[tuple[str, str]]:
    """The shortest use of every number that is computed from matrices."""
    seen: dict[type, MatrixNumber] = {}
    for told in statements:
        for each in (*told.conditions, *told.claims):
            for number in sorted(_numbers_of(each), key=sp.default_sort_key):
                first = seen.setdefault(type(number), number)
                seen[type(number)] = min(first, number, key=lambda one: len(scalar_latex(one)))
    for kind in sorted(seen, key=lambda each: each.__name__):
        yield f"${scalar_latex(seen[kind])}$", _first_sentence(kind)


def _numbers_of(thing: Any) -> set[MatrixNumber]:
    if isinstance(thing, sp.Basic):
        return set(thing.atoms(MatrixNumber))
    if isinstance(thing, tuple):
        return set().union(*map(_numbers_of, thing))
    parts = [getattr(thing, each.name) for each in fields(thing)] if is_dataclass(thing) else []
    return set().union(*map(_numbers_of, parts))


def _system(made: System) -> tuple[str, str, str]:
    letters = ", ".join(
        f"${each.name}$: {re.split('[:,]', each.meaning)[0]}" for each in made.parameters if len(each.name) == 1
    )
    told = f"{made.title} ({letters})" if letters else made.title
    shown = equation(made)
    return f"`{made.name}`", told, f"${shown}$" if shown else in_words(made)


def _words(statements: Iterable[Statement]) -> Iterator[tuple[str, str]]:
    """The shortest use of every word of the conditions and claims, and what the word says."""
    seen: dict[type, str] = {}
    for told in statements:
        for each in (*told.conditions, *told.claims):
            for word in _inside(each):
                shown = LATEX(word)
                seen[type(word)] = min(seen.get(type(word), shown), shown, key=len)
    for kind in sorted(seen, key=lambda each: each.__name__):
        if said := _first_sentence(kind):
            yield f"${seen[kind]}$", said


def _inside(word: Any) -> Iterator[Any]:
    if isinstance(word, Relation | InFull):
        return
    parts = [getattr(word, each.name) for each in fields(word)] if is_dataclass(word) else []
    inner = [
        each
        for part in parts
        for each in (part if isinstance(part, tuple) else (part,))
        if isinstance(each, Condition | Claim)
    ]
    if not inner:
        yield word
    for each in inner:
        yield from _inside(each)


def _first_sentence(kind: type) -> str:
    """The first sentence of the docstring, without the formula that it begins with: that stands beside it."""
    text = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    sentence = re.split(r"(?<=[.;])\s", text)[0].rstrip(".;:")
    sentence = re.sub(r":\w+:`~?[\w.]*?(\w+)`", r"`\1`", re.sub(r"^``[^`]*``(: |, )?", "", sentence))
    sentence = with_mathematics(re.sub(r"``([^`]*)``", r"`\1`", sentence))
    return re.sub(r"`([^`]*)`", _formula_or_code, sentence)


#: Words that stand in code and not in a formula.
_CODE = re.compile(r"[A-Za-z]{4,}|[A-Z][a-z]|^[A-Za-z]+$")
_FORMULA_WORDS = re.compile(r"\b(lambda|alpha|theta|angle)(?![a-z])")


def _formula_or_code(found: re.Match[str]) -> str:
    """What stands in backquotes in a docstring: a formula in plain letters, or code.

    >>> [_formula_or_code(re.match("`(.*)`", each)) for each in ("`sup_t |X(t)| <= b`", "`IsZero(V * V)`", "`every`")]
    ['$\\\\sup_t |X(t)| \\\\leq b$', '`IsZero(V * V)`', '`every`']
    """
    shown = with_mathematics(found[1])
    if re.fullmatch(r"\$[^$]*\$", shown):
        return shown
    return found[0] if _CODE.search(_FORMULA_WORDS.sub("", found[1])) else f"${typed(found[1])}$"
