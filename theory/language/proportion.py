"""A condition on two matrices: one is a number times the other."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.readings import LATEX, SYMBOLIC, word
from eigentoken.theory.language.terms import d
from eigentoken.theory.printing.scalars import matrix_latex

__all__ = ["IDENTITY", "MultipleOf"]

#: The identity, as a term.
IDENTITY = sp.Identity(d)


@word
@dataclass(frozen=True)
class MultipleOf(Condition):
    """``X = c Y`` for a real number c (zero among them); ``MultipleOf(X)`` is ``X = c I``, and then ``c = lambda_1(X)``.

    The sign of c is that of ``Trace(X * Y.T)``.
    """

    term: sp.MatrixExpr
    of: sp.MatrixExpr = IDENTITY


@LATEX.register(MultipleOf)
def latex_multiple_of(condition: MultipleOf) -> str:
    of = "I" if condition.of == IDENTITY else matrix_latex(condition.of)
    return rf"{matrix_latex(condition.term)} = c\,{of} \text{{ for a number }} c"


@SYMBOLIC.register(MultipleOf)
def symbolic_multiple_of(condition: MultipleOf) -> sp.Symbol:
    return sp.Symbol(f"[{LATEX(condition)}]")
