"""CT-12, CT-13: the regions of attraction of PM-X1 and PM-X2 for the attention flow: the half space, and a ball.

With ``x_i = h_i (v_1 + rho_i)``, ``rho_i`` orthogonal to ``v_1``, and ``b_ij = a_ij h_j / h_i``, ``g_i = sum_j b_ij`` the flow is
exactly ``rho_i' = sum_j b_ij V rho_j - lambda_1 g_i rho_i``.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.new_results.needed import (
    a_pair_across_rests_in_the_flow,
    a_sheared_ball_grows_in_the_flow,
    a_sheared_half_space_is_left_in_the_flow,
)
from eigentoken.proofs.new_results.pm_x01_regions import BASIN, LARGEST_OTHER, REGION, SPREAD, spread, tangents
from eigentoken.proofs.new_results.symmetric_half_space import basin
from eigentoken.proofs.power_method.symbols import V
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import Array, attention, random_units, unit_rows
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.contractions import ContractsInBall
from eigentoken.theory.language.terms import Eigenvalue, d
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Argument, Derivation, Identity, Inequality


def speeds(x: Array, value: Array, score: Array, causal: bool = False) -> Array:
    """``rho_i'`` of the flow, from the velocity of the tokens: the quotient rule, with ``v_1 = e_1``."""
    push = attention(x, score, causal) @ x @ value.T
    moved = push - np.sum(push * x, axis=1, keepdims=True) * x
    return np.asarray(moved[:, 1:] / x[:, :1] - tangents(x) * moved[:, :1] / x[:, :1])


def _state(source: np.random.Generator, least: float) -> tuple[Array, Array, Array, bool]:
    """Eigenvalues with leader 1, a state of the hemisphere, scores, a mask or none."""
    n, size = int(source.integers(1, 6)), int(source.integers(2, 5))
    values = np.append(1.0, source.uniform(least, 0.95, size=size - 1))
    x = random_units(source, n, size)
    x[:, 0] = np.abs(x[:, 0]) + 1e-3
    score = source.normal(size=(size, size)) * source.uniform(0, 8)
    return values, unit_rows(x), score, bool(source.integers(2))


def half_space(source: np.random.Generator) -> Mapping[str, float]:
    """The identity, and the derivative of the largest tangent against its bound, for random scores and masks."""
    values, x, score, causal = _state(source, -0.95)
    weights, heights, rho = attention(x, score, causal), x[:, 0], tangents(x)
    shares = weights * heights[None] / heights[:, None]
    stated = shares @ rho * values[1:] - shares.sum(axis=1)[:, None] * rho
    found = speeds(x, np.diag(values), score, causal)
    sizes = np.linalg.norm(rho, axis=1)
    first = int(np.argmax(sizes))
    radius, other = float(sizes[first]), float(np.abs(values[1:]).max())
    slope = float(rho[first] @ found[first]) / max(radius, 1e-300)
    return {
        "the identity": gap(found, stated) / (1 + radius),
        "the bound": (slope + (1 - other) * radius / float(np.sqrt(1 + radius**2))) / (1 + radius),
    }


def ball(values: tuple[Any, ...], norm: Any) -> tuple[Any, Any]:
    """``eta*`` and the radius ``R*`` of the ball of the flow."""
    top, others = values[0], values[1:]
    room = (top - max(mpmath.mpf(0), max(others))) / (top + max(abs(each) for each in others))
    if not norm:
        return room, mpmath.sqrt((1 + room) ** 2 - 1)
    return room, mpmath.findroot(lambda r: spread(r, norm) - room, room / 8)


def balls() -> list[Any]:
    """``V = diag(1, 1/4, 1/8)``, ``M = (ln 3) I``; ``V = diag(1, -2)``, ``M = I``; the same without scores."""
    with mpmath.workdps(30):
        one, quarter, eighth = mpmath.mpf(1), mpmath.mpf(1) / 4, mpmath.mpf(1) / 8
        found = (
            ball((one, quarter, eighth), mpmath.log(3)),
            ball((one, mpmath.mpf(-2)), one),
            ball((one, mpmath.mpf(-2)), 0),
        )
        return [each for pair in found for each in pair]


