"""CERTIFIED for zero and stochastic matrices and for conditions on each head: exact arithmetic on one instance."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.numerics.instances.exact_values import Case, NoValue, relation_truth, zero
from eigentoken.numerics.instances.matrix_words import exact_heads
from eigentoken.numerics.readings.certified_conditions import verdict_of
from eigentoken.theory.language.matrix_words import EachHead, IsZero, Stochastic
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.verdicts import Verdict, all_of, undecided

__all__: list[str] = []


def _together(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


@CERTIFIED.register(IsZero)
def certified_is_zero(condition: IsZero, case: Case) -> Verdict:
    try:
        answers = [zero(entry) for entry in case.matrix(condition.term)]
    except NoValue as problem:
        return undecided(str(problem))
    return verdict_of(_together(answers), f"{condition.term} is zero")


@CERTIFIED.register(Stochastic)
def certified_stochastic(condition: Stochastic, case: Case) -> Verdict:
    def ask(value: Any) -> bool | None:
        sums = [sum(value.row(i)) - 1 for i in range(case.d)]
        sums += [sum(value.col(i)) - 1 for i in range(case.d)] if condition.doubly else []
        signs = [relation_truth(case, sp.Ge(entry, 0, evaluate=False)) for entry in value]
        return _together([*signs, *(zero(each) for each in sums)])

    said = f"{condition.term} is {'doubly' if condition.doubly else 'row'} stochastic"
    try:
        return verdict_of(ask(case.matrix(condition.term)), said)
    except NoValue as problem:
        return undecided(str(problem))


@CERTIFIED.register(EachHead)
def certified_each_head(condition: EachHead, case: Case) -> Verdict:
    return all_of({f"head {index}": CERTIFIED(condition.part, each) for index, each in enumerate(exact_heads(case), 1)})
