"""AB-R5.1: an invertible value matrix with ``W = U^T U`` and the modified map ``sigma_y X = U^{-1} (I - U y y^T U^T) X``.

The modified map cancels U and is not a projection.  Reference: Abella-Silvestre-Tabuada, Remark 5.1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.flow_properties import sigma_cancels
from eigentoken.proofs.steps.calculus_steps import TOKEN_J, tensor_step
from eigentoken.theory.calculus import SLOT, Assumptions, Letter, dot, vector
from eigentoken.theory.language.conditions import Nonsingular
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement
from eigentoken.theory.statements.steps import Derivation, Identity

U = matrix("U")


def derive() -> Derivation:
    """The push is cancelled by the inverse; in ``z = U y`` it is the causal model on the sphere."""
    value, back, metric = Letter("U"), Letter("S"), Letter("W")
    # S = U^{-1}: S U = U S = 1; W = U^T U is kept as a name, W S = U^T
    rules = Assumptions(
        products={("S", "U"): (), ("U", "S"): ()}, replaced={"W": (sp.Integer(1), (Letter("U", True), value))}
    )
    here, other = vector("y", SLOT), vector("y", TOKEN_J)

    def pushed() -> Any:
        moved = other.applied((value,))
        inner = dot(here, moved, (Letter("U", True),))
        return (moved - inner * here.applied((value,))).applied((back,))

    def in_sphere() -> Any:
        # U applied to the field at y = S z
        start, end = vector("z", SLOT).applied((back,)), vector("z", TOKEN_J).applied((back,))
        field = end - dot(start, end, (metric,)) * start
        return field.applied((value,))

    y, X, m, scale = sp.symbols("y X m c", real=True)
    return Derivation(
        (
            tensor_step(
                "the value matrix cancels",
                "Put $X = Uy_j$: $\\sigma_y X = U^{-1}X - (y^{\\top}U^{\\top}X)\\,y$, and with $W = U^{\\top}U$ this "
                "is the summand of (20).",
                derive=pushed,
                claimed=other - dot(here, other, (metric,)) * here,
                rules=rules,
                left="U^{-1}\\bigl(I - Uyy^{\\top}U^{\\top}\\bigr)Uy_j",
            ),
            tensor_step(
                "change of variables",
                "For $z = Uy$ the same summand becomes that of the causal model on the sphere; the weights are "
                "$\\alpha_{ij}(t, U^{-1}z)$.",
                derive=in_sphere,
                claimed=vector("z", TOKEN_J) - dot(vector("z", SLOT), vector("z", TOKEN_J)) * vector("z", SLOT),
                rules=rules,
                left="U\\bigl(y_j - (y^{\\top}Wy_j)\\,y\\bigr)",
                uses=("the value matrix cancels",),
            ),
            Identity(
                name="not a projection",
                says="For $U = cI$ a tangent vector $X$, $m = y^{\\top}X = 0$, is sent to $c^{-1}X - c\\,m\\,y = "
                "c^{-1}X$; applied twice this is $c^{-2}X$, which is $c^{-1}X$ only for $c = 1$.",
                left=(X / scale - scale * m * y) / scale,
                right=X / scale**2,
                where={m: sp.Integer(0)},
            ),
        )
    )


def not_idempotent() -> Verdict:
    """U = 2I in the plane, y = (1/2, 0), X = (0, 1): sigma X = X/2 and sigma sigma X = X/4."""
    value = sp.diag(2, 2)
    y = sp.Matrix([sp.Rational(1, 2), 0])
    X = sp.Matrix([0, 1])
    if (y.T * value.T * value * y)[0] != 1:
        return fails("y is not on the ellipsoid")
    sigma = value.inv() * (sp.eye(2) - value * y * y.T * value.T)
    once, twice = sigma * X, sigma * sigma * X
    if once != twice and (y.T * value.T * value * once)[0] == 0:
        return holds(f"sigma X = {list(once)} is tangent, and sigma sigma X = {list(twice)} differs from it")
    return fails("the map is idempotent there")


AB_R51 = register(
    Statement(
        id="AB-R5.1",
        kind=Kind.REMARK,
        source=Source(ABELLA, "Remark 5.1"),
        title="Invertible value matrix with a modified map",
        systems=("causal-flow",),
        covers=Covers(replaced="the map sigma_y in place of the projection"),
        conditions=(Nonsingular(U),),
        text="Let $W = U^{\\top}U$ and $\\sigma_y X = U^{-1}(I - Uyy^{\\top}U^{\\top})X$. Then "
        "$\\sum_j\\alpha_{ij}\\,\\sigma_{y_i}(Uy_j) = \\sum_j\\alpha_{ij}\\bigl(y_j - "
        "(y_i^{\\top}Wy_j)\\,y_i\\bigr)$, and $z_i = Uy_i \\in S^n$ follows (15) with weights $\\alpha_{ij}(t, "
        "U^{-1}z)$: Theorem AB-T5.1 applies, in its corrected form.",
        depends=("AB-E15", "AB-T5.1"),
        derive=derive,
        prose_from=("change of variables", "not a projection"),
        printed=Printed(
            text="$\\sigma_y$ is a projection to the ellipsoid; the domain of attraction contains $\\{y_j \\neq "
            "-y_1\\}$.",
            wrong="$\\sigma_y$ maps into the tangent space but is not idempotent: it cancels $U$. The domain claim "
            "inherits the correction of AB-T5.1.",
            counterexamples=(
                Counterexample(
                    name="U = 2I",
                    says="$U = 2I$: on tangent vectors $\\sigma_y = \\tfrac12$.",
                    instance={"U": [["2", "0"], ["0", "2"]], "y": ["1/2", "0"], "X": ["0", "1"]},
                    check=not_idempotent,
                ),
            ),
        ),
        property_tests=(sigma_cancels,),
    )
)
