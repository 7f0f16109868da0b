"""Sums over the tokens that a token sees in the causal flow: masked weights, their bounds, and summand by summand estimates."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.theory.calculus import (
    DIMENSION,
    Expression,
    Index,
    Letter,
    MaskEntry,
    delta,
    dot,
    exponential,
    factor,
    one,
    vector,
)
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before, sees
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Tensor
from eigentoken.theory.language.terms import HeadNorm, d, matrix, n

__all__ = [
    "LEAST",
    "NORM",
    "alone",
    "masked",
    "row_bound",
    "score_range",
    "seen_terms",
    "token",
    "unit",
    "weight_below",
]

SCORES, SCORE = HeadNorm(matrix("P")), (Letter("P"),)
J, K, _SUMMED = (Index("token", name) for name in "jks")
NORM = sp.Symbol("b", nonnegative=True)


def token(at: Index) -> Expression:
    return vector(STATE, at)


def unit(kernel: Kernel, at: Index) -> Proved:
    """``|x_i|^2 = 1``."""
    size = dot(token(at), token(at))
    return kernel.arithmetic([kernel.reduction(size, one()), kernel.factors(one())], sp.Eq(Tensor(size), 1))


def alone(at: Index) -> Proposition:
    """No token comes before i."""
    return ForAll(J, TRUE, proposition(sp.Eq(Tensor(sees(J, at)), 1, evaluate=False)))


def plain_weight(at: Index, other: Index) -> Expression:
    """The weight without its mask."""
    score = dot(token(at), token(other), SCORE)
    return exponential(score) * row(at) ** -1 / sp.sqrt(DIMENSION)


def row(at: Index) -> Expression:
    """``sum_{k <= i} exp(x_i^T P x_k)``."""
    score = dot(token(at), token(_SUMMED), SCORE)
    return factor(row_sum(score, _SUMMED, (MaskEntry("causal", at, _SUMMED),)))


def masked(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``alpha_ij = c_ij a_ij`` with ``a_ij > 0``."""
    plain = plain_weight(at, other)
    whole = kernel.product(sees(at, other), plain)
    return kernel.conjunction(whole, kernel.positive(plain))


def seen_terms(
    kernel: Kernel, at: Index, other: Index, part: Expression, early: Proved, own: Proved, relation: Any = sp.Ge
) -> Proved:
    """``alpha_ij e_ij >= 0`` for every j, from ``e_ij >= 0`` for j before i and ``e_ii >= 0``; the same with ``=``."""
    mask, back = Tensor(sees(at, other)), Tensor(sees(other, at))
    order = kernel.causal_order(at, other), kernel.causal_order(other, at)
    one_token = delta(at, other)
    split = [
        kernel.same_token(at, other),
        kernel.product(one_token, part),
        kernel.product(one_token, part.at((other, at))),
    ]
    here, there = Tensor(part), Tensor(part.at((other, at)))
    equal = kernel.arithmetic(split, sp.Implies(sp.And(sp.Eq(mask, 1), sp.Eq(back, 1)), sp.Eq(here, there)))
    earlier = kernel.discharge(before(other, at), early)
    seen = sp.Or(sp.Eq(mask, 0), sp.And(sp.Eq(mask, 1), relation(here, 0, evaluate=False)))
    sign = kernel.arithmetic([*order, equal, own, earlier], seen)
    weight = causal_weight(at, other)
    known = [sign, masked(kernel, at, other), kernel.product(weight, part)]
    return kernel.arithmetic(known, relation(Tensor(weight * part), 0, evaluate=False))


#: ``e^{-2b}/(n sqrt(d))`` where the norm of P is at most b.
LEAST = sp.exp(-2 * NORM) / (n * sp.sqrt(d))


def score_range(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``e^{-b} <= exp(x_i^T P x_j) <= e^b``."""
    known = kernel.bounded_forms("P")
    bound = kernel.part(known, known.proposition.parts[0])
    here = kernel.instantiate(kernel.instantiate(bound, token(at)), token(other))
    score = dot(token(at), token(other), SCORE)
    most = kernel.assume(SCORES <= NORM)
    sizes = [unit(kernel, at), unit(kernel, other), kernel.part(known, SCORES >= 0)]
    squared = kernel.arithmetic([here, *sizes, most], sp.Le(Tensor(score) ** 2, NORM**2, evaluate=False))
    within = kernel.arithmetic([squared], sp.And(Tensor(score) <= NORM, Tensor(score) >= -NORM))
    value = Tensor(exponential(score))
    ends = sp.And(value <= sp.exp(NORM), value >= sp.exp(-NORM))
    return kernel.arithmetic([within, kernel.exponential_of(score)], ends)


def row_bound(kernel: Kernel, at: Index) -> Proved:
    """``sum_{k <= i} exp(x_i^T P x_k) <= n e^b``."""
    score = dot(token(at), token(K), SCORE)
    each = sees(at, K) * exponential(score)
    known = [kernel.product(sees(at, K), exponential(score)), score_range(kernel, at, K), kernel.causal_order(at, K)]
    below = kernel.arithmetic(known, sp.Le(Tensor(each), sp.exp(NORM), evaluate=False))
    total = kernel.summed(kernel.generalise(K, below))
    many = one() * (n * sp.exp(NORM))
    return kernel.arithmetic([total, kernel.factors(many)], sp.Le(Tensor(row(at)), n * sp.exp(NORM), evaluate=False))


def weight_below(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``alpha_ij >= e^{-2b}/(n sqrt(d))`` where token i sees token j."""
    score = exponential(dot(token(at), token(other), SCORE))
    here, whole = Tensor(causal_weight(at, other)), row(at)
    scaled = [
        kernel.product(causal_weight(at, other), whole),
        kernel.scaling(sees(at, other) * score, 1 / sp.sqrt(DIMENSION)),
        kernel.product(sees(at, other), score),
        kernel.assume(sp.Eq(Tensor(sees(at, other)), 1, evaluate=False)),
        kernel.positive(whole),
    ]
    quotient = kernel.arithmetic(scaled, sp.Eq(here * sp.sqrt(d) * Tensor(whole), Tensor(score), evaluate=False))
    positive = kernel.arithmetic([masked(kernel, at, other), scaled[3]], sp.Gt(here, 0, evaluate=False))
    known = [quotient, score_range(kernel, at, other), row_bound(kernel, at), scaled[4], positive]
    return kernel.arithmetic(known, sp.Ge(here, LEAST, evaluate=False))