def inside_the_ball(source: np.random.Generator) -> Mapping[str, float]:
    """The derivative of the root of the summed squares against its bound, at a random state of the ball, without a mask."""
    values, x, score, _ = _state(source, -2.5)
    score = score / 4
    norm, rho = float(np.linalg.norm(score, 2)), float(np.abs(values[1:]).max())
    second = max(0.0, float(values[1:].max()))
    room = (1 - second) / (1 + rho)
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(spread(middle, norm, np)) < room else (low, middle)
    radius = low * float(source.uniform(0.05, 0.99))
    rest = tangents(x)
    rest = rest * (radius / max(float(np.linalg.norm(rest)), 1e-300))
    x = unit_rows(np.hstack([np.ones((len(x), 1)), rest]))
    slope = float(np.sum(rest * speeds(x, np.diag(values), score))) / radius
    rate = 1 - second - (1 + rho) * float(spread(radius, norm, np))
    return {"the bound": slope + rate * radius, "no contraction": -rate}


def half_space_steps() -> Derivation:
    """The recursion by components: the projection to the tangent space cancels; then the largest tangent."""
    height, own, pushed, top, sums, pull = sp.symbols("h r B lambda g c", positive=True)
    rho, size = sp.symbols("rho s", nonnegative=True)
    along, across = height * top * sums - pull * height, height * pushed - pull * height * own
    return Derivation(
        (
            Identity(
                name="the projective form",
                says="For $x_i = h(v_1 + r)$ the velocity $u_i - c x_i$, $c = x_i^{\\top}u_i$, has $h\\lambda g - ch$ along "
                "$v_1$ and $hB - chr$ across it, $B = \\sum_jb_{ij}V\\varrho_j$; by the quotient rule $\\varrho_i' = B - "
                "\\lambda g\\varrho_i$: the term with $c$ cancels.",
                left=(across - own * along) / height,
                right=pushed - top * sums * own,
            ),
            Inequality(
                name="the largest tangent falls",
                says="Where $|\\varrho_i| = R$ is largest, $\\frac{d}{dt}|\\varrho_i| \\le \\rho gR - \\lambda gR$, and $g \\ge "
                "s = (1 + R^2)^{-1/2}$.",
                hypotheses=(rho < top, sums >= size, size > 0, own >= 0),
                conclusion=rho * sums * own - top * sums * own <= -(top - rho) * size * own,
                uses=("the projective form",),
            ),
        )
    )


def ball_steps() -> Derivation:
    """The rate is positive exactly below the threshold of eta."""
    top, second, rho, eta = sp.symbols("lambda mu rho eta", nonnegative=True)
    return Derivation(
        (
            Inequality(
                name="the rate is positive",
                says="$\\nu = \\lambda_1 - \\lambda_2^+ - (\\lambda_1 + \\rho)\\eta > 0$ for $\\eta < \\eta^* = "
                "\\frac{\\lambda_1 - \\lambda_2^+}{\\lambda_1 + \\rho}$.",
                hypotheses=(top > 0, second < top, eta * (top + rho) < top - second),
                conclusion=top - second - (top + rho) * eta > 0,
            ),
            Argument(
                name="the rest",
                says="With uniform weights the mean of the $\\varrho_i$ decays at least at the rate $\\lambda_1 - \\lambda_2$ "
                "and their deviations at $\\lambda_1$; inside the ball $|nb_{ij} - 1| \\le \\eta$ and $|g_i - 1| \\le \\eta$, "
                "which costs at most $(\\rho + \\lambda_1)\\eta$.",
                uses=("the rate is positive",),
            ),
        )
    )


def grows_apart() -> Verdict:
    """``V = diag(1, -5)``, ``M = -I``, tokens at angles +-0.6: theta' by the equation of the flow, in balls."""
    theta = sp.Rational(3, 5)
    tokens = ((sp.cos(theta), sp.sin(theta)), (sp.cos(theta), -sp.sin(theta)))
    along, across = velocity("attention-flow", {"V": ((1, 0), (0, -5)), "M": ((-1, 0), (0, -1))}, tokens)[0]
    rate = evaluate(sp.cos(theta) * across - sp.sin(theta) * along, 40)
    return holds(f"the angle grows at the rate {rate}") if rate.real > 0 else fails(str(rate))


