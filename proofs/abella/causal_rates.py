"""Exponential stability of consensus at the top eigenvector in the causal flow, whatever the scores do in time (AB-T6.1).

``u_i = 1 - b_i^2``, ``b_i = v^T x_i``.  With weights ``|f_i|^2`` that fall by ``tau^2`` from token to token, the largest of
``|f_i|^2 u_i`` falls: where that of token i is the largest, the tokens j before it have ``u_j <= tau^2 u_i``, so that what they
add to the slope of ``b_i`` is at least ``-|U| tau u_i``, and the token itself adds at least ``alpha_ii g b_i u_i``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.causal_heights import (
    EIGEN,
    SIDE,
    SIZE,
    TOP,
    VALUE,
    U,
    below_one,
    form,
    height,
    heights_stay_positive,
    lifted,
    pull,
    slope_of_height,
    unit_side,
)
from eigentoken.proofs.abella.causal_sums import LEAST, NORM, SCORES, seen_terms, token, unit, weight_below
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.abella.heights import S, T, at_time, every, since, until
from eigentoken.proofs.steps.saddle_theorems import RAYLEIGH_SECOND
from eigentoken.proofs.steps.theorems import COMPARISON
from eigentoken.theory.calculus import Expression, Index, dot, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before, sees
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, d, n

__all__ = ["EXPONENTIAL", "exponentially_stable"]

I, J = (Index("token", name) for name in "ij")
#: The token for which it is the largest, any other, and the vectors whose squares are the weights.
HERE, OTHER, WEIGHTS = I, Index("token", "l"), VectorLetter("f")
#: By how much the weights fall (the ratio, and its root), the least of them, and a bound at the start.
RATIO, TAU, LOWEST, START = sp.symbols("r tau omega m", positive=True)
GAP = TOP - Eigenvalue(U, 2)
#: The rate ``e^{-2b} (lambda_1 - lambda_2)/(4 n sqrt(d))``.
RATE = LEAST * GAP / 4
HALF = sp.Rational(1, 2)
_V = vector(SIDE.name)
_MANY = proposition(sp.Ge(d, 2, evaluate=False))
#: ``4 n |U| e^{2b} tau <= lambda_1 - lambda_2``: what the earlier tokens add is small.
_SMALL = proposition(sp.Le(4 * n * SIZE * sp.exp(2 * NORM) * TAU, GAP, evaluate=False))


def weight(at: Index) -> Expression:
    """``|f_i|^2``."""
    return dot(vector(WEIGHTS.name, at), vector(WEIGHTS.name, at))


def gap(at: Index) -> Expression:
    """``u_i = 1 - b_i^2``."""
    return one() - height(at) ** 2


def weighted(at: Index) -> Expression:
    """``|f_i|^2 (1 - b_i^2)``."""
    return weight(at) - weight(at) * height(at) ** 2


def _weights(ratio: Any, least: Any) -> Proposition:
    """``omega <= |f_i|^2 <= 1``, and ``|f_i|^2 <= r |f_j|^2`` for j before i."""
    here, earlier = Tensor(weight(I)), Tensor(weight(J))
    within = (sp.Ge(here, least, evaluate=False), sp.Le(here, 1, evaluate=False))
    falls = ForAll(J, before(J, I), proposition(sp.Le(here, ratio * earlier, evaluate=False)))
    return ForAll(I, TRUE, Conjunction((*map(proposition, within), falls)))


def high(time: Any = None) -> Proposition:
    """All heights are above one half."""
    return every(sp.Gt(Tensor(height(I), time), HALF, evaluate=False), I)


def largest() -> Proposition:
    """``|f_j|^2 u_j <= |f_i|^2 u_i`` for every token j."""
    return every(sp.Le(Tensor(weighted(OTHER)), Tensor(weighted(HERE)), evaluate=False), OTHER)


def across(at: Index) -> Expression:
    """``x_i - b_i v``."""
    return token(at) - _V * height(at)


# -- the slope of a height ------------------------------------------------------------------------------------------------


def _of_weights(k: Kernel, at: Index, number: int) -> Proved:
    found = k.instantiate(k.assume(_weights(TAU**2, LOWEST)), at)
    return k.part(found, found.proposition.parts[number])


def _heights(k: Kernel, at: Index) -> list[Proved]:
    """``1/2 < b_i <= 1``."""
    return [k.instantiate(k.assume(high()), at), below_one(k, at)]


def _split(k: Kernel, at: Index, other: Index) -> Proved:
    """``x_i^T U x_j = lambda b_i b_j + (x_i - b_i v)^T U (x_j - b_j v)``, and ``|x_i - b_i v|^2 = 1 - b_i^2``."""
    bent = dot(across(at), across(other), VALUE)
    level = dot(across(at), across(at))
    eigen = [lifted(k, at), lifted(k, other), k.instantiate(k.part(k.assume(EIGEN), EIGEN.parts[0]), _V)]
    turned = k.reduction(dot(_V, token(other), VALUE), dot(token(other), _V, VALUE), k.given(Symmetric(U)))
    value = sp.Eq(
        Tensor(bent), Tensor(form(at, other)) - TOP * Tensor(height(at)) * Tensor(height(other)), evaluate=False
    )
    first = k.arithmetic([k.factors(bent), *eigen, turned, unit_side(k)], value)
    size = sp.Eq(Tensor(level), 1 - Tensor(height(at)) ** 2, evaluate=False)
    return k.conjunction(first, k.arithmetic([k.factors(level), unit(k, at), unit_side(k)], size))


def _early(k: Kernel, part: Expression) -> Proved:
    """``e_ij + |U| tau u_i >= 0`` for j before i, where ``|f_i|^2 u_i`` is the largest."""
    one_token = k.assume(before(J, HERE))
    falls = k.instantiate(_of_weights(k, HERE, 2), J, one_token)
    most = k.instantiate(k.assume(largest()), J)
    here, there = Tensor(height(HERE)), Tensor(height(J))
    sizes = [_of_weights(k, J, 0), *_heights(k, HERE), *_heights(k, J)]
    sums = [k.factors(weighted(HERE)), k.factors(weighted(J))]
    closer = k.arithmetic([falls, most, *sums, *sizes], sp.Le(1 - there**2, TAU**2 * (1 - here**2), evaluate=False))
    known = k.bounded_forms("U")
    bound = k.part(known, known.proposition.parts[0])
    bent = k.instantiate(k.instantiate(bound, across(HERE)), across(J))
    both = [_split(k, HERE, J), _split(k, J, HERE)]
    sign = k.part(known, SIZE >= 0)
    push = Tensor(dot(across(HERE), across(J), VALUE))
    squared = k.arithmetic(
        [bent, *both, closer, sign, *sizes], sp.Le(push**2, (SIZE * TAU * (1 - here**2)) ** 2, evaluate=False)
    )
    small = k.arithmetic([squared, sign, *_heights(k, HERE)], sp.Le(push, SIZE * TAU * (1 - here**2), evaluate=False))
    known_ = [small, both[0], lifted(k, J), k.factors(part), sign, k.given(TOP > 0), *sizes]
    return k.arithmetic(known_, sp.Ge(Tensor(part), 0, evaluate=False))


def _own(k: Kernel, part: Expression) -> Proved:
    """``e_ii + |U| tau u_i >= g b_i u_i``, g the distance of the first two eigenvalues."""
    here = Tensor(height(HERE))
    split = _split(k, HERE, HERE)
    level = dot(_V, across(HERE))
    flat = k.arithmetic([k.factors(level), unit_side(k)], sp.Eq(Tensor(level), 0, evaluate=False))
    eigen = k.part(k.assume(EIGEN), EIGEN.parts[0])
    given = (k.given(Symmetric(U)), k.assume(_MANY), eigen, unit_side(k), flat)
    second = k.textbook(RAYLEIGH_SECOND, *given, A=U, v=_V, z=across(HERE))
    sign = k.part(k.bounded_forms("U"), SIZE >= 0)
    known = [second, split, lifted(k, HERE), k.factors(part), sign, *_heights(k, HERE)]
    return k.arithmetic(known, sp.Ge(Tensor(part), GAP * here * (1 - here**2), evaluate=False))


def _gap_is_positive(k: Kernel) -> Proved:
    """``lambda_2 < lambda_1``."""
    simple = k.unfold(k.given(SimpleTop(U)))
    return k.arithmetic([k.at(simple, sp.Integer(2), k.assume(_MANY))], sp.Gt(GAP, 0, evaluate=False))


def rises(k: Kernel) -> Proved:
    """``b_i' >= (a g/4) u_i`` for the token for which ``|f_i|^2 u_i`` is the largest, a the least weight of attention."""
    rest = gap(HERE) * (SIZE * TAU)
    part = pull(HERE, J) + rest
    own_part = part.at((J, HERE))
    own = _own(k, own_part)
    positive, here = _gap_is_positive(k), Tensor(height(HERE))
    nonnegative = k.arithmetic([own, positive, *_heights(k, HERE)], sp.Ge(Tensor(own_part), 0, evaluate=False))
    terms = seen_terms(k, HERE, J, part, _early(k, part), nonnegative)
    total = k.summand(k.generalise(J, terms), HERE)
    itself = k.arithmetic([k.causal_order(HERE, HERE)], sp.Eq(Tensor(sees(HERE, HERE)), 1, evaluate=False))
    least = k.supply(weight_below(k, HERE, HERE), itself)
    term = causal_weight(HERE, HERE) * own_part
    single = k.arithmetic(
        [k.product(causal_weight(HERE, HERE), own_part), least, own, positive, *_heights(k, HERE)],
        sp.Ge(Tensor(term), LEAST * GAP * here * (1 - here**2), evaluate=False),
    )
    slope = slope_of_height(k, HERE, J, part, rest)
    rate = slope.proposition.word.relation.lhs
    small = k.assume(_SMALL)
    lost = k.arithmetic([small], sp.Le(SIZE * TAU / sp.sqrt(d), RATE, evaluate=False))
    known = [slope, total, single, k.factors(rest), lost, positive, *_heights(k, HERE)]
    return k.arithmetic(known, sp.Ge(rate, RATE * (1 - here**2), evaluate=False))


