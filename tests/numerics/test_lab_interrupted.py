"""Work is never lost: the report is kept after each conjecture, and an interrupt leaves what was tried."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eigentoken.numerics.lab import Conjecture, notebook_progress, refutation, refute
from eigentoken.numerics.lab.notebook_progress import NotebookLine, notebook_line
from eigentoken.numerics.lab.report import RefutationReport
from eigentoken.numerics.lab.scale_out import Workers
from eigentoken.theory.language.claims import Decreases
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.terms import matrix

FILE = """
from eigentoken.lab import *

V = matrix("V")


def stated(number):
    claims = [Equilibrium(ConsensusAt(V, 1))]
    return Conjecture(name=f"number {number}", system="oja-flow", conditions=[Symmetric(V)], claims=claims)


one, two, three = stated(1), stated(2), stated(3)
"""


@pytest.fixture
def conjectures(tmp_path: Path) -> Path:
    path = tmp_path / "conjecture_three.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third unit of work is broken off."""
    run, calls = Workers.run, iter(range(100))

    def broken(self: Workers, chunk: Any, end: float) -> Iterator[Any]:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return run(self, chunk, end)

    monkeypatch.setattr(Workers, "run", broken)


def test_the_report_so_far_is_handed_on_after_each_conjecture(conjectures: Path) -> None:
    seen: list[RefutationReport] = []
    report = refute(conjectures, instances=1, finished=seen.append)
    assert [len(each) for each in seen] == [1, 2, 3]
    assert seen[-1].results == report.results
    assert not report.interrupted


@pytest.mark.usefixtures("broken_off")
def test_an_interrupt_ends_the_search_and_tells_what_was_tried(conjectures: Path) -> None:
    report = refute(
        conjectures, instances=10**9, seconds=1e-9
    )  # the time is over before the first unit: nothing is run
    assert not report.interrupted
    report = refute(conjectures, instances=1_000_000, seconds=60)
    assert report.interrupted
    assert len(report) == 1
    assert report[0].stopped == "interrupted"
    assert report[0].tried > 0
    assert "where the search was interrupted" in report[0].meaning


@pytest.mark.usefixtures("broken_off")
def test_the_command_leaves_a_report_and_says_that_it_was_interrupted(conjectures: Path) -> None:
    from eigentoken.cli import app

    kept = conjectures.with_name("report.json")
    ran = CliRunner().invoke(app, ["refute", str(conjectures), "--jobs", "1", "-o", str(kept), "--seconds", "60"])
    assert ran.exit_code == 130, ran.output
    assert "interrupted" in ran.output
    document = json.loads(kept.read_text())
    assert [each["stopped"] for each in document["results"]] == ["interrupted"]
    assert document["results"][0]["tried"] > 0


def test_resume_goes_on_with_what_was_not_done_and_refuses_another_text(conjectures: Path) -> None:
    from eigentoken.cli import app

    def run(*more: str) -> Any:
        call = ["refute", str(conjectures), "--jobs", "1", "--instances", "1", "-o", str(kept), *more]
        return CliRunner().invoke(app, call)

    kept = conjectures.with_name("report.json")
    assert run().exit_code in (0, 1)
    whole = json.loads(kept.read_text())
    assert len(whole["results"]) == 3
    assert whole["file_sha256"] == hashlib.sha256(conjectures.read_bytes()).hexdigest()
    part = {**whole, "results": [{**whole["results"][0], "stopped": "interrupted"}, whole["results"][2]]}
    kept.write_text(json.dumps(part))
    again = run("--resume")
    assert again.output.count("done before") == 1, again.output
    found = json.loads(kept.read_text())
    assert [each["name"] for each in found["results"]] == [each["name"] for each in whole["results"]]
    assert found["results"][2] == whole["results"][2] and found["results"][0]["stopped"] != "interrupted"
    conjectures.write_text(conjectures.read_text() + "\n# another text\n")
    assert "sha256 differs" in str(run("--resume").exception)
    kept.write_text(json.dumps({**whole, "results": [3]}))
    assert "is not a document of" in str(run("--resume").exception)
    kept.write_text(json.dumps({**whole, "schema": "eigentoken/refutation/2"}))
    assert "eigentoken/refutation/3" in str(run("--resume").exception)


def test_a_long_search_in_a_notebook_shows_a_line_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, what: dict[str, str], raw: bool) -> None:
            shown.append(what["text/plain"])

    def display(what: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(what["text/plain"])
        return Handle()

    monkeypatch.setattr(refutation, "notebook_line", lambda: NotebookLine(display))
    monkeypatch.setattr(notebook_progress, "SOON", 0.0)
    V = matrix("V")
    stated = Conjecture("kept", "oja-flow", [Symmetric(V), PositiveDefinite(V)], [Decreases(oja_potential)])
    refutation.refute(stated, instances=4000)
    assert len(shown) > 1 and shown[-1] == "" and "best violation" in shown[0] and " s left" in shown[0]
    shown.clear()
    refutation.refute(stated, instances=100, watch=lambda progress: None)
    assert shown == [] and notebook_line() is None
