"""The words that the chapters on flows add to the language: ``U = I``, and heads that share a dominant pair and a norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.conditions import Condition
from eigentoken.theory.printing_words import matrix_latex
from eigentoken.theory.readings import LATEX, SYMBOLIC, word

__all__ = ["IsIdentity", "ShareDominantPair"]


@word
@dataclass(frozen=True)
class IsIdentity(Condition):
    """``X = I`` (for every head, where the system has heads): a parameter given as ``None`` is the identity, too."""

    term: Any


@LATEX.register(IsIdentity)
def _(condition: IsIdentity) -> str:
    return rf"{matrix_latex(condition.term)} = I"


@SYMBOLIC.register(IsIdentity)
def _(condition: IsIdentity) -> Any:
    return sp.Symbol(f"[{LATEX(condition)}]")


@word
@dataclass(frozen=True)
class ShareDominantPair(Condition):
    """The value matrices ``U_h`` of all heads have one u, one v and one norm in which each contracts (AB-X2).

    ``u^T U_h = lambda_h u^T``, ``U_h v = lambda_h v``, ``lambda_h > 0``, ``u^T v > 0``, and some Euclidean norm on ``u^perp``
    has ``|U_h r|_* < lambda_h |r|_*`` for every head h and every r != 0.  For one head: the eigenvalue lambda > 0 is simple and
    larger in modulus than the others.  The sum ``F = sum_h U_h`` then has the same pair, so v is its leading eigenvector.
    """

    name: str


@LATEX.register(ShareDominantPair)
def _(condition: ShareDominantPair) -> str:
    name = condition.name
    return (
        rf"u^{{\top}}{name}_h = \lambda_h u^{{\top}},\ {name}_h v = \lambda_h v,\ "
        rf"\lVert {name}_h|_{{u^{{\perp}}}} \rVert_* < \lambda_h \text{{ for all heads }} h"
    )


@SYMBOLIC.register(ShareDominantPair)
def _(condition: ShareDominantPair) -> Any:
    return sp.Symbol(f"[{LATEX(condition)}]")
