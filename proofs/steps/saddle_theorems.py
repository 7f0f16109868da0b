"""Textbook theorems about symmetric linear maps, and about unstable fixed points of maps on the sphere, as propositions."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, for_every
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.theory.calculus import Base, Expression, dot, substitute, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.multipliers import DIRECTIONS, MULTIPLIER, OF_THE_MAP, TANGENT, stretched
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
    put,
)
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter, named_of
from eigentoken.theory.kernel.words import top_eigenvector
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt, SomeEquilibrium
from eigentoken.theory.language.terms import Eigenvalue, d
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "FAMILY",
    "INJECTIVE",
    "RAYLEIGH_SECOND",
    "SELF_ADJOINT",
    "STILL",
    "STRICT_SADDLES",
    "TWO_EIGENVECTORS",
    "at_consensus",
]

_Z, _X, _W = vector(Z.name), vector(STATE, TOKEN), vector(DIRECTIONS.name, TOKEN)
_SECOND = VectorLetter("h")
#: The letter for the family that a linear map is given in.
FAMILY = VectorLetter("g")
#: ``D[x_i^+](w) = 0`` for every token; and: only ``w = 0`` among the tangent families is sent to zero.
STILL = for_every(sp.Eq(OF_THE_MAP, 0, evaluate=False), TOKEN, Z)
INJECTIVE = ForAll(
    DIRECTIONS, TANGENT, Implication(STILL, for_every(sp.Eq(Tensor(dot(_W, _W)), 0, evaluate=False), TOKEN))
)


def _occurs(thing: Any) -> int:
    """How often the family of :data:`FAMILY` stands in it."""
    if isinstance(thing, Base):
        return int(thing.name == FAMILY.name)
    return sum(map(_occurs, thing)) if isinstance(thing, tuple) else 0


def _linear(monomial: Monomial) -> bool:
    """The family stands once in it, in an inner product or as the vector: not in an exponent, nor divided by."""
    places = [(_occurs(atom), power) for atom, power in monomial.factors if _occurs(atom)]
    places += [(_occurs(monomial.arrow), 1)] if _occurs(monomial.arrow) else []
    plain = all(isinstance(atom, Dot) for atom, _ in monomial.factors if _occurs(atom))
    return plain and places == [(1, 1)]


def _self_adjoint(image: Expression, weight: Expression) -> tuple[tuple[Any, ...], Any]:
    key = (*image.terms, *weight.terms)
    if not image.is_vector or len(image.free_indices) != 1 or not all(map(_linear, image.terms)):
        raise Refused(f"the image is a vector for each token, linear in the family {FAMILY.name}")
    if weight.is_vector or weight.free_indices - image.free_indices or _occurs(tuple(weight.terms)) or named_of(key):
        raise Refused(f"the weight is a number for each token that does not depend on {FAMILY.name}")
    (index,) = image.free_indices
    if index.kind != TOKEN.kind:
        raise Refused("there is one vector for each token")
    image, weight = image.at((index, TOKEN)), weight.at((index, TOKEN))

    def image_of(family: VectorLetter) -> Expression:
        return substitute(image, {FAMILY.name: lambda *indices: vector(family.name, *indices)})

    def inner(left: Expression, right: Expression) -> Tensor:
        return Tensor((weight * dot(left, right)).summed(TOKEN))

    moved = image_of(DIRECTIONS)
    symmetric = sp.Eq(inner(vector(_SECOND.name, TOKEN), moved), inner(_W, image_of(_SECOND)), evaluate=False)
    level = for_every(sp.Eq(Tensor(dot(_X, moved)), 0, evaluate=False), TOKEN)
    other = put(TANGENT, {DIRECTIONS: _SECOND})
    hypotheses = (
        for_every(sp.Gt(Tensor(weight), 0, evaluate=False), TOKEN),
        ForAll(DIRECTIONS, TANGENT, level),
        ForAll(DIRECTIONS, TANGENT, ForAll(_SECOND, other, proposition(symmetric))),
        Exists(DIRECTIONS, TANGENT, proposition(sp.Gt(inner(_W, moved), inner(_W, _W), evaluate=False))),
    )
    return hypotheses, stretched(Tensor(dot(_Z, moved)))


#: A linear map of the tangent families ``x_i^T w_i = 0`` that is symmetric in the inner product ``sum_i weight_i a_i^T b_i``, and
#: whose form exceeds that of the identity at some w, has a (real) eigenvalue above 1.  ``image`` is the map, of the family g.
SELF_ADJOINT = Textbook(
    key="Rayleigh-self-adjoint",
    name="Rayleigh's principle for self-adjoint maps",
    letters={"image": Expression, "weight": Expression},
    says=_self_adjoint,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (variational characterisations)",
    bibtex=bibtex("Horn-Johnson"),
)


def _eigenvector(A: sp.MatrixSymbol, name: str, index: int) -> Proposition:
    """``|v| = 1`` and ``z^T A v = lambda_index z^T v`` for every z."""
    here = vector(name)
    value = Eigenvalue(A, index) * Tensor(dot(_Z, here))
    equal = sp.Eq(Tensor(dot(_Z, here, product(A.name))), value, evaluate=False)
    return Conjunction((for_every(equal, Z), proposition(sp.Eq(Tensor(dot(here, here)), 1, evaluate=False))))


def _two_eigenvectors(A: sp.MatrixSymbol) -> tuple[tuple[Any, ...], Any]:
    level = proposition(sp.Eq(Tensor(dot(vector("u"), vector("v"))), 0, evaluate=False))
    second = Exists(VectorLetter("v"), _eigenvector(A, "v", 2), level)
    return (Symmetric(A), sp.Ge(d, 2, evaluate=False)), Exists(VectorLetter("u"), _eigenvector(A, "u", 1), second)


#: A symmetric matrix has orthonormal eigenvectors u and v for its first two eigenvalues.
TWO_EIGENVECTORS = Textbook(
    key="spectral-theorem",
    name="the spectral theorem",
    letters={"A": sp.MatrixSymbol},
    says=_two_eigenvectors,
    reference="Horn, Johnson, Matrix Analysis, chapter on unitary similarity (normal matrices)",
    bibtex=bibtex("Horn-Johnson"),
)


def _second_rayleigh(A: sp.MatrixSymbol, v: Expression, z: Expression) -> tuple[tuple[Any, ...], Any]:
    other = VectorLetter("e")
    value = Eigenvalue(A, 1) * Tensor(dot(vector(other.name), v))
    eigen = for_every(sp.Eq(Tensor(dot(vector(other.name), v, product(A.name))), value, evaluate=False), other)
    hypotheses = (
        Symmetric(A),
        sp.Ge(d, 2, evaluate=False),
        eigen,
        sp.Eq(Tensor(dot(v, v)), 1, evaluate=False),
        sp.Eq(Tensor(dot(v, z)), 0, evaluate=False),
    )
    most = Eigenvalue(A, 2) * Tensor(dot(z, z))
    return hypotheses, sp.Le(Tensor(dot(z, z, product(A.name))), most, evaluate=False)


#: ``z^T A z <= lambda_2(A) |z|^2`` for z at right angles to a unit eigenvector v for ``lambda_1``.
RAYLEIGH_SECOND = Textbook(
    key="Rayleigh-second",
    name="Rayleigh's principle for the second eigenvalue",
    letters={"A": sp.MatrixSymbol, "v": Expression, "z": Expression},
    says=_second_rayleigh,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (variational characterisations)",
    bibtex=bibtex("Horn-Johnson"),
)


def at_consensus(A: sp.MatrixSymbol) -> Exists:
    """All tokens are at one unit eigenvector v for the first eigenvalue."""
    there = for_every(sp.Eq(Tensor(dot(_Z, _X)), Tensor(dot(_Z, vector("v"))), evaluate=False), TOKEN, Z)
    return Exists(VectorLetter("v"), top_eigenvector(A, "v"), there)


def _strict_saddles(A: sp.MatrixSymbol, rho: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    if sp.sympify(rho).has(Tensor):
        raise Refused("rho is a number: it does not depend on the state")
    state = VectorLetter(STATE)
    apart = for_every(sp.Ge(Tensor(dot(RAW, RAW)), rho, evaluate=False), TOKEN)
    either = Implication(RESTS, Disjunction((at_consensus(A), MULTIPLIER)))
    hypotheses = (
        SimpleTop(A),
        sp.Gt(rho, 0),
        Converges(SomeEquilibrium()),
        *(ForAll(state, TRUE, each) for each in (apart, INJECTIVE, either)),
    )
    return hypotheses, AlmostEveryConverges(ConsensusAt(A, 1))


#: A smooth map of the product of spheres whose derivative is invertible everywhere: the starts whose limit is a fixed point with
#: a multiplier above 1 are a null set.  Where every trajectory converges to a fixed point, and every fixed point but consensus
#: on the first eigenvector has such a multiplier, almost every trajectory converges to that consensus.
STRICT_SADDLES = Textbook(
    key="strict-saddles",
    name="the theorem on starts that converge to unstable fixed points",
    letters={"A": sp.MatrixSymbol, "rho": sp.Expr},
    says=_strict_saddles,
    reference="Lee, Panageas, Piliouras, Simchowitz, Jordan, Recht, First-order methods almost always avoid strict saddle "
    "points, Math. Program. 176 (2019), on maps whose derivative is invertible (by the centre-stable manifold theorem)",
    bibtex=bibtex("Lee-et-al"),
    time=Time.MAP,
    autonomous=True,
    space=Space.SPHERE,
)
