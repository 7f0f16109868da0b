"""One meaning for a predicate, in floats and on exact numbers: what is true is never refuted by how it is written."""

from __future__ import annotations

import contextlib
import functools
import math
import random
import time
from collections.abc import Callable
from fractions import Fraction
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
import sympy as sp
from numpy import exp as e_to
from numpy.linalg import norm

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.predicates import predicate_verdict
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Decreases, Increases, Nonnegative
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.observables import Observable, apply_matrix, dot, oja_potential
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import Eigenvalue, matrix

V = matrix("V")
TOLERANCE = 1e-9
THIRDS = [1 / 3, 2 / 3]
WEIGHTS = np.full(3, 1 / 3)
CALLS: list[int] = []


def consensus(n: int) -> Case:
    return Case(
        Instance.of("attention-map", [["1", "0"]] * n, V=[[2, 0], [0, 1]], M=[[0, 1], [1, 1]], alpha="1/3"), p=1
    )


PAIR = Case(
    Instance.of("attention-map", [["3/5", "4/5"], ["0", "1"]], V=[[1, 0], [0, 2]], M=[[0, 1], [1, 1]], alpha="1/3")
)


def word(predicate: Callable[[Any], Any], case: Case = PAIR) -> str:
    return str(predicate_verdict(predicate, case).answer)


# --- true of every instance: never "fails" -----------------------------------------------------------------------------


def squares(x: Any) -> Any:
    weights = x.attention()
    return np.sum(weights**2) <= np.sum(weights) * np.max(weights)


def added_twice(x: Any) -> Any:
    weights = x.attention()
    return sum(float(1) * w * w for w in weights.ravel()) == (weights * weights).sum()


def fraction_above(x: Any) -> Any:
    """At most all but one are above the mean."""
    heights = x.tokens[:, 0]
    return np.mean(heights > heights.mean()) <= 1 - 1 / len(heights)


def filled(x: Any) -> Any:
    products = np.zeros((x.n, x.n))
    for i in range(x.n):
        for j in range(x.n):
            products[i, j] = x.tokens[i] @ x.tokens[j]
    return (products == x.tokens @ x.tokens.T).all()


def harmonic(x: Any) -> Any:
    total = 0.0
    for k in range(1, x.n + 1):
        total += 1 / k
    return total == sum(1 / k for k in range(x.n, 0, -1))


def own_helper(x: Any) -> Any:
    return third(x.n) * 3 == x.n


def third(number: Any) -> Any:
    return number / 3


class Ruler:
    def __init__(self, unit: float) -> None:
        self.unit = unit

    def length(self, many: int) -> Any:
        return many / 3 * 3 / many


