"""Equations that another package writes: one that not every arithmetic reads alike is refused, and no name stands for two."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import eigentoken as et
from eigentoken.numerics.dynamics.problem import problem
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra
from eigentoken.theory.systems import catalogue
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.declarations import DeclarationError
from eigentoken.theory.systems.system import Parameter, System

Sublayer = Callable[[Any, Any, Any, Any, Any], Any]


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    before = dict(catalogue._ADDED)
    yield
    catalogue._ADDED.clear()
    catalogue._ADDED.update(before)


def declared(sublayer: Sublayer, **more: Any) -> type[System]:
    body = {
        "name": "stranger-flow",
        "title": "a flow of a stranger",
        "space": "sphere",
        "time": "flow",
        "value": "V",
        "score": "M",
        "attention": "own",
        "further": (Parameter("c", "scalar", "a number", "1"),),
        "sublayer": sublayer,
    }
    return type("Stranger", (System,), {**body, **more})


def weighted(algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    weights = algebra.masked(algebra.function("exp", algebra.scores(x, parameters["M"])), mask)
    return algebra.apply(parameters["V"], algebra.average(weights, x))


def by_count(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return algebra.scale(weighted(algebra, parameters, x, mask), Fraction(1, len(x)))


def by_float(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return algebra.scale(weighted(algebra, parameters, x, mask), 0.1)


def by_type(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    pushed = weighted(algebra, parameters, x, mask)
    return pushed if isinstance(algebra, LoopAlgebra) else algebra.scale(pushed, -1)


def by_entries(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return tuple(tuple(max(entry, 0) for entry in token) for token in algebra.apply(parameters["V"], x))


def by_numpy(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return np.asarray(x) @ np.asarray(parameters["V"]).T


def by_chance(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return algebra.scale(weighted(algebra, parameters, x, mask), random.randint(1, 10**9))


def by_truth(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return weighted(algebra, parameters, x, mask) if parameters["c"] else x


@pytest.mark.parametrize(
    ("sublayer", "said"),
    [
        (by_count, "x can only be handed to an operation"),
        (by_float, "algebra.scale with 0.1 .float.: a number is a whole number or a parameter"),
        (by_type, "where it cannot look at the arithmetic"),
        (by_entries, "tokens can only be handed to an operation"),
        (by_numpy, "can only be handed to an operation"),
        (by_chance, "two answers at one state"),
        (by_truth, "parameter c can only be handed to an operation"),
    ],
)
def test_an_equation_that_looks_inside_is_refused(sublayer: Sublayer, said: str) -> None:
    with pytest.raises(DeclarationError, match=said) as caught:
        et.register_system(declared(sublayer))
    assert "\n" not in str(caught.value)
    assert "stranger-flow" not in et.systems()


def test_whole_numbers_and_parameters_are_numbers_of_every_arithmetic() -> None:
    def push(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
        c = parameters["c"]
        return algebra.scale(weighted(algebra, parameters, x, mask), (2 * c + 1 - c) / (3 - 1))

    et.register_system(declared(push))
    point = {"V": [[2, 0], [0, 1]], "M": [[0, 0], [0, 0]], "tokens": [[1, 0], [1, 0]]}
    found = et.classify({"system": "stranger-flow", **point, "c": "1/3"})
    assert found.equilibrium == "holds"
    assert sorted(str(each.exact) for each in found.spectrum) == ["-4/3", "-8/3"]  # (1/3 + 1)/2 = 2/3 of -2 and -4
    run = et.simulate("stranger-flow", end=30, **{**point, "tokens": [[0.8, 0.6], [0.6, -0.8]]})
    assert list(run.fractions) == ["consensus"]


def test_an_equation_that_knows_torch_is_refused_before_it_is_followed() -> None:
    def push(self: Any, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
        pushed = weighted(algebra, parameters, x, mask)
        return algebra.scale(pushed, -1) if isinstance(algebra, TorchAlgebra) else pushed

    et.register_system(declared(push))
    with pytest.raises(ValueError, match="other tokens for arrays than for numbers"):
        et.simulate("stranger-flow", n=3, d=2)
    with pytest.raises(ValueError, match="other tokens for arrays than for numbers"):
        problem("stranger-flow", {"V": np.eye(2), "M": np.eye(2)})


@pytest.mark.parametrize(
    "ask",
    [
        lambda other: et.simulate(other, V=np.eye(2), M=np.eye(2), n=2),
        lambda other: et.classify(other, V=np.eye(2), tokens=[[1, 0]]),
        lambda other: et.spectrum(other, at="bipartite"),
        lambda other: et.linearize(other),
        lambda other: et.equilibria(other, V=np.eye(2), n=2),
        lambda other: et.system(other),
    ],
)
def test_a_name_stands_for_one_system(ask: Callable[[System], Any]) -> None:
    other = System("oja-flow", "not the Oja flow", "sphere", "flow", "V", "M")
    with pytest.raises(ValueError, match="the name 'oja-flow' is that of another system, multi-agent Oja flow"):
        ask(other)
    assert et.system(et.system("oja-flow")) is et.system("oja-flow")


def test_a_point_needs_a_registered_system() -> None:
    own = System("stranger-map", "a map", "sphere", "map", "V")
    with pytest.raises(ValueError, match="stranger-map is not registered"):
        et.classify(own, V=np.eye(2), alpha=1, tokens=[[1, 0]])
    assert et.simulate(own, V=np.diag([2.0, 1.0]), alpha=0.25, n=3).system is own
    et.register_system(own)
    assert et.classify(own, V=np.diag([2.0, 1.0]), alpha=1, tokens=[[1, 0]]).kind == "consensus"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"multihead": True}, "a head has no parameter"),
        ({"multihead": True, "space": "ellipsoid", "metric": "W", "score": "W"}, "of every head at once"),
        ({"space": "torus"}, "space must be one of sphere, ellipsoid, euclidean, got 'torus'"),
        ({"time": "step"}, "time must be one of map, flow, got 'step'"),
    ],
)
def test_a_declaration_that_means_nothing_is_refused(more: dict[str, Any], said: str) -> None:
    given = {"name": "stranger-flow", "title": "t", "space": "sphere", "time": "flow", **more}
    with pytest.raises(ValueError, match=said):
        et.register_system(System(**given))
