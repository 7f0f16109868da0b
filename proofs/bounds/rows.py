"""A row of attention as the calculus has it: the weights of a query over keys, averages of values, and what bounds them.

``w_j = exp(a^T k_j) / sum_l exp(a^T k_l)`` for any vector a and any family of keys k: the scores of a row are any n numbers.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.calculus import Expression, Index, dot, exponential, factor, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, AnyLetter, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter

__all__ = [
    "KEYS",
    "QUERY",
    "I",
    "J",
    "K",
    "Row",
    "for_all",
]

I, J, K = (Index("token", name) for name in "ijl")
_INNER = Index("token", "s")
#: The letters of a query and of the keys.
QUERY, KEYS = VectorLetter("a"), VectorLetter("k")


class Row:
    """The weights of one query: ``scores(j)`` is the score of key j."""

    def __init__(self, query: Expression | None = None, keys: str = KEYS.name) -> None:
        self.query, self.keys = vector(QUERY.name) if query is None else query, keys
        if _INNER in self.query.free_indices:
            raise ValueError(f"the sum of a row runs over {_INNER.name}: choose another index for the query")

    def score(self, at: Index) -> Expression:
        """``a^T k_j``."""
        return dot(self.query, vector(self.keys, at))

    def one(self, at: Index) -> Expression:
        """``exp(a^T k_j)``."""
        return exponential(self.score(at))

    @property
    def whole(self) -> Expression:
        """``sum_l exp(a^T k_l)``."""
        return factor(row_sum(self.score(_INNER), _INNER))

    def weight(self, at: Index) -> Expression:
        """``a_j``."""
        return self.one(at) * self.whole**-1

    def mean(self, values: Expression, at: Index) -> Expression:
        """``sum_j a_j v_j`` for values in the index."""
        return (self.weight(at) * values).summed(at)

    def quotient(self, k: Kernel, at: Index) -> Proved:
        """``a_j sum_l e^{s_l} = e^{s_j}``, both factors positive."""
        weight, whole = Tensor(self.weight(at)), Tensor(self.whole)
        known = [
            k.product(self.weight(at), self.whole),
            k.reduction(self.weight(at) * self.whole, self.one(at)),
            k.positive(self.whole),
            k.positive(self.weight(at)),
        ]
        equal = sp.Eq(weight * whole, Tensor(self.one(at)), evaluate=False)
        return k.arithmetic(known, sp.And(equal, whole > 0, weight > 0))


def for_all(said: Proposition | sp.Basic, *letters: AnyLetter) -> Proposition:
    """``for every letter: said``, the first letter outermost."""
    found = proposition(said)
    for letter in reversed(letters):
        found = ForAll(letter, TRUE, found)
    return found
