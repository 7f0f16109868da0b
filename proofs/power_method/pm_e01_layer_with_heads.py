"""PM-E1: a layer with H heads.  Reference: Li-Altafini, eq. (1)."""

from __future__ import annotations

from typing import Any

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import layer
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import (
    ALPHA,
    HEAD,
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    dot,
    exponential,
    factor,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def _layer() -> tuple[Any, Any]:
    """``y_i`` of the multi-head map with F_h = U_h V_h, from the system."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions(products={("U", "V"): (Letter("F", False, (HEAD,)),)}))
    heads = [{"F": Letter("F", False, (HEAD,)), "M": Letter("M", False, (HEAD,))}]
    raw = system("multihead-map").raw_step(algebra, {"heads": heads, "alpha": ALPHA}, vector("x", SLOT))
    return at(raw, Index("token", "i")), algebra.assumptions


def _printed() -> Any:
    """``x_i + alpha sum_h F_h sum_j a^h_ij x_j`` with the softmax of x_i^T M_h x_j written out."""
    i, j = Index("token", "i"), Index("token", "j")
    exponent = dot(vector("x", i), vector("x", j), (Letter("M", False, (HEAD,)),))
    weight = exponential(exponent) * factor(row_sum(exponent, j), -1)
    pushed = (weight * vector("x", j)).summed(j).applied((Letter("F", False, (HEAD,)),)).summed(HEAD)
    return vector("x", i) + pushed * ALPHA


def layer_step(name: str) -> Any:
    """The step that compares the registered system with the printed formula."""
    return tensor(
        name,
        "The registered multi-head map before normalisation is the printed formula with $F_h = U_hV_h$ and $M_h = "
        "Q_h^{\\top}K_h/\\sqrt{d_h}$, for all $n$, $d$ and $H$ (the paper's eq. (1) has $\\alpha = 1$ and the layer "
        "norm $\\mathcal N$ in place of the $\\ell_2$ norm).",
        _layer,
        _printed(),
        r"y_i = x_i + \alpha\sum_hU_h\sum_ja^h_{ij}(x)\,V_hx_j",
    )


PM_E1 = register(
    Statement(
        id="PM-E1",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (1)"),
        title="A layer with H heads",
        systems=("multihead-map",),
        text=(
            r"$x_i(\tau+1) = \mathcal N\big(x_i(\tau) + "
            r"\sum_{h=1}^HU_h(\tau)\sum_{j=1}^na^h_{ij}(x(\tau))\,V_h(\tau)\,x_j(\tau)\big)$ with $U_h \in \mathbb "
            r"R^{d \times d_h}$, $V_h \in \mathbb R^{d_h \times d}$, $a^h$ the softmax of "
            r"$x_i^{\top}Q_h^{\top}K_hx_j/\sqrt{d_h}$, and $\mathcal N$ the layer norm. In the row notation of "
            r"machine learning $V_h = W_V^{h\top}$, $Q_h = W_Q^{h\top}$, $K_h = W_K^{h\top}$ and $U = [U_1 \cdots "
            r"U_H] = W_O^{\top}$."
        ),
        derive=lambda: Derivation((layer_step("layer"),)),
        prose_from=("layer",),
        property_tests=(OnInstances(layer),),
    )
)
