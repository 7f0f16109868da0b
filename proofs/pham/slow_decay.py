"""PH-T2, how slow: a pair on the line decays algebraically, and for three tokens the mean is pushed by the others.

The numbers are those of ``D = 1``, ``W = 1``, ``B = -1``.  For three tokens the mean is integrated beside the deviations, in
as many digits as its own do not drown in those of the tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import sympy as sp

from eigentoken.proofs.properties.trajectories import extrapolated
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.tensor_reductions import slope, velocity
from eigentoken.proofs.steps.textbook_flows import MEAN_VALUE_DIFFERENCE
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["decay_steps", "mean_moves", "three_tokens_example", "velocity_of_the_mean"]

_ONE, _MINUS = ((sp.Integer(1),),), ((sp.Integer(-1),),)
GAP, INVERSE = "the gap s - tanh s", "the inverse square"


def _difference(what: str) -> str:
    return f"a difference of two values of {what} is a value of its derivative in between times the step"


def _below_the_identity() -> tuple[Step, ...]:
    """The pair (x, -x) moves by x' = -x tanh(x^2), and tanh s is at most s."""
    x, s, middle = sp.symbols("x s z", real=True)
    square = sp.Symbol("g", real=True)
    return (
        grouped(
            "one-dimensional pair",
            "How slow the decay is: for $D = 1$, $L = 2$, $W = 1$, $B = -1$ and tokens $x, -x$ the registered system "
            "gives",
            lambda: velocity("token-flow", {"B": _MINUS, "W": _ONE}, ((x,), (-x,)))[0],
            [-x * sp.tanh(x**2)],
            "\\dot x = <1>",
            scope="2 tokens, d = 1",
        ),
        slope(
            "slope of s - tanh s",
            "The function $g(s) = s - \\tanh s$ has $g(0) = 0$ and the slope",
            s - sp.tanh(s),
            s,
            sp.tanh(s) ** 2,
            establishes=(f"{GAP} is differentiable",),
        ),
        Citation(
            name="mean value of s - tanh s",
            says="so that for some $z$ between $0$ and $s$",
            theorem=MEAN_VALUE_DIFFERENCE,
            letters={"f": GAP},
            uses=("slope of s - tanh s",),
            formula="g(s) - g(0) = s\\tanh^2 z",
            establishes=(_difference(GAP),),
        ),
        Inequality(
            name="tanh s is at most s",
            says="and $g(s) \\ge 0$ for $s \\ge 0$.",
            hypotheses=(sp.Eq(square, middle**2 * s), s >= 0),
            conclusion=square >= 0,
            uses=("mean value of s - tanh s",),
            needs=(_difference(GAP),),
            establishes=("tanh s is at most s",),
        ),
    )


def _algebraic_decay() -> tuple[Step, ...]:
    """So 1/x^2 grows at most linearly."""
    x, s, hyperbolic, change, time = sp.symbols("x s T y' t", real=True)
    now, first, start, later, speed = sp.symbols("y y_0 q_0 q v", real=True)
    return (
        Identity(
            name="inverse square of the pair",
            says="With $T = \\tanh x^2$ the inverse square $y = 1/x^2$ of the pair moves by $\\dot y = -2v/x^3$, $v = \\dot x$,",
            left=-2 * speed / x**3,
            right=2 * hyperbolic / x**2,
            where={speed: -x * hyperbolic},
            uses=("one-dimensional pair",),
            establishes=(f"{INVERSE} is differentiable",),
        ),
        Citation(
            name="mean value of the inverse square",
            says="so that between two times",
            theorem=MEAN_VALUE_DIFFERENCE,
            letters={"f": INVERSE},
            uses=("inverse square of the pair",),
            formula="y(t) - y(0) = \\dot y(t^*)\\,t",
            establishes=(_difference(INVERSE),),
        ),
        Inequality(
            name="algebraic decay of a pair",
            says="Since $T \\le s = x^2$, the slope $y' = 2T/s$ is at most $2$: $1/q = y \\le y_0 + 2t$ with $y_0 = "
            "1/q_0$, where $q = x(t)^2$ and $q_0 = x(0)^2$. The pair decays no faster than $t^{-1/2}$.",
            hypotheses=(
                s > 0,
                hyperbolic <= s,
                sp.Eq(change, 2 * hyperbolic / s),
                time >= 0,
                sp.Eq(now, first + change * time),
                start > 0,
                later > 0,
                sp.Eq(first, 1 / start),
                sp.Eq(now, 1 / later),
            ),
            conclusion=later >= start / (1 + 2 * start * time),
            uses=("mean value of the inverse square", "tanh s is at most s"),
            needs=("tanh s is at most s", _difference(INVERSE)),
            establishes=("a pair on the line decays no faster than algebraically",),
        ),
    )


