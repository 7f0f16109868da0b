"""AB-T3.1: the transformer flow is minus the gradient of ``V_P`` on the product of ellipsoids; ``dV_P/dt = -|Y_P|_g^2``.

Reference: Abella-Silvestre-Tabuada, Theorem 3.1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e08_gradient_case import data
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import numbers
from eigentoken.proofs.steps.calculus_steps import (
    TOKEN_I,
    TOKEN_J,
    along_flow,
    attention_sum,
    field_of,
    pair_exponential,
    tensor_step,
)
from eigentoken.theory.calculus import Assumptions, Letter, differentiate, direction, instance, vector
from eigentoken.theory.language.claims import Decreases
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation, Inequality
from eigentoken.theory.systems.catalogue import system

P = matrix("P")


def derive() -> Derivation:
    """Both identities by the calculus from the registered system, then the sign."""
    from eigentoken.theory.calculus import dot

    letter = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}), unit={"y": (letter,)}, tangent={("y", "Z"): (letter,)})
    field = field_of("ellipsoid-flow", {"P": letter}, rules)
    potential = (pair_exponential(letter, TOKEN_I, TOKEN_J) * sp.Rational(-1, 2)).summed(TOKEN_I, TOKEN_J)
    weight = attention_sum(letter, TOKEN_I)
    paired = -(weight * dot(instance(field, TOKEN_I), vector("Z", TOKEN_I), (letter,))).summed(TOKEN_I)
    squared = -(weight * dot(instance(field, TOKEN_I), instance(field, TOKEN_I), (letter,))).summed(TOKEN_I)
    weight_i, form_i, others = sp.symbols("Z_i F_i R", real=True)
    return Derivation(
        (
            tensor_step(
                "gradient on the ellipsoid",
                "For $Z$ tangent, $y_i^{\\top}PZ_i = 0$, the differential of $V_P$ along $Z$ equals $g(-Y_P, Z)$; the "
                "projection drops because its residual is orthogonal to $Z$ (AB-L3.1).",
                derive=lambda: differentiate(potential, direction("y", "Z"), rules),
                claimed=paired,
                rules=rules,
                left="dV_P(y)\\,Z",
                establishes=("the system is minus the gradient of a function",),
            ),
            tensor_step(
                "derivative along the flow",
                "Along the flow itself, the normal form of $\\dot V_P$ and of $-g(Y_P, Y_P) = -\\sum_i "
                "Z_i\\,Y_i^{\\top}PY_i$ agree.",
                derive=lambda: along_flow(potential, field, rules),
                claimed=squared,
                rules=rules,
                left="\\dot V_P",
                uses=("gradient on the ellipsoid",),
            ),
            Inequality(
                name="sign",
                says="$Z_i > 0$ and $F_i = Y_i^{\\top}PY_i \\ge 0$ with equality only at $Y_i = 0$; with the other "
                "summands $R \\ge 0$, $\\dot V_P = -Z_iF_i - R$ is not positive, and vanishes only at equilibria.",
                hypotheses=(weight_i > 0, form_i >= 0, others >= 0),
                conclusion=sp.And(
                    -weight_i * form_i - others <= 0,
                    sp.Implies(sp.Eq(-weight_i * form_i - others, 0), sp.Eq(form_i, 0)),
                ),
                uses=("derivative along the flow",),
                establishes=(
                    "the potential is continuously differentiable and does not increase along trajectories",
                    "the derivative of the potential vanishes only at equilibria",
                ),
            ),
        )
    )


def rate_example() -> list[Any]:
    """``|Y_P|_g^2`` for P = det_spd(3) and four tokens."""
    spd, tokens = data()
    scalars = numbers()
    field = system("ellipsoid-flow").advance(scalars, {"P": spd}, tokens)
    total: Any = 0
    for token, speed in zip(tokens, field, strict=True):
        weight = scalars.sqrt(3 * scalars.one) * sum(
            scalars.exp(dot(token, apply_matrix(spd, other))) for other in tokens
        )
        total += weight * dot(speed, apply_matrix(spd, speed))
    return [total]


AB_T31 = register(
    Statement(
        id="AB-T3.1",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 3.1"),
        title="Transformers as gradient flows",
        systems=("ellipsoid-flow",),
        conditions=(Symmetric(P), PositiveDefinite(P)),
        claims=(Decreases(ellipsoid_potential, strict=True),),
        text="$\\operatorname{grad}_{g_P} V_P = -Y_P$, hence $\\dot V_P = -|Y_P|_g^2 \\le 0$, with equality only at "
        "equilibria.",
        depends=("AB-L3.1", "AB-L3.2", "AB-E8"),
        derive=derive,
        claims_from=(("sign",),),
        vectors=(Vector("|Y_P|_g^2 at the data of AB-E8", rate_example, ("0.618703674475619",)),),
    )
)
