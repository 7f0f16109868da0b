"""Steps that two chapters share: a height that solves a perturbed Riccati equation comes near one.

``a' = A(t) (1 - a^2) + p(t)`` for almost every t, with ``A >= k > 0`` and ``|p| <= eta`` at late times: then
``a' >= k (rho^2 - a^2)`` with ``rho^2 = 1 - eta/k``, whose solutions from above ``-rho`` are
``rho tanh(k rho t + z)`` and tend to rho.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.tensor_reductions import slope
from eigentoken.proofs.steps.textbook import ALMOST_EVERYWHERE_COMPARISON
from eigentoken.proofs.steps.textbook_flows import EXPONENTIAL_DECAY
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["NEAR_ONE", "riccati_steps"]

RATE = "k (rho^2 - u^2)"
SOLUTION = "rho tanh(k rho t + z)"
#: What the steps establish: from above -rho the limit inferior of the height is at least rho, and rho is near one.
NEAR_ONE = "a height that is once above -rho has a limit inferior of at least rho, and 1 - rho is at most eta/k"


def riccati_steps(height: str, *, uses: tuple[str, ...], needs: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """The comparison of the height (a LaTeX letter) with the hyperbolic tangent; ``uses`` give the perturbed equation."""
    a, mass, least, eta, rho, error, t, z = sp.symbols("a A k eta rho p t z", real=True)
    u, grown, speed, b = sp.symbols("u E c b", real=True)
    solution = rho * sp.tanh(least * rho * t + z)
    return (
        Inequality(
            name="lower rate",
            says=f"Write $a$ for the height ${height}$, which is in $[-1, 1]$. Where $A \\ge k > 0$ and the "
            "perturbation $p$ is at most $\\eta$ in modulus, with $\\rho^2 = 1 - \\eta/k$:",
            hypotheses=(least > 0, mass >= least, a**2 <= 1, error >= -eta, sp.Eq(rho**2, 1 - eta / least)),
            conclusion=mass * (1 - a**2) + error >= least * (rho**2 - a**2),
            uses=uses,
            needs=("solutions exist, are unique and absolutely continuous", *needs),
            establishes=(
                "the height is absolutely continuous",
                f"almost everywhere the derivative of the height is at least {RATE}",
            ),
        ),
        slope(
            "comparison solution",
            "The equation $\\dot u = k(\\rho^2 - u^2)$ has the solutions $u = \\rho\\tanh(k\\rho t + z)$ for starts in "
            "$(-\\rho, \\rho)$.",
            solution,
            t,
            least * (rho**2 - solution**2),
            uses=("lower rate",),
            establishes=(f"{SOLUTION} solves the equation with the rate {RATE}",),
        ),
        Inequality(
            name="start of the solution",
            says="If the height $a$ is above $-\\rho$ at some late time, there is a start $b \\in (-\\rho, \\rho)$ "
            "that is not above it, and $e^{2z} = E = \\frac{\\rho + b}{\\rho - b}$ gives the solution that starts "
            "there.",
            hypotheses=(rho > 0, b > -rho, b < rho, b <= a, sp.Eq(grown, (rho + b) / (rho - b))),
            conclusion=sp.And(grown > 0, rho * (grown - 1) / (grown + 1) <= a),
            uses=("comparison solution",),
            establishes=(f"the height starts at or above {SOLUTION}",),
        ),
        Citation(
            name="comparison",
            says="So from then on the height stays above this solution.",
            theorem=ALMOST_EVERYWHERE_COMPARISON,
            letters={"u": "the height", "rate": RATE, "bound": SOLUTION},
            uses=("lower rate", "comparison solution", "start of the solution"),
            formula=f"{height} \\ge \\rho\\tanh(k\\rho t + z)",
            establishes=(f"the height stays at or above {SOLUTION}",),
        ),
        Identity(
            name="hyperbolic tangent",
            says="In exponentials:",
            left=sp.tanh(z),
            right=(sp.exp(2 * z) - 1) / (sp.exp(2 * z) + 1),
        ),
        Inequality(
            name="gap of the solution",
            says="With $E = e^{2(k\\rho t + z)}$ the gap $\\rho - u$ lies between zero and $2\\rho/E$, a multiple of "
            "$e^{-ct}$ with $c = 2k\\rho > 0$.",
            hypotheses=(
                rho > 0,
                least > 0,
                grown > 0,
                sp.Eq(u, rho * (grown - 1) / (grown + 1)),
                sp.Eq(speed, 2 * least * rho),
            ),
            conclusion=sp.And(rho - u >= 0, rho - u <= 2 * rho / grown, speed > 0),
            uses=("hyperbolic tangent", "comparison solution"),
            establishes=("the gap of the solution lies between zero and a decaying exponential of time",),
        ),
        Citation(
            name="limit of the solution",
            says="So $u \\to \\rho$.",
            theorem=EXPONENTIAL_DECAY,
            letters={"q": "the gap of the solution"},
            uses=("gap of the solution",),
            formula="\\rho - u \\to 0",
            establishes=("the gap of the solution tends to zero",),
        ),
        Inequality(
            name="radius",
            says="And $\\rho$ is near one when $\\eta$ is small:",
            hypotheses=(rho > 0, least > 0, eta >= 0, sp.Eq(rho**2, 1 - eta / least)),
            conclusion=sp.And(rho <= 1, 1 - rho <= eta / least),
            uses=("comparison", "limit of the solution"),
            needs=(f"the height stays at or above {SOLUTION}", "the gap of the solution tends to zero"),
            establishes=(NEAR_ONE,),
        ),
    )
