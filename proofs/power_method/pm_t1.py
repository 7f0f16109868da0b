"""PM-T1: multi-head attention: consensus on the principal eigenvector of F = sum_h F_h.

Reference: Li-Altafini, Theorem 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.exact_points import instance, point_is
from eigentoken.proofs.power_method.pm_n1 import spiral
from eigentoken.proofs.power_method.symbols import G2, G3, LK, F, alpha, any_score, d, k, lam, n
from eigentoken.proofs.reductions import grouped, recalled
from eigentoken.theory.claims import Iff, Stable, Unstable, When
from eigentoken.theory.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.points import ConsensusAt
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement, Variant
from eigentoken.theory.steps import Derivation


def _two_heads() -> list[Any]:
    """Two heads, neither symmetric, with different scores; F v_k = lambda_k v_k, F xi = g_2 xi + g_3 xi'."""
    from eigentoken.proofs.token_groups import slopes

    first = any_score(3, letter="a")
    total = [[LK, 0, 0], [0, G2, G3], [0, G3, sp.Symbol("g_4", real=True)]]
    second = [[total[i][j] - first[i][j] for j in range(3)] for i in range(3)]
    heads = [{"F": first, "M": any_score(3, letter="c")}, {"F": second, "M": any_score(3, letter="d")}]
    groups = [(1, (1, 0, 0), (0, 1, 0)), (n - 1, (1, 0, 0), (0, 0, 0))]
    found = slopes("multihead-map", {"heads": heads, "alpha": alpha}, groups, (1 + alpha * LK,))
    return [entry for token in found for entry in token]


def derive() -> Derivation:
    """Only the sum of the heads enters the Jacobian at consensus; then PM-L4."""
    m = 1 + alpha * LK
    return Derivation(
        (
            grouped(
                "blocks",
                "Two heads with arbitrary, different and non-symmetric $F_1$, $F_2$, $M_1$, $M_2$, of which only "
                "the sum $F$ is symmetric: one token "
                "at $v_k(F)$ is moved along $\\xi$, $F\\xi = g_2\\xi + g_3\\xi'$. The blocks are those of PM-L3 "
                "with $F$ for $V$. The push is a sum over "
                "the heads, so any number of heads can be merged two at a time.",
                _two_heads,
                (0, (1 + alpha * G2 / n) / m, alpha * G3 / n / m, 0, alpha * G2 / n / m, alpha * G3 / n / m),
                r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
            ),
            recalled(
                "PM-CM",
                "the Jacobian on the consensus manifold",
                "This is PM-CM at an eigenvector;",
                r"J_{ij} = \frac1r P\Big(\delta_{ij}I + \frac{\alpha}{n}F\Big)",
            ),
            recalled(
                "PM-L4",
                "stable iff the step is below the threshold",
                "Stability is that of PM-L4.",
                r"\alpha(|\lambda_d| - \lambda_1) < 2",
                uses=("blocks", "from PM-CM"),
            ),
            recalled(
                "PM-L4",
                "consensus fixed points on other eigenvectors are unstable",
                "Consensus fixed points on the other eigenvectors are unstable by PM-L4.",
                r"\frac{1 + \alpha\lambda_1}{1 + \alpha\lambda_k} > 1",
                name="other points, from PM-L4",
                uses=("blocks", "from PM-CM"),
            ),
        )
    )


_HEADS = [
    {"F": [["1/2", "1"], ["0", "-2"]], "M": [["1", "0"], ["0", "1"]]},
    {"F": [["1/2", "-1"], ["0", "-1"]], "M": [["0", "3"], ["-1", "0"]]},
]
BEYOND = instance("multihead-map", [["1", "0"]] * 2, heads=_HEADS, alpha="11/10")

PM_T1 = register(
    Statement(
        id="PM-T1",
        kind=Kind.THEOREM,
        source=Source(LI_ALTAFINI, "Theorem 1"),
        title="Multi-head attention aligns with the principal eigenvector of the layer matrix",
        systems=("multihead-map",),
        conditions=(Symmetric(F), SimpleTop(F), Relation(lam(F, 1) > 0), Relation(n >= 2)),
        claims=(
            Iff(Stable(ConsensusAt(F, 1)), Relation(alpha * (sp.Abs(lam(F, d)) - lam(F, 1)) < 2)),
            When(
                Relation(sp.And(1 + alpha * lam(F, k) > 0, lam(F, k) < lam(F, 1))),
                Unstable(ConsensusAt(F, k)),
            ),
        ),
        text=(
            r"Let $F = \sum_hF_h$, $F_h = U_hV_h$, be symmetric with simple $\lambda_1 > 0$, and $\alpha < "
            r"2/(|\lambda_d| - \lambda_1)$ if "
            r"$|\lambda_d| > \lambda_1$. Then consensus at $\pm v_1(F)$ is asymptotically stable and consensus at "
            r"the other eigenvectors is unstable. "
            r"The single heads need not be symmetric, may differ, and may have different scores: only $F$ enters. "
            r"For causal masks and "
            r"non-symmetric $F$ see PM-N1."
        ),
        depends=("PM-CM", "PM-L3", "PM-L4", "PM-N1"),
        derive=derive,
        claimed_by=(("from PM-L4",), ("other points, from PM-L4",)),
        variants=(
            Variant(
                "alpha < 2/(|lambda_d| - lambda_1)",
                "two heads with F = diag(1, -3), threshold 1, at alpha = 11/10",
                lambda: point_is(BEYOND, "consensus", stable="unstable"),
            ),
            Variant("F symmetric", "the spiral of PM-N1: real-part dominance does not decide at a fixed step", spiral),
        ),
        notes="The step with heads is checked for two heads; that more heads merge two at a time, because the push is "
        "a sum "
        "over the heads, is argued in words.",
    )
)
