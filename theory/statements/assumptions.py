"""What the letters of a formula are declared to be, where no printed relation says so: it is printed before the formula."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.proving.polynomial_form import assumed_of, free_symbols

__all__ = ["assumed_latex", "unprinted_assumptions"]

_SIGNS = {
    sp.StrictGreaterThan: ">",
    sp.GreaterThan: r"\geq",
    sp.StrictLessThan: "<",
    sp.LessThan: r"\leq",
    sp.Unequality: r"\neq",
}


def unprinted_assumptions(read: Iterable[sp.Basic], printed: Iterable[sp.Basic] = ()) -> tuple[sp.Basic, ...]:
    """What the declarations of the symbols in ``read`` say (as the checker reads them) and no relation in ``printed`` does.

    >>> h, s = sp.Symbol("h", positive=True), sp.Symbol("s", real=True)
    >>> unprinted_assumptions([h * s >= 0])
    (h > 0,)
    >>> unprinted_assumptions([h * s >= 0], [sp.Gt(h, 2, evaluate=False)])
    ()
    """
    symbols = free_symbols([sp.sympify(each) for each in read])
    hypotheses = [sp.sympify(each) for each in printed]
    return tuple(
        fact for symbol in symbols for fact in assumed_of(symbol) if not any(_says(each, fact) for each in hypotheses)
    )


def _says(hypothesis: Any, fact: Any) -> bool:
    """The hypothesis is the fact, or the same bound with a larger number: ``n >= 2`` for ``n >= 1``."""
    if hypothesis == fact or (hypothesis.func is fact.func and hypothesis.reversed == fact):
        return True
    if not isinstance(hypothesis, sp.Gt | sp.Ge | sp.Lt | sp.Le) or not isinstance(fact, sp.Gt | sp.Ge):
        return False
    larger, smaller = hypothesis.gts, hypothesis.lts
    if larger != fact.gts or not smaller.is_Rational:
        return False
    strict = isinstance(hypothesis, sp.Gt | sp.Lt)
    return bool(smaller > fact.lts or (smaller == fact.lts and (strict or isinstance(fact, sp.Ge))))


def assumed_latex(assumptions: Iterable[sp.Basic]) -> str:
    """The assumptions before a formula, those of one kind together; empty where there are none.

    >>> a, b, n = sp.Symbol("a", positive=True), sp.Symbol("b", positive=True), sp.Symbol("n", integer=True, positive=True)
    >>> assumed_latex(unprinted_assumptions([a * b <= n])).split()
    ['\\\\text{for', '}', 'a,', 'b', '>', '0,\\\\', 'n', '\\\\geq', '1\\\\colon\\\\quad']
    """
    grouped: dict[str, list[str]] = {}
    for fact in assumptions:
        grouped.setdefault(f"{_SIGNS[fact.func]} {scalar_latex(fact.rhs)}", []).append(scalar_latex(fact.lhs))
    listed = r",\ ".join(f"{', '.join(names)} {bound}" for bound, names in grouped.items())
    return rf"\text{{for }} {listed}\colon\quad " if listed else ""
