"""A rank-one edit ``G = F + mu w z^T`` of a matrix, by its forms: ``a^T G b = a^T F b + mu (a^T w)(z^T b)`` for all a and b."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.equations import for_every
from eigentoken.theory.calculus import Expression, dot, matrix, vector
from eigentoken.theory.kernel.propositions import Proposition
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter

__all__ = ["EDITED", "MU", "eigenvector"]

MU = sp.Symbol("mu", real=True)
_A, _B = vector("a"), vector("b")
_FORM = Tensor(dot(_A, _B, matrix("F"))) + MU * Tensor(dot(_A, vector("w"))) * Tensor(dot(vector("z"), _B))
#: ``G = F + mu w z^T``.
EDITED = for_every(sp.Eq(Tensor(dot(_A, _B, matrix("G"))), _FORM, evaluate=False), VectorLetter("a"), VectorLetter("b"))


def eigenvector(name: str, of: str, value: sp.Expr, *, left: bool = False) -> Proposition:
    """``a^T X v = value a^T v`` for every a; with ``left``, ``v^T X a = value v^T a``."""
    here: Expression = vector(name)
    form = dot(here, _A, matrix(of)) if left else dot(_A, here, matrix(of))
    return for_every(sp.Eq(Tensor(form), value * Tensor(dot(_A, here)), evaluate=False), VectorLetter("a"))
