"""AB-T3.1: the transformer flow is minus the gradient of ``V_P`` on the product of ellipsoids; ``dV_P/dt = -|Y_P|_g^2``.

Reference: Abella-Silvestre-Tabuada, Theorem 3.1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e08_gradient_case import data
from eigentoken.proofs.abella.gradient import GRADIENT_FLOW, gradient_flow
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import numbers
from eigentoken.proofs.steps.calculus_steps import (
    TOKEN_I,
    TOKEN_J,
    TOKEN_K,
    along_flow,
    attention_sum,
    field_of,
    pair_exponential,
    tensor_step,
)
from eigentoken.proofs.steps.theorems import RAYLEIGH_BELOW
from eigentoken.theory.calculus import (
    Assumptions,
    Expression,
    Letter,
    differentiate,
    direction,
    exponential,
    instance,
    one,
    vector,
)
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor
from eigentoken.theory.language.claims import Decreases
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.language.terms import Eigenvalue, d, matrix
from eigentoken.theory.linearization.linearize import linearize
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


#: ``Z_i = sqrt(d) sum_k exp(x_i^T P x_k)``, and the velocity ``Y_i`` of a token.
ROW = attention_sum(Letter("P"), TOKEN_I, STATE)
SCORES = (Letter("P"),)


def velocity() -> Expression:
    """``Y_P(x)_i``, from the equation of the flow."""
    return instance(linearize("ellipsoid-flow", tangent=False).step, TOKEN_I)


def lost() -> Expression:
    """``|Y_P|_g^2 = sum_i Z_i Y_i^T P Y_i``."""
    return (ROW * inner(velocity(), velocity(), SCORES)).summed(TOKEN_I)


RATE = sp.Eq(Rate(expression_of(ellipsoid_potential)), -Tensor(lost()), evaluate=False)


def _row_is_large(kernel: Kernel) -> Proved:
    """``Z_i >= sqrt d``: the term of the token itself is e."""
    x, other = vector(STATE, TOKEN_I), vector(STATE, TOKEN_K)
    own, each = inner(x, x, SCORES), exponential(inner(x, other, SCORES))
    terms = kernel.arithmetic([kernel.positive(each)], sp.Ge(Tensor(each), 0, evaluate=False))
    single = [kernel.exponential_of(own), kernel.reduction(own, one()), kernel.factors(one()), kernel.factors(ROW)]
    return kernel.arithmetic(
        [kernel.summand(kernel.generalise(TOKEN_K, terms), TOKEN_I), *single], Tensor(ROW) >= sp.sqrt(d)
    )


def proof(kernel: Kernel) -> Proved:
    """``V' = -sum_i Z_i Y_i^T P Y_i <= -sqrt(d) lambda_d(P) sum_i |Y_i|^2``, for symbolic n and d."""
    symmetric, moved = kernel.given(Symmetric(P)), velocity()
    positive = kernel.unfold(kernel.given(PositiveDefinite(P)))
    form, scale = inner(moved, moved, SCORES), Eigenvalue(P, d) * sp.sqrt(d)
    known = [
        _row_is_large(kernel),
        kernel.textbook(RAYLEIGH_BELOW, symmetric, A=P, z=moved),
        kernel.square(moved),
        positive,
    ]
    below = sp.Le(scale * Tensor(inner(moved, moved)), Tensor(ROW * form), evaluate=False)
    each = kernel.generalise(TOKEN_I, kernel.arithmetic([*known, kernel.product(ROW, form)], below))
    rate, speed = kernel.increment(expression_of(ellipsoid_potential)), kernel.squared_speed()
    written = kernel.reduction(relation_of(rate.proposition).rhs.expression, lost() * -1, symmetric)
    exact = kernel.arithmetic([rate, written, kernel.scaling(lost(), -1)], RATE)
    falls = sp.Le(RATE.lhs, -scale * Tensor(speed), evaluate=False)
    bound = kernel.arithmetic([exact, kernel.summed(each), kernel.scaling(speed, scale)], falls)
    decreases = kernel.dissipates(ellipsoid_potential, scale, bound, kernel.arithmetic([positive], scale > 0))
    return kernel.conjunction(gradient_flow(kernel), decreases)


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
        claims=(GRADIENT_FLOW, Decreases(ellipsoid_potential, strict=True)),
        depends=("AB-L3.1", "AB-L3.2", "AB-E8"),
        derive=derive,
        proof=proof,
        vectors=(Vector("|Y_P|_g^2 at the data of AB-E8", rate_example, ("0.618703674475619",)),),
    )
)
