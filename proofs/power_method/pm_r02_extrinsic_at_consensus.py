"""PM-R2: extrinsic eigenvalues at consensus depend on how the map is extended off the sphere.

Reference: Li-Altafini, Remark 2.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.consensus_blocks import HEIGHT, PLACE, of_unit_length, raw_step
from eigentoken.proofs.power_method.pm_cm_consensus_manifold import CONSENSUS, B
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import extrinsic_at_consensus
from eigentoken.proofs.steps.equations import TOKEN, at_every_token, for_every
from eigentoken.proofs.steps.slopes import extrinsic, radial_slopes
from eigentoken.theory.calculus import ALPHA, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement

_B = vector(B.name)


def _claim(said: sp.Eq) -> Formula:
    return Formula(ForAll(B, TRUE, ForAll(HEIGHT, TRUE, Implication(PLACE, for_every(said, TOKEN, W)))))


CLAIMS = tuple(map(_claim, extrinsic(_B, 1 + ALPHA * HEIGHT)))


def proof(k: Kernel) -> Proved:
    """Both derivatives along b: those of a step along b from a state along b."""
    place = k.assume(PLACE)
    own = k.instantiate(k.part(place, CONSENSUS), TOKEN)
    found = radial_slopes(k, B, 1 + ALPHA * HEIGHT, sp.Integer(1), raw_step(k, place), own, of_unit_length(k, own))
    return k.conjunction(
        *(at_every_token(k, k.discharge(PLACE, at_every_token(k, each, TOKEN, W)), B, HEIGHT) for each in found)
    )


PM_R2 = register(
    Statement(
        id="PM-R2",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 2"),
        title="Extrinsic eigenvalues at consensus",
        systems=("oja-map", "attention-map"),
        claims=CLAIMS,
        depends=("PM-L3", "PM-CM"),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"The map is extended off the sphere as $y_i/\lVert y_i\rVert$, or with $\lVert x_i\rVert = 1$ put "
                r"in as $y_i/q_i$, $q_i^2 = 1 + \lVert y_i\rVert^2 - \lVert x_i\rVert^2$. The left sides are the "
                r"derivatives of the two along $w$, in the direction of $b$: the extrinsic block.",
            ),
        ),
        property_tests=(OnInstances(extrinsic_at_consensus),),
    )
)
