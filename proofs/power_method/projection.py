"""What PM-E6 and PM-E7 share: the correlation with a plane, and that a projection does not lengthen.

The plane is that of two vectors a and b, ``S = [a b]``: ``Pi_S x_i = s a + t b`` with ``S^T (x_i - s a - t b) = 0``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.equations import TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import Expression, Letter, dot, matrix, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Disjunction,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter

__all__ = ["INDEPENDENT", "NOTATION", "PROJECTION", "A", "B", "forms", "image_is", "independent", "projection"]

A, B = VectorLetter("a"), VectorLetter("b")
_A, _B, _X, _Z = vector("a"), vector("b"), vector("x", TOKEN), vector(Z.name)
S, T = sp.symbols("s t", real=True)
_LONG, _BOTH, _WIDE = (Tensor(dot(*each)) for each in ((_A, _A), (_A, _B), (_B, _B)))
#: a and b are independent.
INDEPENDENT = proposition(_LONG * _WIDE > _BOTH**2)
_SHADOW = _A * S + _B * T
#: ``S^T (x_i - s a - t b) = 0``: the projection of x_i is ``s a + t b``.
PROJECTED = proposition(
    sp.And(
        sp.Eq(Tensor(dot(_A, _X)), S * _LONG + T * _BOTH, evaluate=False),
        sp.Eq(Tensor(dot(_B, _X)), S * _BOTH + T * _WIDE, evaluate=False),
    )
)
_SQUARE = Tensor(dot(_SHADOW, _SHADOW))
#: ``x_i^T Pi x_i = |Pi x_i|^2``, which lies between 0 and 1.
SHORTER = proposition(sp.And(sp.Eq(Tensor(dot(_X, _SHADOW)), _SQUARE, evaluate=False), _SQUARE >= 0, _SQUARE <= 1))


def _planes(said: Proposition) -> Formula:
    return Formula(ForAll(TOKEN, TRUE, ForAll(A, TRUE, ForAll(B, TRUE, said))))


_THERE = Exists(S, TRUE, Exists(T, TRUE, PROJECTED))
PROJECTION = (
    _planes(Implication(INDEPENDENT, _THERE)),
    _planes(ForAll(S, TRUE, ForAll(T, TRUE, Implication(PROJECTED, SHORTER)))),
)
NOTATION = (
    r"With $S = [a\ b]$ and $\Pi_S = S(S^{\top}S)^{-1}S^{\top}$ the projection $\Pi_Sx_i$ is $sa + tb$, and "
    r"$\operatorname{corr}(x_i, \Pi_Sx_i) = x_i^{\top}\Pi_Sx_i/(\lVert x_i\rVert\lVert\Pi_Sx_i\rVert)$ is $\lVert\Pi_Sx_i\rVert$."
)


def projection(k: Kernel) -> tuple[Proved, Proved]:
    """Proofs of :data:`PROJECTION`: Cramer's rule, and ``|x_i - Pi x_i|^2 >= 0``."""
    apart, size = k.assume(INDEPENDENT), _LONG * _WIDE - _BOTH**2
    first, second = Tensor(dot(_A, _X)), Tensor(dot(_B, _X))
    one_value, other = (first * _WIDE - second * _BOTH) / size, (second * _LONG - first * _BOTH) / size
    solved = k.arithmetic([apart], put(PROJECTED, {S: one_value, T: other}))
    nonzero = k.arithmetic([apart], sp.Ne(size, 0))
    inner = k.witness(Exists(T, TRUE, put(PROJECTED, {S: one_value})), other, solved, nonzero)
    there = k.discharge(INDEPENDENT, k.witness(_THERE, one_value, inner, nonzero))
    rest = _X - _SHADOW
    known = (
        *(k.square(rest), k.square(_SHADOW), k.factors(dot(_X, _SHADOW)), k.factors(dot(_SHADOW, _SHADOW))),
        *(k.factors(dot(rest, rest)), k.reduction(dot(_X, _X), one()), k.factors(one())),
    )
    shorter = k.discharge(PROJECTED, k.arithmetic([k.assume(PROJECTED), *known], SHORTER))
    return at_every_token(k, there, TOKEN, A, B), at_every_token(k, shorter, TOKEN, A, B, S, T)


def independent(k: Kernel, *known: Proved) -> Proved:
    """a and b are independent: else ``q = |a|^2 b - (a^T b) a`` is zero, so that ``a^T F q = 0``.

    ``known`` says of ``a^T F a``, ``a^T F b`` and ``b^T F a`` what makes that, and ``b^T F a = 0`` where ``a = 0``, impossible.
    """
    q = dot(_A, _A) * _B - dot(_A, _B) * _A
    left, right = (each.applied((Letter("F", True),)) for each in (_A, _B))
    dependent = proposition(sp.Le(_LONG * _WIDE, _BOTH**2, evaluate=False))
    squares = [k.square(_A), k.square(_B), k.textbook(EUCLIDEAN, y=_A, z=_B)]
    none = k.arithmetic([k.assume(dependent), k.factors(dot(q, q)), k.square(q), *squares], sp.Eq(Tensor(dot(q, q)), 0))
    product = k.arithmetic([none, k.textbook(EUCLIDEAN, y=left, z=q)], sp.Eq(Tensor(dot(left, q)), 0))
    image = k.arithmetic(
        [k.textbook(EUCLIDEAN, y=right, z=_A)],
        sp.Implies(sp.Eq(_LONG, 0), sp.Eq(Tensor(dot(right, _A)), 0)),
    )
    contrary = k.arithmetic([product, k.factors(dot(left, q)), image, *squares, *known], INDEPENDENT)
    either = k.arithmetic([], Disjunction((INDEPENDENT, dependent)))
    return k.by_cases(either, (INDEPENDENT, k.assume(INDEPENDENT)), (dependent, contrary))


def image_is(letter: Expression, image: Expression) -> Proposition:
    """``F`` of a vector is the vector given."""
    pushed = dot(_Z, letter.applied(matrix("F")))
    return for_every(sp.Eq(Tensor(pushed), Tensor(dot(_Z, image)), evaluate=False), Z)


def forms(k: Kernel, pair: Proved, first: Expression, second: Expression) -> list[Proved]:
    """``a^T F a``, ``a^T F b`` and ``b^T F a`` from what F a and F b are, and the further parts of the pair."""
    one_image, other, *rest = (k.part(pair, each) for each in pair.proposition.parts)
    uses = ((one_image, _A, first), (other, _A, second), (one_image, _B, first))
    values = [k.instantiate(equal, test) for equal, test, _ in uses]
    return [*values, *(k.factors(dot(test, image)) for _, test, image in uses), *rest]
