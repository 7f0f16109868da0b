"""Conditions on matrices that theorists ask for by name: zero, stochastic, and a condition on every head alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.language.conditions import CONDITION, Condition, misplaced
from eigentoken.theory.language.readings import LATEX, SYMBOLIC, word
from eigentoken.theory.printing.scalars import matrix_latex

__all__ = ["EachHead", "IsZero", "Stochastic"]


@word
@dataclass(frozen=True)
class IsZero(Condition):
    """``X = 0``: ``IsZero(sym(V))`` says that V is skew, ``IsZero(V * V)`` that it is nilpotent of order two."""

    term: sp.MatrixExpr


@word
@dataclass(frozen=True)
class Stochastic(Condition):
    """``X_ij >= 0`` and ``sum_j X_ij = 1`` for all i; with ``doubly`` the columns sum to 1 as well."""

    term: sp.MatrixExpr
    doubly: bool = False


@word
@dataclass(frozen=True)
class EachHead(Condition):
    """The condition on parameters is true of each head alone: ``EachHead(PositiveDefinite(F))``.

    Without it a matrix of a system with heads is the sum over the heads.  In a system with one head it is the condition itself.
    """

    part: Condition

    def __post_init__(self) -> None:
        if not isinstance(self.part, Condition):
            raise misplaced(self, "part", self.part, CONDITION)


@LATEX.register(IsZero)
def latex_is_zero(condition: IsZero) -> str:
    return rf"{matrix_latex(condition.term)} = 0"


@LATEX.register(Stochastic)
def latex_stochastic(condition: Stochastic) -> str:
    how = "doubly stochastic" if condition.doubly else "row stochastic"
    return rf"{matrix_latex(condition.term)} \text{{ is {how}}}"


@LATEX.register(EachHead)
def latex_each_head(condition: EachHead) -> str:
    return rf"{LATEX(condition.part)} \text{{ for the matrices of each head}}"


@SYMBOLIC.register(IsZero, Stochastic, EachHead)
def symbolic_matrix_word(condition: Condition) -> Any:
    return sp.Symbol(f"[{LATEX(condition)}]")
