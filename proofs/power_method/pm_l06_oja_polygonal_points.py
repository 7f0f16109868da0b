"""PM-L6: polygonal points of the Oja map.

The spectrum is ``1 + alpha nu`` over the eigenvalues nu of ``Pbar V``, ``Pbar = (1/n) sum_i P_i``, and 1.  Unstable whenever the
tokens are not collinear or n >= 4; for n = 2 it can be stable (PM-CX1).  Reference: Li-Altafini, Lemma 6 (false for n = 2).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.antipodal import AGAINST, PAIR, TOGETHER, G, antipodal_slopes
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import PAIR as TWO_TOKENS
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import TILTED, TV9, attracting
from eigentoken.proofs.power_method.pm_l05_oja_bipartite_points import LONG_STEP
from eigentoken.proofs.power_method.pm_l07_lyapunov_function import SHORT_OR_POSITIVE
from eigentoken.proofs.power_method.symbols import V, alpha, d, lam, n
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.reductions import grouped, tensor
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.proofs.steps.textbook_maps import INERTIA_OF_PRODUCTS, INTERLACING, INVARIANCE_OF_MAPS, PRODUCT_SPECTRA
from eigentoken.theory.calculus import (
    ALPHA,
    SLOT,
    TOKENS,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    dot,
    matrix,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.language.claims import Unstable, When
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.places import AntipodalAt
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
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

TRAPPED = "an orbit that stays in the closed ball has a fixed point there as a limit point, with W at most its value on the orbit"


def _raw_step() -> tuple[Any, Any]:
    """``y_i`` at a state whose tokens sum to zero."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions(zero_sums=frozenset({"x"})))
    raw = system("oja-map").raw_step(algebra, {"V": Letter("V"), "alpha": ALPHA}, vector("x", SLOT))
    return at(raw, Index("token", "i")), algebra.assumptions


def _token() -> Any:
    return vector("x", Index("token", "i"))


def _composed() -> tuple[Any, Any]:
    """C B z: the mean over i of ``P_i V z``."""
    i = Index("token", "i")
    moved, token = vector("z").applied(matrix("V")), vector("x", i)
    return (moved - dot(token, moved) * token).summed(i) / TOKENS, Assumptions()


def _mean_projection() -> Any:
    """``Pbar V z = V z - (1/n) sum_i x_i x_i^T V z``."""
    i = Index("token", "i")
    moved, token = vector("z").applied(matrix("V")), vector("x", i)
    return moved - (dot(token, moved) * token).summed(i) / TOKENS


def _spectrum() -> tuple[Step, ...]:
    """The linearisation where the mean is zero, and its spectrum."""
    nu, w, image = sp.symbols("nu w BCw", real=True)
    return (
        tensor(
            "at the point",
            "Where $\\bar x = 0$ the push vanishes and $y_i = x_i$, $r_i = 1$.",
            _raw_step,
            _token(),
            r"y_i = x_i",
        ),
        recalled(
            "PM-L2",
            "the exact Jacobian of the Oja map",
            "By PM-L2 the linearisation is $I + \\alpha BC$ with $C\\delta = \\delta\\bar x$ and $(Bz)_i = P_iVz$.",
            r"\delta x_i^+ = P_i(\delta x_i + \alpha V\delta\bar x)",
            uses=("at the point",),
        ),
        tensor(
            "the other product",
            "The product in the other order is $\\bar PV$ with $\\bar P = \\frac1n\\sum_iP_i = I - "
            "\\frac1n\\sum_ix_ix_i^{\\top}$.",
            _composed,
            _mean_projection(),
            r"CBz = \frac1n\sum_iP_iVz = \bar PVz",
            uses=("from PM-L2",),
            establishes=("B maps one space to another, and C maps back",),
        ),
        Citation(
            name="two products",
            says="So $BC$ has the eigenvalues of $CB = \\bar PV$, up to zeros.",
            theorem=PRODUCT_SPECTRA,
            letters={"B": "B", "C": "C"},
            formula=r"\operatorname{spec}(BC) \setminus \{0\} = \operatorname{spec}(\bar PV) \setminus \{0\}",
            uses=("the other product",),
            establishes=("B C and C B have the same nonzero eigenvalues with multiplicities",),
        ),
        Identity(
            name="spectrum",
            says="A tangent vector $w$ with $BCw = \\nu w$ is an eigenvector of $I + \\alpha BC$ (coordinatewise): the "
            "multipliers are $1 + \\alpha\\nu$, $\\nu \\in \\operatorname{spec}(\\bar PV)$, and $1$ for the remaining "
            "$n(d-1) - d$ zeros of $BC$.",
            left=w + alpha * image,
            right=(1 + alpha * nu) * w,
            where={image: nu * w},
            uses=("two products",),
            needs=("B C and C B have the same nonzero eigenvalues with multiplicities",),
            establishes=(
                "the multipliers at a polygonal point are 1 + alpha nu over the eigenvalues nu of Pbar V, and 1",
            ),
        ),
    )


