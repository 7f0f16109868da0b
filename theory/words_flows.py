"""The word that the chapters on flows add to the language: a parameter that is the identity matrix (``U = I``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.conditions import Condition
from eigentoken.theory.printing_words import matrix_latex
from eigentoken.theory.readings import LATEX, SYMBOLIC, word

__all__ = ["IsIdentity"]


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
