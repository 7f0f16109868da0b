"""Attempts to prove what is false with matrices that depend on time, and with roots: each of them once succeeded."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.steps.fibre_theorems import PUSHED_APART
from eigentoken.proofs.steps.theorems import COMPARISON
from eigentoken.theory.calculus import Expression, Index, dot, exponential, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel import quantities
from eigentoken.theory.kernel.kernel import Kernel, accepted
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import BoundedInTime
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.terms import HeadNorm, matrix
from eigentoken.theory.systems.catalogue import system

CAUSAL = system("causal-flow")
MOVES = proposition(BoundedInTime("P"))
I = Index("token", "i")
HEIGHT = dot(vector("v"), vector(STATE, I))


def _answer(proved: Proved, given: tuple[Any, ...] = (MOVES,), about: Any = CAUSAL) -> str:
    return accepted(proved, given, (proved.proposition,), about).reason


def _compared(f: Expression, region: Proposition = TRUE) -> Proved:
    """``its rate is not positive => it does not grow``, as an implication without hypotheses."""
    kernel = Kernel(CAUSAL, (MOVES,))
    (falls,), _ = COMPARISON.of(f=f, kappa=sp.Integer(0), region=region)
    found = kernel.textbook(COMPARISON, kernel.assume(falls), f=f, kappa=sp.Integer(0), region=region)
    return kernel.discharge(falls, found)


def test_a_quantity_without_matrices_is_compared() -> None:
    assert "what is proved is what is claimed" in _answer(_compared(HEIGHT))


@pytest.mark.parametrize(
    ("quantity", "region"),
    [
        (HEIGHT * HeadNorm(matrix("P")), TRUE),
        (dot(vector("v"), vector(STATE, I), product("P")), TRUE),
        (HEIGHT, proposition(sp.Ge(HeadNorm(matrix("P")), 1, evaluate=False))),
    ],
)
def test_tokens_at_rest_and_a_matrix_that_moves(quantity: Expression, region: Proposition) -> None:
    """The rate of ``|P| v^T x_i`` is zero where the tokens rest, and it grows with P."""
    found = _compared(quantity, region)
    assert "holds a matrix fixed" in _answer(found)
    assert "what is proved is what is claimed" in _answer(found, ())  # where P does not depend on time


def test_a_vector_at_two_times_does_not_become_one_that_moves_with_a_matrix() -> None:
    kernel = Kernel(CAUSAL, (MOVES,))
    for_all = kernel.generalise(VectorLetter("v"), _compared(HEIGHT))
    found = kernel.instantiate(for_all, vector("z").applied(product("P")))
    assert "holds a matrix fixed" in _answer(found)
    assert "what is proved is what is claimed" in _answer(kernel.instantiate(for_all, vector("z")))
    at_once = kernel.generalise(VectorLetter("v"), kernel.square(vector("v")))  # at one time it may
    assert "what is proved is what is claimed" in _answer(
        kernel.instantiate(at_once, vector("z").applied(product("P")))
    )


def test_a_potential_with_a_matrix_that_moves_is_not_monotone_by_its_rate() -> None:
    flow = system("oja-flow")
    kernel = Kernel(flow, ())
    falls = proposition(sp.Le(Rate(expression_of(oja_potential)), 0))
    everywhere = kernel.assume(ForAll(VectorLetter(STATE), TRUE, falls))
    monotone = kernel.monotone(oja_potential, kernel.instantiate(everywhere, VectorLetter(STATE)))
    found = kernel.discharge(everywhere.proposition, monotone)
    left = tuple(found.hypotheses)  # the definition of the potential
    assert "holds a matrix fixed" in _answer(found, (*left, proposition(BoundedInTime("V"))), flow)
    assert "what is proved is what is claimed" in _answer(found, left, flow)


def test_the_velocity_may_move() -> None:
    """What a theorem lets move is printed with it, and is a velocity."""
    assert PUSHED_APART.moves == ("f",)
    assert COMPARISON.moves == ()


@pytest.mark.parametrize("power", [sp.Rational(1, 2), sp.Rational(-1, 2), sp.Symbol("p"), 0.5])
def test_a_root_of_an_inner_product_is_no_term(power: Any) -> None:
    """``[q^(1/2)] [q^(1/2)] = [q]`` said that every inner product is at least zero."""
    root = HEIGHT**power
    with pytest.raises(Refused, match="whole number"):
        quantities.product(root, root)
    with pytest.raises(Refused, match="whole number"):
        Tensor(exponential(root))