def _moving_mean() -> tuple[Step, ...]:
    """The velocity of a mean that is zero."""
    size, small = sp.Symbol("s", positive=True), sp.Symbol("w", positive=True)
    power = sp.exp(-3 * size**2)
    push = -2 * size * small * (1 - small) ** 2 / ((1 + 2 * small**2) * (2 + small))
    return (
        grouped(
            "a mean that is zero",
            "For three tokens the mean is not a quantity of its own: with $D = 1$, $W = 1$, $B = -1$ and tokens $2s, "
            "-s, -s$ the mean is zero, and moves with the velocity (in $w = e^{-3s^2}$)",
            lambda: [
                sum(
                    row[0]
                    for row in velocity("token-flow", {"B": _MINUS, "W": _ONE}, ((2 * size,), (-size,), (-size,)))
                )
                / 3
            ],
            [push.subs(small, power)],
            "\\dot{\\bar x} = -\\frac{2s\\,w\\,(1 - w)^2}{(1 + 2w^2)(2 + w)}",
            scope="3 tokens, d = 1",
        ),
        Inequality(
            name="the mean is pushed",
            says="which is not zero for $s > 0$, $0 < w < 1$: no equation $\\dot{\\bar x} = (\\cdot)\\,\\bar x$ holds, "
            "and the mean need not decay like the solutions of $\\dot x = Bx$.",
            hypotheses=(small < 1,),
            conclusion=push < 0,
            uses=("a mean that is zero",),
            establishes=("a mean that is zero can move",),
        ),
    )


def decay_steps() -> tuple[Step, ...]:
    """``x(t)^2 >= x(0)^2 / (1 + 2 x(0)^2 t)`` for the pair (x, -x); the velocity of a mean that is zero."""
    return (
        *_below_the_identity(),
        *_algebraic_decay(),
        *_moving_mean(),
    )


def mean_moves() -> Verdict:
    """At tokens (2, -1, -1) the mean is zero and its velocity is negative: certified sign."""
    tokens = ((sp.Integer(2),), (sp.Integer(-1),), (sp.Integer(-1),))
    speed = sum(row[0] for row in velocity("token-flow", {"B": _MINUS, "W": _ONE}, tokens)) / 3
    if sum(row[0] for row in tokens) == 0 and sign(speed) == -1:
        return holds("W = 1, B = -1, tokens (2, -1, -1): the mean is 0 exactly and its velocity is negative")
    return fails(f"the mean moves with {speed}")


def velocity_of_the_mean(_: Any, state: Sequence[Any]) -> list[Any]:
    """Of the mean and of all deviations from it but the last, in mpmath."""
    mean, *few = state
    apart = (*few, -mpmath.fsum(few))
    pulls = []
    for each in apart:
        weights = [mpmath.exp((mean + each) * other) for other in apart]
        pulls.append(mpmath.fdot(weights, apart) / mpmath.fsum(weights))
    push = mpmath.fsum(pulls) / len(apart)
    return [-mean - push, *(push - pull for pull in pulls[:-1])]


def three_tokens_example() -> list[Any]:
    """Tokens and mean at t = 10; mean, skewness, and mean over minus half the product of the central moments at t =
    100."""
    start = [mpmath.mpf(each) / 10 for each in (1, 9, 1)]
    (mean, one, two), (late, *few) = extrapolated(velocity_of_the_mean, start, [10, 100], 18)
    apart = [*few, -sum(few)]
    second, third = (mpmath.fsum(each**k for each in apart) / 3 for k in (2, 3))
    return [mean + one, mean + two, mean - one - two, mean, late, third / second**1.5, late / (-second * third / 2)]
