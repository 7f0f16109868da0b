"""An observable and its expression in the calculus are one function: exact states of several sizes."""

from __future__ import annotations

import random

import pytest
import sympy as sp

from eigentoken.theory.calculus import TOKENS, Index
from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.kernel.observables import EXPRESSIONS, expression_of
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.catalogue import system

EXACT = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))


@pytest.mark.parametrize("observable", EXPRESSIONS, ids=lambda each: each.name)
@pytest.mark.parametrize(("n", "d"), [(2, 1), (2, 3), (4, 2), (5, 3)])
def test_the_expression_has_the_value_of_the_function(observable: Observable, n: int, d: int) -> None:
    source = random.Random(100 * n + d)
    rational = lambda: sp.Rational(source.randint(-9, 9), source.randint(1, 7))  # noqa: E731
    tokens = [[rational() for _ in range(d)] for _ in range(n)]
    square = lambda: sp.Matrix(d, d, lambda *_: rational())  # noqa: E731
    letters = {"V": square(), "P": square(), "W": square(), "B": square() + 20 * sp.eye(d)}
    given = {name: each.tolist() for name, each in letters.items()}
    assert letters["B"].det() != 0
    numbers = Numbers(
        sizes={"token": n},
        scalars={TOKENS: sp.Integer(n)},
        matrices={**given, "A": (letters["W"] * letters["B"].inv()).tolist()},
        vectors={"x": tokens},
        exp=sp.exp,
        sqrt=sp.sqrt,
        convert=sp.sympify,
    )
    expected = observable(EXACT, system("oja-flow"), given, tokens)
    first_two = {Index("token", "i"): 0, Index("token", "j"): 1}
    assert sp.expand(numbers.scalar(expression_of(observable), first_two) - expected) == 0


def test_an_observable_without_an_expression_is_refused() -> None:
    with pytest.raises(Refused, match="no expression"):
        expression_of(Observable("mine", "f", lambda *_: 0))
