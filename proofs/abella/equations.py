"""The equations (2)-(10) and (15) as claims, and their proofs from the registered systems, for symbolic n, d and heads."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.attention_bounds import METRIC, I, J, weight
from eigentoken.proofs.steps.equations import (
    NORMALISED,
    RAW,
    Z,
    at_every_token,
    for_every,
    moves_by,
    normalised,
    same_vectors,
    the_same,
)
from eigentoken.proofs.steps.theorems import RAYLEIGH_BELOW
from eigentoken.theory.calculus import (
    ALPHA,
    DIMENSION,
    HEAD,
    Expression,
    Index,
    Letter,
    MaskEntry,
    Norm,
    dot,
    exponential,
    factor,
    one,
    vector,
    zero,
)
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import matrix

__all__ = [
    "CAUSAL_VELOCITY",
    "CONSERVED",
    "DEFINITE",
    "DIFFERENTIAL",
    "NORMALISED",
    "NORM_OF_THE_STEP",
    "PUSHED",
    "RAYS",
    "TANGENT",
    "VELOCITY",
    "conserved",
    "definite",
    "differential",
    "norm_of_the_step",
    "normalised",
    "pushed",
    "rays",
    "velocity",
]

_VALUE = (Letter("U", False, (HEAD,)),)
_STATE, _OTHER = vector(STATE, I), vector(STATE, J)


def push() -> Expression:
    """``u_i = sum_h sum_j alpha^h_ij U_h x_j``."""
    return (weight(I, J) * _OTHER.applied(_VALUE)).summed(J, HEAD)


#: ``y_i = x_i + alpha u_i``.
PUSHED = same_vectors(RAW, _STATE + push() * ALPHA, I)
_LENGTH = Norm("r", (I,))
#: ``r_i^2 = y_i^T W y_i``.
NORM_OF_THE_STEP = Formula(
    for_every(sp.Eq(Tensor(dot(RAW, RAW, METRIC)), Tensor(factor(_LENGTH, 2)), evaluate=False), I)
)
#: ``x_i^T W x_i`` does not change.
CONSERVED = Formula(for_every(sp.Eq(Rate(dot(_STATE, _STATE, METRIC)), 0, evaluate=False), I))
#: ``dx_i/dt = sum_h sum_j alpha^h_ij (U_h x_j - (x_i^T W U_h x_j) x_i)``.
VELOCITY = moves_by(
    (weight(I, J) * (_OTHER.applied(_VALUE) - dot(_STATE, _OTHER.applied(_VALUE), METRIC) * _STATE)).summed(J, HEAD)
)


def pushed(kernel: Kernel) -> Proved:
    return the_same(kernel, RAW, _STATE + push() * ALPHA, I)


def norm_of_the_step(kernel: Kernel) -> Proved:
    return at_every_token(kernel, kernel.reduction(dot(RAW, RAW, METRIC), factor(_LENGTH, 2)), I)


def conserved(kernel: Kernel, form: tuple[Letter, ...] = METRIC) -> Proved:
    """From the equation: the projection takes away what would change it."""
    rate = kernel.increment(dot(_STATE, _STATE, form))
    value = rate.proposition.word.relation
    none = kernel.reduction(value.rhs.expression, zero())
    said = sp.Eq(value.lhs, 0, evaluate=False)
    return at_every_token(kernel, kernel.arithmetic([rate, none, kernel.factors(zero())], said), I)


def velocity(kernel: Kernel) -> Proved:
    return at_every_token(kernel, kernel.increment(dot(vector(Z.name), _STATE)), I, Z)


_Z, _U, _SCALE = vector("z"), vector("u"), sp.Symbol("c", positive=True)
_W = matrix("W")


def _form(left: Expression, right: Expression) -> Tensor:
    return Tensor(dot(left, right, METRIC))


_LONG = sp.Gt(_form(_Z, _Z), 0, evaluate=False)
#: ``z^T W z > 0`` for ``z != 0``.
DEFINITE = Formula(
    for_every(Implication(proposition(sp.Gt(Tensor(dot(_Z, _Z)), 0, evaluate=False)), proposition(_LONG)), Z)
)
_ONE_RAY = sp.Eq(
    Tensor(dot(_U, _Z * _SCALE)) / sp.sqrt(_form(_Z * _SCALE, _Z * _SCALE)),
    Tensor(dot(_U, _Z)) / sp.sqrt(_form(_Z, _Z)),
    evaluate=False,
)
#: ``z/|z|_W`` is the same for all points of a ray, seen with every vector u.
RAYS = Formula(for_every(Implication(proposition(_LONG), proposition(_ONE_RAY)), Z, VectorLetter("u"), _SCALE))


def definite(kernel: Kernel) -> Proved:
    least = kernel.unfold(kernel.given(PositiveDefinite(_W)))
    below = kernel.textbook(RAYLEIGH_BELOW, kernel.given(Symmetric(_W)), A=_W, z=_Z)
    there = kernel.assume(sp.Gt(Tensor(dot(_Z, _Z)), 0, evaluate=False))
    return at_every_token(
        kernel, kernel.discharge(there.proposition, kernel.arithmetic([least, below, there], _LONG)), Z
    )


def rays(kernel: Kernel) -> Proved:
    scaled = [kernel.scaling(dot(_U, _Z), _SCALE), kernel.scaling(dot(_Z, _Z, METRIC), _SCALE**2)]
    found = kernel.discharge(_LONG, kernel.arithmetic([*scaled, kernel.assume(_LONG)], _ONE_RAY))
    return at_every_token(kernel, kernel.settled(found), Z, VectorLetter("u"), _SCALE)


# -- the causal flow (15) --------------------------------------------------------------------------------------------------

_SUMMED = Index("token", "s")


def causal_weight(at: Index, other: Index) -> Expression:
    """``alpha_ij = c_ij exp(x_i^T P x_j) / (sqrt(d) sum_k c_ik exp(x_i^T P x_k))`` with ``c_ij = 1`` for ``j <= i``, else 0."""
    score = Letter("P")
    here = factor(MaskEntry("causal", at, other)) * exponential(dot(vector(STATE, at), vector(STATE, other), (score,)))
    seen = dot(vector(STATE, at), vector(STATE, _SUMMED), (score,))
    return here * factor(row_sum(seen, _SUMMED, (MaskEntry("causal", at, _SUMMED),)), -1) / sp.sqrt(DIMENSION)


_PLAIN = (Letter("U"),)
_MOVED = _OTHER.applied(_PLAIN)
#: ``dx_i/dt = sum_{j <= i} alpha_ij (U x_j - (x_i^T U x_j) x_i)``.
CAUSAL_VELOCITY = moves_by((causal_weight(I, J) * (_MOVED - dot(_STATE, _MOVED) * _STATE)).summed(J))


# -- the differential of the projection (3) --------------------------------------------------------------------------------

_ALONG, _X = VectorLetter("X"), vector("X", I)
_PART = _X - dot(_STATE, _X, METRIC) * _STATE
#: ``(z^T pi_W(x_i))^2 = (z^T x_i)^2/(x_i^T W x_i)``.
_SEEN = dot(_Z, _STATE) * dot(_Z, _STATE) * dot(_STATE, _STATE, METRIC) ** -1
_CHANGE = dot(_Z, _STATE) * dot(_Z, _PART) * 2
#: Along X, ``z^T pi_W(x)`` changes by ``z^T (X - (x^T W X) x)`` on the ellipsoid: said of its square, for every z.
DIFFERENTIAL = Formula(for_every(sp.Eq(Slope(_SEEN, "X"), Tensor(_CHANGE), evaluate=False), I, Z, _ALONG))
#: The image is tangent to the ellipsoid.
TANGENT = Formula(for_every(sp.Eq(Tensor(dot(_STATE, _PART, METRIC)), 0, evaluate=False), I, _ALONG))


def differential(kernel: Kernel) -> Proved:
    """AB-E3: the derivative of the projection on the ellipsoid, and its image."""
    slope = kernel.slope(_SEEN, "X")
    unit = kernel.arithmetic(
        [kernel.reduction(dot(_STATE, _STATE, METRIC), one()), kernel.factors(one())],
        sp.Ne(Tensor(dot(_STATE, _STATE, METRIC)), 0),
    )
    relation = slope.proposition.word.relation
    written = kernel.reduction(relation.rhs.expression, _CHANGE)
    known = [kernel.supply(each, unit) for each in (slope, written)]
    changes = kernel.arithmetic([*known, unit], sp.Eq(relation.lhs, Tensor(_CHANGE), evaluate=False))
    none = kernel.reduction(dot(_STATE, _PART, METRIC), zero())
    said = sp.Eq(Tensor(dot(_STATE, _PART, METRIC)), 0, evaluate=False)
    tangent = kernel.arithmetic([none, kernel.factors(zero())], said)
    return kernel.conjunction(at_every_token(kernel, changes, I, Z, _ALONG), at_every_token(kernel, tangent, I, _ALONG))
