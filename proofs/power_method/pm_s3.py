"""PM-S3: a one-layer guarantee for steering with real attention.  New here."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.properties_search import FirstFailure
from eigentoken.proofs.property_checks import OnInstances
from eigentoken.proofs.reductions import tensor
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement, Variant
from eigentoken.theory.steps import Derivation, Inequality

MU = sp.Symbol("mu", real=True)


def _moved() -> tuple[Any, Any]:
    """``x + alpha (U + mu w z^T C) o`` for the concatenated outputs o of the heads."""
    from eigentoken.theory.calculus import ALPHA, Assumptions, dot, matrix, vector

    edit = dot(vector("z"), vector("o"), matrix("C")) * vector("w") * MU
    return vector("x") + (vector("o").applied(matrix("U")) + edit) * ALPHA, Assumptions()


def _claimed() -> Any:
    from eigentoken.theory.calculus import ALPHA, dot, matrix, vector

    height = dot(vector("z"), vector("o"), matrix("C"))
    return vector("x") + vector("o").applied(matrix("U")) * ALPHA + vector("w") * height * (ALPHA * MU)


def derive() -> Derivation:
    """The edited step; its parts along and across w; the tangent."""
    alpha = sp.Symbol("alpha", positive=True)
    kappa, push, along, across = sp.symbols("kappa u a c", real=True)
    rest = sp.Symbol("e", real=True)
    reach = 1 + alpha * push
    pull = alpha * sp.Abs(MU * kappa)
    return Derivation(
        (
            tensor(
                "edited step",
                "With the concatenated head outputs $o_i$, $u_i = Uo_i$ and $\\kappa_i = z^{\\top}V_{\\rm "
                "cat}^{-1}o_i$.",
                _moved,
                _claimed(),
                r"y_i = x_i + \alpha u_i + \alpha\mu\kappa_iw",
            ),
            Inequality(
                name="along",
                says="$x_i + \\alpha u_i$ has norm at most $1 + \\alpha\\lVert u_i\\rVert$ ($u = \\lVert "
                "u_i\\rVert$); its part $e$ along $w$ is no longer than that, so the part $a = "
                "\\alpha\\mu\\kappa_i + e$ of $y_i$ along $w$ is at least",
                hypotheses=(push >= 0, sp.Abs(rest) <= reach, sp.Eq(along, alpha * MU * kappa + rest)),
                conclusion=sp.Abs(along) >= pull - reach,
                uses=("edited step",),
            ),
            Inequality(
                name="tangent",
                says="The part $c$ across is at most $1 + \\alpha\\lVert u_i\\rVert$: the tangent of the angle "
                "to $\\pm w$ is bounded when the denominator is positive.",
                hypotheses=(push >= 0, across >= 0, across <= reach, sp.Abs(along) >= pull - reach, pull > reach),
                conclusion=across / sp.Abs(along) <= reach / (pull - reach),
                uses=("along",),
            ),
            Inequality(
                name="sign",
                says="The side of the alignment is the sign of $\\mu\\kappa_i$.",
                hypotheses=(
                    push >= 0,
                    sp.Abs(rest) <= reach,
                    pull > reach,
                    sp.Eq(along, alpha * MU * kappa + rest),
                    MU * kappa > 0,
                ),
                conclusion=along > 0,
                uses=("edited step",),
            ),
        )
    )


PM_S3 = register(
    Statement(
        id="PM-S3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "sharpens Li-Altafini, section 2.3"),
        title="A one-layer guarantee for steering",
        systems=("multihead-map",),
        text=(
            r"Let $o_i = [V_1\bar x_i^{a,1}; \dots; V_H\bar x_i^{a,H}]$, $u_i = Uo_i$, $\kappa_i = z^{\top}V_{\rm "
            r"cat}^{-1}o_i$ (which equals $z^{\top}\bar x_i^a$ only if all heads "
            r"attend equally). Then $y_i = x_i + \alpha u_i + \alpha\mu\kappa_iw$ and $\tan\angle(x_i^+, \pm w) "
            r"\leq \frac{1 + \alpha\lVert u_i\rVert}{\alpha|\mu\kappa_i| - 1 - "
            r"\alpha\lVert u_i\rVert}$ when the denominator is positive. The sign of the alignment is that of "
            r"$\mu\kappa_i$; tokens with $\kappa_i \approx 0$ are not steered, "
            r"however large $\mu$ is."
        ),
        depends=("PM-S1",),
        derive=derive,
        told_by=("tangent", "sign"),
        property_tests=(OnInstances("point_checks", "steered_layer"),),
        variants=(
            Variant(
                "kappa_i != 0",
                "a token with kappa_i = 0 has the same next state for every mu",
                FirstFailure("unsteered_token", "properties_search_matrices"),
            ),
        ),
    )
)