def _non_collinear() -> tuple[Step, ...]:
    """Points that are not collinear: a multiplier above 1."""
    nu, z2, c, rest = sp.symbols("nu Z c R", real=True)
    return (
        Inequality(
            name="semidefinite",
            says="$z^{\\top}\\bar Pz$ is the mean of $Z - c_i^2$ with $Z = \\lVert z\\rVert^2$, $c_i = x_i^{\\top}z$, "
            "$c_i^2 \\leq Z$. It vanishes only if every $c_i^2 = Z$, that is every $x_i = \\pm z/\\lVert z\\rVert$: "
            "with one other token, and $R \\geq 0$ for the sum over the rest, $\\bar P \\succ 0$ unless the tokens "
            "are collinear.",
            hypotheses=(z2 > 0, c**2 <= z2, sp.Ne(c**2, z2), rest >= 0),
            conclusion=z2 - c**2 + rest > 0,
            establishes=("Pbar is positive definite",),
        ),
        Citation(
            name="inertia",
            says="So, if the tokens are not collinear, $\\bar PV$ has as many positive eigenvalues as $V$.",
            theorem=INERTIA_OF_PRODUCTS,
            letters={"A": "Pbar", "B": "V"},
            formula=r"\bar P \succ 0 \implies \#\{\lambda(\bar PV) > 0\} = \#\{\lambda(V) > 0\}",
            uses=("semidefinite",),
            establishes=(
                "all eigenvalues of Pbar times V are real",
                "Pbar times V has as many positive eigenvalues as V",
            ),
        ),
        Inequality(
            name="expanding",
            says="There is one, since $\\lambda_1 > 0$; and a positive $\\nu$ gives a multiplier above 1 for every "
            "step.",
            hypotheses=(nu > 0,),
            conclusion=1 + alpha * nu > 1,
            uses=("spectrum", "inertia"),
            needs=(
                "the multipliers at a polygonal point are 1 + alpha nu over the eigenvalues nu of Pbar V, and 1",
                "Pbar times V has as many positive eigenvalues as V",
            ),
            establishes=("polygonal points with tokens that are not collinear are linearly unstable",),
        ),
    )


def _collinear() -> tuple[Step, ...]:
    """Collinear points: together, against each other, in pairs."""
    nu = sp.Symbol("nu", real=True)
    low, high = sp.symbols("nu_min nu_max", real=True)
    against = (0, 1, 0, 0)
    together = (0, 1 + alpha * G[0], alpha * G[1], alpha * G[2])
    return (
        grouped(
            "collinear: together",
            "If the tokens are $\\pm w$, half and half, moving all of them along $\\xi \\perp w$ has the matrix $I + "
            "\\alpha V|_{w^\\perp}$; all other moves have the multiplier 1, as the next two steps say.",
            antipodal_slopes("oja-map", TOGETHER),
            (*together, *together),
            r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
            establishes=("V on w^perp is the compression of V to a hyperplane",),
        ),
        grouped(
            "collinear: against",
            "The halves are moved against each other.",
            antipodal_slopes("oja-map", AGAINST),
            (*against, *(-each for each in against)),
            r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
        ),
        grouped(
            "collinear: pairs",
            "Two tokens of one half are moved against each other. So the multipliers are $1 + \\alpha\\nu$, $\\nu \\in "
            "\\operatorname{spec}(V|_{w^\\perp})$, and $1$.",
            antipodal_slopes("oja-map", PAIR),
            (*against, *(-each for each in against), 0, 0, 0, 0, 0, 0, 0, 0),
            r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
        ),
        Inequality(
            name="collinear: outside",
            says="With the extreme eigenvalues $\\nu_{\\min} \\leq \\nu \\leq \\nu_{\\max}$ of $V|_{w^\\perp}$: some "
            "multiplier has modulus above 1 iff $\\nu_{\\max} > 0$ or $\\alpha\\nu_{\\min} < -2$. If neither, none "
            "has.",
            hypotheses=(low <= nu, nu <= high, high <= 0, alpha * low >= -2),
            conclusion=sp.Abs(1 + alpha * nu) <= 1,
            uses=("collinear: together", "collinear: against", "collinear: pairs"),
        ),
        Inequality(
            name="collinear: outside, converse",
            says="If one of them, the multiplier of that eigenvalue is outside.",
            hypotheses=(sp.Or(high > 0, alpha * low < -2),),
            conclusion=sp.Or(1 + alpha * high > 1, 1 + alpha * low < -1),
            uses=("collinear: outside",),
        ),
    )


