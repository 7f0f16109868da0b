"""Hard attention: the limit of softmax attention, in every arithmetic, and refused where the order of two scores is not known."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb

import eigentoken as et
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra
from eigentoken.theory.classification.float_algebra import FloatAlgebra
from eigentoken.theory.systems.algebra import LoopAlgebra, UnknownOrder, order_of
from eigentoken.theory.systems.catalogue import system

HARD = system("hard-attention-map")
FLOATS = LoopAlgebra(math.exp, math.sqrt)
EXACT = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))
BALLS = LoopAlgebra(lambda a: a.exp(), lambda a: a.sqrt(), arb(1))
M = ((1, 1), (0, 1))
TOKENS = ((2, 0), (1, Fraction(6, 5)), (-1, Fraction(1, 2)))


def _as(number: Any, given: Any) -> Any:
    return tuple(tuple(map(number, row)) for row in given)


def _rational(each: Any) -> sp.Rational:
    return sp.Rational(Fraction(each).numerator, Fraction(each).denominator)


def _balls(each: Any) -> arb:
    return arb(Fraction(each).numerator) / Fraction(each).denominator


@pytest.mark.parametrize("mask", [None, ((1, 0, 0), (1, 1, 0), (1, 1, 1))])
def test_all_arithmetics_agree(mask: Any) -> None:
    half = Fraction(1, 2)
    exact = HARD.advance(EXACT, {"M": _as(sp.Integer, M), "alpha": _rational(half)}, _as(_rational, TOKENS), mask)
    floats = HARD.advance(FLOATS, {"M": _as(float, M), "alpha": 0.5}, _as(float, TOKENS), mask)
    balls = HARD.advance(BALLS, {"M": _as(arb, M), "alpha": arb(1) / 2}, _as(_balls, TOKENS), mask)
    arrays = HARD.advance(FloatAlgebra(), {"M": np.array(M, float), "alpha": 0.5}, np.array(_as(float, TOKENS)), mask)
    tensors = HARD.advance(
        TorchAlgebra(),
        {"M": torch.tensor(M, dtype=torch.float64), "alpha": 0.5},
        torch.tensor(_as(float, TOKENS), dtype=torch.float64),
        mask,
    )
    for i, row in enumerate(exact):
        for k, entry in enumerate(row):
            assert floats[i][k] == pytest.approx(float(entry))
            assert balls[i][k].contains(_balls(Fraction(int(entry.p), int(entry.q))))
            assert arrays[i, k] == pytest.approx(float(entry))
            assert float(tensors[i, k]) == pytest.approx(float(entry))
    if mask is None:  # x_1 looks at x_2, which leads: the self score of x_1 is larger, and it is no leader
        assert exact[0] == (sp.Rational(3, 2), sp.Rational(3, 5))
        assert exact[1] == (sp.Integer(1), sp.Rational(6, 5))


def test_it_is_the_limit_of_softmax_also_where_two_scores_are_equal() -> None:
    tokens = _as(float, ((1, 1), (1, -1), (-1, 0)))
    score = _as(float, ((1, 0), (0, 0)))
    hard = FLOATS.hardest(FLOATS.scores(tokens, score), None)
    assert hard == ((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    soft = FLOATS.attention(tokens, _as(lambda each: 60.0 * each, score), None, False)
    assert np.abs(np.array(soft) - np.array(hard)).max() < 1e-12


def test_balls_that_overlap_are_refused() -> None:
    wide = arb(1, 0.5)
    with pytest.raises(UnknownOrder, match=r"which of .* is greater"):
        HARD.advance(BALLS, {"M": _as(arb, M), "alpha": arb(1)}, ((wide, wide), (arb(1), arb(1))))
    assert order_of(arb(1), arb(1)) == 0
    with pytest.raises(UnknownOrder):
        order_of(wide, wide)
    with pytest.raises(UnknownOrder):
        order_of(sp.Symbol("a"), sp.Symbol("b"))


def test_leaders_are_exact_equilibria_and_ties_have_no_derivative() -> None:
    point = {"system": "hard-attention-map", "M": [[1]], "alpha": "1/2", "tokens": [[1], [-1]]}
    found = et.classify(point)
    assert found.kind == "bipartite"
    assert [str(each.exact) for each in found.spectrum] == ["1"]
    with pytest.raises(ValueError, match="no derivative where two tokens"):
        et.classify(point | {"tokens": [[1], [1]]})
