"""CL-9 in the kernel: the rate of the common cosine of equiangular tokens of the attention flow, at any such state.

With ``c = x_i^T x_j`` for two tokens that are kept: ``x_a^T x_b = c + (1 - c) delta_ab`` for all a and b, and so is
``e^{x_a^T M x_b} = e_0 + (e_1 - e_0) delta_ab``.  The rate of ``x_i^T x_j`` is ``S_i/Z_i + S_j/Z_j`` with
``S_i = sum_k e^{x_i^T M x_k} (x_k^T x_j - (x_i^T x_k)(x_i^T x_j))``, one normal form.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.rows import I, J
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.theory.calculus import Expression, Index, delta, dot, exponential, factor, matrix, one, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Proposition, conjuncts, proposition, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.kernel.words import equiangular
from eigentoken.theory.language import terms
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.proportion import MultipleOf

__all__ = ["rate"]

_M, _V = terms.matrix("M"), terms.matrix("V")
_A, _B, _K, _S = (Index("token", name) for name in "abks")
#: The two tokens that are kept are different ones.
_DIFFERENT = proposition(sp.Eq(Tensor(delta(I, J)), 0, evaluate=False))


def _inner(first: Index, second: Index) -> Expression:
    return dot(vector("x", first), vector("x", second))


def _score(first: Index, second: Index) -> Expression:
    return dot(vector("x", first), vector("x", second), matrix("M"))


_COSINE = _inner(I, J)
_SAME, _OTHER = exponential(_score(I, I)), exponential(_score(I, J))


def _rows(at: Index) -> Expression:
    """``Z_i``."""
    return factor(row_sum(_score(at, _S), _S))


def _cosines(first: Index, second: Index) -> Expression:
    """``c + (1 - c) delta_ab``."""
    return _COSINE + (one() - _COSINE) * delta(first, second)


def _weights(first: Index, second: Index) -> Expression:
    """``e_0 + (e_1 - e_0) delta_ab``."""
    return _OTHER + (_SAME - _OTHER) * delta(first, second)


def _zero_or_one(k: Kernel) -> Proved:
    """``delta_ab`` is 0 or 1."""
    order = [k.causal_order(_A, _B), k.causal_order(_B, _A)]
    values = [k.part(each, each.proposition.parts[0]) for each in order]
    same = Tensor(delta(_A, _B))
    either = sp.Or(sp.Eq(same, 0, evaluate=False), sp.Eq(same, 1, evaluate=False))
    return k.arithmetic([*values, k.same_token(_A, _B)], either)


def _by_delta(
    k: Kernel,
    left: Expression,
    values: tuple[Expression, Expression],
    *ways: tuple[Proposition, Proved],
) -> Proved:
    """``[left] = [u + (v - u) delta_ab]`` for all a and b: each way says what left is where delta is 0, and where it is 1."""
    same, (other, own) = delta(_A, _B), values
    parts = [
        k.total(other, (own - other) * same),
        k.product(own - other, same),
        k.total(own, -other),
        k.scaling(other, -1),
    ]
    said = sp.Eq(Tensor(left), Tensor(other + (own - other) * same), evaluate=False)
    shown = [(case, k.arithmetic([k.assume(case), known, *parts], said)) for case, known in ways]
    return k.generalise(_A, k.generalise(_B, k.by_cases(_zero_or_one(k), *shown)))


def _cases(value: int) -> Proposition:
    return proposition(sp.Eq(Tensor(delta(_A, _B)), value, evaluate=False))


def _inner_products(k: Kernel) -> Proved:
    """``x_a^T x_b = c + (1 - c) delta_ab``."""
    alike = k.part(k.assume(equiangular()), conjuncts(equiangular())[1])
    apart = k.instantiate(k.instantiate(alike, _A), _B, k.assume(_cases(0)))
    apart = k.instantiate(k.instantiate(apart, I), J, k.assume(_DIFFERENT))
    left, same = _inner(_A, _B), delta(_A, _B)
    contracted = [k.reduction(same * left, same), k.product(same, left), k.factors(one()), k.assume(_cases(1))]
    equal = k.arithmetic(contracted, sp.Eq(Tensor(left), Tensor(one()), evaluate=False))
    return _by_delta(k, left, (_COSINE, one()), (_cases(0), apart), (_cases(1), equal))


def _scored(k: Kernel, first: Index, second: Index) -> Proved:
    """``x_a^T M x_b = lambda_1(M) x_a^T x_b``."""
    found = k.unfold(k.given(MultipleOf(_M)))
    return k.instantiate(k.instantiate(found, vector("x", first)), vector("x", second))


def _unit(k: Kernel) -> Proved:
    own = k.reduction(_inner(I, I), one())
    return k.arithmetic([own, k.factors(one())], sp.Eq(Tensor(_inner(I, I)), 1, evaluate=False))


def _exponentials(k: Kernel, inner: Proved) -> Proved:
    """``e^{x_a^T M x_b} = e_0 + (e_1 - e_0) delta_ab``: equal scores have equal exponentials."""
    here, same = k.instantiate(k.instantiate(inner, _A), _B), delta(_A, _B)
    scores = [_scored(k, *each) for each in ((_A, _B), (I, I), (I, J))]
    exponents = [k.exponential_of(_score(*each)) for each in ((_A, _B), (I, I), (I, J))]
    split = [k.total(_COSINE, (one() - _COSINE) * same), k.product(one() - _COSINE, same)]
    split += [k.total(one(), -_COSINE), k.scaling(_COSINE, -1), k.factors(one()), _unit(k)]
    left, ways = exponential(_score(_A, _B)), []
    for value, case, there in ((0, _OTHER, (I, J)), (1, _SAME, (I, I))):
        scored = sp.Eq(Tensor(_score(_A, _B)), Tensor(_score(*there)), evaluate=False)
        level = k.arithmetic([k.assume(_cases(value)), here, *split, *scores], scored)
        equal = k.arithmetic([level, *exponents], sp.Eq(Tensor(left), Tensor(case), evaluate=False))
        ways.append((_cases(value), equal))
    return _by_delta(k, left, (_OTHER, _SAME), *ways)


def _side(at: Index, other: Index) -> Expression:
    """``S_i``."""
    gap = _inner(_K, other) - _inner(at, _K) * _inner(at, other)
    return (exponential(_score(at, _K)) * gap).summed(_K)


def _numerator(k: Kernel, inner: Proved, exponentials: Proved, at: Index, other: Index) -> Proved:
    """``S_i = e_0 (1 + (n - 2) c - (n - 1) c^2)``."""

    def there(found: Proved, first: Index, second: Index) -> Proved:
        return k.instantiate(k.instantiate(found, first), second)

    pair = _inner(at, other)
    sides = []
    known = [there(exponentials, at, _K), there(inner, _K, other), there(inner, at, _K)]
    for weight, first, second in (
        (exponential(_score(at, _K)), _inner(_K, other), _inner(at, _K)),
        (_weights(at, _K), _cosines(_K, other), _cosines(at, _K)),
    ):
        gap = first - second * pair
        known += [k.product(weight, gap), k.total(first, -(second * pair)), k.scaling(second * pair, -1)]
        known.append(k.product(second, pair))
        sides.append(weight * gap)
    each = k.arithmetic(known, sp.Eq(Tensor(sides[0]), Tensor(sides[1]), evaluate=False))
    whole = k.summed(k.generalise(_K, each))
    n = terms.n
    found = expanded(k, sides[1].summed(_K), (1, _OTHER), (n - 2, _OTHER, _COSINE), (1 - n, _OTHER, _COSINE, _COSINE))
    cosine, other_weight = Tensor(_COSINE), Tensor(_OTHER)
    said = other_weight * (1 - cosine) * (1 + (n - 1) * cosine)
    return k.arithmetic([whole, found], sp.Eq(Tensor(_side(at, other)), said, evaluate=False))


def _width(k: Kernel, exponentials: Proved, at: Index) -> Proved:
    """``Z_i = e_1 + (n - 1) e_0``."""
    row = k.instantiate(k.instantiate(exponentials, at), _K)
    sums = k.summed(k.generalise(_K, row))
    known = [sums, k.reduction(exponential(_score(at, _K)).summed(_K), _rows(at))]
    known.append(expanded(k, _weights(at, _K).summed(_K), (1, _SAME), (terms.n - 1, _OTHER)))
    said = Tensor(_SAME) + (terms.n - 1) * Tensor(_OTHER)
    return k.arithmetic(known, sp.Eq(Tensor(_rows(at)), said, evaluate=False))


def _room(k: Kernel, inner: Proved) -> list[Proved]:
    """``c <= 1`` and ``1 + (n - 1) c >= 0``: the squares of ``x_i - x_j`` and of the sum of all tokens."""
    cosine, n = Tensor(_COSINE), terms.n
    apart, everything = vector("x", I) - vector("x", J), vector("x", _A).summed(_A)
    below = [k.square(apart), expanded(k, dot(apart, apart), (2,), (-2, _COSINE))]
    rows = k.generalise(_A, k.summed(k.instantiate(inner, _A)))
    known = [
        k.square(everything),
        k.reduction(dot(everything, everything), _inner(_A, _B).summed(_B).summed(_A)),
        k.summed(rows),
        expanded(k, _cosines(_A, _B).summed(_B).summed(_A), (n, one()), (n**2 - n, _COSINE)),
        k.factors(one()),
        k.given(sp.Ge(n, 2)),
    ]
    return [k.arithmetic(below, cosine <= 1), k.arithmetic(known, sp.Ge(1 + (n - 1) * cosine, 0, evaluate=False))]


def rate(k: Kernel, said: tuple[Proposition, Proposition]) -> Proved:
    """A proof of the scalar equation, and that the cosine does not fall: both sides of the rate, then the two exponentials."""
    inner = _inner_products(k)
    exponentials = _exponentials(k, inner)
    cleared = _cleared(k, inner, exponentials)
    cosine, beta = Tensor(_COSINE), terms.Eigenvalue(_M, 1)
    equal = []
    for score, exponent in (((I, J), beta * cosine), ((I, I), beta)):
        scored = k.arithmetic([_scored(k, *score), _unit(k)], sp.Eq(Tensor(_score(*score)), exponent, evaluate=False))
        named = sp.Eq(Tensor(exponential(_score(*score))), sp.exp(exponent), evaluate=False)
        equal.append(k.arithmetic([scored, k.exponential_of(_score(*score))], named))
    known = [cleared, k.positive(_SAME), k.positive(_OTHER), k.given(sp.Ge(terms.n, 2))]
    ends = []
    for each, more in zip(said, (equal, _room(k, inner)), strict=True):
        found = k.generalise(J, k.arithmetic([*known, *more], each.right.body.body), _DIFFERENT)
        ends.append(k.discharge(each.left, k.generalise(I, found, each.right.guard)))
    return k.conjunction(*ends)


def _cleared(k: Kernel, inner: Proved, exponentials: Proved) -> Proved:
    """``(x_i^T x_j)' (e_1 + (n - 1) e_0) = 2 e_0 (1 - c)(1 + (n - 1) c)``."""
    moved = k.increment(_COSINE)
    parts, known = [], []
    for at, other in ((I, J), (J, I)):
        side, inverse = _side(at, other), _rows(at) ** -1
        parts.append(side * inverse)
        known += [
            k.product(side, inverse),
            k.product(_rows(at), inverse),
            k.reduction(_rows(at) * inverse, one()),
            k.positive(_rows(at)),
            _numerator(k, inner, exponentials, at, other),
            _width(k, exponentials, at),
        ]
    value = relation_of(moved.proposition).rhs.expression
    whole = k.reduction(value, parts[0] + parts[1], k.given(IsIdentity(_V)))
    known += [moved, whole, k.total(*parts), k.factors(one())]
    cosine, width = Tensor(_COSINE), Tensor(_SAME) + (terms.n - 1) * Tensor(_OTHER)
    top = 2 * Tensor(_OTHER) * (1 - cosine) * (1 + (terms.n - 1) * cosine)
    return k.arithmetic(known, sp.Eq(relation_of(moved.proposition).lhs * width, top, evaluate=False))
