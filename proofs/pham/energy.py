"""Steps that the regimes of convergence and divergence share: the rate of the energy, and the smoothness of the
field."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.ph_m_token_flow import calculus_rules, log_sum_exp_step, soft_average, token_field
from eigentoken.proofs.pham.ph_t01_pair_forms import variance_steps
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, TOKEN_J, TOKEN_K, along_flow, analytic_step, tensor_step
from eigentoken.proofs.steps.textbook import JENSEN
from eigentoken.proofs.steps.textbook_flows import CONVEX_TANGENT
from eigentoken.theory.calculus import SLOT, TOKENS, Assumptions, Letter, exponential, factor, vector
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.statements.steps import Citation, Inequality, Step

__all__ = ["energy_steps", "smooth_step"]


def _energy_rate() -> tuple[Step, ...]:
    """The derivative of the energy, and the convexity of log-sum-exp along a line."""
    rules = calculus_rules()
    field = token_field(rules)
    score = (Letter("W"),)
    energy = (inner(vector("x", TOKEN_I), vector("x", TOKEN_I), (Letter("A"),)) * sp.Rational(-1, 2)).summed(TOKEN_I)
    claimed = -soft_average(TOKEN_I, lambda k: inner(vector("x", TOKEN_I), vector("x", k), score)).summed(TOKEN_I)
    g_0, g_1, slope = sp.symbols("g_0 g_1 g'", real=True)
    return (
        tensor_step(
            "derivative of the energy",
            "Let $\\mathcal{E} = -\\tfrac12\\sum_l x_l^{\\top}Ax_l$. Along the registered flow, since $A$ is symmetric "
            "and $AB = W$:",
            derive=lambda: along_flow(energy, field, rules, "x"),
            claimed=claimed,
            rules=rules,
            left="\\dot{\\mathcal{E}}",
        ),
        *variance_steps(),
        log_sum_exp_step(
            "log-sum-exp",
            "Fix $l$ and put $c_i = x_l^{\\top}Wx_i$, $g(s) = \\ln Z(sx_l)$, $Z(z) = \\sum_i e^{z^{\\top}Wx_i}$. Then "
            "$g'(s)$, the derivative along $X = x_l$, is the softmax average of the $c_i$ at scores $sc_i$; at $s = "
            "1$ it is the summand of $-\\dot{\\mathcal{E}}$.",
            rules,
            uses=("derivative of the energy",),
        ),
        Citation(
            name="convexity",
            says="The slope of $g'$ is a variance, so $g$ is convex and lies above its tangents.",
            theorem=CONVEX_TANGENT,
            letters={"g": "log-sum-exp along a line"},
            uses=("log-sum-exp", "variance is nonnegative"),
            formula="g(0) \\ge g(1) - g'(1)",
            establishes=("log-sum-exp along a line lies above its tangents",),
        ),
        Inequality(
            name="tangent from the end",
            says="So $g'(1) \\ge g(1) - g(0) = \\ln\\bigl(\\tfrac1L\\sum_i e^{c_i}\\bigr)$, since $g(0) = \\ln L$.",
            hypotheses=(g_0 >= g_1 - slope,),
            conclusion=slope >= g_1 - g_0,
            uses=("convexity",),
            needs=("log-sum-exp along a line lies above its tangents",),
            establishes=("the softmax average is at least log-mean-exp",),
        ),
    )


def _bounds() -> tuple[Step, ...]:
    """Its bound by log-mean-exp and by the mean token, and where it is attained."""
    rules = calculus_rules()
    score = (Letter("W"),)
    mean = vector("x", TOKEN_J).summed(TOKEN_J) / TOKENS
    u, g_0, g_1, slope, average, bound = sp.symbols("u g_0 g_1 g' m b", real=True)
    half = sp.Symbol("h", real=True)
    common, form_l, least, square = sp.symbols("c c_l mu N", real=True)
    return (
        Inequality(
            name="supporting line",
            says="The exponential lies above its tangents: $e^{m + u} \\ge e^{m}(1 + u)$ (here divided by $e^m$).",
            hypotheses=(),
            conclusion=sp.exp(u) >= 1 + u,
        ),
        Inequality(
            name="strictly",
            says="Applied to $h = e^{u/2} \\ge 1 + \\tfrac u2$, $h > 0$, this gives $e^{u} = h^2 > 1 + u$ for $u \\neq "
            "0$.",
            hypotheses=(half > 0, half >= 1 + u / 2, sp.Ne(u, 0)),
            conclusion=half**2 > 1 + u,
            uses=("supporting line",),
            establishes=("the exponential is strictly convex",),
        ),
        Citation(
            name="Jensen",
            says="For the mean of the $c_i$:",
            theorem=JENSEN,
            letters={"f": "the exponential"},
            uses=("strictly",),
            formula="e^{\\frac1L\\sum_i c_i} \\le \\tfrac1L\\sum_i e^{c_i}",
            establishes=(
                "the exponential of a mean is at most the mean of the exponential",
                "the exponential of a mean is the mean of the exponential only for equal arguments",
            ),
        ),
        Inequality(
            name="logarithms",
            says="So $b = \\ln\\bigl(\\tfrac1L\\sum_i e^{c_i}\\bigr)$ is at least the mean $m = \\tfrac1L\\sum_i c_i$, "
            "strictly where the exponentials differ.",
            hypotheses=(),
            conclusion=sp.And(
                sp.Implies(sp.exp(average) <= sp.exp(bound), average <= bound),
                sp.Implies(sp.exp(average) < sp.exp(bound), average < bound),
            ),
            uses=("Jensen",),
            needs=("the exponential of a mean is at most the mean of the exponential",),
            establishes=("log-mean-exp is at least the mean",),
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
            uses=("tangent from the end", "logarithms", "sum of the means"),
            needs=("the softmax average is at least log-mean-exp", "log-mean-exp is at least the mean"),
            establishes=("the energy rate is bounded by the mean token",),
        ),
        Inequality(
            name="equality",
            says="If $\\dot{\\mathcal{E}} = 0$ then $\\bar x = 0$ and for each $l$ all $c_i = x_l^{\\top}Wx_i$ equal "
            "one number $c$; it is their mean $x_l^{\\top}W\\bar x = 0$, so $c_l = x_l^{\\top}Wx_l = 0$; with $c_l "
            "\\ge \\mu N$, $\\mu = \\lambda_{\\min}(\\operatorname{sym} W) > 0$ and $N = |x_l|^2$, this is $x_l = 0$.",
            hypotheses=(sp.Eq(common, 0), sp.Eq(form_l, common), least > 0, square >= 0, form_l >= least * square),
            conclusion=sp.Eq(square, 0),
            uses=("chain",),
            needs=("the exponential of a mean is the mean of the exponential only for equal arguments",),
            establishes=("the energy rate vanishes only at the origin",),
        ),
    )


def energy_steps() -> tuple[Any, ...]:
    """``d/dt of -1/2 sum x^T A x`` and its bound by log-mean-exp and by the mean token; shared with PH-T3."""
    return (
        *_energy_rate(),
        *_bounds(),
    )


def smooth_step() -> Any:
    """The field of the token flow, written out; analytic, so locally Lipschitz."""
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
