"""The cascade of AB-T6.1 in the kernel: each token follows those before it to the top eigenvector, by induction over tokens."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.causal_heights import (
    CONSTANT,
    EIGEN,
    LOW,
    NEAR,
    SIDE,
    SIZE,
    TOP,
    U,
    above,
    across,
    below_one,
    earlier_near,
    height,
    heights_stay_positive,
    rises_after,
    rises_alone,
    unit_side,
)
from eigentoken.proofs.abella.causal_sums import LEAST, NORM, alone, token, unit
from eigentoken.proofs.abella.heights import at_time, every
from eigentoken.proofs.steps.causal_theorems import GAP, LATE, TIME, TRAPPED
from eigentoken.theory.calculus import Index, dot, vector
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before, sees
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    Negation,
    Proposition,
    conjuncts,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import InHemisphere
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import d

__all__ = ["consensus_at_top", "first_or_after", "follows"]

I, J, K = (Index("token", name) for name in "ijk")
SMALL = sp.Symbol("epsilon", positive=True)
#: A time from which on the earlier tokens are near v.
SINCE = sp.Symbol("T_0", nonnegative=True)
HIGH = 1 / (1 + SMALL)


def after(start: Any, time: Any = TIME) -> Proposition:
    return proposition(sp.Ge(time, start, evaluate=False))


def finally_(said: Proposition, late: sp.Symbol = LATE) -> Exists:
    """From some time on."""
    return Exists(late, TRUE, ForAll(TIME, after(late), said))


def at_least(at: Index, level: Any, time: Any = TIME) -> Proposition:
    """``b_i(t) >= level``."""
    return proposition(sp.Ge(Tensor(height(at), time), level, evaluate=False))


def follows(at: Index) -> ForAll:
    """``b_i -> 1``: for every epsilon > 0, ``b_i(t) >= 1 - epsilon`` from some time on."""
    return ForAll(SMALL, TRUE, finally_(at_least(at, 1 - SMALL)))


def first_or_after(kernel: Kernel, at: Index) -> Proved:
    """Some token comes before i, or i is the first."""
    some = Exists(K, before(K, at), TRUE)
    either = kernel.tautology((), Disjunction((some, Negation(some))))
    there = kernel.assume(before(J, at))
    found = kernel.witness(some, J, there, kernel.tautology((), TRUE))
    never = kernel.discharge(before(J, at), kernel.tautology([found, kernel.assume(Negation(some))], FALSE))
    first = kernel.arithmetic([never, kernel.causal_order(J, at)], sp.Eq(Tensor(sees(J, at)), 1, evaluate=False))
    none = kernel.discharge(Negation(some), kernel.generalise(J, first))
    return kernel.tautology([either, none], Disjunction((some, alone(at))))


def trapped(kernel: Kernel, at: Index, low: Any, slope: Any, start: Any, rises: Proved, higher: Proved) -> Proved:
    """``b_i(t) >= 1 - epsilon`` from some time on, where it rises between low and ``1/(1 + epsilon)`` and starts above low.

    ``rises``: for every ``t >= s``, between the levels the slope is at least m; ``higher``: ``b_i(s) > low``.
    """
    here = height(at)
    numbers = [
        kernel.arithmetic([], sp.Ge(start, 0, evaluate=False)),
        kernel.part(rises, rises.proposition.parts[0]),
        kernel.part(rises, rises.proposition.parts[1]),
    ]
    along = kernel.part(rises, rises.proposition.parts[2])
    either = kernel.textbook(TRAPPED, *numbers, along, f=here, low=low, high=HIGH, m=slope, s=start)
    goal = finally_(at_least(at, 1 - SMALL))
    stuck, reached = either.proposition.parts
    now = kernel.instantiate(kernel.assume(stuck), start, kernel.arithmetic([], sp.Ge(start, start, evaluate=False)))
    absurd = kernel.tautology([kernel.arithmetic([now, higher], FALSE)], goal)
    above_level = kernel.instantiate(kernel.assume(reached.body), TIME, kernel.assume(after(LATE)))
    close = kernel.arithmetic([above_level], at_least(at, 1 - SMALL))
    always = kernel.witness(goal, LATE, kernel.generalise(TIME, close, after(LATE)))
    arrives = kernel.exists_elimination(kernel.assume(reached), always)
    return kernel.by_cases(either, (stuck, absurd), (reached, arrives))


def between(at: Index, low: Any, time: Any = TIME) -> Conjunction:
    here = Tensor(height(at), time)
    return Conjunction(
        tuple(proposition(each) for each in (sp.Gt(here, low, evaluate=False), sp.Lt(here, HIGH, evaluate=False)))
    )


def with_numbers(kernel: Kernel, low: Any, slope: Any, along: Proved, *known: Proved) -> Proved:
    """``low < 1/(1 + epsilon)``, ``m > 0``, and what holds between the levels."""
    return kernel.conjunction(
        kernel.arithmetic(known, sp.Lt(low, HIGH, evaluate=False)),
        kernel.arithmetic(known, sp.Gt(slope, 0, evaluate=False)),
        along,
    )


#: How much room there is above the upper level, and the slope of a token that follows others.
ROOM = SMALL / (1 + SMALL)
AFTER_SLOPE = LEAST * TOP * ROOM / 2


def after_others(kernel: Kernel, at: Index, positive: Proved) -> Proved:
    """A token with others before it, where those follow, and all heights stay positive."""
    small = kernel.assume(Conjunction(tuple(map(proposition, (NEAR <= 1, CONSTANT * NEAR <= AFTER_SLOPE)))))
    sign = kernel.given(TOP > 0)
    close = kernel.assume(earlier_near(at))
    rate = rises_after(kernel, at, K)
    for letter in (proposition(sp.Gt(Tensor(height(at)), 0, evaluate=False)), close.proposition):
        rate = kernel.discharge(letter, rate)
    rate = at_time(kernel, rate, TIME)
    inside = kernel.assume(between(at, sp.Integer(0)))
    here = kernel.part(inside, inside.proposition.parts[0])
    near_now = kernel.assume(earlier_near(at, TIME))
    slope = kernel.modus_ponens(kernel.modus_ponens(rate, near_now), here)
    lhs = slope.proposition.word.relation.lhs
    fast = kernel.arithmetic([slope, inside, small, sign], sp.Ge(lhs, AFTER_SLOPE, evaluate=False))
    earlier = kernel.instantiate(kernel.assume(follows(J)), NEAR**2 / 2)
    each = kernel.generalise(
        J,
        kernel.supply(
            earlier,
            kernel.instantiate(kernel.assume(ForAll(J, before(J, at), follows(J))), J, kernel.assume(before(J, at))),
        ),
        before(J, at),
    )
    common = kernel.latest(each)
    renamed = kernel.part(common, finally_(earlier_near(at, TIME), SINCE))
    all_near = kernel.instantiate(kernel.assume(renamed.proposition.body), TIME, kernel.assume(after(SINCE)))
    fast = kernel.supply(fast, all_near)
    along = kernel.generalise(TIME, kernel.discharge(between(at, sp.Integer(0)), fast), after(SINCE))
    rises = with_numbers(kernel, sp.Integer(0), AFTER_SLOPE, along, sign)
    start = kernel.instantiate(
        kernel.instantiate(positive, SINCE, kernel.arithmetic([], sp.Ge(SINCE, 0, evaluate=False))), at
    )
    found = trapped(kernel, at, sp.Integer(0), AFTER_SLOPE, SINCE, rises, start)
    found = kernel.exists_elimination(renamed, found)
    found = kernel.exists_elimination(near_enough(kernel), found)
    return kernel.exists_elimination(kernel.assume(Exists(K, before(K, at), TRUE)), found)


def near_enough(kernel: Kernel) -> Proved:
    """There is ``rho > 0`` with ``rho <= 1`` and ``C rho <= m``."""
    said = Conjunction(tuple(map(proposition, (NEAR <= 1, CONSTANT * NEAR <= AFTER_SLOPE))))
    value = AFTER_SLOPE / (CONSTANT + AFTER_SLOPE)
    known = [kernel.given(TOP > 0), kernel.part(kernel.bounded_forms("U"), SIZE >= 0)]
    positive = kernel.arithmetic(known, sp.Gt(AFTER_SLOPE, 0, evaluate=False))
    facts = [proposition(sp.Gt(value, 0, evaluate=False)), *conjuncts(put(said, {NEAR: value}))]
    facts += [proposition(each) for each in where_defined(value)]
    proofs = [kernel.arithmetic([*known, positive], each) for each in facts]
    return kernel.witness(Exists(NEAR, TRUE, said), value, *proofs)


#: A level below every height at the start, and the slope of the first token above it.
BOTTOM = LOW / (2 * (1 + SMALL))
FIRST_SLOPE = GAP * BOTTOM * ROOM / sp.sqrt(d)


def of_the_first(kernel: Kernel, at: Index) -> Proved:
    """The first token, from ``b_i(0) >= c`` (and ``c <= 1``)."""
    rate = rises_alone(kernel, at)
    rate = kernel.discharge(sp.Gt(Tensor(height(at)), 0, evaluate=False), rate)
    rate = at_time(kernel, rate, TIME)
    inside = kernel.assume(between(at, BOTTOM))
    start = kernel.assume(at_least(at, LOW, sp.Integer(0)))
    here = kernel.arithmetic([inside], sp.Gt(Tensor(height(at), TIME), 0, evaluate=False))
    slope = kernel.modus_ponens(rate, here)
    value = Tensor(height(at), TIME)
    steep = kernel.arithmetic([inside], sp.Ge(value * (1 - value**2), BOTTOM * ROOM, evaluate=False))
    lhs = slope.proposition.word.relation.lhs
    fast = kernel.arithmetic([slope, steep], sp.Ge(lhs, FIRST_SLOPE, evaluate=False))
    along = kernel.generalise(TIME, kernel.discharge(inside.proposition, fast), after(sp.Integer(0)))
    most = at_time(kernel, kernel.part(below_one(kernel, at), sp.Le(Tensor(height(at)), 1, evaluate=False)), 0)
    rises = with_numbers(kernel, BOTTOM, FIRST_SLOPE, along, start, most)
    higher = kernel.arithmetic([start], sp.Gt(Tensor(height(at), sp.Integer(0)), BOTTOM, evaluate=False))
    found = trapped(kernel, at, BOTTOM, FIRST_SLOPE, sp.Integer(0), rises, higher)
    return kernel.exists_elimination(across(kernel), found)


def cascade(kernel: Kernel) -> Proved:
    """``b_i -> 1`` for every token, where all heights are positive at the start."""
    positive = heights_stay_positive(kernel)
    low = kernel.assume(every(at_least(I, LOW, sp.Integer(0)), I))
    first = kernel.supply(of_the_first(kernel, I), kernel.instantiate(low, I))
    later = after_others(kernel, I, positive)
    either = first_or_after(kernel, I)
    some, none = either.proposition.parts
    each = kernel.generalise(SMALL, kernel.by_cases(either, (some, later), (none, first)))
    step = kernel.discharge(ForAll(J, before(J, I), follows(J)), each)
    found = kernel.token_induction(kernel.generalise(I, step))
    found = kernel.exists_elimination(kernel.least(kernel.assume(above(sp.Integer(0))), LOW), found)
    return kernel.exists_elimination(kernel.settled(kernel.bounded_norm("P", NORM)), found)


def consensus_at_top(kernel: Kernel) -> Proved:
    """``Converges(ConsensusAt(U, 1))``: ``|x_i - v|^2 = 2 - 2 b_i``."""
    each = kernel.instantiate(kernel.instantiate(cascade(kernel), I), SMALL / 2)
    together = kernel.latest(kernel.generalise(I, each))
    now = kernel.instantiate(kernel.assume(together.proposition.body), TIME, kernel.assume(after(LATE)))
    apart = token(I) - vector(SIDE.name)
    length = dot(apart, apart)
    size = kernel.arithmetic(
        [kernel.factors(length), unit(kernel, I), unit_side(kernel)],
        sp.Eq(Tensor(length), 2 - 2 * Tensor(height(I)), evaluate=False),
    )
    known = [at_time(kernel, size, TIME), kernel.instantiate(now, I)]
    close = kernel.generalise(I, kernel.arithmetic(known, sp.Le(Tensor(length, TIME), SMALL, evaluate=False)))
    always = kernel.generalise(TIME, close, after(LATE))
    there = kernel.witness(Exists(LATE, TRUE, always.proposition), LATE, always)
    found = kernel.generalise(SMALL, kernel.exists_elimination(together, there))
    goes = kernel.meaning(Converges(ConsensusAt(U, 1)))
    some = kernel.witness(goes.proposition.right, SIDE, kernel.assume(EIGEN), found)
    plane = kernel.unfold(kernel.given(InHemisphere(U)))
    renamed = kernel.part(plane, Exists(SIDE, EIGEN, above(sp.Integer(0))))
    return kernel.modus_ponens(goes, kernel.exists_elimination(renamed, some))
