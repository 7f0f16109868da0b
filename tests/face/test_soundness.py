"""The harness of ``make soundness``: a small run of every domain is clean, a lie is seen, and a run goes on where it stopped."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.pool import Pool

from ..commands import started

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
try:
    from benchmarks.soundness import __main__ as command
    from benchmarks.soundness import exact, points, signs, spectra, work
    from benchmarks.soundness.estimate import estimate
    from benchmarks.soundness.judging import Case, Domain
    from benchmarks.soundness.state import Count, State, held
    from benchmarks.soundness.table import table
finally:
    sys.path.remove(str(ROOT))


@pytest.mark.parametrize("domain", work.domains(), ids=lambda domain: domain.name)
def test_no_verdict_is_false(domain: Domain) -> None:
    """Some seeds of each generator; ``make soundness`` runs a million cases."""
    cases = 0
    for generator in domain.generators:
        few = domain.weights.get(generator, 1.0) < 1
        piece, wrong = work.run_seeds(domain.name, generator, 0, 1 if few else 4, "test")
        assert not wrong
        assert piece.false == 0
        cases += piece.cases
    assert cases >= 10


def test_the_arithmetic_of_the_harness_is_right() -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        n = int(rng.integers(1, 6))
        array = rng.integers(-3, 4, (n, n))
        rows = exact.fractions(array)
        values = np.linalg.eigvalsh(array + array.T)
        counts = (int((values > 1e-9).sum()), int((values < -1e-9).sum()), int((abs(values) <= 1e-9).sum()))
        assert exact.inertia(exact.symmetric_part(rows)) == counts
        assert exact.rank(rows) == np.linalg.matrix_rank(array)
        inverse = exact.inverse(rows)
        assert (inverse is None) == (exact.rank(rows) < n)
        assert inverse is None or exact.times(rows, inverse) == exact.identity(n)
        norm = float(np.linalg.norm(array, 2))
        assert exact.norm_at_most(rows, Fraction(norm + 1e-9))
        assert exact.norm_at_least(rows, Fraction(norm - 1e-9))
        assert norm < 1e-6 or not exact.norm_at_most(rows, Fraction(norm - 1e-6))
        t, s = exact.unimodular(rng, n)
        assert exact.times(t, s) == exact.identity(n)


def test_known_spectra_are_those_of_the_matrix() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        blocks = [
            spectra.Block(Fraction(int(rng.integers(-3, 4))), Fraction(int(rng.integers(0, 3)))) for _ in range(3)
        ]
        known = spectra.similar(rng, blocks, steps=3)
        found = np.linalg.eigvals(np.array([[float(entry) for entry in row] for row in known.rows]))
        for (real, imaginary), multiplicity in known.multiplicities().items():
            near = np.abs(found - complex(float(real), float(imaginary))) < 1e-3
            assert near.sum() == multiplicity


def test_the_stability_of_the_harness_agrees_with_differences() -> None:
    """The tangent spectrum of the closed form against finite differences of the map, written out here."""
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(60):
        instance, fixed, stable, _ = points._known(rng, flow=False)
        V = np.array([[float(x) for x in row] for row in instance.parameters["V"]])
        tokens = np.array([[float(x) for x in row] for row in instance.tokens])
        alpha = float(instance.parameters["alpha"])

        def step(x: Any, V: Any = V, alpha: float = alpha) -> Any:
            raw = x + alpha * x.mean(axis=0) @ V.T
            return raw / np.linalg.norm(raw, axis=1, keepdims=True)

        with np.errstate(all="ignore"):
            still = bool(np.abs(step(tokens) - tokens).max() < 1e-9)
        assert still == fixed
        if not fixed:
            continue
        size, shape = tokens.size, tokens.shape
        project = np.kron(np.eye(shape[0]), np.eye(shape[1])) - _normal(tokens)
        columns = [
            (step(tokens + 1e-6 * e.reshape(shape)) - step(tokens - 1e-6 * e.reshape(shape))) / 2e-6 for e in project
        ]
        radius = max(abs(np.linalg.eigvals(np.array([c.ravel() for c in columns]).T)), default=0.0)
        assert size == len(columns)
        if abs(radius - 1) > 1e-4:
            assert stable is bool(radius < 1)
            seen.add(stable)
    assert seen == {True, False}


def _normal(tokens: Any) -> Any:
    n, d = tokens.shape
    found = np.zeros((n * d, n * d))
    for i, x in enumerate(tokens):
        found[i * d : (i + 1) * d, i * d : (i + 1) * d] = np.outer(x, x)
    return found


def test_a_lie_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong word, a margin that is too large and an exception are each counted as false."""
    from eigentoken.theory.language.verdicts import VerdictAnswer, holds

    true = signs.certify

    def liar(condition: str, matrix: Any, **options: Any) -> Any:
        return holds("always", margin=0.0) if condition == "positive-definite" else true(condition, matrix, **options)

    monkeypatch.setattr(signs, "certify", liar)
    piece, wrong = work.run_seeds("certify", "congruent integers", 0, 10, "test")
    assert piece.false == len(wrong) > 0
    assert "positive-definite" in wrong[0]

    def boaster(condition: str, matrix: Any, **options: Any) -> Any:
        found = true(condition, matrix, **options)
        return type(found)(
            found.answer, found.reason, (found.margin or 0) * 1.5 + 1e-3, found.unit, None, found.details
        )

    monkeypatch.setattr(signs, "certify", boaster)
    piece, wrong = work.run_seeds("certify", "congruent integers", 0, 10, "test")
    assert piece.false > 0
    assert any("margin" in each for each in wrong)

    def breaker(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no answer")

    monkeypatch.setattr(signs, "certify", breaker)
    piece, wrong = work.run_seeds("certify", "congruent integers", 0, 2, "test")
    assert piece.false == 2
    assert "no answer" in wrong[0]
    assert VerdictAnswer.HOLDS == "holds"


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["--jobs", "1", "--domain", "pairs", "--state", str(tmp_path / "s.json"), "--table", str(tmp_path / "t.md")]
    assert command.main([*call, "--cases", "300"]) == 0
    first = State.load(tmp_path / "s.json")
    assert first.cases() >= 300
    assert command.main([*call, "--cases", "300"]) == 0  # nothing is left to do
    assert State.load(tmp_path / "s.json").cases() == first.cases()
    assert command.main([*call, "--cases", "900"]) == 0
    second = State.load(tmp_path / "s.json")
    assert second.cases() >= 900
    seeds = {(each.generator, each.next) for each in second.counts}
    assert len(seeds) == len(second.counts)
    told = (tmp_path / "t.md").read_text()
    assert f"{second.cases():,} cases, 0 false" in told
    assert "Not run." in told  # the other domains
    assert "all cases reached" in capsys.readouterr().out


def test_a_cluster_counts_the_same_cases(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    call = ["--domain", "pairs", "--cases", "300", "--no-table", "--jobs", "1"]
    with distributed.LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        shared = tmp_path / "shared.json"
        assert command.main([*call, "--state", str(shared), "--address", cluster.scheduler_address]) == 0
    found = State.load(shared)
    assert found.cases() >= 300
    for each in found.counts:  # the same seeds give the same words here
        again, wrong = work.run_seeds(each.domain, each.generator, each.first, each.next - each.first, each.commit)
        assert (again.holds, again.fails, again.undecided, again.other, wrong) == (
            each.holds, each.fails, each.undecided, each.other, []
        )  # fmt: skip
    with pytest.raises(ValueError, match="a worker has another commit"):
        work._in_worker("pairs", found.counts[0].generator, 0, 1, "another")


def _dies_once(domain: str, generator: str, first: int, count: int, commit: str) -> Any:
    mark = Path(os.environ["EIGENTOKEN_TEST_MARK"])
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work.run_seeds(domain, generator, first, count, commit)


def _dies(*_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_process_that_dies_loses_no_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its piece is run again, and nothing is counted twice; one that dies each time is an error that names it."""
    monkeypatch.setenv("EIGENTOKEN_TEST_MARK", str(tmp_path / "died"))
    call = ["--domain", "pairs", "--cases", "300", "--no-table", "--jobs", "2", "--state"]
    monkeypatch.setattr(work, "_in_worker", _dies_once)
    assert command.main([*call, str(tmp_path / "a.json")]) == 0
    monkeypatch.undo()
    assert (tmp_path / "died").exists()
    for each in State.load(tmp_path / "a.json").counts:
        again, _ = work.run_seeds(each.domain, each.generator, each.first, each.next - each.first, each.commit)
        assert again.cases == each.cases and again.holds == each.holds
    monkeypatch.setattr(work, "_in_worker", _dies)
    assert command.main([*call, str(tmp_path / "b.json")]) == 2
    assert not (tmp_path / "b.json").exists()


def test_pieces_are_counted_in_the_order_in_which_they_were_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """They come in another; an interruption leaves no seed behind that is called done and is not."""
    state, counted = State(), []

    class Turned(Pool):
        def lanes(self, function: Any, lanes: Any, shared: Any, named: Any) -> Any:
            tasks = [task for task, _ in zip(shared, range(3), strict=False)]
            for task in (tasks[1], tasks[2]):
                yield task, function(*task)
            raise KeyboardInterrupt

    def count_in(plan: Any, state: Any, path: Any, piece: Any, *_: Any) -> None:
        counted.append(piece)

    monkeypatch.setattr(work, "_count_in", count_in)
    chosen = [each for each in work.domains() if each.name == "pairs"]
    here = work.commit_here()
    options: Any = {"until": time.time() + 60, "commit": here, "advance": lambda *_: None}
    assert not work.run(chosen, state, None, cases=500, pool=Turned(), **options)
    assert counted == []  # the first had not come
    work.run(chosen, State(), None, cases=50, pool=Pool(), **options | {"until": time.time() + 1})
    assert counted


def test_a_full_disk_keeps_the_counts_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = ["--domain", "pairs", "--no-table", "--jobs", "1", "--state", str(tmp_path / "s.json"), "--cases"]
    assert command.main([*call, "200"]) == 0
    before = (tmp_path / "s.json").read_bytes()

    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("eigentoken.files.writing.os.fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        command.main([*call, "600"])
    assert (tmp_path / "s.json").read_bytes() == before
    monkeypatch.undo()
    assert command.main([*call, "600"]) == 0
    assert State.load(tmp_path / "s.json").cases() >= 600


def test_two_runs_do_not_count_into_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second is refused while the first runs, also one of another process, and may go on after it."""
    state = tmp_path / "s.json"
    call = ["--domain", "pairs", "--no-table", "--jobs", "1", "--cases", "100", "--state", str(state)]
    with held(state):
        assert command.main(call) == 2
        assert "another run counts into" in capsys.readouterr().err
        assert not state.exists()
    assert command.main(call) == 0


def test_the_estimate_is_of_cases_that_were_run(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [each for each in work.domains() if each.name == "pairs"]
    small, large = (estimate(chosen, cases, 2, work.commit_here(), sample=60) for cases in (10**6, 10**9))
    hours = [
        float(re.search(r"one core: about ([\d.e+,]+) h", lines[1])[1].replace(",", "")) for lines in (small, large)
    ]  # type: ignore[index]
    assert 100 < hours[1] / hours[0] < 10_000  # linear, but for what the same cases take twice
    assert large[0].startswith("1,000,000,000 cases, from ") and len(large) == 7


def test_bad_calls_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.json").write_text('{"schema": "other"}')
    for call in (["--domain", "none"], ["--cases", "0"], ["--state", str(tmp_path / "s.json")]):
        assert command.main([*call, "--no-table"]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_the_table_is_honest_about_a_short_run() -> None:
    state = State()
    state.add(
        Count("certify", "graded", "abc", 0, 5, holds=3, fails=2, undecided=1, false=1, seconds=60.0), ["it is wrong"]
    )
    state.add(Count("certify", "graded", "def", 5, 9, holds=4), [])
    text = table(state, work.domains(), 2, 1_000_000)
    assert (
        "10 cases, 1 false, 1 minutes of processor time; 1,000,000 cases were asked for, so this is a shorter run."
        in text
    )
    assert "`abc` (6 cases), `def` (4 cases)" in text
    assert "| graded | 10 | 7 | 2 | 1 | 0 | 1 | 60 |" in text
    assert "- it is wrong" in text


def test_a_generator_that_only_yields_nothing_is_no_endless_run() -> None:
    """A plan whose pieces have no cases ends with the time."""
    nothing = Domain("nothing", "", 1, {"empty": lambda rng: iter(())})
    plan = work.Plan([nothing], State(), 10)
    assert plan.next("abc") == ("nothing", "empty", 0, 10, "abc")
    assert Case("holds").false == ""


def test_an_interruption_keeps_what_was_counted(tmp_path: Path) -> None:
    state = tmp_path / "s.json"
    arguments = ["--jobs", "2", "--domain", "certify", "--state", str(state), "--no-table"]
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    waiting, running = started(f"{path}; from benchmarks.soundness.__main__ import main; main({arguments})")
    until = time.time() + 120
    while not state.exists() and time.time() < until:
        time.sleep(0.02)
    os.kill(running, signal.SIGINT)
    out, err = waiting.communicate(timeout=120)
    assert "stopped before all cases were reached" in out, err
    assert "Traceback" not in err
    stored = json.loads(state.read_text())
    assert sum(each["holds"] for each in stored["counts"]) > 0
    assert all(each["next"] > each["first"] for each in stored["counts"])