def _second_eigenvalue() -> tuple[Step, ...]:
    """Where lambda_2 > 0 some multiplier of a collinear point is above 1."""
    nu, l2 = sp.symbols("nu lambda_2", real=True)
    return (
        Citation(
            name="interlacing",
            says="For the compression $V|_{w^\\perp}$:",
            theorem=INTERLACING,
            letters={"A": "V", "B": "V on w^perp"},
            formula=r"\lambda_{\max}(V|_{w^\perp}) \geq \lambda_2(V)",
            uses=("collinear: together",),
            establishes=("the largest eigenvalue of V on w^perp is at least the second eigenvalue of V",),
        ),
        Inequality(
            name="positive second eigenvalue",
            says="So if $\\lambda_2 > 0$ the multiplier with the largest eigenvalue $\\nu$ of $V|_{w^\\perp}$ is above "
            "1.",
            hypotheses=(nu >= l2, l2 > 0),
            conclusion=1 + alpha * nu > 1,
            uses=("interlacing", "collinear: outside, converse"),
            needs=("the largest eigenvalue of V on w^perp is at least the second eigenvalue of V",),
            establishes=("collinear polygonal points have a multiplier above 1 if lambda_2 > 0",),
        ),
    )


def _lower_starts() -> tuple[Step, ...]:
    """For n >= 4: starts as near as wanted with a lower W."""
    eps, gamma, l1, size, dist = sp.symbols("epsilon gamma lambda_1 M D", real=True)
    count = sp.Symbol("n", integer=True, positive=True)
    return (
        Inequality(
            name="room",
            says="Now let $n \\geq 4$ be even and $\\gamma = w^{\\top}v_1 > 0$ (for $\\gamma = 0$, $V|_{w^\\perp}$ has "
            "the eigenvalue $\\lambda_1$; for $\\gamma < 0$ exchange the signs). Two tokens at $w$ can be moved to "
            "unit vectors with the sum $2w - \\epsilon v_1$, since its squared norm $4 - 4\\epsilon\\gamma + "
            "\\epsilon^2$ is at most 4 for small $\\epsilon$.",
            hypotheses=(eps > 0, gamma > 0, eps <= 4 * gamma),
            conclusion=4 - 4 * eps * gamma + eps**2 <= 4,
        ),
        Inequality(
            name="nearby",
            says="They stay near $w$: with half the sum $m$, $\\lVert m - w\\rVert = \\epsilon/2$ and an orthogonal "
            "part of squared length $M = 1 - \\lVert m\\rVert^2 = \\epsilon\\gamma - \\epsilon^2/4$, the squared "
            "distance is $D = \\epsilon^2/4 + M + 2\\,(m-w)^{\\top}e\\sqrt M \\leq 2(\\epsilon^2/4 + M)$, which tends "
            "to 0.",
            hypotheses=(
                eps > 0,
                gamma > 0,
                gamma <= 1,
                sp.Eq(size, eps * gamma - eps**2 / 4),
                size >= 0,
                dist <= 2 * (eps**2 / 4 + size),
            ),
            conclusion=dist <= 2 * eps,
        ),
        Inequality(
            name="lower W",
            says="There $\\bar x = -\\frac{\\epsilon}{n}v_1$ and $W = -\\frac{\\lambda_1}{2}\\frac{\\epsilon^2}{n^2} < "
            "0$.",
            hypotheses=(eps > 0, l1 > 0),
            conclusion=-l1 / 2 * eps**2 / count**2 < 0,
            uses=("room", "nearby"),
            establishes=("arbitrarily near there are states with W < 0",),
        ),
    )


