"""AB-T5.1, where the bad start of the third token is not: a start at ``-y_1`` leaves it and does not come back.

On the great circle through y_1 and y_2, with angles ``0 < theta_2 < pi`` and ``theta_3(0) = pi``, the larger of the two angles
does not increase and the third stays at or above zero: so theta_3 tends to neither ``pi`` nor ``-pi``.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from eigentoken.proofs.steps.extremes import bound_almost_everywhere
from eigentoken.proofs.steps.textbook import BOOTSTRAP
from eigentoken.theory.statements.registry import recalled
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["position_steps"]

LARGER = "the larger angle, while below pi + delta,"
BELOW = "minus the third angle, where it is negative,"
ROOM = "the room below pi + delta"


def _great_circle() -> Iterator[Step]:
    """The second token's start, and the motion on a great circle."""
    c_i, s_i, c_j, s_j = sp.symbols("c_i s_i c_j s_j", real=True)
    tangent = (c_j - (c_i * c_j + s_i * s_j) * c_i) * (-s_i) + (s_j - (c_i * c_j + s_i * s_j) * s_i) * c_i
    yield recalled(
        "AB-L5.1",
        "the antipode is a fixed point",
        "Token 2 sees itself and token 1: its bad start is $y_2^* = -y_1$, which does not move.",
        "y_2^* = -y_1",
        name="the second token",
        uses=("uniqueness",),
    )
    yield Identity(
        name="motion on a great circle",
        says="Tokens 1, 2, 3 started on one great circle stay there. With $y_j = (c_j, s_j)$ and the unit tangent "
        "$(-s_i, c_i)$ at $y_i = (c_i, s_i)$, the angular speed that $y_j$ gives to $y_i$ is $\\sin(\\theta_j - "
        "\\theta_i)$.",
        left=tangent,
        right=s_j * c_i - c_j * s_i,
    )


def _from_above() -> Iterator[Step]:
    """The larger of the two angles never exceeds pi."""
    s_2, s_3, s_32, A_21, A_31, A_32 = sp.symbols("s_2 s_3 s_32 A_21 A_31 A_32", real=True)
    delta, floor, least, larger, pi = sp.symbols("delta c_1 s u pi", real=True)
    heads = sp.Symbol("N", positive=True)
    yield Inequality(
        name="angles from above",
        says="Let $\\theta_1 = 0$, $\\theta_2(0) \\in (0, \\pi)$ and $\\theta_3(0) = \\pi$, that is $y_3 = -y_1$. "
        "Token 2 stays in $(0, \\pi)$ (AB-L5.1): $s_2 = \\sin\\theta_2 > 0$, so $\\dot\\theta_2 = -A_{21}s_2 < 0$. On "
        "a bounded interval of time let $\\delta > 0$ be so small that $s_{32} = \\sin(\\theta_3 - \\theta_2) \\ge s "
        "> 0$ for $\\pi - \\delta \\le \\theta_3 \\le \\pi + \\delta$, and $N\\delta < c_1s$, where $N$ is the number "
        "of heads, which bounds $A_{31}$. For $\\theta_2 < \\theta_3 \\le \\pi$ the numbers $s_3 = \\sin\\theta_3 "
        "\\ge 0$ and $s_{32} > 0$ give $\\dot\\theta_3 = -A_{31}s_3 - A_{32}s_{32} < 0$; for $\\pi \\le \\theta_3 "
        "\\le \\pi + \\delta$, $s_3 \\ge -\\delta$, and it is negative too. So where the larger of $\\theta_2, "
        "\\theta_3$ is attained its slope is at most zero.",
        hypotheses=(
            A_21 > 0,
            s_2 > 0,
            A_31 > 0,
            heads >= A_31,
            floor > 0,
            floor <= A_32,
            s_32 > 0,
            delta > 0,
            sp.Or(s_3 >= 0, sp.And(s_3 >= -delta, s_32 >= least, least > 0, delta * heads < floor * least)),
        ),
        conclusion=sp.And(-A_21 * s_2 < 0, -A_31 * s_3 - A_32 * s_32 < 0),
        uses=("motion on a great circle", "weights"),
        needs=("solutions exist, are unique and absolutely continuous", "the weights are bounded below"),
        establishes=(
            f"{LARGER} is the largest of finitely many absolutely continuous functions of time",
            f"for almost every time, where {LARGER} is attained the derivative is at most zero",
        ),
    )
    yield from bound_almost_everywhere(
        LARGER,
        names=("slope of the larger angle", "the larger angle"),
        says=("As long as the larger angle is below $\\pi + \\delta$,", "So it does not increase there."),
        formulas=("\\tfrac{d}{dt}\\max(\\theta_2, \\theta_3) \\le 0 \\quad\\text{for almost every } t", ""),
        uses=("angles from above",),
    )
    yield Inequality(
        name="room below",
        says="It starts at $\\pi$: as long as the room $\\pi + \\delta - u$ is positive, $u \\le \\pi$ and the room is "
        "at least $\\delta$.",
        hypotheses=(larger <= pi, delta > 0),
        conclusion=sp.And(pi + delta - larger >= delta, delta > 0),
        uses=("the larger angle",),
        needs=(f"{LARGER} does not increase",),
        establishes=(
            f"{ROOM} is continuous in time and positive at the start",
            f"as long as {ROOM} is positive, it is at least a positive continuous function of time",
        ),
    )
    yield Citation(
        name="never above pi",
        says="So the larger angle never exceeds $\\pi$, and does not increase at all.",
        theorem=BOOTSTRAP,
        letters={"q": ROOM},
        uses=("room below",),
        formula="\\max(\\theta_2, \\theta_3)(t) \\le \\pi",
        establishes=(f"{ROOM} is positive at all times",),
    )


