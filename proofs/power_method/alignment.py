"""Steps shared by PM-E4 and PM-E5: what one layer does to the correlation with the principal eigenvector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.theory.statements.steps import Inequality

__all__ = ["never_decreases", "non_normal"]


def never_decreases() -> tuple[Inequality, ...]:
    """Symmetric F, a common token: the correlation with v_1 does not decrease if |1 + alpha lambda_l| <= 1 + alpha lambda_1."""
    c, top, mean = sp.symbols("c sigma q", real=True)
    return (
        Inequality(
            name="symmetric",
            says="Let $F$ be symmetric, all tokens at $x$, $c = (x^{\\top}v_1)^2$, $\\sigma = 1 + \\alpha\\lambda_1$, "
            "and $q \\leq \\sigma^2$ the weighted mean of $(1 + \\alpha\\lambda_\\ell)^2$ over the other components. "
            "One step turns $c$ into $\\sigma^2c/(\\sigma^2c + q(1-c))$, which is at least $c$.",
            hypotheses=(c >= 0, c <= 1, top > 0, mean >= 0, mean <= top**2, top**2 * c + mean * (1 - c) > 0),
            conclusion=top**2 * c / (top**2 * c + mean * (1 - c)) >= c,
        ),
        Inequality(
            name="strict",
            says="It increases strictly if $0 < c < 1$ and $q < \\sigma^2$.",
            hypotheses=(c > 0, c < 1, top > 0, mean >= 0, mean < top**2),
            conclusion=top**2 * c / (top**2 * c + mean * (1 - c)) > c,
            uses=("symmetric",),
        ),
    )


def non_normal() -> Sequence[Any]:
    """F = [[1, 5], [0, 0]], alpha = 1, x ~ (1, -2/5): |corr(x, v_1)| before and after one step of the map, v_1 = e_1."""
    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    algebra = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))
    token = algebra.normalise(((sp.Integer(1), sp.Rational(-2, 5)),))
    after = system("oja-map").advance(algebra, {"V": ((1, 5), (0, 0)), "alpha": sp.Integer(1)}, token)
    return [sp.N(sp.Abs(token[0][0]), 30), sp.N(sp.Abs(sp.simplify(after[0][0])), 30)]
