"""AB-L4.2: heights have bounded, uniformly continuous derivatives when P is bounded and uniformly continuous.

A composition argument; AB-X1 does not need it.  Reference: Abella-Silvestre-Tabuada, Lemma 4.2.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.heads_flow import HeadsFlow, attention_weight, height
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.flow_properties import speed_is_bounded
from eigentoken.proofs.steps.calculus_steps import HEAD, TOKEN_I, TOKEN_J, along_flow, analytic_step, token
from eigentoken.proofs.steps.tensor_reductions import applied
from eigentoken.proofs.steps.textbook import UNIFORMLY_CONTINUOUS_COMPOSITION
from eigentoken.proofs.steps.textbook_flows import MEAN_VALUE
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    IsIdentity,
    PositiveDefinite,
    Symmetric,
    UniformlyContinuous,
)
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

W, U = matrix("W"), matrix("U")


def _speed() -> tuple[Step, ...]:
    """A token moves at a speed of at most h/sqrt(d) in the W norm."""
    y_i, y_j = sp.symbols("y_i y_j", real=True)
    s, weight, norm = sp.symbols("s a v", real=True)
    moved = y_j - s * y_i
    return (
        applied(
            "orthogonal part",
            "Let $s = y_i^{\\top}Wy_j$. The vector $v_j = y_j - s\\,y_i$ is $W$-orthogonal to $y_i$: apply "
            "$y_i^{\\top}W$.",
            moved,
            {y_i: sp.Integer(1), y_j: s},
            sp.Integer(0),
            by="(Wy_i)^{\\top}",
        ),
        applied(
            "its length",
            "Apply $y_j^{\\top}W$ to $v_j$: since $v_j \\perp y_i$ this is $|v_j|_W^2 = 1 - s^2$.",
            moved,
            {y_i: s, y_j: sp.Integer(1)},
            1 - s**2,
            by="(Wy_j)^{\\top}",
            uses=("orthogonal part",),
        ),
        Inequality(
            name="speed",
            says="So $|v_j|_W \\le 1$, and a token moves at most with speed $A = \\sum_{\\eta, j}\\alpha^{\\eta}_{ij} "
            "= h/\\sqrt d$: each summand with weight $a \\ge 0$ contributes at most $a$.",
            hypotheses=(weight >= 0, norm >= 0, sp.Eq(norm**2, 1 - s**2)),
            conclusion=weight * norm <= weight,
            uses=("its length",),
            establishes=("the derivative of the path of a token is bounded",),
        ),
        Citation(
            name="Lipschitz in time",
            says="So the tokens are Lipschitz functions of time.",
            theorem=MEAN_VALUE,
            letters={"f": "the path of a token"},
            uses=("speed",),
            establishes=("the path of a token is Lipschitz",),
        ),
    )


def _factors() -> tuple[Step, ...]:
    """The factors of the derivative are bounded and uniformly continuous, with values in a compact set."""
    f_1, f_2, g_1, g_2, big, wide, alpha, beta, u, w = sp.symbols("f_1 f_2 g_1 g_2 M N alpha beta u w", real=True)
    score_value, limit = sp.symbols("x k", real=True)
    return (
        recalled(
            "AB-L4.1",
            "tokens have norm at most K",
            "The tokens are bounded, and so are $v^{\\top}y_j$, $y_i^{\\top}Wy_j$ and the scores.",
            "|y_i| \\le K",
            name="bounded tokens",
        ),
        Identity(
            name="change of a product",
            says="Between two times let $f$ and $g$ change by $u = f_1 - f_2$ and $w = g_1 - g_2$. The product changes "
            "by",
            left=f_1 * g_1 - f_2 * g_2,
            right=f_1 * w + u * g_2,
            where={u: f_1 - f_2, w: g_1 - g_2},
        ),
        Inequality(
            name="factors",
            says="The factors $v^{\\top}y_j$, $y_i^{\\top}Wy_j$ and $y_i^{\\top}P_{\\eta}(t)y_j$ are sums of products "
            "of bounded functions that are uniformly continuous in time. With $|f| \\le M$, $|g| \\le N$, $|u| \\le "
            "\\alpha$ and $|w| \\le \\beta$ the product is bounded by $MN$ and changes by at most $M\\beta + "
            "N\\alpha$.",
            hypotheses=(
                f_1 <= big,
                -big <= f_1,
                g_2 <= wide,
                -wide <= g_2,
                u <= alpha,
                -alpha <= u,
                w <= beta,
                -beta <= w,
            ),
            conclusion=sp.And(
                f_1 * g_2 <= big * wide,
                -big * wide <= f_1 * g_2,
                f_1 * w + u * g_2 <= big * beta + wide * alpha,
                -big * beta - wide * alpha <= f_1 * w + u * g_2,
            ),
            uses=("change of a product", "Lipschitz in time", "bounded tokens"),
            needs=(
                "the path of a token is Lipschitz",
                "P is bounded in time",
                "P is uniformly continuous in time",
            ),
            establishes=("the factors are bounded and uniformly continuous",),
        ),
        Inequality(
            name="compact range",
            says="A score $x \\in [-k, k]$, $k = K^2b$, has its exponential in the compact interval $[e^{-k}, e^k]$, "
            "and every summand of the normaliser is at least $e^{-k} > 0$.",
            hypotheses=(score_value >= -limit, score_value <= limit),
            conclusion=sp.And(
                sp.exp(score_value) >= sp.exp(-limit),
                sp.exp(score_value) <= sp.exp(limit),
                sp.exp(-limit) > 0,
            ),
            uses=("bounded tokens",),
            needs=("P is bounded in time",),
        ),
    )


def _composition() -> tuple[Step, ...]:
    """The derivative of a height is a continuous function of them."""
    flow = HeadsFlow()
    return (
        analytic_step(
            "the function",
            "Along the registered flow the derivative of a height is $f_i$, an analytic function of the factors where "
            "the normalisers have no zero.",
            derive=lambda: along_flow(height(TOKEN_I), flow.field, flow.rules),
            claimed=(
                attention_weight(flow.score)
                * (height(TOKEN_J) - inner(token(TOKEN_I), token(TOKEN_J), (flow.metric,)) * height(TOKEN_I))
            ).summed(TOKEN_J, HEAD),
            rules=flow.rules,
            left="f_i = \\tfrac{d}{dt}\\,v^{\\top}y_i",
            uses=("compact range",),
            establishes=("the composition is continuous on a compact set",),
        ),
        Citation(
            name="composition",
            says="Sums, products and continuous functions on compact sets keep uniform continuity.",
            theorem=UNIFORMLY_CONTINUOUS_COMPOSITION,
            uses=("factors", "the function"),
            establishes=("the result is bounded and uniformly continuous",),
            formula="f_i(t) = \\sum_{\\eta,j}\\alpha^{\\eta}_{ij}\\bigl(v^{\\top}y_j - "
            "(y_i^{\\top}Wy_j)\\,v^{\\top}y_i\\bigr)",
        ),
    )


def derive() -> Derivation:
    """The speed of a token is at most ``h / sqrt d`` in the W norm; the rest is composition."""
    return Derivation(
        (
            *_speed(),
            *_factors(),
            *_composition(),
        )
    )


AB_L42 = register(
    Statement(
        id="AB-L4.2",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 4.2"),
        title="Heights have uniformly continuous derivatives",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W), IsIdentity(U), BoundedInTime("P"), UniformlyContinuous("P")),
        text="Along a solution of (11) the functions $f_i(t) = \\sum_{\\eta,j}\\alpha^{\\eta}_{ij}\\bigl(v^{\\top}y_j "
        "- (y_i^{\\top}Wy_j)\\,v^{\\top}y_i\\bigr)$ are bounded and uniformly continuous.",
        depends=("AB-L4.1",),
        facts=(
            "P is bounded in time",
            "P is uniformly continuous in time",
        ),
        derive=derive,
        prose_from=("composition",),
        property_tests=(speed_is_bounded,),
    )
)
