"""Steps that several chapters share: positive heights stay positive, in the right order.

That the lowest height falls at most at a certain rate is shown *as long as it is positive*: on an interval ``[0, T)`` on which
it is.  There it is bounded below by a positive number, and a continuous function with this property has no first zero
(the bootstrap principle).  Only then does the bound hold for all times.

``h_i' = sum_j alpha_ij (lambda h_j - s_ij h_i)`` with ``lambda > 0`` and ``s_ij <= S``: at the lowest token, while it is
positive, ``-h_i' <= -S (-h_i)`` up to the sum of the weights, so the lowest height is at least ``e^{-St}`` times its start.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.extremes import bound_almost_everywhere
from eigentoken.proofs.steps.textbook import BOOTSTRAP
from eigentoken.theory.statements.steps import Citation, Inequality, Step

__all__ = ["LOWEST", "WHILE", "half_space_steps", "kept_positive"]

#: Minus the lowest height, on an interval [0, T) on which the lowest height is positive.
WHILE = "minus the lowest height, while that is positive,"
#: What the equation of the heights gives: each of them is absolutely continuous.
LOWEST = f"{WHILE} is the largest of finitely many absolutely continuous functions of time"
POSITIVE = "the lowest height is positive at all times"


def kept_positive(
    rate: str = "",
    *,
    uses: tuple[str, ...],
    establishes: tuple[str, ...],
    names: tuple[str, str, str, str, str] = (
        "slope of the lowest height",
        "bound while positive",
        "no first zero",
        "positive for ever",
        "the half space is kept",
    ),
) -> tuple[Step, ...]:
    """From the slope of minus the lowest height, while that is positive (the ``rate``, or zero), to a bound for all
    times."""
    now, first, factor = sp.symbols("h h_0 E", real=True)
    shown = "e^{-St}\\min_i h_i(0)" if rate else "\\min_i h_i(0)"
    bound = (
        f"{WHILE} at time t is at most exp({rate} t) times {WHILE} at the start"
        if rate
        else f"{WHILE} does not increase"
    )
    slope = "S\\min_i h_i" if rate else "0"
    which = "$E = e^{-St}$" if rate else "$E = 1$"
    return (
        *bound_almost_everywhere(
            WHILE,
            rate,
            names=names[:2],
            says=(
                "Let $[0, T)$ be an interval on which all heights are positive. There, for $-\\min_i h_i = "
                "\\max_i(-h_i)$ and almost every time:",
                "So on $[0, T)$",
            ),
            formulas=(
                f"\\tfrac{{d}}{{dt}}\\bigl(-\\min_i h_i\\bigr) \\le {slope}",
                f"\\min_i h_i(t) \\ge {shown}, \\qquad 0 \\le t < T",
            ),
            uses=uses,
        ),
        Inequality(
            name=names[2],
            says=f"With {which} the lowest height $h$ is at least $Eh_0$ there, a positive continuous function of time.",
            hypotheses=(-now <= factor * (-first), factor > 0, first > 0),
            conclusion=sp.And(now >= factor * first, factor * first > 0),
            uses=(names[1],),
            needs=(bound,),
            establishes=(
                "the lowest height is continuous in time and positive at the start",
                "as long as the lowest height is positive, it is at least a positive continuous function of time",
            ),
        ),
        Citation(
            name=names[3],
            says="A first zero $T$ would be a limit of values that are at least $Eh_0 > 0$: there is none.",
            theorem=BOOTSTRAP,
            letters={"q": "the lowest height"},
            uses=(names[2],),
            formula="\\min_i h_i(t) > 0 \\quad\\text{for all } t \\ge 0",
            establishes=(POSITIVE,),
        ),
        Inequality(
            name=names[4],
            says=f"Only now the bound holds for all times, with $T = \\infty$: $h \\ge Eh_0$, {which}, and the half space is "
            "forward invariant.",
            hypotheses=(-now <= factor * (-first), factor > 0, first > 0),
            conclusion=sp.And(now >= factor * first, now > 0),
            uses=(names[3],),
            needs=(POSITIVE, bound),
            establishes=establishes,
        ),
    )


def half_space_steps(height: str, *, uses: tuple[str, ...], establishes: str) -> tuple[Step, ...]:
    """From the equation of the heights (a LaTeX letter), which ``uses`` give, to the invariance of the half space."""
    weight, lam, low, other, inner, bound = sp.symbols("alpha_ij lambda h_i h_j s_ij S", real=True)
    return (
        Inequality(
            name="lowest token",
            says=f"At a lowest token, while its height $h_i = {height}$ is positive, each summand of $-\\dot h_i$ is "
            "at most "
            "$-S\\alpha_{ij}$ times $-h_i$, where $S \\ge 0$ bounds all $s_{ij}$. (The weights of a token sum to at "
            "most one "
            "for each head; with several heads $S$ is the sum of the bounds.)",
            hypotheses=(weight >= 0, lam > 0, low > 0, other >= low, inner <= bound),
            conclusion=-weight * (lam * other - inner * low) <= -bound * weight * (-low),
            uses=uses,
            needs=(LOWEST,),
            establishes=(
                f"for almost every time, where {WHILE} is attained the derivative is at most -S times {WHILE}",
            ),
        ),
        *kept_positive("-S", uses=("lowest token",), establishes=(establishes,)),
    )
