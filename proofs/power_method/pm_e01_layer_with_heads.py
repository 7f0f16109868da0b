"""PM-E1: a layer with H heads.  Reference: Li-Altafini, eq. (1)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import layer
from eigentoken.proofs.steps.equations import RAW, TOKEN, same_vectors, the_same
from eigentoken.theory.calculus import ALPHA, HEAD, Expression, Index, Letter, dot, exponential, factor, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement


def layer_step() -> Expression:
    """``x_i + alpha sum_h F_h sum_j a^h_ij x_j`` with the softmax of x_i^T M_h x_j written out."""
    i, j = TOKEN, Index("token", "j")
    exponent = dot(vector("x", i), vector("x", j), (Letter("M", False, (HEAD,)),))
    weight = exponential(exponent) * factor(row_sum(exponent, j), -1)
    pushed = (weight * vector("x", j)).summed(j).applied((Letter("F", False, (HEAD,)),)).summed(HEAD)
    return vector("x", i) + pushed * ALPHA


def proof(k: Kernel) -> Proved:
    return the_same(k, RAW, layer_step(), TOKEN)


PM_E1 = register(
    Statement(
        id="PM-E1",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (1)"),
        title="A layer with H heads",
        systems=("multihead-map",),
        claims=(same_vectors(RAW, layer_step(), TOKEN),),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$F_h = U_hV_h$ and $M_h = Q_h^{\top}K_h/\sqrt{d_h}$; in the row notation of machine learning $V_h "
                r"= W_V^{h\top}$, $Q_h = W_Q^{h\top}$, $K_h = W_K^{h\top}$ and $[U_1 \cdots U_H] = W_O^{\top}$.",
            ),
            Remark(
                RemarkKind.SOURCE,
                r"The paper's eq. (1) has $\alpha = 1$ and the layer norm in place of the $\ell_2$ norm.",
            ),
        ),
        property_tests=(OnInstances(layer),),
    )
)
