"""Softmax sums of the token flow in the kernel: Chebyshev's argument for symbolic n and d.

For scores ``a`` and ``b`` always ``(e^a - e^b)(a - b) >= 0``.  Summed over pairs of tokens this says that a softmax average of
numbers is at least their average with the weights before these numbers were added to the scores; no slope and no mean value is
needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Expression, Index, dot, exponential, factor, one, row_sum, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, proposition, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Nonsingular, Symmetric
from eigentoken.theory.language.terms import matrix

__all__ = [
    "FORM",
    "IS_FORM",
    "I",
    "J",
    "K",
    "L",
    "average",
    "chebyshev",
    "chebyshev_sum",
    "chebyshev_terms",
    "form_letter",
    "known_form",
    "nonnegative",
    "normaliser",
    "score",
    "sums_of_equals",
    "without_form",
]

I, J, K, L = (Index("token", name) for name in "ijkl")
#: The letter of ``A = W B^{-1}``.
FORM = matrix("A")
IS_FORM = proposition(sp.Eq(FORM * matrix("B"), matrix("W"), evaluate=False))


def score(query: Index, key: Index) -> Expression:
    """``x_i^T W x_j``."""
    return dot(vector("x", query), vector("x", key), product("W"))


def normaliser(query: Index, power: int = 1) -> Expression:
    """``Z_i = sum_j exp(x_i^T W x_j)``, to a power."""
    inner = Index("token", "m")
    return factor(row_sum(score(query, inner), inner), power)


def average(query: Index, values: Callable[[Index], Expression]) -> Expression:
    """``sum_k p_ik values(k)``."""
    weight = exponential(score(query, K)) * normaliser(query, -1)
    return (weight * values(K)).summed(K)


def chebyshev_terms(first: Expression, second: Expression) -> Expression:
    """``(e^a - e^b)(a - b)``."""
    return (exponential(first) - exponential(second)) * (first - second)


def chebyshev(kernel: Kernel, first: Expression, second: Expression, *, strict: Proved | None = None) -> Proved:
    """``[(e^a - e^b)(a - b)] >= 0``; above zero where ``[a - b] != 0`` is given."""
    up, down, gap = exponential(first), exponential(second), first - second
    facts = [
        kernel.product(up - down, gap),
        kernel.total(up, -down),
        kernel.scaling(down, -1),
        kernel.exponential_of(first),
        kernel.exponential_of(second),
        kernel.total(first, -second),
        kernel.scaling(second, -1),
    ]
    whole = Tensor(chebyshev_terms(first, second))
    if strict is None:
        return kernel.arithmetic(facts, sp.Ge(whole, 0, evaluate=False))
    return kernel.arithmetic([*facts, strict], sp.Gt(whole, 0, evaluate=False))


def nonnegative(kernel: Kernel, summed: Proved) -> Proved:
    """``[e] >= [0]`` as ``[e] >= 0``."""
    whole = relation_of(summed.proposition).lhs
    return kernel.arithmetic([summed, kernel.scaling(one(), 0)], sp.Ge(whole, 0, evaluate=False))


def chebyshev_sum(kernel: Kernel, first: Expression, second: Expression, outer: Index, inner: Index) -> Proved:
    """``[sum over two tokens of (e^a - e^b)(a - b)]`` is at least each of its terms, and these at least 0: three facts."""
    term = chebyshev(kernel, first, second)
    over_inner = kernel.generalise(inner, term)
    row = nonnegative(kernel, kernel.summed(over_inner))
    over_outer = kernel.generalise(outer, row)
    return kernel.conjunction(
        term,
        kernel.summand(over_inner, inner),
        kernel.summand(over_outer, outer),
        nonnegative(kernel, kernel.summed(over_outer)),
    )


def sums_of_equals(kernel: Kernel, equal: Proved, weight: Expression, index: Index) -> Proved:
    """``[f] = [g]``, for every token, gives ``[sum w f] = [sum w g]``; the same for ``<=`` and ``>=`` and a positive weight."""
    relation = relation_of(equal.proposition)
    facts = [kernel.product(weight, side.expression) for side in relation.args]
    if not isinstance(relation, sp.Eq):
        facts.append(kernel.positive(weight))
    sides = (Tensor(weight * side.expression) for side in relation.args)
    weighed = kernel.arithmetic([equal, *facts], relation.func(*sides, evaluate=False))
    return kernel.summed(kernel.generalise(index, weighed))


def form_letter(kernel: Kernel) -> tuple[Proved, Proved]:
    """``A B = W`` and ``A = A^T``, assumed of the letter A."""
    return kernel.assume(IS_FORM), kernel.assume(Symmetric(FORM))


def known_form(*words: Any) -> Conjunction:
    """``A B = W``, and further words about A: what A is, as a guard."""
    return Conjunction((IS_FORM, *map(proposition, words)))


def without_form(kernel: Kernel, proved: Proved, *words: Any) -> Proved:
    """What is proved with a letter for ``A = W B^{-1}``, without it: the conditions are about the quotient itself."""
    quotient = matrix("W") * matrix("B").inv()
    given = [kernel.given(type(each)(quotient)) for each in words]
    exists = kernel.given(Nonsingular(matrix("B"))) if not given else kernel.invertible(given[0], matrix("B"))
    said = Exists(FORM, TRUE, known_form(*words))
    found = kernel.witness(said, quotient, exists, *given)
    proved = kernel.supply(proved, exists)
    return kernel.exists_elimination(found, proved)
