"""Uniform continuity of a quantity along a trajectory: what the theorem asks for, and what it refuses to be applied to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.steps.continuity_theorems import ROOM, SMALL, UNIFORMLY_CONTINUOUS_COMPOSITION
from eigentoken.theory.calculus import Index, Letter, Norm, dot, exponential, factor, one, vector
from eigentoken.theory.kernel.books import textbook
from eigentoken.theory.kernel.logic import assume
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import BoundedInTime, UniformlyContinuous
from eigentoken.theory.language.terms import HeadNorm, matrix
from eigentoken.theory.systems.catalogue import system

FLOW = system("ellipsoid-flow")
I = Index("token", "i")
X = vector("x", I)
HEIGHT, SCORE = dot(vector("v"), X), dot(X, X, (Letter("P"),))
GIVEN = {"f": exponential(SCORE) * HEIGHT, "A": matrix("W"), "C": sp.Integer(1)}


def used(**other: Any) -> Any:
    return UNIFORMLY_CONTINUOUS_COMPOSITION.of(**{**GIVEN, **other})


def test_every_other_matrix_is_bounded_and_uniformly_continuous() -> None:
    needed, conclusion = used()
    words = [getattr(each, "word", None) for each in needed]
    assert BoundedInTime("P") in words
    assert UniformlyContinuous("P") in words
    assert (conclusion.letter, conclusion.body.letter) == (SMALL, ROOM)
    for number in range(len(needed)):
        given = tuple(assume(each, FLOW) for place, each in enumerate(needed) if place != number)
        with pytest.raises(Refused, match=r"needs|at every state"):
            textbook(UNIFORMLY_CONTINUOUS_COMPOSITION, given, FLOW, **GIVEN)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a vector": (lambda: used(f=X), "inner products"),
    "a quotient": (lambda: used(f=one() / HEIGHT), "inner products"),
    "a norm that a map divides by": (lambda: used(f=factor(Norm("r", (I,)))), "inner products"),
    "a speed that moves": (lambda: used(C=Tensor(HEIGHT)), "a number"),
    "the norm of a matrix that moves": (lambda: used(f=HEIGHT * HeadNorm(matrix("P"))), "depend on time"),
    "a scale that is the bound letter": (lambda: used(f=HEIGHT * SMALL), "binds epsilon"),
    "a map": (lambda: textbook(UNIFORMLY_CONTINUOUS_COMPOSITION, (), system("oja-map"), **GIVEN), "about a flow"),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_quantities_are_refused(name: str) -> None:
    use, reason = WRONG[name]
    with pytest.raises(Refused, match=reason):
        use()
