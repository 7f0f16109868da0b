"""PM-E10: the influence of the Oja map.  Reference: Li-Altafini, eq. (10)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e09_oja_map import TV14_IMAGE, printed_steps
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import oja_influence
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation

PM_E10 = register(
    Statement(
        id="PM-E10",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (10)"),
        title="The influence of the Oja map",
        systems=("oja-map",),
        text=r"$y_i = x_i + \alpha u$ with the influence $u = \frac1n\sum_jVx_j = V\bar x$, the same for all tokens.",
        depends=("PM-E9",),
        derive=lambda: Derivation(printed_steps()),
        prose_from=("raw step", "no scores"),
        vectors=(TV14_IMAGE,),
        property_tests=(OnInstances(oja_influence),),
    )
)