# -- the largest falls, and the heights stay ------------------------------------------------------------------------------


def falls(k: Kernel) -> Proved:
    """``(|f_i|^2 u_i)' <= -(a g/4) |f_i|^2 u_i`` where that is the largest, at every state with all heights above one half."""
    here, size = Tensor(height(HERE)), Tensor(weight(HERE))
    slope = rises(k)
    moved, rate = k.increment(height(HERE)), k.increment(weighted(HERE))
    velocity = moved.proposition.word.relation.rhs.expression
    product = weight(HERE) * height(HERE) * -2
    written = k.reduction(rate.proposition.word.relation.rhs.expression, product * velocity)
    parts = [k.product(product, velocity), k.factors(product), k.factors(weighted(HERE))]
    signs = [_of_weights(k, HERE, 0), _gap_is_positive(k), *_heights(k, HERE)]
    lhs = rate.proposition.word.relation.lhs
    exact = k.arithmetic(
        [rate, written, *parts[:2], moved], sp.Eq(lhs, -2 * size * here * _rate(slope), evaluate=False)
    )
    steep = k.arithmetic([slope, *signs], sp.Ge(here * _rate(slope), RATE * (1 - here**2) / 2, evaluate=False))
    bound = sp.Le(lhs, -RATE * Tensor(weighted(HERE)), evaluate=False)
    return k.arithmetic([exact, steep, parts[2], signs[0]], bound)


