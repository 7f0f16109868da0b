"""PM-T2: the Oja map: what is stable, and where almost every start goes.

Almost every start converges to principal consensus if n != 2 or lambda_2 > 0: for n >= 3 by a cross-ratio argument (new here).
Reference: Li-Altafini, Theorem 2 (the almost-everywhere claim is false for n = 2, lambda_2 < 0).
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.cross_ratio import ONLY_EQUAL_TOKENS, cross_ratio_steps
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import TV9, attracting
from eigentoken.proofs.power_method.symbols import V, alpha, d, k, lam, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.cross_ratio_checks import cross_ratio
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.proofs.steps.textbook_flows import NULL_SUBMANIFOLDS
from eigentoken.proofs.steps.textbook_maps import CENTRE_STABLE_MAPS
from eigentoken.theory.language.claims import AlmostEveryConverges, Stable, Unstable, When
from eigentoken.theory.language.conditions import AnyOf, Relation
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
)
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

PRINCIPAL, COLLINEAR = "principal consensus", "principal consensus and collinear polygonal points"
EQUAL = "the set of starts with two equal tokens"
#: What decides the three kinds of other fixed points, in the order of the codes 1, 2, 3 of the case distinction.
KINDS = (
    "non-principal consensus points have a multiplier above 1",
    "bipartite points with p != q have a multiplier above 1",
    "polygonal points with tokens that are not collinear are linearly unstable",
)
CLASSES = "every fixed point is a consensus, bipartite with p != q, or polygonal"


def _consensus() -> tuple[Step, ...]:
    """The step bound against PM-L4: which consensus points are stable."""
    top, last, norm, kth = sp.symbols("lambda_1 lambda_d N lambda_k", real=True)
    small = (norm > 0, alpha * norm < sp.Rational(1, 2))
    return (
        Inequality(
            name="step",
            says="With $N = \\lVert V\\rVert = \\max(\\lambda_1, |\\lambda_d|)$ the bound $\\alpha N < \\frac12$ is "
            "below the threshold of PM-L4.",
            hypotheses=(top > 0, sp.Abs(last) <= norm, top <= norm, *small),
            conclusion=alpha * (sp.Abs(last) - top) < 2,
        ),
        recalled(
            "PM-L4",
            "stable iff the step is below the threshold",
            "So principal consensus is linearly asymptotically stable by PM-L4.",
            r"\alpha(|\lambda_d| - \lambda_1) < 2",
            uses=("step",),
        ),
        Inequality(
            name="other consensus points",
            says="Every other consensus point is fixed ($1 + \\alpha\\lambda_k > 0$) and expands along $v_1$.",
            hypotheses=(sp.Abs(kth) <= norm, kth < top, *small),
            conclusion=sp.And(1 + alpha * kth > 0, (1 + alpha * top) / (1 + alpha * kth) > 1),
            establishes=("non-principal consensus points have a multiplier above 1",),
        ),
    )


def _other_points() -> tuple[Step, ...]:
    """Every other fixed point has a multiplier above 1."""
    case, largest = sp.symbols("c m", real=True)
    decided = tuple(sp.Implies(sp.Eq(case, each), largest > 1) for each in (1, 2, 3))
    return (
        recalled(
            "PM-L5",
            "bipartite points with p != q have a multiplier above 1",
            "Bipartite points with $p \\neq q$ have a multiplier above 1 by PM-L5.",
            r"p \neq q",
        ),
        recalled(
            "PM-L6",
            "polygonal points with tokens that are not collinear are linearly unstable",
            "So do polygonal points whose tokens are not collinear, by PM-L6.",
            r"\bar x = 0",
        ),
        recalled(
            "PM-L1",
            CLASSES,
            "There are no other fixed points, by PM-L1.",
            r"x_i = v_k, \quad x_i = \pm v_k\ (p \neq q), \quad \bar x = 0",
        ),
        Inequality(
            name="cases",
            says="Let $c = 0$ for principal consensus, $c = 1, 2, 3$ for these three kinds, $c = 4$ for polygonal "
            "points with half of the tokens at each of $\\pm w$, and let $m$ be the largest multiplier: it is above 1 "
            "unless $c = 0$ or $c = 4$.",
            hypotheses=(sp.Or(*(sp.Eq(case, each) for each in range(5))), *decided, sp.Ne(case, 0), sp.Ne(case, 4)),
            conclusion=largest > 1,
            uses=("other consensus points", "from PM-L5", "from PM-L6", "from PM-L1"),
            needs=(CLASSES, *KINDS),
            establishes=(f"every fixed point outside {COLLINEAR} has a multiplier above 1",),
        ),
        recalled(
            "PM-L6",
            "collinear polygonal points have a multiplier above 1 if lambda_2 > 0",
            "If $\\lambda_2 > 0$, so do the collinear polygonal points, by PM-L6.",
            r"1 + \alpha\lambda_{\max}(V|_{w^\perp}) > 1",
            name="collinear, from PM-L6",
        ),
        Inequality(
            name="cases, positive second eigenvalue",
            says="Then $c = 4$ is no exception either.",
            hypotheses=(
                sp.Or(*(sp.Eq(case, each) for each in range(5))),
                *decided,
                sp.Implies(sp.Eq(case, 4), largest > 1),
                sp.Ne(case, 0),
            ),
            conclusion=largest > 1,
            uses=("cases", "collinear, from PM-L6"),
            needs=(CLASSES, *KINDS, "collinear polygonal points have a multiplier above 1 if lambda_2 > 0"),
            establishes=(f"every fixed point outside {PRINCIPAL} has a multiplier above 1",),
        ),
    )


def _almost_every_start() -> tuple[Step, ...]:
    """Every orbit converges, and the map is a local diffeomorphism: almost every start."""
    return (
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
            name="almost every start, positive second eigenvalue",
            says="The stable sets of the other fixed points are contained in countably many preimages of centre-stable "
            "manifolds of positive codimension.",
            theorem=CENTRE_STABLE_MAPS,
            letters={"S": PRINCIPAL},
            formula=r"\lambda_2 > 0 \implies x(\tau) \to \pm(v_1, \dots, v_1) \text{ for almost every } x(0)",
            uses=("cases, positive second eigenvalue", "from PM-R3", "from PM-DIFF"),
            establishes=(f"almost every start has its limit in {PRINCIPAL}",),
        ),
        Citation(
            name="almost every start, up to collinear points",
            says="For any $\\lambda_2$ the same argument leaves principal consensus and the collinear polygonal points.",
            theorem=CENTRE_STABLE_MAPS,
            letters={"S": COLLINEAR},
            formula=r"x(\tau) \to \pm(v_1, \dots, v_1) \text{ or } x(\tau) \to (\pm w, \dots, \pm w) \text{ for almost "
            r"every } x(0)",
            uses=("cases", "from PM-R3", "from PM-DIFF"),
            establishes=(f"almost every start has its limit in {COLLINEAR}",),
        ),
    )


def _collinear_points() -> tuple[Step, ...]:
    """The collinear points with lambda_2 < 0, for n >= 3: the cross-ratio leaves a null set."""
    half = sp.Symbol("h", integer=True, positive=True)
    case, equal = sp.symbols("c e", real=True)
    return (
        Inequality(
            name="two on each side",
            says="A collinear polygonal point has $h = n/2$ tokens on each side: none exists for odd $n$, and for even "
            "$n \\geq 3$, that is $n \\geq 4$, there are at least two.",
            hypotheses=(sp.Eq(n, 2 * half), n >= 4),
            conclusion=half >= 2,
        ),
        *cross_ratio_steps(),
        Identity(
            name="codimension",
            says="Starts with two equal tokens, $x_i = x_j$, form manifolds of dimension $(n-1)(d-1)$ in one of "
            "dimension $n(d-1)$.",
            left=sp.Add(n * (d - 1), -(n - 1) * (d - 1), evaluate=False),
            right=d - 1,
            uses=("collapse",),
            establishes=(f"{EQUAL} lies in finitely many submanifolds of positive codimension",),
        ),
        Citation(
            name="null set",
            says="They are a null set for $d \\geq 2$.",
            theorem=NULL_SUBMANIFOLDS,
            formula=r"\operatorname{meas}\{x_i = x_j \text{ for some } i \neq j\} = 0",
            letters={"B": EQUAL},
            uses=("codimension",),
            establishes=(f"{EQUAL} has measure zero",),
        ),
        Inequality(
            name="almost every start, n >= 3",
            says="For almost every start the limit is of the kind $c = 0$ or $c = 4$, and no two tokens are equal, $e "
            "= 0$; but $c = 4$ only for starts with $e = 1$. So $c = 0$: for $n \\geq 3$ no sign of $\\lambda_2$ is "
            "needed.",
            hypotheses=(
                sp.Or(sp.Eq(case, 0), sp.Eq(case, 4)),
                sp.Implies(sp.Eq(case, 4), sp.Eq(equal, 1)),
                sp.Eq(equal, 0),
            ),
            conclusion=sp.Eq(case, 0),
            uses=("almost every start, up to collinear points", "two on each side", "collapse", "null set"),
            needs=(
                f"almost every start has its limit in {COLLINEAR}",
                ONLY_EQUAL_TOKENS,
                f"{EQUAL} has measure zero",
            ),
            establishes=("almost every start has its limit in principal consensus if n >= 3",),
        ),
    )


def derive() -> Derivation:
    """The step bound against PM-L4; every other fixed point has a multiplier above 1; then the measure-zero argument."""
    return Derivation(
        (
            *_consensus(),
            *_other_points(),
            *_almost_every_start(),
            *_collinear_points(),
        )
    )


PM_T2 = register(
    Statement(
        id="PM-T2",
        kind=Kind.THEOREM,
        source=Source(LI_ALTAFINI, "Theorem 2"),
        title="The Oja map: stability and almost every start",
        systems=("oja-map",),
        conditions=(
            *ASSUMPTION_1,
            Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),
            Relation(n >= 2),
            Relation(d >= 2),
        ),
        claims=(
            Stable(ConsensusAt(V, 1)),
            When(Relation(lam(V, k) < lam(V, 1)), Unstable(ConsensusAt(V, k))),
            When(
                AnyOf((Relation(n >= 3), Relation(lam(V, 2) > 0))),
                AlmostEveryConverges(ConsensusAt(V, 1)),
            ),
        ),
        text=(
            r"Let $n, d \geq 2$. Under Assumption 1 and $\alpha < \frac{1}{2\lVert V\rVert}$ principal consensus is "
            r"linearly asymptotically stable and all other consensus points are linearly unstable; so are bipartite "
            r"points with $p \neq q$, and polygonal points with tokens that are not collinear. Almost every "
            r"trajectory converges to $(v_1, \dots, v_1)$ or to $-(v_1, \dots, v_1)$ \emph{if $n \geq 3$ or "
            r"$\lambda_2 > 0$}. For $n = 2$, $\lambda_2 < 0$ this is false (PM-CX1)."
        ),
        depends=("PM-A1", "PM-L1", "PM-L4", "PM-L5", "PM-L6", "PM-L7", "PM-R3", "PM-DIFF", "PM-CX1"),
        derive=derive,
        claims_from=(
            ("from PM-L4",),
            ("other consensus points",),
            ("almost every start, positive second eigenvalue", "almost every start, n >= 3"),
        ),
        printed=Printed(
            text=(
                r"If $\alpha < \frac{1}{2\lVert V\rVert}$, principal consensus is asymptotically stable, all other "
                r"equilibria are unstable, and almost all trajectories converge to $v_1$ or $-v_1$."
            ),
            wrong=r"False for $n = 2$, $\lambda_2 < 0$: an open set of starts ends antipodal (PM-CX1).",
            counterexamples=(
                Counterexample(
                    "TV9",
                    r"$n = d = 2$, $V = \operatorname{diag}(1, -\frac12)$, $\alpha = \frac14 < \frac{1}{2\lVert "
                    r"V\rVert}$: the antipodal points attract an open set.",
                    TV9,
                    lambda: attracting(TV9, "7/8"),
                ),
            ),
        ),
        variants=(
            Variant("n >= 3 or lambda_2 > 0", "n = 2, V = diag(1, -1/2): PM-CX1", lambda: attracting(TV9, "7/8")),
        ),
        notes=(
            Remark(
                RemarkKind.SOURCE,
                "The audit proved the almost-everywhere claim for odd n or lambda_2 > 0 and left even n >= 4 open; the "
                "cross-ratio closes it.",
            ),
        ),
        property_tests=(OnInstances(cross_ratio),),
    )
)
