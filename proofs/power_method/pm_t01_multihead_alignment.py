"""PM-T1: multi-head attention: consensus on the principal eigenvector of F = sum_h F_h.

Reference: Li-Altafini, Theorem 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l03_consensus_spectrum import E1, E2, STILL
from eigentoken.proofs.power_method.pm_l04_consensus_stability import consensus_steps
from eigentoken.proofs.power_method.pm_n01_consensus_any_layer import spiral
from eigentoken.proofs.power_method.symbols import G2, G3, LK, LL, F, alpha, any_score, d, k, lam, n, symmetric_value
from eigentoken.proofs.properties.exact_points import agree, image, instance, point_is
from eigentoken.proofs.steps.consensus_criteria import principal_and_others
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation


def _two_heads(groups: Sequence[tuple[Any, Any, Any]], eigen: bool = False) -> Callable[[], list[Any]]:
    """Two heads, neither symmetric, with different scores; F v_k = lambda_k v_k, F xi = g_2 xi + g_3 xi'.

    With ``eigen`` xi is the eigenvector v_l of F.
    """

    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import slopes

        first = any_score(3, letter="a")
        total = symmetric_value(LK, LL, sp.Integer(0)) if eigen else symmetric_value()
        second = [[total[i][j] - first[i][j] for j in range(3)] for i in range(3)]
        heads = [{"F": first, "M": any_score(3, letter="c")}, {"F": second, "M": any_score(3, letter="d")}]
        found = slopes("multihead-map", {"heads": heads, "alpha": alpha}, groups, (1 + alpha * LK,))
        return [entry for token in found for entry in token]

    return run


def derive() -> Derivation:
    """Only the sum of the heads enters the Jacobian at consensus; its multipliers against the unit circle."""
    m = 1 + alpha * LK
    return Derivation(
        (
            recalled(
                "PM-CM",
                "the Jacobian on the consensus manifold",
                "At consensus only the sum $F$ of the heads enters the Jacobian (PM-CM).",
                r"J_{ij} = \frac1r P\Big(\delta_{ij}I + \frac{\alpha}{n}F\Big)",
            ),
            grouped(
                "blocks",
                "Two heads with arbitrary, different and non-symmetric $F_1$, $F_2$, $M_1$, $M_2$, of which only the "
                "sum $F$ is symmetric: one token at $v_k(F)$, $m = 1 + \\alpha\\lambda_k > 0$, is moved along $\\xi$, "
                "$F\\xi = g_2\\xi + g_3\\xi'$. The push is a sum over the heads, so any number of heads can be merged "
                "two at a time.",
                _two_heads([(1, E1, E2), (n - 1, E1, STILL)]),
                (0, (1 + alpha * G2 / n) / m, alpha * G3 / n / m, 0, alpha * G2 / n / m, alpha * G3 / n / m),
                r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
                uses=("from PM-CM",),
            ),
            grouped(
                "common",
                "All tokens are moved along $v_\\ell(F)$, $d - 1$ directions.",
                _two_heads([(n, E1, E2)], eigen=True),
                (0, (1 + alpha * LL) / m, 0),
                r"J (\mathbf 1 \otimes v_\ell) = <2>\ \mathbf 1 \otimes v_\ell",
                uses=("blocks",),
            ),
            grouped(
                "zero sum",
                "Two tokens are moved against each other along any tangent vector, $(n-1)(d-1)$ directions.",
                _two_heads([(1, E1, E2), (1, E1, (0, -1, 0)), (n - 2, E1, STILL)]),
                (0, 1 / m, 0, 0, -1 / m, 0, 0, 0, 0),
                r"J (\eta \otimes \xi) = <2>\ \eta \otimes \xi",
                uses=("blocks",),
            ),
            *consensus_steps("common", "zero sum", "common", system="multihead-map"),
        )
    )


_HEADS = [
    {"F": [["1/2", "1"], ["0", "-2"]], "M": [["1", "0"], ["0", "1"]]},
    {"F": [["1/2", "-1"], ["0", "-1"]], "M": [["0", "3"], ["-1", "0"]]},
]
BEYOND = instance("multihead-map", [["1", "0"]] * 2, heads=_HEADS, alpha="11/10")
_FLIPPING = [
    {"F": [["1", "1"], ["0", "-1/2"]], "M": [["1", "0"], ["0", "1"]]},
    {"F": [["-1/2", "-1"], ["0", "-1/2"]], "M": [["0", "3"], ["-1", "0"]]},
]
FLIPPED = instance("multihead-map", [["0", "1"]] * 2, heads=_FLIPPING, alpha="3")


def sent_to_its_negative() -> Verdict:
    """Below the threshold, consensus on v_2 is a 2-cycle: exactly f(v_2, v_2) = (-v_2, -v_2)."""
    return agree(image(FLIPPED), ("0", "-1", "0", "-1"))


def proof(kernel: Kernel) -> Proved:
    """Both claims, from the spectrum of the map with any number of heads at consensus."""
    return principal_and_others(kernel, F)


PM_T1 = register(
    Statement(
        id="PM-T1",
        kind=Kind.THEOREM,
        source=Source(LI_ALTAFINI, "Theorem 1"),
        title="Multi-head attention: consensus at the eigenvectors of the layer matrix",
        systems=("multihead-map",),
        conditions=(Symmetric(F), SimpleTop(F), Relation(lam(F, 1) > 0), Relation(n >= 2)),
        claims=(
            Iff(Stable(ConsensusAt(F, 1)), Relation(alpha * (sp.Abs(lam(F, d)) - lam(F, 1)) < 2)),
            When(
                Relation(sp.And(1 + alpha * lam(F, k) > 0, lam(F, k) < lam(F, 1))),
                Unstable(ConsensusAt(F, k)),
            ),
        ),
        depends=("PM-CM", "PM-L3", "PM-L4", "PM-N1"),
        derive=derive,
        proof=proof,
        variants=(
            Variant(
                "alpha < 2/(|lambda_d| - lambda_1)",
                "two heads with F = diag(1, -3), threshold 1, at alpha = 11/10",
                lambda: point_is(BEYOND, "consensus", stable="unstable"),
            ),
            Variant(
                "1 + alpha lambda_k > 0",
                "two heads with F = diag(1/2, -1), alpha = 3, below the threshold 4: consensus on v_2 is sent to its "
                "negative, so it is no equilibrium",
                sent_to_its_negative,
            ),
            Variant("F symmetric", "the spiral of PM-N1: real-part dominance does not decide at a fixed step", spiral),
        ),
    )
)
