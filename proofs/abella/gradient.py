"""The gradient case (8)-(10) in the kernel: velocity, metric, potential, and that the flow is minus the gradient."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.equations import conserved
from eigentoken.proofs.steps.calculus_steps import TOKEN_I as I
from eigentoken.proofs.steps.calculus_steps import TOKEN_J as J
from eigentoken.proofs.steps.calculus_steps import attention_sum
from eigentoken.proofs.steps.equations import at_every_token, for_every, moves_by
from eigentoken.proofs.steps.gradient_theorems import GRADIENT_FLOWS_CONVERGE
from eigentoken.proofs.steps.theorems import RAYLEIGH_BELOW
from eigentoken.theory.calculus import DIMENSION, Expression, Index, Letter, dot, exponential, factor, one, vector, zero
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.language.terms import matrix

P = matrix("P")
FORM = (Letter("P"),)
#: ``Z_i = sqrt(d) sum_k exp(x_i^T P x_k)``.
ROW = attention_sum(Letter("P"), I, STATE)
_SUMMED = Index("token", "s")
_X, _OTHER = vector(STATE, I), vector(STATE, J)


def field() -> Expression:
    """``Y_P(x)_i = sum_j alpha_ij (x_j - (x_i^T P x_j) x_i)``."""
    rows = factor(row_sum(dot(_X, vector(STATE, _SUMMED), FORM), _SUMMED), -1) / sp.sqrt(DIMENSION)
    weight = exponential(dot(_X, _OTHER, FORM)) * rows
    return (weight * (_OTHER - dot(_X, _OTHER, FORM) * _X)).summed(J)


def paired(first: Expression, second: Expression) -> Expression:
    """``g_x(X, Y) = sum_i Z_i X_i^T P Y_i``."""
    return (ROW * dot(first, second, FORM)).summed(I)


def vectors(name: str) -> Expression:
    """The member ``X_i`` of a family."""
    return vector(name, I)


A, B = VectorLetter("X"), VectorLetter("Y")
_A, _B = vectors("X"), vectors("Y")

# -- AB-E8, AB-E9, AB-E10 ------------------------------------------------------------------------------------------------

VELOCITY = moves_by(field())
CONSERVED = Formula(for_every(sp.Eq(Rate(dot(_X, _X, FORM)), 0, evaluate=False), I))


def velocity(kernel: Kernel) -> Proved:
    """The equation of the registered flow."""
    z = VectorLetter("z")
    return at_every_token(kernel, kernel.increment(dot(vector("z"), _X)), I, z)


def flow(kernel: Kernel) -> Proved:
    """AB-E8."""
    return kernel.conjunction(velocity(kernel), conserved(kernel, FORM))


SYMMETRIC = Formula(for_every(sp.Eq(Tensor(paired(_A, _B)), Tensor(paired(_B, _A)), evaluate=False), A, B))
_POSITIVE = Implication(
    proposition(sp.Gt(Tensor(dot(_A, _A)), 0, evaluate=False)),
    proposition(sp.Gt(Tensor(ROW * dot(_A, _A, FORM)), 0, evaluate=False)),
)
#: Each summand of ``g_x(X, X)`` is positive where ``X_i != 0``.
POSITIVE = Formula(for_every(_POSITIVE, A, I))


def metric(kernel: Kernel) -> Proved:
    """AB-E9: g is symmetric, and each of its summands is positive definite."""
    symmetric = kernel.given(Symmetric(P))
    turned = at_every_token(kernel, kernel.reduction(paired(_A, _B), paired(_B, _A), symmetric), A, B)
    there = kernel.assume(_POSITIVE.left)
    known = [
        there,
        kernel.unfold(kernel.given(PositiveDefinite(P))),
        kernel.textbook(RAYLEIGH_BELOW, symmetric, A=P, z=_A),
        kernel.positive(ROW),
        kernel.product(ROW, dot(_A, _A, FORM)),
    ]
    found = kernel.discharge(there.proposition, kernel.arithmetic(known, _POSITIVE.right))
    return kernel.conjunction(turned, at_every_token(kernel, found, A, I))


_POTENTIAL = expression_of(ellipsoid_potential)
_PAIRS = (exponential(dot(_X, _OTHER, FORM)) * dot(_A, _OTHER, FORM)).summed(I, J)
#: ``dV(x) X = -sum_ij exp(x_i^T P x_j) X_i^T P x_j``.
DIFFERENTIAL = Formula(for_every(sp.Eq(Slope(_POTENTIAL, "X"), -Tensor(_PAIRS), evaluate=False), A))


def differential(kernel: Kernel) -> Proved:
    """AB-E10."""
    slope = kernel.slope(_POTENTIAL, "X")
    written = kernel.reduction(slope.proposition.word.relation.rhs.expression, _PAIRS * -1, kernel.given(Symmetric(P)))
    said = DIFFERENTIAL.said.body
    return at_every_token(kernel, kernel.arithmetic([slope, written, kernel.scaling(_PAIRS, -1)], said), A)


# -- AB-L3.1, AB-L3.2, AB-T3.1 ---------------------------------------------------------------------------------------------


def tangent_part(name: str) -> Expression:
    """``X_i - (x_i^T P X_i) x_i``, the differential of the projection at a state of the ellipsoids."""
    return vectors(name) - dot(_X, vectors(name), FORM) * _X


def is_tangent(name: str) -> Proposition:
    """``x_i^T P Y_i = 0`` for every token."""
    return for_every(sp.Eq(Tensor(dot(_X, vectors(name), FORM)), 0, evaluate=False), I)


_IMAGE = sp.Eq(Tensor(dot(_X, tangent_part("X"), FORM)), 0, evaluate=False)
#: The image of every X is tangent.
IMAGE = Formula(for_every(_IMAGE, A, I))
_KEPT = sp.Eq(Tensor(dot(vector("z"), tangent_part("Y"))), Tensor(dot(vector("z"), _B)), evaluate=False)
#: Tangent vectors are left alone.
KEPT = Formula(for_every(Implication(is_tangent("Y"), for_every(_KEPT, I, VectorLetter("z"))), B))
_REST = paired(_A - tangent_part("X"), _B)
#: What is taken away is orthogonal to tangent vectors, in the metric g.
ORTHOGONAL = Formula(
    for_every(Implication(is_tangent("Y"), proposition(sp.Eq(Tensor(_REST), 0, evaluate=False))), A, B)
)


def projection(kernel: Kernel) -> Proved:
    """AB-L3.1: into the tangent space, the identity on it, and a residual that is orthogonal to it."""
    symmetric, nothing = kernel.given(Symmetric(P)), kernel.factors(zero())
    image = kernel.reduction(dot(_X, tangent_part("X"), FORM), zero(), symmetric)
    into = at_every_token(kernel, kernel.arithmetic([image, nothing], _IMAGE), A, I)
    tangent = kernel.assume(is_tangent("Y"))
    here, z = kernel.instantiate(tangent, I), vector("z")
    moved = kernel.factors(dot(z, tangent_part("Y")))
    kept = at_every_token(kernel, kernel.arithmetic([moved, here], _KEPT), I, VectorLetter("z"))
    alone = at_every_token(kernel, kernel.discharge(tangent.proposition, kernel.settled(kept)), B)
    taken, along = ROW * dot(_X, _A, FORM), dot(_X, _B, FORM)
    each = kernel.arithmetic([kernel.product(taken, along), here], sp.Eq(Tensor(taken * along), 0, evaluate=False))
    total = kernel.summed(kernel.generalise(I, each))
    written = kernel.reduction(_REST, (taken * along).summed(I), symmetric)
    none = kernel.arithmetic([written, total, nothing], sp.Eq(Tensor(_REST), 0, evaluate=False))
    orthogonal = at_every_token(kernel, kernel.discharge(tangent.proposition, none), A, B)
    return kernel.conjunction(into, alone, orthogonal)


def push() -> Expression:
    """``X_P(x)_i = sum_j alpha_ij x_j``."""
    rows = factor(row_sum(dot(_X, vector(STATE, _SUMMED), FORM), _SUMMED), -1) / sp.sqrt(DIMENSION)
    return (exponential(dot(_X, _OTHER, FORM)) * rows * _OTHER).summed(J)


_ALONG_PUSH = paired(push(), _A)
#: ``dV(x) X = -g(X_P, X)`` for every X: the gradient of V is ``-X_P``.
GRADIENT = Formula(for_every(sp.Eq(Slope(_POTENTIAL, "X"), -Tensor(_ALONG_PUSH), evaluate=False), A))


def gradient(kernel: Kernel) -> Proved:
    """AB-L3.2."""
    slope = kernel.slope(_POTENTIAL, "X")
    written = kernel.reduction(
        slope.proposition.word.relation.rhs.expression, _ALONG_PUSH * -1, kernel.given(Symmetric(P))
    )
    found = kernel.arithmetic([slope, written, kernel.scaling(_ALONG_PUSH, -1)], GRADIENT.said.body)
    return at_every_token(kernel, found, A)


_ALONG_FLOW = paired(field(), _B)
_DOWN = sp.Eq(Slope(_POTENTIAL, "Y"), -Tensor(_ALONG_FLOW), evaluate=False)
#: ``dV_P(x) Y = -g(Y_P, Y)`` for every tangent Y.
GRADIENT_FLOW = Formula(for_every(Implication(is_tangent("Y"), proposition(_DOWN)), B))


def gradient_flow(kernel: Kernel) -> Proved:
    """The flow is minus the gradient of the potential on the product of the ellipsoids (AB-T3.1)."""
    symmetric, tangent = kernel.given(Symmetric(P)), kernel.assume(is_tangent("Y"))
    along = dot(_X, _B, FORM)
    scale = (exponential(dot(_X, _OTHER, FORM)) * dot(_X, _OTHER, FORM)).summed(J)
    each = kernel.arithmetic(
        [kernel.product(scale, along), kernel.instantiate(tangent, I)], sp.Eq(Tensor(scale * along), 0, evaluate=False)
    )
    lost = (scale * along).summed(I)
    slope = kernel.slope(_POTENTIAL, "Y")
    written = kernel.reduction(slope.proposition.word.relation.rhs.expression, _ALONG_FLOW * -1 - lost, symmetric)
    parts = [kernel.total(_ALONG_FLOW * -1, lost * -1), kernel.scaling(_ALONG_FLOW, -1), kernel.scaling(lost, -1)]
    none = [kernel.summed(kernel.generalise(I, each)), kernel.factors(zero())]
    found = kernel.discharge(tangent.proposition, kernel.arithmetic([slope, written, *parts, *none], _DOWN))
    return at_every_token(kernel, found, B)


def gradient_premises(kernel: Kernel) -> list[Proved]:
    """The flow is minus the gradient of an analytic potential on the product of the ellipsoids."""
    here = dot(_X, _X, FORM)
    unit = kernel.arithmetic(
        [kernel.reduction(here, one()), kernel.factors(one())], sp.Eq(Tensor(here), 1, evaluate=False)
    )
    return [
        *(kernel.given(each(P)) for each in (Symmetric, PositiveDefinite)),
        at_every_token(kernel, unit, I),
        velocity(kernel),
        at_every_token(kernel, kernel.settled(kernel.positive(ROW)), I),
        gradient_flow(kernel),
    ]


def convergence(kernel: Kernel) -> Proved:
    """AB-T3.2: Lojasiewicz's theorem for the flow of the potential."""
    premises = gradient_premises(kernel)
    return kernel.textbook(GRADIENT_FLOWS_CONVERGE, *premises, V=_POTENTIAL, weight=ROW, f=field(), A=P)
