"""PH-T4: the half-space condition: a positive eigenvalue of V and tokens on one side of its eigenvector diverge
together.

Reference: Pham-et-al, divergence from a positive eigenvalue of V; derived here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.half_spaces import CLAIMS, proof
from eigentoken.proofs.pham.ph_m_token_flow import B, soft_average, token_field
from eigentoken.proofs.pham.ph_t03_divergence import middle_token_stays, negative_form_decays
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.deterministic_data import FLOATS, as_floats, as_numbers, numbers
from eigentoken.proofs.properties.trajectories import integrate
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, along_flow, tensor_step
from eigentoken.proofs.steps.extremes import bound_almost_everywhere
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.calculus import Assumptions, vector
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.language.conditions import InHemisphere, Relation, SimpleTop
from eigentoken.theory.language.observables import dot
from eigentoken.theory.language.terms import Eigenvalue
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.layer_systems import ANY, Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, SourceKind, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Inequality
from eigentoken.theory.systems.catalogue import system

LOWEST, HIGHEST = "minus the lowest height", "the highest height"
LOWER = f"{LOWEST} at time t is at most exp(lambda t) times {LOWEST} at the start"


def derive() -> Derivation:
    """Heights follow lambda times their own averages."""
    eigenvalue = sp.Symbol("lambda", real=True)
    rules = Assumptions(eigen={("B", True, "u"): eigenvalue})
    field = token_field(rules)
    lam, weight, height, low, high, factor, number = sp.symbols("lambda p h m M E K", real=True)
    return Derivation(
        (
            tensor_step(
                "heights",
                "Let $u^{\\top}B = \\lambda u^{\\top}$ and $h_i = u^{\\top}x_i$. Along the registered flow, for every "
                "number of tokens and every dimension: $\\dot h_i = \\lambda\\sum_j p_{ij}h_j$. Only that the weights "
                "are nonnegative and sum to one is used below, so $W$ may depend on time (measurably; then this holds "
                "for almost every $t$ along an absolutely continuous solution), on the positions, or be masked.",
                derive=lambda: along_flow(inner(vector("u"), vector("x", TOKEN_I)), field, rules, "x"),
                claimed=soft_average(TOKEN_I, lambda k: inner(vector("u"), vector("x", k))) * eigenvalue,
                rules=rules,
                left="\\tfrac{d}{dt}\\,u^{\\top}x_i",
                establishes=(
                    f"{LOWEST} is the largest of finitely many absolutely continuous functions of time",
                    f"{HIGHEST} is the largest of finitely many absolutely continuous functions of time",
                ),
            ),
            Inequality(
                name="averages lie between the extremes",
                says="Each summand, with weight $p \\ge 0$ and $m \\le h \\le M$, lies between $\\lambda pm$ and "
                "$\\lambda pM$ for $\\lambda > 0$.",
                hypotheses=(lam > 0, weight >= 0, low <= height, height <= high),
                conclusion=sp.And(
                    lam * weight * height >= lam * weight * low, lam * weight * height <= lam * weight * high
                ),
                uses=("heights",),
                establishes=(
                    f"for almost every time, where {LOWEST} is attained the derivative is at most lambda times {LOWEST}",
                    f"for almost every time, where {HIGHEST} is attained the derivative is at most lambda times {HIGHEST}",
                ),
            ),
            *bound_almost_everywhere(
                LOWEST,
                "lambda",
                names=("lowest height", "lower bound"),
                says=("For $-\\min_l h_l = \\max_l(-h_l)$:", "So the lowest height grows at least exponentially,"),
                formulas=(
                    "\\tfrac{d}{dt}\\bigl(-\\min_l h_l\\bigr) \\le -\\lambda\\min_l h_l \\quad\\text{for almost every "
                    "} t",
                    "u^{\\top}x_l(t) \\ge e^{\\lambda t}\\min_k u^{\\top}x_k(0)",
                ),
                uses=("averages lie between the extremes",),
            ),
            *bound_almost_everywhere(
                HIGHEST,
                "lambda",
                names=("highest height", "upper bound"),
                says=("For $\\max_l h_l$:", "and the highest one at most."),
                formulas=(
                    "\\tfrac{d}{dt}\\max_l h_l \\le \\lambda\\max_l h_l \\quad\\text{for almost every } t",
                    "u^{\\top}x_l(t) \\le e^{\\lambda t}\\max_k u^{\\top}x_k(0)",
                ),
                uses=("averages lie between the extremes",),
            ),
            Inequality(
                name="divergence",
                says="With $E = e^{\\lambda t} > 0$ and a positive lowest height $m$ at the start every height $h$ "
                "stays positive, and exceeds any $K$ once $E > K/m$, which happens for $\\lambda > 0$: all tokens "
                "diverge exponentially.",
                hypotheses=(-height <= factor * (-low), low > 0, factor > 0),
                conclusion=sp.And(height > 0, sp.Implies(factor > number / low, height > number)),
                uses=("lower bound",),
                needs=(LOWER,),
                establishes=("positive heights stay positive and diverge",),
            ),
        )
    )


_VALUE = (("0.5", "1"), ("0", "-1"))
_SCORE = (("1", "0.5"), ("-0.5", "1"))
_TOKENS = (("1", "0"), ("0.5", "0.3"), ("2", "-1"))
_NORMAL = ("1", "2/3")


def heights_example() -> list[Any]:
    """``u^T x`` at t = 0 and the two bounds at t = 2."""
    normal = as_numbers((_NORMAL,))[0]
    heights = [dot(normal, row) for row in as_numbers(_TOKENS)]
    grown = numbers().exp(numbers().one)
    return [*heights, grown * min(heights), grown * max(heights)]


def later_example() -> list[float]:
    """``u^T x(2)``."""
    value, score, tokens = (as_floats(as_numbers(rows)) for rows in (_VALUE, _SCORE, _TOKENS))
    normal = as_floats(as_numbers((_NORMAL,)))[0]
    flow = system("token-flow")

    def field(_: float, state: Any) -> list[float]:
        rows = tuple(tuple(state[2 * i : 2 * i + 2]) for i in range(3))
        return [entry for row in flow.advance(FLOATS, {"B": value, "W": score}, rows) for entry in row]

    end = integrate(field, [entry for row in tokens for entry in row], [2.0])[0]
    return [dot(normal, end[2 * i : 2 * i + 2]) for i in range(3)]


def negative_value_leaves() -> Verdict:
    """B = -1, W = 1: at tokens (0, y), y > 0, on the boundary of the half space, the first height moves with -y/2: out
    of it."""
    y = sp.Symbol("y", positive=True)
    minus, one = ((sp.Integer(-1),),), ((sp.Integer(1),),)
    speed = velocity("token-flow", {"B": minus, "W": one}, ((sp.Integer(0),), (y,)))[0][0]
    if sp.simplify(speed + y / 2) == 0:
        return holds(
            "u = 1, lambda = -1: at heights (0, y) the first one has velocity -y/2, and positive heights are left"
        )
    return fails(f"the velocity is {speed}")


def negative_example() -> list[float]:
    """Two tokens 1, 3 with B = -1: at t = 3 for W = 1, at t = 10 for W = -1 (exponents are capped where a weight is
    zero)."""

    def field(score: float) -> Any:
        def speed(_: float, x: Any) -> list[float]:
            shares = [1 / (1 + math.exp(max(-700.0, min(700.0, score * each * (x[1] - x[0]))))) for each in x]
            return [-(share * x[0] + (1 - share) * x[1]) for share in shares]

        return speed

    return [*integrate(field(1.0), [1.0, 3.0], [3.0])[0], *integrate(field(-1.0), [1.0, 3.0], [10.0])[0]]


def masked_heights(source: np.random.Generator) -> Mapping[str, float]:
    """Random masks, and scores that depend on positions and on time: heights over a left eigenvector along the flow (RK4),
    between ``e^{lambda t}`` times the lowest and the highest at the start."""
    n, d = int(source.integers(2, 6)), int(source.integers(1, 5))
    lam, steps, end = float(source.uniform(0.1, 1.5)), 60, float(source.uniform(0.2, 1.5))
    value = source.normal(size=(d, d))
    value[0] = 0
    value[0, 0] = lam  # e_1 is a left eigenvector
    x = source.normal(size=(n, d))
    x[:, 0] = np.abs(x[:, 0]) + 0.05
    mask = np.logical_or(source.random((n, n)) < 0.5, np.eye(n, dtype=bool))
    fixed, turned, position = (source.normal(size=shape) for shape in ((d, d), (d, d), (n, n)))

    def speed(t: float, tokens: Any) -> Any:
        scores = np.where(mask, tokens @ (fixed + np.sin(3 * t) * turned) @ tokens.T + position, -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True) @ tokens @ value.T

    low, high, h = float(x[:, 0].min()), float(x[:, 0].max()), end / steps
    worst = -np.inf
    for k in range(steps):
        t = k * h
        k1 = speed(t, x)
        k2 = speed(t + h / 2, x + h / 2 * k1)
        k3 = speed(t + h / 2, x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + speed(t + h, x + h * k3))
        grown = float(np.exp(lam * (t + h)))
        worst = max(worst, low * grown - float(x[:, 0].min()), float(x[:, 0].max()) - high * grown)
    return {"between the bounds": worst / (1 + high) - 1e-7}


PH_T4 = register(
    Statement(
        id="PH-T4",
        kind=Kind.THEOREM,
        source=Source(PHAM, "divergence from a positive eigenvalue of V; derived here", SourceKind.SUMMARISED),
        title="Half-space divergence",
        systems=("token-flow",),
        conditions=(SimpleTop(B), Relation(Eigenvalue(B, 1) > 0), InHemisphere(B, left=True)),
        claims=CLAIMS,
        proof=proof,
        depends=("PH-M",),
        derive=derive,
        variants=(
            Variant(
                "InHemisphere(B, left=True)",
                "$W = B = 1$, tokens $1, 0, -1$: the middle token stays at 0.",
                middle_token_stays,
            ),
            Variant("Relation(Eigenvalue(B, 1) > 0)", "$B = -1$: consensus states decay.", negative_form_decays),
            Variant(
                "$\\lambda > 0$ in the two bounds",
                "$B = -1$, $W = 1$: at heights $(0, y)$, $y > 0$, the first one moves with $-y/2$ and becomes negative "
                "(from $1, 3$ they have different signs at $t = 3$, see the vector).",
                negative_value_leaves,
            ),
        ),
        vectors=(
            Vector(
                "heights at 0 and the bounds at t = 2",
                heights_example,
                ("1", "0.7", "1.333333333333", "1.902797279921", "3.624375771279"),
            ),
            Vector(
                "lambda = -1, tokens 1, 3: at t = 3 with W = 1, and at t = 10 with W = -1",
                negative_example,
                ("-0.37308818", "0.45071109", "-10058.5", "10058.5"),
            ),
            Vector("heights at t = 2", later_example, ("3.001278269542", "2.621342508295", "3.496464620107")),
        ),
    )
)


#: Not proved by the kernel, whose claims are about full attention without positions: the steps are checked one by one.
PH_T4C = register(
    replace(
        PH_T4,
        id="PH-T4c",
        title="Half-space divergence, with any mask and any positions in the scores",
        covers=Covers(masks=(ANY,), positions=(ANY,)),
        proof=None,
        claims_from=(("divergence",), ("divergence",), ("upper bound",), ("lower bound",)),
        vectors=(),
        property_tests=(OnInstances(masked_heights),),
        variants=(),
    )
)
