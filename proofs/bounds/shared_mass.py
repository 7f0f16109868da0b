"""BD-M1 and BD-M2 in the kernel: rows that share a part of their mass at one token average to points that are near each other.

Where two rows give at least eta to a token f, the values of all tokens lie within r of a number, and ``v_f`` is one of them,
``sum_j (a_j - b_j) v_j <= 2 r (1 - eta)``.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from eigentoken.proofs.bounds.head_map import row
from eigentoken.proofs.bounds.lemmas import CENTRE, RADIUS, Z, close
from eigentoken.proofs.bounds.rows import KEYS, I, J, K, Row, for_all
from eigentoken.theory.calculus import Expression, Index, MaskEntry, dot, exponential, factor, one, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import n

__all__ = ["CHAIN", "SINK", "chain", "sink"]

OTHER, FIRST, _S, _T = (Index("token", name) for name in "kfst")
_z, _SCORE = vector(Z.name), product("W")
_ETA = sp.Symbol("eta", nonnegative=True)
Weights = Callable[[Index, Index], Expression]


def _token(at: Index) -> Expression:
    return vector("x", at)


def _value(at: Index) -> Expression:
    return dot(_z, _token(at), product("B"))


_NEAR = close(_value, CENTRE, RADIUS)


def _average(weights: Weights, at: Index) -> Expression:
    return (weights(at, K) * _value(K)).summed(K)


def _not_beyond(k: Kernel, weights: Weights, at: Index, positive: Proved, upper: bool) -> Proved:
    """``c + r - sum_j a_j v_j >= a_f (c + r - v_f)``, and ``sum_j a_j v_j - c + r >= a_f (v_f - c + r)``: one term of a sum."""
    sign = 1 if upper else -1
    edge = sign * CENTRE + RADIUS
    apart, weight = one() * edge - _value(K) * sign, weights(at, K)
    near = k.instantiate(k.assume(_NEAR), K)
    parts = [near, k.total(one() * edge, _value(K) * -sign), k.scaling(one(), edge), k.factors(one())]
    parts.append(k.scaling(_value(K), -sign))
    room = k.arithmetic(parts, sp.Ge(Tensor(apart), 0, evaluate=False))
    term = k.arithmetic([room, positive, k.product(weight, apart)], sp.Ge(Tensor(weight * apart), 0, evaluate=False))
    kept = k.summand(k.generalise(K, term), FIRST)
    whole, own = (weight * apart).summed(K), weights(at, FIRST)
    there = one() * edge - _value(FIRST) * sign
    average = _average(weights, at)
    known = [
        kept,
        k.reduction(whole, one() * edge - average * sign),
        k.total(one() * edge, average * -sign),
        k.scaling(one(), edge),
        k.factors(one()),
        k.scaling(average, -sign),
        k.product(own, there),
        k.total(one() * edge, _value(FIRST) * -sign),
        k.scaling(_value(FIRST), -sign),
    ]
    said = sign * (CENTRE - Tensor(average)) + RADIUS
    least = Tensor(own) * (sign * (CENTRE - Tensor(_value(FIRST))) + RADIUS)
    return k.arithmetic(known, sp.Ge(said, least, evaluate=False))


def _shared(k: Kernel, weights: Weights, positive: Callable[[Index], Proved], share: sp.Expr, *both: Proved) -> Proved:
    """``sum_j (a_ij - a_kj) v_j <= 2 r (1 - eta)`` where both rows give at least eta to f (``both``)."""
    high = _not_beyond(k, weights, I, positive(I), True)
    low = _not_beyond(k, weights, OTHER, positive(OTHER), False)
    near = k.instantiate(k.assume(_NEAR), FIRST)
    own, other, value = (Tensor(each) for each in (weights(I, FIRST), weights(OTHER, FIRST), _value(FIRST)))
    above, below = CENTRE - value + RADIUS, value - CENTRE + RADIUS
    least = k.arithmetic([near, *both], sp.Ge(own * above + other * below, 2 * RADIUS * share, evaluate=False))
    gap = Tensor(_average(weights, I)) - Tensor(_average(weights, OTHER))
    return k.arithmetic([high, low, least], sp.Le(gap, 2 * RADIUS * (1 - share), evaluate=False))


# -- a causal mask and a sink ---------------------------------------------------------------------------------------------


def _seen(at: Index, key: Index) -> Expression:
    return factor(MaskEntry("causal", at, key))


def _whole(at: Index) -> Expression:
    return factor(row_sum(dot(_token(at), _token(_S), _SCORE), _S, (MaskEntry("causal", at, _S),)))


def _one(at: Index, key: Index) -> Expression:
    return exponential(dot(_token(at), _token(key), _SCORE))


def causal_weight(at: Index, key: Index) -> Expression:
    """``a_ij`` under the causal mask."""
    return _seen(at, key) * _one(at, key) * _whole(at) ** -1


def _sees(at: Index, key: Index) -> sp.Eq:
    return sp.Eq(Tensor(_seen(at, key)), 1, evaluate=False)


_ALL_SEE = for_all(_sees(J, FIRST), J)
_AT_LEAST = for_all(sp.Ge(Tensor(causal_weight(J, FIRST)), _ETA, evaluate=False), J)
_GAP = Tensor(_average(causal_weight, I)) - Tensor(_average(causal_weight, OTHER))
_SHARED = sp.Le(_GAP, 2 * RADIUS * (1 - _ETA), evaluate=False)
_WIDTH = sp.Symbol("w", nonnegative=True)
_SCORES = [Tensor(dot(_token(J), _token(key), _SCORE)) for key in (K, OTHER)]
_BOTH_SEEN = Conjunction((proposition(_sees(J, K)), proposition(_sees(J, OTHER))))
_WITHIN = proposition(sp.Le(_SCORES[0] - _SCORES[1], _WIDTH, evaluate=False))
_NARROW = ForAll(J, TRUE, ForAll(K, TRUE, ForAll(OTHER, _BOTH_SEEN, _WITHIN)))
_LEAST = sp.Ge(Tensor(causal_weight(J, FIRST)), 1 / (1 + (n - 1) * sp.exp(_WIDTH)), evaluate=False)
#: BD-M1: a token f that all see with weight at least eta: ``z^T (f_i - f_k) <= 2 r (1 - eta)``; and how large that weight is at
#: least, where the scores that a token sees lie within w of each other.
SINK = (
    ForAll(
        FIRST,
        _ALL_SEE,
        for_all(ForAll(RADIUS, _NEAR, ForAll(_ETA, _AT_LEAST, for_all(_SHARED, I, OTHER))), Z, CENTRE),
    ),
    ForAll(_WIDTH, _NARROW, ForAll(FIRST, _ALL_SEE, for_all(_LEAST, J))),
)


def _not_negative(k: Kernel, at: Index) -> Proved:
    """``a_ij >= 0``: the mask is 0 or 1, the rest is positive."""
    rest = _one(at, K) * _whole(at) ** -1
    order = k.causal_order(at, K)
    mask = k.part(order, order.proposition.parts[0])
    known = [mask, k.positive(rest), k.product(_seen(at, K), rest)]
    return k.arithmetic(known, sp.Ge(Tensor(causal_weight(at, K)), 0, evaluate=False))


def _contracts(k: Kernel) -> Proved:
    at_least = k.assume(_AT_LEAST)
    both = [k.instantiate(at_least, each) for each in (I, OTHER)]
    found = _shared(k, causal_weight, lambda at: _not_negative(k, at), _ETA, *both)
    for letter in (OTHER, I):
        found = k.generalise(letter, found)
    found = k.generalise(RADIUS, k.generalise(_ETA, found, _AT_LEAST), _NEAR)
    return k.generalise(FIRST, k.generalise(Z, k.generalise(CENTRE, found)), _ALL_SEE)


def _least(k: Kernel) -> Proved:
    """``c_jl e^{s_jl} <= e^w e^{s_jf}`` for every l, with 1 for ``e^w`` at f; summed over l."""
    top, sees_first = sp.exp(_WIDTH), k.instantiate(k.assume(_ALL_SEE), J)
    order = k.causal_order(J, K)
    mask = k.part(order, order.proposition.parts[0])
    own, each, single = _one(J, FIRST), _seen(J, K) * _one(J, K), _one(J, K)
    seen, unseen = (proposition(sp.Eq(Tensor(_seen(J, K)), value, evaluate=False)) for value in (1, 0))
    here = k.instantiate(k.instantiate(k.assume(_NARROW), J), K)
    gap = k.instantiate(here, FIRST, k.assume(seen), sees_first)
    scores = [Tensor(dot(_token(J), _token(key), _SCORE)) for key in (K, FIRST)]
    grown = k.arithmetic([gap], sp.Le(sp.exp(scores[0]), sp.exp(scores[1] + _WIDTH), evaluate=False))
    parts = [k.exponential_of(dot(_token(J), _token(key), _SCORE)) for key in (K, FIRST)]
    ratio = k.arithmetic([grown, *parts], sp.Le(Tensor(single), top * Tensor(own), evaluate=False))
    apart = own * top - each
    made = [k.total(own * top, -each), k.scaling(own, top), k.scaling(each, -1), k.product(_seen(J, K), single)]
    made += [k.positive(own), k.arithmetic([], sp.Ge(top, 1, evaluate=False))]
    said = sp.Ge(Tensor(apart), 0, evaluate=False)
    far = k.arithmetic([k.assume(unseen), *made], said)
    near = k.arithmetic([k.assume(seen), ratio, *made], said)
    term = k.by_cases(mask, (unseen, far), (seen, near))
    kept = k.summand(k.generalise(K, term), FIRST)
    whole, rows = apart.summed(K), _whole(J)
    known = [
        kept,
        sees_first,
        k.total(own * top, -(_seen(J, FIRST) * own)),
        k.scaling(own, top),
        k.scaling(_seen(J, FIRST) * own, -1),
        k.product(_seen(J, FIRST), own),
        k.reduction(whole, own * (top * n) - rows),
        k.total(own * (top * n), -rows),
        k.scaling(own, top * n),
        k.scaling(rows, -1),
    ]
    most = k.arithmetic(known, sp.Le(Tensor(rows), (1 + (n - 1) * top) * Tensor(own), evaluate=False))
    weight = causal_weight(J, FIRST)
    quotient = [
        most,
        sees_first,
        k.product(weight, rows),
        k.reduction(weight * rows, _seen(J, FIRST) * own),
        k.product(_seen(J, FIRST), own),
        k.positive(rows),
        k.positive(own),
    ]
    found = k.generalise(J, k.arithmetic(quotient, _LEAST))
    return k.generalise(_WIDTH, k.generalise(FIRST, found, _ALL_SEE), _NARROW)


def sink(k: Kernel) -> Proved:
    """A proof of :data:`SINK`."""
    return k.conjunction(_contracts(k), _least(k))


# -- one layer more -----------------------------------------------------------------------------------------------------------

_LATER = VectorLetter("u")


def _later(at: Index) -> Row:
    return Row(vector(_LATER.name, at))


def through(at: Index, key: Index) -> Expression:
    """``(A' A)_ij``: a row of a later layer and the rows of this one."""
    return (_later(at).weight(_T) * row(_T).weight(key)).summed(_T)


_ONE_MORE = sp.Ge(Tensor(through(I, FIRST)), Tensor(_later(I).weight(J)) * Tensor(row(J).weight(FIRST)), evaluate=False)
_SHARE = sp.Min(Tensor(through(I, FIRST)), Tensor(through(OTHER, FIRST)))
_APART = Tensor(_average(through, I)) - Tensor(_average(through, OTHER))
_MIXED = sp.Le(_APART, 2 * RADIUS * (1 - _SHARE), evaluate=False)
#: BD-M2: a layer more gives to the root f at least what one token that is seen has on it, times the weight of that token; and
#: what two rows average differs by ``1 - eta`` of the spread at most, eta the weight that both have on the root.
CHAIN = (
    for_all(_ONE_MORE, KEYS, _LATER, FIRST, I, J),
    for_all(ForAll(RADIUS, _NEAR, for_all(_MIXED, I, OTHER)), KEYS, _LATER, FIRST, Z, CENTRE),
)


def _one_more(k: Kernel) -> Proved:
    """The sum over the tokens between is at least one of its terms."""
    term = _later(I).weight(K) * row(K).weight(FIRST)
    positive = k.arithmetic([k.positive(term)], sp.Ge(Tensor(term), 0, evaluate=False))
    kept = k.summand(k.generalise(K, positive), J)
    found = k.arithmetic([kept, k.product(_later(I).weight(J), row(J).weight(FIRST))], _ONE_MORE)
    for letter in (J, I, FIRST, _LATER, KEYS):
        found = k.generalise(letter, found)
    return found


def _mixed(k: Kernel) -> Proved:
    """:func:`_shared` for the weights of two layers, eta the smaller of the two shares."""

    def positive(at: Index) -> Proved:
        return k.arithmetic([k.positive(through(at, K))], sp.Ge(Tensor(through(at, K)), 0, evaluate=False))

    ends = [Tensor(through(at, FIRST)) for at in (I, OTHER)]
    shares = [k.arithmetic([], sp.Ge(each, _SHARE, evaluate=False)) for each in ends]
    here = _shared(k, through, positive, _SHARE, *shares)
    here = k.generalise(RADIUS, k.generalise(I, k.generalise(OTHER, here)), _NEAR)
    for letter in (CENTRE, Z, FIRST, _LATER, KEYS):
        here = k.generalise(letter, here)
    return here


def chain(k: Kernel) -> Proved:
    """A proof of :data:`CHAIN`."""
    return k.conjunction(_one_more(k), _mixed(k))
