"""AB-X1 (extension): central projection turns the hemisphere flow into a linear consensus protocol, with a rate.

For v != 0 with ``h_i = v^T y_i > 0`` put ``w_i = y_i / h_i``.  Then (11) is exactly ``dw_i/dt = sum_j a_ij (w_j - w_i)``
with ``a_ij = (h_j / h_i) sum_h alpha^h_ij > 0``: the hull of the w_i shrinks, exponentially when P is bounded.
New here.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from eigentoken.proofs.abella.contraction import EXPONENTIAL, consensus, exponential
from eigentoken.proofs.abella.half_space import LOWEST, WHILE, kept_positive
from eigentoken.proofs.abella.heads_flow import HeadsFlow, attention_weight, height
from eigentoken.proofs.abella.heights import hemisphere_invariant
from eigentoken.proofs.abella.hemisphere_examples import (
    antipodal_pair_stays,
    end_example,
    freeze_example,
    layer_keeps_the_hull,
    start_example,
    unbounded_freezes,
)
from eigentoken.proofs.abella.shrinking_hulls import HEIGHTS_STAY, shrinking_hulls
from eigentoken.proofs.abella.spread import (
    FLOW_OF_PROJECTIONS,
    LOWEST_RISES,
    NESTED,
    SPREAD,
    flow_of_projections,
    lowest,
    nested,
    spread,
)
from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.steps.calculus_steps import (
    HEAD,
    TOKEN_I,
    TOKEN_J,
    along_flow,
    analytic_step,
    tensor_step,
    token,
)
from eigentoken.proofs.steps.extremes import bound_almost_everywhere
from eigentoken.proofs.steps.textbook import CARATHEODORY, CAUCHY_SCHWARZ
from eigentoken.theory.calculus import (
    SLOT,
    Expression,
    Index,
    dot,
    vector,
)
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Converges, ForwardInvariant
from eigentoken.theory.language.conditions import BoundedInTime, InHemisphere, IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import ConsensusSet, Hemisphere
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Inequality, Step

W, U = matrix("W"), matrix("U")
DISTANCE = "the largest squared distance to w_1"


def _projected(index: Index) -> Expression:
    """``w_i = y_i / h_i``."""
    return token(index) * height(index, -1)


def _solutions(flow: HeadsFlow) -> tuple[Step, ...]:
    """One absolutely continuous solution for each start, for measurable and bounded P."""
    here = vector("y", SLOT)
    weight = attention_weight(flow.score, SLOT)
    return (
        analytic_step(
            "Lipschitz field",
            "Written out, the field is analytic in the tokens (the normalisers are sums of exponentials and have no "
            "zero), with derivatives that are bounded on the compact $\\mathcal{E}_W$ while $P$ is; and it is "
            "measurable in time with $P$.",
            derive=lambda: flow.field,
            claimed=(weight * (token(TOKEN_J) - dot(here, token(TOKEN_J), (flow.metric,)) * here)).summed(
                TOKEN_J, HEAD
            ),
            rules=flow.rules,
            left="\\dot y_i",
            needs=("P is measurable and bounded in time",),
            establishes=("the field is measurable in time and Lipschitz in the state with an integrable bound",),
        ),
        Citation(
            name="measurable P",
            says="So for measurable, bounded $P$ there is one solution for each start, and its coordinates are "
            "absolutely continuous: what follows holds for almost every $t$. Continuity of $P$ is not needed.",
            theorem=CARATHEODORY,
            uses=("Lipschitz field",),
            establishes=("solutions exist, are unique and absolutely continuous",),
        ),
    )


def _projected_flow(flow: HeadsFlow) -> tuple[Step, ...]:
    """The projected tokens follow a linear consensus protocol; how the heights move."""
    projected, weight = _projected(TOKEN_I), attention_weight(flow.score)
    rate = weight * height(TOKEN_J) * height(TOKEN_I, -1)
    return (
        tensor_step(
            "central projection",
            "Let $h_i = v^{\\top}y_i > 0$ and $w_i = y_i/h_i$. Differentiated along the registered flow (11), for "
            "every number of tokens and heads and every dimension: the terms $y_i^{\\top}Wy_j$ cancel, and $\\dot w_i "
            "= \\sum_j a_{ij}(w_j - w_i)$ with $a_{ij} = (h_j/h_i)\\sum_{\\eta}\\alpha^{\\eta}_{ij}$.",
            derive=lambda: along_flow(projected, flow.field, flow.rules),
            claimed=(rate * (_projected(TOKEN_J) - projected)).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot w_i",
            establishes=("the projected tokens follow a linear consensus protocol",),
        ),
        tensor_step(
            "heights",
            "The heights themselves move by $\\dot h_i = \\sum_{\\eta,j}\\alpha^{\\eta}_{ij}(h_j - s_{ij}h_i)$ with "
            "$s_{ij} = y_i^{\\top}Wy_j$.",
            derive=lambda: along_flow(height(TOKEN_I), flow.field, flow.rules),
            claimed=(
                weight * (height(TOKEN_J) - dot(token(TOKEN_I), token(TOKEN_J), (flow.metric,)) * height(TOKEN_I))
            ).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot h_i",
            needs=("solutions exist, are unique and absolutely continuous",),
            establishes=(LOWEST,),
        ),
    )


def _heights_stay() -> tuple[Step, ...]:
    """The lowest height does not fall, so the hemisphere is forward invariant."""
    top = sp.Symbol("H", positive=True)
    low, other, weight_ij = sp.symbols("h_i h_j alpha_ij", real=True)
    s = sp.Symbol("s", real=True)
    n_i, n_j = sp.symbols("n_i n_j", real=True)
    return (
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
            "v^{\\top}y_i \\le H = (v^{\\top}W^{-1}v)^{1/2}$.",
            hypotheses=(s <= n_i * n_j, low <= top * n_i, sp.Eq(n_i, 1), sp.Eq(n_j, 1)),
            conclusion=sp.And(s <= 1, low <= top),
            uses=("Cauchy-Schwarz",),
            needs=("inner products are bounded by the product of the norms",),
            establishes=("products of tokens are at most 1, and heights at most H",),
        ),
        Inequality(
            name="lowest height",
            says="At a lowest token, while it is positive, $0 < h_i \\le h_j$ for all $j$, no summand of $-\\dot h_i = "
            "-\\sum\\alpha_{ij}(h_j - s\\,h_i)$ is positive.",
            hypotheses=(weight_ij > 0, low > 0, low <= other, s <= 1),
            conclusion=-weight_ij * (other - s * low) <= 0,
            uses=("products of tokens", "heights"),
            needs=("products of tokens are at most 1, and heights at most H",),
            establishes=(f"for almost every time, where {WHILE} is attained the derivative is at most zero",),
        ),
        *kept_positive(
            uses=("lowest height",),
            establishes=(HEIGHTS_STAY, "the hemisphere is forward invariant"),
            names=(
                "slope of the lowest height",
                "heights while positive",
                "no first zero",
                "positive for ever",
                "heights stay",
            ),
        ),
    )


def _rates() -> tuple[Step, ...]:
    """The rates of the protocol are at least delta A."""
    h_i, h_j, top, start = sp.symbols("h_i h_j H h_0", positive=True)
    alpha_ij, delta = sp.symbols("alpha_ij delta", positive=True)
    mass = sp.Symbol("A", positive=True)
    return (
        recalled(
            "AB-L4.1",
            "the weights are bounded below",
            "For bounded $P_{\\eta}$ each weight is at least $c_1$, so that $A = h\\,c_1$ bounds their sum over the "
            "heads.",
            "\\alpha^{\\eta}_{ij} \\ge c_1 = \\frac{1}{\\sqrt d\\,\\ell\\,e^{2K^2b}}",
            name="weights",
        ),
        Inequality(
            name="rates",
            says="With $h_0 = \\min_k h_k(0)$ and $\\delta = h_0/H$: $h_j/h_i \\ge \\delta$, so $a_{ij} = "
            "(h_j/h_i)\\sum_{\\eta}\\alpha^{\\eta}_{ij} \\ge \\delta\\, A$ for any lower bound $A$ of the sum of "
            "weights ($A = h\\,c_1$).",
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
    )


def _causal(flow: HeadsFlow) -> tuple[Step, ...]:
    """The same identities with a mask, and the rate for causal attention."""
    projected, masked = _projected(TOKEN_I), attention_weight(flow.score, mask="c")
    rate = masked * height(TOKEN_J) * height(TOKEN_I, -1)
    a, a_ij = sp.symbols("a a_ij", real=True)
    r_i, r_j = sp.symbols("rho_i rho_j", nonnegative=True)
    product = sp.Symbol("x", real=True)
    return (
        tensor_step(
            "causal projection",
            "With a mask ($c_{ij} = 1$ where token $i$ sees token $j$) the identity is the same, with the masked "
            "weights.",
            derive=lambda: along_flow(projected, flow.masked_field, flow.rules),
            claimed=(rate * (_projected(TOKEN_J) - projected)).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot w_i",
        ),
        tensor_step(
            "causal heights",
            "And so is the equation of the heights; what was said of the lowest height asks of the weights only that "
            "they are not negative.",
            derive=lambda: along_flow(height(TOKEN_I), flow.masked_field, flow.rules),
            claimed=(
                masked * (height(TOKEN_J) - dot(token(TOKEN_I), token(TOKEN_J), (flow.metric,)) * height(TOKEN_I))
            ).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot h_i",
        ),
        Inequality(
            name="causal version",
            says="With causal weights token 1 is fixed; let $\\rho_i = |w_i - w_1|$ and $x = (w_j - w_1)^{\\top}(w_i - "
            "w_1) \\le \\rho_j\\rho_i$. At the largest one, $\\rho_j \\le \\rho_i$, each summand of "
            "$\\tfrac12\\tfrac{d}{dt}\\rho_i^2 = \\sum_{j \\le i} a_{ij}(x - \\rho_i^2)$ is at most zero, and the one "
            "with $j = 1$, $x = 0$, is at most $-a\\rho_i^2$, $a = h\\,c_1\\,\\delta$.",
            hypotheses=(a > 0, a_ij >= a, product <= r_j * r_i, r_j <= r_i),
            conclusion=sp.And(a_ij * (product - r_i**2) <= 0, a_ij * (0 - r_i**2) <= -a * r_i**2),
            uses=("causal projection", "causal heights", "rates", "Cauchy-Schwarz"),
            about=("causal-flow",),
            needs=(
                "the rates are at least delta A",
                "inner products are bounded by the product of the norms",
                "solutions exist, are unique and absolutely continuous",
            ),
            establishes=(
                f"{DISTANCE} is the largest of finitely many absolutely continuous functions of time",
                f"for almost every time, where {DISTANCE} is attained the derivative is at most -2a times {DISTANCE}",
            ),
        ),
        *(
            replace(step, about=("causal-flow",))
            for step in bound_almost_everywhere(
                DISTANCE,
                "-2a",
                names=("slope of the causal distance", "causal decay"),
                says=(
                    "For $\\max_i\\rho_i^2$:",
                    "So the largest distance to the first projected token decays exponentially, at the rate $a$.",
                ),
                formulas=(
                    "\\tfrac{d}{dt}\\max_i\\rho_i^2 \\le -2a\\max_i\\rho_i^2 \\quad\\text{for almost every } t",
                    "\\max_i|w_i(t) - w_1|^2 \\le e^{-2at}\\max_i|w_i(0) - w_1|^2, \\qquad a = h\\,c_1\\,\\delta",
                ),
                uses=("causal version",),
            )
        ),
    )


def _one_layer() -> tuple[Step, ...]:
    """One layer with any step keeps the heights positive and does not enlarge the hull."""
    h_i = sp.Symbol("h_i", positive=True)
    big, small = sp.symbols("M m", real=True)
    q_i, q_sum, weights_sum = sp.symbols("q_i Q T", real=True)
    return (
        Inequality(
            name="discrete version",
            says="One layer (6) with $U = I$ and any step $\\tau > 0$ moves $y_i$ to a positive multiple of $y_i + "
            "\\tau\\sum_{j,\\eta}\\alpha^{\\eta}_{ij}y_j$. Its height is the same multiple of $h_i + T$, $T = "
            "\\tau\\sum\\alpha^{\\eta}_{ij}h_j > 0$, and in the projection the multiple cancels: in a direction $q$, "
            "$q^{\\top}w_i^{+} = (h_iq_i + Q)/(h_i + T)$ with $q_i = q^{\\top}w_i$ and $Q = "
            "\\tau\\sum\\alpha^{\\eta}_{ij}h_jq_j$. With all $q_j \\in [m, M]$, $mT \\le Q \\le MT$ summand by "
            "summand, and the new projection is in $[m, M]$ again: heights stay positive and the hull of the $w_i$ "
            "does not grow.",
            hypotheses=(
                weights_sum > 0,
                small <= q_i,
                q_i <= big,
                small * weights_sum <= q_sum,
                q_sum <= big * weights_sum,
            ),
            conclusion=sp.And(
                h_i + weights_sum > 0,
                small <= (h_i * q_i + q_sum) / (h_i + weights_sum),
                (h_i * q_i + q_sum) / (h_i + weights_sum) <= big,
            ),
        ),
    )


def derive() -> Derivation:
    """The identity from the registered system, then extremal heights and extremal projections."""
    flow = HeadsFlow()
    return Derivation(
        (
            *_solutions(flow),
            *_projected_flow(flow),
            *_heights_stay(),
            *_rates(),
            *shrinking_hulls(),
            *_causal(flow),
            *_one_layer(),
        )
    )


def proof(kernel: Kernel) -> Proved:
    """The flow of the projections, the lowest height, first exit, the spread in a direction, and the widest pair."""
    return kernel.conjunction(
        flow_of_projections(kernel),
        lowest(kernel),
        hemisphere_invariant(kernel),
        nested(kernel),
        spread(kernel),
        consensus(kernel),
        exponential(kernel),
    )


AB_X1 = register(
    Statement(
        id="AB-X1",
        kind=Kind.EXTENSION,
        source=Source(HERE, "proof of Theorem 4.1 with a rate"),
        title="Exponential consensus from an open hemisphere",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W), IsIdentity(U), BoundedInTime("P"), InHemisphere()),
        claims=(
            Formula(FLOW_OF_PROJECTIONS),
            Formula(LOWEST_RISES),
            ForwardInvariant(Hemisphere()),
            Formula(NESTED),
            Formula(SPREAD),
            Converges(ConsensusSet()),
            Formula(EXPONENTIAL),
        ),
        depends=("AB-L4.1", "AB-E7"),
        facts=(
            "the metric is symmetric and positive definite",
            "P is measurable and bounded in time",
        ),
        derive=derive,
        proof=proof,
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
        property_tests=(layer_keeps_the_hull,),
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


def with_a_mask(kernel: Kernel) -> Proved:
    """First exit, and the widest pair; under a causal mask the first token, which all see, draws it together."""
    return kernel.conjunction(hemisphere_invariant(kernel), consensus(kernel))


#: What is said in words, which holds with a causal mask, too.
AB_X1C = register(
    replace(
        AB_X1,
        id="AB-X1c",
        title="Consensus from an open hemisphere, with a causal mask",
        covers=Covers(masks=("causal",)),
        claims=(ForwardInvariant(Hemisphere()), Converges(ConsensusSet())),
        proof=with_a_mask,
        vectors=(),
        property_tests=(),
        variants=(),
    )
)