def _rate(slope: Proved) -> Any:
    return slope.proposition.word.relation.lhs


def compared(k: Kernel) -> Proved:
    """While all heights were above one half: ``|f_i|^2 u_i(t) <= C e^{-kappa t}`` for every bound C of them at the start."""
    slopes = k.generalise(HERE, k.discharge(largest(), falls(k)))
    along = k.generalise(T, at_time(k, k.discharge(high(), slopes)), since())
    return k.textbook(COMPARISON, along, f=weighted(J), kappa=RATE, region=high())


def distance(at: Index) -> Expression:
    """``|x_i - v|^2``."""
    return dot(token(at) - _V, token(at) - _V)


def near(bound: Any, time: Any) -> Proposition:
    """``|x_i(t) - v|^2`` is at most the bound, for every token."""
    return every(sp.Le(Tensor(distance(I), time), bound, evaluate=False), I)


def _distance(k: Kernel, time: Any) -> Proved:
    """``|x_i - v|^2 = 2 - 2 b_i``, at a time."""
    size = sp.Eq(Tensor(distance(I)), 2 - 2 * Tensor(height(I)), evaluate=False)
    return at_time(k, k.arithmetic([k.factors(distance(I)), unit(k, I), unit_side(k)], size), time)


_ROOM = proposition(sp.Le(START, LOWEST / 2, evaluate=False))


