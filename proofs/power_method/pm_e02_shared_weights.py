"""PM-E2: shared weights: the system is autonomous.  Reference: Li-Altafini, eq. (2)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import shared_weights
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def _push(varying: bool) -> list[Any]:
    """The influence at layer tau, with weights that depend on tau through a symbol, or not."""
    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    tau = sp.Symbol("tau")
    rate = sp.Symbol("rho") if varying else sp.Integer(0)
    entries = sp.symbols("v_1 v_2 v_3 v_4")
    value = lambda t: [[entries[0] + rate * t, entries[1]], [entries[2], entries[3]]]  # noqa: E731
    x = tuple(sp.symbols(f"x_{i}1 x_{i}2") for i in (1, 2))
    algebra = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))
    found = system("oja-map").influence(algebra, {"V": value}, x, t=tau)
    return [sp.diff(entry, tau) for token in found for entry in token]


def derive() -> Derivation:
    """The derivative of the push in the layer index: zero for shared weights, not for layer-varying ones."""
    x = [sp.symbols(f"x_{i}1 x_{i}2") for i in (1, 2)]
    rho = sp.Symbol("rho")
    mean = (x[0][0] + x[1][0]) / 2
    return Derivation(
        (
            grouped(
                "autonomous",
                "With weights that do not depend on $\\tau$ the push does not depend on $\\tau$ (here two tokens in "
                "the plane, symbolic weights).",
                lambda: _push(False),
                (0, 0, 0, 0),
                r"\partial_\tau u = \left(<1>,\ <2>;\ <3>,\ <4>\right)",
                scope="n = 2, d = 2",
            ),
            grouped(
                "layer-varying",
                "But a value matrix whose entry (1,1) changes at the rate $\\rho$ gives",
                lambda: _push(True),
                (rho * mean, 0, rho * mean, 0),
                r"\partial_\tau u = \left(<1>,\ <2>;\ <3>,\ <4>\right)",
                scope="n = 2, d = 2",
            ),
        )
    )


PM_E2 = register(
    Statement(
        id="PM-E2",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (2)"),
        title="Shared weights",
        systems=("multihead-map",),
        text=r"$U_h$, $V_h$, $Q_h$, $K_h$ do not depend on the layer $\tau$ (ALBERT): the system is autonomous.",
        depends=("PM-E1",),
        derive=derive,
        prose_from=("autonomous", "layer-varying"),
        property_tests=(OnInstances(shared_weights),),
    )
)
