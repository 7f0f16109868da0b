"""The spread of the projected tokens in a direction, in the kernel: the flow of ``w_i = x_i/v^T x_i``, and how fast it contracts.

``w_i' = sum_k a_ik (w_k - w_i)`` with ``a_ik = sum_h alpha^h_ik h_k/h_i`` (AB-X1), tested with an arbitrary vector f.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.attention_bounds import I, J, K, weight
from eigentoken.proofs.abella.heights import above, every, height, lowest_rises
from eigentoken.theory.calculus import HEAD, HEADS, Expression, Index, dot, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import ForAll, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.terms import matrix, n

__all__ = [
    "FLOW_OF_PROJECTIONS",
    "LOWEST_RISES",
    "NESTED",
    "SPREAD",
    "flow_of_projections",
    "lowest",
    "nested",
    "spread",
]

U = matrix("U")
SLOW = sp.Symbol("a", nonnegative=True)
L = Index("token", "l")


def component(at: Index) -> Expression:
    """``f^T w_i``."""
    return dot(vector("f"), vector(STATE, at)) * height(at) ** -1


def pull(at: Index, other: Index) -> Expression:
    """``alpha^h_ik h_k/h_i``."""
    return weight(at, other) * height(other) * height(at) ** -1


def move(at: Index, other: Index) -> Expression:
    """``alpha^h_ik (f^T x_k - h_k f^T w_i)/h_i``: the same as ``a_ik f^T (w_k - w_i)``, without a division by ``h_k``."""
    toward = dot(vector("f"), vector(STATE, other)) - height(other) * component(at)
    return weight(at, other) * height(at) ** -1 * toward


_V, _E = VectorLetter("v"), VectorLetter("f")
_SLOPE = sp.Eq(Rate(component(I)), Tensor(move(I, K).summed(K, HEAD)), evaluate=False)
#: ``(f^T w_i)' = sum_k a_ik f^T (w_k - w_i)`` wherever ``h_i != 0``.
FLOW_OF_PROJECTIONS = every(Implication(proposition(sp.Ne(Tensor(height(I)), 0)), proposition(_SLOPE)), _V, _E, I)


def flow_of_projections(kernel: Kernel) -> Proved:
    """:data:`FLOW_OF_PROJECTIONS`, from the equation of the flow."""
    rate = kernel.increment(component(I))
    value = rate.proposition.word.relation.rhs.expression
    written = kernel.reduction(value, move(I, K).summed(K, HEAD), kernel.given(IsIdentity(U)))
    there = sp.Ne(Tensor(height(I)), 0)
    found = kernel.discharge(there, kernel.arithmetic([rate, written], _SLOPE))
    for letter in (I, _E, _V):
        found = kernel.generalise(letter, found)
    return found


_LEAST = every(sp.Le(Tensor(height(I)), Tensor(height(J)), evaluate=False), J)
_RISES = sp.Ge(Rate(height(I)), 0, evaluate=False)
#: Where all heights are positive, the lowest does not fall.
LOWEST_RISES = every(Implication(above(), every(Implication(_LEAST, proposition(_RISES)), I)), _V)


def lowest(kernel: Kernel) -> Proved:
    """:data:`LOWEST_RISES`, from the fall of the negative height."""
    scaled = [kernel.scaling(height(each), -1) for each in (I, J)]
    least = kernel.instantiate(kernel.assume(_LEAST), J)
    turned = kernel.arithmetic([least, *scaled], sp.Le(Tensor(height(J) * -1), Tensor(height(I) * -1), evaluate=False))
    falls = kernel.supply(lowest_rises(kernel, I, J), kernel.generalise(J, turned))
    rates = [kernel.increment(each) for each in (height(I), height(I) * -1)]
    sides = [each.proposition.word.relation.rhs.expression for each in rates]
    opposite = [kernel.reduction(sides[1], sides[0] * -1), kernel.scaling(sides[0], -1)]
    rises = kernel.discharge(_LEAST, kernel.arithmetic([falls, *rates, *opposite], _RISES))
    found = kernel.discharge(above(), kernel.generalise(I, rises))
    return kernel.generalise(_V, found)


_HIGHEST = every(sp.Le(Tensor(component(K)), Tensor(component(I)), evaluate=False), K)
_SINKS = sp.Le(Rate(component(I)), 0, evaluate=False)
#: Where all heights are positive, the largest ``f^T w_i`` does not rise, in any direction f: the hulls of the w_i are nested.
NESTED = every(Implication(above(), every(Implication(_HIGHEST, proposition(_SINKS)), I)), _V, _E)


def moved(kernel: Kernel, at: Index, *nonzero: Proved) -> Proved:
    """``[move] = a_ik (u_k - u_i)`` for token i and any other, where heights are not zero."""
    gap = component(K) - component(at)
    parts = [kernel.product(pull(at, K), gap), kernel.total(component(K), component(at) * -1)]
    parts += [kernel.scaling(component(at), -1), kernel.reduction(move(at, K), pull(at, K) * gap)]
    value = Tensor(pull(at, K)) * (Tensor(component(K)) - Tensor(component(at)))
    known = [kernel.supply(each, *nonzero) for each in parts]
    return kernel.arithmetic(known, sp.Eq(Tensor(move(at, K)), value, evaluate=False))


def nested(kernel: Kernel) -> Proved:
    """:data:`NESTED`: every token draws the farthest one back."""
    high = kernel.assume(above())
    nonzero = [kernel.arithmetic([kernel.instantiate(high, at)], sp.Ne(Tensor(height(at)), 0)) for at in (I, K)]
    ratio = height(K) * height(I) ** -1
    parts = [kernel.product(weight(I, K), ratio), kernel.factors(ratio)]
    signs = [kernel.positive(weight(I, K)), *(kernel.instantiate(high, at) for at in (I, K))]
    draws = kernel.arithmetic([*(kernel.supply(each, *nonzero) for each in parts), *signs], Tensor(pull(I, K)) >= 0)
    highest = kernel.instantiate(kernel.assume(_HIGHEST), K)
    each = kernel.arithmetic([moved(kernel, I, *nonzero), draws, highest], sp.Le(Tensor(move(I, K)), 0, evaluate=False))
    total = kernel.summed(kernel.generalise(HEAD, kernel.summed(kernel.generalise(K, each))))
    rate = kernel.increment(component(I))
    value = rate.proposition.word.relation.rhs.expression
    written = kernel.reduction(value, move(I, K).summed(K, HEAD), kernel.given(IsIdentity(U)))
    known = [kernel.supply(each, *nonzero) for each in (rate, written)]
    sinks = kernel.arithmetic([*known, total, kernel.factors(move(I, K) * 0)], _SINKS)
    found = kernel.discharge(above(), kernel.generalise(I, kernel.discharge(_HIGHEST, sinks)))
    return kernel.generalise(_V, kernel.generalise(_E, found))


_SLOW = every(sp.Ge(Tensor(pull(K, L)), SLOW, evaluate=False), HEAD, K, L)
_EXTREME = every(
    sp.And(
        sp.Le(Tensor(component(J)), Tensor(component(K)), evaluate=False),
        sp.Le(Tensor(component(K)), Tensor(component(I)), evaluate=False),
    ),
    K,
)
_WIDTH = component(I) - component(J)
_SHRINKS = sp.Le(Rate(_WIDTH), -SLOW * n * HEADS * Tensor(_WIDTH), evaluate=False)
_INSIDE = every(Implication(_EXTREME, proposition(_SHRINKS)), I, J)
#: Where all heights are positive and all ``a^h_ik >= a``, the spread in each direction shrinks at the rate ``a n H``.
SPREAD = every(ForAll(SLOW, _SLOW, Implication(above(), _INSIDE)), _V, _E)


def spread(kernel: Kernel) -> Proved:
    """:data:`SPREAD`: each token adds at most ``-a (u_i - u_j)`` to the slope at the extreme pair."""
    high = kernel.assume(above())

    def nonzero(at: Index) -> Proved:
        return kernel.arithmetic([kernel.instantiate(high, at)], sp.Ne(Tensor(height(at)), 0))

    def known(proved: Proved) -> Proved:
        return kernel.supply(proved, *map(nonzero, (I, J, K)))

    slow, facts = kernel.assume(_SLOW), []
    for at in (I, J):
        facts.append(moved(kernel, at, *map(nonzero, (I, J, K))))
        facts.append(kernel.instantiate(kernel.instantiate(kernel.instantiate(slow, HEAD), at), K))
    term = move(I, K) - move(J, K)
    split = [kernel.total(move(I, K), move(J, K) * -1), kernel.scaling(move(J, K), -1)]
    width = [kernel.total(component(I), component(J) * -1), kernel.scaling(component(J), -1)]
    extreme = kernel.instantiate(kernel.assume(_EXTREME), K)
    falls = sp.Le(Tensor(term), -SLOW * Tensor(_WIDTH), evaluate=False)
    each = kernel.arithmetic([*facts, *map(known, (*split, *width)), extreme], falls)
    total = kernel.summed(kernel.generalise(HEAD, kernel.summed(kernel.generalise(K, each))))
    rate = kernel.increment(_WIDTH)
    value = rate.proposition.word.relation.rhs.expression
    written = kernel.reduction(value, term.summed(K, HEAD), kernel.given(IsIdentity(U)))
    scaled = kernel.scaling(_WIDTH, -SLOW * n * HEADS)
    shrinks = kernel.arithmetic([*map(known, (rate, written, scaled)), total], _SHRINKS)
    pairs = kernel.generalise(I, kernel.generalise(J, kernel.discharge(_EXTREME, shrinks)))
    found = kernel.generalise(SLOW, kernel.discharge(above(), pairs), _SLOW)
    return kernel.generalise(_V, kernel.generalise(_E, found))
