"""PM-CX1: two antipodal tokens that attract an open set: the counterexample to Lemmas 5, 6 and Theorem 2.

n = 2, lambda_2 < 0, ``alpha < 2/|lambda_d|``: the fixed points (w, -w) with V < 0 on w^perp are Lyapunov stable, and the
starts near them converge to points of this kind.  New here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.antipodal import G, antipodal_slopes, value
from eigentoken.proofs.power_method.symbols import V, alpha, d, lam, n
from eigentoken.proofs.properties.exact_points import agree, decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.first_failures import FirstFailure, four_tokens_escape
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.textbook_maps import INTERLACING, REDUCTION_PRINCIPLE
from eigentoken.theory.language.claims import LyapunovStable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Computation, Derivation, Identity, Inequality, Step

ONE_EACH_TOGETHER = [(1, 1, "xi"), (1, -1, "xi")]
ONE_EACH_AGAINST = [(1, 1, "xi"), (1, -1, "-xi")]
L1, L2 = sp.symbols("lambda_1 lambda_2", real=True)
PAIR = "(w, -w) with V negative definite on w^perp"


def _push() -> list[Any]:
    from eigentoken.proofs.steps.token_groups import push_groups

    found = push_groups("oja-map", {"V": value(), "alpha": alpha}, [(1, (1, 0, 0, 0)), (1, (-1, 0, 0, 0))])
    return [entry for token in found for entry in token]


def _circle(parameter: Any) -> tuple[Any, Any]:
    return (1 - parameter**2) / (1 + parameter**2), 2 * parameter / (1 + parameter**2)


def _angular_velocities() -> tuple[Any, Any, Any]:
    """Velocities of Theta = (theta_1 + theta_2)/2 and Delta = theta_1 - theta_2, and the two circle points."""
    from eigentoken.proofs.steps.token_groups import advance_groups

    (c, s), (a, b) = _circle(sp.Symbol("tau", real=True)), _circle(sp.Symbol("sigma", real=True))
    first, second = (c * a - s * b, s * a + c * b), (c * a + s * b, s * a - c * b)
    found = advance_groups("oja-flow", {"V": [[L1, 0], [0, L2]]}, [(1, first), (1, second)])
    turn = [x[0] * v[1] - x[1] * v[0] for x, v in zip((first, second), found, strict=True)]
    return (turn[0] + turn[1]) / 2, turn[0] - turn[1], (c, s, a, b)


def _first_integral() -> list[Any]:
    """d/dt of ln(sin^2(Delta/2)) - kappa ln(sin^2 Theta) - (1 - kappa) ln(cos^2 Theta), kappa = l_1/(l_1 - l_2)."""
    middle, gap, (c, s, a, b) = _angular_velocities()
    kappa = L1 / (L1 - L2)
    return [a / b * gap - 2 * kappa * c / s * middle + 2 * (1 - kappa) * s / c * middle]


TV9 = instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")
TILTED = instance("oja-map", [["12/13", "5/13"], ["-12/13", "-5/13"]], V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")


def attracting(document: dict[str, Any], contracting: str) -> Verdict:
    """The exact multipliers are 1, once (the dimension of the manifold of fixed points for n = d = 2), and one inside."""
    return all_of(
        {
            "fixed and marginal": point_is(document, "polygonal", stable="marginal"),
            "multipliers": agree(multipliers(document), (contracting, "1")),
        }
    )


def _multipliers() -> tuple[Step, ...]:
    """The fixed points (w, -w) and their multipliers."""
    together = (0, 1 + alpha * G[0], alpha * G[1], alpha * G[2])
    against = (0, 1, 0, 0)
    return (
        grouped(
            "fixed",
            "For $n = 2$ the push vanishes at $(w, -w)$ for every unit $w$: a manifold of fixed points of dimension $d "
            "- 1$.",
            _push,
            (0,) * 8,
            r"u = 0",
            establishes=(f"{PAIR} lies on a manifold of fixed points",),
        ),
        grouped(
            "along the manifold",
            "Moving the tokens against each other along $\\xi \\perp w$ has the multiplier 1.",
            antipodal_slopes("oja-map", ONE_EACH_AGAINST),
            (*against, *(-each for each in against)),
            r"(\xi, -\xi) \mapsto <2>\,(\xi, -\xi)",
        ),
        grouped(
            "transverse",
            "Moving them together has the matrix $I + \\alpha V|_{w^\\perp}$, $V|_{w^\\perp}\\xi = g_2\\xi + g_3e_3 + "
            "g_4e_4$.",
            antipodal_slopes("oja-map", ONE_EACH_TOGETHER),
            (*together, *together),
            r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
            establishes=("V on w^perp is the compression of V to a hyperplane",),
        ),
        Identity(
            name="dimensions",
            says="Together these are all tangent directions, and the multiplier 1 of the first kind has the dimension "
            "of the manifold of fixed points.",
            left=sp.Add(d - 1, d - 1, evaluate=False),
            right=n * (d - 1),
            where={n: 2},
            uses=("along the manifold", "transverse"),
            establishes=(f"at {PAIR} the multiplier 1 has exactly the multiplicity of the dimension of that manifold",),
        ),
        Citation(
            name="interlacing",
            says="For the compression $V|_{w^\\perp}$:",
            theorem=INTERLACING,
            letters={"A": "V", "B": "V on w^perp"},
            formula=r"\lambda_{\min}(V|_{w^\perp}) \geq \lambda_d(V)",
            uses=("transverse",),
            establishes=("the smallest eigenvalue of V on w^perp is at least the last eigenvalue of V",),
        ),
    )


def _attraction() -> tuple[Step, ...]:
    """A manifold of fixed points with all other multipliers inside attracts; off the eigenvectors."""
    still, last = sp.symbols("nu lambda_d", real=True)
    cosine, sine = sp.symbols("c s", real=True)
    return (
        Inequality(
            name="inside",
            says="If $V|_{w^\\perp} \\prec 0$ and $\\alpha < 2/|\\lambda_d|$, each transverse multiplier $1 + "
            "\\alpha\\nu$, $\\lambda_d \\leq \\nu < 0$, lies in $(-1, 1)$. For $w = v_1$ the $\\nu$ are the "
            "eigenvalues $\\lambda_2, \\dots, \\lambda_d$.",
            hypotheses=(still < 0, still >= last, alpha * sp.Abs(last) < 2),
            conclusion=sp.Abs(1 + alpha * still) < 1,
            uses=("transverse", "interlacing"),
            needs=("the smallest eigenvalue of V on w^perp is at least the last eigenvalue of V",),
            establishes=(f"at {PAIR} all other multipliers lie inside the unit circle",),
        ),
        Citation(
            name="attraction",
            says="So the point is Lyapunov stable, and the starts near it, an open set, end on the antipodal manifold.",
            theorem=REDUCTION_PRINCIPLE,
            letters={"x": PAIR},
            establishes=(
                f"{PAIR} is Lyapunov stable",
                f"every start near {PAIR} converges to a point of that manifold",
            ),
            formula=r"(w, -w) \text{ is Lyapunov stable if } V|_{w^\perp} \prec 0",
            uses=("fixed", "dimensions", "inside"),
        ),
        Inequality(
            name="off the eigenvectors",
            says="In the plane with $V = \\operatorname{diag}(1, -\\frac12)$ and $w = (c, s)$ the number "
            "$V|_{w^\\perp} = s^2 - \\frac12c^2$ is negative iff $\\tan^2\\theta < \\frac12$: an interval of "
            "directions, not only the eigenvector.",
            hypotheses=(sp.Eq(cosine**2 + sine**2, 1), sp.Ne(cosine, 0), sine**2 / cosine**2 < sp.Rational(1, 2)),
            conclusion=sine**2 - cosine**2 / 2 < 0,
        ),
    )


def _instance() -> tuple[Step, ...]:
    """The instance TV9, and the first integral of the flow."""
    return (
        Computation(
            name="TV9",
            says="The exact multipliers for $V = \\operatorname{diag}(1, -\\frac12)$, $\\alpha = \\frac14$ at $(e_1, "
            "-e_1)$.",
            run=lambda: attracting(TV9, "7/8"),
            formula=r"\{\tfrac78,\ 1\}",
            uses=("inside",),
        ),
        grouped(
            "first integral",
            "For the flow with $n = d = 2$, $\\Theta = \\frac{\\theta_1+\\theta_2}{2}$, $\\Delta = \\theta_1 - "
            "\\theta_2$, $\\kappa = \\frac{\\lambda_1}{\\lambda_1-\\lambda_2}$, the derivative of "
            "$\\ln\\sin^2\\frac\\Delta2 - \\ln\\varphi(\\Theta)$, $\\varphi = "
            "(\\sin^2\\Theta)^\\kappa(\\cos^2\\Theta)^{1-\\kappa}$, along the flow is zero.",
            _first_integral,
            (0,),
            r"\frac{\mathrm d}{\mathrm dt}\,\ln\frac{\sin^2(\Delta/2)}{\varphi(\Theta)} = <1>",
        ),
    )


def derive() -> Derivation:
    """The fixed points (w, -w), their multipliers, the theorem; then the instance and the flow."""
    return Derivation(
        (
            *_multipliers(),
            *_attraction(),
            *_instance(),
        )
    )


def antipodal_share(second: str) -> Any:
    """The probability that the flow ends antipodal, lambda_1 = 1, from the level sets of the first integral."""
    import mpmath as mp

    with mp.workdps(30):
        l2 = mp.mpf(second)
        kappa = 1 / (1 - l2)
        largest = kappa**kappa * (1 - kappa) ** (1 - kappa)

        def inside(angle: Any) -> Any:
            phi = mp.sin(angle) ** (2 * kappa) * mp.cos(angle) ** (2 * (1 - kappa))
            return 1 - 2 / mp.pi * mp.asin(mp.sqrt(min(phi / largest, mp.mpf(1))))

        start = mp.asin(mp.sqrt(kappa))
        return 2 / mp.pi * mp.quad(inside, mp.linspace(start, mp.pi / 2, 5))


def shares() -> Sequence[Any]:
    """For lambda_2 = -1/2, -1/10 and -2."""
    return [antipodal_share(each) for each in ("-0.5", "-0.1", "-2")]


PM_CX1 = register(
    Statement(
        id="PM-CX1",
        kind=Kind.COUNTEREXAMPLE,
        source=Source(HERE, "against Li-Altafini, Lemmas 5, 6 and Theorem 2"),
        title="Two antipodal tokens can attract an open set",
        systems=("oja-map",),
        conditions=(
            Symmetric(V),
            SimpleTop(V),
            Relation(lam(V, 1) > 0),
            Relation(lam(V, 2) < 0),
            Relation(alpha * sp.Abs(lam(V, d)) < 2),
            Relation(sp.Eq(n, 2)),
        ),
        claims=(LyapunovStable(BipartiteAt(V, 1)),),
        text=(
            r"Let $n = 2$, $\lambda_2 < 0 < \lambda_1$ and $\alpha < 2/|\lambda_d|$. Then $(v_1, -v_1)$ is Lyapunov "
            r"stable, and so is $(w, -w)$ for every $w$ with $V|_{w^\perp} \prec 0$; the starts near such a state, an "
            r"open set, converge to antipodal states. Example: $n = d = 2$, $V = \operatorname{diag}(1, -\frac12)$, "
            r"$\alpha = \frac14$, multipliers $\frac78$ and $1$ at $(e_1, -e_1)$. For the flow with $n = d = 2$ the "
            r"number $\sin^2\frac\Delta2/\varphi(\Theta)$ is conserved, where $\Theta$ is the mean of the two angles, "
            r"$\Delta$ their difference, $\varphi = (\sin^2\Theta)^\kappa(\cos^2\Theta)^{1-\kappa}$ and $\kappa = "
            r"\frac{\lambda_1}{\lambda_1 - \lambda_2}$."
        ),
        depends=("PM-L1",),
        derive=derive,
        claims_from=(("attraction",),),
        facts=("V is symmetric",),
        prose_from=("off the eigenvectors", "TV9", "first integral"),
        vectors=(
            Vector("TV9", lambda: multipliers(TV9), decimals("7/8", "1")),
            Vector("share of antipodal limits", shares, ("0.126799980287", "0.0342302370874", "0.266276212105")),
        ),
        variants=(
            Variant(
                "lambda_2 < 0",
                "V = diag(1, 1/2), n = 2: the antipodal point on v_1 is unstable",
                lambda: point_is(
                    instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "1/2"]], alpha="1/4"),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "alpha |lambda_d| < 2",
                "V = diag(1, -1/2), alpha = 5: the multiplier 1 + alpha lambda_2 is -3/2",
                lambda: point_is(
                    instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-1/2"]], alpha="5"),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "n = 2",
                "two more tokens: a start as near as we like has W < 0 and leaves for ever",
                FirstFailure(four_tokens_escape),
            ),
        ),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"For this flow the share of the starts that end antipodal is "
                r"$\frac2\pi\int_{\arcsin\sqrt\kappa}^{\pi/2}\big(1 - "
                r"\frac2\pi\arcsin\sqrt{\varphi/\varphi_{\max}}\big)\mathrm d\Theta$, $\varphi_{\max} = "
                r"\kappa^\kappa(1-\kappa)^{1-\kappa}$, by reading off the region above the separatrix through "
                r"$(\Theta, \Delta) = (\arcsin\sqrt\kappa, \pi)$: 12.7\% for $\lambda_2 = -\frac12\lambda_1$. The "
                r"share of the map depends on the step and is another number.",
            ),
        ),
    )
)
