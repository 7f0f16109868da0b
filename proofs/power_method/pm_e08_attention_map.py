"""PM-E8: the single-head map.  Reference: Li-Altafini, eq. (8)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l10_attention_jacobian import TV13
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image
from eigentoken.proofs.properties.map_checks import attention_map
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
from eigentoken.theory.calculus import ALPHA, Expression, Index, Letter, dot, exponential, factor, matrix, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector

OTHER = Index("token", "j")


def attention_weight() -> Expression:
    """``a_ij = exp(x_i^T M x_j) / sum_l exp(x_i^T M x_l)``."""
    exponent = dot(vector("x", TOKEN), vector("x", OTHER), (Letter("M"),))
    return exponential(exponent) * factor(row_sum(exponent, OTHER), -1)


def push() -> Expression:
    """``u_i = V sum_j a_ij x_j``, the i-th row of ``(A(x) x V) x``."""
    return (attention_weight() * vector("x", OTHER).applied(matrix("V"))).summed(OTHER)


def attention_step() -> Expression:
    """``x_i + alpha u_i``."""
    return vector("x", TOKEN) + push() * ALPHA


def proof(k: Kernel) -> Proved:
    """The equation of the registered system, and what it divides by."""
    return k.conjunction(normalised(k), the_same(k, RAW, attention_step(), TOKEN), of_length(k))


PM_E8 = register(
    Statement(
        id="PM-E8",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (8)"),
        title="The single-head attention map",
        systems=("attention-map",),
        claims=(NORMALISED, same_vectors(RAW, attention_step(), TOKEN), LENGTH),
        depends=("PM-E3",),
        proof=proof,
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
