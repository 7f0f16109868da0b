"""How long the raw step ``y_i = x_i + alpha V m_i`` of a map on the sphere is, m_i a convex combination of unit tokens.

``|m_i| <= 1``, because ``sum_j a_ij |m_i - x_j|^2 = 1 - |m_i|^2``; then ``|V m_i| <= |V|`` and ``|y_i| >= 1 - alpha |V|``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.equations import RAW, TOKEN, for_every
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import ALPHA, Expression, Index, dot, matrix, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.language.terms import matrix as letter

__all__ = ["SHORT_STEP", "apart_from_zero", "long_enough", "not_too_long", "push_sizes"]

OTHER = Index("token", "j")
_X, _V = vector("x", TOKEN), letter("V")
_NORM = SpectralNorm(_V)
#: ``alpha |V| < 1``.
SHORT_STEP = ALPHA * _NORM < 1
_LEAST = sp.Ge(Tensor(dot(RAW, RAW)), (1 - ALPHA * _NORM) ** 2, evaluate=False)


def long_enough() -> Implication:
    """``alpha |V| < 1`` implies ``|y_i|^2 >= (1 - alpha |V|)^2`` for every token."""
    return Implication(proposition(SHORT_STEP), for_every(_LEAST, TOKEN))


def _within_the_ball(k: Kernel, weight: Expression) -> Proved:
    """``|m_i|^2 <= 1`` for ``m_i = sum_j a_ij x_j``, weights that are positive and sum to 1."""
    mean = (weight * vector("x", OTHER)).summed(OTHER)
    apart = mean - vector("x", OTHER)
    square = k.square(apart)
    weighed = weight * dot(apart, apart)
    each = k.arithmetic([square, k.positive(weight), k.product(weight, dot(apart, apart))], sp.Ge(Tensor(weighed), 0))
    total = k.summed(k.generalise(OTHER, each))
    rest = one() - dot(mean, mean)
    same = k.reduction(weighed.summed(OTHER), rest)
    split = k.conjunction(k.factors(one()), k.factors(one() * 0))
    return k.arithmetic(
        [total, same, k.total(one(), -dot(mean, mean)), k.scaling(dot(mean, mean), -1), split],
        sp.Le(Tensor(dot(mean, mean)), 1, evaluate=False),
    )


def push_sizes(k: Kernel, weight: Expression) -> list[Proved]:
    """With ``c = x_i^T V m_i`` and ``S = |V m_i|^2``: ``c^2 <= S <= |V|^2``, and ``|V| >= 0``."""
    mean = (weight * vector("x", OTHER)).summed(OTHER)
    push = mean.applied(matrix("V"))
    bounded = k.textbook(OPERATOR_NORM, A=_V, z=mean)
    cauchy = k.textbook(EUCLIDEAN, y=_X, z=push)
    unit = k.conjunction(k.reduction(dot(_X, _X), one()), k.factors(one()))
    height, square = Tensor(dot(_X, push)), Tensor(dot(push, push))
    within = sp.And(height**2 <= square, square <= _NORM**2, height >= -_NORM, height <= _NORM)
    return [
        k.arithmetic([_within_the_ball(k, weight), bounded, cauchy, unit], within),
        k.part(bounded, bounded.proposition.parts[1]),
    ]


def _sizes(k: Kernel, weight: Expression) -> list[Proved]:
    """``|y_i|^2 = 1 + 2 alpha c + alpha^2 S``, with the bounds of :func:`push_sizes`."""
    push = (weight * vector("x", OTHER)).summed(OTHER).applied(matrix("V"))
    square = expanded(k, dot(RAW, RAW), (1,), (2 * ALPHA, dot(_X, push)), (ALPHA**2, dot(push, push)))
    return [square, *push_sizes(k, weight)]


def apart_from_zero(k: Kernel, weight: Expression) -> Proved:
    """A proof of :func:`long_enough`, for the map with the weights given."""
    whole = k.arithmetic([*_sizes(k, weight), k.assume(SHORT_STEP)], _LEAST)
    return k.discharge(long_enough().left, k.generalise(TOKEN, whole))


def not_too_long(k: Kernel, weight: Expression) -> Proved:
    """``|y_i|^2 <= (1 + alpha |V|)^2`` for every token."""
    most = sp.Le(Tensor(dot(RAW, RAW)), (1 + ALPHA * _NORM) ** 2, evaluate=False)
    return k.generalise(TOKEN, k.arithmetic(_sizes(k, weight), most))
