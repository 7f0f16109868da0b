"""PM-T3: single-head attention: consensus, and sufficient conditions for bipartite points.

Reference: Li-Altafini, Theorem 3 (its last claim, on polygonal points, is PM-L15 and false).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l04_consensus_stability import BELOW, OTHERS
from eigentoken.proofs.power_method.pm_l11_attention_at_consensus import beyond_the_threshold
from eigentoken.proofs.power_method.pm_l14_bipartite_spectrum import LENGTHS, block
from eigentoken.proofs.power_method.pm_l15_attention_polygonal_points import TV10
from eigentoken.proofs.power_method.symbols import B1, B2, V, alpha, b1, b2, bbar, d, k, kappa, lam, mu, n, p, q
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.first_failures import FirstFailure, block_that_expands, side_that_expands
from eigentoken.proofs.steps.consensus_criteria import principal_and_others
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality


def derive() -> Derivation:
    """Consensus from PM-L11; the Schur-Cohn conditions for the real roots of PM-L14; the third class."""
    z, trace, det = sp.symbols("z T D", real=True)
    return Derivation(
        (
            recalled(
                "PM-L11",
                BELOW,
                "Consensus is linearly that of the Oja map, whatever the scores are (PM-L11).",
                r"\alpha(|\lambda_d| - \lambda_1) < 2",
                letters={"k": 1},
            ),
            recalled(
                "PM-L11",
                OTHERS,
                "Consensus fixed points on the other eigenvectors are unstable by PM-L11.",
                r"\frac{1 + \alpha\lambda_1}{1 + \alpha\lambda_k} > 1",
                name="other points, from PM-L11",
                assuming=(Relation(1 + alpha * lam(V, k) > 0),),
            ),
            recalled(
                "PM-L14",
                "the eigenvalues of B_l are real",
                "At a bipartite point with $\\alpha\\lVert V\\rVert < 1$ the multipliers are $1/m_1$, $1/m_2$ and the "
                "real eigenvalues of $B_\\ell$ (PM-L14).",
                r"z^2 - (\operatorname{tr}B_\ell)\,z + \det B_\ell = 0",
                assuming=(Relation(alpha * SpectralNorm(V) < 1),),
            ),
            Inequality(
                name="Schur-Cohn",
                says="If $|T| < 1 + D$ and $D < 1$, every real root of $z^2 - Tz + D$ is inside the unit circle.",
                hypotheses=(sp.Eq(z**2 - trace * z + det, 0), sp.Abs(trace) < 1 + det, det < 1),
                conclusion=sp.And(z < 1, z > -1),
                uses=("from PM-L14",),
            ),
            Inequality(
                name="third class",
                says="$\\lambda_kb_i > 0$ puts $1/m_i$ inside.",
                hypotheses=(kappa * b1 > 0,),
                conclusion=sp.And(1 / (1 + kappa * b1) < 1, 1 / (1 + kappa * b1) > 0),
            ),
            Identity(
                name="the conditions in closed form",
                says="The first condition at $+1$ is the factor that PM-N3 turns into a closed criterion.",
                left=(1 - block().trace() + block().det()).subs(LENGTHS),
                right=(kappa - mu) * (kappa * b1 * b2 - mu * bbar) / ((1 + kappa * b1) * (1 + kappa * b2)),
            ),
        )
    )


TV6 = instance(
    "attention-map",
    [["1", "0"], ["1", "0"], ["-1", "0"]],
    V=[["1", "0"], ["0", "-1/2"]],
    M=[["1/2*ln(3/2)", "0"], ["0", "0"]],
    alpha="1/2",
)


def tv6_heights() -> Sequence[Any]:
    """b_1, b_2 and 1/m_2 of TV6: p = 2, q = 1, e^{2s} = 3/2."""
    at = {p: 2, q: 1, sp.Symbol("E", positive=True): sp.sqrt(sp.Rational(3, 2))}
    one, two = sp.simplify(B1.subs(at)), sp.simplify(B2.subs(at))
    return one, two, 1 / (1 + sp.Rational(1, 2) * two)


def proof(kernel: Kernel) -> Proved:
    """Both claims, from the spectrum of the attention map at consensus."""
    return principal_and_others(kernel, V)


PM_T3 = register(
    Statement(
        id="PM-T3",
        kind=Kind.THEOREM,
        source=Source(LI_ALTAFINI, "Theorem 3"),
        title="Single-head attention: consensus and bipartite points",
        systems=("attention-map",),
        conditions=(*ASSUMPTION_1, Relation(n >= 2)),
        claims=(
            Iff(Stable(ConsensusAt(V, 1)), Relation(alpha * (sp.Abs(lam(V, d)) - lam(V, 1)) < 2)),
            When(
                Relation(sp.And(1 + alpha * lam(V, k) > 0, lam(V, k) < lam(V, 1))),
                Unstable(ConsensusAt(V, k)),
            ),
        ),
        depends=("PM-A1", "PM-L11", "PM-L14", "PM-L15", "PM-N3"),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=(
                r"Consensus on $v_1$ is stable, on the others unstable; a bipartite point is stable under three groups "
                r"of inequalities; all polygonal equilibria are unstable."
            ),
            wrong=(
                r"The last claim is false (PM-L15). The conditions for bipartite points are sufficient but not "
                r"necessary when one side has a single token: with $p = 2$, $q = 1$ a point that violates the third "
                r"one is stable."
            ),
            counterexamples=(
                Counterexample(
                    "TV10",
                    r"$V = \big(\begin{smallmatrix}2&1\\1&2\end{smallmatrix}\big)$, $M = "
                    r"\big(\begin{smallmatrix}0&0\\-3&0\end{smallmatrix}\big)$, $\alpha = \frac1{10}$: a stable "
                    r"polygonal point.",
                    TV10,
                    lambda: point_is(TV10, "polygonal", stable="stable"),
                ),
            ),
        ),
        vectors=(
            Vector("TV6, b_1, b_2, 1/m_2", tv6_heights, decimals("1/2", "-1/7", "14/13")),
            Vector("TV6, spectrum", lambda: multipliers(TV6), ("0.627005809044468", "0.8", "0.984532652493994")),
        ),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"The printed conditions for a bipartite point on $v_k$ are about the height $b_i$ of the mean that a token of "
                r"side $i$ sees, along that token, and about the matrix $B$ of the linearisation on the two sides (PM-L14).",
            ),
        ),
        variants=(
            Variant(
                "alpha (|lambda_d| - lambda_1) < 2",
                "V = diag(1/2, -1), threshold 4, at alpha = 41/10: consensus on v_1 is unstable",
                beyond_the_threshold,
            ),
            Variant(
                "lambda_k b_i > 0",
                "a side of two tokens expands, while all other conditions hold",
                FirstFailure(side_that_expands),
            ),
            Variant(
                "|tr B| < 1 + det B",
                "the sides as wholes expand, while all heights are positive",
                FirstFailure(block_that_expands),
            ),
        ),
    )
)
