"""PM-L15: polygonal points of the attention map need not be unstable.

The scores enter the linearisation at first order and can turn every multiplier inward.  Reference: Li-Altafini,
Lemma 15, eq. (20), and the last claim of Theorem 3 (both false).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.antipodal import (
    AGAINST,
    OMEGA2,
    OMEGA3,
    PAIR,
    PAIR_BELOW,
    TOGETHER,
    G,
    antipodal_slopes,
    value,
)  # fmt: skip
from eigentoken.proofs.power_method.symbols import E, alpha, any_score, d, n, p
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import agree, decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.point_checks import antipodal_points
from eigentoken.proofs.steps.reductions import grouped, tensor
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    differentiate,
    direction,
    dot,
    exponential,
    factor,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality, Step


def _polygonal() -> tuple[Any, Any]:
    """The derivative of the push at a state where every weighted mean vanishes."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions(zero_averages=frozenset({"x"})))
    push = system("attention-map").influence(algebra, {"V": Letter("V"), "M": Letter("M")}, vector("x", SLOT))
    return differentiate(at(push, Index("token", "i")), direction("x", "w"), algebra.assumptions), algebra.assumptions


def _claimed() -> Any:
    """``V [ sum_j a_ij (w_j + x_j x_i^T M w_j) + Sigma_i M^T w_i ]``."""
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
                "At a state with $\\sum_ja_{ij}x_j = 0$ for all $i$ the push vanishes, $y_i = x_i$, and the derivative "
                "of the push keeps two terms with $M$, of the same order in $\\alpha$ as the others; $\\Sigma_i = "
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
                "$\\rho' = P_wM^{\\top}w$ (so $c_{21} = \\rho^{\\top}\\xi$, $c_{12} = \\rho'^{\\top}\\xi$). Two "
                "tokens at $w$ are moved along $\\xi$ and $-\\xi$, any unit $\\xi \\perp w$: the matrix is $I + "
                "\\alpha\\omega\\rho^{\\top}$.",
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
                "Both halves are moved along $\\xi$: the matrix is $I + \\alpha(V|_{w^\\perp} + \\omega\\rho^{\\top})$.",
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
                "-c$, $\\rho' = 0$: all multipliers, $1 - \\alpha c$ and $1 + \\alpha(g - c)$, are inside the unit "
                "circle as soon as $c > \\max(0, g)$ and the step is small. So every antipodal state off the "
                "eigenvectors is linearly stable for some scores and steps.",
                hypotheses=(c > 0, c > g, alpha * c < 2, alpha * (c - g) < 2),
                conclusion=sp.And(sp.Abs(1 - alpha * c) < 1, sp.Abs(1 + alpha * (g - c)) < 1),
                uses=("count",),
            ),
            *_antipodal_steps(),
        )
    )


def _kept() -> list[Any]:
    """The push at half of the tokens at z and half at -z, ``e^{z^T M z} = E``."""
    from eigentoken.proofs.steps.token_groups import push_groups

    parameters = {"V": value(), "M": any_score(4, sp.log(E))}
    found = push_groups("attention-map", parameters, [(p, (1, 0, 0, 0)), (p, (-1, 0, 0, 0))])
    return [entry for token in found for entry in token]


