"""PM-L6: polygonal points of the Oja map.

The spectrum is ``1 + alpha nu`` over the eigenvalues nu of ``Pbar V``, ``Pbar = (1/n) sum_i P_i``, and 1.  Unstable whenever the
tokens are not collinear or n >= 4; for n = 2 it can be stable (PM-CX1).  Reference: Li-Altafini, Lemma 6 (false for n = 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.exact_points import decimals, instance, multipliers
from eigentoken.proofs.power_method.antipodal import AGAINST, PAIR, TOGETHER, G, antipodal_slopes
from eigentoken.proofs.power_method.pm_a1 import ASSUMPTION_1
from eigentoken.proofs.power_method.pm_cx1 import TILTED, TV9, attracting
from eigentoken.proofs.power_method.symbols import V, alpha, lam
from eigentoken.proofs.reductions import grouped, recalled, tensor
from eigentoken.proofs.textbook_maps import INTERLACING, INVARIANCE_OF_MAPS, OSTROWSKI, PRODUCT_SPECTRA
from eigentoken.theory.claims import Unstable, When
from eigentoken.theory.conditions import Relation
from eigentoken.theory.points import AntipodalAt
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.steps import Citation, Derivation, Inequality


def _raw_step() -> tuple[Any, Any]:
    """``y_i`` at a state whose tokens sum to zero."""
    from eigentoken.theory.calculus import (
        ALPHA,
        SLOT,
        Assumptions,
        CalculusAlgebra,
        Index,
        Letter,
        vector,
    )  # fmt: skip
    from eigentoken.theory.calculus import (
        instance as at,
    )
    from eigentoken.theory.systems import system

    algebra = CalculusAlgebra(Assumptions(zero_sums=frozenset({"x"})))
    raw = system("oja-map").raw_step(algebra, {"V": Letter("V"), "alpha": ALPHA}, vector("x", SLOT))
    return at(raw, Index("token", "i")), algebra.assumptions


def _token() -> Any:
    from eigentoken.theory.calculus import Index, vector

    return vector("x", Index("token", "i"))


def _composed() -> tuple[Any, Any]:
    """C B z: the mean over i of ``P_i V z``."""
    from eigentoken.theory.calculus import TOKENS, Assumptions, Index, dot, matrix, vector

    i = Index("token", "i")
    moved, token = vector("z").applied(matrix("V")), vector("x", i)
    return (moved - dot(token, moved) * token).summed(i) / TOKENS, Assumptions()


def _mean_projection() -> Any:
    """``Pbar V z = V z - (1/n) sum_i x_i x_i^T V z``."""
    from eigentoken.theory.calculus import TOKENS, Index, dot, matrix, vector

    i = Index("token", "i")
    moved, token = vector("z").applied(matrix("V")), vector("x", i)
    return moved - (dot(token, moved) * token).summed(i) / TOKENS


def derive() -> Derivation:
    """The linearisation and its spectrum; non-collinear points; collinear ones; the nonlinear argument for n >= 4."""
    nu, z2, c = sp.symbols("nu Z c", real=True)
    eps, gamma, l1, size, dist = sp.symbols("epsilon gamma lambda_1 M D", real=True)
    count = sp.Symbol("n", integer=True, positive=True)
    against = (0, 1, 0, 0)
    together = (0, 1 + alpha * G[0], alpha * G[1], alpha * G[2])
    return Derivation(
        (
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
                establishes=("the linearisation is the identity plus a product of two maps",),
            ),
            Citation(
                name="spectrum",
                says="So the multipliers are $1 + \\alpha\\nu$ over the eigenvalues $\\nu$ of $\\bar PV$, and 1.",
                theorem=PRODUCT_SPECTRA,
                formula=r"\{1 + \alpha\nu : \nu \in \operatorname{spec}(\bar PV)\} \cup \{1^{\,n(d-1)-d}\}",
                uses=("the other product",),
            ),
            Inequality(
                name="semidefinite",
                says="$z^{\\top}\\bar Pz$ is the mean of $Z - c_i^2$ with $Z = \\lVert z\\rVert^2$, $c_i = "
                "x_i^{\\top}z$, $c_i^2 \\leq Z$. It vanishes only if "
                "every $c_i^2 = Z$, that is every $x_i = \\pm z/\\lVert z\\rVert$: $\\bar P \\succ 0$ unless the "
                "tokens are collinear.",
                hypotheses=(z2 > 0, c**2 <= z2, sp.Ne(c**2, z2)),
                conclusion=z2 - c**2 > 0,
                establishes=("the first factor is positive definite",),
            ),
            Citation(
                name="inertia",
                says="If the tokens are not collinear, $\\bar PV$ has a positive eigenvalue, since $\\lambda_1 > 0$.",
                theorem=OSTROWSKI,
                formula=r"\bar P \succ 0 \implies \max\operatorname{spec}(\bar PV) > 0",
                uses=("semidefinite", "spectrum"),
            ),
            Inequality(
                name="expanding",
                says="A positive $\\nu$ gives a multiplier above 1 for every step.",
                hypotheses=(nu > 0,),
                conclusion=1 + alpha * nu > 1,
                uses=("inertia",),
                establishes=("polygonal points with tokens that are not collinear are linearly unstable",),
            ),
            grouped(
                "collinear: together",
                "If the tokens are $\\pm w$, half and half, moving all of them along $\\xi \\perp w$ has the "
                "matrix $I + \\alpha V|_{w^\\perp}$; "
                "all other moves have the multiplier 1, as the next two steps say.",
                antipodal_slopes("oja-map", TOGETHER),
                (*together, *together),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
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
                "Two tokens of one half are moved against each other. So it is linearly unstable iff $V|_{w^\\perp}$ has "
                "a positive eigenvalue.",
                antipodal_slopes("oja-map", PAIR),
                (*against, *(-each for each in against), 0, 0, 0, 0, 0, 0, 0, 0),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
            ),
            Citation(
                name="interlacing",
                says="This is always so if $\\lambda_2 > 0$.",
                theorem=INTERLACING,
                formula=r"\lambda_{\max}(V|_{w^\perp}) \geq \lambda_2(V)",
                uses=("collinear: together",),
            ),
            Inequality(
                name="room",
                says="Now let $n \\geq 4$ be even and $\\gamma = w^{\\top}v_1 > 0$ (for $\\gamma = 0$, "
                "$V|_{w^\\perp}$ has the eigenvalue $\\lambda_1$; for "
                "$\\gamma < 0$ exchange the signs). Two tokens at $w$ can be moved to unit vectors with the sum "
                "$2w - \\epsilon v_1$, since "
                "its squared norm $4 - 4\\epsilon\\gamma + \\epsilon^2$ is at most 4 for small $\\epsilon$.",
                hypotheses=(eps > 0, gamma > 0, eps <= 4 * gamma),
                conclusion=4 - 4 * eps * gamma + eps**2 <= 4,
            ),
            Inequality(
                name="nearby",
                says="They stay near $w$: with half the sum $m$, $\\lVert m - w\\rVert = \\epsilon/2$ and an "
                "orthogonal part of squared length "
                "$M = 1 - \\lVert m\\rVert^2 = \\epsilon\\gamma - \\epsilon^2/4$, the squared distance is $D = "
                "\\epsilon^2/4 + M + 2\\,(m-w)^{\\top}e\\sqrt M \\leq "
                "2(\\epsilon^2/4 + M)$, which tends to 0.",
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
                says="There $\\bar x = -\\frac{\\epsilon}{n}v_1$ and $W = "
                "-\\frac{\\lambda_1}{2}\\frac{\\epsilon^2}{n^2} < 0$, while $W = 0$ at every fixed point near by: "
                "those have $u = 0$, because a state near one with half of the tokens at each of $\\pm w$ is "
                "neither consensus nor bipartite "
                "with $p \\neq q$.",
                hypotheses=(eps > 0, l1 > 0),
                conclusion=-l1 / 2 * eps**2 / count**2 < 0,
                uses=("room", "nearby"),
            ),
            recalled(
                "PM-L7",
                "a continuous function decreases strictly off the fixed points",
                "By PM-L7 ($V \\succeq 0$ or $\\alpha|\\lambda_d| \\leq 1$) $W$ decreases strictly off the fixed "
                "points.",
                r"\Delta W \leq 0",
            ),
            Citation(
                name="escape",
                says="So every limit point of that orbit is a fixed point with $W < 0$, none of which is near: the "
                "orbit leaves a fixed "
                "neighbourhood, however small $\\epsilon$ was. For $n = 2$ there are no two tokens on one side, "
                "and the argument fails.",
                theorem=INVARIANCE_OF_MAPS,
                formula=r"n \geq 4 \implies \text{every collinear polygonal point is unstable}",
                uses=("lower W", "from PM-L7"),
                establishes=("collinear polygonal points with n >= 4 are unstable",),
            ),
        )
    )


_TRIANGLE = [["1", "0"], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]
TV8 = instance("oja-map", _TRIANGLE, V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")
FOUR = instance("oja-map", [["1", "0"]] * 2 + [["-1", "0"]] * 2, V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")


def tilted_value() -> Sequence[Any]:
    """The multipliers at (w, -w), w = (12, 5)/13: 1 + alpha (s^2 - c^2/2) and 1."""
    return multipliers(TILTED)


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
            r"$\nu \in "
            r"\operatorname{spec}(\bar PV)$, and $1$, $n(d-1) - d$ times (if $n(d-1) < d$ drop the surplus zeros "
            r"of $\bar PV$); all are real. "
            r"(a) If the tokens are not collinear, the point is linearly unstable for all $\alpha > 0$. (b) If "
            r"they are $\pm w$, half and "
            r"half, it is linearly unstable iff $\lambda_{\max}(V|_{w^\perp}) > 0$, always if $\lambda_2 > 0$. (c) "
            r"For even $n \geq 4$ and "
            r"$V \succeq 0$ or $\alpha|\lambda_d| \leq 1$, every collinear polygonal point is unstable, if "
            r"necessary only nonlinearly. "
            r"(d) For $n = 2$, $V|_{w^\perp} \prec 0$ it is Lyapunov stable (PM-CX1)."
        ),
        depends=("PM-A1", "PM-L2", "PM-L7", "PM-CX1"),
        facts=(
            "the second factor is symmetric",
            "the matrix is symmetric",
            "it is compressed to a hyperplane",
            "the state space is compact",
        ),
        derive=derive,
        printed=Printed(
            text=r"All polygonal equilibria of the Oja map are unstable.",
            wrong=(
                r"False for $n = 2$, $V|_{w^\perp} \prec 0$ (possible iff $\lambda_2 < 0$). For even $n \geq 4$ "
                r"the claim is true but the "
                r"linearisation may be silent (spectral radius 1), so no proof by linearisation exists there."
            ),
            counterexamples=(
                Counterexample(
                    "tilted",
                    r"$V = \operatorname{diag}(1, -\frac12)$, $\alpha = \frac14$, $w = \frac1{13}(12, 5)$, which "
                    r"is no eigenvector: multipliers "
                    r"$\frac{629}{676}$ and $1$ at $(w, -w)$, stable by PM-CX1.",
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
            Vector("n = 4, silent", lambda: multipliers(FOUR), decimals("0.875", "1 * 3")),
        ),
        variants=(
            Variant(
                "lambda_2 > 0",
                "V = diag(1, -1/2), n = 2, w = (12, 5)/13: no multiplier above 1 (and stable, PM-CX1)",
                lambda: attracting(TILTED, "629/676"),
            ),
        ),
        notes="That nearby fixed points have $W = 0$ is argued in words; the compactness of the state space (a product of "
        "spheres) is entered as a fact.",
    )
)
