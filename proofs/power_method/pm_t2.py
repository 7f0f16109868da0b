"""PM-T2: the Oja map: what is stable, and where almost every start goes.

Reference: Li-Altafini, Theorem 2 (the almost-everywhere claim is false for n = 2, lambda_2 < 0).
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_a1 import ASSUMPTION_1
from eigentoken.proofs.power_method.pm_cx1 import TV9, attracting
from eigentoken.proofs.power_method.symbols import V, alpha, k, lam, n
from eigentoken.proofs.reductions import recalled
from eigentoken.proofs.textbook_maps import CENTRE_STABLE_MAPS, INTERLACING
from eigentoken.theory.claims import AlmostEveryConverges, Stable, Unstable, When
from eigentoken.theory.conditions import AnyOf, Relation
from eigentoken.theory.points import ConsensusAt
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Counterexample, Kind, Printed, Source, Statement, Variant
from eigentoken.theory.steps import Citation, Derivation, Inequality
from eigentoken.theory.terms import SpectralNorm


def derive() -> Derivation:
    """The step bound against PM-L4; every other fixed point has a multiplier above 1; then the measure-zero argument."""
    top, last, norm, kth = sp.symbols("lambda_1 lambda_d N lambda_k", real=True)
    half = sp.Symbol("h", integer=True, positive=True)
    small = (norm > 0, alpha * norm < sp.Rational(1, 2))
    return Derivation(
        (
            Inequality(
                name="step",
                says="With $N = \\lVert V\\rVert = \\max(\\lambda_1, |\\lambda_d|)$ the bound $\\alpha N < "
                "\\frac12$ is below the threshold of PM-L4.",
                hypotheses=(top > 0, sp.Abs(last) <= norm, top <= norm, *small),
                conclusion=alpha * (sp.Abs(last) - top) < 2,
            ),
            recalled(
                "PM-L4",
                "stable iff the step is below the threshold",
                "So principal consensus is asymptotically stable by PM-L4.",
                r"\alpha(|\lambda_d| - \lambda_1) < 2",
                uses=("step",),
            ),
            Inequality(
                name="other consensus points",
                says="Every other consensus point is fixed ($1 + \\alpha\\lambda_k > 0$) and expands along $v_1$.",
                hypotheses=(sp.Abs(kth) <= norm, kth < top, *small),
                conclusion=sp.And(1 + alpha * kth > 0, (1 + alpha * top) / (1 + alpha * kth) > 1),
            ),
            recalled(
                "PM-L5",
                "bipartite points with p != q are unstable",
                "Bipartite points with $p \\neq q$ have a multiplier above 1 by PM-L5.",
                r"p \neq q",
            ),
            recalled(
                "PM-L6",
                "polygonal points with tokens that are not collinear are linearly unstable",
                "So do polygonal points whose tokens are not collinear, by PM-L6.",
                r"\bar x = 0",
            ),
            Inequality(
                name="odd n",
                says="Collinear polygonal points have half of the tokens at each of $\\pm w$: $n = 2h$, which is "
                "impossible for odd $n$.",
                hypotheses=(sp.Eq(n, 2 * half),),
                conclusion=sp.Ne(n, 2 * half + 1),
            ),
            Citation(
                name="positive second eigenvalue",
                says="And if $\\lambda_2 > 0$, they have a multiplier $1 + \\alpha\\lambda_{\\max}(V|_{w^\\perp}) "
                "> 1$ too. In both cases every fixed "
                "point other than principal consensus has a multiplier above 1.",
                theorem=INTERLACING,
                formula=r"\lambda_{\max}(V|_{w^\perp}) \geq \lambda_2 > 0",
                uses=("other consensus points", "from PM-L5", "from PM-L6", "odd n"),
                establishes=("every other fixed point has a multiplier above 1",),
            ),
            recalled(
                "PM-R3",
                "every orbit converges to a fixed point",
                "Every orbit converges to a fixed point (PM-R3, $\\alpha\\lVert V\\rVert < 1$).",
                r"x(\tau) \to x^*",
            ),
            recalled(
                "PM-DIFF",
                "the map is a local diffeomorphism",
                "The map is a local diffeomorphism (PM-DIFF, $\\alpha\\lVert V\\rVert < 1/\\sqrt2$).",
                r"\det \mathrm{d}f \neq 0",
            ),
            Citation(
                name="almost every start",
                says="The stable sets of the other fixed points are contained in countably many preimages of "
                "centre-stable manifolds "
                "of positive codimension.",
                theorem=CENTRE_STABLE_MAPS,
                formula=r"n \text{ odd or } \lambda_2 > 0 \implies x(\tau) \to \pm(v_1, \dots, v_1) \text{ for "
                r"almost every } x(0)",
                uses=("positive second eigenvalue", "from PM-R3", "from PM-DIFF"),
            ),
        )
    )


PM_T2 = register(
    Statement(
        id="PM-T2",
        kind=Kind.THEOREM,
        source=Source(LI_ALTAFINI, "Theorem 2"),
        title="The Oja map: stability and almost every start",
        systems=("oja-map",),
        conditions=(*ASSUMPTION_1, Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))),
        claims=(
            Stable(ConsensusAt(V, 1)),
            When(Relation(lam(V, k) < lam(V, 1)), Unstable(ConsensusAt(V, k))),
            When(
                AnyOf((Relation(sp.Eq(sp.Mod(n, 2), 1)), Relation(lam(V, 2) > 0))),
                AlmostEveryConverges(ConsensusAt(V, 1)),
            ),
        ),
        text=(
            r"Under Assumption 1 and $\alpha < \frac{1}{2\lVert V\rVert}$: principal consensus is asymptotically "
            r"stable and all other consensus "
            r"points are unstable; bipartite points with $p \neq q$, and polygonal points with tokens that are not "
            r"collinear, are unstable. "
            r"Almost every trajectory converges to $\pm v_1$ consensus \emph{if $n$ is odd or $\lambda_2 > 0$}. "
            r"For $n = 2$, $\lambda_2 < 0$ this is "
            r"false (PM-CX1). For even $n \geq 4$ and $\lambda_2 \leq 0$ the collinear polygonal points are "
            r"unstable (PM-L6), but the "
            r"almost-everywhere claim is not proved here."
        ),
        depends=("PM-A1", "PM-L4", "PM-L5", "PM-L6", "PM-R3", "PM-DIFF", "PM-CX1"),
        facts=("the matrix is symmetric", "it is compressed to a hyperplane"),
        derive=derive,
        printed=Printed(
            text=(
                r"If $\alpha < \frac{1}{2\lVert V\rVert}$, principal consensus is asymptotically stable, all other "
                r"equilibria are unstable, and almost "
                r"all trajectories converge to $v_1$ or $-v_1$."
            ),
            wrong=r"False for $n = 2$, $\lambda_2 < 0$: a set of positive measure (12.7\% of the starts, PM-CX1) "
            r"ends antipodal.",
            counterexamples=(
                Counterexample(
                    "TV9",
                    r"$n = d = 2$, $V = \operatorname{diag}(1, -\frac12)$, $\alpha = \frac14 < \frac{1}{2\lVert "
                    r"V\rVert}$: the antipodal points "
                    r"attract an open set.",
                    TV9,
                    lambda: attracting(TV9, "7/8"),
                ),
            ),
        ),
        variants=(
            Variant("n odd or lambda_2 > 0", "n = 2, V = diag(1, -1/2): PM-CX1", lambda: attracting(TV9, "7/8")),
        ),
        notes=(
            "Not proved: the almost-everywhere claim for even n >= 4 with lambda_2 <= 0. It is supported by "
            "simulation (PM-L6 gives "
            "instability of each such point, which is weaker than a null basin)."
        ),
    )
)