def _escape() -> tuple[Step, ...]:
    """They leave: near by W is constant on fixed points, and W decreases along orbits."""
    mean, near, length, push, limit, first = sp.symbols("m eta r a W_* W_0", real=True)
    count = sp.Symbol("n", integer=True, positive=True)
    return (
        recalled(
            "PM-L1",
            "every fixed point is a consensus, bipartite with p != q, or polygonal",
            "Fixed points are of three kinds (PM-L1).",
            r"x_i = v_k, \quad x_i = \pm v_k\ (p \neq q), \quad \bar x = 0",
        ),
        Inequality(
            name="fixed points near by",
            says="Within $\\eta$ of a state with half of the tokens at each of $\\pm w$ the mean has $\\lVert\\bar "
            "x\\rVert \\leq \\eta$. At consensus, and at bipartite points with $p \\neq q$, it has $\\lVert\\bar "
            "x\\rVert \\geq 1/n$. So for $\\eta < 1/n$ only polygonal points are near, where $\\bar x = 0$ and $W = "
            "0$.",
            hypotheses=(mean <= near, mean >= 1 / count),
            conclusion=near >= 1 / count,
            uses=("from PM-L1",),
            needs=("every fixed point is a consensus, bipartite with p != q, or polygonal",),
            establishes=("fixed points near a collinear polygonal point have W = 0",),
        ),
        Inequality(
            name="closed ball",
            says="In a small closed ball $K$ around the point $\\alpha\\lVert u\\rVert \\leq \\frac12$, so that $r_i "
            "\\geq 1 - \\alpha\\lVert u\\rVert$ is positive and the map is continuous there; $W$ is a polynomial.",
            hypotheses=(length >= 1 - push, push <= sp.Rational(1, 2)),
            conclusion=length > 0,
            uses=("at the point",),
            establishes=("W and the map are continuous on the closed ball, which is compact",),
        ),
        recalled(
            "PM-L7",
            "W decreases strictly along the map off its fixed points",
            "By PM-L7 ($V \\succeq 0$ or $\\alpha|\\lambda_d| \\leq 1$) $W$ decreases strictly off the fixed points.",
            r"\Delta W \leq 0",
            assuming=(SHORT_OR_POSITIVE,),
        ),
        Citation(
            name="invariance",
            says="If the orbit of such a state stays in $K$, it has a limit point $x^*$ there.",
            theorem=INVARIANCE_OF_MAPS,
            letters={"W": "W", "K": "the closed ball"},
            formula=r"f(x^*) = x^*, \qquad W(x^*) \leq W(x(0))",
            uses=("closed ball", "from PM-L7"),
            establishes=(TRAPPED,),
        ),
        Inequality(
            name="escape",
            says="But $W(x^*) = W_* \\leq W_0 < 0$ is not zero, and $W = 0$ at the fixed points in $K$: so every such "
            "orbit leaves $K$, however near it started. For $n = 2$ there are no two tokens on one side, and the "
            "argument fails.",
            hypotheses=(limit <= first, first < 0),
            conclusion=sp.Ne(limit, 0),
            uses=("lower W", "fixed points near by", "invariance"),
            needs=(
                TRAPPED,
                "arbitrarily near there are states with W < 0",
                "fixed points near a collinear polygonal point have W = 0",
            ),
            establishes=("collinear polygonal points with n >= 4 are unstable",),
        ),
    )


def _two_tokens() -> tuple[Step, ...]:
    """Two tokens: PM-CX1."""
    return (
        recalled(
            "PM-CX1",
            f"{TWO_TOKENS} is Lyapunov stable",
            "For $n = 2$ and $\\nu_{\\max} < 0$ (so $\\lambda_2 < 0$ by interlacing) the point is Lyapunov stable.",
            r"(w, -w) \text{ is Lyapunov stable if } V|_{w^\perp} \prec 0",
            uses=("interlacing",),
            assuming=(
                Relation(sp.Eq(n, 2)),
                Relation(lam(V, 2) < 0),
                Relation(alpha * sp.Abs(lam(V, d)) < 2),
            ),
        ),
    )


def derive() -> Derivation:
    """The linearisation and its spectrum; non-collinear points; collinear ones; the nonlinear argument for n >= 4."""
    return Derivation(
        (
            *_spectrum(),
            *_non_collinear(),
            *_collinear(),
            *_second_eigenvalue(),
            *_lower_starts(),
            *_escape(),
            *_two_tokens(),
        )
    )


