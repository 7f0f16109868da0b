"""PM-E9: the multi-agent Oja map.  Reference: Li-Altafini, eq. (9)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import TV14
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image
from eigentoken.proofs.properties.map_checks import oja_map
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
from eigentoken.theory.calculus import ALPHA, TOKENS, Expression, Index, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector

TV14_IMAGE = Vector(
    "TV14, image",
    lambda: image(TV14),
    ("0.646796544678355", "0.762662592364501", "0.542322929504641", "-0.840170125708778"),
)


def influence() -> Expression:
    """``u = (1/n) sum_j V x_j``."""
    j = Index("token", "j")
    return vector("x", j).applied(matrix("V")).summed(j) / TOKENS


def oja_step() -> Expression:
    """``x_i + alpha u``."""
    return vector("x", TOKEN) + influence() * ALPHA


def proof(k: Kernel) -> Proved:
    """The equation of the registered system, and what it divides by."""
    return k.conjunction(normalised(k), the_same(k, RAW, oja_step(), TOKEN), of_length(k))


PM_E9 = register(
    Statement(
        id="PM-E9",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (9)"),
        title="The multi-agent Oja map",
        systems=("oja-map",),
        claims=(NORMALISED, same_vectors(RAW, oja_step(), TOKEN), LENGTH),
        depends=("PM-E8",),
        proof=proof,
        vectors=(TV14_IMAGE,),
        property_tests=(OnInstances(oja_map),),
    )
)
