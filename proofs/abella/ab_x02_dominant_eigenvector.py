"""AB-X2 (extension): full or causal attention with a general value matrix whose top eigenvalue dominates in modulus.

``u^T U = lambda u^T``, ``U v = lambda v``, ``u^T v > 0``: in the central projection ``w_i = y_i / u^T y_i`` the flow is exactly
``dw_i/dt = sum_j a_ij (U w_j - lambda w_i)``, and all tokens converge to ``v / |v|_W``.  No bound on P is needed.  Several heads
are carried by the same steps where they share u, v and one norm.
New here.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from eigentoken.proofs.abella.central_projection import limit_of_tokens
from eigentoken.proofs.abella.dominant import left_hemisphere_invariant
from eigentoken.proofs.abella.dominant_decay import dominant_consensus
from eigentoken.proofs.abella.dominant_examples import (
    heads_that_cancel,
    identity_on_instances,
    modulus_needed,
    threshold,
)
from eigentoken.proofs.abella.half_space import LOWEST, half_space_steps
from eigentoken.proofs.abella.heads_flow import HeadsFlow, attention_weight, height
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
from eigentoken.proofs.steps.tensor_reductions import applied
from eigentoken.proofs.steps.textbook import ADAPTED_NORM, CARATHEODORY_BOUNDED, CAUCHY_SCHWARZ
from eigentoken.proofs.steps.textbook_flows import EXPONENTIAL_DECAY
from eigentoken.theory.calculus import (
    SLOT,
    Base,
    Expression,
    Index,
    Letter,
    dot,
    factor,
    vector,
)
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Converges, ForwardInvariant
from eigentoken.theory.language.conditions import (
    InHemisphere,
    NonPrincipalModulusBelow,
    Relation,
    ShareDominantPair,
)
from eigentoken.theory.language.places import ConsensusAt, Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, matrix
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

V = matrix("V")
LARGEST = "the largest squared deviation"
#: the value matrix of a head
VALUE = Letter("U", False, (HEAD,))


def _height(index: Index, power: int = 1) -> Expression:
    """``h_i = u^T y_i``."""
    return height(index, power, against="u")


def _moved() -> Expression:
    """``u^T U y_j``."""
    return factor(Dot(Base("u"), (VALUE,), Base("y", (TOKEN_J,))))


def _projected() -> Expression:
    """``w_i = y_i / h_i``."""
    return token(TOKEN_I) * _height(TOKEN_I, -1)


def _difference() -> Expression:
    """``(U y_j - (u^T U y_j) w_i) / h_i``."""
    return (token(TOKEN_J).applied((VALUE,)) - _moved() * _projected()) * _height(TOKEN_I, -1)


def _solutions(flow: HeadsFlow) -> tuple[Step, ...]:
    """Absolutely continuous solutions, for measurable and bounded P."""
    here = vector("y", SLOT)
    return (
        analytic_step(
            "bounded field",
            "Written out, at each time the field is analytic in the tokens, and it is measurable in time with $P$. The "
            "weights are at most one and the tokens lie on the compact $\\mathcal{E}_W$: it is bounded, whatever $P$ "
            "is.",
            derive=lambda: flow.field,
            claimed=(
                attention_weight(flow.score, SLOT)
                * (token(TOKEN_J).applied((VALUE,)) - dot(here, token(TOKEN_J), (flow.metric, VALUE)) * here)
            ).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot y_i",
            needs=("P is measurable in time",),
            establishes=("the field is measurable in time, continuous in the state and bounded",),
        ),
        Citation(
            name="measurable P",
            says="So solutions exist, and are absolutely continuous; what follows holds for each of them. (They are "
            "unique where $P$ is locally integrable; this is not used.)",
            theorem=CARATHEODORY_BOUNDED,
            uses=("bounded field",),
            establishes=("solutions exist and are absolutely continuous",),
        ),
    )


def _projected_flow(flow: HeadsFlow) -> tuple[Step, ...]:
    """The projected flow, the heights, and the deviation of a projected token from v."""
    lam = sp.Symbol("lambda", real=True)
    weight = attention_weight(flow.score)
    Uw_j, w_i, Ur_j, r, v = sp.symbols("Uw_j w_i Ur_j r_i v", real=True)
    h_i, h_j = sp.symbols("h_i h_j", positive=True)
    Uy_j, uUy_j = sp.symbols("Uy_j g_j", real=True)
    return (
        tensor_step(
            "projected flow",
            "Let $h_i = u^{\\top}y_i > 0$ and $w_i = y_i/h_i$. Differentiated along the registered flow, for every "
            "number of tokens and heads and every dimension:",
            derive=lambda: along_flow(_projected(), flow.field, flow.rules),
            claimed=(weight * _difference()).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot w_i",
        ),
        Identity(
            name="one summand",
            says="Each head has $u^{\\top}U_{\\eta} = \\lambda_{\\eta}u^{\\top}$. With $y_j = h_jw_j$ (coordinatewise; "
            "$Uy_j$ is $h_j\\,Uw_j$, and $g_j = u^{\\top}Uy_j$ is $\\lambda h_j$) the summand of $(\\eta, j)$, "
            "without its weight, is $h_j/h_i$ times $Uw_j - \\lambda w_i$: $\\dot w_i = "
            "\\sum_{\\eta,j}a^{\\eta}_{ij}(U_{\\eta}w_j - \\lambda_{\\eta}w_i)$, $a^{\\eta}_{ij} = "
            "\\alpha^{\\eta}_{ij}h_j/h_i$.",
            left=(Uy_j - uUy_j * w_i) / h_i,
            right=h_j / h_i * (Uw_j - lam * w_i),
            where={Uy_j: h_j * Uw_j, uUy_j: lam * h_j},
            uses=("projected flow",),
            establishes=("the projected tokens follow a linear protocol",),
        ),
        tensor_step(
            "heights",
            "The heights move by the following, where $u^{\\top}U_{\\eta}y_j = \\lambda_{\\eta}h_j$: $\\dot h_i = "
            "\\sum_{\\eta,j}\\alpha^{\\eta}_{ij}(\\lambda_{\\eta}h_j - s_{ij}h_i)$, $s_{ij} = "
            "y_i^{\\top}WU_{\\eta}y_j$.",
            derive=lambda: along_flow(_height(TOKEN_I), flow.field, flow.rules),
            claimed=(
                weight * (_moved() - dot(token(TOKEN_I), token(TOKEN_J), (flow.metric, VALUE)) * _height(TOKEN_I))
            ).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot h_i",
            needs=("solutions exist and are absolutely continuous",),
            establishes=(LOWEST,),
        ),
        Identity(
            name="deviation",
            says="With $w_i = v/(u^{\\top}v) + r_i$ (scaled to $u^{\\top}v = 1$) and $Uv = \\lambda v$ the constant "
            "part drops, and $r_i \\in u^{\\perp}$ follows the same protocol.",
            left=Uw_j - lam * w_i,
            right=Ur_j - lam * r,
            where={Uw_j: lam * v + Ur_j, w_i: v + r},
            uses=("one summand",),
        ),
        applied(
            "the deviations stay in the plane",
            "Apply $u^{\\top}$: $u^{\\top}w_i = 1$ for all $i$, and $Uw_j - \\lambda w_i \\mapsto 0$.",
            Uw_j - lam * w_i,
            {Uw_j: lam, w_i: sp.Integer(1)},
            sp.Integer(0),
            by="u^{\\top}",
            uses=("one summand",),
        ),
    )


def _half_space() -> tuple[Step, ...]:
    """The heights stay positive; a norm in which U contracts the deviations."""
    return (
        *half_space_steps("u^{\\top}y_i", uses=("heights",), establishes="the heights keep their sign"),
        Citation(
            name="adapted norm",
            says="The spectral radius of $U|_{u^{\\perp}}$ is below $\\lambda$, so some Euclidean norm $|\\cdot|_*$ on "
            "$u^{\\perp}$ has $|Ur|_* \\le \\rho\\,|r|_*$ with $\\rho < \\lambda$. (For several heads one such norm "
            "with $|U_{\\eta}r|_* \\le \\rho_{\\eta}|r|_*$, $\\rho_{\\eta} < \\lambda_{\\eta}$, is a hypothesis, and "
            "$\\lambda - \\rho$ below is the smallest $\\lambda_{\\eta} - \\rho_{\\eta}$.)",
            theorem=ADAPTED_NORM,
            letters={"A": "U on u^perp", "bound": "lambda"},
            formula="|Ur|_* \\le \\rho\\,|r|_*, \\qquad \\rho < \\lambda",
            establishes=("some Euclidean norm has an operator norm of U on u^perp below lambda",),
        ),
    )


def _deviations_shrink() -> tuple[Step, ...]:
    """At the largest deviation its slope is not positive."""
    lam = sp.Symbol("lambda", real=True)
    a, rho, r_i, r_j, image = sp.symbols("a_ij rho R_i R_j N", real=True)
    product = sp.Symbol("x", real=True)
    return (
        Citation(
            name="Cauchy-Schwarz",
            says="In this norm, and in that of $W$:",
            theorem=CAUCHY_SCHWARZ,
            formula="\\langle Ur_j, r_i\\rangle_* \\le |Ur_j|_*\\,|r_i|_*, \\qquad u^{\\top}w \\le "
            "(u^{\\top}W^{-1}u)^{1/2}\\,|w|_W",
            establishes=("inner products are bounded by the product of the norms",),
        ),
        Inequality(
            name="contraction",
            says="At the token with the largest $R_i = |r_i|_*$ ($R_j \\le R_i$, $x = \\langle Ur_j, r_i\\rangle_* "
            "\\le NR_i$, $N = |Ur_j|_* \\le \\rho R_j$) each summand of $\\tfrac12\\tfrac{d}{dt}R_i^2 = \\sum_j "
            "a_{ij}(x - \\lambda R_i^2)$ is at most $-a_{ij}(\\lambda - \\rho)R_i^2$, which is not positive.",
            hypotheses=(
                a >= 0,
                rho >= 0,
                rho < lam,
                r_j >= 0,
                r_j <= r_i,
                image <= rho * r_j,
                product <= image * r_i,
            ),
            conclusion=sp.And(
                a * (product - lam * r_i**2) <= -a * (lam - rho) * r_i**2, -a * (lam - rho) * r_i**2 <= 0
            ),
            uses=("deviation", "the deviations stay in the plane", "adapted norm", "Cauchy-Schwarz"),
            needs=(
                "the heights keep their sign",
                "the projected tokens follow a linear protocol",
                "solutions exist and are absolutely continuous",
                "some Euclidean norm has an operator norm of U on u^perp below lambda",
                "inner products are bounded by the product of the norms",
            ),
            establishes=(
                f"{LARGEST} is the largest of finitely many absolutely continuous functions of time",
                f"for almost every time, where {LARGEST} is attained the derivative is at most zero",
            ),
        ),
        *bound_almost_everywhere(
            LARGEST,
            names=("slope of the deviations", "bounded deviations"),
            says=("For $\\max_i R_i^2$:", "So the deviations stay bounded."),
            formulas=(
                "\\tfrac{d}{dt}\\max_i R_i^2 \\le 0 \\quad\\text{for almost every } t",
                "R_i(t) \\le R_0 := \\max_k R_k(0)",
            ),
            uses=("contraction",),
        ),
    )


def _bounded_ratios() -> tuple[Step, ...]:
    """Ratios of heights are bounded, so that the rate is positive."""
    lam = sp.Symbol("lambda", real=True)
    a, rho, r_i, r_j, total = sp.symbols("a_ij rho R_i R_j A", real=True)
    h_i, h_j, n_i, n_j = sp.symbols("h_i h_j n_i n_j", positive=True)
    g, top, norm_v, constant, most, weight_ij = sp.symbols("g H v C q alpha_ij", real=True)
    speed, first = sp.symbols("c R_0", real=True)
    return (
        Identity(
            name="ratios of heights",
            says="Since $|y_i|_W = 1$, $h_i = 1/|w_i|_W$, and $h_j/h_i = |w_i|_W/|w_j|_W$ ($n_i = |w_i|_W$).",
            left=h_j / h_i,
            right=n_i / n_j,
            where={h_i: 1 / n_i, h_j: 1 / n_j},
        ),
        Inequality(
            name="from below",
            says="With $H = (u^{\\top}W^{-1}u)^{1/2}$, the norm of $W^{-1}u$ in the metric $W$: $1 = u^{\\top}w_i = g "
            "\\le Hn_i$.",
            hypotheses=(sp.Eq(g, 1), g <= top * n_i, top > 0),
            conclusion=n_i >= 1 / top,
            uses=("Cauchy-Schwarz",),
            needs=("inner products are bounded by the product of the norms",),
            establishes=("the norms of the projected tokens are at least 1/H",),
        ),
        Inequality(
            name="from above",
            says="With a constant $C$ such that $|r|_W \\le C|r|_*$ on $u^{\\perp}$: $n_j = |v + r_j|_W \\le |v|_W + "
            "CR_j \\le q = |v|_W + CR_0$.",
            hypotheses=(
                n_j <= norm_v + constant * r_j,
                constant >= 0,
                r_j <= first,
                sp.Eq(most, norm_v + constant * first),
            ),
            conclusion=n_j <= most,
            uses=("bounded deviations",),
            needs=(f"{LARGEST} does not increase",),
            establishes=("the norms of the projected tokens are bounded above",),
        ),
        Inequality(
            name="bounded ratios",
            says="So $a_{ij} = \\alpha_{ij}n_i/n_j \\ge \\alpha_{ij}\\,\\tfrac{1}{Hq}$. The weights of a token sum to "
            "$1/\\sqrt d$, whatever $P$ is: $\\sum_j a_{ij} \\ge A = \\tfrac{1}{Hq\\sqrt d} > 0$ for all times.",
            hypotheses=(weight_ij >= 0, n_i >= 1 / top, n_j <= most, top > 0),
            conclusion=weight_ij * n_i / n_j >= weight_ij / (top * most),
            uses=("ratios of heights", "from below", "from above"),
            needs=(
                "the norms of the projected tokens are at least 1/H",
                "the norms of the projected tokens are bounded above",
            ),
            establishes=("the sums of the rates are at least A",),
        ),
        Inequality(
            name="rate",
            says="With $a = \\sum_j a_{ij} \\ge A$ and $c = (\\lambda - \\rho)A$ the largest squared deviation has the "
            "slope $-2a(\\lambda - \\rho)R_i^2 \\le -2cR_i^2$.",
            hypotheses=(total > 0, a >= total, lam > rho, sp.Eq(speed, (lam - rho) * total)),
            conclusion=-2 * a * (lam - rho) * r_i**2 <= -2 * speed * r_i**2,
            uses=("contraction", "bounded ratios"),
            needs=("the sums of the rates are at least A",),
            establishes=(
                f"for almost every time, where {LARGEST} is attained the derivative is at most -2c times {LARGEST}",
            ),
        ),
    )


def _limit() -> tuple[Step, ...]:
    """The deviations decay exponentially, and every token tends to v."""
    lam = sp.Symbol("lambda", real=True)
    rho, r_i, total = sp.symbols("rho R_i A", real=True)
    speed, time, first = sp.symbols("c t R_0", real=True)
    return (
        *bound_almost_everywhere(
            LARGEST,
            "-2c",
            names=("decreasing deviations", "exponential decay"),
            says=("For $\\max_i R_i^2$ again:", "So the deviations decay exponentially."),
            formulas=(
                "\\tfrac{d}{dt}\\max_i R_i^2 \\le -2c\\max_i R_i^2 \\quad\\text{for almost every } t",
                "\\max_i|r_i(t)|_*^2 \\le e^{-2ct}\\max_i|r_i(0)|_*^2",
            ),
            uses=("rate",),
        ),
        Inequality(
            name="positive rate",
            says="With $c = (\\lambda - \\rho)A > 0$ the largest squared deviation $R$ lies between zero and "
            "$R_0e^{-2ct}$.",
            hypotheses=(
                total > 0,
                lam > rho,
                sp.Eq(speed, (lam - rho) * total),
                r_i >= 0,
                r_i <= first * sp.exp(-2 * speed * time),
            ),
            conclusion=sp.And(2 * speed > 0, r_i >= 0, r_i <= first * sp.exp(-2 * speed * time)),
            uses=("exponential decay",),
            needs=(f"{LARGEST} at time t is at most exp(-2c t) times {LARGEST} at the start",),
            establishes=(f"{LARGEST} lies between zero and a decaying exponential of time",),
        ),
        Citation(
            name="deviations",
            says="So $w_i \\to v$ (scaled to $u^{\\top}v = 1$).",
            theorem=EXPONENTIAL_DECAY,
            letters={"q": LARGEST},
            uses=("positive rate",),
            formula="\\max_i|w_i(t) - v|_*^2 \\to 0",
            establishes=(f"{LARGEST} tends to zero",),
        ),
        *limit_of_tokens(
            "$H = (u^{\\top}W^{-1}u)^{1/2}$",
            "That is $y_i \\to v/|v|_W$.",
            uses=("deviations", "from below"),
            needs=(
                "the heights keep their sign",
                f"{LARGEST} tends to zero",
                "the norms of the projected tokens are at least 1/H",
            ),
            establishes="all tokens converge to the top eigenvector",
        ),
    )


def _causal(flow: HeadsFlow) -> tuple[Step, ...]:
    """The same identity with a mask."""
    return (
        tensor_step(
            "causal attention",
            "With a mask ($c_{ij} = 1$ where token $i$ sees token $j$) the projected flow is the same with the masked "
            "weights, which again sum to $1/\\sqrt d$: the argument is unchanged.",
            derive=lambda: along_flow(_projected(), flow.masked_field, flow.rules),
            claimed=(attention_weight(flow.score, mask="c") * _difference()).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="\\dot w_i",
        ),
    )


def derive() -> Derivation:
    """The projected flow from the registered system, its deviation from v, and a norm in which U contracts."""
    flow = HeadsFlow(VALUE)
    return Derivation(
        (
            *_solutions(flow),
            *_projected_flow(flow),
            *_half_space(),
            *_deviations_shrink(),
            *_bounded_ratios(),
            *_limit(),
            *_causal(flow),
        )
    )


def proof(kernel: Kernel) -> Proved:
    """First exit of the heights over the left eigenvector; then the decay in a norm that is adapted to V."""
    return kernel.conjunction(left_hemisphere_invariant(kernel), dominant_consensus(kernel))


AB_X2 = register(
    Statement(
        id="AB-X2",
        kind=Kind.EXTENSION,
        source=Source(HERE, "full or causal attention with a general value matrix"),
        title="Consensus at a dominant eigenvector, full or causal attention",
        systems=("attention-flow",),
        covers=Covers(masks=("causal",)),
        conditions=(NonPrincipalModulusBelow(V), Relation(Eigenvalue(V, 1) > 0), InHemisphere(V, left=True)),
        claims=(ForwardInvariant(Hemisphere(V, left=True)), Converges(ConsensusAt(V, 1))),
        depends=("AB-X1", "AB-E7"),
        facts=(
            "the spectral radius of U on u^perp is below lambda",
            "the metric is symmetric and positive definite",
            "P is measurable in time",
        ),
        derive=derive,
        proof=proof,
        vectors=(
            Vector(
                "threshold angle for U = diag(1, -5), P = -I",
                lambda: [evaluate(threshold()).real],
                ("0.467054622163162",),
            ),
        ),
        variants=(
            Variant(
                "NonPrincipalModulusBelow(U)",
                "$V = \\operatorname{diag}(1, -5)$, $M = -I$, $n = 2$, full attention: beyond the angle with $1 - "
                "\\cos 2\\theta = \\ln\\tfrac32$ a symmetric pair goes to $\\pm e_2$.",
                modulus_needed,
            ),
        ),
        property_tests=(identity_on_instances,),
    )
)


#: Not proved by the kernel, whose claims are about one head: the steps are checked one by one.
AB_X2C = register(
    replace(
        AB_X2,
        id="AB-X2c",
        title="Consensus at a dominant eigenvector, with several heads",
        covers=Covers(masks=("causal",), heads=(ShareDominantPair("V"),)),
        proof=None,
        claims_from=(("the half space is kept",), ("limit of the tokens",)),
        prose_from=("causal attention",),
        vectors=(),
        property_tests=(),
        variants=(
            Variant(
                "$u$, $v$ and a norm shared by the heads",
                "heads $10e_2e_2^{\\top}$, scored by $30x_2y_2$, and $\\operatorname{diag}(1, -\\tfrac{19}2)$, not "
                "scored: their sum $\\operatorname{diag}(1, \\tfrac12)$ meets the conditions, and a symmetric pair "
                "with $u^{\\top}y = 0.78$ goes to $\\pm e_2$",
                heads_that_cancel,
            ),
        ),
    )
)
