"""AB-R4.2 in the kernel: from Wendel's recursion, l tokens almost surely lie in one open hemisphere exactly when ``l <= d``."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.steps.probability_theorems import COUNT, SIZE, WENDEL, counts
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    FALSE,
    Conjunction,
    Disjunction,
    Equivalence,
    ForAll,
    Proposition,
    conjuncts,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.terms import HemisphereShare

__all__ = ["RECURSION", "THRESHOLD", "proof"]

RECURSION = counts()
_P = HemisphereShare(COUNT, SIZE)


def _ge(left: Any, right: Any) -> Proposition:
    return proposition(sp.Ge(left, right, evaluate=False))


def _lt(left: Any, right: Any) -> Proposition:
    return proposition(sp.Lt(left, right, evaluate=False))


def _sure(count: Any) -> ForAll:
    """``P_{l,m} = 1`` for every m >= l."""
    return ForAll(SIZE, _ge(SIZE, count), proposition(sp.Eq(HemisphereShare(count, SIZE), 1, evaluate=False)))


def _fewer(count: Any) -> ForAll:
    """``P_{l,m} < 1`` for every m with 1 <= m < l."""
    return ForAll(SIZE, Conjunction((_ge(SIZE, 1), _lt(SIZE, count))), _lt(HemisphereShare(count, SIZE), 1))


#: The probability is one exactly when there are at most as many tokens as dimensions.
THRESHOLD = ForAll(
    COUNT,
    _ge(COUNT, 1),
    ForAll(
        SIZE,
        _ge(SIZE, 1),
        Equivalence(proposition(sp.Eq(_P, 1, evaluate=False)), proposition(sp.Le(COUNT, SIZE, evaluate=False))),
    ),
)


def law(kernel: Kernel) -> tuple[Proved, ...]:
    """One token; two more dimensions or one; and that it is a probability."""
    whole = kernel.textbook(WENDEL)
    return tuple(kernel.part(whole, each) for each in whole.proposition.parts)


def sure(kernel: Kernel) -> Proved:
    """``P_{l,m} = 1`` for ``l <= m``, by induction on l."""
    first, step, _, _ = law(kernel)
    positive = kernel.assume(_ge(SIZE, 1))
    base = kernel.generalise(SIZE, kernel.instantiate(first, SIZE, positive), _ge(SIZE, 1))
    before, count = kernel.assume(_sure(COUNT)), kernel.assume(_ge(COUNT, 1))
    wide = kernel.assume(_ge(SIZE, COUNT + 1))
    known = [
        kernel.at(before, SIZE, wide, count),
        kernel.at(before, SIZE - 1, wide, count),
        kernel.at(kernel.at(step, COUNT, count), SIZE, wide, count),
    ]
    now = kernel.arithmetic(known, sp.Eq(HemisphereShare(COUNT + 1, SIZE), 1, evaluate=False))
    following = kernel.discharge(before.proposition, kernel.generalise(SIZE, now, _ge(SIZE, COUNT + 1)))
    return kernel.induction(COUNT, base, kernel.generalise(COUNT, following, _ge(COUNT, 1)), 1)


def fewer(kernel: Kernel) -> Proved:
    """``P_{l,m} < 1`` for ``1 <= m < l``, by induction on l."""
    _, step, line, chance = law(kernel)
    none = _fewer(sp.Integer(1))
    absurd = kernel.integers([kernel.assume(none.guard)], FALSE)
    base = kernel.generalise(SIZE, kernel.tautology([absurd], none.body), none.guard)
    before, count = kernel.assume(_fewer(COUNT)), kernel.assume(_ge(COUNT, 1))
    wanted = _fewer(COUNT + 1)
    inside = kernel.assume(wanted.guard)
    either = kernel.integers([inside], sp.Or(sp.Eq(SIZE, 1), sp.Ge(SIZE, 2)))
    one, more = either.proposition.parts
    flat = kernel.assume(one)
    alike = kernel.equal_indices(flat, HemisphereShare(COUNT + 1, SIZE))
    unit = kernel.arithmetic([], sp.Ge(sp.Integer(1), 1, evaluate=False))
    most = kernel.instantiate(kernel.instantiate(chance, COUNT, count), sp.Integer(1), unit)
    narrow = kernel.arithmetic([alike, kernel.instantiate(line, COUNT, count), most], wanted.body)
    larger = kernel.assume(more)
    within = [kernel.part(inside, each) for each in conjuncts(wanted.guard)]
    known = [
        kernel.at(before, SIZE - 1, *within, larger),
        kernel.at(kernel.at(chance, COUNT, count), SIZE, larger),
        kernel.at(kernel.at(step, COUNT, count), SIZE, larger),
    ]
    wide = kernel.arithmetic(known, wanted.body)
    now = kernel.generalise(SIZE, kernel.by_cases(either, (one, narrow), (more, wide)), wanted.guard)
    following = kernel.generalise(COUNT, kernel.discharge(before.proposition, now), _ge(COUNT, 1))
    return kernel.induction(COUNT, base, following, 1)


def threshold(kernel: Kernel) -> Proved:
    """Both inductions."""
    count, size = kernel.assume(_ge(COUNT, 1)), kernel.assume(_ge(SIZE, 1))
    few, many = (proposition(each) for each in (sp.Le(COUNT, SIZE, evaluate=False), sp.Gt(COUNT, SIZE, evaluate=False)))
    yes = kernel.at(kernel.instantiate(sure(kernel), COUNT, count), SIZE, kernel.assume(few))
    no = kernel.at(kernel.instantiate(fewer(kernel), COUNT, count), SIZE, kernel.assume(many), size)
    wanted = THRESHOLD.body.body
    either = kernel.integers([], Disjunction((few, many)))
    holds = kernel.tautology([yes, kernel.assume(few)], wanted)
    fails = kernel.arithmetic([no, kernel.assume(many)], wanted)
    found = kernel.by_cases(either, (few, holds), (many, fails))
    return kernel.generalise(COUNT, kernel.generalise(SIZE, found, size.proposition), count.proposition)


def proof(kernel: Kernel) -> Proved:
    """The recursion, and the threshold by induction."""
    return kernel.conjunction(kernel.textbook(WENDEL), kernel.settled(threshold(kernel)))
