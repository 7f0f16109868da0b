"""PH-X1: rings of tokens with rotated scores: when they shrink, rotate or diverge.

``W = R(omega)``, ``B = -I``; m tokens at ``r R(psi + 2 pi l/m) e_1``.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from sympy.core.symbol import Str

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.rows import for_all
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import euclidean, precise
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.instances import VelocityIs, rows
from eigentoken.theory.kernel.propositions import TRUE, Atom, Conjunction, ForAll, Proposition, proposition
from eigentoken.theory.language.conditions import IsIdentity, Relation
from eigentoken.theory.language.terms import d, matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Argument, Derivation, Identity, Inequality

B = matrix("B")


def growth(m: int, square: Any, omega: Any, numbers: Any = mpmath) -> Any:
    """``r'/r = -N_m / sum_k e^{rho cos(phi_k + omega)}``, ``rho = r^2``."""
    angles = [2 * numbers.pi * k / m for k in range(m)]
    weights = [numbers.exp(square * numbers.cos(each + omega)) for each in angles]
    return -sum(w * numbers.cos(a) for w, a in zip(weights, angles, strict=True)) / sum(weights)


def radius(degrees: int) -> Any:
    """``r_*`` of three tokens: the zero of ``3/2 rho cos omega - ln cosh(sqrt 3/2 rho sin omega)``."""
    omega = mpmath.pi * degrees / 180

    def level(square: Any) -> Any:
        return 1.5 * square * mpmath.cos(omega) - mpmath.log(
            mpmath.cosh(mpmath.sqrt(3) / 2 * square * mpmath.sin(omega))
        )

    low, high = mpmath.mpf("0.1"), mpmath.mpf(60)
    return mpmath.sqrt(mpmath.findroot(level, (low, high), solver="anderson", tol=1e-40))


def radii() -> list[Any]:
    """For 62, 65, 70 and 75 degrees."""
    with mpmath.workdps(30):
        return [radius(each) for each in (62, 65, 70, 75)]


def at_seventy() -> list[Any]:
    """omega = 70 degrees: ``r'/r`` at r = 2, and r(4) from 1.45."""
    with mpmath.workdps(30):
        omega = mpmath.pi * 70 / 180
        end = precise(lambda t, r: [r[0] * growth(3, r[0] ** 2, omega)], [mpmath.mpf("1.45")], 4, 15)
        return [growth(3, mpmath.mpf(4), omega), end[0]]


def derive() -> Derivation:
    """Three tokens: the sum, its sign, the slope at infinity; pairs of an even ring."""
    square, root = sp.symbols("rho q", real=True)
    small, large, turned = sp.symbols("c s k", real=True)
    grown, halved, turn = sp.symbols("E F G", positive=True)
    three = grown - sum(halved * each / 2 for each in (turn, 1 / turn))
    even = sum(sign * large * sp.exp(square * sign * large) for sign in (1, -1))
    return Derivation(
        (
            Identity(
                name="three tokens",
                says="With $C = \\cos\\omega$, $S = \\sin\\omega$, $E = e^{\\rho C}$, $F = e^{-\\rho C/2}$, $G = "
                "e^{\\sqrt3\\rho S/2}$, $\\cosh = \\frac12(G + \\frac1G)$: $N_3 = e^{\\rho C} - e^{-\\rho "
                "C/2}\\cosh(\\tfrac{\\sqrt3}2\\rho S)$.",
                left=three,
                right=grown - halved * (turn**2 + 1) / (2 * turn),
            ),
            Inequality(
                name="sixty degrees",
                says="$f(\\rho) = \\frac32\\rho C - \\ln\\cosh(\\frac{\\sqrt3}2\\rho S)$ is concave with $f(0) = 0$; "
                "its slope at "
                "infinity $\\frac32C - \\frac q2|S|$ is nonnegative exactly for $\\tan|\\omega| \\le \\sqrt3$ ($s = "
                "|S|$, $c = C > 0$).",
                hypotheses=(root > 0, sp.Eq(root**2, 3), small > 0, large >= 0),
                conclusion=sp.Equivalent(3 * small / 2 - root * large / 2 >= 0, large <= root * small),
                uses=("three tokens",),
            ),
            Identity(
                name="even rings",
                says="Tokens $k$ and $k + m/2$ together: $\\cos\\varphi\\,(e^{\\rho k} - e^{-\\rho k})$ with $k = "
                "\\cos(\\varphi + "
                "\\omega)$; after $\\varphi \\to -\\varphi$ each summand has the sign of $\\cos\\omega$.",
                left=even.subs(large, turned),
                right=turned * (sp.exp(square * turned) - sp.exp(-square * turned)),
            ),
            Argument(
                name="the rest",
                says="The sign of the scalar equation of $r$ decides where it goes; for large rings the token nearest "
                "to $-\\omega$ dominates.",
                uses=(
                    "sixty degrees",
                    "even rings",
                ),
            ),
        )
    )


