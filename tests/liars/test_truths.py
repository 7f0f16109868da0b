"""True statements, written as a careful numpy user writes them, are never refuted.

Each is asked of exact instances, most of which are chosen where it holds with equality (``truth_plan.py``).  ``holds`` and
``undecided`` are both right answers; ``fails`` is a refutation of the truth.  That the answers are not all ``undecided``, and
that plain falsehoods are still refuted, is asked as well.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.predicate_instances import one_instance
from eigentoken.numerics.lab.predicates import predicate_verdict

from ..shares import others_slow

HERE = Path(__file__).parent


def _plan() -> Any:
    name = "eigentoken_truth_plan"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "truth_plan.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


PLAN = _plan()
TRUTHS = PLAN.truths()
#: Each module of true statements, and the share of answers that must be proofs.
MODULES = {
    "weights": 0.8,
    "tokens": 0.8,
    "matrices": 0.9,
    "numbers": 0.5,
    "motion": 0.8,
    "escapes": 0.0,
    "idioms": 0.25,
}


def answers(module: str) -> dict[tuple[str, int], tuple[str, str]]:
    """The word and the reason of each statement of a module at each of its instances."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # floats outside the domain of a function, in the author's code
        for truth in TRUTHS:
            if truth.name.startswith(f"{module}:"):
                for number, case in enumerate(truth.cases()):
                    verdict = predicate_verdict(truth.predicate, case)
                    found[truth.name, number] = (str(verdict.answer), verdict.reason)
    return found


def test_there_are_enough_of_them_over_all_systems() -> None:
    assert len({truth.predicate for truth in TRUTHS}) >= 400
    assert {truth.system for truth in TRUTHS} >= {
        *("oja-map", "oja-flow", "attention-map", "attention-flow", "multihead-map", "multihead-flow"),
        *("ellipsoid-flow", "ellipsoid-map", "ellipsoid-multihead-flow", "causal-flow", "token-flow", "rotary-flow"),
    }


@pytest.mark.parametrize(
    ("module", "least"), others_slow(MODULES.items(), lambda each: each[0] not in {"weights", "motion"})
)
def test_no_truth_is_refuted_and_most_are_proved(module: str, least: float) -> None:
    """A lab that answers ``undecided`` to everything refutes no truth either, so a share must be proved."""
    found = answers(module)
    assert not {where: reason for where, (word, reason) in found.items() if word == "fails"}
    words = Counter(word for word, _ in found.values())
    assert words["holds"] >= least * words.total()


@pytest.mark.parametrize("module", MODULES)
def test_every_truth_is_answered_in_floats(module: str) -> None:
    """So that none of them is a truth about nothing: on floats each gives yes or no."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for truth in TRUTHS:
            if truth.name.startswith(f"{module}:"):
                case = list(truth.cases())[-1]
                answer = truth.predicate(one_instance(batch_of(case.instance, case.k, case.p), 0))
                assert isinstance(answer, bool | np.bool_), truth.name


FALSEHOODS: list[tuple[str, Callable[[Any], Any]]] = [
    ("columns sum to one", lambda x: np.allclose(x.attention().sum(axis=0), 1)),
    ("squares of weights exceed them", lambda x: np.sum(x.attention() ** 2) >= np.sum(x.attention())),
    ("weights above the mean", lambda x: (x.attention() >= 1 / x.n).all()),
    ("weights below the mean", lambda x: (x.attention() <= 1 / len(x.tokens)).all()),
    ("the matrix product is elementwise", lambda x: np.allclose(x.V @ x.V, x.V**2)),
    ("tokens are orthogonal", lambda x: abs(x.tokens[0] @ x.tokens[1]) < 1e-3),
    ("the angle is small", lambda x: np.arccos(x.tokens[1] @ x.tokens[2]) <= np.pi / 3),
    ("the step is a third of a tenth", lambda x: x.alpha <= 0.1 / 3),
    ("seven tokens", lambda x: x.n / 7 == 1),
    ("the trace is the sum", lambda x: np.trace(x.V) == x.V.sum()),
    ("nothing moves", lambda x: np.abs(x.advance() - x.tokens).max() < 0.01),
    ("all entries are positive", lambda x: bool((x.V > 0).all())),
    ("entropy is small", lambda x: (-(x.attention() * np.log(x.attention())).sum(axis=1) <= np.log(x.n) / 2).all()),
    ("the mean vanishes", lambda x: np.linalg.norm(x.tokens.mean(axis=0)) <= 1e-6),
    ("a root of two", lambda x: x.alpha * np.sqrt(2) >= 1),
    ("e to the step", lambda x: np.exp(x.alpha) <= np.e / 2),
]


@pytest.mark.parametrize(("name", "predicate"), FALSEHOODS, ids=[name for name, _ in FALSEHOODS])
def test_a_plain_falsehood_is_still_refuted(name: str, predicate: Callable[[Any], Any]) -> None:
    tokens = [["3/5", "4/5"], ["1", "0"], ["0", "1"]]
    case = PLAN.Case(PLAN.instance("attention-map", tokens, "any", 0))
    assert predicate_verdict(predicate, case).is_fails


SEARCHED = [
    "weights: squares_below_sum_times_largest (attention-map)",
    "weights: row_means_equal_one_over_n (attention-map)",
    "weights: not_all_above_the_mean (attention-map)",
    "tokens: perimeter (oja-flow)",
    "tokens: mean_square_is_one_over_d (oja-map)",
    "matrices: trace_and_frobenius_divided (oja-flow)",
    "matrices: tenths (oja-flow)",
    "numbers: shares_with_len (attention-map)",
]


@pytest.mark.parametrize(
    "name",
    SEARCHED[::3] + [pytest.param(each, marks=pytest.mark.slow) for each in SEARCHED if each not in SEARCHED[::3]],
)
def test_a_search_does_not_refute_the_truth(name: str) -> None:
    """The whole way of a conjecture: search in floats, shrinking, certification."""
    (truth,) = (each for each in TRUTHS if each.name == name)
    guess = Conjecture(name, truth.system, truth.conditions(), holds_if=truth.predicate, n=[2, 3, 5, 6, 7])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (result,) = refute(guess, seconds=60, instances=400, seed=0).results
    assert result.answer in {"survived", "candidate"}
