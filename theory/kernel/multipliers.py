"""Multipliers of a map on the sphere in full: a tangent family w, not zero, that the derivative stretches by a number above 1."""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.calculus import Index, Norm, dot, factor, vector
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Exists,
    ForAll,
    Implication,
    for_every,
    proposition,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused, prove
from eigentoken.theory.kernel.tensors import STATE, Slope, Tensor, VectorLetter
from eigentoken.theory.language.claims import Unstable
from eigentoken.theory.language.places import AntipodalAt, Place
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "DIRECTIONS",
    "FACTOR",
    "HALF_AND_HALF",
    "MULTIPLIER",
    "NOT_ZERO",
    "OF_THE_MAP",
    "TANGENT",
    "stretched",
    "unstable",
]

_I, _A, _B, _Z = Index("token", "i"), Index("token", "a"), Index("token", "b"), VectorLetter("z")
DIRECTIONS = VectorLetter("w")
FACTOR = sp.Symbol("m", real=True)
_X, _W = vector(STATE, _I), vector(DIRECTIONS.name, _I)


#: Vectors ``w_i`` that are tangent to the sphere at ``x_i``; ``sum_i |w_i|^2 > 0``.
TANGENT = for_every(sp.Eq(Tensor(dot(_X, _W)), 0, evaluate=False), _I)
NOT_ZERO = proposition(sp.Gt(Tensor(dot(_W, _W).summed(_I)), 0, evaluate=False))
#: ``z^T D[x_i^+](w)``, where ``x_i^+ = y_i / r_i``.
OF_THE_MAP = Slope(dot(vector(_Z.name), vector("y", _I)) * factor(Norm("r", (_I,)), -1))


def stretched(image: sp.Expr) -> Exists:
    """There are ``m > 1`` and a tangent family w, not zero, whose image is ``m w``; ``image`` is ``z^T (image of w)_i``."""
    equal = for_every(sp.Eq(image, FACTOR * Tensor(dot(vector(_Z.name), _W)), evaluate=False), _I, _Z)
    return Exists(FACTOR, proposition(FACTOR > 1), Exists(DIRECTIONS, Conjunction((TANGENT, NOT_ZERO)), equal))


#: The derivative of the map has a multiplier above 1 at the state.
MULTIPLIER = stretched(OF_THE_MAP)
#: All tokens are on one line, and they sum to zero: half of them on each side.
HALF_AND_HALF = Conjunction(
    (
        for_every(sp.Eq(Tensor(dot(vector(_Z.name), _X).summed(_I)), 0, evaluate=False), _Z),
        for_every(sp.Eq(Tensor(dot(vector(STATE, _A), vector(STATE, _B))) ** 2, 1, evaluate=False), _A, _B),
    )
)


def unstable(place: Place, proved: Proved) -> Proved:
    """A multiplier above 1 at every state with half of the tokens at w and half at -w: the place is linearly unstable."""
    system = proved.system
    if system is None or system.time is not Time.MAP or system.space is not Space.SPHERE or not system.standard:
        raise Refused("the multipliers are those of a map on the sphere that divides its raw step by its norm")
    if not isinstance(place, AntipodalAt):
        raise Refused(f"{place} is no place with half of the tokens on each side")
    wanted = ForAll(VectorLetter(STATE), TRUE, Implication(HALF_AND_HALF, MULTIPLIER))
    if not same(proved.proposition, wanted):
        raise Refused("a multiplier above 1 is not proved at every such state")
    return prove(Atom(Unstable(place)), "unstable", (proved,), system, proved.hypotheses)