def _bounded(k: Kernel, held: Proved) -> Proved:
    """``omega u_i(t) <= m e^{-kappa t}`` for every token, where all heights were above one half before t."""
    now = k.modus_ponens(k.instantiate(compared(k), T, k.assume(since())), held)
    close = k.instantiate(k.assume(near(START, sp.Integer(0))), I)
    first, weights = sp.Integer(0), [_of_weights(k, I, number) for number in (0, 1)]
    start = Tensor(height(I), first)
    sum_at = [at_time(k, k.factors(weighted(I)), time) for time in (first, T)]
    most = [at_time(k, below_one(k, I), time) for time in (first, T)]
    below = k.arithmetic([_distance(k, first), close, most[0]], sp.Le(1 - start**2, START, evaluate=False))
    at_start = k.arithmetic(
        [below, *weights, sum_at[0], most[0]], sp.Le(Tensor(weighted(I), first), START, evaluate=False)
    )
    found = k.modus_ponens(k.instantiate(now, START), k.generalise(I, at_start))
    later = Tensor(height(I), T)
    return k.arithmetic(
        [k.instantiate(found, I), sum_at[1], *weights, most[1]],
        sp.Le(LOWEST * (1 - later**2), START * sp.exp(-RATE * T), evaluate=False),
    )


def _stay_high(k: Kernel) -> Proved:
    """All heights stay above one half: first exit."""
    first = sp.Integer(0)
    close = k.instantiate(k.assume(near(START, first)), I)
    small = [k.assume(_ROOM), _of_weights(k, I, 0), _of_weights(k, I, 1)]
    high_at_start = k.arithmetic(
        [_distance(k, first), close, *small], sp.Gt(Tensor(height(I), first), HALF, evaluate=False)
    )
    above_start = k.arithmetic([high_at_start], sp.Gt(Tensor(height(I), first), 0, evaluate=False))
    positive = k.supply(heights_stay_positive(k), k.generalise(I, above_start))
    held = k.assume(ForAll(S, until(T), high(S)))
    here = k.instantiate(k.instantiate(positive, T, k.assume(since())), I)
    decays = k.arithmetic([k.assume(since()), _gap_is_positive(k)], sp.Le(sp.exp(-RATE * T), 1, evaluate=False))
    later = Tensor(height(I), T)
    squared = k.arithmetic([_bounded(k, held), decays, *small], sp.Le(1 - later**2, HALF, evaluate=False))
    stays = k.arithmetic([squared, here], sp.Gt(later, HALF, evaluate=False))
    step = k.discharge(held.proposition, k.generalise(I, stays))
    return k.first_exit(k.generalise(I, high_at_start), k.generalise(T, step, since()))


