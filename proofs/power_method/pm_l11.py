"""PM-L11: at consensus the attention map is linearly the Oja map.  Reference: Li-Altafini, Lemma 11."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.power_method.pm_l3 import TV1_V
from eigentoken.proofs.power_method.symbols import G2, G3, LK, V, alpha, any_score, d, ell, k, lam, n, symmetric_value
from eigentoken.proofs.reductions import grouped, recalled
from eigentoken.theory.claims import SpectrumIs, Stable, When
from eigentoken.theory.conditions import AllOf, Relation, SimpleTop, Symmetric
from eigentoken.theory.points import ConsensusAt
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.steps import Derivation
from eigentoken.theory.verdicts import Verdict


def _one_moved() -> list[Any]:
    from eigentoken.proofs.token_groups import slopes

    parameters = {"V": symmetric_value(), "M": any_score(3), "alpha": alpha}
    groups = [(1, (1, 0, 0), (0, 1, 0)), (n - 1, (1, 0, 0), (0, 0, 0))]
    return [entry for token in slopes("attention-map", parameters, groups, (1 + alpha * LK,)) for entry in token]


def derive() -> Derivation:
    """The blocks of the attention Jacobian at consensus, with arbitrary scores."""
    m = 1 + alpha * LK
    return Derivation(
        (
            grouped(
                "blocks",
                "One token at $v_k$ is moved along $\\xi$, $V\\xi = g_2\\xi + g_3\\xi'$, $m = 1 + "
                "\\alpha\\lambda_k > 0$, all entries of $M$ independent "
                "symbols: the blocks are those of the Oja map, PM-L3.",
                _one_moved,
                (0, (1 + alpha * G2 / n) / m, alpha * G3 / n / m, 0, alpha * G2 / n / m, alpha * G3 / n / m),
                r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
            ),
            recalled(
                "PM-L3",
                "the Jacobian at consensus is (1/m) P (delta_ij I + alpha V / n)",
                "So the spectrum is that of PM-L3.",
                r"J_{ij} = \frac1m P_{v_k}\Big(\delta_{ij}I + \frac{\alpha}{n}V\Big)",
                uses=("blocks",),
            ),
            recalled(
                "PM-L4",
                "stable iff the step is below the threshold",
                "Stability is that of PM-L4.",
                r"\alpha(|\lambda_d| - \lambda_1) < 2",
                uses=("blocks",),
            ),
        )
    )


def with_scores() -> list[Any]:
    """TV1 for the attention map with some scores: the same multipliers."""
    scores = [["1", "2", "0"], ["-1", "1/3", "5"], ["0", "7", "-2"]]
    return multipliers(instance("attention-map", [["1", "0", "0"]] * 3, V=TV1_V, M=scores, alpha="1/4"))


#: lambda = (1/2, -1), threshold 4, some scores.
BEYOND = instance(
    "attention-map", [["1", "0"]] * 2, V=[["1/2", "0"], ["0", "-1"]], M=[["1", "0"], ["0", "1"]], alpha="41/10"
)


def beyond_the_threshold() -> Verdict:
    """Consensus on v_1 is unstable beyond the threshold, with scores as without."""
    return point_is(BEYOND, "consensus", stable="unstable")


PM_L11 = register(
    Statement(
        id="PM-L11",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 11"),
        title="At consensus attention is the Oja map",
        systems=("attention-map",),
        conditions=(Symmetric(V), Relation(n >= 2), Relation(1 + alpha * lam(V, k) > 0)),
        claims=(
            SpectrumIs(
                ConsensusAt(V, k),
                (
                    ((1 + alpha * lam(V, ell)) / (1 + alpha * lam(V, k)), 1),
                    (1 / (1 + alpha * lam(V, k)), (n - 1) * (d - 1)),
                ),
            ),
            When(
                AllOf(
                    (
                        SimpleTop(V),
                        Relation(lam(V, 1) > 0),
                        Relation(alpha * (sp.Abs(lam(V, d)) - lam(V, 1)) < 2),
                    )
                ),
                Stable(ConsensusAt(V, 1)),
            ),
        ),
        text=(
            r"At consensus on $v_k$ the Jacobian of the attention map equals that of the Oja map, whatever $M$ is: "
            r"spectrum as in PM-L3, "
            r"stability as in PM-L4."
        ),
        depends=("PM-L3", "PM-L4", "PM-CM"),
        derive=derive,
        claimed_by=(("from PM-L3",), ("from PM-L4",)),
        vectors=(Vector("TV1, k = 1, with scores", with_scores, decimals("1/2", "2/3 * 4", "3/4")),),
        variants=(
            Variant(
                "alpha (|lambda_d| - lambda_1) < 2",
                "V = diag(1/2, -1), threshold 4, at alpha = 41/10: unstable",
                beyond_the_threshold,
            ),
        ),
    )
)
