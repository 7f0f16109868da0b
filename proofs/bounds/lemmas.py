"""Lemmas about rows of attention in the kernel, for all n: the least and largest weight, two rows compared, variances, hulls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.proofs.bounds.rows import KEYS, QUERY, I, J, K, Row, for_all
from eigentoken.theory.calculus import Expression, dot, exponential, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication, Proposition, proposition, put
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import n

__all__ = [
    "CLOSE",
    "LARGEST",
    "LEAST",
    "OTHER",
    "QUARTER",
    "TWO_ROWS",
    "VARIANCE",
    "WIDTH",
    "in_the_ball",
    "in_the_hull",
    "two_rows",
    "variance",
    "weight_range",
]

#: The width of the scores of a row; a quarter of it; the radius of the values.
WIDTH, QUARTER = sp.Symbol("w", nonnegative=True), sp.Symbol("h", nonnegative=True)
RADIUS, MIDDLE, CENTRE = sp.Symbol("r", nonnegative=True), sp.Symbol("g", real=True), sp.Symbol("c", real=True)
OTHER, VALUES, Z = VectorLetter("b"), VectorLetter("u"), VectorLetter("z")
_ROW = Row()
_SECOND = Row(vector(OTHER.name))


def within_width(row: Row) -> Proposition:
    """``s_j - s_l <= w`` for every pair."""
    return for_all(sp.Le(Tensor(row.score(J)) - Tensor(row.score(K)), WIDTH, evaluate=False), J, K)


_WEIGHT = Tensor(_ROW.weight(I))
#: ``1/(1 + (n-1) e^w) <= a_i <= e^w/(e^w + n - 1)``.
LEAST = sp.Ge(_WEIGHT, 1 / (1 + (n - 1) * sp.exp(WIDTH)), evaluate=False)
LARGEST = sp.Le(_WEIGHT, sp.exp(WIDTH) / (sp.exp(WIDTH) + n - 1), evaluate=False)
#: Where ``n > 1 + e^w`` no weight is above one half.
HALF = Implication(
    proposition(sp.Gt(n, 1 + sp.exp(WIDTH), evaluate=False)), proposition(sp.Lt(_WEIGHT, sp.Rational(1, 2)))
)


def _ratio(k: Kernel, gap: Proved, low: Expression, high: Expression, width: sp.Expr) -> Proved:
    """``[b] - [a] <= w`` gives ``[e^b] <= e^w [e^a]``, for exponents a and b."""
    from eigentoken.theory.calculus import exponential

    first = k.arithmetic([gap], sp.Le(sp.exp(Tensor(high)), sp.exp(Tensor(low) + width), evaluate=False))
    known = [first, k.exponential_of(low), k.exponential_of(high)]
    small, large = Tensor(exponential(low)), Tensor(exponential(high))
    return k.arithmetic(known, sp.Le(large, sp.exp(width) * small, evaluate=False))


def _row_sums(k: Kernel, row: Row) -> Proved:
    """``Z <= (1 + (n-1) e^w) e^{s_i}`` and ``e^w Z >= (e^w + n - 1) e^{s_i}``: the sum is at least its term i, twice."""
    given, top, single, whole = k.assume(within_width(row)), sp.exp(WIDTH), row.one(I), row.whole
    found = []
    for here, other in ((I, K), (K, I)):
        gap = k.instantiate(k.instantiate(given, other), here)
        below = _ratio(k, gap, row.score(here), row.score(other), WIDTH)
        apart = k.arithmetic([below], sp.Ge(top * Tensor(row.one(here)) - Tensor(row.one(other)), 0, evaluate=False))
        known = [k.summand(k.generalise(K, apart), I), k.scaling(single, top - 1)]
        ours, theirs = (n * top, sp.Integer(-1)) if here == I else (-n, top)
        known += [k.total(single * ours, whole * theirs), k.scaling(single, ours), k.scaling(whole, theirs)]
        rest = ours * Tensor(single) + theirs * Tensor(whole)
        found.append(k.arithmetic(known, sp.Ge(rest, (top - 1) * Tensor(single), evaluate=False)))
    return k.conjunction(*found)


def weight_range(k: Kernel, row: Row = _ROW) -> Proved:
    """:data:`LEAST`, :data:`LARGEST` and :data:`HALF`, where the scores lie within w of each other."""
    known = [_row_sums(k, row), row.quotient(k, I)]
    least, largest = (k.arithmetic(known, each) for each in (LEAST, LARGEST))
    few = k.assume(HALF.left)
    half = k.discharge(HALF.left, k.arithmetic([largest, few], HALF.right))
    return k.conjunction(least, largest, half)


# -- two rows ---------------------------------------------------------------------------------------------------------


def _close(value: Expression, centre: sp.Expr, radius: sp.Expr) -> Proposition:
    """``|v_j - c| <= r``, as two inequalities."""
    said = (
        sp.Le(Tensor(value), centre + radius, evaluate=False),
        sp.Ge(Tensor(value), centre - radius, evaluate=False),
    )
    return Conjunction(tuple(map(proposition, said)))


def close(value: Callable[[Any], Expression], centre: sp.Expr, radius: sp.Expr) -> Proposition:
    """The numbers ``value(j)`` lie within r of c, for every j."""
    return for_all(_close(value(J), centre, radius), J)


def _change(at: Any) -> Expression:
    """``(a - b)^T k_j``: the difference of the two scores of a key."""
    return dot(vector(QUERY.name) - vector(OTHER.name), vector(KEYS.name, at))


def _value(at: Any) -> Expression:
    """``z^T u_j``."""
    return dot(vector(Z.name), vector(VALUES.name, at))


#: Scores of the two rows differ by numbers within 2h of g; values lie within r of c.
CLOSE = Conjunction((close(_change, MIDDLE, 2 * QUARTER), close(_value, CENTRE, RADIUS)))
_GAP = Tensor(((_ROW.weight(K) - _SECOND.weight(K)) * _value(K)).summed(K))
_SHRUNK = 2 * RADIUS * sp.tanh(QUARTER)
_LETTERS = (QUERY, OTHER, KEYS, VALUES, Z, MIDDLE, QUARTER, CENTRE, RADIUS)
#: ``sum_j (a_j - b_j) z^T u_j <= 2 r tanh(h)``.
TWO_ROWS = for_all(Implication(CLOSE, proposition(sp.Le(_GAP, _SHRUNK, evaluate=False))), *_LETTERS)

_SCALE, _TOP = sp.Symbol("mu", positive=True), sp.exp(2 * QUARTER)


def _comparable() -> Conjunction:
    """``m b_j <= a_j <= e^{4h} m b_j`` for every j."""
    first, second = Tensor(_ROW.weight(J)), Tensor(_SECOND.weight(J))
    low = sp.Ge(first, _SCALE * second, evaluate=False)
    high = sp.Le(first, _TOP**2 * _SCALE * second, evaluate=False)
    return Conjunction((for_all(low, J), for_all(high, J)))


def _pointwise(k: Kernel) -> tuple[Expression, list[Proved], list[tuple[Proved, sp.Expr, sp.Expr, sp.Expr]]]:
    """``(a_j - b_j)(v_j - c) <= r |a_j - b_j|``; and that by chords: ``c |a_j - b_j| <= c_a a_j + c_b b_j``, twice."""
    m, upper, r, c = _SCALE, _TOP**2 * _SCALE, RADIUS, CENTRE
    first, second, shifted = _ROW.weight(K), _SECOND.weight(K), _value(K) - one() * CENTRE
    a, b = Tensor(first), Tensor(second)
    comparable = _comparable()
    low, high = (k.instantiate(k.part(k.assume(comparable), each), K) for each in comparable.parts)
    bounds = []
    for each, scale in ((low, m), (high, upper)):
        left, right = (second * scale, first) if each is low else (first, second * scale)
        said = k.arithmetic([each, k.scaling(second, scale)], sp.Le(Tensor(left), Tensor(right), evaluate=False))
        total = [k.summed(k.generalise(K, said)), k.factors(one()), k.scaling(one(), scale)]
        bounds.append(k.arithmetic(total, sp.Le(scale, 1) if each is low else sp.Ge(scale, 1)))
    made = [
        k.product(first - second, shifted),
        k.total(first, -second),
        k.scaling(second, -1),
        k.total(_value(K), one() * (-c)),
        k.scaling(one(), -c),
        k.factors(one()),
        k.instantiate(k.part(k.assume(CLOSE), CLOSE.parts[1]), K),
    ]
    term = (first - second) * shifted
    near = k.arithmetic(made, sp.Le(Tensor(term), r * sp.Abs(a - b), evaluate=False))
    known = [low, high, *bounds, k.positive(second)]
    of_a, of_b = upper + m - 2, upper * (1 - m) - m * (upper - 1)
    plain = k.arithmetic(known, sp.Le(sp.Abs(a - b), (upper - m) * b, evaluate=False))
    chord = k.arithmetic(known, sp.Le((upper - m) * sp.Abs(a - b), of_a * a + of_b * b, evaluate=False))
    chords = [(plain, sp.Integer(1), sp.Integer(0), upper - m), (chord, upper - m, of_a, of_b)]
    return term, [near, *bounds], chords


def _from_ratios(k: Kernel) -> Proved:
    """With :func:`_comparable` weights the difference of the averages is at most ``2 r tanh(h)``."""
    r, first, second = RADIUS, _ROW.weight(K), _SECOND.weight(K)
    term, (near, *known), chords = _pointwise(k)
    total = Tensor(term.summed(K))
    for bound, scale, of_a, of_b in chords:
        right = first * (r * of_a) + second * (r * of_b)
        parts = [k.scaling(term, scale), k.scaling(second, r * of_b), k.scaling(first, r * of_a)]
        parts += [k.total(first * (r * of_a), second * (r * of_b))] if of_a else []
        parts += [k.positive(second)]
        said = k.arithmetic(
            [near, bound, *parts, *known[:2]], sp.Le(Tensor(term * scale), Tensor(right), evaluate=False)
        )
        after = [k.summed(k.generalise(K, said)), k.factors(one()), k.scaling(one(), r * (of_a + of_b))]
        after.append(k.scaling(term.summed(K), scale))
        known.append(k.arithmetic(after, sp.Le(scale * total, r * (of_a + of_b), evaluate=False)))
    top = sp.Symbol("E", positive=True)
    said = sp.Le(total * (top + 1), 2 * r * (top - 1), evaluate=False)
    growth = k.arithmetic([], sp.Ge(_TOP, 1, evaluate=False))
    found = k.arithmetic([*known, growth], said.xreplace({top: _TOP}))
    same = k.identity(sp.tanh(QUARTER) * (_TOP + 1), _TOP - 1)
    return k.arithmetic([found, same, growth], sp.Le(total, _SHRUNK, evaluate=False))


def _ratios(k: Kernel) -> Proved:
    """``m b_j <= a_j <= e^{4h} m b_j`` with ``m = e^{e-2h} Z_p / Z_q``."""
    given = k.instantiate(k.part(k.assume(CLOSE), CLOSE.parts[0]), J)
    low, high = sp.exp(MIDDLE - 2 * QUARTER), sp.exp(MIDDLE + 2 * QUARTER)
    new, old = Tensor(_ROW.score(J)), Tensor(_SECOND.score(J))
    split = [k.total(_ROW.score(J), -_SECOND.score(J)), k.scaling(_SECOND.score(J), -1), given]
    below = k.arithmetic(split, sp.Le(sp.exp(old + MIDDLE - 2 * QUARTER), sp.exp(new), evaluate=False))
    above = k.arithmetic(split, sp.Le(sp.exp(new), sp.exp(old + MIDDLE + 2 * QUARTER), evaluate=False))
    ones = [k.exponential_of(_ROW.score(J)), k.exponential_of(_SECOND.score(J))]
    first, second = Tensor(_ROW.one(J)), Tensor(_SECOND.one(J))
    scaled = k.arithmetic([below, above, *ones], sp.And(sp.Le(low * second, first), sp.Le(first, high * second)))
    square = k.identity(high, _TOP**2 * low)
    known = [scaled, square, _ROW.quotient(k, J), _SECOND.quotient(k, J)]
    m = low * Tensor(_SECOND.whole) / Tensor(_ROW.whole)
    parts = [put(each.body, {_SCALE: m}) for each in _comparable().parts]
    return k.conjunction(*(k.generalise(J, k.arithmetic(known, each)) for each in parts))


def two_rows(k: Kernel) -> Proved:
    """A proof of :data:`TWO_ROWS`."""
    lemma = k.generalise(_SCALE, k.discharge(_comparable(), _from_ratios(k)))
    low = sp.exp(MIDDLE - 2 * QUARTER)
    sizes = k.conjunction(k.positive(_SECOND.whole), k.positive(_ROW.whole))
    m = low * Tensor(_SECOND.whole) / Tensor(_ROW.whole)
    positive = k.arithmetic([sizes], sp.Gt(m, 0, evaluate=False))
    here = k.modus_ponens(k.instantiate(lemma, m, positive), _ratios(k))
    found = k.discharge(CLOSE, here)
    for letter in reversed(_LETTERS):
        found = k.generalise(letter, found)
    return found


# -- the spread of a row ------------------------------------------------------------------------------------------------

FAMILY = VectorLetter("v")
_MOST = sp.Symbol("c", real=True)
_V = vector(FAMILY.name, K)


def _spread(row: Row) -> Expression:
    """``sum_j a_j |v_j|^2 - |sum_j a_j v_j|^2``."""
    mean = row.mean(_V, K)
    return row.mean(dot(_V, _V), K) - dot(mean, mean)


#: ``2 a_j (1 - a_j) <= c`` for every j.
SMALL = for_all(sp.Le(2 * Tensor(_ROW.weight(J)) * (1 - Tensor(_ROW.weight(J))), _MOST, evaluate=False), J)
_SIZE = dot(_V, _V).summed(K)
#: ``sum_j a_j |v_j|^2 - |sum_j a_j v_j|^2 <= c sum_j |v_j|^2``: the norm of ``diag(a) - a a^T`` is at most c.
VARIANCE = for_all(
    Implication(SMALL, proposition(sp.Le(Tensor(_spread(_ROW)), _MOST * Tensor(_SIZE), evaluate=False))),
    QUERY,
    KEYS,
    FAMILY,
    _MOST,
)


def variance(k: Kernel) -> Proved:
    """A proof of :data:`VARIANCE`: ``sum_jl a_j a_l |v_j + v_l|^2`` is at least its diagonal."""
    row, mean = _ROW, _ROW.mean(_V, K)
    here, there = vector(FAMILY.name, I), _V
    both = here + there
    square = k.square(both)
    weight, own = row.weight(K), row.weight(I)
    each = k.arithmetic(
        [square, k.product(weight, dot(both, both)), k.positive(weight)],
        sp.Ge(Tensor(weight * dot(both, both)), 0, evaluate=False),
    )
    summand = k.summand(k.generalise(K, each), I)
    column = (weight * dot(both, both)).summed(K)
    diagonal = own * dot(here, here) * 4
    weighed = k.arithmetic(
        [summand, k.product(own, column), k.product(own, diagonal), k.positive(own)],
        sp.Ge(Tensor(own * column), Tensor(own * diagonal), evaluate=False),
    )
    total = k.summed(k.generalise(I, weighed))
    squares = (row.weight(K) * row.weight(K) * dot(_V, _V)).summed(K)
    averages, length = row.mean(dot(_V, _V), K), dot(mean, mean)
    whole = (own * column).summed(I)
    known = [
        total,
        k.reduction(whole, averages * 2 + length * 2),
        k.total(averages * 2, length * 2),
        k.scaling(averages, 2),
        k.scaling(length, 2),
        k.scaling(squares, 4),
        k.total(averages, -length),
        k.scaling(length, -1),
    ]
    upper = averages * 2 - squares * 2
    known += [k.total(averages * 2, squares * -2), k.scaling(squares, -2)]
    below = k.arithmetic(known, sp.Le(Tensor(_spread(row)), Tensor(upper), evaluate=False))
    given = k.instantiate(k.assume(SMALL), K)
    size = dot(_V, _V)
    one_term = weight * size * 2 - weight * weight * size * 2
    parts = [
        k.square(_V),
        given,
        k.total(weight * size * 2, weight * weight * size * -2),
        k.scaling(weight * size, 2),
        k.scaling(weight * weight * size, -2),
        k.product(weight, size),
        k.product(weight * weight, size),
        k.product(weight, weight),
        k.scaling(size, _MOST),
    ]
    bounded = k.arithmetic(parts, sp.Le(Tensor(one_term), Tensor(size * _MOST), evaluate=False))
    end = [below, k.summed(k.generalise(K, bounded)), k.scaling(_SIZE, _MOST)]
    found = k.arithmetic(end, sp.Le(Tensor(_spread(row)), _MOST * Tensor(_SIZE), evaluate=False))
    found = k.discharge(SMALL, found)
    for letter in (_MOST, FAMILY, KEYS, QUERY):
        found = k.generalise(letter, found)
    return found


# -- averages -----------------------------------------------------------------------------------------------------------

_BALL = sp.Symbol("r", nonnegative=True)


def in_the_hull(k: Kernel, row: Row, value: Callable[[Any], Expression], most: sp.Expr, given: Proved) -> Proved:
    """``v_j <= c`` for every j (``given``, in J) gives ``sum_j w_j v_j <= c``."""
    weight, each = row.weight(K), value(K)
    known = [k.instantiate(given, K), k.product(weight, each), k.scaling(weight, most), k.positive(weight)]
    term = k.arithmetic(known, sp.Le(Tensor(weight * each), Tensor(weight * most), evaluate=False))
    total = [k.summed(k.generalise(K, term)), k.scaling(one(), most), k.factors(one())]
    return k.arithmetic(total, sp.Le(Tensor((weight * each).summed(K)), most, evaluate=False))


def in_the_ball(k: Kernel, row: Row, value: Callable[[Any], Expression], given: Proved) -> Proved:
    """``|v_j|^2 <= r^2`` for every j (``given``, in J) gives ``|sum_j w_j v_j|^2 <= r^2``: the variance is not negative."""
    mean = (row.weight(K) * value(K)).summed(K)
    apart, weight = value(K) - mean, row.weight(K)
    positive = [k.square(apart), k.product(weight, dot(apart, apart)), k.positive(weight)]
    term = k.arithmetic(positive, sp.Ge(Tensor(weight * dot(apart, apart)), 0, evaluate=False))
    whole = (weight * dot(apart, apart)).summed(K)
    total = k.arithmetic(
        [k.summed(k.generalise(K, term)), k.scaling(one(), 0)], sp.Ge(Tensor(whole), 0, evaluate=False)
    )
    sizes = (weight * dot(value(K), value(K))).summed(K)
    known = [
        total,
        k.reduction(whole, sizes - dot(mean, mean)),
        k.total(sizes, -dot(mean, mean)),
        k.scaling(dot(mean, mean), -1),
        in_the_hull(k, row, lambda at: dot(value(at), value(at)), _BALL**2, given),
    ]
    return k.arithmetic(known, sp.Le(Tensor(dot(mean, mean)), _BALL**2, evaluate=False))


# -- one row changed ----------------------------------------------------------------------------------------------------


class _OneRowChanged:
    """``e^{-w} b_j <= a_j <= e^w b_j`` and ``(1 - w) b_j <= a_j``, where the differences of scores lie within w."""

    _inside = for_all(sp.Le(Tensor(_change(J)) - Tensor(_change(K)), WIDTH, evaluate=False), J, K)
    _a, _b = Tensor(_ROW.weight(I)), Tensor(_SECOND.weight(I))
    _claims = (
        sp.Le(sp.exp(-WIDTH) * _b, _a, evaluate=False),
        sp.Le(_a, sp.exp(WIDTH) * _b, evaluate=False),
        sp.Le((1 - WIDTH) * _b, _a, evaluate=False),
    )
    _letters = (QUERY, OTHER, KEYS, WIDTH)
    said = for_all(Implication(_inside, for_all(Conjunction(tuple(map(proposition, _claims))), I)), *_letters)

    def prove(self, k: Kernel) -> Proved:
        """``e^{s_l + t_i} <= e^w e^{s_i + t_l}`` for every l, summed over l: ``Z_a e^{t_i} <= e^w e^{s_i} Z_b``."""
        given = k.assume(self._inside)
        known = [_ROW.quotient(k, I), _SECOND.quotient(k, I)]
        top = sp.exp(WIDTH)
        for here, other in ((I, K), (K, I)):
            gap = k.instantiate(k.instantiate(given, other), here)
            split = [k.total(_ROW.score(at), -_SECOND.score(at)) for at in (I, K)]
            split += [k.scaling(_SECOND.score(at), -1) for at in (I, K)]
            low, high = _ROW.score(here) + _SECOND.score(other), _ROW.score(other) + _SECOND.score(here)
            sums = [k.total(_ROW.score(here), _SECOND.score(other)), k.total(_ROW.score(other), _SECOND.score(here))]
            apart = sp.Le(Tensor(high) - Tensor(low), WIDTH, evaluate=False)
            bound = _ratio(k, k.arithmetic([gap, *split, *sums], apart), low, high, WIDTH)
            left, right = _ROW.one(other) * _SECOND.one(here), _ROW.one(here) * _SECOND.one(other)
            same = [k.reduction(exponential(high), left), k.reduction(exponential(low), right)]
            said = sp.Le(Tensor(left), Tensor(right * top), evaluate=False)
            each = k.arithmetic([bound, *same, k.scaling(right, top)], said)
            total = k.summed(k.generalise(K, each))
            whole = (_ROW.whole * _SECOND.one(I), _SECOND.whole * _ROW.one(I))
            parts = [k.product(*pair) for pair in ((_ROW.whole, _SECOND.one(I)), (_SECOND.whole, _ROW.one(I)))]
            parts.append(k.scaling(whole[here == I], top))
            sides = [Tensor(_ROW.whole) * Tensor(_SECOND.one(I)), Tensor(_SECOND.whole) * Tensor(_ROW.one(I))]
            first, second = sides if here == I else reversed(sides)
            known.append(k.arithmetic([total, *parts], sp.Le(first, top * second, evaluate=False)))
        upper = k.arithmetic(known, self._claims[1])
        scaled = k.arithmetic(known, sp.Le(self._b, top * self._a, evaluate=False))
        inverse = k.identity(sp.exp(-WIDTH) * top, sp.Integer(1))
        lower = k.arithmetic([scaled, inverse], self._claims[0])
        tangent = k.arithmetic([], sp.Ge(sp.exp(-WIDTH), 1 - WIDTH, evaluate=False))
        last = k.arithmetic([lower, tangent, k.positive(_SECOND.weight(I))], self._claims[2])
        found = k.discharge(self._inside, k.generalise(I, k.conjunction(lower, upper, last)))
        for letter in reversed(self._letters):
            found = k.generalise(letter, found)
        return found


one_row_changed = _OneRowChanged()
