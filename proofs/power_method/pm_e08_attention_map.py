"""PM-E8: the single-head map.  Reference: Li-Altafini, eq. (8)."""

from __future__ import annotations

from typing import Any

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l10_attention_jacobian import TV13
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image
from eigentoken.proofs.properties.map_checks import attention_map
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import (
    ALPHA,
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    dot,
    exponential,
    factor,
    matrix,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation


def raw(name: str, scores: bool) -> tuple[Any, Any]:
    """``y_i`` of a registered map, M = 0 where ``scores`` is false."""
    from eigentoken.theory.systems.catalogue import system

    rules = Assumptions() if scores else Assumptions(replaced={"M": (0, None)})
    algebra = CalculusAlgebra(rules)
    found = system(name).raw_step(algebra, {"V": Letter("V"), "M": Letter("M"), "alpha": ALPHA}, vector("x", SLOT))
    return at(found, Index("token", "i")), algebra.assumptions


def _printed() -> Any:
    """``x_i + alpha sum_j a_ij V x_j``."""
    i, j = Index("token", "i"), Index("token", "j")
    exponent = dot(vector("x", i), vector("x", j), (Letter("M"),))
    weight = exponential(exponent) * factor(row_sum(exponent, j), -1)
    return vector("x", i) + (weight * vector("x", j).applied(matrix("V"))).summed(j) * ALPHA


PM_E8 = register(
    Statement(
        id="PM-E8",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (8)"),
        title="The single-head attention map",
        systems=("attention-map",),
        text=r"$x_i^+ = y_i/\lVert y_i\rVert$, $y_i = x_i + \alpha\sum_ja_{ij}(x)\,Vx_j$, $a_{ij} = "
        r"e^{x_i^{\top}Mx_j}/\sum_le^{x_i^{\top}Mx_l}$, $M = Q^{\top}K$.",
        depends=("PM-E3",),
        prose_from=("raw step",),
        derive=lambda: Derivation(
            (
                tensor(
                    "raw step",
                    "The registered attention map is the printed formula, for all $n$ and $d$.",
                    lambda: raw("attention-map", True),
                    _printed(),
                    r"y_i = x_i + \alpha\sum_ja_{ij}(x)\,Vx_j",
                ),
            )
        ),
        vectors=(
            Vector(
                "TV13, image",
                lambda: image(TV13),
                ("0.629483284357403", "0.777014024786308", "0.478762999997917", "-0.877944183779923"),
            ),
        ),
        property_tests=(OnInstances(attention_map),),
    )
)
