"""Attention weights of heads on an ellipsoid in the kernel, full or under a causal mask: their sign, and a bound from below."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.attention_bounds import BOUND, LEAST, K, exponential_range, length, score, weight
from eigentoken.theory.calculus import DIMENSION, Expression, Index, MaskEntry, exponential, factor, one
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import sees
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.terms import d, n

__all__ = ["NORM", "is_causal", "nonnegative_weight", "seen_weight_from_below", "weight_of"]

#: A bound on the norms of the scores at all times.
NORM = sp.Symbol("b", nonnegative=True)
_SUMMED = Index("token", "s")


def is_causal(kernel: Kernel) -> bool:
    """Does a token see the earlier ones alone?"""
    return kernel.system is not None and kernel.system.mask == "causal"


def _row(at: Index) -> Expression:
    """``sum_{k <= i} exp(x_i^T P_h x_k)``."""
    return factor(row_sum(score(at, _SUMMED), _SUMMED, (MaskEntry("causal", at, _SUMMED),)))


def _unmasked(at: Index, other: Index) -> Expression:
    return exponential(score(at, other)) * _row(at) ** -1 / sp.sqrt(DIMENSION)


def weight_of(kernel: Kernel, at: Index, other: Index) -> Expression:
    """``alpha_ij`` of a head; under a causal mask it is zero where ``j > i``."""
    return sees(at, other) * _unmasked(at, other) if is_causal(kernel) else weight(at, other)


def nonnegative_weight(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``alpha_ij >= 0``; with full attention ``alpha_ij > 0``."""
    if not is_causal(kernel):
        return kernel.positive(weight(at, other))
    plain = _unmasked(at, other)
    known = [kernel.causal_order(at, other), kernel.product(sees(at, other), plain), kernel.positive(plain)]
    return kernel.arithmetic(known, sp.Ge(Tensor(weight_of(kernel, at, other)), 0, evaluate=False))


def seen_weight_from_below(kernel: Kernel, at: Index, other: Index, seen: Proved) -> Proved:
    """``alpha_ij >= e^{-2b/lambda}/(n sqrt(d))`` where token i sees token j, under a causal mask; ``seen``: ``c_ij = 1``."""
    most, single, whole = sp.exp(NORM / LEAST), exponential(score(at, other)), _row(at)
    small, least = kernel.assume(BOUND <= NORM), length(kernel, at)

    def within(key: Index) -> Proved:
        here = Tensor(exponential(score(at, key)))
        return kernel.arithmetic(
            [exponential_range(kernel, at, key), small, least], sp.And(here <= most, here >= 1 / most)
        )

    each, bound = sees(at, K) * exponential(score(at, K)), one() * most
    there = kernel.arithmetic([least], sp.Ne(LEAST, 0))
    level = kernel.supply(kernel.factors(bound), there)
    known = [kernel.product(sees(at, K), exponential(score(at, K))), within(K), kernel.causal_order(at, K), level]
    below = kernel.arithmetic(known, sp.Le(Tensor(each), Tensor(bound), evaluate=False))
    total = kernel.summed(kernel.generalise(K, below))
    sum_of = kernel.supply(kernel.factors(one() * (n * most)), there)
    row = kernel.arithmetic([total, sum_of], sp.Le(Tensor(whole), n * most, evaluate=False))
    here = weight_of(kernel, at, other)
    parts = [
        kernel.product(here, whole),
        kernel.scaling(sees(at, other) * single, 1 / sp.sqrt(DIMENSION)),
        kernel.product(sees(at, other), single),
        seen,
        kernel.positive(whole),
    ]
    quotient = kernel.arithmetic(
        parts, sp.Eq(Tensor(here) * sp.sqrt(d) * Tensor(whole), Tensor(single), evaluate=False)
    )
    positive = kernel.positive(_unmasked(at, other))
    sign = kernel.arithmetic(
        [kernel.product(sees(at, other), _unmasked(at, other)), positive, seen], sp.Gt(Tensor(here), 0, evaluate=False)
    )
    known = [quotient, within(other), row, parts[4], sign, least]
    return kernel.arithmetic(known, sp.Ge(Tensor(here), sp.exp(-2 * NORM / LEAST) / (sp.sqrt(d) * n), evaluate=False))
