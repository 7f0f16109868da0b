"""Steps of AB-X1: under a linear consensus protocol with positive rates the convex hull of the tokens shrinks to one point.

In every direction q the largest difference of the projections ``q^T w_i`` decays exponentially; the hulls are nested.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.central_projection import limit_of_tokens
from eigentoken.proofs.steps.extremes import bound_almost_everywhere
from eigentoken.proofs.steps.textbook import CANTOR
from eigentoken.proofs.steps.textbook_flows import EXPONENTIAL_DECAY, SUPPORT_FUNCTIONS
from eigentoken.theory.language.terms import ell
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["HEIGHTS_STAY", "shrinking_hulls"]

HEIGHTS_STAY = "minus the lowest height does not increase"
SPREAD = "the spread at time t is at most exp(-kappa t) times the spread at the start"


def shrinking_hulls() -> tuple[Step, ...]:
    """From the protocol and its rates to one limit of all tokens."""
    return (*_spread_decays(), *_nested_hulls(), *_one_limit())


def _spread_decays() -> tuple[Step, ...]:
    """In every direction the spread of the projected tokens decays exponentially."""
    a, a_ij, u, big, small = sp.symbols("a a_ij u M m", real=True)
    c_1, delta, root, heads, e2 = sp.symbols("c_1 delta r eta E", positive=True)
    b_ij = sp.Symbol("b_ij", real=True)
    return (
        Inequality(
            name="largest projection",
            says="Let $M = \\max_i q^{\\top}w_i$ and $m = \\min_i q^{\\top}w_i$ for a unit vector $q$, $u = "
            "q^{\\top}w_j \\in [m, M]$, and $a \\le a_{ij}$. At the maximiser each summand is at most $a(u - M)$, at "
            "the minimiser at least $a(u - m)$: for each $j$ the slope of the spread, the largest difference $M - m$ "
            "of two projections, is at most $-a(M - m)$.",
            hypotheses=(a > 0, a_ij >= a, b_ij >= a, small <= u, u <= big),
            conclusion=sp.And(
                a_ij * (u - big) <= a * (u - big),
                b_ij * (u - small) >= a * (u - small),
                sp.Eq(a * (u - big) - a * (u - small), -a * (big - small)),
            ),
            uses=("central projection", "rates"),
            needs=(
                "the projected tokens follow a linear consensus protocol",
                "the rates are at least delta A",
                "solutions exist, are unique and absolutely continuous",
            ),
            establishes=(
                "the spread is the largest of finitely many absolutely continuous functions of time",
                "each token gives the slope of the spread at most -a times the spread",
            ),
        ),
        Identity(
            name="the rate",
            says="Summed over $\\ell$ tokens with $a = h\\,c_1\\,\\delta$ and $c_1 = 1/(r\\,\\ell\\,E)$, $E = "
            "e^{2K^2b}$, $r = \\sqrt d$, the spread $M - m$ decays at the rate $\\kappa = a\\,\\ell$ (here $\\eta$ is "
            "the number of heads):",
            left=a * ell,
            right=heads * delta / (root * e2),
            where={a: heads * c_1 * delta, c_1: 1 / (root * ell * e2)},
            uses=("largest projection",),
            needs=("each token gives the slope of the spread at most -a times the spread",),
            establishes=(
                "for almost every time, where the spread is attained the derivative is at most -kappa times the spread",
            ),
        ),
        *bound_almost_everywhere(
            "the spread",
            "-kappa",
            names=("slope of the spread", "exponential decay"),
            says=(
                "For the largest difference of two projections, in every direction $q$:",
                "So the spread decays exponentially, in every direction $q$.",
            ),
            formulas=(
                "\\tfrac{d}{dt}(M - m) \\le -\\kappa\\,(M - m) \\quad\\text{for almost every } t",
                "(M - m)(t) \\le e^{-\\kappa t}\\,(M - m)(0), \\qquad \\kappa = "
                "\\frac{h\\,\\delta\\,e^{-2K^2b}}{\\sqrt d}",
            ),
            uses=("largest projection", "the rate"),
        ),
    )


def _nested_hulls() -> tuple[Step, ...]:
    """The convex hulls of the projected tokens are nested."""
    a_ij, u, big = sp.symbols("a_ij u M", real=True)
    return (
        Inequality(
            name="support functions",
            says="In every direction $q$ the largest projection $M$ is the support function of the convex hull of the "
            "$w_i$. At the maximiser no summand $a_{ij}(u - M)$ is positive, $u = q^{\\top}w_j \\le M$.",
            hypotheses=(a_ij > 0, u <= big),
            conclusion=a_ij * (u - big) <= 0,
            uses=("central projection", "heights stay"),
            needs=(
                "the projected tokens follow a linear consensus protocol",
                HEIGHTS_STAY,
                "solutions exist, are unique and absolutely continuous",
            ),
            establishes=(
                "the hulls are convex hulls of finitely many points",
                "the support function of the hulls is the largest of finitely many absolutely continuous functions of "
                "time",
                "for almost every time, where the support function of the hulls is attained the derivative is at most "
                "zero",
            ),
        ),
        *bound_almost_everywhere(
            "the support function of the hulls",
            names=("slope of the support functions", "support functions fall"),
            says=("For $M = \\max_i q^{\\top}w_i$:", "So no support function increases."),
            formulas=("\\tfrac{d}{dt}\\max_i q^{\\top}w_i \\le 0 \\quad\\text{for almost every } t", ""),
            uses=("support functions",),
        ),
        Citation(
            name="nested hulls",
            says="So the convex hulls of the $w_i(t)$ are nested decreasing.",
            theorem=SUPPORT_FUNCTIONS,
            letters={"K": "the hulls"},
            uses=("support functions", "support functions fall"),
            formula="\\operatorname{conv}\\{w_i(t)\\} \\subseteq \\operatorname{conv}\\{w_i(s)\\}, \\qquad t \\ge s",
            establishes=("the hulls are nested compact sets",),
        ),
    )


def _one_limit() -> tuple[Step, ...]:
    """The hulls shrink to one point, and the tokens tend to one point."""
    delta, root, heads, e2 = sp.symbols("delta r eta E", positive=True)
    spread = sp.Symbol("S_0", real=True)
    kappa, diameter, first, time = sp.symbols("kappa D D_0 t", real=True)
    return (
        Inequality(
            name="positive rate",
            says="The diameter $D$ of the hull is its spread in some direction, and the spread $S_0$ at the start in "
            "this direction is at most the first diameter $D_0$. So $D$ lies between zero and $D_0e^{-\\kappa t}$, "
            "$\\kappa > 0$.",
            hypotheses=(
                sp.Eq(kappa, heads * delta / (root * e2)),
                diameter >= 0,
                diameter <= spread * sp.exp(-kappa * time),
                spread <= first,
            ),
            conclusion=sp.And(kappa > 0, diameter >= 0, diameter <= first * sp.exp(-kappa * time)),
            uses=("exponential decay",),
            needs=(SPREAD,),
            establishes=("the diameter of the hulls lies between zero and a decaying exponential of time",),
        ),
        Citation(
            name="diameters",
            says="So the diameters tend to zero.",
            theorem=EXPONENTIAL_DECAY,
            letters={"q": "the diameter of the hulls"},
            uses=("positive rate",),
            formula="\\operatorname{diam} w(t) \\to 0",
            establishes=("the diameter of the hulls tends to zero",),
        ),
        Citation(
            name="one limit",
            says="All $w_i$ tend to one point $w^*$ of the initial hull.",
            theorem=CANTOR,
            letters={"K": "the hulls"},
            uses=("nested hulls", "diameters"),
            formula="\\operatorname{conv}\\{w_i(t)\\} \\to \\{w^*\\}",
            establishes=("the hulls shrink to one point",),
        ),
        *limit_of_tokens(
            "because $h = 1/|w|_W \\le H$",
            "All tokens $y_i = \\pi_W(w_i)$ tend to one point of the cone that they span at the start.",
            uses=("one limit", "products of tokens"),
            needs=("the hulls shrink to one point", "products of tokens are at most 1, and heights at most H"),
            establishes="all tokens tend to one point",
        ),
    )
