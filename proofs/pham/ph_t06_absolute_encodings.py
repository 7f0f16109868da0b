"""PH-T6: absolute positional encoding shifts the equilibrium and changes nothing else.

Reference: Pham-et-al, absolute positional encoding; derived here.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.ph_m_token_flow import A, W
from eigentoken.proofs.properties.flow_properties import encoded_is_shifted
from eigentoken.proofs.steps.calculus_steps import tensor_step
from eigentoken.theory.calculus import SLOT, Assumptions, CalculusAlgebra, Letter, vector
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Symmetric
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation, Identity


def derive() -> Derivation:
    """``y_l = x_l + p_l`` satisfies the plain model."""
    from eigentoken.theory.systems.catalogue import system

    rules = Assumptions()
    given = {"B": Letter("B"), "W": Letter("W")}
    x, p = vector("x", SLOT), vector("p", SLOT)

    def encoded() -> Any:
        return system("token-flow").advance(CalculusAlgebra(rules), {**given, "positions": p}, x)

    plain = system("token-flow").advance(CalculusAlgebra(rules), given, x + p)
    limit, position = sp.symbols("y p", real=True)
    return Derivation(
        (
            tensor_step(
                "substitution",
                "With the encoding $p_l$ added in every layer, $\\dot x_l = \\sum_i p_{li}B(x_i + p_i)$ with the "
                "scores of $x_l + p_l$: the velocity of $x$ is the plain velocity of the registered system at $y = x "
                "+ p$, and $\\dot y = \\dot x$.",
                derive=encoded,
                claimed=plain,
                rules=rules,
                left="\\dot x_i",
                establishes=("the shifted tokens follow the plain model",),
            ),
            recalled(
                "PH-T2",
                "all tokens tend to zero",
                "So every statement of the chapter holds for $y$; in the convergence regime $y_l \\to 0$. An encoding "
                "added once, at the input, only changes the start.",
                "y_l(t) \\to 0",
                name="the plain model",
                uses=("substitution",),
            ),
            Identity(
                name="shifted limit",
                says="In terms of $x$ (coordinatewise): $x = y - p$ with $y = 0$.",
                left=limit - position,
                right=-position,
                where={limit: sp.Integer(0)},
                uses=("the plain model",),
                needs=("the shifted tokens follow the plain model", "all tokens tend to zero"),
            ),
        )
    )


PH_T6 = register(
    Statement(
        id="PH-T6",
        kind=Kind.THEOREM,
        source=Source(PHAM, "absolute positional encoding; derived here"),
        title="Absolute encodings shift the equilibrium",
        systems=("token-flow",),
        conditions=(Symmetric(A), NegativeDefinite(A), PositiveDefinite(W)),
        text="(i) An encoding added once at the input only changes the initial condition. (ii) Re-added in every "
        "layer, $\\dot x_l = \\sum_i p_{li}B(x_i + p_i)$ with the scores of $x_l + p_l$, the tokens $y_l = x_l + p_l$ "
        "satisfy PH-M, so every statement holds for $y$, and the convergence regime gives $x_l \\to -p_l$. (Which of "
        "the two the paper means is not settled by the texts at hand; a shifted equilibrium is (ii).)",
        depends=("PH-M", "PH-T2"),
        derive=derive,
        prose_from=("shifted limit",),
        property_tests=(encoded_is_shifted,),
    )
)
