"""PM-L15: polygonal points of the attention map need not be unstable.

The scores enter the linearisation at first order and can turn every multiplier inward.  Reference: Li-Altafini,
Lemma 15, eq. (20), and the last claim of Theorem 3 (both false).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.power_method.antipodal import (
    AGAINST,
    OMEGA2,
    OMEGA3,
    PAIR,
    PAIR_BELOW,
    TOGETHER,
    G,
    antipodal_slopes,
)  # fmt: skip
from eigentoken.proofs.power_method.symbols import alpha, d, n
from eigentoken.proofs.property_checks import OnInstances
from eigentoken.proofs.reductions import grouped, tensor
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.steps import Derivation, Identity, Inequality


def _polygonal() -> tuple[Any, Any]:
    """The derivative of the push at a state where every weighted mean vanishes."""
    from eigentoken.theory.calculus import (
        SLOT,
        Assumptions,
        CalculusAlgebra,
        Index,
        Letter,
        differentiate,
        direction,
        vector,
    )  # fmt: skip
    from eigentoken.theory.calculus import (
        instance as at,
    )
    from eigentoken.theory.systems import system

    algebra = CalculusAlgebra(Assumptions(zero_averages=frozenset({"x"})))
    push = system("attention-map").influence(algebra, {"V": Letter("V"), "M": Letter("M")}, vector("x", SLOT))
    return differentiate(at(push, Index("token", "i")), direction("x", "w"), algebra.assumptions), algebra.assumptions


def _claimed() -> Any:
    """``V [ sum_j a_ij (w_j + x_j x_i^T M w_j) + Sigma_i M^T w_i ]``."""
    from eigentoken.theory.calculus import Index, Letter, dot, exponential, factor, vector
    from eigentoken.theory.calculus.expressions import row_sum

    i, j = Index("token", "i"), Index("token", "j")
    score, x_i, x_j, w_i, w_j = (Letter("M"),), vector("x", i), vector("x", j), vector("w", i), vector("w", j)
    exponent = dot(x_i, x_j, score)
    weight = exponential(exponent) * factor(row_sum(exponent, j), -1)
    inner = w_j + dot(x_i, w_j, score) * x_j + dot(w_i, x_j, score) * x_j
    return (weight * inner).summed(j).applied((Letter("V"),))


def derive() -> Derivation:
    """The general linearisation; the exact spectrum at antipodal points; and how the scores stabilise."""
    row, column = sp.Symbol("c_21", real=True), sp.Symbol("c_12", real=True)
    own = (0, 1 + alpha * OMEGA2 * row, alpha * OMEGA3 * row, 0)
    minus = tuple(-each for each in own)
    still = (0, 0, 0, 0)
    together = (0, 1 + alpha * (G[0] + OMEGA2 * row), alpha * (G[1] + OMEGA3 * row), alpha * G[2])
    against = (0, 1 + alpha * OMEGA2 * (row + column), alpha * OMEGA3 * (row + column), 0)
    c, g = sp.symbols("c g", real=True)
    return Derivation(
        (
            tensor(
                "linearisation",
                "At a state with $\\sum_ja_{ij}x_j = 0$ for all $i$ the push vanishes, $y_i = x_i$, and the "
                "derivative of the push "
                "keeps two terms with $M$, of the same order in $\\alpha$ as the others; $\\Sigma_i = "
                "\\sum_ja_{ij}x_jx_j^{\\top}$.",
                _polygonal,
                _claimed(),
                r"\delta x_i^+ = P_i\Big(\delta x_i + \alpha V\Big[\sum_ja_{ij}(I + x_jx_i^{\top}M)\,\delta x_j + "
                r"\Sigma_iM^{\top}\delta x_i\Big]\Big)",
                establishes=("the linearisation at a polygonal point",),
            ),
            grouped(
                "pairs",
                "Now $x_i = \\pm w$, half and half, $w^{\\top}Mw = 0$; $Vw = \\nu w + \\omega$, $\\rho = P_wMw$, "
                "$\\rho' = P_wM^{\\top}w$ "
                "(so $c_{21} = \\rho^{\\top}\\xi$, $c_{12} = \\rho'^{\\top}\\xi$). Two tokens at $w$ are moved "
                "along $\\xi$ and $-\\xi$, any "
                "unit $\\xi \\perp w$: the matrix is $I + \\alpha\\omega\\rho^{\\top}$.",
                antipodal_slopes("attention-map", PAIR),
                (*own, *minus, *still, *still),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right) = \xi + \alpha\,\omega\,\rho^{\top}\xi",
            ),
            grouped(
                "pairs below",
                "The same for two tokens at $-w$.",
                antipodal_slopes("attention-map", PAIR_BELOW),
                (*own, *minus, *still, *still),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
            ),
            grouped(
                "together",
                "Both halves are moved along $\\xi$: the matrix is $I + \\alpha(V|_{w^\\perp} + "
                "\\omega\\rho^{\\top})$.",
                antipodal_slopes("attention-map", TOGETHER),
                (*together, *together),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right) = \xi + \alpha\,(V|_{w^\perp} + "
                r"\omega\rho^{\top})\,\xi",
            ),
            grouped(
                "against each other",
                "The halves are moved along $\\xi$ and $-\\xi$: the matrix is $I + \\alpha\\omega(\\rho + "
                "\\rho')^{\\top}$.",
                antipodal_slopes("attention-map", AGAINST),
                (*against, *(-each for each in against)),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right) = \xi + \alpha\,\omega\,(\rho + \rho')^{\top}\xi",
            ),
            Identity(
                name="count",
                says="These are all: $n - 2$, $1$ and $1$ copies of the $d - 1$ tangent directions.",
                left=sp.Add((n - 2) * (d - 1), d - 1, d - 1, evaluate=False),
                right=n * (d - 1),
                uses=("pairs", "pairs below", "together", "against each other"),
                establishes=("the spectrum at antipodal polygonal points",),
            ),
            Inequality(
                name="scores stabilise",
                says="In the plane, let $V|_{w^\\perp} = g$, $\\omega \\neq 0$ and choose $M$ with $\\omega\\rho = "
                "-c$, $\\rho' = 0$: all "
                "multipliers, $1 - \\alpha c$ and $1 + \\alpha(g - c)$, are inside the unit circle as soon as $c > "
                "\\max(0, g)$ and the "
                "step is small. So every antipodal state off the eigenvectors is stable for some scores.",
                hypotheses=(c > 0, c > g, alpha * c < 2, alpha * (c - g) < 2),
                conclusion=sp.And(sp.Abs(1 - alpha * c) < 1, sp.Abs(1 + alpha * (g - c)) < 1),
                uses=("count",),
            ),
        )
    )


_V = [["2", "1"], ["1", "2"]]
_PAIR_STATE = [["1", "0"], ["-1", "0"]]
TV10 = instance("attention-map", _PAIR_STATE, V=_V, M=[["0", "0"], ["-3", "0"]], alpha="1/10")
TV10_FOUR = instance(
    "attention-map", [["1", "0"]] * 2 + [["-1", "0"]] * 2, V=_V, M=[["0", "0"], ["-3", "0"]], alpha="1/10"
)
TV10_SYMMETRIC = instance("attention-map", _PAIR_STATE, V=_V, M=[["0", "-3"], ["-3", "0"]], alpha="1/10")
TV10_GRADIENT = instance(
    "attention-map", _PAIR_STATE, V=[["0", "1"], ["1", "1"]], M=[["0", "-2"], ["-2", "-2"]], alpha="1/10"
)

PM_L15 = register(
    Statement(
        id="PM-L15",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 15, eq. (20), and Theorem 3, last claim"),
        title="Polygonal points of the attention map",
        systems=("attention-map",),
        text=(
            r"At a polygonal point ($\sum_ja_{ij}x_j = 0$ for all $i$) the linearisation is $\delta x_i^+ = "
            r"P_i\big(\delta x_i + \alpha "
            r"V[\sum_ja_{ij}(I + x_jx_i^{\top}M)\delta x_j + \Sigma_iM^{\top}\delta x_i]\big)$. At the antipodal "
            r"ones, $x_i = \pm w$, "
            r"$p = q$, $w^{\top}Mw = 0$, with $\omega = P_wVw$, $\rho = P_wMw$, $\rho' = P_wM^{\top}w$, the "
            r"spectrum is that of "
            r"$I + \alpha\omega\rho^{\top}$ ($n-2$ times), $I + \alpha(V|_{w^\perp} + \omega\rho^{\top})$ and "
            r"$I + \alpha\omega(\rho + \rho')^{\top}$ on $w^\perp$. No general statement about instability holds: "
            r"such points can be "
            r"asymptotically stable under Assumption 1. If the terms with $M$ drop out ($M = 0$, or $\omega = 0$), "
            r"PM-L6 applies."
        ),
        depends=("PM-L10",),
        derive=derive,
        told_by=("linearisation", "scores stabilise"),
        printed=Printed(
            text=r"The polygonal equilibria are all unstable for the attention map.",
            wrong=(
                r"The proof bounds the terms with $M$ as if they were of higher order; they are of first order in "
                r"$\delta x$ and of "
                r"the same order in $\alpha$ as the others, and can reverse the sign of every multiplier."
            ),
            counterexamples=(
                Counterexample(
                    "TV10, n = 2",
                    r"$V = \big(\begin{smallmatrix}2&1\\1&2\end{smallmatrix}\big)$ ($\lambda = 3, 1$), $M = "
                    r"\big(\begin{smallmatrix}0&0\\-3&0\end{smallmatrix}\big)$, $\alpha = \frac1{10}$, $x = (e_1, "
                    r"-e_1)$, $e_1$ no "
                    r"eigenvector: multipliers $0.7$ and $0.9$, asymptotically stable.",
                    TV10,
                    lambda: point_is(TV10, "polygonal", stable="stable"),
                ),
                Counterexample(
                    "TV10, n = 4",
                    r"The same with two tokens on each side: $0.7$ (three times) and $0.9$.",
                    TV10_FOUR,
                    lambda: point_is(TV10_FOUR, "polygonal", stable="stable"),
                ),
                Counterexample(
                    "TV10, symmetric M",
                    r"$M = \big(\begin{smallmatrix}0&-3\\-3&0\end{smallmatrix}\big)$: $0.4$ and $0.9$.",
                    TV10_SYMMETRIC,
                    lambda: point_is(TV10_SYMMETRIC, "polygonal", stable="stable"),
                ),
                Counterexample(
                    "gradient structure",
                    r"$V = \big(\begin{smallmatrix}0&1\\1&1\end{smallmatrix}\big)$, $M = -2V$: $0.6$ and $0.9$.",
                    TV10_GRADIENT,
                    lambda: point_is(TV10_GRADIENT, "polygonal", stable="stable"),
                ),
            ),
        ),
        vectors=(
            Vector("TV10, n = 2", lambda: multipliers(TV10), decimals("7/10", "9/10")),
            Vector("TV10, n = 4", lambda: multipliers(TV10_FOUR), decimals("7/10 * 3", "9/10")),
            Vector("TV10, symmetric M", lambda: multipliers(TV10_SYMMETRIC), decimals("4/10", "9/10")),
            Vector("TV10, M = -2V", lambda: multipliers(TV10_GRADIENT), decimals("6/10", "9/10")),
        ),
        property_tests=(OnInstances("point_checks", "antipodal_points"),),
    )
)