CT_12 = register(
    Statement(
        id="CT-12",
        kind=Kind.THEOREM,
        source=Source(HERE, "certified basins of attraction"),
        title="The open hemisphere is a basin of principal consensus for the attention flow",
        systems=("attention-flow",),
        conditions=REGION,
        claims=BASIN,
        derive=half_space_steps,
        proof=basin,
        depends=("AB-X2", "PM-X1"),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"With $R$ the largest $\tan\angle(x_i, v_1)$ and $\rho = \max_{\ell \ge 2}|\lambda_{\ell}|$: $R(t) \le "
                r"R(0)\exp\bigl(-\frac{(\lambda_1 - \rho)t}{\sqrt{1 + R(0)^2}}\bigr)$, for any scores and any mask, which may "
                r"change with time: its two steps are checked one by one and put together "
                r"by hand. The claims are about full attention.",
            ),
        ),
        variants=(
            Variant(
                "Symmetric(V)",
                "$V = (1, 1; 0, \\frac12)$: equal tokens along $(7, -24)$ leave the half space.",
                a_sheared_half_space_is_left_in_the_flow,
            ),
            Variant(
                "InHemisphere(V)",
                "$V = \\operatorname{diag}(1, \\frac12)$, $M = 0$: the tokens $\\pm e_1$ rest.",
                a_pair_across_rests_in_the_flow,
            ),
            Variant(
                "NonPrincipalModulusBelow(V)",
                r"$V = \operatorname{diag}(1, -5)$, $M = -I$, two tokens at angles $\pm0.6$: the angle grows.",
                grows_apart,
            ),
        ),
        property_tests=(OnInstances(half_space),),
    )
)

_TOP, _REST = Eigenvalue(V, 1), sp.Max(0, Eigenvalue(V, 2))
#: ``nu = lambda_1 - lambda_2^+ - (lambda_1 + rho) eta(R)``.
_NU = _TOP - _REST - (_TOP + LARGEST_OTHER) * SPREAD

CT_13 = register(
    Statement(
        id="CT-13",
        kind=Kind.THEOREM,
        source=Source(HERE, "certified basins of attraction"),
        title="A ball of attraction of principal consensus of the attention flow with an explicit radius and rate",
        systems=("attention-flow",),
        conditions=(Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(d >= 2)),
        claims=(ContractsInBall(V, sp.Gt(_NU, 0, evaluate=False), _NU),),
        claims_from=(("the rest",),),
        text=r"In other letters: "
        r"let $\lambda_2^+ = \max(0, \lambda_2)$, $\rho = \max_{\ell \ge 2}|\lambda_{\ell}|$, $\eta(R) = e^{2\lVert M\rVert "
        r"R}\sqrt{1 + R^2} - 1 < \eta^* = \frac{\lambda_1 - \lambda_2^+}{\lambda_1 + \rho}$. Then $\{v_1^{\top}x_i > 0,\ "
        r"\sum_i\tan^2\angle(x_i, v_1) \le R^2\}$ is forward invariant, and $\bigl(\sum_i\tan^2\bigr)^{1/2}$ falls at least as "
        r"$e^{-\nu t}$, $\nu = \lambda_1 - \lambda_2^+ - (\lambda_1 + \rho)\eta(R) > 0$.",
        depends=("CT-2", "PM-X2"),
        derive=ball_steps,
        notes=(
            Remark(
                RemarkKind.OPEN,
                "That the weights differ from uniform ones by at most eta inside the ball, and the split into mean and "
                "deviations, are written out and seen on random instances; the kernel has no derivation yet.",
            ),
        ),
        vectors=(
            Vector(
                "eta*, R* of three systems",
                balls,
                (
                    *("0.6", "0.204577914124378", "0.333333333333333"),
                    *("0.139053226589308", "0.333333333333333", "0.881917103688197"),
                ),
            ),
        ),
        variants=(
            Variant(
                "Symmetric(V)",
                "$V = (1, 20; 0, \\frac12)$, $M = 0$: the tangent $\\frac1{10}$ grows.",
                a_sheared_ball_grows_in_the_flow,
            ),
        ),
        property_tests=(OnInstances(inside_the_ball),),
    )
)
