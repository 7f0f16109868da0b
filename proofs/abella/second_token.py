"""The second token of the causal flow with ``U = I`` in the kernel (AB-L5.1): the first one, which does not move, attracts it."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.causal_almost_every import STILL, at_least, follows, still
from eigentoken.proofs.abella.causal_attraction import I, J, K, below_one, height, pull, sees_first, slope_of_height
from eigentoken.proofs.abella.causal_cascade import after, finally_
from eigentoken.proofs.abella.causal_sums import LEAST, NORM, alone, seen_terms, unit, weight_below
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.abella.heights import at_time
from eigentoken.proofs.steps.causal_theorems import LATE, TIME, TRAPPED
from eigentoken.theory.calculus import delta, one, zero
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before, sees
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    Conjunction,
    Exists,
    ForAll,
    Implication,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor

__all__ = ["ATTRACTED", "RICCATI", "STILL", "proof"]

SMALL, START = sp.symbols("epsilon c", positive=True)
HERE = Tensor(height(I))
#: Token i comes after k, and every token before it is seen by k: it is the second one.
SECOND = Conjunction((before(K, I), ForAll(J, before(J, I), proposition(sp.Eq(Tensor(sees(K, J)), 1, evaluate=False)))))
_EQUATION = sp.Eq(Rate(height(I)), Tensor(causal_weight(I, K)) * (1 - HERE**2), evaluate=False)


def _of_the_second(said: Any) -> ForAll:
    """For the first token k and the second token i."""
    return ForAll(K, alone(K), ForAll(I, SECOND, proposition(said)))


#: ``a' = alpha_ik (1 - a^2)`` for ``a = x_k^T x_i``.
RICCATI = _of_the_second(_EQUATION)
_STARTS = proposition(sp.Gt(Tensor(height(I), sp.Integer(0)), -1, evaluate=False))
#: From every start but the antipode the second token tends to the first.
ATTRACTED = _of_the_second(Implication(_STARTS, follows(I)))


def riccati(kernel: Kernel) -> Proved:
    """The only other summand is that of the first token."""
    rest = (one() - height(I) * height(I)) * delta(K, J)
    part = pull(I, J) - rest
    second = kernel.assume(SECOND)
    later, others = (kernel.part(second, each) for each in SECOND.parts)
    known = [kernel.same_token(K, J), kernel.instantiate(kernel.assume(alone(K)), J)]
    only = kernel.instantiate(others, J, kernel.assume(before(J, I)))
    same = [kernel.product(delta(K, J), pull(I, J)), kernel.product(delta(K, J), pull(I, K))]
    written = [kernel.factors(pull(I, K)), unit(kernel, K), kernel.factors(rest), kernel.factors(one())]
    split = [kernel.total(pull(I, J), rest * -1), kernel.scaling(rest, -1)]
    early = kernel.arithmetic([*known, only, *same, *written, *split], sp.Eq(Tensor(part), 0, evaluate=False))
    own_part = part.at((J, I))
    own = kernel.arithmetic(
        [kernel.factors(own_part), unit(kernel, I), kernel.same_token(K, I), later],
        sp.Eq(Tensor(own_part), 0, evaluate=False),
    )
    total = kernel.summed(kernel.generalise(J, seen_terms(kernel, I, J, part, early, own, sp.Eq)))
    slope = slope_of_height(kernel, I, zero())
    gained = causal_weight(I, K) * (one() - height(I) * height(I))
    whole = (causal_weight(I, J) * part).summed(J)
    moved = (causal_weight(I, J) * pull(I, J)).summed(J)
    again = kernel.reduction(moved, whole + gained)
    pieces = [
        kernel.total(whole, gained),
        kernel.product(causal_weight(I, K), one() - height(I) * height(I)),
        kernel.factors(one() - height(I) * height(I)),
        kernel.factors(one()),
        kernel.factors(zero()),
    ]
    return kernel.arithmetic([slope, total, again, *pieces], _EQUATION)


HIGH, LOW = 1 / (1 + SMALL), -1 + START
SLOPE = LEAST * START * (1 - HIGH)


def attracted(kernel: Kernel) -> Proved:
    """The height rises between every level above -1 and every level below 1."""
    here = Tensor(height(I), TIME)
    weight = kernel.supply(weight_below(kernel, I, K), sees_first(kernel, I))
    known = [riccati(kernel), weight, below_one(kernel, I)]
    rate = kernel.arithmetic(known, sp.Ge(Rate(height(I)), LEAST * (1 - HERE**2), evaluate=False))
    now = at_time(kernel, rate, TIME)
    start = kernel.assume(sp.Ge(Tensor(height(I), sp.Integer(0)), -1 + 2 * START, evaluate=False))
    between = kernel.assume(
        Conjunction(
            tuple(proposition(each) for each in (sp.Gt(here, LOW, evaluate=False), sp.Lt(here, HIGH, evaluate=False)))
        )
    )
    most = at_time(kernel, kernel.part(below_one(kernel, I), sp.Le(HERE, 1, evaluate=False)), 0)
    room = kernel.arithmetic([start, most], sp.Le(START, 1, evaluate=False))
    steep = kernel.arithmetic([between, room], sp.Ge(1 - here**2, START * (1 - HIGH), evaluate=False))
    lhs = now.proposition.word.relation.lhs
    fast = kernel.arithmetic([now, steep], sp.Ge(lhs, SLOPE, evaluate=False))
    along = kernel.generalise(TIME, kernel.discharge(between.proposition, fast), after(sp.Integer(0)))
    numbers = [
        kernel.arithmetic([], sp.Ge(sp.Integer(0), 0, evaluate=False)),
        kernel.arithmetic([room], sp.Lt(LOW, HIGH, evaluate=False)),
        kernel.arithmetic([], sp.Gt(SLOPE, 0, evaluate=False)),
    ]
    either = kernel.textbook(TRAPPED, *numbers, along, f=height(I), low=LOW, high=HIGH, m=SLOPE, s=sp.Integer(0))
    stuck, reached = either.proposition.parts
    goal = finally_(at_least(I, 1 - SMALL))
    first = kernel.instantiate(
        kernel.assume(stuck), sp.Integer(0), kernel.arithmetic([], sp.Ge(sp.Integer(0), 0, evaluate=False))
    )
    absurd = kernel.tautology([kernel.arithmetic([first, start], FALSE)], goal)
    above = kernel.instantiate(kernel.assume(reached.body), TIME, kernel.assume(after(LATE)))
    close = kernel.arithmetic([above], at_least(I, 1 - SMALL))
    always = kernel.witness(goal, LATE, kernel.generalise(TIME, close, after(LATE)))
    arrives = kernel.exists_elimination(kernel.assume(reached), always)
    found = kernel.generalise(SMALL, kernel.by_cases(either, (stuck, absurd), (reached, arrives)))
    return kernel.exists_elimination(some_start(kernel), found)


def some_start(kernel: Kernel) -> Proved:
    """There is c > 0 with ``a(0) >= -1 + 2c``."""
    begins, value = kernel.assume(_STARTS), Tensor(height(I), sp.Integer(0))
    half = (1 + value) / 2
    said = Exists(START, TRUE, proposition(sp.Ge(value, -1 + 2 * START, evaluate=False)))
    facts = [sp.Gt(half, 0, evaluate=False), sp.Ge(value, -1 + 2 * half, evaluate=False)]
    return kernel.witness(said, half, *(kernel.arithmetic([begins], each) for each in facts))


def proof(kernel: Kernel) -> Proved:
    """The first token rests, the height of the second follows a Riccati equation, and tends to one."""
    goes = kernel.exists_elimination(kernel.settled(kernel.bounded_norm("P", NORM)), attracted(kernel))
    both = (riccati(kernel), kernel.discharge(_STARTS, goes))
    second = (kernel.generalise(K, kernel.generalise(I, each, SECOND), alone(K)) for each in both)
    return kernel.conjunction(still(kernel), *second)
