"""PM-L13: a step below 1/max(lambda_1, |lambda_d|) makes both m_i positive.  Reference: Li-Altafini, Lemma 13."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.symbols import LK, E, V, alpha, k, p, q
from eigentoken.proofs.properties.exact_points import agree, image, instance
from eigentoken.proofs.steps.bipartite_spectra import small_eigenvalue
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import conjuncts
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Equilibrium
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Inequality

NORM = SpectralNorm(V)


def derive() -> Derivation:
    """|b| < 1 from its form in p, q, E = e^s; then m > 0."""
    b, norm = sp.symbols("b N", real=True)
    height = (p * E**2 - q) / (p * E**2 + q)
    return Derivation(
        (
            Inequality(
                name="heights",
                says="A difference of two positive weights that sum to 1 is inside $(-1, 1)$; here $b_1 = \\frac{pE^2 "
                "- q}{pE^2 + q}$, $E = e^s$, and $b_2$ is the same with $p$ and $q$ exchanged.",
                hypotheses=(),
                conclusion=sp.And(height > -1, height < 1),
            ),
            Inequality(
                name="positive",
                says="With $N = \\lVert V\\rVert = \\max(\\lambda_1, |\\lambda_d|) \\geq |\\lambda_k|$ and $\\alpha N "
                "< 1$.",
                hypotheses=(b > -1, b < 1, sp.Abs(LK) <= norm, alpha * norm < 1),
                conclusion=1 + alpha * LK * b > 0,
                uses=("heights",),
                establishes=("m_1 and m_2 are positive",),
            ),
            Inequality(
                name="what is needed",
                says="The bound is needed only for a side with $\\lambda_k b_i < 0$: otherwise $m_i \\geq 1$.",
                hypotheses=(LK * b >= 0,),
                conclusion=1 + alpha * LK * b >= 1,
            ),
        )
    )


LARGE_STEP = instance(
    "attention-map",
    [["0", "1"], ["0", "-1"]],
    V=[["1/10", "0"], ["0", "-1"]],
    M=[["0", "0"], ["0", "ln(3)"]],
    alpha="3",
)


def proof(kernel: Kernel) -> Proved:
    """Both heights are positive, since ``|alpha lambda_k b_i| < 1``."""
    rests = kernel.equilibrium(BipartiteAt(V, k))
    bounds = small_eigenvalue(kernel)
    heights = (kernel.arithmetic(bounds, each) for each in conjuncts(rests.proposition.right))
    return kernel.modus_ponens(rests, kernel.conjunction(*heights))


PM_L13 = register(
    Statement(
        id="PM-L13",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 13"),
        title="Small steps keep bipartite points fixed",
        systems=("attention-map",),
        conditions=(Symmetric(V), Relation(alpha * NORM < 1)),
        claims=(Equilibrium(BipartiteAt(V, k)),),
        depends=("PM-L9",),
        derive=derive,
        proof=proof,
        variants=(
            Variant(
                "alpha |V| < 1",
                "V = diag(1/10, -1), M = diag(0, ln 3), alpha = 3: the point (e_2, -e_2) is sent to its negative",
                lambda: agree(image(LARGE_STEP), ("0", "-1", "0", "1")),
            ),
        ),
    )
)