_r, _rho, _more = sp.symbols("r rho sigma", positive=True)
_omega, _psi = sp.symbols("omega psi", real=True)


def _ring(m: int) -> VelocityIs:
    """The velocities of m tokens on a ring: ``-sum_k w_k x_{l+k} / sum_k w_k`` with ``w_k = e^{r^2 cos(phi_k + omega)}``."""
    turns = [2 * sp.pi * k / m for k in range(m)]
    weights = [sp.exp(_r**2 * sp.cos(each + _omega)) for each in turns]

    def at(angle: Any) -> list[Any]:
        return [_r * sp.cos(angle), _r * sp.sin(angle)]

    def moved(own: Any, entry: int) -> Any:
        pulled = sum(w * at(_psi + own + each)[entry] for w, each in zip(weights, turns, strict=True))
        return -pulled / sum(weights)

    score = [[sp.cos(_omega), -sp.sin(_omega)], [sp.sin(_omega), sp.cos(_omega)]]
    given = ((Str("B"), rows([[-1, 0], [0, -1]])), (Str("W"), rows(score)))
    tokens = rows([at(_psi + own) for own in turns])
    return VelocityIs(given, tokens, rows([[moved(own, entry) for entry in (0, 1)] for own in turns]))


def _grows(m: int, square: Any, sign: str, low: Any, high: Any) -> Proposition:
    """For every ring with ``low <= |omega| <= high``: the sign of ``r'/r``."""
    rate = growth(m, square, _omega, sp)
    said = sp.Lt(rate, 0, evaluate=False) if sign == "shrinks" else sp.Gt(rate, 0, evaluate=False)
    within = Conjunction(tuple(proposition(each) for each in (sp.Abs(_omega) >= low, sp.Abs(_omega) <= high)))
    return ForAll(_rho, TRUE, ForAll(_omega, within, proposition(said)))


def _three(square: Any) -> Any:
    """``N_3``."""
    return sum(sp.cos(a) * sp.exp(square * sp.cos(a + _omega)) for a in (0, 2 * sp.pi / 3, 4 * sp.pi / 3))


def _even() -> Proposition:
    within = proposition(sp.Gt(sp.Abs(sp.cos(_omega)), sp.Rational(1, 1000)))
    said = sp.Lt(growth(4, _rho, _omega, sp) * sp.cos(_omega), 0, evaluate=False)
    return ForAll(_rho, TRUE, ForAll(_omega, within, proposition(said)))


_SMALLER = ForAll(
    _omega,
    proposition(sp.Abs(_omega) <= sp.pi),
    ForAll(
        _more,
        proposition(sp.Ge(_three(_more), 0, evaluate=False)),
        ForAll(_rho, proposition(_rho < _more), proposition(sp.Gt(_three(_rho), 0, evaluate=False))),
    ),
)
#: Rings of 2, 3 and 4 tokens: their velocities; three tokens: all shrink up to 60 degrees, all grow from 90 degrees on, and where
#: one ring does not grow the smaller ones shrink; four tokens: the sign of ``-cos omega``.
RINGS = tuple(
    map(
        Formula,
        (
            *(for_all(Atom(_ring(m)), _r, _omega, _psi) for m in (2, 3, 4)),
            _grows(3, _rho, "shrinks", 0, sp.pi / 3),
            _grows(3, _rho, "grows", sp.pi / 2, sp.pi),
            _SMALLER,
            _even(),
        ),
    )
)


