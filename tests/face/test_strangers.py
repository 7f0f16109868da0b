"""What a stranger types: arrays of every kind, answers compared with words, options that mean nothing, numbers as they come."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from flint import arb

import eigentoken as et
from eigentoken.lab import Conjecture, Symmetric, matrix, sqrt
from eigentoken.theory.exactness.balls import precision

V = matrix("V")
A = np.array([[2.0, 0.0], [0.0, 1.0]])

ARRAYS: dict[str, Callable[[Any], Any]] = {
    "float16": lambda a: np.asarray(a, dtype=np.float16),
    "big-endian": lambda a: np.asarray(a, dtype=">f8"),
    "strided": lambda a: np.repeat(np.repeat(np.asarray(a), 2, 0), 2, 1)[::2, ::2],
    "table": lambda a: pd.DataFrame(a),
    "sparse": lambda a: torch.tensor(a, dtype=torch.float64).to_sparse(),
    "gradient": lambda a: torch.tensor(a, dtype=torch.float64, requires_grad=True),
    "negated": lambda a: (torch.tensor(-np.asarray(a, dtype=float)) * 1j).conj().imag,
    "bfloat16": lambda a: torch.tensor(a, dtype=torch.bfloat16),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_exact_questions_take_arrays_of_every_kind(kind: str) -> None:
    given = ARRAYS[kind]
    assert et.certify("positive-definite", given(A)) == "holds"
    assert et.recheck(et.certify("positive-definite", given(A)), given(A)) == "holds"
    assert et.classify("oja-map", tokens=given([[1.0, 0.0]]), V=given(A), alpha=0.25).kind == "consensus"
    assert len(et.equilibria("oja-flow", V=given(A), n=2)) == 4
    if kind not in ("float16", "bfloat16"):
        run = et.simulate("oja-map", V=given(A), alpha="1/4", tokens=given([[0.6, 0.8], [1.0, 0.0]]), end=3)
        assert run.states.dtype is torch.float64 and not run.states.requires_grad


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (torch.empty(2, 2, device="meta"), "is on the meta device and has no numbers"),
        (np.ma.array(A, mask=[[0, 0], [0, 1]]), "is a masked array"),
    ],
)
def test_arrays_without_numbers_are_told(given: Any, said: str) -> None:
    for ask in (
        lambda: et.certify("symmetric", given),
        lambda: et.classify("oja-map", tokens=[[1, 0]], V=given, alpha=1),
        lambda: et.equilibria("oja-flow", V=given, n=2),
        lambda: et.simulate("oja-flow", V=given, n=2),
        lambda: et.simulate("oja-flow", V=A, tokens=given),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            ask()
        assert "\n" not in str(caught.value)


def test_an_answer_is_compared_with_a_word_wherever_it_is() -> None:
    verdict = et.certify(A, "symmetric")
    assert verdict in {"holds", "undecided"} and {"holds": 1}[verdict] == 1  # type: ignore[index]
    checked, again = et.verify("PM-L4", instances=0), et.recheck(verdict, A)
    assert checked == "holds" and again == "holds" and again.verdict == "holds" and verdict.answer == "holds"
    for answer in (verdict, verdict.answer, checked, checked.answer, again, again.verdict):
        with pytest.raises(ValueError, match="one of holds, fails, undecided, got 'hold'"):
            _ = answer == "hold"
    for answer in (verdict, checked, again):
        with pytest.raises(TypeError, match="not true or false"):
            bool(answer)
    found = et.refute(Conjecture("all numbers are small", "oja-map", holds_if=lambda i: i.alpha < 1), seconds=10)[0]
    assert found == "refuted" and found != "survived"
    with pytest.raises(ValueError, match="one of refuted, candidate, survived, not tested, got 'holds'"):
        _ = found == "holds"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: et.certify("positive-definite", A, alpha=1), "alpha has no meaning for positive-definite"),
        (lambda: et.certify("positive-definite", A, bound=1), "bound has no meaning for positive-definite"),
        (lambda: et.certify("rank", A, within=1), "within has no meaning for rank"),
        (lambda: et.certify("rank", A, by="modulus"), "by has no meaning for rank"),
        (lambda: et.certify(Symmetric(V), A, alpha=1), "alpha is not in Symmetric"),
        (lambda: et.certify("positive-definite", [["t"]], over=(1,)), "over must be two times"),  # type: ignore[arg-type]
        (lambda: et.simulate("oja-map", n=-1), "n must be a whole number, at least 1, got -1"),
        (lambda: et.simulate("oja-map", d=0), "d must be a whole number, at least 1, got 0"),
        (lambda: et.simulate("oja-map", instances=0), "instances must be a whole number"),
        (lambda: et.simulate("oja-map", n=True), "n must be a whole number"),
        (lambda: et.simulate("oja-map", alpha=1j), "alpha must be a finite number above 0"),  # type: ignore[arg-type]
        (lambda: et.simulate("oja-map", mask=[[2, 0], [1, 1]]), "mask must hold 0 and 1 only"),
        (lambda: et.simulate("oja-map", V=A.astype(np.longdouble)), "must be of float32 or float64, got"),
        (lambda: et.equilibria("oja-flow", V=A, n=2.5), "n must be a whole number"),  # type: ignore[arg-type]
        (lambda: et.equilibria("oja-flow", V=None, n=2), "rows of numbers, got None"),
        (lambda: et.equilibria("oja-flow", V=A, tokens=[[1, 0]]), "tokens are not asked for"),
    ],
)
def test_what_means_nothing_is_told(ask: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_numbers_may_be_of_numpy_torch_or_sympy() -> None:
    assert et.certify("positive-definite", A, radius=torch.tensor(0.5)) == "holds"
    assert et.certify("dominant-step", A, alpha=np.float32(0.5)) == "holds"
    assert et.certify("positive-definite", [["1 + t"]], over=np.array([0, 1])) == "holds"  # type: ignore[arg-type]
    found = et.classify("oja-flow", tokens=[[1 / sqrt(2), 1 / sqrt(2)]], V=[[2, 1], [1, 2]])
    assert found.kind == "consensus" and found.k == 1
    run = et.simulate("oja-map", V=A, alpha=torch.tensor(0.25), n=np.int64(3), end=3)
    assert run.settings["alpha"] == 0.25 and run.settings["n"] == 3


def test_answers_go_from_one_process_to_another() -> None:
    found = et.classify("oja-flow", tokens=[["3/5", "4/5"]] * 2, V=[[2, 1], [1, 3]])
    stable = et.classify("attention-flow", tokens=[[1, 0], [-1, 0], [1, 0]], V=A, M=[[1, 0], [0, "ln(3)"]])
    listed = et.equilibria("oja-flow", V=A, n=2)
    guess = Conjecture("all numbers are small", "oja-map", holds_if=_small)
    for value in (found, stable, listed, et.refute(guess, seconds=10), et.certify(A, "symmetric")):
        again = pickle.loads(pickle.dumps(value))
        assert repr(again) == repr(value)
        assert repr(copy.deepcopy(value)) == repr(value)
    with precision(2000):
        ball = arb(1) / 3
    kept = pickle.loads(pickle.dumps(ball))
    assert (kept.mid(), kept.rad()) == (ball.mid(), ball.rad())


def _small(instance: Any) -> Any:
    return instance.alpha < 1


def test_samples_of_nothing_are_refused() -> None:
    """I at time 0 and 9 I at time 1 are no samples of a matrix that changes by at most 1/10: all would hold of it."""
    given = {"times": [0, 1], "matrices": [np.eye(2), 9 * np.eye(2)], "lipschitz": "1/10"}
    with pytest.raises(ValueError, match="change faster than the Lipschitz constant 1/10 allows"):
        et.certify("positive-definite", given, over=(0, 1))
    arrays = {"times": torch.tensor([0.0, 1.0]), "matrices": torch.stack([torch.eye(2)] * 2), "lipschitz": 0.5}
    assert et.certify("positive-definite", arrays, over=(0, 1)) == "holds"
    assert et.certify("positive-definite", [["1/t"]], over=(0, 1)) == "undecided"


def test_a_run_that_stops_early_is_not_shown_as_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from eigentoken.numerics.dynamics import simulate as module

    follow = module.follow
    monkeypatch.setattr(module, "follow", lambda *a, **k: follow(*a, **{**k, "max_steps": 3}))
    with pytest.raises(ValueError, match=r"oja-flow: stopped at time .* of 200 after 3 steps"):
        et.simulate("oja-flow", n=4, d=3)


def test_equilibria_are_counted_where_they_were_looked_for() -> None:
    """Two opposite tokens in any direction are equilibria of the Oja flow as well: four is not the number of all."""
    assert repr(et.equilibria("oja-flow", V=A, n=2)).startswith(
        "4 equilibria of oja-flow on eigenvectors, n = 2, d = 2"
    )


def test_tokens_and_places_may_come_second_without_a_name(tmp_path: Path) -> None:
    start = [[0.6, 0.8], [0.8, -0.6]]
    run = et.simulate("oja-map", start, V=A, alpha=0.25)
    assert torch.equal(run.states, et.simulate("oja-map", tokens=start, V=A, alpha=0.25).states)
    assert torch.equal(run.final, run.states[-1])
    named = set(np.load(run.save(tmp_path / "run")).files)
    assert {"observable_E", "observable_W", "observable_effective_rank"} <= named
    assert all(name.isidentifier() for name in named)
    found = et.classify("oja-map", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]], alpha="1/4")
    assert found.kind == "consensus" and found.latex.startswith(r"\text{consensus}")
    assert next(entry.value for entry in et.spectrum("oja-map", "consensus")) == et.spectrum("oja-map")[0].value


def test_a_point_is_compared_with_the_names_of_classes_and_with_nothing_else() -> None:
    found = et.classify("oja-map", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]], alpha="1/4")
    assert found == "consensus" and found != "bipartite" and found in {"consensus"}
    assert found == et.classify("oja-map", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]], alpha="1/4")
    assert found != et.classify("oja-map", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]], alpha="1/8")
    with pytest.raises(ValueError, match=r"one of consensus, bipartite, .* got 'stable'"):
        _ = found == "stable"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: et.verify(["PM-L3", 4]), "asked for by its id, such as 'PM-L4', got 4"),
        (lambda: et.derive(4), "asked for by its id, such as 'PM-L4', got 4"),
        (lambda: et.statement(4), "asked for by its id"),
        (lambda: et.register(4), "a Statement is registered, got 4"),
        (lambda: et.refute(4), "subject must be a Conjecture, several, or the file that states them, got int"),
        (lambda: et.reproduce(4), "recipes must be the names of some"),
        (lambda: et.classify(4), "point must be the name of a system, an Instance, a mapping or a file, got int"),
        (
            lambda: et.certify("posdef", A),
            "unknown condition 'posdef': did you mean positive-definite",
        ),
        (lambda: et.load("gpt2-of-mine"), "with its organisation \\(openai-community/gpt2-of-mine\\)"),
        (lambda: et.load(torch.nn.Linear(2, 2)), "load\\(module, config={'model_type': ...}\\)"),
        (lambda: et.Instance("oja-map", {}, ()), "exact numbers in tuples, got 'oja-map': Instance.of"),
        (lambda: et.Instance(et.system("oja-map"), {"V": A}, ((1, 0),)), "got V as ndarray: Instance.of"),
        (lambda: et.Instance(et.system("oja-map"), {}, [[1, 0]]), "got tokens as list: Instance.of"),
    ],
)
def test_what_is_something_else_is_told_in_one_line(ask: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_names_are_listed_one_a_line() -> None:
    for listed in (et.systems(), et.conditions()):
        assert len(repr(listed).splitlines()) <= 10
        assert set(listed.to_frame().index) == set(listed)
        assert all(name in listed._repr_html_() for name in listed)
