"""AB-X1 (extension): central projection turns the hemisphere flow into a linear consensus protocol, with a rate.

For v != 0 with ``h_i = v^T y_i > 0`` put ``w_i = y_i / h_i``.  Then (11) is exactly ``dw_i/dt = sum_j a_ij (w_j - w_i)``
with ``a_ij = (h_j / h_i) sum_h alpha^h_ij > 0``: the hull of the w_i shrinks, exponentially when P is bounded.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.central_projection import limit_of_tokens
from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.deterministic_data import FLOATS, as_floats, det_matrix, det_tokens, diagonal, numbers, scaled
from eigentoken.proofs.tensor_reductions import velocity
from eigentoken.proofs.textbook import CANTOR, CARATHEODORY, CAUCHY_SCHWARZ, COMPARISON, DANSKIN, about
from eigentoken.proofs.textbook_flows import EXPONENTIAL_DECAY, SUPPORT_FUNCTIONS
from eigentoken.proofs.trajectories import ball, enclose, integrate, precision
from eigentoken.theory.claims import Converges, ForwardInvariant
from eigentoken.theory.conditions import BoundedInTime, InHemisphere, PositiveDefinite, Symmetric
from eigentoken.theory.observables import dot
from eigentoken.theory.points import ConsensusSet, Hemisphere
from eigentoken.theory.recall import recalled
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.systems import system
from eigentoken.theory.terms import ell, matrix
from eigentoken.theory.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.words_flows import IsIdentity

W, U = matrix("W"), matrix("U")


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
                establishes=("the function is a maximum of finitely many differentiable functions of time",),
            ),
            Citation(
                name="products of tokens",
                says="$s = y_i^{\\top}Wy_j \\le |y_i|_W|y_j|_W = 1$, and $h_i \\le H = \\max_{\\mathcal{E}_W} "
                "v^{\\top}y = "
                "(v^{\\top}W^{-1}v)^{1/2}$.",
                theorem=CAUCHY_SCHWARZ,
                formula="y_i^{\\top}Wy_j \\le 1, \\qquad v^{\\top}y \\le (v^{\\top}W^{-1}v)^{1/2}",
            ),
            Inequality(
                name="lowest height",
                says="At a lowest token, $h_i \\le h_j$ for all $j$, every summand of $\\dot h_i = "
                "\\sum\\alpha_{ij}(h_j - s\\,h_i)$ is "
                "nonnegative; so $\\min_i h_i$ does not decrease.",
                hypotheses=(weight_ij > 0, low > 0, low <= other, s <= 1),
                conclusion=weight_ij * (other - s * low) >= 0,
                uses=("products of tokens", "heights"),
            ),
            Inequality(
                name="interior of a closed hemisphere",
                says="At $h_i = 0$ with one $h_j > 0$ the height grows: a closed hemisphere with an interior token is "
                "left at once "
                "for the open one.",
                hypotheses=(weight_ij > 0, other > 0, sp.Eq(low, 0)),
                conclusion=weight_ij * (other - s * low) > 0,
            ),
            Citation(
                name="heights stay",
                says="Danskin's theorem for $-\\min_i h_i = \\max_i(-h_i)$.",
                theorem=DANSKIN,
                uses=("lowest height",),
                formula="h_i(t) \\ge \\min_k h_k(0) > 0",
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
                establishes=("the lowest height does not decrease",),
            ),
            Inequality(
                name="largest projection",
                says="Let $M = \\max_i q^{\\top}w_i$ and $m = \\min_i q^{\\top}w_i$ for a unit vector $q$, $u = "
                "q^{\\top}w_j \\in [m, M]$, and "
                "$a \\le a_{ij}$. At the maximiser each summand is at most $a(u - M)$, at the minimiser at least $a(u "
                "- m)$; "
                "together $-a(M - m)$ for each $j$.",
                hypotheses=(a > 0, a_ij >= a, small <= u, u <= big),
                conclusion=sp.And(
                    a_ij * (u - big) <= a * (u - big),
                    a_ij * (u - small) >= a * (u - small),
                    sp.Eq(a * (u - big) - a * (u - small), -a * (big - small)),
                ),
                uses=("central projection", "rates"),
                establishes=("a scalar differential inequality holds for the upper Dini derivative",),
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
            ),
            Citation(
                name="exponential decay",
                says="The comparison lemma for $M - m$, for every $q$.",
                theorem=COMPARISON,
                uses=("largest projection", "the rate"),
                formula="\\operatorname{diam} w(t) \\le e^{-\\kappa t}\\operatorname{diam} w(0), \\qquad "
                "\\kappa = \\frac{h\\,\\delta\\,e^{-2K^2b}}{\\sqrt d}",
            ),
            Inequality(
                name="support functions",
                says="In every direction $q$ the largest projection $M$ does not increase: at the maximiser no "
                "summand $a_{ij}(u - M)$ is positive, $u = q^{\\top}w_j \\le M$. $M$ is the support function of "
                "the convex hull of the $w_i$.",
                hypotheses=(a_ij > 0, u <= big),
                conclusion=a_ij * (u - big) <= 0,
                uses=("central projection", "heights stay"),
                establishes=("their support functions do not increase", "the sets are hulls of finitely many points"),
            ),
            Citation(
                name="nested hulls",
                says="So the convex hulls of the $w_i(t)$ are nested decreasing.",
                theorem=SUPPORT_FUNCTIONS,
                uses=("support functions",),
                formula="\\operatorname{conv}\\{w_i(t)\\} \\subseteq \\operatorname{conv}\\{w_i(s)\\}, \\qquad t "
                "\\ge s",
            ),
            Inequality(
                name="positive rate",
                says="The rate $\\kappa$ is positive; $D = \\operatorname{diam} w$, which lies between zero and "
                "$D_0e^{-\\kappa t}$, is never above $D_0$.",
                hypotheses=(
                    sp.Eq(kappa, heads * delta / (root * e2)),
                    time >= 0,
                    diameter >= 0,
                    diameter <= first * sp.exp(-kappa * time),
                ),
                conclusion=sp.And(kappa > 0, diameter <= first),
                uses=("exponential decay",),
                needs=("the function is bounded by the solution of the comparison equation",),
                establishes=("the quantity lies between zero and a decaying exponential of time (the diameters)",),
            ),
            Citation(
                name="diameters",
                says="So the diameters tend to zero.",
                theorem=about(EXPONENTIAL_DECAY, "the diameters"),
                uses=("positive rate",),
            ),
            Citation(
                name="one limit",
                says="All $w_i$ tend to one point $w^*$ of the initial hull.",
                theorem=CANTOR,
                uses=("nested hulls", "diameters"),
                formula="w_i(t) \\to w^* \\quad\\text{for all } i",
            ),
            *limit_of_tokens(
                "because $h = 1/|w|_W \\le H$",
                "All tokens $y_i = \\pi_W(w_i)$ tend to one point of the cone that they span at the start.",
                uses=("one limit", "products of tokens"),
                needs=(CANTOR.conclusion,),
                establishes="all tokens tend to one point",
            ),
            Citation(
                name="measurable P",
                says="Nothing here differentiates $P$: for measurable, bounded $P$ the solutions are absolutely "
                "continuous and the "
                "inequalities hold for almost every $t$. Uniform continuity is not needed.",
                theorem=CARATHEODORY,
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
                says="With causal weights token 1 is fixed; let $\\rho_i = |w_i - w_1|$. At the largest one, $\\rho_j "
                "\\le \\rho_i$, each summand "
                "of $\\tfrac{d}{dt}\\rho_i \\le \\sum_{j \\le i} a_{ij}(\\rho_j - \\rho_i)$ is at most zero and the "
                "one with $j = 1$, "
                "$\\rho_1 = 0$, is at most $-a\\rho_i$, $a = h\\,c_1\\,\\delta$.",
                hypotheses=(a > 0, a_ij >= a, r_j <= r_i),
                conclusion=sp.And(a_ij * (r_j - r_i) <= 0, a_ij * (0 - r_i) <= -a * r_i),
                uses=("causal projection", "rates"),
                establishes=(
                    "a scalar differential inequality holds for the upper Dini derivative (causal attention)",
                ),
            ),
            Citation(
                name="causal decay",
                says="So the largest distance to the first projected token decays exponentially.",
                theorem=about(COMPARISON, "causal attention"),
                uses=("causal version",),
                formula="\\max_i|w_i(t) - w_1| \\le e^{-at}\\max_i|w_i(0) - w_1|, \\qquad a = h\\,c_1\\,\\delta",
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


# -- a bounded P is needed ---------------------------------------------------------------------------------------------


def unbounded_freezes() -> Verdict:
    """P(t) = e^{2t} I on the circle, two tokens at angle 1: the gap stays above 0.66, by enclosures.

    The gap D obeys ``D' = -sqrt(2) sin D / (1 + exp(e^{2t} (1 - cos D)))``.  Up to t = 2 the solution is enclosed.  After
    that, while D >= 0.66, ``|D'| <= sqrt(2) exp(-c e^{2t})`` with c = 1 - cos 0.66, and the integral of the right side from T
    is at most ``sqrt(2) exp(-c e^{2T}) / (2 c e^{2T})``.
    """
    from flint import arb

    def field(t: Any, x: Any) -> list[Any]:
        return [-(arb(2).sqrt()) * x[0].sin() / (1 + ((2 * t).exp() * (1 - x[0].cos())).exp())]

    with precision(40):
        end = enclose(field, ["1"], 2, steps=160, order=14, digits=40)[0]
        floor = ball("0.66")
        rate = 1 - floor.cos()
        grown = ball(4).exp()
        tail = arb(2).sqrt() * (-rate * grown).exp() / (2 * rate * grown)
        if end - tail > floor:
            return holds(f"the gap is at least {(end - tail).str(8, radius=False)} for all times and never below 0.66")
    return undecided("the enclosure does not separate the gap from 0.66")


def antipodal_pair_stays() -> Verdict:
    """Tokens e_1, -e_1 on the circle with P = 0 lie in no open hemisphere and do not move."""
    one, nil = sp.Integer(1), sp.Integer(0)
    zero, unit = ((nil, nil), (nil, nil)), ((one, nil), (nil, one))
    given = {"heads": [{"U": None, "P": zero}], "W": unit}
    speed = velocity("ellipsoid-multihead-flow", given, ((one, nil), (-one, nil)))
    if all(entry == 0 for row in speed for entry in row):
        return holds("tokens e_1 and -e_1 have velocity zero exactly, so they never reach consensus")
    return fails(f"the velocity is {speed}")


def _sphere_data() -> tuple[Any, Any, Any]:
    scalars = numbers()
    metric = diagonal(scalars.one, 2 * scalars.one, 3 * scalars.one)
    side = scalars.one / scalars.sqrt(6 * scalars.one)
    normal = (side, side, side)
    tokens = scalars.normalise(det_tokens(4, 3), metric)
    tokens = tuple(tuple(entry if dot(normal, row) > 0 else -entry for entry in row) for row in tokens)
    return tokens, normal, metric


def start_example() -> list[Any]:
    """``min h(0)``, ``diam w(0)``, ``kappa`` and the four slopes of the heights."""
    scalars = numbers()
    tokens, normal, metric = _sphere_data()
    heights = [dot(normal, row) for row in tokens]
    from eigentoken.proofs.abella.ab_l41 import bounds_example

    bound = bounds_example()[0]
    # v^T W^{-1} v = (1 + 1/2 + 1/3)/6, K^2 = 1
    widest = scalars.sqrt((scalars.one + scalars.one / 2 + scalars.one / 3) / 6)
    kappa = min(heights) / widest * scalars.exp(-2 * bound) / scalars.sqrt(3 * scalars.one)
    flow = system("ellipsoid-multihead-flow").advance(
        scalars, {"heads": [{"U": None, "P": det_matrix(3)}], "W": metric}, tokens
    )
    return [min(heights), _diameter(tokens, normal, scalars), kappa, *(dot(normal, row) for row in flow)]


def _diameter(tokens: Any, normal: Any, scalars: Any) -> Any:
    points = [[entry / dot(normal, row) for entry in row] for row in tokens]
    squares = [sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for p in points for q in points]
    return scalars.sqrt(max(squares))


def end_example() -> list[float]:
    """``min h(5)`` and ``diam w(5)`` for P(t) = cos(t) det_matrix(3)."""
    import math

    tokens, normal, metric = _sphere_data()
    weights, base = as_floats(metric), as_floats(det_matrix(3))
    flow = system("ellipsoid-multihead-flow")

    def field(t: float, state: Any) -> list[float]:
        rows = FLOATS.normalise(tuple(tuple(state[3 * i : 3 * i + 3]) for i in range(4)), weights)
        given = {"heads": [{"U": None, "P": scaled(math.cos(t), base)}], "W": weights}
        return [entry for row in flow.advance(FLOATS, given, rows) for entry in row]

    end = integrate(field, [float(entry) for row in tokens for entry in row], [5.0])[0]
    rows = FLOATS.normalise(tuple(tuple(end[3 * i : 3 * i + 3]) for i in range(4)), weights)
    side = [float(entry) for entry in normal]
    return [min(dot(side, row) for row in rows), _diameter(rows, side, FLOATS)]


def freeze_example() -> list[float]:
    """The frozen gaps of the unbounded example: full and causal attention, at t = 5."""
    import math

    def full(t: float, x: Any) -> list[float]:
        # past exponent 700 the weight is zero in floats
        grown = min(math.exp(2 * t) * (1 - math.cos(x[0])), 700.0)
        return [-math.sqrt(2) * math.sin(x[0]) / (1 + math.exp(grown))]

    def causal(t: float, x: Any) -> list[float]:
        grown = min(math.exp(2 * t) * (1 - math.cos(x[0])), 700.0)
        return [-math.sin(x[0]) / math.sqrt(2) / (1 + math.exp(grown))]

    return [integrate(full, [1.0], [5.0])[0][0], integrate(causal, [1.0], [5.0])[0][0]]


AB_X1 = register(
    Statement(
        id="AB-X1",
        kind=Kind.EXTENSION,
        source=Source(HERE, "proof of Theorem 4.1 with a rate"),
        title="Exponential consensus from an open hemisphere",
        systems=("ellipsoid-multihead-flow",),
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
