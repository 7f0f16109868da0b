"""The equation of a system as LaTeX, from the system: an algebra whose states are formulas.

What is long gets a letter of its own (the push u, the step y, the weights a), whose definition follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy

from eigentoken.theory.systems.algebra import Number, OwnMask, ParameterValue

if TYPE_CHECKING:
    from eigentoken.theory.systems.system import System

__all__ = ["Typeset", "TypesetAlgebra", "equation_of"]

#: Bound indices, in the order in which a sum inside a sum takes them.
BOUND = "jlmpqrs"


@dataclass(frozen=True)
class Typeset:
    """Tokens ``at(i)``, or weights ``at(i, j)``."""

    at: Callable[..., str]
    terms: bool = False
    "Does it stand in brackets beside a factor?"
    letter: bool = False
    equal: bool = False
    "Weights that are the same for all tokens, so that they stand before the sum."
    causal: bool = False
    deep: int = 0
    "How many sums are inside one another."
    head: str = ""

    def factor(self, *indices: str) -> str:
        return rf"\left({self.at(*indices)}\right)" if self.terms else self.at(*indices)


def _scalar(number: Number) -> str:
    return str(sympy.latex(number))


def _tagged(matrix: ParameterValue) -> str:
    found = re.search(r"_\{(\w)\}$", matrix) if isinstance(matrix, str) else None
    return found[1] if found else ""


class TypesetAlgebra:
    """Matrices and vectors are letters; scalars are symbols."""

    def __init__(self, rotary: tuple[str, str, str] | None = None) -> None:
        self.rotary = rotary
        self.definitions: dict[str, tuple[str, str]] = {}

    def _define(self, letter: str, indices: str, formula: str) -> str:
        """The letter that is defined so: one that is, or a new one."""
        for known, defined in self.definitions.items():
            if defined == (indices, formula):
                return known
        while letter in self.definitions:
            letter += "'"
        self.definitions[letter] = (indices, formula)
        return letter

    def _called(self, letter: str, formula: Typeset) -> Typeset:
        """The formula itself if it is a letter, and otherwise a letter that is defined as it."""
        if formula.letter:
            return formula
        name = self._define(letter, "i", formula.at("i"))
        return Typeset(lambda i: f"{name}_{{{i}}}", letter=True)

    def _weights(self, scores: Typeset, mask: OwnMask, head: str, before: str, hard: bool = False) -> Typeset:
        beta, limit = (r"\beta\,", r"\lim_{\beta\to\infty}") if hard else ("", "")
        causal = mask == "causal"
        over, where = (r"l \leq i", r"\quad (j \leq i)") if causal else ("l", "")
        top, below = (f"e^{{{beta}{scores.factor('i', j)}}}" for j in "jl")
        share = rf"{before}{limit}\frac{{{top}}}{{\sum_{{{over}}} {below}}}{where}"
        name = self._define(f"a^{{({head})}}" if head else "a", "ij", share)
        return Typeset(lambda i, j: f"{name}_{{{i}{j}}}", letter=True, causal=causal, head=head)

    def attention(self, x: Typeset, score: ParameterValue, mask: OwnMask, over_root_d: bool) -> Typeset:
        before = r"\frac{1}{\sqrt{d}}" if over_root_d else ""
        if score is None:
            root = r"\sqrt{d}\," if over_root_d else ""
            causal = mask == "causal"
            return Typeset(lambda i, j: rf"\frac{{1}}{{{root}{i if causal else 'n'}}}", equal=True, causal=causal)
        if callable(score) and self.rotary is not None:
            query, key, turn = self.rotary
            z = self._called("z", x)
            turned = Typeset(lambda i, j: rf"{z.at(j)}^{{\top}} {query} {turn}^{{{j}-{i}}} {key}^{{\top}} {z.at(i)}")
            return self._weights(turned, mask, "", before)
        return self._weights(self.scores(x, score), mask, _tagged(score), before)

    def average(self, weights: Typeset, x: Typeset) -> Typeset:
        j = BOUND[x.deep]

        def at(i: str) -> str:
            over = rf"{j} \leq {i}" if weights.causal else j
            total = rf"\sum_{{{over}}}"
            share = weights.factor(i, j)
            return f"{share} {total} {x.factor(j)}" if weights.equal else f"{total} {share} {x.factor(j)}"

        return Typeset(at, deep=x.deep + 1, head=weights.head)

    def apply(self, matrix: ParameterValue, x: Typeset) -> Typeset:
        if matrix is None:
            return x
        return Typeset(lambda i: rf"{matrix} {x.factor(i)}", deep=x.deep, head=_tagged(matrix) or x.head)

    def add(self, x: Typeset, u: Typeset, step: Number = 1) -> Typeset:
        between = r" + \cdots + " if x.head == "1" and u.head == "H" else " + "
        if step == 1:
            return Typeset(lambda *at: f"{x.at(*at)}{between}{u.at(*at)}", terms=True, deep=max(x.deep, u.deep))
        if step == -1:
            return Typeset(lambda *at: f"{x.at(*at)} - {u.factor(*at)}", terms=True, deep=max(x.deep, u.deep))
        shown = _scalar(step)
        return Typeset(lambda *at: f"{x.at(*at)} + {shown} {u.factor(*at)}", terms=True, deep=max(x.deep, u.deep))

    def normalise(self, y: Typeset, metric: ParameterValue = None) -> Typeset:
        y, below = self._called("y", y), "" if metric is None else f"_{{{metric}}}"
        return Typeset(lambda i: rf"\frac{{{y.at(i)}}}{{\lvert {y.at(i)} \rvert{below}}}")

    def tangent(self, x: Typeset, u: Typeset, metric: ParameterValue = None) -> Typeset:
        x, u, between = self._called("z", x), self._called("u", u), "" if metric is None else f"{metric} "
        return Typeset(
            lambda i: rf"{u.at(i)} - ({x.at(i)}^{{\top}} {between}{u.at(i)})\, {x.at(i)}", terms=True, deep=u.deep
        )

    def scores(self, x: Typeset, matrix: ParameterValue) -> Typeset:
        x, between = self._called("z", x), "" if matrix is None else f"{matrix} "
        return Typeset(lambda i, j: rf"{x.at(i)}^{{\top}} {between}{x.at(j)}")

    def function(self, name: str, values: Typeset) -> Typeset:
        shown = {"exp": r"\exp", "tanh": r"\tanh"}.get(name, rf"\operatorname{{{name}}}")
        return Typeset(lambda *at: rf"{shown}\left({values.at(*at)}\right)", deep=values.deep)

    def masked(self, weights: Typeset, mask: OwnMask) -> Typeset:
        if mask is None:
            return weights
        seen = (lambda i, j: rf"[{j} \leq {i}]") if mask == "causal" else (lambda i, j: f"m_{{{i}{j}}}")
        return Typeset(lambda i, j: f"{seen(i, j)} {weights.factor(i, j)}")

    def shares(self, weights: Typeset) -> Typeset:
        return Typeset(lambda i, j: rf"\frac{{{weights.at(i, j)}}}{{\sum_{{l}} {weights.factor(i, 'l')}}}")

    def hardest(self, scores: Typeset, mask: OwnMask) -> Typeset:
        return self._weights(scores, mask, "", "", hard=True)

    def product(self, a: Typeset, b: Typeset) -> Typeset:
        return Typeset(lambda *at: rf"{a.factor(*at)} \odot {b.factor(*at)}", deep=max(a.deep, b.deep))

    def scale(self, x: Typeset, number: Number) -> Typeset:
        shown = _scalar(number)
        return Typeset(lambda *at: f"{shown} {x.factor(*at)}", deep=x.deep)

    def shift(self, x: Typeset, vector: ParameterValue) -> Typeset:
        return x if vector is None else Typeset(lambda i: f"{x.at(i)} + {vector}", terms=True, deep=x.deep)


def equation_of(made: System) -> str:
    """The equation, and under it the letters that it takes; of several heads the first and the last.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> print(equation_of(system("token-flow")))
    \\begin{aligned}
    \\dot x_{i} &= B \\sum_{j} a_{ij} x_{j}, \\\\
    a_{ij} &= \\frac{e^{x_{i}^{\\top} W x_{j}}}{\\sum_{l} e^{x_{i}^{\\top} W x_{l}}}
    \\end{aligned}
    """
    algebra = TypesetAlgebra(made.rotary)
    given: dict[str, ParameterValue] = {}
    for each in made.parameters:
        letter = str(sympy.latex(sympy.Symbol(each.name)))
        given[each.name] = letter if each.kind in ("matrix", "vector") else sympy.Symbol(each.name, positive=True)
    if made.multihead:
        given["heads"] = [
            {each.name: _of_head(each.name, each.kind, head) for each in made.head_parameters} for head in "1H"
        ]
    x = Typeset(lambda i: f"x_{{{i}}}", letter=True)
    after = made.advance(algebra, given, x, "causal" if made.mask == "causal" else None)
    left = r"\dot x_{i}" if str(made.time) == "flow" else "x_{i}^{+}"
    made_of = [f"{letter}_{{{indices}}} &= {shown}" for letter, (indices, shown) in algebra.definitions.items()]
    steps = [each for each in reversed(made_of) if each[0] not in "az"]
    rest = [each for first in "az" for each in made_of if each[0] == first]
    lines = [f"{left} &= {after.at('i')}", *steps, *rest]
    return "\\begin{aligned}\n" + ", \\\\\n".join(lines) + "\n\\end{aligned}"


def _of_head(name: str, kind: str, head: str) -> ParameterValue:
    return f"{name}_{{{head}}}" if kind in ("matrix", "vector") else sympy.Symbol(f"{name}_{head}", positive=True)
