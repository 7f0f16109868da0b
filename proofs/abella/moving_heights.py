"""AB-L4.2 in the kernel: the derivative of a height is bounded, and uniformly continuous in time where P is.

``d/dt v^T x_i = sum_h sum_j alpha^h_ij (v^T x_j - (x_i^T W x_j) v^T x_i)``: with ``|v^T x| <= M`` on the ellipsoid each summand
is at most ``2M alpha``, and the weights of each head sum to ``1/sqrt(d)``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.attention_bounds import LEAST, METRIC, I, J, length, weight
from eigentoken.proofs.abella.heights import U, W, at_time, cosine, height
from eigentoken.proofs.steps.continuity_theorems import TIMES, UNIFORMLY_CONTINUOUS_COMPOSITION, steady
from eigentoken.proofs.steps.equations import Z, at_every_token, for_every
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import DIMENSION, HEAD, HEADS, Expression, Index, dot, one, vector
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Exists, ForAll, proposition, put
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    IsIdentity,
    PositiveDefinite,
    Symmetric,
    UniformlyContinuous,
)
from eigentoken.theory.language.terms import d

__all__ = ["BOUNDED", "SLOPE", "STEADY", "proof"]

SIDE, SIZE = VectorLetter("v"), sp.Symbol("M", positive=True)
_V = vector(SIDE.name)


def pull(at: Index, other: Index) -> Expression:
    """``v^T x_j - (x_i^T W x_j) v^T x_i``."""
    return height(other) - dot(vector(STATE, at), vector(STATE, other), METRIC) * height(at)


FIELD = (weight(I, J) * pull(I, J)).summed(J, HEAD)
RATE = Rate(height(I))
#: The derivative of a height.
SLOPE = for_every(sp.Eq(RATE, Tensor(FIELD), evaluate=False), SIDE, I)
_SHORT = proposition(sp.Le(Tensor(dot(_V, _V)), SIZE**2 * LEAST, evaluate=False))
_MOST = 2 * SIZE * HEADS / sp.sqrt(d)
_WITHIN = sp.And(sp.Le(RATE, _MOST, evaluate=False), sp.Ge(RATE, -_MOST, evaluate=False))
#: Where ``|v|^2 <= M^2 lambda_d(W)`` it is at most ``2 M H/sqrt(d)`` in modulus.
BOUNDED = for_every(ForAll(SIDE, _SHORT, for_every(_WITHIN, I)), SIZE)


def slope(kernel: Kernel) -> Proved:
    rate = kernel.increment(height(I))
    written = kernel.reduction(rate.proposition.word.relation.rhs.expression, FIELD, kernel.given(IsIdentity(U)))
    return kernel.arithmetic([rate, written], sp.Eq(RATE, Tensor(FIELD), evaluate=False))


def low(kernel: Kernel, at: Index) -> Proved:
    """``|v^T x_i| <= M``."""
    here = Tensor(height(at))
    known = [
        kernel.textbook(EUCLIDEAN, y=_V, z=vector(STATE, at)),
        length(kernel, at),
        kernel.square(_V),
        kernel.square(vector(STATE, at)),
        kernel.assume(_SHORT),
    ]
    squared = kernel.arithmetic(known, sp.Le(here**2, SIZE**2, evaluate=False))
    return kernel.arithmetic([squared], sp.And(here <= SIZE, here >= -SIZE))


def within(kernel: Kernel) -> Proved:
    """Each summand is at most ``2M alpha`` in modulus."""
    known = [low(kernel, I), low(kernel, J), cosine(kernel, I, J), kernel.factors(pull(I, J))]
    here = Tensor(pull(I, J))
    each = kernel.arithmetic(known, sp.And(here <= 2 * SIZE, here >= -2 * SIZE))
    found = []
    for sign in (1, -1):
        part = one() * (2 * SIZE) + pull(I, J) * sign
        split = [kernel.total(one() * (2 * SIZE), pull(I, J) * sign), kernel.scaling(pull(I, J), sign)]
        split += [kernel.scaling(one(), 2 * SIZE), kernel.factors(one())]
        positive = kernel.arithmetic([each, *split], sp.Ge(Tensor(part), 0, evaluate=False))
        term = weight(I, J) * part
        signs = [positive, kernel.product(weight(I, J), part), kernel.positive(weight(I, J))]
        total = kernel.generalise(J, kernel.arithmetic(signs, sp.Ge(Tensor(term), 0, evaluate=False)))
        sums = kernel.summed(kernel.generalise(HEAD, kernel.summed(total)))
        row = one() * (2 * SIZE * HEADS / sp.sqrt(DIMENSION))
        written = kernel.reduction(term.summed(J, HEAD), row + FIELD * sign)
        pieces = [
            kernel.total(row, FIELD * sign),
            kernel.scaling(FIELD, sign),
            kernel.factors(row),
            kernel.factors(one() * 0),
        ]
        bound = sp.Ge(_MOST + sign * RATE, 0, evaluate=False)
        found.append(kernel.arithmetic([sums, written, *pieces, slope(kernel)], bound))
    return kernel.arithmetic(found, _WITHIN)


_LATE, _EARLY = (Rate(height(I), time) for time in TIMES)
#: It is uniformly continuous in time.
STEADY = for_every(steady(_LATE, _EARLY), SIDE, I)


def slow(kernel: Kernel, bounded: Proved) -> Proved:
    """``(d/dt z^T x_i)^2 <= 4 H^2/(d lambda_d(W))`` for unit vectors z: ``M = 1/sqrt(lambda_d)``."""
    least = kernel.unfold(kernel.given(PositiveDefinite(W)))
    value, z, at = 1 / sp.sqrt(LEAST), vector(Z.name), Index("token", "a")
    facts = [sp.Gt(value, 0, evaluate=False), *where_defined(value)]
    here = kernel.instantiate(bounded, value, *(kernel.arithmetic([least], each) for each in facts))
    unit = kernel.assume(sp.Eq(Tensor(dot(z, z)), 1, evaluate=False))
    guard = kernel.arithmetic([unit, least], put(here.proposition.guard, {SIDE: z}))
    found = kernel.instantiate(kernel.instantiate(here, z, guard), at)
    square = kernel.arithmetic([found, least], sp.Le(Rate(dot(z, vector(STATE, at))) ** 2, FASTEST, evaluate=False))
    return kernel.generalise(Z, kernel.generalise(at, square), unit.proposition)


#: The square of the largest speed.
FASTEST = 4 * HEADS**2 / (d * LEAST)


def steady_slope(kernel: Kernel, bounded: Proved) -> Proved:
    """The derivative of a height is made of inner products and exponentials of tokens that move slowly."""
    at = Index("token", "a")
    x = vector(STATE, at)
    unit = kernel.reduction(dot(x, x, METRIC), one())
    on = kernel.generalise(at, kernel.arithmetic([unit, kernel.factors(one())], sp.Eq(Tensor(dot(x, x, METRIC)), 1)))
    words = [
        kernel.given(each) for each in (Symmetric(W), PositiveDefinite(W), BoundedInTime("P"), UniformlyContinuous("P"))
    ]
    found = kernel.textbook(
        UNIFORMLY_CONTINUOUS_COMPOSITION, *words, on, slow(kernel, bounded), f=FIELD, A=W, C=FASTEST
    )
    small = found.proposition.letter
    some = kernel.instantiate(found, small)
    room = some.proposition.letter
    late, early = TIMES
    inner = kernel.assume(some.proposition.body)
    close = inner.proposition.body.guard
    near = kernel.instantiate(kernel.instantiate(inner, late), early, kernel.assume(close))
    equal = [at_time(kernel, slope(kernel), time) for time in TIMES]
    wanted = STEADY.body.body.body.body.body.body
    said = kernel.arithmetic([near, *equal], wanted)
    every = kernel.generalise(late, kernel.generalise(early, said, close))
    there = kernel.witness(Exists(room, TRUE, every.proposition), room, every)
    return kernel.generalise(small, kernel.exists_elimination(some, there))


def proof(kernel: Kernel) -> Proved:
    """The slope from the equation, its bound summand by summand, and composition."""
    limited = kernel.generalise(SIZE, kernel.generalise(SIDE, kernel.generalise(I, within(kernel)), _SHORT))
    return kernel.conjunction(
        at_every_token(kernel, slope(kernel), SIDE, I),
        limited,
        at_every_token(kernel, steady_slope(kernel, limited), SIDE, I),
    )