TRUE: list[tuple[str, Callable[[Any], Any]]] = [
    ("sum of squares", squares),
    ("sum of squares added up in two ways", added_twice),
    ("mean of a row", lambda x: (x.attention().mean(axis=1) == 1 / x.n).all()),
    ("mean of a row, by len", lambda x: (x.attention().mean(axis=1) == 1 / len(x.tokens)).all()),
    ("mean of a row, by shape", lambda x: (x.attention().mean(axis=1) <= 1 / x.tokens.shape[0]).all()),
    ("mean of a row, by an array of ones", lambda x: (x.attention().mean(axis=1) == np.ones(x.n) / x.n).all()),
    ("rows sum to one", lambda x: (x.attention().sum(axis=1) == 1).all()),
    ("rows sum to one, in Python", lambda x: all(sum(row) == 1 for row in x.attention())),
    ("rows sum to one, by a list", lambda x: np.array_equal([sum(row) for row in x.attention()], [1.0] * x.n)),
    ("the angle of two tokens", lambda x: 2 * np.arccos(np.clip(x.tokens[0] @ x.tokens[-1], -1, 1)) <= 2 * np.pi),
    ("pi of math", lambda x: 2 * math.pi <= 2 * np.pi + x.alpha - x.alpha),
    ("pi by name", lambda x: x.alpha * pi <= x.alpha * np.pi),
    ("sqrt(2) squared", lambda x: np.sqrt(2) ** 2 * x.alpha == 2 * x.alpha),
    ("sqrt(2) squared, of math", lambda x: math.sqrt(2) ** 2 * x.alpha == 2 * x.alpha),
    ("sqrt by name", lambda x: sqrt(x.n) * sqrt(x.n) == x.n),
    ("a tenth", lambda x: 10 * 0.1 * x.alpha == x.alpha and (0.1 + 0.2) * x.alpha <= 0.3 * x.alpha),
    ("a step that is a third", lambda x: x.alpha == 1 / 3),
    ("a step that is a third, as a float", lambda x: x.alpha <= 0.3333333333333333),
    ("a step that is a third, by linspace", lambda x: x.alpha == np.linspace(0, 1, 4)[1]),
    ("a step that is a third, of a list outside", lambda x: x.alpha == THIRDS[0] and x.alpha <= WEIGHTS[0]),
    ("cosine of a quarter turn", lambda x: x.alpha * np.cos(np.pi / 2) <= 0),
    ("entropy", lambda x: -(x.attention() * np.log(x.attention())).sum(axis=1).max() <= np.log(x.n)),
    ("entropy, of math", lambda x: all(-sum(w * math.log(w) for w in row) <= math.log(x.n) for row in x.attention())),
    ("fraction above the mean", fraction_above),
    ("an array that is filled", filled),
    ("harmonic sum", harmonic),
    ("a helper of the file", own_helper),
    ("a class of the file", lambda x: Ruler(0.1).length(x.n) == 1),
    ("a partial", functools.partial(lambda bound, x: x.alpha <= bound, 1 / 3)),
    ("a default", lambda x, bound=1 / 3: x.alpha <= bound),
    ("Fraction", lambda x: x.alpha == Fraction(1, 3)),
    ("sympy", lambda x: x.alpha == sp.Rational(1, 3) and 2 * sp.pi * x.alpha >= 2 * np.pi * x.alpha),
    ("exp by name", lambda x: e_to(x.alpha) * e_to(-x.alpha) == 1),
    ("norm by name", lambda x: (norm(x.tokens, axis=1) == 1).all()),
    ("norm after a step", lambda x: (np.linalg.norm(x.advance(), axis=1) <= 1).all()),
    ("variance", lambda x: x.tokens.var(axis=0).sum() <= 1 and np.var(x.attention(), axis=1).min() >= 0),
    ("standard deviation", lambda x: np.std(x.tokens[:, 0]) ** 2 == np.var(x.tokens[:, 0])),
    ("trace and eigenvalues", lambda x: np.linalg.eigvalsh(x.V).sum() == np.trace(x.V)),
    ("determinant and eigenvalues", lambda x: np.prod(np.linalg.eigvalsh(x.V)) == np.linalg.det(x.V)),
    ("inverse", lambda x: (np.linalg.inv(x.V) @ x.V == np.eye(x.d)).all()),
    ("cube roots", lambda x: x.alpha ** (1 / 3) * x.alpha ** (2 / 3) == x.alpha),
    ("floor", lambda x: np.floor(x.alpha * 3) == 1 and x.alpha * 3 // 1 == 1 and int(x.alpha * 3) == 1),
    ("remainder", lambda x: (x.alpha * 6) % 2 == 0 and round(x.alpha * 3) == 1),
    ("a chain", lambda x: 0 < x.alpha <= 1 / 3 < 0.5),
    ("half of the tokens", lambda x: np.zeros(x.n // 2).sum() * 0.1 <= 0),
    ("smallest so far", lambda x: min([np.inf, *(t @ t for t in x.tokens)]) == 1),
    ("a count", lambda x: (x.attention() > 0).sum() / x.n == x.n),
    ("a mask as numbers", lambda x: (x.attention() > 0).astype(float).mean() == 1),
    ("softmax by hand", lambda x: (np.exp(x.tokens).T / np.exp(x.tokens).sum(1)).sum() == x.n),
]


@pytest.mark.parametrize("case", [PAIR, consensus(3), consensus(6), consensus(7)], ids=["two", "three", "six", "seven"])
@pytest.mark.parametrize("predicate", [each[1] for each in TRUE], ids=[each[0] for each in TRUE])
def test_what_is_true_is_never_refuted(predicate: Callable[[Any], Any], case: Case) -> None:
    assert word(predicate, case) != "fails"


@pytest.mark.parametrize(
    "predicate",
    [squares, TRUE[2][1], TRUE[3][1], TRUE[4][1], TRUE[5][1], filled, harmonic, own_helper, TRUE[12][1]],
)
def test_equalities_are_decided_where_numbers_are_exact(predicate: Callable[[Any], Any]) -> None:
    assert word(predicate, consensus(7)) == "holds"


# --- false: still refuted ------------------------------------------------------------------------------------------------

FALSE: list[tuple[str, Callable[[Any], Any]]] = [
    ("by a margin", lambda x: x.alpha > 0.4),
    ("by exactly nothing, with exact numbers", lambda x: x.alpha < 1 / 3),
    ("by a tolerance", lambda x: x.alpha <= 1 / 3 - TOLERANCE),
    ("pi", lambda x: x.alpha * 9.4 > np.pi),
    ("columns sum to one", lambda x: np.allclose(x.attention().sum(axis=0), 1)),
    ("sqrt of math", lambda x: x.alpha >= math.sqrt(2) / 4),
    ("with a seed", lambda x: np.random.default_rng(0).random() > 2 * x.alpha),
    ("a helper of the file", lambda x: third(x.n) > x.n),
    ("math", lambda x: math.cos(x.alpha) > 2),
    ("a matrix that is singular", lambda x: singular(x.V - x.V[0, 0] * np.eye(x.d))),
]


def singular(matrix: Any) -> bool:
    try:
        np.linalg.inv(matrix)
        return True
    except np.linalg.LinAlgError:
        return False


@pytest.mark.parametrize("predicate", [each[1] for each in FALSE], ids=[each[0] for each in FALSE])
def test_what_is_false_is_refuted(predicate: Callable[[Any], Any]) -> None:
    assert word(predicate) == "fails"


# --- refused ---------------------------------------------------------------------------------------------------------------


def swallowed(x: Any) -> bool:
    try:
        return bool(np.linalg.cholesky(x.V)[0, 0] > 5)
    except Exception:
        return False


def swallowed_attribute(x: Any) -> bool:
    try:
        x.V.of_no_name()
    except AttributeError:
        return False
    return False


def swallowed_by_finally(x: Any) -> bool:
    try:
        x.V.of_no_name()
    finally:
        return False  # noqa: B012 - as an author might


def suppressed(x: Any) -> bool:
    with contextlib.suppress(Exception):
        return bool(x.V.of_no_name())
    return False


def keeps_state(x: Any) -> bool:
    CALLS.append(1)
    return len(CALLS) % 2 == 0


COUNT = 0


def counts(x: Any) -> bool:
    global COUNT
    COUNT += 1
    return False


REFUSED: list[tuple[str, Callable[[Any], Any]]] = [
    ("swallowed", swallowed),
    ("swallowed attribute", swallowed_attribute),
    ("swallowed by finally", swallowed_by_finally),
    ("suppressed", suppressed),
    ("keeps state", keeps_state),
    ("counts", counts),
    ("random", lambda x: random.random() > 2),
    ("random of numpy", lambda x: np.random.rand() > 2),  # noqa: NPY002 - as an author might
    ("random without a seed", lambda x: np.random.default_rng().random() > 2),
    ("the clock", lambda x: time.time() < 0),
    ("float", lambda x: float(x.V[0, 0]) > 2),
    ("astype", lambda x: x.V.astype(float)[0, 0] > 2),
    ("asarray", lambda x: np.asarray(x.V, dtype=float)[0, 0] > 2),
    ("array of floats", lambda x: np.array([x.alpha], dtype=np.float64)[0] > 2),
    ("a text", lambda x: f"{x.alpha:.3f}" == "1.000"),
    ("a text of an array", lambda x: np.array2string(x.V) == ""),
    ("a set", lambda x: len({x.alpha, x.V[0, 0]}) == 3),
    ("a dict", lambda x: {x.alpha: 1}[x.alpha] == 2),
    ("the same object", lambda x: x.V[0, 0] is x.V[0, 1]),
    ("no answer", lambda x: None),
    ("a list for an answer", lambda x: [x.alpha]),
    ("an array for an answer", lambda x: x.tokens > 2),
    ("raises", lambda x: x.V.of_no_name()),
    ("eigenvectors", lambda x: np.linalg.eigh(x.V)[1][0, 0] > 2),
    ("what kind of number", lambda x: type(x.alpha) is float),
    ("code without a file", eval("lambda x: x.alpha > 1")),
    ("a builtin", bool.__call__),
]


@pytest.mark.parametrize("predicate", [each[1] for each in REFUSED], ids=[each[0] for each in REFUSED])
def test_what_cannot_be_certified_is_refused_with_a_reason(predicate: Callable[[Any], Any]) -> None:
    verdict = predicate_verdict(predicate, PAIR)
    assert verdict.is_undecided
    assert verdict.reason


@pytest.mark.parametrize("instances", [250, pytest.param(600, marks=pytest.mark.slow)])
def test_the_search_does_not_refute_the_audits_conjectures(instances: int) -> None:
    """As they were written: at consensus, n in 7..10, and the mean of a row for n = 3."""
    top = [Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0)]
    at: Any = {"at": ConsensusAt(V, 1)}
    for guess in (
        Conjecture("squares", "attention-map", top, holds_if=squares, n=range(7, 11), d=[2], **at),
        Conjecture("mean", "attention-map", top, holds_if=TRUE[2][1], n=[3], d=[2], **at),
    ):
        (result,) = refute(guess, seconds=120, instances=instances, seed=0).results
        assert result.answer == "survived", result.meaning


# --- observables of an author's file ---------------------------------------------------------------------------------------


def of_tokens(function: Callable[[Any], Any]) -> Observable:
    """An observable of the tokens alone."""
    return Observable("own", "own", lambda scalars, system, parameters, x, mask: function(x))


OWN: list[tuple[Callable[[Any], Any], bool, str]] = [
    (lambda x: 1 / 3 + 2 / 3 - dot(x[0], x[0]), False, "holds"),
    (lambda x: 2 * math.pi - 2 * np.pi * dot(x[0], x[0]), False, "holds"),
    (lambda x: 0.1 + 0.2 - 0.3 * dot(x[0], x[0]), False, "undecided"),
    (lambda x: math.sqrt(2) ** 2 - 2 * dot(x[1], x[1]), False, "holds"),
    (lambda x: x[0][0] if x[0][0] * 5 > 3 else 3 - 5 * x[0][0], False, "holds"),
    (lambda x: max(x[0][0] * x[0][0], 9 / 25) - 0.36, False, "undecided"),
    (lambda x: dot(x[0], x[0]) - 1.5, False, "fails"),
    (lambda x: float(x[0][0]) - 7, False, "undecided"),
    (lambda x: 0.1 * 3 - 0.3, True, "undecided"),
]


@pytest.mark.parametrize(("function", "along", "expected"), OWN)
def test_an_observable_of_ones_own_is_read_as_a_predicate_is(
    function: Callable[[Any], Any], along: bool, expected: str
) -> None:
    own = of_tokens(function)
    claim = Decreases(own) if along else Nonnegative(own)
    assert str(CERTIFIED(claim, PAIR).answer) == expected


def test_the_change_of_an_observable_of_ones_own() -> None:
    """Along a map and along a flow, as the same lines of the toolkit say; the change of a square norm on the sphere is 0."""

    def potential(scalars: Any, system: Any, parameters: Any, x: Any, mask: Any) -> Any:
        centre = [sum(column) / len(x) for column in zip(*x, strict=True)]
        return -0.5 * dot(centre, apply_matrix(parameters["V"], centre))

    own = Observable("own-potential", "W", potential)
    tokens = [["3/5", "4/5"], ["0", "1"]]
    for system, more in (("oja-map", {"alpha": "1/3"}), ("oja-flow", {})):
        case = Case(Instance.of(system, tokens, V=[[1, 0], [0, 2]], **more))
        mine, known = (CERTIFIED(Decreases(each), case) for each in (own, oja_potential))
        assert mine.answer == known.answer == "holds"
        assert str(CERTIFIED(Increases(own), case).answer) == "fails"
