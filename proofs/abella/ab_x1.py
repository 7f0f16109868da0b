"""AB-X1 (extension): central projection turns the hemisphere flow into a linear consensus protocol, with a rate.

For v != 0 with ``h_i = v^T y_i > 0`` put ``w_i = y_i / h_i``.  Then (11) is exactly ``dw_i/dt = sum_j a_ij (w_j - w_i)``
with ``a_ij = (h_j / h_i) sum_h alpha^h_ij > 0``: the hull of the w_i shrinks, exponentially when P is bounded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.central_projection import limit_of_tokens
from eigentoken.proofs.abella.half_space import LOWEST
from eigentoken.proofs.abella.hemisphere_examples import (
    antipodal_pair_stays,
    end_example,
    freeze_example,
    start_example,
    unbounded_freezes,
)
from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.extremes import bound_by_slope
from eigentoken.proofs.textbook import CANTOR, CARATHEODORY, CAUCHY_SCHWARZ
from eigentoken.proofs.textbook_flows import EXPONENTIAL_DECAY, SUPPORT_FUNCTIONS
from eigentoken.theory.claims import Converges, ForwardInvariant
from eigentoken.theory.conditions import BoundedInTime, InHemisphere, PositiveDefinite, Symmetric
from eigentoken.theory.layer_systems import Covers
from eigentoken.theory.points import ConsensusSet, Hemisphere
from eigentoken.theory.recall import recalled
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.terms import ell, matrix
from eigentoken.theory.words_flows import IsIdentity

W, U = matrix("W"), matrix("U")
HEIGHTS_STAY = "minus the lowest height does not increase"
SPREAD = "the spread at time t is at most exp(-kappa t) times the spread at the start"
DISTANCE = "the largest squared distance to w_1"


def derive() -> Derivation:
    """The identity from the registered system, then extremal heights and extremal projections."""
    from eigentoken.proofs.calculus_steps import HEAD, TOKEN_I, TOKEN_J, along_flow, field_of, tensor_step, token
    from eigentoken.theory.calculus import DIMENSION, Assumptions, Base, Letter, Mask, dot, exponential, factor
    from eigentoken.theory.calculus.atoms import Dot
    from eigentoken.theory.calculus.expressions import row_sum

    metric, score = Letter("W"), Letter("P", False, (HEAD,))
    rules = Assumptions(symmetric=frozenset({"W"}), unit={"y": (metric,)})
    field = field_of("ellipsoid-multihead-flow", {"heads": [{"U": None, "P": score}], "W": metric}, rules)

    def height(index: Any, power: int = 1) -> Any:
        return factor(Dot(Base("v"), (), Base("y", (index,))), power)

    projected = token(TOKEN_I) * height(TOKEN_I, -1)
    pair = dot(token(TOKEN_I), token(TOKEN_J), (score,))
    weight = exponential(pair) * factor(row_sum(pair, TOKEN_J), -1) / sp.sqrt(DIMENSION)
    rate = weight * height(TOKEN_J) * height(TOKEN_I, -1)
    difference = token(TOKEN_J) * height(TOKEN_J, -1) - projected
    claimed = (rate * difference).summed(TOKEN_J, HEAD)

    mask = Mask("c", TOKEN_I, TOKEN_J)
    masked = factor(mask) * exponential(pair) * factor(row_sum(pair, TOKEN_J, (mask,)), -1) / sp.sqrt(DIMENSION)
    masked_field = field_of(
        "ellipsoid-multihead-flow", {"heads": [{"U": None, "P": score}], "W": metric}, rules, mask="c"
    )

    h_i, h_j, top, start = sp.symbols("h_i h_j H h_0", positive=True)
    low, other, weight_ij = sp.symbols("h_i h_j alpha_ij", real=True)
    s, a, a_ij, u, big, small = sp.symbols("s a a_ij u M m", real=True)
    alpha_ij, c_1, delta, root, heads, e2 = sp.symbols("alpha_ij c_1 delta r eta E", positive=True)
    r_i, r_j = sp.symbols("rho_i rho_j", nonnegative=True)
    n_i, n_j, b_ij, product, spread = sp.symbols("n_i n_j b_ij x S_0", real=True)
    height_now, first_height = sp.symbols("h h_0", real=True)
    w_i, w_j, tau = sp.symbols("w_i w_j tau", positive=True)
    mass = sp.Symbol("A", positive=True)
    kappa, diameter, first, time = sp.symbols("kappa D D_0 t", real=True)
    return Derivation(
        (
            tensor_step(
                "central projection",
                "Let $h_i = v^{\\top}y_i > 0$ and $w_i = y_i/h_i$. Differentiated along the registered flow (11), for "
                "every number of "
                "tokens and heads and every dimension: the terms $y_i^{\\top}Wy_j$ cancel, and "
                "$\\dot w_i = \\sum_j a_{ij}(w_j - w_i)$ with $a_{ij} = (h_j/h_i)\\sum_{\\eta}\\alpha^{\\eta}_{ij}$.",
                derive=lambda: along_flow(projected, field, rules),
                claimed=claimed,
                rules=rules,
                left="\\dot w_i",
                establishes=("the projected tokens follow a linear consensus protocol",),
            ),
            tensor_step(
                "heights",
                "The heights themselves move by $\\dot h_i = \\sum_{\\eta,j}\\alpha^{\\eta}_{ij}(h_j - s_{ij}h_i)$ "
                "with $s_{ij} = y_i^{\\top}Wy_j$.",
                derive=lambda: along_flow(height(TOKEN_I), field, rules),
                claimed=(
                    weight * (height(TOKEN_J) - dot(token(TOKEN_I), token(TOKEN_J), (metric,)) * height(TOKEN_I))
                ).summed(TOKEN_J, HEAD),
                rules=rules,
                left="\\dot h_i",
                establishes=(LOWEST,),
            ),
            Citation(
                name="Cauchy-Schwarz",
                says="In the metric $W$, where $v^{\\top}y$ is the product of $W^{-1}v$ and $y$:",
                theorem=CAUCHY_SCHWARZ,
                formula="y_i^{\\top}Wy_j \\le |y_i|_W|y_j|_W, \\qquad v^{\\top}y \\le (v^{\\top}W^{-1}v)^{1/2}|y|_W",
                establishes=("inner products are bounded by the product of the norms",),
            ),
            Inequality(
                name="products of tokens",
                says="On $\\mathcal{E}_W$ the norms $n_i = |y_i|_W$ are one: $s = y_i^{\\top}Wy_j \\le 1$, and $h = "
                "v^{\\top}y_i "
                "\\le H = (v^{\\top}W^{-1}v)^{1/2}$.",
                hypotheses=(s <= n_i * n_j, low <= top * n_i, sp.Eq(n_i, 1), sp.Eq(n_j, 1)),
                conclusion=sp.And(s <= 1, low <= top),
                uses=("Cauchy-Schwarz",),
                needs=("inner products are bounded by the product of the norms",),
                establishes=("products of tokens are at most 1, and heights at most H",),
            ),
            Inequality(
                name="lowest height",
                says="At a lowest token, $0 < h_i \\le h_j$ for all $j$, no summand of $-\\dot h_i = "
                "-\\sum\\alpha_{ij}(h_j - "
                "s\\,h_i)$ is positive.",
                hypotheses=(weight_ij > 0, low > 0, low <= other, s <= 1),
                conclusion=-weight_ij * (other - s * low) <= 0,
                uses=("products of tokens", "heights"),
                needs=("products of tokens are at most 1, and heights at most H",),
                establishes=("where minus the lowest height is attained the derivative is at most zero",),
            ),
            Inequality(
                name="interior of a closed hemisphere",
                says="At $h_i = 0$ with one $h_j > 0$ the height grows: a closed hemisphere with an interior token is "
                "left at once "
                "for the open one.",
                hypotheses=(weight_ij > 0, other > 0, sp.Eq(low, 0)),
                conclusion=weight_ij * (other - s * low) > 0,
            ),
            *bound_by_slope(
                "minus the lowest height",
                names=("slope of the lowest height", "heights stay"),
                says=("For $-\\min_i h_i = \\max_i(-h_i)$:", "So the lowest height does not decrease."),
                formulas=("D^+\\bigl(-\\min_i h_i\\bigr) \\le 0", "\\min_i h_i(t) \\ge \\min_i h_i(0)"),
                uses=("lowest height",),
            ),
            Inequality(
                name="invariance",
                says="So a positive lowest height $h_0$ at the start is followed by positive ones $h$: the hemisphere "
                "is "
                "forward invariant.",
                hypotheses=(-height_now <= -first_height, first_height > 0),
                conclusion=height_now > 0,
                uses=("heights stay",),
                needs=(HEIGHTS_STAY,),
                establishes=("the hemisphere is forward invariant",),
            ),
            recalled(
                "AB-L4.1",
                "the weights are bounded below",
                "For bounded $P_{\\eta}$ each weight is at least $c_1$, so that $A = h\\,c_1$ bounds their sum "
                "over the heads.",
                "\\alpha^{\\eta}_{ij} \\ge c_1 = \\frac{1}{\\sqrt d\\,\\ell\\,e^{2K^2b}}",
                name="weights",
            ),
            Inequality(
                name="rates",
                says="With $h_0 = \\min_k h_k(0)$ and $\\delta = h_0/H$: $h_j/h_i \\ge \\delta$, so "
                "$a_{ij} = (h_j/h_i)\\sum_{\\eta}\\alpha^{\\eta}_{ij} \\ge \\delta\\, A$ for any lower bound $A$ of "
                "the sum of weights "
                "($A = h\\,c_1$).",
                hypotheses=(h_j >= start, h_i <= top, sp.Eq(delta, start / top), alpha_ij >= mass),
                conclusion=h_j / h_i * alpha_ij >= delta * mass,
                uses=("heights stay", "products of tokens", "weights"),
                needs=(
                    HEIGHTS_STAY,
                    "products of tokens are at most 1, and heights at most H",
                    "the weights are bounded below",
                ),
                establishes=("the rates are at least delta A",),
            ),
            Inequality(
                name="largest projection",
                says="Let $M = \\max_i q^{\\top}w_i$ and $m = \\min_i q^{\\top}w_i$ for a unit vector $q$, $u = "
                "q^{\\top}w_j \\in [m, M]$, and $a \\le a_{ij}$. At the maximiser each summand is at most $a(u - M)$, "
                "at the "
                "minimiser at least $a(u - m)$: for each $j$ the slope of the spread, the largest difference $M - m$ "
                "of two "
                "projections, is at most $-a(M - m)$.",
                hypotheses=(a > 0, a_ij >= a, b_ij >= a, small <= u, u <= big),
                conclusion=sp.And(
                    a_ij * (u - big) <= a * (u - big),
                    b_ij * (u - small) >= a * (u - small),
                    sp.Eq(a * (u - big) - a * (u - small), -a * (big - small)),
                ),
                uses=("central projection", "rates"),
                needs=("the projected tokens follow a linear consensus protocol", "the rates are at least delta A"),
                establishes=(
                    "the spread is the largest of finitely many differentiable functions of time",
                    "each token gives the slope of the spread at most -a times the spread",
                ),
            ),
            Identity(
                name="the rate",
                says="Summed over $\\ell$ tokens with $a = h\\,c_1\\,\\delta$ and $c_1 = 1/(r\\,\\ell\\,E)$, $E = "
                "e^{2K^2b}$, $r = \\sqrt d$, "
                "the spread $M - m$ decays at the rate $\\kappa = a\\,\\ell$ (here $\\eta$ is the number of heads):",
                left=a * ell,
                right=heads * delta / (root * e2),
                where={a: heads * c_1 * delta, c_1: 1 / (root * ell * e2)},
                uses=("largest projection",),
                needs=("each token gives the slope of the spread at most -a times the spread",),
                establishes=("where the spread is attained the derivative is at most -kappa times the spread",),
            ),
            *bound_by_slope(
                "the spread",
                "-kappa",
                names=("slope of the spread", "exponential decay"),
                says=(
                    "For the largest difference of two projections, in every direction $q$:",
                    "So the spread decays exponentially, in every direction $q$.",
                ),
                formulas=(
                    "D^+(M - m) \\le -\\kappa\\,(M - m)",
                    "(M - m)(t) \\le e^{-\\kappa t}\\,(M - m)(0), \\qquad "
                    "\\kappa = \\frac{h\\,\\delta\\,e^{-2K^2b}}{\\sqrt d}",
                ),
                uses=("largest projection", "the rate"),
            ),
            Inequality(
                name="support functions",
                says="In every direction $q$ the largest projection $M$ is the support function of the convex hull of "
                "the "
                "$w_i$. At the maximiser no summand $a_{ij}(u - M)$ is positive, $u = q^{\\top}w_j \\le M$.",
                hypotheses=(a_ij > 0, u <= big),
                conclusion=a_ij * (u - big) <= 0,
                uses=("central projection", "heights stay"),
                needs=("the projected tokens follow a linear consensus protocol", HEIGHTS_STAY),
                establishes=(
                    "the hulls are convex hulls of finitely many points",
                    "the support function of the hulls is the largest of finitely many differentiable functions of "
                    "time",
                    "where the support function of the hulls is attained the derivative is at most zero",
                ),
            ),
            *bound_by_slope(
                "the support function of the hulls",
                names=("slope of the support functions", "support functions fall"),
                says=("For $M = \\max_i q^{\\top}w_i$:", "So no support function increases."),
                formulas=("D^+\\max_i q^{\\top}w_i \\le 0", ""),
                uses=("support functions",),
            ),
            Citation(
                name="nested hulls",
                says="So the convex hulls of the $w_i(t)$ are nested decreasing.",
                theorem=SUPPORT_FUNCTIONS,
                letters={"K": "the hulls"},
                uses=("support functions", "support functions fall"),
                formula="\\operatorname{conv}\\{w_i(t)\\} \\subseteq \\operatorname{conv}\\{w_i(s)\\}, \\qquad t "
                "\\ge s",
                establishes=("the hulls are nested compact sets",),
            ),
            Inequality(
                name="positive rate",
                says="The diameter $D$ of the hull is its spread in some direction, and the spread $S_0$ at the start "
                "in this "
                "direction is at most the first diameter $D_0$. So $D$ lies between zero and $D_0e^{-\\kappa t}$, "
                "$\\kappa > "
                "0$.",
                hypotheses=(
                    sp.Eq(kappa, heads * delta / (root * e2)),
                    diameter >= 0,
                    diameter <= spread * sp.exp(-kappa * time),
                    spread <= first,
                ),
                conclusion=sp.And(kappa > 0, diameter >= 0, diameter <= first * sp.exp(-kappa * time)),
                uses=("exponential decay",),
                needs=(SPREAD,),
                establishes=("the diameter of the hulls lies between zero and a decaying exponential of time",),
            ),
            Citation(
                name="diameters",
                says="So the diameters tend to zero.",
                theorem=EXPONENTIAL_DECAY,
                letters={"q": "the diameter of the hulls"},
                uses=("positive rate",),
                formula="\\operatorname{diam} w(t) \\to 0",
                establishes=("the diameter of the hulls tends to zero",),
            ),
            Citation(
                name="one limit",
                says="All $w_i$ tend to one point $w^*$ of the initial hull.",
                theorem=CANTOR,
                letters={"K": "the hulls"},
                uses=("nested hulls", "diameters"),
                formula="\\operatorname{conv}\\{w_i(t)\\} \\to \\{w^*\\}",
                establishes=("the hulls shrink to one point",),
            ),
            *limit_of_tokens(
                "because $h = 1/|w|_W \\le H$",
                "All tokens $y_i = \\pi_W(w_i)$ tend to one point of the cone that they span at the start.",
                uses=("one limit", "products of tokens"),
                needs=("the hulls shrink to one point", "products of tokens are at most 1, and heights at most H"),
                establishes="all tokens tend to one point",
            ),
            Citation(
                name="measurable P",
                says="Nothing here differentiates $P$: for measurable, bounded $P$ the solutions are absolutely "
                "continuous and the "
                "inequalities hold for almost every $t$. Uniform continuity is not needed.",
                theorem=CARATHEODORY,
                establishes=("solutions exist, are unique and absolutely continuous",),
            ),
            tensor_step(
                "causal projection",
                "With a mask ($c_{ij} = 1$ where token $i$ sees token $j$) the identity is the same, with the "
                "masked weights.",
                derive=lambda: along_flow(projected, masked_field, rules),
                claimed=(masked * height(TOKEN_J) * height(TOKEN_I, -1) * difference).summed(TOKEN_J, HEAD),
                rules=rules,
                left="\\dot w_i",
            ),
            Inequality(
                name="causal version",
                says="With causal weights token 1 is fixed; let $\\rho_i = |w_i - w_1|$ and $x = (w_j - "
                "w_1)^{\\top}(w_i - w_1) "
                "\\le \\rho_j\\rho_i$. At the largest one, $\\rho_j \\le \\rho_i$, each summand of "
                "$\\tfrac12\\tfrac{d}{dt}\\rho_i^2 = \\sum_{j \\le i} a_{ij}(x - \\rho_i^2)$ is at most zero, and the "
                "one with "
                "$j = 1$, $x = 0$, is at most $-a\\rho_i^2$, $a = h\\,c_1\\,\\delta$.",
                hypotheses=(a > 0, a_ij >= a, product <= r_j * r_i, r_j <= r_i),
                conclusion=sp.And(a_ij * (product - r_i**2) <= 0, a_ij * (0 - r_i**2) <= -a * r_i**2),
                uses=("causal projection", "rates", "Cauchy-Schwarz"),
                about=("causal-flow",),
                needs=("the rates are at least delta A", "inner products are bounded by the product of the norms"),
                establishes=(
                    f"{DISTANCE} is the largest of finitely many differentiable functions of time",
                    f"where {DISTANCE} is attained the derivative is at most -2a times {DISTANCE}",
                ),
            ),
            *(
                replace(step, about=("causal-flow",))
                for step in bound_by_slope(
                    DISTANCE,
                    "-2a",
                    names=("slope of the causal distance", "causal decay"),
                    says=(
                        "For $\\max_i\\rho_i^2$:",
                        "So the largest distance to the first projected token decays exponentially, at the rate $a$.",
                    ),
                    formulas=(
                        "D^+\\max_i\\rho_i^2 \\le -2a\\max_i\\rho_i^2",
                        "\\max_i|w_i(t) - w_1|^2 \\le e^{-2at}\\max_i|w_i(0) - w_1|^2, \\qquad a = h\\,c_1\\,\\delta",
                    ),
                    uses=("causal version",),
                )
            ),
            Identity(
                name="discrete version",
                says="One layer (6) with $U = I$ and any step $\\tau > 0$ moves $y_i$ to a multiple of $y_i + "
                "\\tau\\sum_j A_{ij}y_j$; in the "
                "projection the factors of normalisation cancel and $w_i^{+}$ is a mean of $w_i$ and the $w_j$ with "
                "positive "
                "weights that sum to one (written for one $j$, weight $A$).",
                left=(h_i * w_i + tau * mass * h_j * w_j) / (h_i + tau * mass * h_j),
                right=w_i + (tau * mass * h_j / (h_i + tau * mass * h_j)) * (w_j - w_i),
            ),
        )
    )


AB_X1 = register(
    Statement(
        id="AB-X1",
        kind=Kind.EXTENSION,
        source=Source(HERE, "proof of Theorem 4.1 with a rate"),
        title="Exponential consensus from an open hemisphere",
        systems=("ellipsoid-multihead-flow",),
        covers=Covers(masks=("causal",)),
        conditions=(Symmetric(W), PositiveDefinite(W), IsIdentity(U), BoundedInTime("P"), InHemisphere()),
        claims=(ForwardInvariant(Hemisphere()), Converges(ConsensusSet())),
        text="With $h_i = v^{\\top}y_i > 0$ and $w_i = y_i/h_i$, model (11) is exactly $\\dot w_i = \\sum_j "
        "a_{ij}(w_j - w_i)$, "
        "$a_{ij} = (h_j/h_i)\\sum_{\\eta}\\alpha^{\\eta}_{ij} > 0$. The hull of the $w_i$ is nested decreasing, "
        "$\\min_i h_i$ does not "
        "decrease, and $\\operatorname{diam} w(t) \\le e^{-\\kappa t}\\operatorname{diam} w(0)$ with "
        "$\\kappa = h\\,\\delta\\,e^{-2K^2b}/\\sqrt d$, $\\delta = \\min_i h_i(0)/(v^{\\top}W^{-1}v)^{1/2}$. All "
        "tokens converge to one point "
        "of the initial cone. $P_{\\eta}$ need only be measurable and bounded. Causal attention: "
        "$\\max_i|w_i - w_1|$ decays at the rate $h\\,\\delta\\,e^{-2K^2b}/(\\sqrt d\\,\\ell)$. The layer (6) with $U "
        "= I$ has the same "
        "invariance and contraction for every step size.",
        depends=("AB-L4.1", "AB-E7"),
        facts=(
            "the metric is symmetric and positive definite",
            "the field is measurable in time and Lipschitz in the state with an integrable bound",
        ),
        derive=derive,
        claimed_by=(("invariance",), ("limit of the tokens",)),
        told_by=("interior of a closed hemisphere", "measurable P", "causal decay", "discrete version"),
        vectors=(
            Vector(
                "min h(0), diam w(0), kappa, slopes of the heights",
                start_example,
                (
                    "0.035562778881411",
                    "23.394292910029",
                    "0.001564793946187",
                    "-0.036597668078619",
                    "0.024983898945856",
                    "0.049643465623192",
                    "0.061446198938114",
                ),
            ),
            Vector("min h(5), diam w(5)", end_example, ("0.142874847983170", "0.663573334532")),
            Vector("frozen gaps, full and causal, P = e^{2t} I", freeze_example, ("0.661280748999", "0.853172650248")),
        ),
        variants=(
            Variant(
                'BoundedInTime("P")',
                "On the circle with $P(t) = e^{2t}I$ and two tokens at angle 1 the gap freezes near $0.66128$.",
                unbounded_freezes,
            ),
            Variant("InHemisphere()", "An antipodal pair on the circle, $P = 0$, does not move.", antipodal_pair_stays),
        ),
    )
)