_TRIANGLE = [["1", "0"], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]
TV8 = instance("oja-map", _TRIANGLE, V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")
FOUR = instance("oja-map", [["1", "0"]] * 2 + [["-1", "0"]] * 2, V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")


#: V is -47/169 on w^perp, and alpha |nu| = 376/169.
TILTED_FAR = {**TILTED, "alpha": "8"}


PM_L6 = register(
    Statement(
        id="PM-L6",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 6"),
        title="Polygonal points of the Oja map",
        systems=("oja-map",),
        conditions=ASSUMPTION_1,
        claims=(When(Relation(lam(V, 2) > 0), Unstable(AntipodalAt("w"))),),
        text=(
            r"Let $\bar x = 0$ and $\bar P = I - \frac1n\sum_ix_ix_i^{\top}$. The multipliers are $1 + \alpha\nu$, "
            r"$\nu \in \operatorname{spec}(\bar PV)$, and $1$, $n(d-1) - d$ times (if $n(d-1) < d$ drop the surplus "
            r"zeros of $\bar PV$); all are real. (a) If the tokens are not collinear, the point is linearly unstable "
            r"for all $\alpha > 0$. Let them be $\pm w$, half and half, and $\nu_{\min} \leq \nu_{\max}$ the extreme "
            r"eigenvalues of $V|_{w^\perp}$. (b) Some multiplier has modulus above 1 iff $\nu_{\max} > 0$ or "
            r"$\alpha\nu_{\min} < -2$; always if $\lambda_2 > 0$. (c) For even $n \geq 4$, and $V \succeq 0$ or "
            r"$\alpha|\lambda_d| \leq 1$, the point is unstable, if necessary only nonlinearly. (d) For $n = 2$, "
            r"$\nu_{\max} < 0$ and $\alpha|\lambda_d| < 2$ it is Lyapunov stable (PM-CX1); for $\alpha|\nu_{\min}| > "
            r"2$, $\nu_{\min} < 0$, it is linearly unstable by (b)."
        ),
        depends=("PM-A1", "PM-L1", "PM-L2", "PM-L7", "PM-CX1"),
        facts=("V is symmetric",),
        derive=derive,
        claims_from=(("positive second eigenvalue",),),
        prose_from=("expanding", "collinear: outside, converse", "escape", "from PM-CX1"),
        printed=Printed(
            text=r"All polygonal equilibria of the Oja map are unstable.",
            wrong=(
                r"False for $n = 2$, $V|_{w^\perp} \prec 0$ (possible iff $\lambda_2 < 0$) and a short step. For even "
                r"$n \geq 4$ the claim is true but the linearisation may be silent (spectral radius 1), so no proof "
                r"by linearisation exists there."
            ),
            counterexamples=(
                Counterexample(
                    "tilted",
                    r"$V = \operatorname{diag}(1, -\frac12)$, $\alpha = \frac14$, $w = \frac1{13}(12, 5)$, which is no "
                    r"eigenvector: multipliers $\frac{629}{676}$ and $1$ at $(w, -w)$, stable by PM-CX1.",
                    TILTED,
                    lambda: attracting(TILTED, "629/676"),
                ),
                Counterexample(
                    "TV9",
                    r"The same on the eigenvector: $\frac78$ and $1$.",
                    TV9,
                    lambda: attracting(TV9, "7/8"),
                ),
            ),
        ),
        vectors=(
            Vector("TV8", lambda: multipliers(TV8), decimals("15/16", "1", "9/8")),
            Vector("tilted", lambda: multipliers(TILTED), decimals("629/676", "1")),
            Vector("tilted, a long step", lambda: multipliers(TILTED_FAR), ("-1.224852071006", "1")),
            Vector("n = 4, silent", lambda: multipliers(FOUR), decimals("0.875", "1 * 3")),
        ),
        variants=(
            Variant(
                "lambda_2 > 0",
                "V = diag(1, -1/2), n = 2, w = (12, 5)/13: no multiplier above 1 (and stable, PM-CX1)",
                lambda: attracting(TILTED, "629/676"),
            ),
            Variant(
                "alpha |lambda_d| < 2",
                "n = 2, V = diag(1, -3), alpha = 1, w = e_1: multipliers -2 and 1 although V is negative on w^perp",
                lambda: point_is(LONG_STEP, "polygonal", stable="unstable"),
            ),
            Variant(
                "alpha |nu_min| < 2",
                "V = diag(1, -1/2), alpha = 8, w = (12, 5)/13: the multiplier 1 + alpha nu is -207/169",
                lambda: point_is(TILTED_FAR, "polygonal", stable="unstable"),
            ),
        ),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "That nearby fixed points have $W = 0$ is argued in words; the compactness of the state space (a product "
                "of spheres) is entered as a fact.",
            ),
        ),
    )
)
