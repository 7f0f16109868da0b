"""Two claims about how tokens approach a leader: a ball that shrinks at a rate, and limits on at most three hyperplanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import misplaced
from eigentoken.theory.language.observables import Observable, dot
from eigentoken.theory.language.opposites_and_rates import Decays
from eigentoken.theory.language.readings import LATEX, word
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.systems.algebra import LoopAlgebra, Number
from eigentoken.theory.systems.system import System, Time

__all__ = ["RADIUS", "ContractsInBall", "HyperplaneLimits", "tangent_squares"]

#: The letter for ``R = (sum_i tan^2 angle(x_i, v))^(1/2)``.
RADIUS = sp.Symbol("R", positive=True)


@word
@dataclass(frozen=True)
class ContractsInBall(Claim):
    """Tokens on the side of the top eigenvector v of a symmetric matrix, ``R = (sum_i tan^2 angle(x_i, v))^(1/2)``.

    At every state where ``below`` (a relation in R) holds: ``R' <= -rate R`` along the flow, ``R(x+) <= rate R`` over a layer.
    """

    term: sp.MatrixExpr
    below: sp.core.relational.Relational
    rate: sp.Expr

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.below, sp.core.relational.Relational) or RADIUS not in self.below.free_symbols:
            raise misplaced(self, "below", self.below, "a relation in the letter RADIUS")

    def at(self, vector: Sequence[sp.Expr], square: sp.Expr, system: System) -> tuple[sp.Basic, Decays]:
        """For an exact eigenvector and ``R^2`` at a state: the relation there, and the claim as a rate of ``R^2``."""
        here = {RADIUS: sp.sqrt(square)}
        rate = sp.sympify(self.rate).xreplace(here)
        lost = 1 - rate**2 if system.time is Time.MAP else 2 * rate
        return self.below.xreplace(here), Decays(tangent_squares(vector), lost)


def tangent_squares(vector: Sequence[sp.Expr]) -> Observable:
    """``sum_i tan^2 angle(x_i, v)`` for a vector of rational numbers."""
    exact = [sp.Rational(each) for each in vector]

    def function(scalars: LoopAlgebra, system: System, parameters: Any, x: Any, mask: Any) -> Number:
        v = [int(each.p) * scalars.one / int(each.q) for each in exact]
        size: Any = dot(v, v)
        total: Any = 0 * scalars.one
        for token in x:
            height: Any = dot(v, token)
            total = total + (dot(token, token) * size - height * height) / (height * height)
        return total

    return Observable("tangent-squares", r"\textstyle\sum_i\tan^2\angle(x_i, v)", function)


@word
@dataclass(frozen=True)
class HyperplaneLimits(Claim):
    """Of a Euclidean flow with value matrix B, left eigenvector u of its leader: ``f_i = e^{-lambda_1 t} u^T x_i`` converges.

    The limit of every ``f_i`` is the lowest of them, the highest, or 0; with ``zero=False``, the lowest or the highest.
    """

    term: sp.MatrixExpr
    zero: bool = True


@LATEX.register(ContractsInBall)
def latex_contracts_in_ball(claim: ContractsInBall) -> str:
    rate, below = scalar_latex(sp.sympify(claim.rate)), _relation_latex(claim.below)
    return (
        rf"R = \bigl(\textstyle\sum_i\tan^2\angle(x_i, v_1({scalar_latex(claim.term)}))\bigr)^{{1/2}} "
        rf"\text{{ contracts at the rate }} {rate} \text{{ where }} {below}"
    )


def _relation_latex(relation: sp.Basic) -> str:
    from eigentoken.theory.language.conditions import Relation

    return LATEX(Relation(relation))


@LATEX.register(HyperplaneLimits)
def latex_hyperplane_limits(claim: HyperplaneLimits) -> str:
    ends = r"\min_j f_j,\ 0 \text{ or } \max_j f_j" if claim.zero else r"\min_j f_j \text{ or } \max_j f_j"
    return rf"f_i = e^{{-\lambda_1t}}u^{{\top}}x_i \text{{ converges, to the limit of }} {ends}"
