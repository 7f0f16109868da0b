"""PM-S3: a one-layer guarantee for steering with real attention.  New here."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import decimals
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import unsteered_token
from eigentoken.proofs.properties.steering_checks import steered_layer
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import ALPHA, Assumptions, dot, matrix, vector
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Inequality

MU = sp.Symbol("mu", real=True)


def _moved() -> tuple[Any, Any]:
    """``x + alpha (U + mu w z^T C) o`` for the concatenated outputs o of the heads."""
    edit = dot(vector("z"), vector("o"), matrix("C")) * vector("w") * MU
    return vector("x") + (vector("o").applied(matrix("U")) + edit) * ALPHA, Assumptions()


def _claimed() -> Any:
    height = dot(vector("z"), vector("o"), matrix("C"))
    return vector("x") + vector("o").applied(matrix("U")) * ALPHA + vector("w") * height * (ALPHA * MU)


def derive() -> Derivation:
    """The edited step; its parts along and across w; the tangent."""
    alpha = sp.Symbol("alpha", positive=True)
    kappa, push, along, across = sp.symbols("kappa u a c", real=True)
    rest, length = sp.symbols("e l", real=True)
    reach = 1 + alpha * push
    pull = alpha * sp.Abs(MU * kappa) * length
    return Derivation(
        (
            tensor(
                "edited step",
                "With $\\widetilde U = U + \\mu wz^{\\top}V_{\\rm cat}^{-1}$ for $U$, the concatenated head outputs "
                "$o_i$, $u_i = Uo_i$ and $\\kappa_i = z^{\\top}V_{\\rm cat}^{-1}o_i$.",
                _moved,
                _claimed(),
                r"y_i = x_i + \alpha u_i + \alpha\mu\kappa_iw",
            ),
            Inequality(
                name="along",
                says="$x_i + \\alpha u_i$ has norm at most $1 + \\alpha\\lVert u_i\\rVert$ ($u = \\lVert u_i\\rVert$); "
                "its part $e$ along $w$, of length $l = \\lVert w\\rVert$, is no longer than that, so the part $a = "
                "\\alpha\\mu\\kappa_il + e$ of $y_i$ along $w/l$ is at least",
                hypotheses=(
                    push >= 0,
                    length > 0,
                    sp.Abs(rest) <= reach,
                    sp.Eq(along, alpha * MU * kappa * length + rest),
                ),
                conclusion=sp.Abs(along) >= pull - reach,
                uses=("edited step",),
            ),
            Inequality(
                name="tangent",
                says="The part $c$ across is at most $1 + \\alpha\\lVert u_i\\rVert$: the tangent of the angle to "
                "$\\pm w$ is bounded when the denominator is positive.",
                hypotheses=(
                    push >= 0,
                    length > 0,
                    across >= 0,
                    across <= reach,
                    sp.Abs(along) >= pull - reach,
                    pull > reach,
                ),
                conclusion=across / sp.Abs(along) <= reach / (pull - reach),
                uses=("along",),
            ),
            Inequality(
                name="sign",
                says="The side of the alignment is the sign of $\\mu\\kappa_i$.",
                hypotheses=(
                    push >= 0,
                    length > 0,
                    sp.Abs(rest) <= reach,
                    pull > reach,
                    sp.Eq(along, alpha * MU * kappa * length + rest),
                    MU * kappa > 0,
                ),
                conclusion=along > 0,
                uses=("edited step",),
            ),
        )
    )


def short_direction() -> tuple[Any, Any]:
    """The tangent of the angle of ``y = x + alpha mu kappa w`` to w, and the bound with |w| left out (K7)."""
    w, x = sp.Matrix([sp.Rational(1, 10), 0]), sp.Matrix([0, 1])
    y = x + 3 * w
    along = (y.T * w)[0] / sp.sqrt((w.T * w)[0])
    return sp.sqrt((y.T * y)[0] - along**2) / along, sp.Rational(1, 3 - 1)


def short_direction_breaks_it() -> Verdict:
    """The bound of the statement, read for a w that is not a unit vector, is false."""
    tangent, bound = short_direction()
    return holds(f"tangent {tangent}, bound {bound}") if tangent > bound else fails(f"{tangent} <= {bound}")


PM_S3 = register(
    Statement(
        id="PM-S3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "sharpens Li-Altafini, section 2.3"),
        title="A one-layer guarantee for steering",
        systems=("multihead-map",),
        text=(
            r"Let $V_{\rm cat} = [V_1; \dots; V_H]$ be square and invertible, and let the layer have $\widetilde U = U "
            r"+ \mu wz^{\top}V_{\rm cat}^{-1}$ for $U$, $\lVert w\rVert = 1$ (PM-S1). Let $o_i = [V_1\bar x_i^{a,1}; "
            r"\dots; V_H\bar x_i^{a,H}]$, $u_i = Uo_i$, $\kappa_i = z^{\top}V_{\rm cat}^{-1}o_i$. Then $y_i = x_i + "
            r"\alpha u_i + \alpha\mu\kappa_iw$ and $\tan\angle(x_i^+, \pm w) \leq \frac{1 + \alpha\lVert "
            r"u_i\rVert}{\alpha|\mu\kappa_i| - 1 - \alpha\lVert u_i\rVert}$ when the denominator is positive; for a "
            r"$w$ of another length read $|\mu\kappa_i|\,\lVert w\rVert$. The sign of the alignment is then that of "
            r"$\mu\kappa_i$. A token with $\kappa_i = 0$ is not moved by the edit, however large $\mu$ is."
        ),
        depends=("PM-S1",),
        derive=derive,
        prose_from=("tangent", "sign"),
        property_tests=(OnInstances(steered_layer),),
        vectors=(
            Vector("a short w: the tangent and the bound for a unit w", short_direction, decimals("10/3", "1/2")),
        ),
        variants=(
            Variant(
                "|w| = 1",
                "d = 2, x = e_2, u = 0, w = e_1/10, alpha = 1, mu = 3, kappa = 1: the tangent is 10/3, the bound 1/2",
                short_direction_breaks_it,
            ),
            Variant(
                "kappa_i != 0",
                "a token with kappa_i = 0 has the same next state for every mu",
                FirstFailure(unsteered_token),
            ),
        ),
    )
)
