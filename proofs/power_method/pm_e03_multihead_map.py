"""PM-E3: l2 normalisation and step size.  Reference: Li-Altafini, eq. (3)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e01_layer_with_heads import layer_step
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import multihead_map
from eigentoken.proofs.steps.equations import (
    LENGTH,
    NORMALISED,
    RAW,
    TOKEN,
    normalised,
    of_length,
    same_vectors,
    the_same,
)
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement


def proof(k: Kernel) -> Proved:
    """The equation of the registered system, and what it divides by."""
    return k.conjunction(normalised(k), the_same(k, RAW, layer_step(), TOKEN), of_length(k))


PM_E3 = register(
    Statement(
        id="PM-E3",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (3)"),
        title="The multi-head map with step size",
        systems=("multihead-map",),
        claims=(NORMALISED, same_vectors(RAW, layer_step(), TOKEN), LENGTH),
        depends=("PM-E1",),
        proof=proof,
        property_tests=(OnInstances(multihead_map),),
    )
)
