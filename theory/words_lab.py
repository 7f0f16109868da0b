"""Words that conjectures needed: no token opposite to the first, and clustering equilibria."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from eigentoken.theory.conditions import Condition
from eigentoken.theory.points import Place
from eigentoken.theory.readings import LATEX, SYMBOLIC, word

__all__ = ["Clustering", "NoneOpposite", "NotAllZero"]


@word
@dataclass(frozen=True)
class NoneOpposite(Condition):
    """No token starts at the antipode of the first: ``x_j(0) != -x_1(0)`` for all j."""


@word
@dataclass(frozen=True)
class NotAllZero(Condition):
    """Some token does not start at the origin (Euclidean systems)."""


@dataclass(frozen=True)
class Clustering(Place):
    """An equilibrium with n distinct tokens on no common line through the origin and with nonzero means."""


@LATEX.register(NoneOpposite)
def _(condition: NoneOpposite) -> str:
    return r"x_j(0) \neq -x_1(0) \text{ for all } j"


@LATEX.register(NotAllZero)
def _(condition: NotAllZero) -> str:
    return r"x_i(0) \neq 0 \text{ for some } i"


@LATEX.register(Clustering)
def _(place: Clustering) -> str:
    return r"\text{a clustering equilibrium of } n \text{ distinct tokens}"


@SYMBOLIC.register(NoneOpposite, NotAllZero)
def _(condition: Condition) -> sp.Symbol:
    return sp.Symbol(f"[{LATEX(condition)}]")
