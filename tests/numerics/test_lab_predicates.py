"""Free predicates that can be run again, searches that stop at their time, and hints that are no candidates."""

from __future__ import annotations

import itertools
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from eigentoken.numerics.deadline import OutOfTime, is_over, limited, patient, tick
from eigentoken.numerics.lab import Conjecture, ConjectureError, load, refute
from eigentoken.numerics.lab.gathering import Unit
from eigentoken.numerics.lab.rerun import Rerun
from eigentoken.numerics.lab.search import run_unit
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.language.claims import AlmostEveryConverges, Stable
from eigentoken.theory.language.conditions import BoundedInTime, IsIdentity, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.observables_attention import absolute_cosine_gap
from eigentoken.theory.language.places import AntipodalAt, ConsensusAt, ConsensusSet
from eigentoken.theory.language.terms import Eigenvalue, d, matrix, n

from ..commands import here
from .forging import resealed

U, V = matrix("U"), matrix("V")
HEAD = """
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.terms import matrix
V = matrix("V")
"""


def report_of(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(refute(file, seconds=60, seed=1).as_dict()))
    assert document["results"][0]["verdict"] == "refuted"
    return document


@pytest.mark.parametrize("form", ["lambda", "function"])
def test_predicates_are_run_again_only_when_asked(tmp_path: Path, form: str) -> None:
    (tmp_path / "checks.py").write_text("def small(x):\n    return x.V.trace() < 4\n")
    given = "lambda x: x.V.trace() < 4" if form == "lambda" else '"checks.py:small"'
    file = tmp_path / "guess.py"
    file.write_text(HEAD + f"guess = Conjecture('trace', 'oja-map', [Symmetric(V)], holds_if={given}, d=[2], n=[1])\n")
    document = report_of(file)
    assert recheck_report(document)[-1][1].is_undecided
    again = recheck_report(document, authors_code=Rerun())
    assert all(verdict.is_holds for _, verdict in again)
    home = tmp_path / ("guess.py" if form == "lambda" else "checks.py")
    text = home.read_text()
    home.write_text(text.replace("4", "5"))
    changed = recheck_report(document, authors_code=Rerun())[-1][1]
    assert changed.is_undecided
    assert "sha256" in changed.reason
    home.write_text(text)
    certificate = document["results"][0]["counterexample"]["certificates"][-1]
    certificate["data"]["predicate"]["sha256"] = "0" * 64
    assert any(verdict.is_fails for _, verdict in recheck_report(document, authors_code=Rerun()))  # its digest differs
    assert recheck_report(resealed(document), authors_code=Rerun())[-1][1].is_undecided


def test_a_predicate_that_is_true_after_all_is_told(tmp_path: Path) -> None:
    """The certificate of another file, whose predicate is true of the numbers: the re-check says so."""
    (tmp_path / "guess.py").write_text(
        HEAD
        + "guess = Conjecture('trace', 'oja-map', [Symmetric(V)], holds_if=lambda x: x.V.trace() < 4, d=[2], n=[1])\n"
    )
    document = report_of(tmp_path / "guess.py")
    other = tmp_path / "other.py"
    other.write_text("def always(x):\n    return True\n")
    import hashlib

    data = document["results"][0]["counterexample"]["certificates"][-1]["data"]
    data["predicate"] = {"file": str(other), "sha256": hashlib.sha256(other.read_bytes()).hexdigest()}
    data["predicate"] |= {"function": "always", "conjecture": "trace"}
    assert recheck_report(resealed(document), authors_code=Rerun())[-1][1].is_fails


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"holds_if": "missing.py:check"}, "no file"),
        ({"holds_if": "nothing"}, "file.py:function"),
        ({"holds_if": 3}, "must be a function"),
        ({"claims": [Stable(ConsensusAt(V, 1))], "at": AntipodalAt()}, "at must be a place"),
    ],
)
def test_bad_predicates_are_told(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConjectureError, match=says):
        Conjecture("bad", "oja-map", [Symmetric(V)], **options)


def test_predicates_see_steps_and_weights() -> None:
    """Floats and exact numbers agree: rows of the attention matrix sum to 1, one step keeps the sphere."""
    import numpy as np

    from eigentoken.numerics.author_code.decided_arrays import DecidedArray
    from eigentoken.numerics.author_code.decided_numbers import enclosure
    from eigentoken.numerics.instances.exact import batch_of
    from eigentoken.numerics.instances.exact_values import Case
    from eigentoken.numerics.lab.predicate_instances import decided_instance, one_instance
    from eigentoken.theory.classification.instances import Instance

    tokens = [["3/5", "4/5"], ["0", "1"]]
    instance = Instance.of("attention-map", tokens, V=[[1, 0], [0, 2]], M=[[0, 1], [0, 0]], alpha="1/2")
    exact, floats = decided_instance(Case(instance)), one_instance(batch_of(instance, 1, 1), 0)

    def near(array: DecidedArray) -> Any:
        return np.array([float(enclosure(each).mid()) for each in array.reshape(-1)]).reshape(array.shape)

    assert np.allclose(near(exact.attention()), floats.attention(), atol=1e-14)
    assert np.allclose(near(exact.advance()), floats.advance(), atol=1e-14)
    assert np.allclose(floats.attention().sum(1), 1)
    assert not floats.is_equilibrium()


