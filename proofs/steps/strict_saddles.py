"""Strict saddles of gradient flows on ellipsoids as propositions: second variations, their means, the circle, and null basins.

For tangent vectors ``w_i`` (``x_i^T A w_i = 0``) the curve ``(x_i + eps w_i)/|x_i + eps w_i|_A`` stays on the ellipsoids of A.
Its acceleration at 0 is ``-(w_i^T A w_i) x_i``, so that the second variation of V along it is
``D^2 V[w, w] + D V[-(w_i^T A w_i) x_i]``: at a critical point, the Hessian at w.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.proofs.steps.equations import for_every
from eigentoken.proofs.steps.gradient_theorems import GRADIENT_FLOWS_CONVERGE
from eigentoken.theory.calculus import (
    DIMENSION,
    Assumptions,
    Expression,
    Index,
    Letter,
    differentiate,
    direction,
    dot,
    exponential,
    substitute,
    vector,
    zero,
)
from eigentoken.theory.calculus.atoms import Base, Dot
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter, bases_of
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d
from eigentoken.theory.systems.system import Time

__all__ = [
    "AXIS",
    "CIRCLE",
    "MEAN_OF_FORM",
    "SADDLES",
    "WAY",
    "apart",
    "curved",
    "saddle",
    "second_variation",
    "tangent",
]

_I, _J, _NONE = Index("token", "k"), Index("token", "l"), Assumptions()
#: The letter of a tangent direction, of a vector of a basis, and of a state.
WAY, AXIS, _X = VectorLetter("w"), VectorLetter("e"), VectorLetter(STATE)


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, right, evaluate=False))


def _form(A: sp.MatrixSymbol) -> tuple[Letter, ...]:
    return (Letter(A.name),)


def first_variation(V: Expression) -> Expression:
    """``D V[w]``."""
    return differentiate(V, direction(STATE, WAY.name), _NONE)


def second_variation(V: Expression, A: sp.MatrixSymbol) -> Expression:
    """``D^2 V[w, w] + D V[-(w_i^T A w_i) x_i]``."""

    def bent(*at: Index) -> Expression:
        way = vector(WAY.name, *at)
        return dot(way, way, _form(A)) * vector(STATE, *at) * -1

    twice = differentiate(first_variation(V), direction(STATE, WAY.name), _NONE)
    return twice + differentiate(V, {STATE: bent}, _NONE)


def tangent(A: sp.MatrixSymbol) -> Proposition:
    """``x_i^T A w_i = 0`` for every token."""
    return for_every(_said(sp.Eq, Tensor(dot(vector(STATE, _I), vector(WAY.name, _I), _form(A))), sp.Integer(0)), _I)


def critical(V: Expression, A: sp.MatrixSymbol) -> Proposition:
    """``D V[w] = 0`` for all tangent vectors."""
    return ForAll(WAY, tangent(A), _said(sp.Eq, Tensor(first_variation(V)), sp.Integer(0)))


def apart() -> Proposition:
    """Two tokens are different."""
    gap = vector(STATE, _I) - vector(STATE, _J)
    return Exists(_I, TRUE, Exists(_J, TRUE, _said(sp.Gt, Tensor(dot(gap, gap)), sp.Integer(0))))


def curved(V: Expression, A: sp.MatrixSymbol) -> Exists:
    """Along some tangent vectors the second variation is negative."""
    return Exists(WAY, tangent(A), _said(sp.Lt, Tensor(second_variation(V, A)), sp.Integer(0)))


def saddle(V: Expression, A: sp.MatrixSymbol) -> Proposition:
    """Where V is critical and two tokens are different, the second variation is negative somewhere."""
    return Implication(Conjunction((critical(V, A), apart())), curved(V, A))


def _saddles(V: Expression, weight: Expression, f: Expression, A: sp.MatrixSymbol) -> tuple[tuple[Any, ...], Any]:
    gradient, _ = GRADIENT_FLOWS_CONVERGE.says(V=V, weight=weight, f=f, A=A)
    return (*gradient, ForAll(_X, TRUE, saddle(V, A))), ForAlmostEvery(proposition(Converges(ConsensusSet())))


#: A gradient flow of an analytic potential on ellipsoids of which every critical point with two different tokens has a direction
#: of negative curvature: almost every trajectory converges to consensus.
#:
#: Proof.  By Lojasiewicz each trajectory converges to an equilibrium, which is a critical point.  At one with two different
#: tokens the linear part of the flow is ``-G^{-1} H``, G the metric and H the Hessian, self-adjoint for G; H is negative
#: somewhere, so it has a positive eigenvalue, and the time-one map, a diffeomorphism, a multiplier above 1.  Near each such
#: point the starts that stay near lie on a centre-stable manifold, of lower dimension; countably many of these neighbourhoods
#: cover them (Lindelof), and preimages of null sets under a diffeomorphism are null.
SADDLES = Textbook(
    key="strict-saddles-of-gradient-flows",
    name="Lojasiewicz's gradient theorem and the centre-stable manifold theorem: gradient flows avoid strict saddles",
    letters={"V": Expression, "weight": Expression, "f": Expression, "A": sp.MatrixSymbol},
    says=_saddles,
    reference="Lojasiewicz, Sur les trajectoires du gradient d'une fonction analytique (1984); Lee, Panageas, Piliouras, "
    "Simchowitz, Jordan, Recht, First-order methods almost always avoid strict saddle points, Mathematical Programming 176 "
    "(2019), for the time-one map of the flow",
    bibtex=bibtex("Lee-et-al"),
    time=Time.FLOW,
    autonomous=True,
)


# -- the circle ------------------------------------------------------------------------------------------------------------


def _pairs(A: sp.MatrixSymbol) -> Expression:
    """``-1/2 sum_ij exp(x_i^T A x_j)``."""
    pair = exponential(dot(vector(STATE, _I), vector(STATE, _J), _form(A)))
    return pair.summed(_I, _J) * sp.Rational(-1, 2)


def _circle(A: sp.MatrixSymbol) -> tuple[tuple[Any, ...], Any]:
    x = vector(STATE, _I)
    on = for_every(_said(sp.Eq, Tensor(dot(x, x, _form(A))), sp.Integer(1)), _I)
    return (Symmetric(A), PositiveDefinite(A), _said(sp.Eq, d, sp.Integer(2)), on), saddle(_pairs(A), A)


#: On the circle ``-1/2 sum_ij phi(z_i^T z_j)`` has a direction of negative curvature at each critical point that is no consensus,
#: where the Taylor coefficients of phi' are positive and do not increase: ``1/k!`` for the exponential.  In ``z = A^{1/2} x``.
CIRCLE = Textbook(
    key="circle-landscape-exponential",
    name="the landscape of the exponential interaction on the circle",
    letters={"A": sp.MatrixSymbol},
    says=_circle,
    reference="Criscitiello, Rebjock, McRae, Boumal, Synchronization on circles and spheres with nonlinear interactions, "
    "arXiv:2405.18273",
    bibtex=bibtex("Criscitiello-et-al"),
)


# -- a form takes a value below its mean -----------------------------------------------------------------------------------


def mean_of_form(q: Expression, A: sp.MatrixSymbol, v: VectorLetter) -> Expression:
    """The mean of q over the vectors of a basis with ``e_k^T A e_l = delta_kl``: ``(v^T A y)(v^T A w)`` becomes ``y^T A w/d``,
    ``v^T A v`` becomes 1."""
    total = zero()
    for monomial, scale in q.terms.items():
        total = total + _contracted(monomial, A, v.name) * scale
    return total


def _contracted(monomial: Monomial, A: sp.MatrixSymbol, name: str) -> Expression:
    others: list[Base] = []
    kept, squares = [], 0
    for atom, power in monomial.factors:
        if not any(base.name == name for base in bases_of(atom)):
            kept.append((atom, power))
            continue
        sides = (atom.left, atom.right) if isinstance(atom, Dot) else ()
        if not sides or power < 0 or [(each.name, each.indices) for each in atom.letters] != [(A.name, ())]:
            raise Refused(f"{name} must stand in forms with {A.name} alone")
        rest = [side for side in sides if side.name != name]
        others += rest * power
        squares += 0 if rest else power
    if monomial.arrow is not None or (len(others), squares) not in ((2, 0), (0, 1)):
        raise Refused(f"the quantity must be quadratic in {name}")
    whole = Expression({Monomial((), tuple(kept)): sp.Integer(1)})
    if others:
        left, right = (vector(each.name, *each.indices) for each in others)
        whole = whole * dot(left, right, (Letter(A.name),)) / DIMENSION
    return whole.summed(*monomial.bound) if monomial.bound else whole


def _mean(q: Expression, A: sp.MatrixSymbol, v: VectorLetter) -> tuple[tuple[Any, ...], Any]:
    if q.is_vector:
        raise Refused("a form is a number")
    value = substitute(q, {v.name: lambda *_: vector(AXIS.name)})
    below = Exists(AXIS, TRUE, _said(sp.Le, Tensor(value), Tensor(mean_of_form(q, A, v))))
    return (Symmetric(A), PositiveDefinite(A)), below


#: A quadratic form takes a value that is at most its mean over a basis that is orthonormal for A.
MEAN_OF_FORM = Textbook(
    key="mean-of-a-form",
    name="the trace of a quadratic form",
    letters={"q": Expression, "A": sp.MatrixSymbol, "v": VectorLetter},
    says=_mean,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (trace and orthonormal bases)",
    bibtex=bibtex("Horn-Johnson"),
)
