"""AB-T5.1 in the kernel: for almost every start each token follows those before it to the first one, by induction over tokens."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.causal_attraction import (
    NEAR,
    I,
    J,
    K,
    U,
    earlier_near,
    height,
    opposite,
    rises,
    small,
)
from eigentoken.proofs.abella.causal_cascade import after, finally_
from eigentoken.proofs.abella.causal_repulsion import CLOSE, TANGENT, pushed_apart, region, velocity
from eigentoken.proofs.abella.causal_sums import LEAST, NORM, alone, seen_terms, token, unit
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.abella.heights import X, at_time
from eigentoken.proofs.steps.causal_theorems import LATE, TIME, TRAPPED
from eigentoken.proofs.steps.equations import Z, at_every_token
from eigentoken.proofs.steps.fibre_theorems import PUSHED_APART
from eigentoken.theory.calculus import Index, delta, dot, one, vector
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
    ForAlmostEvery,
    Negation,
    Proposition,
    conjuncts,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import AtTime, Rate, Tensor
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d

__all__ = ["AT_FIRST", "STILL", "proof"]

SMALL, ROOM_LETTER = sp.symbols("epsilon eta", positive=True)
SINCE, THEN = sp.symbols("T_0 T_1", nonnegative=True)
HIGH = 1 / (1 + ROOM_LETTER)
#: How fast a height rises between the levels.
SLOPE = LEAST * (1 - HIGH) / 2


def at_least(at: Index, level: Any, time: Any = TIME) -> Proposition:
    return proposition(sp.Ge(Tensor(height(at), time), level, evaluate=False))


def follows(at: Index) -> ForAll:
    """``a_i -> 1``."""
    return ForAll(SMALL, TRUE, finally_(at_least(at, 1 - SMALL)))


def earlier_follow(at: Index) -> ForAll:
    return ForAll(J, before(J, at), follows(J))


def finally_near(kernel: Kernel, at: Index, late: sp.Symbol) -> Proved:
    """From some time on all tokens before i are within rho of the first."""
    earlier = kernel.instantiate(kernel.assume(earlier_follow(at)), J, kernel.assume(before(J, at)))
    each = kernel.generalise(J, kernel.instantiate(earlier, NEAR**2 / 2), before(J, at))
    return kernel.part(kernel.latest(each), finally_(earlier_near(at, TIME), late))


def some_number(kernel: Kernel, letter: sp.Symbol, said: Proposition, value: Any, *known: Proved) -> Proved:
    """There is a positive number with these properties: the value."""
    facts = [proposition(sp.Gt(value, 0, evaluate=False)), *conjuncts(put(said, {letter: value}))]
    facts += [proposition(each) for each in where_defined(value)]
    return kernel.witness(Exists(letter, TRUE, said), value, *(kernel.arithmetic(known, each) for each in facts))


# -- either near the first token or near its antipode ------------------------------------------------------------------


def either_end(kernel: Kernel, at: Index) -> Proved:
    """``a_i <= -1/(1 + eta)`` from some time on, or ``a_i >= 1/(1 + eta)``, where the earlier tokens follow."""
    enough = kernel.assume(Conjunction((small(), proposition(sp.Le(2 * NEAR, SLOPE, evaluate=False)))))
    here = Tensor(height(at), TIME)
    rate = at_time(kernel, kernel.discharge(earlier_near(at), rises(kernel, at)), TIME)
    slope = kernel.modus_ponens(rate, kernel.assume(earlier_near(at, TIME)))
    between = Conjunction(
        tuple(proposition(each) for each in (sp.Gt(here, -HIGH, evaluate=False), sp.Lt(here, HIGH, evaluate=False)))
    )
    steep = kernel.arithmetic([kernel.assume(between)], sp.Ge(1 - here**2, 1 - HIGH, evaluate=False))
    lhs = slope.proposition.word.relation.lhs
    fast = kernel.arithmetic([slope, steep, enough], sp.Ge(lhs, SLOPE, evaluate=False))
    some = finally_near(kernel, at, SINCE)
    all_near = kernel.instantiate(kernel.assume(some.proposition.body), TIME, kernel.assume(after(SINCE)))
    fast = kernel.supply(fast, all_near)
    along = kernel.generalise(TIME, kernel.discharge(between, fast), after(SINCE))
    numbers = [
        kernel.arithmetic([], sp.Ge(SINCE, 0, evaluate=False)),
        kernel.arithmetic([], sp.Lt(-HIGH, HIGH, evaluate=False)),
        kernel.arithmetic([], sp.Gt(SLOPE, 0, evaluate=False)),
    ]
    either = kernel.textbook(TRAPPED, *numbers, along, f=height(at), low=-HIGH, high=HIGH, m=SLOPE, s=SINCE)
    stuck, reached = either.proposition.parts
    low = finally_(proposition(sp.Le(here, -HIGH, evaluate=False)))
    goal = Disjunction((low, reached))
    renamed = kernel.part(kernel.assume(stuck), stuck)
    below = kernel.witness(low, SINCE, renamed)
    found = kernel.by_cases(
        either,
        (stuck, kernel.tautology([below], goal)),
        (reached, kernel.tautology([kernel.assume(reached)], goal)),
    )
    found = kernel.exists_elimination(some, found)
    value = SLOPE / (2 + 3 * SLOPE)
    known = kernel.arithmetic([], sp.Gt(SLOPE, 0, evaluate=False))
    return kernel.exists_elimination(some_number(kernel, NEAR, enough.proposition, value, known), found)


# -- the antipode is left by almost every start ------------------------------------------------------------------------

#: From some time on token i is near the antipode of the first token, and those before it near the first.
STAYS = finally_(put(region(), {X: AtTime(TIME)}))


def moves(kernel: Kernel) -> tuple[Proved, Proved]:
    """The velocity of every token, and that it is a unit vector."""
    z, at = vector(Z.name), Index("token", "a")
    rate = kernel.increment(dot(z, token(at)))
    relation = rate.proposition.word.relation
    written = kernel.reduction(relation.rhs.expression, dot(z, velocity(at)), kernel.given(IsIdentity(U)))
    found = kernel.arithmetic([rate, written], sp.Eq(relation.lhs, Tensor(dot(z, velocity(at))), evaluate=False))
    return at_every_token(kernel, found, at, Z), kernel.generalise(at, unit(kernel, at))


def almost_never_stays(kernel: Kernel) -> Proved:
    """For almost every start the trajectory does not stay in the region."""
    apart = kernel.generalise(X, kernel.generalise(Z, pushed_apart(kernel), TANGENT), region())
    return kernel.textbook(
        PUSHED_APART,
        kernel.given(d >= 2),
        kernel.arithmetic([], sp.Gt(LEAST / 6, 0, evaluate=False)),
        *moves(kernel),
        apart,
        f=velocity(I),
        i=I,
        R=region(),
        m=LEAST / 6,
    )


def follows_unless_it_stays(kernel: Kernel) -> Proved:
    """``a_i -> 1``, where the earlier tokens follow and the trajectory does not stay in the region."""
    never = kernel.assume(Negation(STAYS))
    goal = finally_(at_least(I, 1 - SMALL))
    bounds = kernel.assume(
        Conjunction(tuple(proposition(sp.Le(ROOM_LETTER, each, evaluate=False)) for each in (SMALL, NEAR**2 / 2)))
    )
    either = either_end(kernel, I)
    low, high = either.proposition.parts
    some = finally_near(kernel, I, THEN)
    late = kernel.assume(after(SINCE + THEN))
    first = kernel.part(
        kernel.assume(ForAll(TIME, after(SINCE), low.body.body)), ForAll(TIME, after(SINCE), low.body.body)
    )
    below = kernel.instantiate(first, TIME, kernel.arithmetic([late], after(SINCE)))
    near_now = kernel.instantiate(kernel.assume(some.proposition.body), TIME, kernel.arithmetic([late], after(THEN)))
    far = kernel.arithmetic([below, bounds], opposite(I, TIME))
    inside = kernel.generalise(TIME, kernel.conjunction(far, near_now), after(SINCE + THEN))
    stays = kernel.exists_elimination(some, kernel.witness(STAYS, SINCE + THEN, inside))
    named = finally_(low.body.body, SINCE)
    stays = kernel.exists_elimination(kernel.part(kernel.assume(low), named), stays)
    absurd = kernel.tautology([kernel.tautology([stays, never], FALSE)], goal)
    above = kernel.instantiate(kernel.assume(high.body), TIME, kernel.assume(after(LATE)))
    close = kernel.arithmetic([above, bounds], at_least(I, 1 - SMALL))
    always = kernel.witness(goal, LATE, kernel.generalise(TIME, close, after(LATE)))
    arrives = kernel.exists_elimination(kernel.assume(high), always)
    found = kernel.by_cases(either, (low, absurd), (high, arrives))
    value = SMALL * NEAR**2 / (2 * SMALL + NEAR**2)
    found = kernel.exists_elimination(some_number(kernel, ROOM_LETTER, bounds.proposition, value), found)
    return kernel.generalise(SMALL, found)


# -- induction over the tokens -----------------------------------------------------------------------------------------


def first_itself(kernel: Kernel) -> Proved:
    """``a_i = 1`` for the first token itself: it sees token i, and token i sees it."""
    back = kernel.assume(sp.Eq(Tensor(sees(K, I)), 1, evaluate=False))
    one_token, size = delta(I, K), dot(token(K), token(K))
    known = [
        back,
        kernel.instantiate(kernel.assume(alone(K)), I),
        kernel.same_token(I, K),
        kernel.product(one_token, height(I)),
        kernel.product(one_token, size),
        unit(kernel, K),
    ]
    equal = kernel.arithmetic(known, sp.Eq(Tensor(height(I)), 1, evaluate=False))
    now = kernel.arithmetic([at_time(kernel, equal, TIME)], at_least(I, 1 - SMALL))
    always = kernel.generalise(TIME, now, after(sp.Integer(0)))
    return kernel.generalise(SMALL, kernel.witness(finally_(at_least(I, 1 - SMALL)), sp.Integer(0), always))


def next_token(kernel: Kernel) -> Proved:
    """For almost every start token i follows, where each token before it does so for almost every start."""
    each = kernel.assume(ForAll(J, before(J, I), ForAlmostEvery(follows(J))))
    earlier = kernel.almost_every_token(each)
    goal = follows(I)
    both = Conjunction((earlier_follow(I), Negation(STAYS)))
    rule = kernel.discharge(both, follows_unless_it_stays(kernel))
    later = kernel.almost_everywhere([earlier, almost_never_stays(kernel), rule], goal)
    enough = Conjunction((small(), CLOSE))
    least = kernel.arithmetic([], sp.Gt(LEAST, 0, evaluate=False))
    some = some_number(kernel, NEAR, enough, LEAST / (36 * NORM + 3 * LEAST), least)
    later = kernel.exists_elimination(some, later)
    itself = kernel.almost_everywhere([earlier, kernel.discharge(earlier_follow(I), first_itself(kernel))], goal)
    order = kernel.causal_order(K, I)
    either = kernel.part(order, order.proposition.parts[0])
    found = kernel.by_cases(either, (either.proposition.parts[0], later), (either.proposition.parts[1], itself))
    return kernel.generalise(I, kernel.discharge(each.proposition, found))


def together(kernel: Kernel) -> Proved:
    """If every token follows the first one, all pairs come together: ``|x_i - x_j|^2 <= 4 (1 - a_i) + 4 (1 - a_j)``."""
    every = kernel.assume(ForAll(I, TRUE, follows(I)))
    each = kernel.generalise(I, kernel.instantiate(kernel.instantiate(every, I), SMALL / 8))
    common = kernel.latest(each)
    now = kernel.instantiate(kernel.assume(common.proposition.body), TIME, kernel.assume(after(LATE)))
    apart, middle = token(I) - token(J), token(I) + token(J) - token(K) * 2
    length = dot(apart, apart)
    known = [
        kernel.square(middle),
        kernel.factors(dot(middle, middle)),
        kernel.factors(length),
        *(unit(kernel, at) for at in (I, J, K)),
    ]
    bound = sp.Le(Tensor(length), 8 - 4 * Tensor(height(I)) - 4 * Tensor(height(J)), evaluate=False)
    wide = at_time(kernel, kernel.arithmetic(known, bound), TIME)
    close = kernel.arithmetic(
        [wide, kernel.instantiate(now, I), kernel.instantiate(now, J)],
        sp.Le(Tensor(length, TIME), SMALL, evaluate=False),
    )
    always = kernel.generalise(TIME, kernel.generalise(I, kernel.generalise(J, close)), after(LATE))
    there = kernel.witness(Exists(LATE, TRUE, always.proposition), LATE, always)
    found = kernel.generalise(SMALL, kernel.exists_elimination(common, there))
    goes = kernel.modus_ponens(kernel.meaning(Converges(ConsensusSet())), found)
    return kernel.discharge(every.proposition, goes)


#: For almost every start every token tends to the first one, which does not move.
AT_FIRST = ForAll(K, alone(K), ForAlmostEvery(ForAll(I, TRUE, follows(I))))
STILL = ForAll(K, alone(K), ForAll(Z, TRUE, proposition(sp.Eq(Rate(dot(vector(Z.name), token(K))), 0, evaluate=False))))


def still(kernel: Kernel) -> Proved:
    """The first token sees itself alone, and ``x_k - (x_k^T x_k) x_k = 0``."""
    z = vector(Z.name)
    part = dot(z, token(J)) - dot(token(K), token(J)) * dot(z, token(K))
    own_part = part.at((J, K))
    own = kernel.arithmetic([kernel.factors(own_part), unit(kernel, K)], sp.Eq(Tensor(own_part), 0, evaluate=False))
    first = kernel.instantiate(kernel.assume(alone(K)), J)
    never = kernel.arithmetic([first, kernel.assume(before(J, K))], sp.Eq(Tensor(part), 0, evaluate=False))
    total = kernel.summed(kernel.generalise(J, seen_terms(kernel, K, J, part, never, own, sp.Eq)))
    rate = kernel.increment(dot(z, token(K)))
    relation = rate.proposition.word.relation
    whole = (causal_weight(K, J) * part).summed(J)
    written = kernel.reduction(relation.rhs.expression, whole, kernel.given(IsIdentity(U)))
    found = kernel.arithmetic([rate, written, total, kernel.factors(one() * 0)], sp.Eq(relation.lhs, 0, evaluate=False))
    return kernel.generalise(K, kernel.generalise(Z, found), alone(K))


def at_first(kernel: Kernel) -> Proved:
    """By induction over the tokens: finitely many exceptional sets of measure zero."""
    every = kernel.almost_every_token(kernel.token_induction(next_token(kernel)))
    found = kernel.exists_elimination(kernel.settled(kernel.bounded_norm("P", NORM)), every)
    return kernel.generalise(K, found, alone(K))


def almost_every_start(kernel: Kernel, each: Proved) -> Proved:
    """``AlmostEveryConverges(ConsensusSet())``, from what holds for the first token."""
    every = kernel.instantiate(each, K, kernel.assume(alone(K)))
    found = kernel.almost_everywhere([every, together(kernel)], Converges(ConsensusSet()))
    found = kernel.exists_elimination(kernel.settled(kernel.first_token(K, J)), found)
    return kernel.modus_ponens(kernel.meaning(AlmostEveryConverges(ConsensusSet())), found)


def proof(kernel: Kernel) -> Proved:
    """The first token rests, the others follow, and pairs come together."""
    each = at_first(kernel)
    return kernel.conjunction(almost_every_start(kernel, each), still(kernel), each)
