"""Steps that two chapters share: positive heights along an eigenvector of the value matrix stay positive.

``h_i' = sum_j alpha_ij (lambda h_j - s_ij h_i)`` with ``lambda > 0`` and ``s_ij <= S``: at the lowest token, while it is
positive, ``-h_i' <= -S (-h_i)`` up to the sum of the weights, so the lowest height is at least ``e^{-St}`` times its start.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.extremes import bound_by_slope
from eigentoken.theory.steps import Inequality, Step

__all__ = ["LOWEST", "half_space_steps"]

#: What the equation of the heights gives: each of them is differentiable (absolutely continuous, if P is measurable).
LOWEST = "minus the lowest height is the largest of finitely many differentiable functions of time"
DECAY = "minus the lowest height at time t is at most exp(-S t) times minus the lowest height at the start"


def half_space_steps(height: str, *, uses: tuple[str, ...], establishes: str) -> tuple[Step, ...]:
    """From the equation of the heights (a LaTeX letter), which ``uses`` give, to the invariance of the half space."""
    weight, lam, low, other, inner, bound = sp.symbols("alpha_ij lambda h_i h_j s_ij S", real=True)
    now, first, factor = sp.symbols("h h_0 E", real=True)
    return (
        Inequality(
            name="slope of the lowest height",
            says=f"At a lowest token, while its height $h_i = {height}$ is positive, each summand of $-\\dot h_i$ is "
            f"at most "
            "$-S\\alpha_{ij}$ times $-h_i$, where $S$ bounds all $s_{ij}$. (The weights of a token sum to at most one "
            "for "
            "each head; with $h$ heads read $hS$ for $S$.)",
            hypotheses=(weight >= 0, lam > 0, low > 0, other >= low, inner <= bound),
            conclusion=-weight * (lam * other - inner * low) <= -bound * weight * (-low),
            uses=uses,
            establishes=(
                "where minus the lowest height is attained the derivative is at most -S times minus the lowest height",
            ),
        ),
        *bound_by_slope(
            "minus the lowest height",
            "-S",
            names=("lowest height", "bound of the lowest height"),
            says=(
                "For $-\\min_i h_i = \\max_i(-h_i)$:",
                "So, as long as it is positive, it decays at most exponentially.",
            ),
            formulas=("D^+\\bigl(-\\min_i h_i\\bigr) \\le S\\min_i h_i", "\\min_i h_i(t) \\ge e^{-St}\\min_i h_i(0)"),
            uses=("slope of the lowest height",),
        ),
        Inequality(
            name="the half space is kept",
            says="With $E = e^{-St} > 0$ the lowest height $h$ stays positive: it has no first zero, and the half "
            "space is "
            "forward invariant.",
            hypotheses=(-now <= factor * (-first), factor > 0, first > 0),
            conclusion=now > 0,
            uses=("bound of the lowest height",),
            needs=(DECAY,),
            establishes=(establishes,),
        ),
    )