def _decays(k: Kernel, always: Proved) -> Proved:
    """``|x_i(t) - v|^2 <= (2 m/omega) e^{-kappa t}``."""
    sooner = k.instantiate(always, S, k.assume(sp.Ge(S, 0, evaluate=False)))
    bound = _bounded(k, k.generalise(S, sooner, until(T)))
    here = k.instantiate(k.instantiate(always, T, k.assume(since())), I)
    most = at_time(k, below_one(k, I), T)
    later = Tensor(height(I), T)
    twice = k.arithmetic(
        [bound, here, most], sp.Le(2 * LOWEST * (1 - later), 2 * START * sp.exp(-RATE * T), evaluate=False)
    )
    close = k.arithmetic(
        [twice, _distance(k, T)], sp.Le(Tensor(distance(I), T), 2 * START / LOWEST * sp.exp(-RATE * T), evaluate=False)
    )
    return k.generalise(T, k.generalise(I, close), since())


# -- with numbers ---------------------------------------------------------------------------------------------------------

_LEAST_WEIGHT = TAU ** (2 * n)
_DECAYS = ForAll(
    T,
    since(),
    near(2 * START / _LEAST_WEIGHT * sp.exp(-RATE * T), T),
)
_NEAR_ENOUGH = proposition(sp.Le(START, _LEAST_WEIGHT / 2, evaluate=False))
_FALLING = Conjunction((proposition(sp.Le(TAU, 1, evaluate=False)), _SMALL))
_BOUNDED = proposition(SCORES <= NORM)
#: From a start with ``|x_i - v|^2 <= m <= tau^{2n}/2`` for every token: ``|x_i(t) - v|^2 <= 2 m tau^{-2n} e^{-kappa t}``.
EXPONENTIAL = Implication(
    _MANY,
    ForAll(
        SIDE,
        EIGEN,
        ForAll(
            NORM,
            _BOUNDED,
            ForAll(
                TAU,
                _FALLING,
                ForAll(START, _NEAR_ENOUGH, Implication(near(START, sp.Integer(0)), _DECAYS)),
            ),
        ),
    ),
)


def _some_weights(k: Kernel) -> Proved:
    """There are weights that fall by ``tau^2`` from token to token, the least of them ``tau^{2n}``."""
    small = proposition(sp.Le(RATIO, 1, evaluate=False))
    found = k.generalise(RATIO, k.discharge(small, k.falling_weights(RATIO, WEIGHTS.name)))
    squared = k.arithmetic([k.assume(_FALLING.parts[0])], sp.Le(TAU**2, 1, evaluate=False))
    return k.modus_ponens(k.instantiate(found, TAU**2), squared)


def exponentially_stable(k: Kernel) -> Proved:
    """A proof of :data:`EXPONENTIAL`."""
    found = k.discharge(_ROOM, _decays(k, _stay_high(k)))
    found = k.generalise(LOWEST, k.discharge(_weights(TAU**2, LOWEST), found))
    found = k.modus_ponens(k.instantiate(found, _LEAST_WEIGHT), k.assume(_weights(TAU**2, _LEAST_WEIGHT)))
    found = k.modus_ponens(found, k.assume(_NEAR_ENOUGH))
    found = k.exists_elimination(_some_weights(k), found)
    found = k.discharge(near(START, sp.Integer(0)), found)
    for letter, guard in ((START, _NEAR_ENOUGH), (TAU, _FALLING), (NORM, _BOUNDED), (SIDE, EIGEN)):
        found = k.generalise(letter, found, guard)
    return k.discharge(_MANY, found)
