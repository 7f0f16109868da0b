"""What PM-E6 and PM-E7 share: the correlation with a plane, and that a projection does not lengthen."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.checks import Case, OnInstances
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import Assumptions, matrix, vector
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation, Inequality

__all__ = ["plane_correlation", "projection_steps"]


def _twice() -> tuple[Any, Any]:
    """``Pi Pi x`` with ``Pi = S G S^T`` and ``G S^T S = I``: words over the letters S, G, T = S^T."""
    rules = Assumptions(products={("T", "S"): matrix("K"), ("G", "K"): ()})
    return vector("x").applied(matrix("S", "G", "T")).applied(matrix("S", "G", "T")), rules


def _once() -> Any:
    return vector("x").applied(matrix("S", "G", "T"))


def projection_steps() -> tuple[Any, ...]:
    """Pi^2 = Pi; and the length of an orthogonal projection is at most that of the vector."""
    length, shadow = sp.symbols("X P", real=True)
    return (
        tensor(
            "projection",
            "With $T = S^{\\top}$ and $G = (S^{\\top}S)^{-1}$, $\\Pi_S = SGT$ is a projection, for all sizes.",
            _twice,
            _once(),
            r"\Pi_S\Pi_Sx = \Pi_Sx",
        ),
        Inequality(
            name="range",
            says="It is symmetric, so $\\lVert x\\rVert^2 - \\lVert\\Pi_Sx\\rVert^2 = \\lVert x - \\Pi_Sx\\rVert^2 "
            "\\geq 0$: with $X = \\lVert x\\rVert > 0$, $P = \\lVert\\Pi_Sx\\rVert$, the correlation lies in $[0, 1]$.",
            hypotheses=(length > 0, shadow >= 0, length**2 - shadow**2 >= 0),
            conclusion=sp.And(shadow / length >= 0, shadow / length <= 1),
            uses=("projection",),
        ),
    )


def plane_correlation(name: str, place: str, title: str, plane: str, case: Case) -> Statement:
    """The definition of the correlation with a plane; ``plane`` says which, ``case`` is its property test."""
    return Statement(
        id=name,
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, place),
        title=title,
        systems=("multihead-map",),
        text=(
            rf"{plane}: $\Pi_S = S(S^{{\top}}S)^{{-1}}S^{{\top}}$ and "
            r"$\operatorname{corr}(x_i, \Pi_Sx_i) = \lVert\Pi_Sx_i\rVert/\lVert x_i\rVert \in [0, 1]$."
        ),
        depends=("PM-E3",),
        derive=lambda: Derivation(projection_steps()),
        prose_from=("range",),
        property_tests=(OnInstances(case),),
    )
