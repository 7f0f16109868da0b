"""PM-DOM: where the maps are defined.  New here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.pm_e08_attention_map import attention_weight
from eigentoken.proofs.power_method.symbols import B1, B2, LK, E, V, alpha, any_score, delta, n, p, q
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.jacobian_checks import domain
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.step_lengths import SHORT_STEP, apart_from_zero, long_enough
from eigentoken.theory.calculus import TOKENS, one
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import When
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Inequality


def _raw(name: str, groups: list[tuple[Any, tuple[int, int]]]) -> Callable[[], list[Any]]:
    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import push_groups

        free = sp.Symbol("nu", real=True)
        parameters = {"V": [[LK, 0], [0, free]], "M": any_score(2, sp.log(E)), "alpha": alpha}
        pushes = push_groups(name, parameters, groups)
        return [
            x + alpha * u
            for (_, token), push in zip(groups, pushes, strict=True)
            for x, u in zip(token, push, strict=True)
        ]

    return run


def derive() -> Derivation:
    """The triangle inequality in squares, and the degenerate points from the systems."""
    r, c, g = sp.symbols("r c gamma", real=True)
    sides = [(p, (1, 0)), (q, (-1, 0))]
    return Derivation(
        (
            Inequality(
                name="lower bound",
                says="A convex combination of unit vectors has norm at most 1, so $c = \\alpha\\lVert u_i\\rVert \\leq "
                "\\alpha\\lVert V\\rVert$. With $\\gamma = \\alpha x_i^{\\top}u_i$, $|\\gamma| \\leq c$, and $r^2 = 1 "
                "+ 2\\gamma + c^2$:",
                hypotheses=(r >= 0, sp.Eq(r**2, 1 + 2 * g + c**2), c >= 0, c < 1, sp.Abs(g) <= c),
                conclusion=sp.And(r >= 1 - c, r > 0),
                establishes=("the map is defined and analytic everywhere",),
                assuming=(Relation(alpha * SpectralNorm(V) < 1),),
            ),
            grouped(
                "consensus",
                "At consensus on $v_k$ the vector $y_i$ vanishes iff $1 + \\alpha\\lambda_k = 0$.",
                _raw("oja-map", [(n, (1, 0))]),
                (1 + alpha * LK, 0),
                r"y_i = \left(<1>\right)v_k",
            ),
            grouped(
                "bipartite, Oja",
                "At a bipartite point of the Oja map iff $\\alpha|\\lambda_k\\delta| = 1$.",
                _raw("oja-map", sides),
                (1 + alpha * LK * delta, 0, -(1 - alpha * LK * delta), 0),
                r"y_i = \left(<1>\right)v_k, \qquad y_j = \left(<3>\right)v_k",
            ),
            grouped(
                "bipartite, attention",
                "At a bipartite point of the attention map iff $1 + \\alpha\\lambda_kb_i = 0$, $E = e^s$.",
                _raw("attention-map", sides),
                (1 + alpha * LK * B1, 0, -(1 + alpha * LK * B2), 0),
                r"y_i = \left(<1>\right)v_k, \qquad y_j = \left(<3>\right)v_k",
            ),
        )
    )


def degenerate() -> Verdict:
    """V = diag(1, -1), alpha = 1: y vanishes at consensus on e_2."""
    from fractions import Fraction

    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    algebra = LoopAlgebra(lambda each: each, lambda each: each, Fraction(1))
    raw = system("oja-map").raw_step(algebra, {"V": ((1, 0), (0, -1)), "alpha": Fraction(1)}, ((0, 1), (0, 1)))
    return holds("y = 0 at consensus on e_2") if set(raw) == {(0, 0)} else fails(f"y = {raw}")


#: The weights with which a token averages the others.
WEIGHTS = {"oja-map": one() / TOKENS, "attention-map": attention_weight()}


def proof(k: Kernel) -> Proved:
    """A convex combination of unit vectors has norm at most 1; the rest is the triangle inequality, in squares."""
    return apart_from_zero(k, WEIGHTS[k.system.name if k.system else ""])


PM_DOM = register(
    Statement(
        id="PM-DOM",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the domain of the maps"),
        title="Where the maps are defined",
        systems=("oja-map", "attention-map"),
        claims=(When(Relation(SHORT_STEP), Formula(long_enough().right)),),
        derive=derive,
        proof=proof,
        variants=(Variant("alpha |V| < 1", "V = diag(1, -1), alpha = 1: y = 0 at consensus on e_2", degenerate),),
        property_tests=(OnInstances(domain),),
    )
)
