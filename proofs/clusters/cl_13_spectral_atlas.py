"""CL-13: two tokens under a causal mask with a symmetric value matrix: all equilibria, and a stable one off the eigenvectors.

The recorded conjecture (the spectral atlas: for distinct positive eigenvalues and any keys and queries almost every token
tends to
the top eigenvector or its negative) is false; two forms of it that survive are registered as conjectures.
Reference: Karagodin-Polyanskiy-Rigollet, from a formalisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from sympy.core.symbol import Str

from eigentoken.proofs.bounds.rows import for_all
from eigentoken.proofs.clusters.sources import CAUSAL, recorded
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import precise, sphere, turning
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.instances import VelocityIs, rows
from eigentoken.theory.kernel.propositions import Atom, ForAll, Proposition, proposition
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import AllOf, AnyOf, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusSet, EachAt
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import Eigenvalue, Trace, matrix, n
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    SourceKind,
    Statement,
    Vector,
)
from eigentoken.theory.statements.steps import Argument, Derivation, Identity

U, P = matrix("U"), matrix("P")
THETA, TOP, SECOND, WEIGHT = sp.symbols("theta lambda mu a", real=True)
#: ``P = diag(-1, 1 + 8/3 ln 2)``, ``V = diag(2, 1)``.
SCORE = sp.diag(-1, 1 + sp.Rational(8, 3) * sp.log(2))


def planar_speed() -> Any:
    """The angular velocity of token 2 at angle theta, token 1 at the top eigenvector, with weight a on token 1."""
    push = sp.Matrix([TOP * (WEIGHT + (1 - WEIGHT) * sp.cos(THETA)), SECOND * (1 - WEIGHT) * sp.sin(THETA)])
    return (sp.Matrix([-sp.sin(THETA), sp.cos(THETA)]).T * push)[0]


def derive() -> Derivation:
    """The field in the plane, and its slope at an equilibrium off the axis."""
    cos, sin, slope = sp.symbols("c s D", real=True)
    speed = planar_speed()
    weight = sp.Symbol("A")
    return Derivation(
        (
            Identity(
                name="the field",
                says="$x_2 = \\cos\\theta\\,\\xi + \\sin\\theta\\,w$: the angular velocity is $-\\sin\\theta\\,[a\\lambda + "
                "(1-a)(\\lambda - \\mu)\\cos\\theta]$, so off the axis it vanishes iff $a\\lambda = (1-a)(\\lambda - "
                "\\mu)|c|$, $c = \\cos\\theta < 0$.",
                left=speed,
                right=-sp.sin(THETA) * (WEIGHT * TOP + (1 - WEIGHT) * (TOP - SECOND) * sp.cos(THETA)),
            ),
            Identity(
                name="the slope",
                says="With $a' = a(1-a)\\sigma'$ and $a\\lambda = -(1-a)(\\lambda - \\mu)c$ the derivative of the field there is "
                "$\\kappa = (1-a)(\\lambda - \\mu)s(s - |c|\\sigma')$, $D = \\sigma'$.",
                left=-sin
                * (
                    weight * (1 - weight) * slope * (TOP - (TOP - SECOND) * cos) - (1 - weight) * (TOP - SECOND) * sin
                ).subs(weight, -(TOP - SECOND) * cos / (TOP - (TOP - SECOND) * cos)),
                right=((1 - weight) * (TOP - SECOND) * sin * (sin + cos * slope)).subs(
                    weight, -(TOP - SECOND) * cos / (TOP - (TOP - SECOND) * cos)
                ),
                uses=("the field",),
            ),
            Argument(
                name="the rest",
                says="Across the plane the push has no first-order change but $(1-a)(U - \\mu)\\delta$; token 1 moves by itself.",
                uses=("the slope",),
            ),
        )
    )


_lam, _mu, _p, _q, _x, _y = (sp.Symbol(name, real=True) for name in ("lambda", "mu", "p", "q", "x", "y"))
_cos = sp.Symbol("c", real=True)
_ANY_SCORE = sp.Matrix([[_p, _x], [_y, _q]])
#: The system has weights that sum to ``1/sqrt(d)``.
_ROOT = sp.sqrt(2)


def _sigma(angle: Any) -> Any:
    """``x^T P (xi - x)`` at an angle."""
    x = sp.Matrix([sp.cos(angle), sp.sin(angle)])
    return (x.T * _ANY_SCORE * (sp.Matrix([1, 0]) - x))[0]


def _speed(angle: Any) -> Any:
    """``-sin theta (lambda e^sigma + (lambda - mu) cos theta)/(1 + e^sigma)``."""
    grown = sp.exp(_sigma(angle))
    return -sp.sin(angle) * (_lam * grown + (_lam - _mu) * sp.cos(angle)) / (1 + grown)


def _planar() -> Proposition:
    """The velocities of two tokens in the plane, the first one at the top eigenvector."""
    ends = [-sp.sin(THETA), sp.cos(THETA)]
    given = ((Str("U"), rows([[_lam, 0], [0, _mu]])), (Str("P"), rows(_ANY_SCORE.tolist())))
    tokens = rows([[1, 0], [sp.cos(THETA), sp.sin(THETA)]])
    moved = VelocityIs(given, tokens, rows([[0, 0], [_speed(THETA) * each / _ROOT for each in ends]]))
    return for_all(Atom(moved), THETA, _lam, _mu, _p, _q, _x, _y)


def _slope_off_the_axis() -> Proposition:
    """Where ``e^sigma = (lambda - mu)|c|/lambda``, ``-1 < c < 0``: the derivative of the speed is kappa."""
    sine = sp.sqrt(1 - _cos**2)
    angle = sp.acos(_cos)
    level = sp.log((_lam - _mu) * -_cos / _lam)
    rest = (_sigma(THETA).subs(_q, 0)).subs({sp.cos(THETA): _cos, sp.sin(THETA): sine})
    here = {_q: (rest - level) / sine**2}
    weight = -(_lam - _mu) * _cos / (_lam - (_lam - _mu) * _cos)
    slope = sp.diff(_sigma(THETA), THETA).subs(THETA, angle).subs(here)
    kappa = (1 - weight) * (_lam - _mu) * sine * (sine + _cos * slope)
    said = sp.Eq(sp.diff(_speed(THETA), THETA).subs(THETA, angle).subs(here), kappa, evaluate=False)
    found = for_all(said, _p, _x, _y)
    inside = ForAll(_cos, proposition(sp.And(_cos > -1, _cos < 0)), found)
    return ForAll(_lam, proposition(_lam > 0), ForAll(_mu, proposition(_mu < _lam), inside))


#: The field in the plane of token 2, whose zeros are the equilibria, and its slope there.
PLANAR = (Formula(_planar()), Formula(_slope_off_the_axis()))


def _spectrum() -> list[Any]:
    """The eigenvalues at the counterexample, exactly: token 1 alone, then token 2 in the plane."""
    angle = sp.Symbol("phi", real=True)
    x = sp.Matrix([sp.cos(angle), sp.sin(angle)])
    xi = sp.Matrix([1, 0])
    sigma = (x.T * SCORE * (xi - x))[0]
    weight = sp.exp(sigma) / (1 + sp.exp(sigma))
    speed = planar_speed().subs({THETA: angle, TOP: 2, SECOND: 1, WEIGHT: weight})
    there = {angle: 2 * sp.pi / 3}
    return [sp.simplify(speed.subs(there)), sp.Integer(1) - 2, sp.simplify(sp.diff(speed, angle).subs(there))]


def stable_off_the_eigenvectors() -> Verdict:
    """The field vanishes exactly and both eigenvalues are negative."""
    speed, first, second = _spectrum()
    stated = -sp.Rational(3, 10) - sp.Rational(4, 5) * sp.log(2)
    if speed == 0 and first < 0 and sp.simplify(second - stated) == 0 and bool(stated < 0):
        return holds(f"at rest, with the eigenvalues -1 and {stated}")
    return fails(f"velocity {speed}, eigenvalues {first}, {second}")


def on_the_way() -> list[Any]:
    """Angles at t = 3 from (0.3, 1.9)."""
    score, value = (-1, 1 + 8 * mpmath.ln2 / 3), (2, 1)
    start = [mpmath.mpf("0.3"), mpmath.mpf("1.9")]
    return precise(lambda t, theta: turning(theta, score, value, causal=True), start, 3, 18)


def classified(source: np.random.Generator) -> Mapping[str, float]:
    """A random equilibrium off the axis in dimension 2 to 4, made exact by a multiple of ``xi xi^T`` in P: at rest, and its
    slope in the plane (by the chain rule) is kappa."""
    size = int(source.integers(2, 5))
    values = np.sort(source.uniform(-1, 2, size=size))[::-1]
    values[0] = abs(values[0]) + 0.2
    c = -float(source.uniform(0.05, 0.95))
    s = np.sqrt(1 - c * c)
    score = source.normal(size=(size, size))
    xi, w = np.eye(size)[0], np.eye(size)[1]
    x = c * xi + s * w
    wanted = np.log((values[0] - values[1]) * -c / values[0])
    score += np.outer(xi, xi) * (wanted - x @ score @ (xi - x)) / (c * (1 - c))
    tokens = np.stack([xi, x])
    speed = sphere(tokens, np.diag(values), score, causal=True)
    weight = np.exp(wanted) / (1 + np.exp(wanted))
    along = -s * xi + c * w
    slope = along @ score @ (xi - x) - x @ score @ along
    kappa = (1 - weight) * (values[0] - values[1]) * s * (s + c * slope)
    bent = -s * (weight * (1 - weight) * slope * (values[0] - (values[0] - values[1]) * c)) + s * s * (1 - weight) * (
        values[0] - values[1]
    )
    return {"at rest": float(np.abs(speed).max()), "kappa": gap(bent, kappa)}


def _off_axis(source: np.random.Generator, aligned: bool) -> Mapping[str, float]:
    """The slope kappa of CL-13 at a random angle with negative cosine, for scores aligned with the value matrix."""
    top, second, scale = float(source.uniform(0.1, 2)), float(source.uniform(-2, 0.1)), float(source.uniform(0, 4))
    c = -float(source.uniform(0.01, 0.99))
    s = np.sqrt(1 - c * c)
    score = scale * (np.diag([top, second]) if aligned else np.eye(2))
    xi, x, along = np.array([1.0, 0]), np.array([c, s]), np.array([-s, c])
    slope = float(along @ score @ (xi - x) - x @ score @ along)
    return {"a stable state off the axis": -float(s + c * slope)}


def opposite_scores(source: np.random.Generator) -> Mapping[str, float]:
    """``P = -kI``, ``k > 0``, ``lambda_2 >= 0``: ``e^sigma > 1 > (lambda_1 - mu)|c|/lambda_1``, so nothing rests off the axis."""
    top, c, k = float(source.uniform(0.1, 2)), -float(source.uniform(0.01, 0.999)), float(source.uniform(0.01, 4))
    second = float(source.uniform(0, top))
    return {"an equilibrium off the axis": (top - second) * -c / top - float(np.exp(-k * (c - 1)))}


def no_stable_state_off_the_axis(source: np.random.Generator) -> Mapping[str, float]:
    """Two tokens, ``P = kI`` or ``P = kU``: the factor of kappa is positive wherever an equilibrium could be."""
    return {**_off_axis(source, False), **{f"{name}, P = kU": each for name, each in _off_axis(source, True).items()}}


def multiple_leader(source: np.random.Generator) -> Mapping[str, float]:
    """Two tokens, leading eigenvalue double: off the axis the direction in the top eigenspace has the eigenvalue
    ``(1 - a)(lambda_1 - mu) > 0``, by the chain rule at an equilibrium made as in CL-13."""
    top, second = float(source.uniform(0.2, 2)), float(source.uniform(-2, 0.1))
    c = -float(source.uniform(0.05, 0.95))
    weight = -c * (top - second) / (top - c * (top - second))
    values, x = np.array([top, top, second]), np.array([c, 0.0, np.sqrt(1 - c * c)])
    mean = weight * np.eye(3)[0] + (1 - weight) * x
    push = values * mean
    rate = (1 - weight) * values[1] - push @ x
    return {
        "at rest": float(np.abs(push - (push @ x) * x).max()),
        "eigenvalue": gap(rate, (1 - weight) * (top - second)),
        "sign": -rate,
    }


CL_13 = register(
    Statement(
        id="CL-13",
        kind=Kind.THEOREM,
        source=recorded(CAUSAL, "general value matrices, the spectral atlas"),
        title="Two causal tokens with a symmetric value matrix: all equilibria",
        systems=("causal-flow",),
        conditions=(Symmetric(U), SimpleTop(U), Relation(Eigenvalue(U, 1) > 0), Relation(sp.Eq(n, 2))),
        claims=PLANAR,
        claims_from=(("the field",), ("the slope",)),
        text=r"In every dimension: "
        r"let token 1 be at the top eigenvector $\xi$, $a = a_{21}$, $\sigma(x) = x^{\top}P(\xi - x)$. The equilibria of "
        r"token 2 are $\pm\xi$ and $x_2 = c\,\xi + s\,w$ with $Uw = \mu w$, $w \perp \xi$, $s = \sqrt{1 - c^2} > 0$, "
        r"$-1 < c < 0$ and "
        r"$e^{\sigma(x_2)} = (\lambda_1 - \mu)|c|/\lambda_1$. There the eigenvalues (weights that sum to one) are $\lambda_k - "
        r"\lambda_1$ (token 1), $(1-a)(\lambda_k - \mu)$ off the plane, and $\kappa = (1-a)(\lambda_1 - \mu)s(s - "
        r"|c|\sigma'(\theta))$ in it: it is linearly stable iff $\mu = \lambda_2$ is simple and $\sigma'(\theta) > "
        r"|\tan\theta|$.",
        derive=derive,
        prose_from=("the rest",),
        depends=("AB-T6.1",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"So for two tokens no such state is stable if $P = kI$ or $P = kU$ with $k \ge 0$ (there $\sigma' \le 0$ where "
                r"$c < 0$; for more tokens it is the conjecture CL-13a), and none exists if $P = kI$, $k < 0$ and $\lambda_2 \ge "
                r"0$. $x_2 = -\xi$ is stable iff $e^{-2\xi^{\top}P\xi}\lambda_1 < \lambda_1 - \lambda_2$; from a hemisphere "
                r"everything tends to $\xi$ (AB-T6.1).",
            ),
            Remark(
                RemarkKind.OPEN,
                "The eigenvalues off the plane are read from the equation and seen on random instances.",
            ),
        ),
        printed=Printed(
            text=r"$V$ diagonalisable with distinct positive eigenvalues, top eigenvector $\xi$, arbitrary $Q, K$: for "
            r"almost every "
            r"start every token tends to $\xi$ or $-\xi$ (recorded as a conjecture).",
            wrong=r"False already for two tokens in the plane: a state off the eigenvectors is asymptotically stable.",
            kind=SourceKind.RECORDED,
            counterexamples=(
                Counterexample(
                    "two tokens in the plane",
                    r"$V = \operatorname{diag}(2, 1)$, $P = \operatorname{diag}(-1, 1 + \frac83\ln2)$, $x_1 = (1, 0)$, $x_2 = "
                    r"(-\frac12, \frac{\sqrt3}2)$: at rest, eigenvalues $-1$ and $-\frac3{10} - \frac45\ln2$.",
                    {
                        "system": "causal-flow",
                        "U": [["2", "0"], ["0", "1"]],
                        "P": [["-1", "0"], ["0", "1 + 8/3 ln 2"]],
                        "angles": ["0", "2 pi/3"],
                    },
                    stable_off_the_eigenvectors,
                ),
            ),
        ),
        vectors=(
            Vector("eigenvalues at the counterexample", lambda: _spectrum()[1:], ("-1", "-0.854517744447956")),
            Vector("angles at t = 3 from (0.3, 1.9)", on_the_way, ("0.015399727535765", "1.911934194955977")),
        ),
        property_tests=(
            OnInstances(classified),
            OnInstances(opposite_scores),
        ),
    )
)

CL_13A = register(
    Statement(
        id="CL-13a",
        kind=Kind.CONJECTURE,
        source=recorded(CAUSAL, "the spectral atlas, simple positive leader; the restricted form is ours"),
        title="Spectral atlas, repaired: scores aligned with the value matrix",
        systems=("causal-flow",),
        conditions=(
            Symmetric(U),
            SimpleTop(U),
            Relation(Eigenvalue(U, 1) > 0),
            AnyOf(
                (
                    AllOf((MultipleOf(P, U), Relation(Trace(P * U) >= 0))),
                    AllOf((MultipleOf(P), Relation(Trace(P) >= 0))),
                )
            ),
        ),
        claims=(AlmostEveryConverges(EachAt(U, 1)),),
        depends=("CL-13",),
        property_tests=(OnInstances(no_stable_state_off_the_axis),),
    )
)

CL_13B = register(
    Statement(
        id="CL-13b",
        kind=Kind.CONJECTURE,
        source=recorded(CAUSAL, "the spectral atlas, leading eigenvalue with multiplicity"),
        title="Spectral atlas: a leading eigenvalue with multiplicity",
        systems=("causal-flow",),
        conditions=(Symmetric(U), Relation(Eigenvalue(U, 1) > 0), Relation(sp.Eq(Eigenvalue(U, 1), Eigenvalue(U, 2)))),
        claims=(AlmostEveryConverges(ConsensusSet()),),
        depends=("CL-13",),
        property_tests=(OnInstances(multiple_leader),),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"The point that all tokens tend to is the normalised part of $x_1(0)$ in the top eigenspace of $U$.",
            ),
            Remark(
                RemarkKind.SOURCE,
                r"In the record the words say the top eigenspace and the symbol says its complement; the words are meant.",
            ),
        ),
    )
)
