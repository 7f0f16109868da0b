"""Slow is not at rest: a state whose pulls only have tiny weights is on its way; one whose pulls vanish or cancel rests."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.trajectories import only_slow, problem_of, run
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.readings import OBSERVED

load()
EYE, ZERO = [[1, 0], [0, 1]], [[0, 0], [0, 0]]
#: Scores under which tokens that are not close hardly see each other.
STRONG = [[40, 0], [0, 40]]
#: Nearly opposite, exactly opposite, at right angles.
NEARLY = [[1, 0], ["-4/5", "3/5"]]
OPPOSITE = [["3/5", "4/5"], ["-3/5", "-4/5"]]
TRIANGLE = [[1, 0], [0, 1], ["-3/5", "-4/5"]]


def batch(system: str, tokens: Any, score: Any, **options: Any) -> Any:
    names = {"causal-flow": ("U", "P"), "attention-flow": ("V", "M"), "attention-map": ("V", "M")}[system]
    step = {"alpha": "1/2"} if system.endswith("map") else {}
    return batch_of(Instance.of(system, tokens, **{names[0]: EYE, names[1]: score}, **step, **options), 1, 1)


def slow(made: Any) -> bool:
    return bool(only_slow(problem_of(made), made.tokens, 0.0)[0])


@pytest.mark.parametrize("system", ["causal-flow", "attention-flow", "attention-map"])
def test_tokens_that_hardly_see_each_other_are_slow(system: str) -> None:
    made = batch(system, NEARLY, STRONG)
    moved = run(made)
    assert float(moved.motion[0]) < 1e-12  # by speed alone it would be taken for resting
    assert slow(made)
    assert not bool(moved.settled[0])
    for claim in (Converges(ConsensusSet()), AlmostEveryConverges(ConsensusSet())):
        assert bool(OBSERVED(claim, made).isnan()[0])


@pytest.mark.parametrize("system", ["causal-flow", "attention-flow", "attention-map"])
@pytest.mark.parametrize("score", [ZERO, EYE, STRONG], ids=["none", "some", "strong"])
def test_opposite_tokens_rest(system: str, score: Any) -> None:
    made = batch(system, OPPOSITE, score)
    assert not slow(made)
    assert bool(run(made).settled[0])
    assert float(OBSERVED(Converges(ConsensusSet()), made)[0]) > 1


def test_pulls_that_cancel_rest() -> None:
    """An equilateral triangle with uniform weights: each token is pulled from two sides, and stays."""
    made = batch("attention-flow", TRIANGLE, ZERO)
    angle = 2 * torch.pi / 3
    turned = [
        [torch.cos(torch.tensor(k * angle, dtype=torch.float64)), torch.sin(torch.tensor(k * angle))] for k in range(3)
    ]
    even = made.at(torch.tensor([[[float(c) for c in token] for token in turned]], dtype=torch.float64))
    assert not slow(even)
    assert slow(made)  # this triangle is not even: the pulls do not cancel


def test_an_approach_that_is_nearly_over_is_no_slow_state() -> None:
    made = batch("attention-flow", OPPOSITE, EYE)
    near = made.at(made.tokens + 1e-13)
    assert not slow(near)
    assert slow(made.at(problem_of(made).retract(made.tokens + 1e-6 * torch.tensor([[[0.0, 1.0], [1.0, 0.0]]]))))
