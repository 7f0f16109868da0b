"""PM-N4': bipartite 2-cycles of the attention map, for large steps.  New here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.bipartite import X, Y, pairs_moved, sides_moved
from eigentoken.proofs.power_method.pm_l14_bipartite_spectrum import block
from eigentoken.proofs.power_method.symbols import B1, B2, LL, M1, M2, V, alpha, b1, b2, k, lam, m1, m2, mu, score
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import instance, multipliers
from eigentoken.proofs.properties.point_checks import bipartite_cycles
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Equivalence, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, TwoCycle
from eigentoken.theory.language.conditions import AllOf, Relation, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import t_split
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Computation, Derivation

CYCLE = instance(
    "attention-map", [["0", "1"], ["0", "-1"]], V=[["1/10", "0"], ["0", "-1"]], M=[["0", "0"], ["0", "3"]], alpha="3"
)


def moduli() -> Sequence[Any]:
    """The moduli of the multipliers per step of the example."""
    return sorted((abs(each) for each in multipliers(CYCLE, -1)), key=lambda each: float(each.mid()))


def stable_cycle() -> Verdict:
    """f(x) = -x, m_1 = m_2 < 0, and both multipliers of -f are inside the unit circle."""
    from flint import arb

    from eigentoken.proofs.properties.exact_points import image

    found = image(CYCLE)
    flipped = all(ball.overlaps(arb(value)) for ball, value in zip(found, (0, -1, 0, 1), strict=True))
    exact = found[0] == 0 and found[2] == 0 and found[1] < 0 and found[3] > 0
    inside = all(each < 1 for each in moduli())
    if flipped and exact and inside:
        return holds("f(x) = -x (unit vectors on the axis with opposite signs), and all multipliers are inside")
    return fails(f"image {[each.str(8) for each in found]}, moduli {[each.str(8) for each in moduli()]}")


def derive() -> Derivation:
    """The multipliers of -f with |m_i| = -m_i; then the example."""
    lengths = (-M1, -M2)
    claimed = block().subs({mu: alpha * LL, b1: B1, b2: B2, m1: -M1, m2: -M2})
    return Derivation(
        (
            grouped(
                "pairs",
                "If $m_1, m_2 < 0$, the point is sent to its negative. Two tokens of the first side against each other.",
                pairs_moved("attention-map", lengths, 1),
                (0, -1 / M1, 0, 0, 1 / M1, 0, 0, 0, 0, 0, 0, 0),
                r"\frac{1}{|m_1|} = <2>",
            ),
            grouped(
                "sides",
                "The sides as wholes: the block of PM-L14 with $|m_i|$ for $m_i$.",
                sides_moved("attention-map", lengths),
                (0, claimed[0, 0] * X + claimed[0, 1] * Y, 0, claimed[1, 0] * X + claimed[1, 1] * Y),
                r"\xi_1^+ = <2>, \qquad \xi_2^+ = <4>",
            ),
            Computation(
                name="example",
                says="For $V = \\operatorname{diag}(.1, -1)$, $M = \\operatorname{diag}(0, 3)$, $\\alpha = 3$, $x = "
                "(e_2, -e_2)$ all multipliers are inside the unit circle.",
                run=stable_cycle,
                formula=r"f(x) = -x",
                uses=("sides",),
            ),
        )
    )


#: ``m_1 < 0`` and ``m_2 < 0``: the heights of both sides are negative.
HEIGHTS = AllOf(tuple(Relation(1 + alpha * lam(V, k) * sp.tanh(score(k) + side * t_split) < 0) for side in (1, -1)))


def proof(kernel: Kernel) -> Proved:
    """The heights of the linearization engine, in s and t."""
    cycles = kernel.two_cycle(BipartiteAt(V, k))
    return kernel.restated(cycles, Equivalence(cycles.proposition.left, proposition(HEIGHTS)))


PM_N4_PRIME = register(
    Statement(
        id="PM-N4'",
        kind=Kind.EXTENSION,
        source=Source(HERE, "bipartite 2-cycles"),
        title="Bipartite 2-cycles of the attention map",
        systems=("attention-map",),
        conditions=(Symmetric(V),),
        claims=(Iff(TwoCycle(BipartiteAt(V, k)), HEIGHTS),),
        depends=("PM-L14", "PM-R7"),
        derive=derive,
        proof=proof,
        vectors=(Vector("moduli", moduli, ("0.65411032", "0.65485765")),),
        property_tests=(OnInstances(bipartite_cycles),),
    )
)
