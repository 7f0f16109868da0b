"""Steps that the regimes of convergence and divergence share: the rate of the energy, and the smoothness of the field."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.ph_m import calculus_rules, log_sum_exp_step, soft_average, token_field
from eigentoken.proofs.pham.ph_t1 import variance_steps
from eigentoken.proofs.textbook import JENSEN
from eigentoken.proofs.textbook_flows import CONVEX_TANGENT
from eigentoken.theory.steps import Citation, Inequality

__all__ = ["energy_steps", "smooth_step"]


def energy_steps() -> tuple[Any, ...]:
    """``d/dt of -1/2 sum x^T A x`` and its bound by log-mean-exp and by the mean token; shared with PH-T3."""
    from eigentoken.proofs.calculus_steps import TOKEN_I, TOKEN_J, along_flow, tensor_step
    from eigentoken.theory.calculus import TOKENS, Letter, vector
    from eigentoken.theory.calculus import dot as inner

    rules = calculus_rules()
    field = token_field(rules)
    score = (Letter("W"),)
    energy = (inner(vector("x", TOKEN_I), vector("x", TOKEN_I), (Letter("A"),)) * sp.Rational(-1, 2)).summed(TOKEN_I)
    claimed = -soft_average(TOKEN_I, lambda k: inner(vector("x", TOKEN_I), vector("x", k), score)).summed(TOKEN_I)
    mean = vector("x", TOKEN_J).summed(TOKEN_J) / TOKENS
    u, g_0, g_1, slope, average, bound = sp.symbols("u g_0 g_1 g' m b", real=True)
    common, form_l, least, square = sp.symbols("c c_l mu N", real=True)
    return (
        tensor_step(
            "derivative of the energy",
            "Let $\\mathcal{E} = -\\tfrac12\\sum_l x_l^{\\top}Ax_l$. Along the registered flow, since $A$ is "
            "symmetric and $AB = W$:",
            derive=lambda: along_flow(energy, field, rules, "x"),
            claimed=claimed,
            rules=rules,
            left="\\dot{\\mathcal{E}}",
        ),
        *variance_steps(),
        log_sum_exp_step(
            "log-sum-exp",
            "Fix $l$ and put $c_i = x_l^{\\top}Wx_i$, $g(s) = \\ln Z(sx_l)$, $Z(z) = \\sum_i e^{z^{\\top}Wx_i}$. Then "
            "$g'(s)$, the derivative along $X = x_l$, is the softmax "
            "average of the $c_i$ at scores $sc_i$; at $s = 1$ it is the summand of $-\\dot{\\mathcal{E}}$.",
            rules,
            uses=("derivative of the energy",),
        ),
        Citation(
            name="convexity",
            says="The slope of $g'$ is a variance, so $g$ is convex and lies above its tangents.",
            theorem=CONVEX_TANGENT,
            uses=("log-sum-exp", "variance is nonnegative"),
            formula="g(0) \\ge g(1) - g'(1)",
        ),
        Inequality(
            name="tangent from the end",
            says="So $g'(1) \\ge g(1) - g(0) = \\ln\\bigl(\\tfrac1L\\sum_i e^{c_i}\\bigr)$, since $g(0) = \\ln L$.",
            hypotheses=(g_0 >= g_1 - slope,),
            conclusion=slope >= g_1 - g_0,
            uses=("convexity",),
            needs=("the function lies above its tangents",),
            establishes=("the softmax average is at least log-mean-exp",),
        ),
        Inequality(
            name="supporting line",
            says="The exponential lies above its tangents: $e^{m + u} \\ge e^{m}(1 + u)$, strictly for $u \\neq 0$ "
            "(here divided by $e^m$).",
            hypotheses=(),
            conclusion=sp.exp(u) >= 1 + u,
            establishes=("the function is convex",),
        ),
        Citation(
            name="Jensen",
            says="Hence $\\ln\\bigl(\\tfrac1L\\sum_i e^{c_i}\\bigr) \\ge \\tfrac1L\\sum_i c_i$, with equality only if "
            "all $c_i$ are equal.",
            theorem=JENSEN,
            uses=("supporting line",),
            formula="\\ln\\Bigl(\\tfrac1L\\sum_i e^{c_i}\\Bigr) \\ge \\tfrac1L\\sum_i c_i",
        ),
        tensor_step(
            "sum of the means",
            "Summed over $l$, the means of the $c_i$ give $L\\,\\bar x^{\\top}W\\bar x$ with $\\bar x$ the mean token "
            "(here $L = n$).",
            derive=lambda: (inner(vector("x", TOKEN_I), mean, score)).summed(TOKEN_I),
            claimed=inner(mean, mean, score) * TOKENS,
            rules=rules,
            left="\\sum_l \\tfrac1L\\sum_i x_l^{\\top}Wx_i",
        ),
        Inequality(
            name="chain",
            says="Together, for each token: $g' \\ge g(1) - g(0)$ and $g(1) - g(0) \\ge m$, the mean of the $c_i$.",
            hypotheses=(slope >= g_1 - g_0, g_1 - g_0 >= average, average >= bound),
            conclusion=-slope <= -bound,
            uses=("tangent from the end", "Jensen", "sum of the means"),
            establishes=("the energy rate is bounded by the mean token",),
        ),
        Inequality(
            name="equality",
            says="If $\\dot{\\mathcal{E}} = 0$ then $\\bar x = 0$ and for each $l$ all $c_i = x_l^{\\top}Wx_i$ "
            "equal one number $c$; it is their mean $x_l^{\\top}W\\bar x = 0$, so $c_l = x_l^{\\top}Wx_l = 0$; "
            "with $c_l \\ge \\mu N$, $\\mu = \\lambda_{\\min}(\\operatorname{sym} W) > 0$ and $N = |x_l|^2$, this "
            "is $x_l = 0$.",
            hypotheses=(sp.Eq(common, 0), sp.Eq(form_l, common), least > 0, square >= 0, form_l >= least * square),
            conclusion=sp.Eq(square, 0),
            uses=("chain",),
            establishes=("the energy rate vanishes only at the origin",),
        ),
    )


def smooth_step() -> Any:
    """The field of the token flow, written out; analytic, so locally Lipschitz."""
    from eigentoken.proofs.calculus_steps import TOKEN_K, analytic_step
    from eigentoken.theory.calculus import SLOT, Assumptions, Letter, exponential, factor, vector
    from eigentoken.theory.calculus import dot as inner
    from eigentoken.theory.calculus.expressions import row_sum

    rules = Assumptions()
    pair = inner(vector("x", SLOT), vector("x", TOKEN_K), (Letter("W"),))
    weight = exponential(pair) * factor(row_sum(pair, TOKEN_K), -1)
    return analytic_step(
        "Lipschitz field",
        "Written out, the field of the registered system is analytic in the tokens: the normalisers are sums of "
        "exponentials and have no zero. It does not depend on time.",
        derive=lambda: token_field(rules),
        claimed=(weight * vector("x", TOKEN_K).applied((Letter("B"),))).summed(TOKEN_K),
        rules=rules,
        left="\\dot x_i",
        establishes=("the field is autonomous and locally Lipschitz",),
    )
