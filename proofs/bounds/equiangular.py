"""BD-T1 in the kernel: what one attention layer makes of equiangular tokens.

With ``q = |x_i|^2`` and ``c = x_i^T x_j`` for two tokens that are kept: ``x_a^T x_b = c + (q - c) delta_ab`` for all a and b, and
so is ``e^{x_a^T W x_b} = e_0 + (e_1 - e_0) delta_ab``.  Sums over tokens are then one normal form.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.head_map import head, row
from eigentoken.proofs.bounds.rows import I, J
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.theory.calculus import Expression, Index, delta, dot, exponential, matrix, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Proposition, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.kernel.words import equiangular
from eigentoken.theory.language import terms
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.proportion import MultipleOf

__all__ = ["outputs"]

_W, _B = terms.matrix("W"), terms.matrix("B")
_SCORE = matrix("W")
_A, _B_, _K, _M = (Index("token", name) for name in "abkm")
#: The two tokens that are kept are different ones.
DIFFERENT = proposition(sp.Eq(Tensor(delta(I, J)), 0, evaluate=False))
_LENGTH, _INNER = dot(vector("x", I), vector("x", I)), dot(vector("x", I), vector("x", J))


def _score(first: Index, second: Index) -> Expression:
    return dot(vector("x", first), vector("x", second), _SCORE)


_SAME, _OTHER = exponential(_score(I, I)), exponential(_score(I, J))


def _inner(first: Index, second: Index) -> Expression:
    """``c + (q - c) delta_ab``."""
    return _INNER + (_LENGTH - _INNER) * delta(first, second)


def _weight(first: Index, second: Index) -> Expression:
    """``e_0 + (e_1 - e_0) delta_ab``."""
    return _OTHER + (_SAME - _OTHER) * delta(first, second)


def _zero_or_one(k: Kernel) -> Proved:
    """``delta_ab`` is 0 or 1."""
    order = [k.causal_order(_A, _B_), k.causal_order(_B_, _A)]
    values = [k.part(each, each.proposition.parts[0]) for each in order]
    same = Tensor(delta(_A, _B_))
    either = sp.Or(sp.Eq(same, 0, evaluate=False), sp.Eq(same, 1, evaluate=False))
    return k.arithmetic([*values, k.same_token(_A, _B_)], either)


def _inner_products(k: Kernel) -> Proved:
    """``x_a^T x_b = c + (q - c) delta_ab``, and ``q`` for ``a = b``."""
    lengths, alike = (k.part(k.assume(equiangular()), each) for each in conjuncts(equiangular()))
    own = dot(vector("x", _A), vector("x", _A))
    left, same = dot(vector("x", _A), vector("x", _B_)), delta(_A, _B_)
    length = k.instantiate(k.instantiate(lengths, _A), I)
    zero, unit = (proposition(sp.Eq(Tensor(same), value, evaluate=False)) for value in (0, 1))
    apart = k.instantiate(k.instantiate(alike, _A), _B_, k.assume(zero))
    apart = k.instantiate(k.instantiate(apart, I), J, k.assume(DIFFERENT))
    contracted = [k.reduction(same * left, same * own), k.product(same, left), k.product(same, own)]
    equal = k.arithmetic([length, k.assume(unit), *contracted], sp.Eq(Tensor(left), Tensor(_LENGTH), evaluate=False))
    found = _by_delta(k, left, _inner(_A, _B_), (_INNER, _LENGTH), (zero, apart), (unit, equal))
    return k.generalise(_A, k.generalise(_B_, found))


def _by_delta(
    k: Kernel,
    left: Expression,
    right: Expression,
    values: tuple[Expression, Expression],
    *ways: tuple[Proposition, Proved],
) -> Proved:
    """``[left] = [u + (v - u) delta_ab]``: each way says what left is where delta is 0, and where it is 1."""
    same, (other, own) = delta(_A, _B_), values
    parts = [
        k.total(other, (own - other) * same),
        k.product(own - other, same),
        k.total(own, -other),
        k.scaling(other, -1),
    ]
    said = sp.Eq(Tensor(left), Tensor(right), evaluate=False)
    shown = [(case, k.arithmetic([k.assume(case), known, *parts], said)) for case, known in ways]
    return k.by_cases(_zero_or_one(k), *shown)


def _scores(k: Kernel, first: Index, second: Index) -> Proved:
    """``x_a^T W x_b = lambda_1(W) x_a^T x_b``."""
    found = k.unfold(k.given(MultipleOf(_W)))
    return k.instantiate(k.instantiate(found, vector("x", first)), vector("x", second))


def _exponentials(k: Kernel, inner: Proved) -> Proved:
    """``e^{x_a^T W x_b} = e_0 + (e_1 - e_0) delta_ab``: equal scores have equal exponentials."""
    here = k.instantiate(k.instantiate(inner, _A), _B_)
    left, same = exponential(_score(_A, _B_)), delta(_A, _B_)
    scores = [_scores(k, *each) for each in ((_A, _B_), (I, I), (I, J))]
    exponents = [k.exponential_of(_score(*each)) for each in ((_A, _B_), (I, I), (I, J))]
    split = [k.total(_INNER, (_LENGTH - _INNER) * same), k.product(_LENGTH - _INNER, same)]
    split += [k.total(_LENGTH, -_INNER), k.scaling(_INNER, -1)]
    ways = []
    for value, case, there in ((0, _OTHER, (I, J)), (1, _SAME, (I, I))):
        given = proposition(sp.Eq(Tensor(same), value, evaluate=False))
        scored = sp.Eq(Tensor(_score(_A, _B_)), Tensor(_score(*there)), evaluate=False)
        level = k.arithmetic([k.assume(given), here, *split, *scores], scored)
        ways.append((given, k.arithmetic([level, *exponents], sp.Eq(Tensor(left), Tensor(case), evaluate=False))))
    found = _by_delta(k, left, _weight(_A, _B_), (_OTHER, _SAME), *ways)
    return k.generalise(_A, k.generalise(_B_, found))


def gram(k: Kernel, second: Index) -> tuple[Expression, Proved]:
    """``[f_i^T f_s] [Z_i] [Z_s] = [N]`` and ``[Z] = [(n - 1) e_0 + e_1]``, N made of c, q, e_0 and e_1."""
    inner = _inner_products(k)
    exponentials = _exponentials(k, inner)

    def at(found: Proved, first: Index, other: Index) -> Proved:
        return k.instantiate(k.instantiate(found, first), other)

    parts = [(exponential(_score(I, _K)), _weight(I, _K)), (exponential(_score(second, _M)), _weight(second, _M))]
    parts.append((dot(vector("x", _K), vector("x", _M)), _inner(_K, _M)))
    known = [at(exponentials, I, _K), at(exponentials, second, _M), at(inner, _K, _M)]
    terms_of = []
    for side in (0, 1):
        first, other, last = (each[side] for each in parts)
        terms_of.append(first * other * last)
        known += [k.product(first * other, last), k.product(first, other)]
    each = k.arithmetic(known, sp.Eq(Tensor(terms_of[0]), Tensor(terms_of[1]), evaluate=False))
    total = k.summed(k.generalise(_K, k.summed(k.generalise(_M, each))))
    rows, product_of = [row(at_).whole for at_ in (I, second)], dot(head(I), head(second))
    whole, number = terms_of[0].summed(_M).summed(_K), terms_of[1].summed(_M).summed(_K)
    cleared = product_of * rows[0] * rows[1]
    made = [
        total,
        k.reduction(cleared, whole, k.given(IsIdentity(_B))),
        k.product(product_of * rows[0], rows[1]),
        k.product(product_of, rows[0]),
    ]
    factors = Tensor(product_of) * Tensor(rows[0]) * Tensor(rows[1])
    found = k.arithmetic(made, sp.Eq(factors, Tensor(number), evaluate=False))
    ends = [found]
    for index, size in zip((I, second), rows, strict=True):
        sums = k.summed(k.generalise(_K, at(exponentials, index, _K)))
        plain = (_OTHER * (terms.n - 1)) + _SAME
        width = [
            sums,
            k.reduction(exponential(_score(index, _K)).summed(_K), size),
            k.reduction(_weight(index, _K).summed(_K), plain),
            k.total(_OTHER * (terms.n - 1), _SAME),
            k.scaling(_OTHER, terms.n - 1),
        ]
        ends.append(
            k.arithmetic(width, sp.Eq(Tensor(size), (terms.n - 1) * Tensor(_OTHER) + Tensor(_SAME), evaluate=False))
        )
    return number, k.conjunction(*ends)


_FIRST, _SECOND, _C, _RHO = sp.symbols("m_0 m_1 c rho", real=True)
_Q, _E0, _E1, _E, _Z = sp.symbols("q e_0 e_1 E Z", positive=True)


def entries(length: sp.Expr, inner: sp.Expr, other: sp.Expr, own: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """``Z^2 f_i^T f_j`` and ``Z^2 |f_i|^2``."""
    number = terms.n
    pair = 2 * length * own * other + (number - 2) * length * other**2 + (2 * number - 4) * inner * other * own
    pair += inner * own**2 + (number**2 - 3 * number + 3) * inner * other**2
    square = length * own**2 + (number - 1) * length * other**2 + (2 * number - 2) * inner * other * own
    return pair, square + (number**2 - 3 * number + 2) * inner * other**2


def cosine_parts(rho: sp.Expr, growth: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Denominator and numerator of ``c_n``, with ``growth = e_1/e_0``."""
    other = 1 / (terms.n - 1 + growth)
    u = (1 - (terms.n - 1) * other - other) ** 2
    return rho + (1 - rho) * (u + (1 - u) / terms.n), rho + (1 - rho) * (1 - u) / terms.n


