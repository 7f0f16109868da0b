"""CL-1 and PH-X2 for one step of the residual map, in the kernel: heights along a left eigenvector, and a cone.

``x_i^+ = x_i + alpha B sum_j a_ij x_j``; for ``w^T B = lambda w^T`` heights obey ``h_i^+ = h_i + alpha lambda sum_j a_ij h_j``,
so that ``max h`` and ``min h`` grow by at most and at least ``1 + alpha lambda``, for every step ``alpha > 0`` and any scores.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.half_spaces import EIGEN, LAM, NORMAL, W, said
from eigentoken.proofs.pham.softmax_sums import I, J, K, normaliser, score, sums_of_equals
from eigentoken.theory.calculus import Expression, dot, exponential, one, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Proposition, proposition, put, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.terms import alpha

__all__ = ["STEPS", "steps"]

_SIZE, _MU = sp.Symbol("R", nonnegative=True), sp.Symbol("mu", real=True)
_MOST = sp.Symbol("M", real=True)
_Y = VectorLetter("f")
_NOT_NEGATIVE = proposition(sp.Ge(LAM, 0, evaluate=False))
_WEIGHT = exponential(score(I, K)) * normaliser(I, -1)


def _height(at: Any, normal: Expression = NORMAL) -> Expression:
    return dot(normal, vector("x", at))


def _after(normal: Expression = NORMAL) -> Any:
    """The height after the step."""
    return Tensor(_height(I, normal)) + Rate(_height(I, normal))


def _mean(normal: Expression = NORMAL) -> Expression:
    """``sum_k a_ik w^T x_k``."""
    return (_WEIGHT * _height(K, normal)).summed(K)


#: ``h_i^+ = h_i + alpha lambda sum_j a_ij h_j``.
_AVERAGE = said(sp.Eq, _after(), Tensor(_height(I)) + alpha * LAM * Tensor(_mean()))
AVERAGES = ForAll(LAM, TRUE, ForAll(W, EIGEN, ForAll(I, TRUE, _AVERAGE)))


def _bound(kind: Any) -> Proposition:
    start = ForAll(J, TRUE, said(kind, Tensor(_height(J)), _MOST))
    then = ForAll(I, TRUE, said(kind, _after(), (1 + alpha * LAM) * _MOST))
    return ForAll(LAM, _NOT_NEGATIVE, ForAll(W, EIGEN, ForAll(_MOST, start, then)))


_OTHER = vector(_Y.name)
_EIGEN_OF_Y = put(put(EIGEN, {W: _OTHER}), {LAM: _MU})
_SMALLER = Conjunction((proposition(sp.Le(_MU, LAM, evaluate=False)), proposition(sp.Ge(_MU, -LAM, evaluate=False))))


def _within(at: Any) -> Conjunction:
    """``-R h <= f^T x <= R h``, and ``h >= 0``."""
    other, own = Tensor(_height(at, _OTHER)), Tensor(_height(at))
    parts = (sp.Le(other, _SIZE * own), sp.Ge(other, -_SIZE * own), sp.Ge(own, 0))
    return Conjunction(tuple(said(type(each), *each.args) for each in parts))


_CONE = Conjunction(
    (
        said(sp.Le, _after(_OTHER), _SIZE * _after()),
        said(sp.Ge, _after(_OTHER), -_SIZE * _after()),
        said(sp.Ge, _after(), 0),
    )
)
#: A second left eigenvector f with ``|mu| <= lambda``: the cone ``|f^T x_i| <= R w^T x_i`` of all tokens is kept.
KEPT = ForAll(
    LAM,
    TRUE,
    ForAll(
        _MU,
        _SMALLER,
        ForAll(
            W,
            EIGEN,
            ForAll(_Y, _EIGEN_OF_Y, ForAll(_SIZE, ForAll(J, TRUE, _within(J)), ForAll(I, TRUE, _CONE))),
        ),
    ),
)
#: The heights after a step, their bounds from above and below, and the cone.
STEPS = (AVERAGES, _bound(sp.Le), _bound(sp.Ge), KEPT)


def _averaged(k: Kernel, eigen: Proved, value: sp.Expr, normal: Expression = NORMAL) -> Proved:
    """``h_i^+ = h_i + alpha lambda sum_k a_ik h_k`` for a left eigenvector and its eigenvalue."""
    moved = k.increment(_height(I, normal))
    push = (_WEIGHT * dot(normal, vector("x", K), product("B"))).summed(K)
    here = k.instantiate(eigen, vector("x", K))
    scaled = k.scaling(_height(K, normal), value)
    said_of_one = sp.Eq(
        Tensor(dot(normal, vector("x", K), product("B"))), Tensor(_height(K, normal) * value), evaluate=False
    )
    each = sums_of_equals(k, k.arithmetic([here, scaled], said_of_one), _WEIGHT, K)
    whole = _mean(normal)
    known = [
        moved,
        k.reduction(relation_of(moved.proposition).rhs.expression, push * alpha),
        k.scaling(push, alpha),
        each,
        k.reduction((_WEIGHT * (_height(K, normal) * value)).summed(K), whole * value),
        k.scaling(whole, value),
    ]
    wanted = sp.Eq(_after(normal), Tensor(_height(I, normal)) + alpha * value * Tensor(whole), evaluate=False)
    return k.arithmetic(known, wanted)


def _of_each(k: Kernel, relation: Proved) -> Proved:
    """``sum_k a_ik e_k <= sum_k a_ik f_k`` from ``e_k <= f_k``, with sums of constants done."""
    return sums_of_equals(k, relation, _WEIGHT, K)


def _extreme(k: Kernel, claim: Proposition, kind: Any) -> Proved:
    """``h_k <= M`` for all k gives ``h_i + alpha lambda sum a h <= (1 + alpha lambda) M``."""
    start = claim.body.body.guard
    eigen, positive, given = k.assume(EIGEN), k.assume(_NOT_NEGATIVE), k.assume(start)
    level = one() * _MOST
    constant = [k.scaling(one(), _MOST), k.factors(one())]
    at_key = kind(Tensor(_height(K)), Tensor(level), evaluate=False)
    below = _of_each(k, k.arithmetic([k.instantiate(given, K), *constant], at_key))
    known = [
        _averaged(k, eigen, LAM),
        below,
        k.reduction((_WEIGHT * level).summed(K), level),
        *constant,
        positive,
        k.instantiate(given, I),
    ]
    found = k.generalise(I, k.arithmetic(known, relation_of(claim.body.body.body.body)))
    return k.generalise(LAM, k.generalise(W, k.generalise(_MOST, found, start), EIGEN), _NOT_NEGATIVE)


def _kept(k: Kernel) -> Proved:
    """``|sum a f^T x| <= R sum a h`` and ``sum a h >= 0``."""
    start = KEPT.body.body.body.body.guard
    eigen, other, given, smaller = (k.assume(each) for each in (EIGEN, _EIGEN_OF_Y, start, _SMALLER))
    own, across = _height(K), _height(K, _OTHER)
    here = [k.instantiate(given, K), k.scaling(own, _SIZE), k.scaling(own, -_SIZE), k.scaling(own, 0)]
    ends = []
    for kind, bound in ((sp.Le, own * _SIZE), (sp.Ge, own * -_SIZE)):
        one_of = k.arithmetic(here, kind(Tensor(across), Tensor(bound), evaluate=False))
        ends.append(_of_each(k, one_of))
    positive = _of_each(k, k.arithmetic(here, sp.Ge(Tensor(own), Tensor(own * 0), evaluate=False)))
    whole = _mean()
    ends += [positive, k.reduction((_WEIGHT * (own * 0)).summed(K), whole * 0), k.scaling(whole, 0)]
    for scale in (_SIZE, -_SIZE):
        ends += [k.reduction((_WEIGHT * (own * scale)).summed(K), whole * scale), k.scaling(whole, scale)]
    low = k.arithmetic(ends, sp.Ge(Tensor(whole), 0, evaluate=False))
    far = sp.And(
        sp.Le(Tensor(_mean(_OTHER)), _SIZE * Tensor(whole)), sp.Ge(Tensor(_mean(_OTHER)), -_SIZE * Tensor(whole))
    )
    between = k.arithmetic(ends, far)
    rates = [_averaged(k, eigen, LAM), _averaged(k, other, _MU, _OTHER)]
    known = [*rates, low, between, smaller, k.instantiate(given, I)]
    found = k.generalise(I, k.conjunction(*(k.arithmetic(known, each) for each in _CONE.parts)))
    found = k.generalise(_SIZE, found, start)
    found = k.generalise(W, k.generalise(_Y, found, _EIGEN_OF_Y), EIGEN)
    return k.generalise(LAM, k.generalise(_MU, found, _SMALLER))


def steps(k: Kernel) -> Proved:
    """A proof of :data:`STEPS`."""
    averages = k.generalise(I, _averaged(k, k.assume(EIGEN), LAM))
    first = k.generalise(LAM, k.generalise(W, averages, EIGEN))
    return k.conjunction(first, _extreme(k, STEPS[1], sp.Le), _extreme(k, STEPS[2], sp.Ge), _kept(k))
