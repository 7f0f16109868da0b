"""PM-E3: l2 normalisation and step size.  Reference: Li-Altafini, eq. (3)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e01_layer_with_heads import layer_step
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import multihead_map
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import ALPHA, HEAD, SLOT, Assumptions, CalculusAlgebra, Index, Letter, dot, one, vector
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def _next() -> tuple[object, object]:
    """The next state of the multi-head map, from the system."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions())
    heads = [{"F": Letter("F", False, (HEAD,)), "M": Letter("M", False, (HEAD,))}]
    after = system("multihead-map").advance(algebra, {"heads": heads, "alpha": ALPHA}, vector("x", SLOT))
    token = at(after, Index("token", "i"))
    return dot(token, token), algebra.assumptions


def _unit() -> object:
    return one()


def derive() -> Derivation:
    """The raw step as printed; the next state has unit length."""
    return Derivation(
        (
            layer_step("raw step"),
            tensor(
                "unit length",
                "The next state $y_i/\\lVert y_i\\rVert$ has length 1: the map sends $(S^{d-1})^n$ to itself.",
                _next,
                _unit(),
                r"\lVert x_i^+\rVert^2 = 1",
                uses=("raw step",),
            ),
        )
    )


PM_E3 = register(
    Statement(
        id="PM-E3",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (3)"),
        title="The multi-head map with step size",
        systems=("multihead-map",),
        text=(
            r"$\displaystyle x_i^+ = \frac{x_i + \alpha\sum_hU_h\sum_ja^h_{ij}(x)V_hx_j}{\lVert x_i + "
            r"\alpha\sum_hU_h\sum_ja^h_{ij}(x)V_hx_j\rVert}$, $\alpha > 0$."
        ),
        depends=("PM-E1",),
        derive=derive,
        prose_from=("unit length",),
        property_tests=(OnInstances(multihead_map),),
    )
)