def _lemma(k: Kernel) -> Proved:
    """``m_0 Z^2 = N_0``, ``m_1 Z^2 = N_1``, ``Z = (n - 1) e_0 + e_1``, ``c = rho q``, ``e_1 = E e_0``: the equation of BD-T1."""
    many = k.given(sp.Ge(terms.n, 2))
    given = [
        *(
            sp.Eq(mean * _Z**2, entry, evaluate=False)
            for mean, entry in zip((_FIRST, _SECOND), entries(_Q, _C, _E0, _E1), strict=True)
        ),
        sp.Eq(_Z, (terms.n - 1) * _E0 + _E1, evaluate=False),
        sp.Eq(_RHO * _Q, _C, evaluate=False),
        sp.Eq(_E * _E0, _E1, evaluate=False),
    ]
    known = [k.assume(each) for each in given]
    equal, shares = [], []
    for which, mean, entry in zip((0, 1), (_FIRST, _SECOND), entries(_Q, _RHO * _Q, _E0, _E * _E0), strict=True):
        width = terms.n - 1 + _E
        scaled = k.arithmetic([known[which], *known[2:]], sp.Eq(mean * _E0**2 * width**2, entry, evaluate=False))
        plain = sp.expand(sp.cancel(entry / _E0**2))
        cleared = k.arithmetic([scaled], sp.Eq(mean * width**2, plain, evaluate=False))
        shares.append(sp.cancel(sp.together(plain / width**2)))
        equal.append(k.arithmetic([cleared, many], sp.Eq(mean, shares[-1], evaluate=False)))
    low, high = cosine_parts(_RHO, _E)
    same = k.identity(shares[0] * low, shares[1] * high, k.arithmetic([many], sp.Gt(terms.n - 1 + _E, 0)))
    found = k.arithmetic([*equal, same, many], sp.Eq(_FIRST * low, _SECOND * high, evaluate=False))
    found = k.discharge(Conjunction(tuple(map(proposition, given))), found)
    for letter in (_E, _Z, _E1, _E0, _RHO, _C, _Q, _SECOND, _FIRST):
        found = k.generalise(letter, found)
    return found


