"""One head with a skip, ``y_i = x_i + s f_i``, in the kernel: one direction across it, and the diversity of its tokens.

``f_i = B m_i`` is the head of :mod:`.head_map`; s is any real number: the step, or ``1/lambda`` where the skip is ``lambda x_i``.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from eigentoken.proofs.bounds.head_map import head, mean, row
from eigentoken.proofs.bounds.lemmas import Z, in_the_hull
from eigentoken.proofs.bounds.rows import KEYS, QUERY, I, J, K, Row, for_all
from eigentoken.proofs.steps.theorems import CAUCHY_OF_FAMILIES, OPERATOR_NORM
from eigentoken.theory.calculus import TOKENS, Expression, Index, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import SpectralNorm, matrix

__all__ = ["DIRECTION", "DIVERSITY", "DIVERSITY_FROM_NORMS", "direction", "diversity", "diversity_from_norms"]

SKIP = sp.Symbol("s", real=True)
_STEP = sp.Symbol("s", nonnegative=True)
_LOW, _HIGH = sp.symbols("c_1 c_2", real=True)
_AVERAGED = Index("token", "t")
_OWN = VectorLetter("v")
_z = vector(Z.name)

# -- one direction, whatever the weights ------------------------------------------------------------------------------------

_ROW = Row()


def _push(at: Index) -> Expression:
    return dot(_z, vector("x", at), product("B"))


_ABOVE = for_all(sp.Ge(Tensor(_push(J)), _LOW, evaluate=False), J)
_BELOW = for_all(sp.Le(Tensor(_push(J)), _HIGH, evaluate=False), J)
_BEFORE = dot(_z, vector(_OWN.name))
_PUSHED = (_ROW.weight(K) * _push(K)).summed(K)
_AFTER = _BEFORE + _PUSHED * _STEP
_BETWEEN = Conjunction(
    (
        proposition(sp.Ge(Tensor(_AFTER), Tensor(_BEFORE) + _STEP * _LOW, evaluate=False)),
        proposition(sp.Le(Tensor(_AFTER), Tensor(_BEFORE) + _STEP * _HIGH, evaluate=False)),
    )
)
_LETTERS = (QUERY, KEYS, _OWN, Z, _STEP)
#: BD-H2: any query a and keys k, so any weights of a row: where ``c_1 <= z^T B x_j <= c_2`` for every j, the height of
#: ``v + s sum_j a_j B x_j`` over z is that of v and a number from ``s c_1`` to ``s c_2``.
DIRECTION = for_all(ForAll(_LOW, _ABOVE, ForAll(_HIGH, _BELOW, _BETWEEN)), *_LETTERS)


def direction(k: Kernel) -> Proved:
    """A proof of :data:`DIRECTION`: an average lies between the least and the largest, twice."""
    upper = in_the_hull(k, _ROW, _push, _HIGH, k.assume(_BELOW))
    below = k.instantiate(k.assume(_ABOVE), J)
    turned = k.arithmetic([below, k.scaling(_push(J), -1)], sp.Le(Tensor(-_push(J)), -_LOW, evaluate=False))
    lower = in_the_hull(k, _ROW, lambda at: -_push(at), -_LOW, k.generalise(J, turned))
    known = [upper, lower, k.total(_BEFORE, _PUSHED * _STEP), k.scaling(_PUSHED, _STEP), k.scaling(_PUSHED, -1)]
    found = k.conjunction(*(k.arithmetic(known, each) for each in _BETWEEN.parts))
    found = k.generalise(_LOW, k.generalise(_HIGH, found, _BELOW), _ABOVE)
    for letter in reversed(_LETTERS):
        found = k.generalise(letter, found)
    return found


# -- diversity ----------------------------------------------------------------------------------------------------------


def _centred(family: Callable[[Index], Expression], at: Index) -> Expression:
    return family(at) - family(_AVERAGED).summed(_AVERAGED) / TOKENS


def _spread(family: Callable[[Index], Expression]) -> Expression:
    """``sum_i |y_i - mean y|^2``."""
    gap = _centred(family, I)
    return dot(gap, gap).summed(I)


def _token(at: Index) -> Expression:
    return vector("x", at)


def _layer(at: Index) -> Expression:
    return _token(at) + head(at) * SKIP


_NORM = SpectralNorm(matrix("B"))
_SPREADS = [Tensor(_spread(each)) for each in (_token, mean, head, _layer)]
_CHANGE = sp.Abs(SKIP) * _NORM * sp.sqrt(_SPREADS[1])
#: BD-D2 (a) for one head: ``| |Pi Y|_F - |Pi X|_F | <= |s| |B| |Pi A X|_F``.
DIVERSITY = tuple(
    for_all(each, SKIP)
    for each in (
        sp.Le(sp.sqrt(_SPREADS[3]), sp.sqrt(_SPREADS[0]) + _CHANGE, evaluate=False),
        sp.Ge(sp.sqrt(_SPREADS[3]), sp.sqrt(_SPREADS[0]) - _CHANGE, evaluate=False),
    )
)


_ANY, _REACH = VectorLetter("g"), sp.Symbol("c", nonnegative=True)


def _averaged(at: Index) -> Expression:
    """``sum_j a_ij g_j``."""
    return row(at).mean(vector(_ANY.name, K), K)


def _any(at: Index) -> Expression:
    return vector(_ANY.name, at)


_OPERATOR = for_all(sp.Le(Tensor(_spread(_averaged)), _REACH**2 * Tensor(_spread(_any)), evaluate=False), _ANY)
_FROM_NORMS = sp.Abs(SKIP) * _NORM * _REACH * sp.sqrt(_SPREADS[0])
#: BD-D2 (b), which is (c) for one head: ``| |Pi Y|_F - |Pi X|_F | <= |s| |B| c |Pi X|_F`` where ``|Pi A Pi| <= c``.
DIVERSITY_FROM_NORMS = tuple(
    ForAll(_REACH, _OPERATOR, for_all(each, SKIP))
    for each in (
        sp.Le(sp.sqrt(_SPREADS[3]), sp.sqrt(_SPREADS[0]) + _FROM_NORMS, evaluate=False),
        sp.Ge(sp.sqrt(_SPREADS[3]), sp.sqrt(_SPREADS[0]) - _FROM_NORMS, evaluate=False),
    )
)


def diversity(k: Kernel) -> Proved:
    """A proof of :data:`DIVERSITY`: the triangle inequality for centred families, and the norm of B token by token."""
    first, last = (_centred(each, I) for each in (_token, head))
    crossed = dot(first, last).summed(I)
    before, averaged, pushed, after = (_spread(each) for each in (_token, mean, head, _layer))
    known = [
        k.reduction(after, before + crossed * (2 * SKIP) + pushed * SKIP**2),
        k.total(before, crossed * (2 * SKIP), pushed * SKIP**2),
        k.scaling(crossed, 2 * SKIP),
        k.scaling(pushed, SKIP**2),
        k.textbook(CAUCHY_OF_FAMILIES, y=first, z=last),
    ]
    apart = _centred(mean, I)
    image = apart.applied(product("B"))
    norm = k.textbook(OPERATOR_NORM, A=matrix("B"), z=apart)
    size, most = dot(image, image), dot(apart, apart)
    scaled = k.arithmetic(
        [norm, k.scaling(most, _NORM**2)], sp.Le(Tensor(size), Tensor(most * _NORM**2), evaluate=False)
    )
    total = [
        k.summed(k.generalise(I, scaled)),
        k.scaling(averaged, _NORM**2),
        k.reduction(size.summed(I), pushed),
        k.part(norm, norm.proposition.parts[1]),
    ]
    small = k.arithmetic(total, sp.Le(Tensor(pushed), _NORM**2 * Tensor(averaged), evaluate=False))
    known += [small, total[-1], *(k.square(_centred(each, I), I) for each in (_token, mean, head, _layer))]
    found = [k.generalise(SKIP, k.arithmetic(known, each.body)) for each in DIVERSITY]
    return k.conjunction(*found)


def diversity_from_norms(k: Kernel) -> Proved:
    """A proof of :data:`DIVERSITY_FROM_NORMS`: BD-D2, and the bound on ``Pi A Pi`` at the tokens."""
    both = diversity(k)
    here = k.instantiate(k.assume(_OPERATOR), VectorLetter("x"))
    norm = k.textbook(OPERATOR_NORM, A=matrix("B"), z=_centred(mean, I))
    squares = [k.square(_centred(each, I), I) for each in (_token, mean, head, _layer)]
    ends = []
    for known, said in zip(DIVERSITY, DIVERSITY_FROM_NORMS, strict=True):
        at = k.instantiate(k.part(both, known), SKIP)
        facts = [at, here, k.part(norm, norm.proposition.parts[1]), *squares]
        ends.append(k.generalise(_REACH, k.generalise(SKIP, k.arithmetic(facts, said.body.body)), _OPERATOR))
    return k.conjunction(*ends)
