"""Steps of logic by connectives alone, with what each refuses; that they follow, the truth table of the kernel says.

Programs: what they give is proved by a rule that checks it, and they make no ``Proved`` themselves.
"""

from __future__ import annotations

from typing import Any

from eigentoken.theory.kernel.logic import tautology
from eigentoken.theory.kernel.propositions import (
    Conjunction,
    Disjunction,
    Equivalence,
    Implication,
    canonical,
    conjuncts,
    proposition,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused

__all__ = ["cases", "conjunction", "iff", "modus_ponens", "part"]


def modus_ponens(rule: Proved, given: Proved) -> Proved:
    """``P => Q`` (or ``P <=> Q``, either way) and ``P`` give ``Q``."""
    said = rule.proposition
    if not isinstance(said, Implication | Equivalence):
        raise Refused("modus ponens needs an implication or an equivalence first")
    if same(said.left, given.proposition):
        return tautology((rule, given), said.right, "modus_ponens")
    if isinstance(said, Equivalence) and same(said.right, given.proposition):
        return tautology((rule, given), said.left, "modus_ponens")
    raise Refused("what is given is not what the implication asks for")


def conjunction(*proved: Proved) -> Proved:
    """``P`` and ``Q`` give ``P and Q``."""
    return tautology(proved, Conjunction(tuple(each.proposition for each in proved)), "conjunction")


def part(proved: Proved, said: Any) -> Proved:
    """One conjunct, or several."""
    wanted = proposition(said)
    known = {canonical(each) for each in conjuncts(proved.proposition)}
    if any(canonical(each) not in known for each in conjuncts(wanted)):
        raise Refused("that is no part of the conjunction")
    return tautology((proved,), wanted, "part")


def cases(either: Proved, *branches: Proved) -> Proved:
    """``P or Q``, ``P => R`` and ``Q => R`` give ``R``: every case is there, and each branch proves the same."""
    if not isinstance(either.proposition, Disjunction) or not branches:
        raise Refused("a case distinction starts from a disjunction and has branches")
    if not all(isinstance(each.proposition, Implication) for each in branches):
        raise Refused("each branch is an implication from its case")
    results = {canonical(each.proposition.right) for each in branches}
    if len(results) != 1:
        raise Refused("the branches do not prove the same")
    covered = {canonical(each.proposition.left) for each in branches}
    missing = [each for each in either.proposition.parts if canonical(each) not in covered]
    if missing:
        raise Refused(f"{len(missing)} of {len(either.proposition.parts)} cases have no branch")
    return tautology((either, *branches), branches[0].proposition.right, "cases")


def iff(forth: Proved, back: Proved) -> Proved:
    """``P => Q`` and ``Q => P`` give ``P <=> Q``."""
    one, other = forth.proposition, back.proposition
    if not (isinstance(one, Implication) and isinstance(other, Implication)):
        raise Refused("an equivalence is made of two implications")
    if not (same(one.left, other.right) and same(one.right, other.left)):
        raise Refused("the second implication is not the converse of the first")
    return tautology((forth, back), Equivalence(one.left, one.right), "iff")
