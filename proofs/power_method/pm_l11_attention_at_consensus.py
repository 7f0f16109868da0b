"""PM-L11: at consensus the attention map is linearly the Oja map.  Reference: Li-Altafini, Lemma 11."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.consensus_blocks import BLOCKS, blocks
from eigentoken.proofs.power_method.pm_l03_consensus_spectrum import E1, E2, SPECTRUM, STILL, TV1_V
from eigentoken.proofs.power_method.pm_l04_consensus_stability import consensus_steps
from eigentoken.proofs.power_method.symbols import (
    G2,
    G3,
    LK,
    LL,
    V,
    alpha,
    any_score,
    d,
    k,
    lam,
    n,
    symmetric_value,
)
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.consensus_criteria import consensus_threshold, other_consensus_expands
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import AllOf, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity

#: What PM-L4 asks of V beyond the conditions here.
TOP = (SimpleTop(V), Relation(lam(V, 1) > 0))


def _slopes(groups: Sequence[tuple[Any, Any, Any]], value: Any = None) -> Callable[[], list[Any]]:
    """Derivatives of the attention map at consensus, all entries of M independent symbols, m > 0."""

    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import slopes

        parameters = {"V": value or symmetric_value(), "M": any_score(3), "alpha": alpha}
        return [entry for token in slopes("attention-map", parameters, groups, (1 + alpha * LK,)) for entry in token]

    return run


def derive() -> Derivation:
    """The blocks of the attention Jacobian at consensus, with arbitrary scores; its eigenvectors; the unit circle."""
    m = 1 + alpha * LK
    return Derivation(
        (
            grouped(
                "blocks",
                "One token at $v_k$ is moved along $\\xi$, $V\\xi = g_2\\xi + g_3\\xi'$, $m = 1 + \\alpha\\lambda_k > "
                "0$, all entries of $M$ independent symbols: the blocks are those of the Oja map in PM-L3.",
                _slopes([(1, E1, E2), (n - 1, E1, STILL)]),
                (0, (1 + alpha * G2 / n) / m, alpha * G3 / n / m, 0, alpha * G2 / n / m, alpha * G3 / n / m),
                r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
            ),
            grouped(
                "common",
                "All tokens are moved along $v_\\ell$.",
                _slopes([(n, E1, E2)], symmetric_value(LK, LL, sp.Integer(0))),
                (0, (1 + alpha * LL) / m, 0),
                r"J (\mathbf 1 \otimes v_\ell) = <2>\ \mathbf 1 \otimes v_\ell",
            ),
            grouped(
                "zero sum",
                "Two tokens are moved against each other along any tangent vector.",
                _slopes([(1, E1, E2), (1, E1, (0, -1, 0)), (n - 2, E1, STILL)]),
                (0, 1 / m, 0, 0, -1 / m, 0, 0, 0, 0),
                r"J (\eta \otimes \xi) = <2>\ \eta \otimes \xi",
            ),
            Identity(
                name="count",
                says="These are all: $d - 1$ common directions and $(n-1)(d-1)$ zero-sum ones fill the tangent space.",
                left=(d - 1) + (n - 1) * (d - 1),
                right=n * (d - 1),
                uses=("common", "zero sum"),
            ),
            *consensus_steps("common", "zero sum", "common", TOP, "attention-map"),
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


def proof(kernel: Kernel) -> Proved:
    """The spectrum of the attention map at consensus, and PM-L4's arithmetic on it."""
    fixed = kernel.given(1 + alpha * lam(V, k) > 0)
    spectrum = kernel.respelled(kernel.supply(kernel.spectrum(ConsensusAt(V, k)), fixed), SPECTRUM, fixed)
    top, positive = (kernel.assume(each) for each in TOP)
    threshold = consensus_threshold(kernel, V, positive, top)
    below = kernel.assume(lam(V, k) < lam(V, 1))
    return kernel.conjunction(
        spectrum,
        kernel.discharge(AllOf(TOP), threshold),
        kernel.discharge(below.proposition, other_consensus_expands(kernel, V, below, fixed)),
        blocks(kernel),
    )


PM_L11 = register(
    Statement(
        id="PM-L11",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 11"),
        title="At consensus attention is the Oja map",
        systems=("attention-map",),
        conditions=(Symmetric(V), Relation(n >= 2), Relation(1 + alpha * lam(V, k) > 0)),
        claims=(
            SPECTRUM,
            When(AllOf(TOP), Iff(Stable(ConsensusAt(V, 1)), Relation(alpha * (sp.Abs(lam(V, d)) - lam(V, 1)) < 2))),
            When(Relation(lam(V, k) < lam(V, 1)), Unstable(ConsensusAt(V, k))),
            BLOCKS,
        ),
        depends=("PM-L3", "PM-L4", "PM-CM"),
        derive=derive,
        proof=proof,
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
