"""CT-1: equilibria of the flows: the push is radial, without a positivity condition.  Own derivation."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import B1, B2, LK, E, V, any_score, delta, k, n, p, q
from eigentoken.proofs.properties.first_failures import (
    FirstFailure,
    antipodal_scored_in_the_flow,
    antipodal_uneven_in_the_flow,
)
from eigentoken.proofs.steps.reductions import grouped, tensor
from eigentoken.theory.calculus import SLOT, Assumptions, CalculusAlgebra, Index, Letter, dot, vector
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Equilibrium
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Inequality


def _velocity(name: str, groups: list[Any], value: Any) -> Any:
    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import advance_groups

        parameters = {"V": value, "M": any_score(2, sp.log(E))}
        return [entry for token in advance_groups(name, parameters, groups) for entry in token]

    return run


def _first_order(name: str) -> tuple[Any, Any]:
    """The derivative of the map in the step size, at alpha = 0, as a vector in x_i and u_i with |x_i| = 1."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions(unit={"x": ()}))
    flow = system(name).advance(algebra, {"V": Letter("V"), "M": Letter("M")}, vector("x", SLOT))
    return at(flow, Index("token", "i")), algebra.assumptions


def _projected(name: str) -> Any:
    """``u_i - (x_i^T u_i) x_i`` with the push of the map."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions())
    push = at(
        system(name).influence(algebra, {"V": Letter("V"), "M": Letter("M")}, vector("x", SLOT)), Index("token", "i")
    )
    token = vector("x", Index("token", "i"))
    return push - dot(token, push) * token


def _in_the_step() -> list[Any]:
    """The derivative of the map in alpha at alpha = 0, for one token under an arbitrary push (c, omega)."""
    from eigentoken.proofs.steps.token_groups import step_slopes

    push = [[sp.Symbol("c", real=True), 0], [sp.Symbol("omega", real=True), 0]]
    return list(step_slopes("oja-map", {"V": push}, (1, 0)))


def derive() -> Derivation:
    """The flow is the first-order part of the map; velocities at consensus and at two antipodal groups."""
    w1, w2, free = sp.symbols("nu omega nu'", real=True)
    generic = [[w1, w2], [w2, free]]
    size = sp.Symbol("E", positive=True)
    heights = sp.And(sp.Eq((p * size**2 - q) / (p * size**2 + q), 0), sp.Eq((q * size**2 - p) / (q * size**2 + p), 0))
    sides = [(p, (1, 0)), (q, (-1, 0))]
    return Derivation(
        (
            tensor(
                "flow",
                "The attention flow moves each token along the tangential part of the push of the attention map (and "
                "so does the Oja flow).",
                lambda: _first_order("attention-flow"),
                _projected("attention-map"),
                r"\dot x_i = P_iu_i",
            ),
            grouped(
                "first order",
                "It is the first-order part of the map: with $u_i = cx_i + \\omega e$, the derivative of $y_i/\\lVert "
                "y_i\\rVert$ in $\\alpha$ at $0$ has the coordinates",
                _in_the_step,
                (0, sp.Symbol("omega", real=True)),
                r"\frac{\mathrm d}{\mathrm d\alpha}f_i\Big|_{\alpha=0} = \left(<1>,\ <2>\right)",
            ),
            grouped(
                "consensus",
                "Consensus on $v_k$ is an equilibrium of both flows.",
                _velocity("attention-flow", [(n, (1, 0))], [[LK, 0], [0, free]]),
                (0, 0),
                r"\dot x_i = \left(<1>,\ <2>\right)",
            ),
            grouped(
                "two groups, Oja",
                "At $x_i = \\pm w$, $Vw = \\nu w + \\omega e$: the Oja flow has the velocity $\\delta\\omega e$ on "
                "both sides: an equilibrium iff $p = q$ or $w$ is an eigenvector.",
                _velocity("oja-flow", sides, generic),
                (0, delta * w2, 0, delta * w2),
                r"\dot x_i = \left(<1>,\ <2>\right), \qquad \dot x_j = \left(<3>,\ <4>\right)",
            ),
            grouped(
                "two groups, attention",
                "The attention flow has the velocities $b_1\\omega e$ and $-b_2\\omega e$, $E = e^{w^{\\top}Mw}$.",
                _velocity("attention-flow", sides, generic),
                (0, B1 * w2, 0, -B2 * w2),
                r"\dot x_i = \left(<1>,\ <2>\right), \qquad \dot x_j = \left(<3>,\ <4>\right)",
            ),
            Inequality(
                name="off the eigenvectors",
                says="For $\\omega \\neq 0$ they vanish iff $b_1 = b_2 = 0$, which forces $p = q$ and $w^{\\top}Mw = "
                "0$.",
                hypotheses=(heights,),
                conclusion=sp.And(sp.Eq(size, 1), sp.Eq(p, q)),
                uses=("two groups, attention",),
            ),
        )
    )


def proof(kernel: Kernel) -> Proved:
    """Both flows rest at eigenvectors, as the engine derives from their equations."""
    return kernel.conjunction(kernel.equilibrium(ConsensusAt(V, k)), kernel.equilibrium(BipartiteAt(V, k)))


CT_1 = register(
    Statement(
        id="CT-1",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemmas 1 and 8"),
        title="Equilibria of the flows",
        systems=("oja-flow", "attention-flow"),
        conditions=(Symmetric(V),),
        claims=(Equilibrium(ConsensusAt(V, k)), Equilibrium(BipartiteAt(V, k))),
        derive=derive,
        proof=proof,
        variants=(
            Variant(
                "p = q",
                "antipodal states off the eigenvectors with p != q move",
                FirstFailure(antipodal_uneven_in_the_flow),
            ),
            Variant("w^T M w = 0", "with a score they move", FirstFailure(antipodal_scored_in_the_flow)),
        ),
    )
)