def _antipodal_steps() -> tuple[Step, ...]:
    """The antipodal states are kept; on the circle through v_1 and v_l they leave v_1 on one side."""
    nu = sp.Symbol("nu", real=True)
    slope = (E**2 - 1) / (E**2 + 1)
    push = (slope * nu, slope * OMEGA2, slope * OMEGA3, sp.Integer(0))
    one, two, first, other, tau, worst = sp.symbols("z_1 z_ell lambda_1 lambda_ell T T_0", real=True)
    mixed, own, t, start, rate, steps, seen = sp.symbols("m c t t_0 f j t_j", real=True)
    score_there = (mixed * t + own * t**2) / (1 + t**2)
    factor, least = ((1 + alpha * other * each) / (1 + alpha * first * each) for each in (tau, worst))
    return (
        grouped(
            "antipodal states",
            "Now half of the tokens at $z$ and half at $-z$ for any unit $z$, $E = e^{s(z)}$, $s(z) = z^{\\top}Mz$, so "
            "that $\\tanh s = (E^2 - 1)/(E^2 + 1)$; $Vz = \\nu z + \\omega$, $\\omega = (\\omega_2, \\omega_3)$: the "
            "pushes are $\\pm\\tanh(s)Vz$, so that the map keeps the set of these states.",
            _kept,
            (*push, *(-each for each in push)),
            r"u = \pm\left(<1>,\ <2>,\ <3>,\ <4>\right)",
        ),
        Identity(
            name="ratio",
            says="In an eigenbasis, with $T = \\tanh s$, the ratio $t = z_\\ell/z_1$ is multiplied by a factor; ratios "
            "that are 0 stay 0, so that the circle through $v_1$ and $v_\\ell$ is kept.",
            left=(two + alpha * tau * other * two) / (one + alpha * tau * first * one),
            right=two / one * factor,
            uses=("antipodal states",),
        ),
        Inequality(
            name="score on the circle",
            says="There $s = (mt + ct^2)/(1 + t^2)$ with $m = v_1^{\\top}(M + M^{\\top})v_\\ell$ and $c = "
            "v_\\ell^{\\top}Mv_\\ell$, since $v_1^{\\top}Mv_1 = 0$. Let $m > 0$ (for $m < 0$ exchange $v_\\ell$ and "
            "$-v_\\ell$): $s$ is negative for small $t < 0$.",
            hypotheses=(mixed > 0, t < 0, sp.Abs(own * t) < mixed),
            conclusion=score_there < 0,
        ),
        Inequality(
            name="away from v_1",
            says="Where $T \\leq T_0 < 0$ and $1 + \\alpha\\lambda_1T > 0$ (as near $v_1$), the factor is at least its "
            "value $f > 1$ at $T_0$.",
            hypotheses=(
                first > 0,
                other < first,
                tau <= worst,
                worst < 0,
                1 + alpha * first * tau > 0,
            ),
            conclusion=sp.And(factor >= least, least > 1),
            uses=("ratio", "score on the circle"),
        ),
        Inequality(
            name="no return",
            says="So $|t|$ grows, and as long as it is below a small $t_1$ the numbers $T$ stay below the largest one $T_0 < 0$ "
            "between the start $|t_0|$ and $t_1$: with $|t_{j+1}| \\geq f|t_j|$ each step adds at least $(f-1)|t_0|$. By "
            "induction $|t_j| \\geq |t_0|(1 + j(f-1))$, which exceeds $t_1$, however near to $v_1$ the start is.",
            hypotheses=(start > 0, rate > 1, steps >= 0, seen >= start * (1 + steps * (rate - 1))),
            conclusion=rate * seen >= start * (1 + (steps + 1) * (rate - 1)),
            uses=("away from v_1",),
        ),
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

#: omega = 0, s(w) = 0 and v_1^T (M + M^T) v_2 = 1.
SEMISTABLE = instance(
    "attention-map", _PAIR_STATE, V=[["1", "0"], ["0", "-1/2"]], M=[["0", "1"], ["0", "0"]], alpha="1/4"
)


def reduced(angle: str, steps: int) -> Any:
    """The angle after some steps of ``tan theta^+ = tan theta (1 - T/8)/(1 + T/4)``, ``T = tanh(sin theta cos theta)``."""
    import mpmath as mp

    with mp.workdps(30):
        theta = mp.mpf(sp.Rational(angle).p) / sp.Rational(angle).q
        for _ in range(steps):
            slope = mp.tanh(mp.sin(theta) * mp.cos(theta))
            theta = mp.atan(mp.tan(theta) * (1 - slope / 8) / (1 + slope / 4))
        return theta


def both_tokens(angle: str, steps: int) -> Any:
    """The angle of token 1 after some steps of the attention map on (z, -z)."""
    import mpmath as mp

    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    with mp.workdps(30):
        theta = mp.mpf(sp.Rational(angle).p) / sp.Rational(angle).q
        tokens: Any = ((mp.cos(theta), mp.sin(theta)), (-mp.cos(theta), -mp.sin(theta)))
        half, quarter = mp.mpf(1) / 2, mp.mpf(1) / 4
        given = {"V": ((1, 0), (0, -half)), "M": ((0, 1), (0, 0)), "alpha": quarter}
        for _ in range(steps):
            tokens = system("attention-map").advance(LoopAlgebra(mp.exp, mp.sqrt, mp.mpf(1)), given, tokens)
        return mp.atan2(tokens[0][1], tokens[0][0])


def semistable() -> Verdict:
    """The multipliers are 7/8 and 1, and the angle of the reduced map passes -1 from -1/10 (30 digits)."""
    marginal = agree(multipliers(SEMISTABLE), ("7/8", "1"))
    last = reduced("-1/10", 1000)
    return all_of({"multipliers": marginal, "leaves": holds(f"angle {last}") if last < -1 else fails(f"angle {last}")})


PM_L15 = register(
    Statement(
        id="PM-L15",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 15, eq. (20), and Theorem 3, last claim"),
        title="Polygonal points of the attention map",
        systems=("attention-map",),
        text=(
            r"Let $V = V^{\top}$. At a polygonal point ($\sum_ja_{ij}x_j = 0$ for all $i$) the linearisation is "
            r"$\delta x_i^+ = P_i\big(\delta x_i + \alpha V[\sum_ja_{ij}(I + x_jx_i^{\top}M)\delta x_j + "
            r"\Sigma_iM^{\top}\delta x_i]\big)$. At the antipodal ones, $x_i = \pm w$, $p = q$, $w^{\top}Mw = 0$, "
            r"with $\omega = P_wVw$, $\rho = P_wMw$, $\rho' = P_wM^{\top}w$, the spectrum is that of $I + "
            r"\alpha\omega\rho^{\top}$ ($n-2$ times), $I + \alpha(V|_{w^\perp} + \omega\rho^{\top})$ and $I + "
            r"\alpha\omega(\rho + \rho')^{\top}$ on $w^\perp$. No general statement about instability holds: such "
            r"points can be linearly asymptotically stable under Assumption 1. If $\omega = 0$, this spectrum is that "
            r"of PM-L6, but only the spectrum: the antipodal states are kept by the map, $z^+$ is the direction of "
            r"$(I + \alpha\tanh(s(z))V)z$ with $s(z) = z^{\top}Mz$, and if $w = v_1$ with $\lambda_1 > 0$ simple, "
            r"$s(w) = 0$ and $v_1^{\top}(M + M^{\top})v_\ell \neq 0$ for some $\ell \geq 2$, then $(w, -w)$ is "
            r"unstable for every $\alpha > 0$, also where no multiplier is outside the unit circle."
        ),
        depends=("PM-L10",),
        derive=derive,
        prose_from=("linearisation", "scores stabilise", "no return"),
        printed=Printed(
            text=r"The polygonal equilibria are all unstable for the attention map.",
            wrong=(
                r"The proof bounds the terms with $M$ as if they were of higher order; they are of first order in "
                r"$\delta x$ and of the same order in $\alpha$ as the others, and can reverse the sign of every "
                r"multiplier."
            ),
            counterexamples=(
                Counterexample(
                    "TV10, n = 2",
                    r"$V = \big(\begin{smallmatrix}2&1\\1&2\end{smallmatrix}\big)$ ($\lambda = 3, 1$), $M = "
                    r"\big(\begin{smallmatrix}0&0\\-3&0\end{smallmatrix}\big)$, $\alpha = \frac1{10}$, $x = (e_1, "
                    r"-e_1)$, $e_1$ no eigenvector: multipliers $0.7$ and $0.9$, asymptotically stable.",
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
            Vector("omega = 0: multipliers", lambda: multipliers(SEMISTABLE), decimals("7/8", "1")),
            Vector(
                "omega = 0: angle of token 1 after 1 and 1000 steps of the reduced map, from -0.1 and from 0.1",
                lambda: [reduced("-1/10", 1), reduced("-1/10", 1000), reduced("1/10", 1), reduced("1/10", 1000)],
                ("-0.103780297739227", "-1.56806305796307", "0.0963996573056255", "0.00259542117644058"),
            ),
            Vector(
                "omega = 0: the same from both tokens, one step from -0.1, and 1 and 1000 steps from 0.1",
                lambda: [both_tokens("-1/10", 1), both_tokens("1/10", 1), both_tokens("1/10", 1000)],
                ("-0.103780297739227", "0.0963996573056255", "0.00259542117644058"),
            ),
            Vector("TV10, M = -2V", lambda: multipliers(TV10_GRADIENT), decimals("6/10", "9/10")),
        ),
        variants=(
            Variant(
                "M = 0",
                "V = diag(1, -1/2), M = (0 1; 0 0), alpha = 1/4, w = e_1: omega = 0 and the multipliers 7/8 and 1 are "
                "those of PM-L6 (d), where the point is stable; here a start at the angle -1/10 leaves",
                semistable,
            ),
        ),
        property_tests=(OnInstances(antipodal_points),),
    )
)
