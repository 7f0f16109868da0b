"""The step shared by PM-E6 and PM-E7: a projection onto a plane does not lengthen."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.reductions import tensor
from eigentoken.theory.steps import Inequality

__all__ = ["projection_steps"]


def _twice() -> tuple[Any, Any]:
    """``Pi Pi x`` with ``Pi = S G S^T`` and ``G S^T S = I``: words over the letters S, G, T = S^T."""
    from eigentoken.theory.calculus import Assumptions, matrix, vector

    rules = Assumptions(products={("T", "S"): matrix("K"), ("G", "K"): ()})
    return vector("x").applied(matrix("S", "G", "T")).applied(matrix("S", "G", "T")), rules


def _once() -> Any:
    from eigentoken.theory.calculus import matrix, vector

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
            "\\geq 0$: with $X = \\lVert x\\rVert > 0$, $P = \\lVert\\Pi_Sx\\rVert$, the correlation lies in $[0, "
            "1]$.",
            hypotheses=(length > 0, shadow >= 0, length**2 - shadow**2 >= 0),
            conclusion=sp.And(shadow / length >= 0, shadow / length <= 1),
            uses=("projection",),
        ),
    )
