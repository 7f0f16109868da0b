"""PM-E10: the influence of the Oja map is the same for all tokens.  Reference: Li-Altafini, eq. (10)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e09_oja_map import TV14_IMAGE, influence, oja_step
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import oja_influence
from eigentoken.proofs.steps.equations import RAW, TOKEN, same_vectors, the_same
from eigentoken.theory.calculus import ALPHA, Index, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement

OTHER = Index("token", "j")
PUSH, OTHER_PUSH = (vector("y", each) - vector("x", each) for each in (TOKEN, OTHER))


def proof(k: Kernel) -> Proved:
    """The influence does not depend on the token that it moves."""
    return k.conjunction(
        the_same(k, RAW, oja_step(), TOKEN),
        the_same(k, PUSH, OTHER_PUSH, TOKEN, OTHER),
        the_same(k, PUSH, influence() * ALPHA, TOKEN),
    )


PM_E10 = register(
    Statement(
        id="PM-E10",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (10)"),
        title="The influence of the Oja map",
        systems=("oja-map",),
        claims=(
            same_vectors(RAW, oja_step(), TOKEN),
            same_vectors(PUSH, OTHER_PUSH, TOKEN, OTHER),
            same_vectors(PUSH, influence() * ALPHA, TOKEN),
        ),
        depends=("PM-E9",),
        proof=proof,
        vectors=(TV14_IMAGE,),
        property_tests=(OnInstances(oja_influence),),
    )
)
