"""PM-E9: the multi-agent Oja map.  Reference: Li-Altafini, eq. (9)."""

from __future__ import annotations

from typing import Any

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e08_attention_map import raw
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import TV14
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image
from eigentoken.proofs.properties.map_checks import oja_map
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import ALPHA, TOKENS, Index, matrix, vector
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation, Reduction

TV14_IMAGE = Vector(
    "TV14, image",
    lambda: image(TV14),
    ("0.646796544678355", "0.762662592364501", "0.542322929504641", "-0.840170125708778"),
)


def _printed() -> Any:
    """``x_i + (alpha/n) sum_j V x_j``."""
    i, j = Index("token", "i"), Index("token", "j")
    return vector("x", i) + vector("x", j).applied(matrix("V")).summed(j) * (ALPHA / TOKENS)


def printed_steps() -> tuple[Reduction, ...]:
    """The registered map is the printed formula, and the attention map without scores."""
    return (
        tensor(
            "raw step",
            "The registered Oja map is the printed formula, for all $n$ and $d$.",
            lambda: raw("oja-map", True),
            _printed(),
            r"y_i = x_i + \frac{\alpha}{n}\sum_jVx_j",
        ),
        tensor(
            "no scores",
            "It is the attention map with $M = 0$.",
            lambda: raw("attention-map", False),
            _printed(),
            r"M = 0 \implies a_{ij} = \frac1n",
        ),
    )


PM_E9 = register(
    Statement(
        id="PM-E9",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (9)"),
        title="The multi-agent Oja map",
        systems=("oja-map",),
        text=r"$x_i^+ = y_i/\lVert y_i\rVert$, $y_i = x_i + \alpha u$, $u = \frac1n\sum_jVx_j$.",
        depends=("PM-E8",),
        derive=lambda: Derivation(printed_steps()),
        prose_from=("raw step", "no scores"),
        vectors=(TV14_IMAGE,),
        property_tests=(OnInstances(oja_map),),
    )
)