# --- time ------------------------------------------------------------------------------------------------------------


def test_work_stops_at_its_end() -> None:
    with pytest.raises(OutOfTime), limited(time.time() + 0.05):
        for _ in itertools.count():
            pass
    assert not is_over()
    tick()  # nothing is left behind
    with pytest.raises(OutOfTime), limited(time.time() - 1):
        pytest.fail("work was begun after its end")


def test_patient_work_is_not_interrupted_and_knows() -> None:
    finished = False
    with pytest.raises(OutOfTime), limited(time.time() + 0.05):
        with patient():
            while not is_over():
                pass
            tick()
            finished = True
        for _ in itertools.count():
            pass
    assert finished


def test_threads_stop_by_ticks() -> None:
    seen: list[str] = []

    def work() -> None:
        try:
            with limited(time.time() + 0.05):
                while True:
                    tick()
        except OutOfTime:
            seen.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert seen == ["stopped"]


def test_the_alarm_waits_until_coverage_has_given_its_lock_back() -> None:
    """An exception between taking and giving it back would stop the measured process for ever."""
    source = "def lock_data(end):\n    while clock() < end:\n        pass\n    done.append('given back')\n"
    done: list[str] = []
    measuring: dict[str, Any] = {"__name__": "coverage.collector", "clock": time.time, "done": done}
    exec(source, measuring)
    with pytest.raises(OutOfTime), limited(time.time() + 0.01):
        measuring["lock_data"](time.time() + 0.05)
        while True:
            pass
    assert done == ["given back"]


@pytest.mark.parametrize("method", ["enumeration", "batches", "ascent", "hypothesis"])
def test_units_stop_with_what_they_have(method: str) -> None:
    guess = Conjecture("g", "oja-map", [Symmetric(V), SimpleTop(V), Relation(n >= 2)], [Stable(ConsensusAt(V, 1))])
    (target,) = targets(guess)
    late = run_unit(target, Unit(method, 1, 10**4), time.time() - 1)
    assert (late.tried, late.findings, late.error) == (0, (), "")
    cut = run_unit(target, Unit(method, 1, 10**5), time.time() + 0.25)
    assert cut.error == ""
    assert cut.tried < 10**5


def test_the_report_tells_its_volume() -> None:
    guess = Conjecture(
        "flip", "oja-map", [Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(d <= 3)],
        holds_if=lambda x: x.alpha > 0,
    )  # fmt: skip
    (result,) = refute(guess, seconds=20, instances=300, seed=1).results
    assert result.answer == "survived"
    assert result.volume["d"][1] <= 3
    assert result.volume["alpha"][0] > 0
    assert "search volume: n in [" in result.meaning
    assert result.as_dict()["volume"]["n"][0] >= 1


def test_marginal_equilibria_are_hints_and_no_candidates() -> None:
    """AB-T5.1 corrected: an antipodal state that floats do not tell from a marginal one is no violation."""
    guess = Conjecture(
        "AB-T5.1",
        "causal-flow",
        [IsIdentity(U), BoundedInTime("P"), Relation(d >= 2)],
        [AlmostEveryConverges(ConsensusSet())],
    )
    (target,) = targets(guess)
    results = [run_unit(target, Unit("equilibria", seed, 400)) for seed in range(2)]
    assert all(finding.hint for result in results for finding in result.findings)
    assert all(result.best <= 0 for result in results)


def test_observables_of_every_chapter_are_read_back() -> None:
    from eigentoken.theory.language.claims import Nonnegative
    from eigentoken.theory.language.documents import decode, encode

    claim = Nonnegative(absolute_cosine_gap, strict=True)
    assert decode(json.loads(json.dumps(encode(claim)))) == claim


def test_the_command_refuses_bad_files_with_one_line(tmp_path: Path) -> None:
    """Syntax error, contradiction, raising predicate: exit 2, one line with the place, nothing on stdout."""
    bad = {
        "syntax.py": "x = (1,\n",
        "contradiction.py": HEAD.replace("import Symmetric", "import NegativeDefinite, PositiveDefinite")
        + "c = Conjecture('c', 'oja-map', [PositiveDefinite(V), NegativeDefinite(V)], holds_if=lambda x: True)\n",
        "raises.py": HEAD + "c = Conjecture('c', 'oja-map', [Symmetric(V)], holds_if=lambda x: 1 / 0)\n",
    }
    for name, text in bad.items():
        file = tmp_path / name
        file.write_text(text)
        done = here("refute", file, "--seconds", "5", "--jobs", "1", "--json")
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.strip().splitlines()) == 1
        assert f"{name}:" in done.stderr


def test_the_blind_conjectures_load() -> None:
    """Those of the sheets and those of a theorist; every one says what is expected of it."""
    folder = Path(__file__).parents[2] / "benchmarks" / "blind"
    listed = [each for file in sorted(folder.glob("*.py")) for each in load(file)]
    assert len({each.name for each in listed}) == len(listed)
    expected = [each.expect for each in listed]
    assert expected.count("refuted") >= 70
    assert expected.count("survives") >= 30
    assert "open" not in expected
