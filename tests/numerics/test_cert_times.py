"""Conditions at all times of an interval: formulas, samples, their door ``certify --over``, and its re-check."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.numerics.certified.enclosures import MatrixError
from eigentoken.numerics.certified.time_bounds import certify_at_all_times, certify_formula, certify_samples
from eigentoken.rechecking.recheck import recheck_document

FORMULA = [["2 + sin(t)", "1/4"], [0.25, 1]]
SAMPLES = {"times": [0, 1, 2], "matrices": [[[2, 0], [0, 1]], [[3, 0], [0, 1.5]], [[2, 0], [0, 1]]], "lipschitz": "1"}


def test_formulas_at_all_times() -> None:
    assert certify_formula("positive-definite", [["2 + sin(t)", "1/4"], ["1/4", "exp(-t)"]], (0, 2)).is_holds
    failing = certify_formula("positive-definite", [["1 - t", "0"], ["0", "1"]], (0, 2))
    assert failing.is_fails
    assert Fraction(failing.details["time"]) > 1
    touching = certify_formula("positive-definite", [["(t - 1/3)^2", "0"], ["0", "1"]], (0, 1), pieces=200)
    assert not touching.is_holds
    rotation = [["sin(t)", "cos(t)"], ["-cos(t)", "sin(t)"]]
    assert certify_formula("norm-bound", rotation, (0, 3), bound="1.05").is_holds
    assert certify_formula("norm-bound", rotation, (0, 3), bound="0.99").is_fails
    assert not certify_formula("positive-definite", [["1/t"]], (-1, 1), pieces=50).is_holds
    for bad in ("__import__('os')", "t.real", "x", "t if t else 1", "t**t", "1 +"):
        with pytest.raises(MatrixError):
            certify_formula("positive-definite", [[bad]], (0, 1))
    with pytest.raises(MatrixError, match="interval"):
        certify_formula("positive-definite", [["1"]], (1, 0))


def test_samples_with_a_lipschitz_constant() -> None:
    one = np.eye(2)
    assert certify_samples("positive-definite", [0, 1, 2], [one, 2 * one, one], 1, (0, 2)).is_holds
    assert certify_samples("positive-definite", [0, 1, 2], [one, 2 * one, one], 3, (0, 2)).is_undecided
    assert certify_samples("positive-definite", [0, 1, 2], [one, -one, one], 2, (0, 2)).is_fails
    # a failing sample outside the interval says nothing about it
    outside = certify_samples("positive-definite", [0, 5], [2 * one, -one], "6/10", (0, 1))
    assert outside.is_holds
    # the ends of the interval are covered from the nearest sample
    assert certify_samples("positive-definite", [1], [one], 1, (0, 1)).is_undecided
    with pytest.raises(MatrixError, match="change faster than the Lipschitz constant 1 allows"):
        certify_samples("positive-definite", [0, 1, 2], [one, -one, one], 1, (0, 2))
    with pytest.raises(MatrixError, match="increase"):
        certify_samples("positive-definite", [1, 0], [one, one], 1, (0, 1))
    with pytest.raises(MatrixError, match="one matrix"):
        certify_samples("positive-definite", [1, 0], [one], 1, (0, 1))


@pytest.mark.parametrize("given", [FORMULA, SAMPLES], ids=["formula", "samples"])
def test_the_door_takes_a_file_and_its_documents_are_rechecked(given: Any, tmp_path: Path) -> None:
    source, document, saved = tmp_path / "P.json", tmp_path / "verdict.json", tmp_path / "certificate.json"
    source.write_text(json.dumps(given))
    asked = ["certify", "positive-definite", str(source), "--over", "0,2", "--save", str(saved), "--json"]
    written = CliRunner().invoke(app, asked)
    assert written.exit_code == 0, written.output
    document.write_text(written.stdout)
    shown = json.loads(written.stdout)
    assert shown["verdict"] == "holds" and "at all times of [0, 2]" in shown["reason"]
    found = recheck_document(document)
    assert found.verdict == "holds" and found.not_covered == []
    assert recheck_document(saved, source=str(source)).verdict == "holds"
    lies: list[tuple[str, Any]] = [
        ("verdict", "fails"),
        ("margin", shown["margin"] * 2),
        ("condition", "nonsingular"),
        ("reason", shown["reason"].replace("[0, 2]", "[0, 9]")),
        ("details", {**shown["details"], "interval": ["0", "9"]}),
        ("details", {**shown["details"], "pieces": 7}),
    ]
    for name, lie in lies:
        document.write_text(json.dumps({**shown, name: lie}))
        assert recheck_document(document).verdict == "fails", name


def test_a_document_about_another_file_is_not_confirmed(tmp_path: Path) -> None:
    """The formula, the samples, their times and their Lipschitz constant are those of the file that is named."""
    for given, changed in (
        (FORMULA, [["2 + cos(t)", "1/4"], [0.25, 1]]),
        (SAMPLES, {**SAMPLES, "lipschitz": "1/3"}),
        (SAMPLES, {**SAMPLES, "times": [0, "1/2", 2]}),
        (SAMPLES, {**SAMPLES, "matrices": [[[1, 0], [0, 1]]] * 3}),
    ):
        source, document = tmp_path / "P.json", tmp_path / "verdict.json"
        source.write_text(json.dumps(given))
        written = CliRunner().invoke(app, ["certify", "positive-definite", str(source), "--over", "0,2", "--json"])
        document.write_text(written.stdout)
        assert recheck_document(document).verdict == "holds"
        source.write_text(json.dumps(changed))
        assert recheck_document(document).verdict == "fails", changed


def test_a_failure_names_its_time_and_is_rechecked(tmp_path: Path) -> None:
    source, document = tmp_path / "P.json", tmp_path / "verdict.json"
    source.write_text('[["1 - t", 0], [0, 1]]')
    written = CliRunner().invoke(app, ["certify", "positive-definite", str(source), "--over", "0,2", "--json"])
    document.write_text(written.stdout)
    shown = json.loads(written.stdout)
    assert shown["verdict"] == "fails" and Fraction(shown["details"]["time"]) >= 1
    found = recheck_document(document)
    assert found.verdict == "holds" and found.not_covered == ["reason"]
    document.write_text(json.dumps({**shown, "details": {"time": "0"}}))
    assert recheck_document(document).verdict == "fails"


def test_numbers_of_a_file_are_those_that_are_written(tmp_path: Path) -> None:
    """0.1 is a tenth, and not the float above it."""
    source = tmp_path / "P.json"
    source.write_text('{"times": [0], "matrices": [[[0.1]]], "lipschitz": 0}')
    assert certify_at_all_times("norm-bound", source, (0, 1), bound="1/10").is_holds
    floats = {"times": [0], "matrices": [np.array([[0.1]])], "lipschitz": 0}
    assert certify_at_all_times("norm-bound", floats, (0, 1), bound="1/10").is_fails


def test_what_is_no_condition_at_all_times_is_refused(tmp_path: Path) -> None:
    for condition in ("spectrum", "inertia", "rank", "norm-bound"):
        with pytest.raises(MatrixError, match="depend on the time"):
            certify_at_all_times(condition, FORMULA, (0, 1))
    assert certify_at_all_times("rank", FORMULA, (0, 1), expected=2).is_holds
    for bad in ({"times": [0]}, [1, 2], {"times": 0, "matrices": [], "lipschitz": 1}, 3):
        with pytest.raises(MatrixError):
            certify_at_all_times("symmetric", bad, (0, 1))
    for over in ("0", "0,1,2", "0,x"):
        source = tmp_path / "P.json"
        source.write_text(json.dumps(FORMULA))
        assert CliRunner().invoke(app, ["certify", "symmetric", str(source), "--over", over]).exit_code != 0