def _growth(k: Kernel, cosine: sp.Expr, shown: Proved, nonzero: Proved) -> tuple[sp.Expr, Proved]:
    """``E = e^{lambda_1(W) |x_i|^2 (1 - rho)}`` and ``E e_0 = e_1``."""
    exponent = terms.Eigenvalue(_W, 1) * Tensor(_LENGTH) * (1 - cosine)
    scores = [Tensor(_score(I, each)) for each in (I, J)]
    gap = sp.Eq(exponent, scores[0] - scores[1], evaluate=False)
    level = k.arithmetic([shown, _scores(k, I, I), _scores(k, I, J)], gap)
    first, second, third = sp.symbols("u v w", real=True)
    apart = proposition(sp.Eq(first, second - third, evaluate=False))
    same = k.identity(sp.exp(second - third) * sp.exp(third), sp.exp(second))
    equal = k.arithmetic([k.assume(apart)], sp.Eq(sp.exp(first), sp.exp(second - third), evaluate=False))
    split = k.arithmetic([equal, same], sp.Eq(sp.exp(first) * sp.exp(third), sp.exp(second), evaluate=False))
    split = k.discharge(apart, split)
    for letter in (third, second, first):
        split = k.generalise(letter, split)
    for value in (exponent, *scores):
        split = k.instantiate(split, value, nonzero)
    here = k.modus_ponens(split, level)
    known = [here, *(k.exponential_of(_score(I, each)) for each in (I, J))]
    said = sp.Eq(sp.exp(exponent) * Tensor(_OTHER), Tensor(_SAME), evaluate=False)
    return sp.exp(exponent), k.arithmetic(known, said)