def on_a_ring(source: np.random.Generator) -> Mapping[str, float]:
    """Rings stay rings, their radius obeys the equation; even rings have the sign of -cos omega; three tokens that of -f."""
    m, omega, r = int(source.integers(2, 8)), float(source.uniform(-np.pi, np.pi)), float(source.uniform(0.1, 3))
    angles = source.uniform(0, 7) + 2 * np.pi * np.arange(m) / m
    x = r * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turn = np.array([[np.cos(omega), -np.sin(omega)], [np.sin(omega), np.cos(omega)]])
    speed = -euclidean(x, np.eye(2), turn)
    radial = np.sum(speed * x, axis=1) / r**2
    stated = float(growth(m, r * r, omega, _Numpy))
    found = {"the radius": gap(radial, np.full(m, stated))}
    if m % 2 == 0:
        found["even"] = np.sign(np.cos(omega)) * stated
    if m == 3:
        level = 1.5 * r * r * np.cos(omega) - np.log(np.cosh(np.sqrt(3) / 2 * r * r * np.sin(omega)))
        found["three"] = float(np.sign(level) * stated)
    return found


def large_rings(source: np.random.Generator) -> Mapping[str, float]:
    """Rings of an odd number of tokens and a large radius: they diverge exactly beyond the angle stated."""
    m = int(source.choice([3, 5, 7, 9, 11, 13, 15]))
    border = np.pi / 2 * (1 - 1 / m if m % 4 == 3 else 1 + 1 / m)
    omega = float(source.uniform(0.02, np.pi - 0.02))
    omega = omega if abs(omega - border) > 0.02 else border + 0.02
    angles = 2 * np.pi * np.arange(m) / m
    scores = 1e6 * np.cos(angles + omega * source.choice([-1, 1]))
    weights = np.exp(scores - scores.max())
    rate = -float(weights @ np.cos(angles)) / float(weights.sum())
    return {"the sign": -rate * float(np.sign(omega - border))}


class _Numpy:
    """The names of mpmath that :func:`growth` uses."""

    pi, exp, cos = np.pi, staticmethod(np.exp), staticmethod(np.cos)


PH_X1 = register(
    Statement(
        id="PH-X1",
        kind=Kind.EXTENSION,
        source=Source(HERE, "rings of tokens"),
        title="Rings of tokens with rotated scores",
        systems=("token-flow",),
        conditions=(IsIdentity(-B), Relation(sp.Eq(d, 2))),
        claims=RINGS,
        claims_from=(
            *(("three tokens",), ("three tokens",), ("even rings",)),
            *(("sixty degrees",), ("the rest",), ("sixty degrees",), ("even rings",)),
        ),
        text=r"In general: "
        r"let $W = R(\omega)$. The rings $x_l = rR(\psi + 2\pi l/m)e_1$ are invariant, $\dot r/r = -N_m(r^2)/\sum_k"
        r"e^{r^2\cos(\varphi_k + \omega)}$, $N_m(\rho) = \sum_k\cos\varphi_k\,e^{\rho\cos(\varphi_k + \omega)}$, "
        r"$\varphi_k = 2\pi "
        r"k/m$. For $m = 3$: if $|\omega| \le 60^{\circ}$ every ring tends to 0; for $60^{\circ} < |\omega| < "
        r"90^{\circ}$ there is one "
        r"$r_*$, smaller rings tend to 0 and larger ones diverge; for $|\omega| \ge 90^{\circ}$ every ring diverges. "
        r"For even $m$ the "
        r"sign of $\dot r$ is that of $-\cos\omega$. For $m \equiv 3\ (4)$ large rings diverge iff $|\omega| > 90^{\circ}(1 - "
        r"\frac1m)$, for $m \equiv 1\ (4)$, $m \ge 5$, iff $|\omega| \ge 90^{\circ}(1 + \frac1m)$. So definite symmetric parts "
        r"with $B = -I$ do not give convergence to 0 beyond $60^{\circ}$.",
        depends=("PH-T2",),
        derive=derive,
        prose_from=("the rest",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"For odd $m \ge 5$ only the large rings are settled; all radii were scanned for $m \le 13$. The monotone "
                r"argument from the sign of $\dot r$ is by hand.",
            ),
        ),
        vectors=(
            Vector(
                "r_* at 62, 65, 70, 75 degrees",
                radii,
                ("3.38627970148673", "2.14165989675721", "1.48845196590289", "1.14451045097894"),
            ),
            Vector("70 degrees: rate at r = 2, r(4) from 1.45", at_seventy, ("0.154001597037162", "1.33869473")),
        ),
        property_tests=(OnInstances(on_a_ring), OnInstances(large_rings)),
    )
)
