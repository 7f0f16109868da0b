"""CL-15 in the kernel: how fast the token that is farthest from the centre of its cluster can move away from it.

``w`` is the centre, ``x_i`` a token on its side.  Tokens that are at least as high over w pull ``x_i`` towards w; each other one
has a weight of at most ``e^{-g}``, where its score is at least g below the own score of ``x_i``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.rows import I, J, K, Row, for_all
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import Expression, Index, dot, matrix, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Disjunction, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.terms import matrix as letter
from eigentoken.theory.language.terms import n

__all__ = ["LEAVING", "leaving"]

GAP, SINE = sp.symbols("g s", nonnegative=True)
_CENTRE = VectorLetter("w")
_w, _HERE = vector(_CENTRE.name), vector("x", I)
_ROW = Row(_HERE.applied(matrix("M^T")), "x")
_HEIGHT = dot(_w, _HERE)


def _height(at: Index) -> Expression:
    return dot(_w, vector("x", at))


def _near(at: Index) -> Proposition:
    return proposition(sp.Ge(Tensor(_height(at)), Tensor(_HEIGHT), evaluate=False))


def _far(at: Index) -> Proposition:
    return proposition(sp.Le(Tensor(_ROW.score(at)), Tensor(_ROW.score(I)) - GAP, evaluate=False))


_SIDE = proposition(sp.Ge(Tensor(_HEIGHT), 0, evaluate=False))
_ANGLE = proposition(sp.Le(Tensor(dot(_w, _w)) - Tensor(_HEIGHT) ** 2, SINE**2, evaluate=False))
_EITHER = for_all(Disjunction((_near(J), _far(J))), J)
_LEAK = (n - 1) * sp.exp(-GAP) * SINE
_SLOW = proposition(sp.Ge(Rate(_HEIGHT), -_LEAK, evaluate=False))
#: Where ``w^T x_i >= 0``, and every token j is higher over w than ``x_i`` or has ``x_i^T M x_j <= x_i^T M x_i - g``:
#: ``d/dt w^T x_i >= -(n - 1) e^{-g} s`` for every s at least ``(|w|^2 - (w^T x_i)^2)^{1/2}``, the sine of the angle for unit w.
LEAVING = ForAll(_CENTRE, TRUE, ForAll(I, _SIDE, ForAll(GAP, _EITHER, ForAll(SINE, _ANGLE, _SLOW))))


def _pull(at: Index) -> Expression:
    """``w^T x_j - (w^T x_i)(x_i^T x_j)``: what a token j adds to the height of token i, over its weight."""
    return _height(at) - _HEIGHT * dot(_HERE, vector("x", at))


def _weight(k: Kernel) -> Proved:
    """``a_j <= e^{-g}`` where the score is g below the own one: the sum is at least its own term."""
    positive = k.arithmetic([k.positive(_ROW.one(K))], sp.Ge(Tensor(_ROW.one(K)), 0, evaluate=False))
    own = k.summand(k.generalise(K, positive), I)
    far = k.assume(_far(K))
    known = [far, k.exponential_of(_ROW.score(K)), k.exponential_of(_ROW.score(I))]
    small = sp.exp(Tensor(_ROW.score(I)) - GAP)
    below = k.arithmetic([far], sp.Le(sp.exp(Tensor(_ROW.score(K))), small, evaluate=False))
    split = k.arithmetic(
        [*known, below], sp.Le(Tensor(_ROW.one(K)), sp.exp(-GAP) * Tensor(_ROW.one(I)), evaluate=False)
    )
    facts = [own, split, _ROW.quotient(k, K), k.positive(_ROW.one(I))]
    return k.arithmetic(facts, sp.Le(Tensor(_ROW.weight(K)), sp.exp(-GAP), evaluate=False))


def _each(k: Kernel) -> Proved:
    """``a_j pull_j >= -e^{-g} s`` for every j, in both cases."""
    own, there = dot(_HERE, vector("x", K)), vector("x", K)
    pull, weight = _pull(K), _ROW.weight(K)
    parts = [
        k.total(_height(K), -(_HEIGHT * own)),
        k.scaling(_HEIGHT * own, -1),
        k.product(_HEIGHT, own),
        k.product(weight, pull),
        k.positive(weight),
    ]
    acute = [
        k.square(_HERE - there),
        k.reduction(dot(_HERE - there, _HERE - there), own * -2 + 2),
        k.factors(own * -2 + 2),
    ]
    cosine = k.arithmetic(acute, sp.Le(Tensor(own), 1, evaluate=False))
    small = k.arithmetic([], sp.Gt(sp.exp(-GAP), 0, evaluate=False))
    said = sp.Ge(Tensor(weight * pull), -sp.exp(-GAP) * SINE, evaluate=False)
    side, angle = k.assume(_SIDE), k.assume(_ANGLE)
    high = k.arithmetic([k.assume(_near(K)), side, cosine, *parts[:3]], sp.Ge(Tensor(pull), 0, evaluate=False))
    first = k.arithmetic([high, *parts[3:], small], said)
    across = _w - _HERE * _HEIGHT
    length = dot(across, across)
    sides = [
        k.textbook(EUCLIDEAN, y=across, z=there),
        k.reduction(dot(across, there), pull),
        k.reduction(dot(there, there), one()),
        k.factors(one()),
        k.reduction(length, dot(_w, _w) - _HEIGHT * _HEIGHT),
        k.total(dot(_w, _w), -(_HEIGHT * _HEIGHT)),
        k.scaling(_HEIGHT * _HEIGHT, -1),
        k.product(_HEIGHT, _HEIGHT),
        angle,
    ]
    square = k.arithmetic(sides, sp.Le(Tensor(pull) ** 2, SINE**2, evaluate=False))
    low = k.arithmetic([square], sp.Ge(Tensor(pull), -SINE, evaluate=False))
    second = k.arithmetic([low, _weight(k), *parts[3:], small], said)
    either = k.instantiate(k.assume(_EITHER), K)
    return k.by_cases(either, (_near(K), first), (_far(K), second))


def leaving(k: Kernel) -> Proved:
    """A proof of :data:`LEAVING`."""
    each, scale = _each(k), sp.exp(-GAP) * SINE
    term = _ROW.weight(K) * _pull(K)
    shifted = term + one() * scale
    known = [each, k.total(term, one() * scale), k.scaling(one(), scale), k.factors(one())]
    positive = k.arithmetic(known, sp.Ge(Tensor(shifted), 0, evaluate=False))
    summed = k.summand(k.generalise(K, positive), I)
    whole, here = term.summed(K), _ROW.weight(I) * _pull(I) + one() * scale
    rate = k.increment(_HEIGHT)
    velocity = rate.proposition.word.relation.rhs.expression
    facts = [
        summed,
        k.reduction(here, one() * scale),
        k.scaling(one(), scale),
        k.factors(one()),
        k.total(whole, one() * (n * scale)),
        k.scaling(one(), n * scale),
        rate,
        k.reduction(velocity, whole, k.given(IsIdentity(letter("V")))),
    ]
    found = k.arithmetic(facts, _SLOW)
    found = k.generalise(GAP, k.generalise(SINE, found, _ANGLE), _EITHER)
    return k.generalise(_CENTRE, k.generalise(I, found, _SIDE))
