"""PM-X1, PM-X2: certified regions of attraction of principal consensus for attention layers: the hemisphere, and a ball.

With ``x_i = h_i (v_1 + rho_i)``, ``rho_i`` orthogonal to ``v_1``, and ``b_ij = a_ij h_j / h_i``, ``g_i = sum_j b_ij`` the
layer is exactly
``rho_i^+ = (rho_i + alpha sum_j b_ij V rho_j) / (1 + alpha lambda_1 g_i)``.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.new_results.needed import (
    a_lone_value_flips,
    a_pair_across_rests,
    a_sheared_ball_grows,
    a_sheared_half_space_is_left,
)
from eigentoken.proofs.power_method.symbols import V, alpha
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import Array, attention, random_units, unit_rows
from eigentoken.theory.language.claims import Converges, ForwardInvariant
from eigentoken.theory.language.conditions import InHemisphere, NonPrincipalModulusBelow, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.contractions import RADIUS, ContractsInBall
from eigentoken.theory.language.places import ConsensusAt, Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, EigenvalueModulus, SpectralNorm, d, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Argument, Derivation, Identity, Inequality


def layer(x: Array, value: Array, weights: Array, step: float) -> Array:
    """``normalise(x_i + alpha sum_j a_ij V x_j)``."""
    return unit_rows(x + step * weights @ x @ value.T)


def tangents(x: Array) -> Array:
    """``rho_i`` with ``v_1 = e_1``: the rest of the token over its height."""
    return np.asarray(x[:, 1:] / x[:, :1])


def hemisphere_factor(radius: Any, top: Any, other: Any, step: Any, root: Any = sp.sqrt) -> Any:
    """``q(R) = (1 + alpha rho / sqrt(1 + R^2)) / (1 + alpha lambda_1 / sqrt(1 + R^2))``."""
    size = root(1 + radius**2)
    return (size + step * other) / (size + step * top)


def hemisphere_example() -> list[Any]:
    """``V = diag(1, 1/2)``, ``M`` and tokens of TV13, alpha = 1/3: ``rho``, ``rho^+``, q(12/5) and the bound."""
    x = np.array([[3 / 5, 4 / 5], [5 / 13, -12 / 13]])
    score = np.array([[0.5, -1.0], [2.0, 0.25]])
    after = tangents(layer(x, np.diag([1.0, 0.5]), attention(x, score), 1 / 3))
    q = hemisphere_factor(sp.Rational(12, 5), 1, sp.Rational(1, 2), sp.Rational(1, 3))
    return [*tangents(x)[:, 0], *after[:, 0], q, q * sp.Rational(12, 5)]


def hemisphere_steps() -> Derivation:
    """The recursion by components, the factor, and how it depends on the radius."""
    height, own, pushed, step, top, sums = sp.symbols("h r B alpha lambda g", positive=True)
    rho, size, larger = sp.symbols("rho s S", nonnegative=True)
    return Derivation(
        (
            Identity(
                name="the projective form",
                says="Heights and the rest of $y_i = x_i + \\alpha\\sum_ja_{ij}Vx_j$, for $x_i = h(v_1 + r)$: along $v_1$ it has "
                "$h(1 + \\alpha\\lambda g)$, across it $h(r + \\alpha B)$, $B = \\sum_jb_{ij}V\\varrho_j$; the norm cancels.",
                left=(height * own + step * height * pushed) / (height + step * top * height * sums),
                right=(own + step * pushed) / (1 + step * top * sums),
            ),
            Inequality(
                name="the factor falls with g",
                says="$|\\varrho_i^+| \\le \\frac{1 + \\alpha\\rho g}{1 + \\alpha\\lambda g}R$, and with $g \\ge s = (1 + "
                "R^2)^{-1/2}$ the factor is at most its value at $s$, below 1.",
                hypotheses=(rho < top, sums >= size, size > 0),
                conclusion=sp.And(
                    (1 + step * rho * sums) * (1 + step * top * size)
                    <= (1 + step * rho * size) * (1 + step * top * sums),
                    (1 + step * rho * size) < (1 + step * top * size),
                ),
                uses=("the projective form",),
            ),
            Inequality(
                name="the heights stay positive",
                says="$h(1 + \\alpha\\lambda g) > 0$: the orbit stays in the hemisphere, $R$ does not grow, and the "
                "factor of the "
                "start bounds every later one.",
                hypotheses=(rho < top, larger >= size, size > 0),
                conclusion=sp.And(
                    height * (1 + step * top * sums) > 0,
                    (1 + step * rho * larger) * (1 + step * top * size)
                    <= (1 + step * rho * size) * (1 + step * top * larger),
                ),
                uses=("the factor falls with g",),
            ),
        )
    )


def contracts(source: np.random.Generator) -> Mapping[str, float]:
    """The identity and the bound, for random scores, masks and steps."""
    n, size, step = int(source.integers(1, 6)), int(source.integers(2, 5)), float(10 ** source.uniform(-2, 2))
    values = np.append(1.0, source.uniform(-0.95, 0.95, size=size - 1)) * source.uniform(0.2, 3)
    x = random_units(source, n, size)
    x[:, 0] = np.abs(x[:, 0]) + 1e-3
    x = unit_rows(x)
    weights = attention(x, source.normal(size=(size, size)) * source.uniform(0, 8), bool(source.integers(2)))
    rho, heights = tangents(x), x[:, 0]
    shares = weights * heights[None] / heights[:, None]
    stated = (rho + step * shares @ rho * values[1:]) / (1 + step * values[0] * shares.sum(axis=1))[:, None]
    after = tangents(layer(x, np.diag(values), weights, step))
    radius = float(np.linalg.norm(rho, axis=1).max())
    q = hemisphere_factor(radius, values[0], np.abs(values[1:]).max(), step, np.sqrt)
    return {
        "the identity": gap(after, stated) / (1 + radius),
        "the bound": float(np.linalg.norm(after, axis=1).max() - q * radius) / (1 + radius),
    }


def large_negative_eigenvalue_grows() -> Verdict:
    """``V = diag(1, -5)``, ``M = -I``, alpha = 1/10, tokens at angles +-0.6: the exact factor of the tangent exceeds 1."""
    theta = sp.Rational(3, 5)
    ratio = (1 + sp.tanh(sp.sin(theta) ** 2) / 2) / (1 + sp.Rational(1, 10))
    value = ratio.evalf(30)
    return holds(f"the tangent grows by {value:.6}") if value > 1 else fails(f"{value}")


def growing_angles() -> list[Any]:
    """The angle after one step from 0.6 and from 0.45."""
    found = []
    for theta in (mpmath.mpf(6) / 10, mpmath.mpf(45) / 100):
        ratio = (1 + mpmath.tanh(mpmath.sin(theta) ** 2) / 2) / mpmath.mpf("1.1")
        found.append(mpmath.atan(mpmath.tan(theta) * ratio))
    return found


#: Tokens in the hemisphere of a leader that is alone, also by modulus: the conditions and the claims of PM-X1 and CT-12.
REGION = (
    Symmetric(V),
    SimpleTop(V),
    Relation(Eigenvalue(V, 1) > 0),
    NonPrincipalModulusBelow(V),
    InHemisphere(V),
)
BASIN = (ForwardInvariant(Hemisphere(V)), Converges(ConsensusAt(V, 1)))

PM_X1 = register(
    Statement(
        id="PM-X1",
        kind=Kind.THEOREM,
        source=Source(HERE, "certified basins of attraction"),
        title="The open hemisphere is a basin of principal consensus for attention layers",
        systems=("attention-map",),
        conditions=REGION,
        claims=BASIN,
        derive=hemisphere_steps,
        claims_from=(("the heights stay positive",), ("the heights stay positive",)),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Of independent uniform starts at least the share $2^{1-n}$ lies in the basin of $v_1$ or of its negative. "
                r"Several heads, if they share left and right eigenvectors, $U_hv = \lambda_hv$, $\lVert U_h\rVert \le \rho_h < "
                r"\lambda_h$ across: the factor is the largest $\frac{1 + \alpha\sum\rho_hg^h}{1 + \alpha\sum\lambda_hg^h}$ over "
                r"$g^h \in [(1 + R^2)^{-1/2}, (1 + R^2)^{1/2}]$.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"With $R$ the largest $\tan\angle(x_i, v_1)$ and $\rho = \max_{\ell \ge 2}|\lambda_{\ell}|$ each layer "
                r"has $R^+ \le "
                r"q(R)R$, $q(R) = \frac{1 + \alpha\rho/\sqrt{1 + R^2}}{1 + \alpha\lambda_1/\sqrt{1 + R^2}} < 1$, for "
                r"any scores and "
                r"any mask, which may change from layer to layer. The steps are checked and put together by hand.",
            ),
        ),
        vectors=(
            Vector(
                "rho before and after a layer, q(12/5) and the bound",
                hemisphere_example,
                (
                    *("1.333333333333", "-2.4", "1.014045192321", "-1.937733478712"),
                    *("0.943181818182", "2.263636363636"),
                ),
            ),
            Vector("angles after one step with lambda_2 = -5", growing_angles, ("0.622611396393", "0.447677593133")),
        ),
        variants=(
            Variant(
                "Symmetric(V)",
                "$V = (1, 1; 0, \\frac12)$, $\\alpha = 1$: a token along $(1, -3)$ leaves the half space.",
                a_sheared_half_space_is_left,
            ),
            Variant(
                "Relation(Eigenvalue(V, 1) > 0)",
                "$d = 1$, $V = -1$, $\\alpha = 2$: the token flips.",
                a_lone_value_flips,
            ),
            Variant(
                "InHemisphere(V)",
                "$V = \\operatorname{diag}(1, \\frac12)$, $M = 0$: the tokens $\\pm e_1$ rest.",
                a_pair_across_rests,
            ),
            Variant(
                "NonPrincipalModulusBelow(V)",
                r"$V = \operatorname{diag}(1, -5)$, $M = -I$, $\alpha = \frac1{10}$, two tokens at angles $\pm0.6$: the "
                r"angle grows.",
                large_negative_eigenvalue_grows,
            ),
        ),
        property_tests=(OnInstances(contracts),),
    )
)


def spread(radius: Any, norm: Any, numbers: Any = mpmath) -> Any:
    """``eta(R) = e^{2|M|R} sqrt(1 + R^2) - 1``."""
    return numbers.exp(2 * norm * radius) * numbers.sqrt(1 + radius**2) - 1


def ball(values: tuple[Any, ...], norm: Any, step: Any) -> tuple[Any, Any]:
    """``eta*`` and the radius ``R*`` of the certified ball."""
    top, others = values[0], values[1:]
    m = 1 + step * top
    slow = max([mpmath.mpf(1), *(abs(1 + step * each) for each in others)]) / m
    room = m * (1 - slow) / (step * (max(abs(each) for each in others) + top))
    root = (
        mpmath.findroot(lambda r: spread(r, norm) - room, mpmath.sqrt(room) / 4)
        if norm
        else mpmath.sqrt((1 + room) ** 2 - 1)
    )
    return room, root


def ball_examples() -> list[Any]:
    """Three systems: eta* and R*."""
    with mpmath.workdps(30):
        half, quarter, eighth = (mpmath.mpf(1) / k for k in (2, 4, 8))
        first = ball((mpmath.mpf(1), quarter, eighth), mpmath.log(3), half)
        second = ball((mpmath.mpf(1), mpmath.mpf(-2)), mpmath.mpf(1), mpmath.mpf(3) / 2)
        third = ball((mpmath.mpf(1), mpmath.mpf(-2)), 0, mpmath.mpf(3) / 2)
        return [*first, *second, third[1]]


def inside_the_ball(source: np.random.Generator) -> Mapping[str, float]:
    """One layer from a random state of the ball: the sum of squared tangents shrinks by the factor stated."""
    n, size = int(source.integers(1, 5)), int(source.integers(2, 5))
    values = np.append(1.0, source.uniform(-2.5, 0.9, size=size - 1))
    worst = max(0.0, float(-values.min()) - 1)
    step = float(source.uniform(0.05, 0.95 * (2 / worst if worst > 0 else 3)))
    score = source.normal(size=(size, size)) * source.uniform(0, 3)
    norm = float(np.linalg.norm(score, 2))
    m = 1 + step
    slow = max(1.0, float(np.abs(1 + step * values[1:]).max())) / m
    rho = float(np.abs(values[1:]).max())
    room = m * (1 - slow) / (step * (rho + 1))
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(spread(middle, norm, np)) < room else (low, middle)
    radius = low * float(source.uniform(0.05, 0.99))
    rest = source.normal(size=(n, size - 1))
    rest *= radius / np.linalg.norm(rest)
    x = unit_rows(np.hstack([np.ones((n, 1)), rest]))
    after = tangents(layer(x, np.diag(values), attention(x, score), step))
    eta = float(spread(radius, norm, np))
    q = (m * slow + step * rho * eta) / (m - step * eta)
    return {"the bound": float(np.linalg.norm(after)) - q * radius, "no contraction": q - 1}


def ball_steps() -> Derivation:
    """The factor is below one exactly where eta is below its threshold."""
    m, slow, step, rho, top, eta = sp.symbols("m sigma alpha rho lambda eta", positive=True)
    return Derivation(
        (
            Inequality(
                name="the factor is below one",
                says="$q = \\frac{m\\sigma + \\alpha\\rho\\eta}{m - \\alpha\\lambda_1\\eta}$ with $m = 1 + "
                "\\alpha\\lambda_1$ and "
                "$\\sigma = \\varrho_* < 1$: the denominator is positive and $q < 1$ for $\\eta < \\eta^*$.",
                hypotheses=(
                    sp.Eq(m, 1 + step * top),
                    slow < 1,
                    eta * step * (rho + top) < m * (1 - slow),
                ),
                conclusion=sp.And(m - step * top * eta > 0, m * slow + step * rho * eta < m - step * top * eta),
            ),
            Argument(
                name="the rest",
                says="Inside the ball scores of a row differ by at most $2\\lVert M\\rVert R$, so $|nb_{ij} - 1| \\le "
                "\\eta$; the mean of "
                "the $\\varrho_i$ and their deviations are stretched by at most $m\\sigma$ with uniform weights, the rest by "
                "$\\alpha\\rho\\eta$.",
                uses=("the factor is below one",),
            ),
        )
    )


def eta(radius: Any, norm: Any) -> Any:
    """``e^{2|M|R} sqrt(1 + R^2) - 1``, symbolic."""
    return sp.exp(2 * norm * radius) * sp.sqrt(1 + radius**2) - 1


_TOP, _SECOND, _LAST = Eigenvalue(V, 1), Eigenvalue(V, 2), Eigenvalue(V, d)
#: ``max_{l >= 2} |lambda_l|``.
LARGEST_OTHER = sp.Max(sp.Abs(_SECOND), sp.Abs(_LAST))
SPREAD = eta(RADIUS, SpectralNorm(matrix("M")))
_m = 1 + alpha * _TOP
#: ``m rho_*``.
_SLOW = sp.Max(1, sp.Abs(1 + alpha * _SECOND), sp.Abs(1 + alpha * _LAST))
BALL = ContractsInBall(
    V,
    sp.Lt(SPREAD * alpha * (LARGEST_OTHER + _TOP), _m - _SLOW, evaluate=False),
    (_SLOW + alpha * LARGEST_OTHER * SPREAD) / (_m - alpha * _TOP * SPREAD),
)

PM_X2 = register(
    Statement(
        id="PM-X2",
        kind=Kind.THEOREM,
        source=Source(HERE, "certified basins of attraction"),
        title="A ball of attraction of principal consensus with an explicit radius and rate",
        systems=("attention-map",),
        conditions=(
            Symmetric(V),
            SimpleTop(V),
            Relation(Eigenvalue(V, 1) > 0),
            Relation(alpha * (EigenvalueModulus(V, d) - Eigenvalue(V, 1)) < 2),
            Relation(d >= 2),
        ),
        claims=(BALL,),
        claims_from=(("the rest",),),
        text=r"In other letters: let $m = 1 + \alpha\lambda_1$, $\varrho_* = \frac1m\max\{1, \max_{\ell \ge 2}|1 + "
        r"\alpha\lambda_{\ell}|\}$, $\rho = "
        r"\max_{\ell \ge 2}|\lambda_{\ell}|$, $\eta(R) = e^{2\lVert M\rVert R}\sqrt{1 + R^2} - 1$ and $\eta(R) < \eta^* "
        r"= \frac{m(1 - "
        r"\varrho_*)}{\alpha(\rho + \lambda_1)}$. Then $\{v_1^{\top}x_i > 0,\ \sum_i\tan^2\angle(x_i, v_1) \le R^2\}$ is forward "
        r"invariant, and $\bigl(\sum_i\tan^2\bigr)^{1/2}$ shrinks in each step by the factor $q = \frac{m\varrho_* + "
        r"\alpha\rho\eta(R)}"
        r"{m - \alpha\lambda_1\eta(R)} < 1$. The rate $\varrho_*$ of the limit cannot be improved for $n, d \ge 2$.",
        depends=("PM-L4", "PM-X1"),
        derive=ball_steps,
        notes=(
            Remark(
                RemarkKind.OPEN,
                "That the weights differ from uniform ones by at most eta inside the ball, and the split into mean and "
                "deviations, "
                "are written out and seen on random instances; the kernel has no derivation yet.",
            ),
        ),
        vectors=(
            Vector(
                "eta*, R* of three systems",
                ball_examples,
                ("0.6", "0.204577914124378", "0.111111111111111", "0.0520050394578336", "0.484322104837853"),
            ),
        ),
        variants=(
            Variant(
                "Symmetric(V)",
                "$V = (1, 20; 0, \\frac12)$, $\\alpha = 1$, $M = 0$: a tangent $\\frac1{20}$ becomes $\\frac3{40}$.",
                a_sheared_ball_grows,
            ),
        ),
        property_tests=(OnInstances(inside_the_ball),),
    )
)
