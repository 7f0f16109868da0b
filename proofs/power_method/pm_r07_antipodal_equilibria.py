"""PM-R7: all maps are odd, so equilibria come in antipodal pairs.  Reference: Li-Altafini, Remark 7."""

from __future__ import annotations

from functools import partial
from typing import Any

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import odd
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import ALPHA, HEAD, SLOT, Assumptions, CalculusAlgebra, Index, Letter, vector
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def _steps(name: str, sign: int) -> Any:
    """``y_i`` (map) at the state x, or minus that at -x, from the system."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions())
    heads = [{"F": Letter("F", False, (HEAD,)), "M": Letter("M", False, (HEAD,))}]
    parameters = {"V": Letter("V"), "M": Letter("M"), "heads": heads, "alpha": ALPHA}
    raw = system(name).raw_step(algebra, parameters, vector("x", SLOT) * sign)
    return at(raw, Index("token", "i")) * sign, algebra.assumptions


def derive() -> Derivation:
    """Minus the step at -x is the step at x: for the raw step, and the norm is even."""
    formula = r"-y_i(-x) = y_i(x)"
    return Derivation(
        tuple(
            tensor(
                name,
                f"The {title}: the scores $x_i^{{\\top}}Mx_j$ are even, the push is odd; normalising commutes with the "
                f"sign.",
                partial(_steps, name, -1),
                _steps(name, 1)[0],
                formula,
                establishes=("the maps are odd",) if name == "multihead-map" else (),
                uses=()
                if name == "oja-map"
                else ("oja-map",)
                if name == "attention-map"
                else ("oja-map", "attention-map"),
            )
            for name, title in (
                ("oja-map", "Oja map"),
                ("attention-map", "attention map"),
                ("multihead-map", "multi-head map"),
            )
        )
    )


PM_R7 = register(
    Statement(
        id="PM-R7",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 7"),
        title="Equilibria come in antipodal pairs",
        systems=("oja-map", "attention-map", "multihead-map"),
        text=(
            r"$f(-x) = -f(x)$ for all the maps, because $a_{ij}(-x) = a_{ij}(x)$. Hence $-x$ is an equilibrium iff $x$ "
            r"is, and $\{x, -x\}$ is a 2-cycle of $f$ iff $x$ is a fixed point of $-f$."
        ),
        derive=derive,
        prose_from=("multihead-map",),
        property_tests=(OnInstances(odd),),
    )
)
