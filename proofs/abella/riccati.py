"""Steps that two chapters share: a height that solves a perturbed Riccati equation comes near one.

``a' = A(t) (1 - a^2) + p(t)`` with ``A >= k > 0`` and ``|p| <= eta`` at late times: ``a' >= k (rho^2 - a^2)`` with
``rho^2 = 1 - eta/k``, whose solutions from above ``-rho`` are ``rho tanh(k rho t + z)`` and tend to rho.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.tensor_reductions import slope
from eigentoken.proofs.textbook import COMPARISON, about
from eigentoken.proofs.textbook_flows import EXPONENTIAL_DECAY
from eigentoken.theory.steps import Citation, Identity, Inequality, Step

__all__ = ["NEAR_ONE", "riccati_steps"]

SUBJECT = "heights"
#: What the steps establish: from above -rho the limit inferior of the height is at least rho, and rho is near one.
NEAR_ONE = "a height that is once above -rho has a limit inferior of at least rho, and 1 - rho is at most eta/k"


def riccati_steps(height: str, *, uses: tuple[str, ...], needs: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """The comparison of the height (a LaTeX letter) with the hyperbolic tangent; ``uses`` give the perturbed equation."""
    a, mass, least, eta, rho, error, t, z = sp.symbols("a A k eta rho p t z", real=True)
    u, grown, speed = sp.symbols("u E c", real=True)
    solution = rho * sp.tanh(least * rho * t + z)
    return (
        Inequality(
            name="lower rate",
            says=f"Write $a$ for the height ${height}$, which is in $[-1, 1]$. Where $A \\ge k > 0$ and the "
            "perturbation $p$ is at most $\\eta$ in modulus, with $\\rho^2 = 1 - \\eta/k$:",
            hypotheses=(least > 0, mass >= least, a**2 <= 1, error >= -eta, sp.Eq(rho**2, 1 - eta / least)),
            conclusion=mass * (1 - a**2) + error >= least * (rho**2 - a**2),
            uses=uses,
            needs=needs,
            establishes=(about(COMPARISON, SUBJECT).hypotheses[0],),
        ),
        slope(
            "comparison solution",
            "The equation $\\dot u = k(\\rho^2 - u^2)$ has the solutions $u = \\rho\\tanh(k\\rho t + z)$ for "
            "starts in $(-\\rho, \\rho)$.",
            solution,
            t,
            least * (rho**2 - solution**2),
            uses=("lower rate",),
        ),
        Citation(
            name="comparison",
            says="So a height that is above $-\\rho$ at some late time stays above such a solution (or above $\\rho$).",
            theorem=about(COMPARISON, SUBJECT),
            uses=("lower rate", "comparison solution"),
            formula=f"{height} \\ge \\rho\\tanh(k\\rho t + z)",
        ),
        Identity(
            name="hyperbolic tangent",
            says="In exponentials:",
            left=sp.tanh(z),
            right=(sp.exp(2 * z) - 1) / (sp.exp(2 * z) + 1),
        ),
        Inequality(
            name="gap of the solution",
            says="With $E = e^{2(k\\rho t + z)}$ the gap $\\rho - u$ lies between zero and $2\\rho/E$, a multiple "
            "of $e^{-ct}$ with $c = 2k\\rho > 0$.",
            hypotheses=(
                rho > 0,
                least > 0,
                grown > 0,
                sp.Eq(u, rho * (grown - 1) / (grown + 1)),
                sp.Eq(speed, 2 * least * rho),
            ),
            conclusion=sp.And(rho - u >= 0, rho - u <= 2 * rho / grown, speed > 0),
            uses=("hyperbolic tangent", "comparison solution"),
            establishes=(about(EXPONENTIAL_DECAY, SUBJECT).hypotheses[0],),
        ),
        Citation(
            name="limit of the solution",
            says="So $u \\to \\rho$.",
            theorem=about(EXPONENTIAL_DECAY, SUBJECT),
            uses=("gap of the solution",),
        ),
        Inequality(
            name="radius",
            says="And $\\rho$ is near one when $\\eta$ is small:",
            hypotheses=(rho > 0, least > 0, eta >= 0, sp.Eq(rho**2, 1 - eta / least)),
            conclusion=sp.And(rho <= 1, 1 - rho <= eta / least),
            uses=("comparison", "limit of the solution"),
            needs=(about(COMPARISON, SUBJECT).conclusion, about(EXPONENTIAL_DECAY, SUBJECT).conclusion),
            establishes=(NEAR_ONE,),
        ),
    )