def outputs(k: Kernel, said: Proposition) -> Proved:
    """A proof of the claim of BD-T1: two entries of the Gram matrix of the outputs, and an identity of rational functions."""
    guard = said.right.guard
    some, number = k.assume(guard), terms.n
    inverse = [k.product(_INNER, _LENGTH**-1), k.product(_LENGTH, _LENGTH**-1), some]
    inverse += [k.reduction(_LENGTH * _LENGTH**-1, one()), k.factors(one())]
    cosine = Tensor(_INNER * _LENGTH**-1)
    shown = k.arithmetic(inverse, sp.Eq(cosine * Tensor(_LENGTH), Tensor(_INNER), evaluate=False))
    nonzero = k.arithmetic([some], sp.Ne(Tensor(_LENGTH), 0, evaluate=False))
    growth, grown = _growth(k, cosine, shown, nonzero)
    pair = [(2, _LENGTH, _SAME, _OTHER), (number - 2, _LENGTH, _OTHER, _OTHER), (2 * number - 4, _INNER, _OTHER, _SAME)]
    pair += [(1, _INNER, _SAME, _SAME), (number**2 - 3 * number + 3, _INNER, _OTHER, _OTHER)]
    own = [(1, _LENGTH, _SAME, _SAME), (number - 1, _LENGTH, _OTHER, _OTHER), (2 * number - 2, _INNER, _OTHER, _SAME)]
    own += [(number**2 - 3 * number + 2, _INNER, _OTHER, _OTHER)]
    pieces = (pair, own)
    width = Tensor(row(I).whole)
    values = [Tensor(dot(head(I), head(each))) for each in (J, I)]
    sizes = [Tensor(each) for each in (_LENGTH, _INNER, _OTHER, _SAME)]
    known = [shown, grown]
    for second, parts, value, entry in zip((J, I), pieces, values, entries(*sizes), strict=True):
        total, found = gram(k, second)
        known += [
            k.arithmetic([found, expanded(k, total, *parts)], sp.Eq(value * width**2, entry, evaluate=False)),
            found,
        ]
    positive = [k.positive(_OTHER), k.positive(_SAME), k.positive(row(I).whole), some, nonzero]
    positive.append(k.arithmetic([some], sp.Gt(growth, 0, evaluate=False)))
    lemma = _lemma(k)
    for value in (*values, sizes[0], sizes[1], cosine, sizes[2], sizes[3], width, growth):
        lemma = k.instantiate(lemma, value, *positive)
    asked = (k.arithmetic(known, each) for each in conjuncts(lemma.proposition.left))
    end = k.part(k.modus_ponens(lemma, k.conjunction(*asked)), said.right.body.body)
    end = k.generalise(J, k.supply(end, nonzero), DIFFERENT)
    return k.discharge(said.left, k.generalise(I, end, guard))
