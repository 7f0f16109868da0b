"""Heights ``a_i = x_k^T x_i`` over the first token k in the causal flow with ``U = I``: how they rise (AB-T5.1).

``a_i' = sum_{j <= i} alpha_ij (a_j - (x_i^T x_j) a_i)``.  Near ``-x_k`` the velocity of token i pushes its neighbours apart.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.causal_sums import (
    LEAST,
    alone,
    seen_terms,
    token,
    unit,
    weight_below,
)
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import DIMENSION, Expression, Index, dot, one
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before
from eigentoken.theory.kernel.propositions import ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.terms import d, matrix

U = matrix("U")
I, J, K = (Index("token", name) for name in "ijk")
NEAR = sp.Symbol("rho", positive=True)


def height(at: Index) -> Expression:
    """``a_i = x_k^T x_i``, k the first token."""
    return dot(token(K), token(at))


def product(kernel: Kernel, first: Expression, second: Expression) -> Proved:
    """``(y^T z)^2 <= |y|^2 |z|^2``."""
    return kernel.textbook(EUCLIDEAN, y=first, z=second)


def below_one(kernel: Kernel, at: Index) -> Proved:
    """``-1 <= a_i <= 1``."""
    known = [product(kernel, token(K), token(at)), unit(kernel, K), unit(kernel, at)]
    here = Tensor(height(at))
    return kernel.arithmetic(known, sp.And(sp.Le(here, 1, evaluate=False), sp.Ge(here, -1, evaluate=False)))


def pull(at: Index, other: Index) -> Expression:
    """``x_k^T x_j - (x_i^T x_j) a_i``."""
    return height(other) - dot(token(at), token(other)) * height(at)


def near(at: Index, time: Any = None) -> Proposition:
    """``a_j >= 1 - rho^2/2``: token j is within rho of the first."""
    return proposition(sp.Ge(Tensor(height(at), time), 1 - NEAR**2 / 2, evaluate=False))


def earlier_near(at: Index, time: Any = None) -> Proposition:
    """All tokens before i are near the first."""
    return ForAll(J, before(J, at), near(J, time))


def opposite(at: Index, time: Any = None) -> Proposition:
    """``a_i <= -1 + rho^2/2``: token i is within rho of the antipode of the first."""
    return proposition(sp.Le(Tensor(height(at), time), -1 + NEAR**2 / 2, evaluate=False))


def small_gap(kernel: Kernel, gap: Expression, close: Proved, other: Index) -> Proved:
    """``|x_j -+ x_k|^2 <= rho^2``."""
    length = dot(gap, gap)
    known = [kernel.factors(length), unit(kernel, other), unit(kernel, K), close]
    return kernel.arithmetic(known, sp.Le(Tensor(length), NEAR**2, evaluate=False))


def small_product(kernel: Kernel, seen: Expression, gap: Expression, size: Proved, gap_size: Proved) -> Proved:
    """``-rho <= y^T e <= rho`` for a unit vector y and ``|e| <= rho``."""
    here = Tensor(dot(seen, gap))
    squared = kernel.arithmetic([product(kernel, seen, gap), size, gap_size], sp.Le(here**2, NEAR**2, evaluate=False))
    return kernel.arithmetic([squared], sp.And(here <= NEAR, here >= -NEAR))


def is_near(kernel: Kernel, at: Index, other: Index) -> Proved:
    """Token j, which comes before i, is near the first."""
    return kernel.instantiate(kernel.assume(earlier_near(at)), other, kernel.assume(before(other, at)))


def small() -> Proposition:
    return proposition(sp.Le(NEAR, sp.Rational(1, 3), evaluate=False))


def early_pull(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``x_k^T x_j - (x_i^T x_j) a_i + 2 rho >= 1 - a_i^2`` for j before i."""
    part = pull(at, other) + one() * (2 * NEAR)
    close, gap = is_near(kernel, at, other), token(other) - token(K)
    turned = small_product(kernel, token(at), gap, unit(kernel, at), small_gap(kernel, gap, close, other))
    known = [
        turned,
        kernel.factors(dot(token(at), gap)),
        close,
        below_one(kernel, at),
        kernel.assume(small()),
        kernel.factors(part),
        kernel.factors(one()),
    ]
    return kernel.arithmetic(known, sp.Ge(Tensor(part), 1 - Tensor(height(at)) ** 2, evaluate=False))


def slope_of_height(kernel: Kernel, at: Index, rest: Expression) -> Proved:
    """``a_i' = [sum_j alpha_ij (pull_ij + r)] - [r]/sqrt(d)``: the first token does not move."""
    part, still = pull(at, J) + rest, dot(token(J), token(at)) - dot(token(K), token(J)) * height(at)
    own = kernel.arithmetic(
        [kernel.factors(still.at((J, K))), unit(kernel, K)], sp.Eq(Tensor(still.at((J, K))), 0, evaluate=False)
    )
    first = kernel.instantiate(kernel.assume(alone(K)), J)
    never = kernel.arithmetic([first, kernel.assume(before(J, K))], sp.Eq(Tensor(still), 0, evaluate=False))
    rests = kernel.summed(kernel.generalise(J, seen_terms(kernel, K, J, still, never, own, sp.Eq)))
    rate = kernel.increment(height(at))
    moved, fixed = (causal_weight(at, J) * part).summed(J), (causal_weight(K, J) * still).summed(J)
    lost = rest * (-1 / sp.sqrt(DIMENSION))
    relation = rate.proposition.word.relation
    written = kernel.reduction(relation.rhs.expression, moved + fixed + lost, kernel.given(IsIdentity(U)))
    split = [kernel.total(moved, fixed, lost), kernel.scaling(rest, -1 / sp.sqrt(DIMENSION)), kernel.factors(one() * 0)]
    value = Tensor(moved) - Tensor(rest) / sp.sqrt(d)
    return kernel.arithmetic([rate, written, rests, *split], sp.Eq(relation.lhs, value, evaluate=False))


def sees_first(kernel: Kernel, at: Index) -> Proved:
    """Token i sees the first token."""
    return kernel.instantiate(kernel.assume(alone(K)), at)


def rises(kernel: Kernel, at: Index) -> Proved:
    """``a_i' >= a (1 - a_i^2) - 2 rho``, where the earlier tokens are near the first one and that is one of them."""
    rest, here = one() * (2 * NEAR), Tensor(height(at))
    part = pull(at, J) + rest
    size = below_one(kernel, at)
    early = kernel.arithmetic([early_pull(kernel, at, J), size], sp.Ge(Tensor(part), 0, evaluate=False))
    own_part = part.at((J, at))
    own = kernel.arithmetic(
        [kernel.factors(own_part), unit(kernel, at), kernel.factors(one())], sp.Ge(Tensor(own_part), 0, evaluate=False)
    )
    terms = seen_terms(kernel, at, J, part, early, own)
    total = kernel.summand(kernel.generalise(J, terms), K)
    weight = kernel.supply(weight_below(kernel, at, K), sees_first(kernel, at))
    first_part = part.at((J, K))
    single = kernel.arithmetic(
        [kernel.product(causal_weight(at, K), first_part), weight, early_pull(kernel, at, K), size],
        sp.Ge(Tensor(causal_weight(at, K) * first_part), LEAST * (1 - here**2), evaluate=False),
    )
    slope = slope_of_height(kernel, at, rest)
    rate = slope.proposition.word.relation.lhs
    known = [slope, total, single, kernel.factors(rest), kernel.factors(one()), size]
    return kernel.arithmetic(known, sp.Ge(rate, LEAST * (1 - here**2) - 2 * NEAR, evaluate=False))
