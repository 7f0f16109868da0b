"""Textbook theorems for tokens that follow earlier ones: what they ask for, and what they refuse to be applied to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.steps.causal_theorems import LATE, RAYLEIGH_GAP, TIME, TRAPPED
from eigentoken.theory.calculus import Index, Letter, dot, exponential, one, vector
from eigentoken.theory.kernel.books import textbook
from eigentoken.theory.kernel.logic import assume
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.systems.catalogue import system

FLOW = system("causal-flow")
I = Index("token", "i")
HEIGHT = dot(vector("v"), vector("x", I))
LEVELS = {"f": HEIGHT, "low": sp.Integer(0), "high": sp.Rational(1, 2), "m": sp.Integer(1), "s": sp.Integer(0)}


def trapped(about: Any = FLOW, without: int | None = None, **other: Any) -> Proved:
    """The theorem with its hypotheses assumed, or all but one."""
    objects = {**LEVELS, **other}
    needed, _ = TRAPPED.of(**objects)
    given = [assume(each, about) for number, each in enumerate(needed) if number != without]
    return textbook(TRAPPED, tuple(given), about, **objects)


def test_a_quantity_that_rises_between_two_levels_stays_below_or_arrives() -> None:
    below, above = trapped().proposition.parts
    assert (below.letter, above.letter) == (TIME, LATE)
    assert below.body.word.relation == sp.Le(Tensor(HEIGHT, TIME), 0, evaluate=False)
    assert above.body.body.word.relation == sp.Ge(Tensor(HEIGHT, TIME), sp.Rational(1, 2), evaluate=False)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a quantity that is no polynomial": (lambda: trapped(f=exponential(HEIGHT)), "no polynomial"),
    "a quotient": (lambda: trapped(f=one() / HEIGHT), "no polynomial"),
    "a matrix, which may depend on time": (
        lambda: trapped(f=dot(vector("v"), vector("x", I), (Letter("P"),))),
        "no poly",
    ),
    "a vector": (lambda: trapped(f=vector("x", I)), "no polynomial"),
    "a level that moves": (lambda: trapped(high=Tensor(HEIGHT)), "numbers"),
    "a slope that moves": (lambda: trapped(m=Tensor(HEIGHT)), "numbers"),
    "a level that depends on time": (lambda: trapped(low=TIME), "binds t"),
    "a start that is the end": (lambda: trapped(s=LATE), "binds T"),
    "a map": (lambda: trapped(system("oja-map")), "is about a flow"),
    "a start before zero that is not ruled out": (lambda: trapped(without=0), "needs"),
    "levels in the wrong order": (lambda: trapped(without=1), "needs"),
    "a slope that may be zero": (lambda: trapped(without=2), "needs"),
    "a quantity that need not rise": (lambda: trapped(without=3), "needs"),
    "a gap of a vector that is no eigenvector": (
        lambda: textbook(RAYLEIGH_GAP, (), None, A=matrix("U"), v=VectorLetter("v")),
        "needs",
    ),
    "a gap for the vector that is bound": (
        lambda: textbook(RAYLEIGH_GAP, (), None, A=matrix("U"), v=VectorLetter("z")),
        "binds z",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_theorems_do_not_say_is_refused(name: str) -> None:
    use, reason = WRONG[name]
    with pytest.raises(Refused, match=reason):
        use()


def test_what_is_known_of_one_state_is_not_known_of_a_trajectory() -> None:
    """A hypothesis about the trajectory at a time is one about the trajectory; one about a state x is not."""
    needed, _ = TRAPPED.of(**LEVELS)
    for time, good in ((None, False), (sp.Integer(0), True)):
        extra = assume(sp.Gt(Tensor(HEIGHT, time), 0, evaluate=False), FLOW)
        given = (*(assume(each, FLOW) for each in needed), extra)
        if good:
            assert extra.proposition in textbook(TRAPPED, given, FLOW, **LEVELS).hypotheses
        else:
            with pytest.raises(Refused, match="at every state"):
                textbook(TRAPPED, given, FLOW, **LEVELS)