def _from_below() -> Iterator[Step]:
    """The third angle is never negative; where the bad start is not."""
    s_3, s_32, A_31, A_32 = sp.symbols("s_3 s_32 A_31 A_32", real=True)
    pi, third, late = sp.symbols("pi theta_3 u'", real=True)
    yield Inequality(
        name="angles from below",
        says="For $\\theta_2 - \\pi < \\theta_3 \\le 0$: $s_3 = \\sin\\theta_3 \\le 0$ and $\\sin(\\theta_2 - "
        "\\theta_3) = s_{32} > 0$, so that $-\\dot\\theta_3 = A_{31}s_3 - A_{32}s_{32} < 0$: the larger of $0$ and "
        "$-\\theta_3$ has a slope of at most zero.",
        hypotheses=(A_31 > 0, A_32 > 0, s_3 <= 0, s_32 > 0),
        conclusion=A_31 * s_3 - A_32 * s_32 < 0,
        uses=("motion on a great circle",),
        needs=("solutions exist, are unique and absolutely continuous",),
        establishes=(
            f"{BELOW} is the largest of finitely many absolutely continuous functions of time",
            f"for almost every time, where {BELOW} is attained the derivative is at most zero",
        ),
    )
    yield from bound_almost_everywhere(
        BELOW,
        names=("slope from below", "never below zero"),
        says=(
            "For $\\max(0, -\\theta_3)$:",
            "It starts at zero and does not increase: $\\theta_3 \\ge 0$ at all times.",
        ),
        formulas=("\\tfrac{d}{dt}\\max(0, -\\theta_3) \\le 0 \\quad\\text{for almost every } t", "\\theta_3(t) \\ge 0"),
        uses=("angles from below",),
    )
    yield Inequality(
        name="position of the bad start",
        says="At the start the slope of $\\theta_3$ is at most $-c_1s + N\\delta < 0$ near $\\pi$, so that shortly "
        "after the larger angle is $u' < \\pi$; from then on $0 \\le \\theta_3 \\le u' < \\pi$. Its limit is not "
        "$\\pm\\pi$: the start $y_3 = -y_1$ does not tend to $-y_1$, and $y_3^* \\neq -y_1$.",
        hypotheses=(late < pi, third >= 0, third <= late, pi > 0),
        conclusion=sp.And(third < pi, third > -pi),
        uses=("never above pi", "never below zero", "uniqueness"),
        needs=(
            f"{ROOM} is positive at all times",
            f"{BELOW} does not increase",
            "each token tends to the first one or to its antipode",
        ),
        establishes=("the bad start of token 3 is not -y_1",),
    )


def position_steps() -> Iterator[Step]:
    """Where the bad start of the third token is not."""
    yield from _great_circle()
    yield from _from_above()
    yield from _from_below()
