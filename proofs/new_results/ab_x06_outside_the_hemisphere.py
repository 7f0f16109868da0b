"""AB-X6: causal attention with a symmetric value matrix outside the hemisphere: uniform attention, and what fails for others.

Own derivation; the guess that almost every start ends on ``+-v`` is false for general scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import sphere
from eigentoken.theory.language.claims import AlmostEveryConverges, When
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.places import ConsensusAt, EachAt
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Argument, Derivation, Identity

U, P = matrix("U"), matrix("P")
THETA = sp.Symbol("theta", real=True)


def _speed(numbers: Any, theta: Any) -> Any:
    """``U = diag(1, 1/2)``, ``P = diag(0, 3)``, token 1 at v: the angular velocity of token 2, over ``sqrt 2``."""
    sigma = -3 * numbers.sin(theta) ** 2
    weight = numbers.exp(sigma) / (1 + numbers.exp(sigma))
    bracket = weight + (1 - weight) * numbers.cos(theta) / 2
    return -numbers.sin(theta) * bracket / numbers.sqrt(2)


def stable_angle() -> list[Any]:
    """``theta_*`` and the multiplier there."""
    with mpmath.workdps(30):
        angle = mpmath.findroot(lambda x: mpmath.exp(-3 * mpmath.sin(x) ** 2) + mpmath.cos(x) / 2, mpmath.mpf("2.57"))
        return [angle, mpmath.diff(lambda x: _speed(mpmath, x), angle)]


def stable_across() -> list[Any]:
    """``U = diag(1, -1)``, ``P = diag(-1/5, -2)``: the multipliers of tokens 2 and 3 of the state ``(v, -v, e_2)``."""
    with mpmath.workdps(30):

        def speed(angles: list[Any]) -> Any:
            tokens = [(mpmath.cos(each), mpmath.sin(each)) for each in angles]
            own = tokens[-1]
            weights = [mpmath.exp(-own[0] * c / 5 - 2 * own[1] * y) for c, y in tokens]
            push = [
                sum(w * each[k] for w, each in zip(weights, tokens, strict=True)) / sum(weights) * (1, -1)[k]
                for k in (0, 1)
            ]
            return (own[0] * push[1] - own[1] * push[0]) / mpmath.sqrt(2)

        zero, half = mpmath.mpf(0), mpmath.pi / 2
        return [
            mpmath.diff(lambda x: speed([zero, x]), mpmath.pi),
            mpmath.diff(lambda x: speed([zero, mpmath.pi, x]), half),
        ]


def stable_off_the_axis() -> Verdict:
    """In balls: the velocity changes sign from plus to minus between 2.57 and 2.58, so a stable rest lies between."""
    from flint import arb

    def speed(text: str) -> Any:
        theta = arb(text)
        weight = (-3 * theta.sin() ** 2).exp()
        share = weight / (1 + weight)
        return -theta.sin() * (share + (1 - share) * theta.cos() / 2)

    low, high = speed("2.57"), speed("2.58")
    if bool(low > 0) and bool(high < 0):
        return holds("the velocity is positive at 2.57 and negative at 2.58: token 2 stays between")
    return fails(f"velocities {low}, {high}")


def derive() -> Derivation:
    """Uniform attention: the field of a token that sees N copies of v, the second derivative off the axis, the one on it."""
    top, mu, count = sp.symbols("lambda mu N", real=True)
    height = top * count * sp.cos(THETA) + (top * sp.cos(THETA) ** 2 + mu * sp.sin(THETA) ** 2) / 2
    bend = sp.diff(height, THETA, 2)
    there = {sp.cos(THETA): -top * count / (top - mu)}
    cos = sp.Symbol("c", real=True)
    at = sp.expand(sp.expand_trig(bend)).subs(sp.sin(THETA) ** 2, 1 - sp.cos(THETA) ** 2)
    return Derivation(
        (
            Identity(
                name="off the axis",
                says="$\\Phi = \\lambda N\\cos\\theta + \\frac12(\\lambda\\cos^2\\theta + \\mu\\sin^2\\theta)$: at "
                "$\\cos\\theta = "
                "-\\frac{\\lambda N}{\\lambda - \\mu}$ the second derivative is $(\\lambda - \\mu)\\sin^2\\theta > 0$: unstable.",
                left=sp.simplify(at.subs(sp.cos(THETA), cos).subs(cos, there[sp.cos(THETA)])),
                right=(top - mu) * (1 - (top * count / (top - mu)) ** 2),
            ),
            Argument(
                name="the rest",
                says="By induction over the tokens: the limit equation has finitely many equilibria, its limit sets "
                "are single points, and almost every start avoids those with a positive eigenvalue.",
                uses=("off the axis",),
            ),
        )
    )


def uniform(source: np.random.Generator) -> Mapping[str, float]:
    """``P = 0``, earlier tokens at signs of v: the velocity of the next token is that of the gradient of Phi."""
    d, i = int(source.integers(2, 5)), int(source.integers(2, 6))
    values = np.sort(source.uniform(-1, 2, size=d))[::-1]
    signs = source.choice([-1.0, 1.0], size=i - 1)
    y = source.normal(size=d)
    y /= np.linalg.norm(y)
    x = np.vstack([signs[:, None] * np.eye(d)[0], y])
    speed = sphere(x, np.diag(values), np.zeros((d, d)), causal=True)[-1]
    push = (values[0] * signs.sum() * np.eye(d)[0] + values * y) / i
    return {"the limit equation": gap(speed, push - (push @ y) * y)}


AB_X6 = register(
    Statement(
        id="AB-X6",
        kind=Kind.THEOREM,
        source=Source(HERE, "AB-T6.1 outside the hemisphere"),
        title="Causal uniform attention from almost every start",
        systems=("causal-flow",),
        conditions=(
            Symmetric(U),
            SimpleTop(U),
            Relation(Eigenvalue(U, 1) > 0),
            Relation(EigenvalueGap(U) > 0),
            Relation(sp.Eq(SpectralNorm(P), 0)),
        ),
        claims=(
            AlmostEveryConverges(EachAt(U, 1)),
            When(Relation(Eigenvalue(U, 2) > 0), AlmostEveryConverges(ConsensusAt(U, 1))),
        ),
        depends=("AB-T6.1",),
        derive=derive,
        claims_from=(("the rest",), ("the rest",)),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"With the limits $\sigma_iv$ and $N_i = \sum_{j < i}\sigma_j$ almost every start has $\sigma_iN_i \ge "
                r"-\frac{\lambda_1 - \lambda_2}{\lambda_1}$.",
            ),
            Remark(
                RemarkKind.OPEN,
                "That a token whose predecessors converge tends to an equilibrium of the limit equation is cited (limit sets of "
                "asymptotically autonomous systems); null basins as in CT-9a.",
            ),
        ),
        printed=Printed(
            text=r"For almost every start every token tends to $\pm v$, also outside the hemisphere and for every $P$.",
            wrong=r"False: a second token may rest off the axis and be exponentially stable.",
            kind=SourceKind.FORMALISED,
            counterexamples=(
                Counterexample(
                    "two tokens in the plane",
                    r"$U = \operatorname{diag}(1, \frac12)$, $P = \operatorname{diag}(0, 3)$: token 2 rests at the angle "
                    r"$2.5756\ldots$, with the multiplier $-0.234$.",
                    {"system": "causal-flow", "U": [["1", "0"], ["0", "1/2"]], "P": [["0", "0"], ["0", "3"]]},
                    stable_off_the_axis,
                ),
            ),
        ),
        vectors=(
            Vector("the angle and its multiplier", stable_angle, ("2.5756106068188", "-0.234119171513")),
            Vector("three tokens (v, -v, e_2): multipliers", stable_across, ("-0.144205249538", "-0.042826866662")),
        ),
        variants=(
            Variant(
                "Relation(Eq(SpectralNorm(P), 0))",
                r"$U = \operatorname{diag}(1, \frac12)$, $P = \operatorname{diag}(0, 3)$: a stable rest off the axis.",
                stable_off_the_axis,
            ),
        ),
        property_tests=(OnInstances(uniform),),
    )
)
