"""``strengthen``: thresholds are bracketed by a survivor and a certified counterexample, and the re-check refuses forged rows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.lab import (
    Abs,
    AlmostEveryConverges,
    AnyOf,
    Conjecture,
    ConsensusAt,
    ConsensusSet,
    Eigenvalue,
    Iff,
    LyapunovStable,
    Not,
    PositiveDefinite,
    Rational,
    Relation,
    SimpleTop,
    SpectralNorm,
    Stable,
    Symmetric,
    Unstable,
    When,
    alpha,
    d,
    matrix,
    n,
)
from eigentoken.numerics.lab.refutation import refute_conjecture
from eigentoken.numerics.lab.scale_out import Workers
from eigentoken.numerics.lab.strengthen import _Bench, _rows, strengthen
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.lab.variants import constants, variants
from eigentoken.numerics.recheck.refutations.strengthened import recheck_strengthened
from eigentoken.theory.language.trial_sentences import TriedChange, outcome_of, sentence_of

V = matrix("V")
TOP = (Symmetric(V), SimpleTop(V))
POSITIVE = Relation(Eigenvalue(V, 1) > 0)
FLIP = Relation(alpha * (Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) < 2)


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """Stable for ``alpha |V| < 1/2``; the constant that is true is 2 (PM-L4 with ``lambda_1`` near 0)."""
    short = Relation(alpha * SpectralNorm(V) < Rational(1, 2))
    stated = Conjecture("short steps", "oja-map", [*TOP, POSITIVE, short], Stable(ConsensusAt(V, 1)), n=[2], d=[2])
    report = strengthen(stated, seconds=120, instances=100)
    assert report["short steps"].whole.answer == "survived" and not report.interrupted
    made: dict[str, Any] = json.loads(json.dumps(report.as_dict()))
    return made


def row(document: dict[str, Any], kind: str, number: int) -> Any:
    return next(each for each in document["results"][0]["rows"] if each["kind"] == kind and each["number"] == number)


def test_the_threshold_is_between_a_survivor_and_a_certified_counterexample(table: dict[str, Any]) -> None:
    found = {each["to"]: each["result"]["verdict"] for each in row(table, "constant", 3)["trials"]}
    alive = max(Fraction(to) for to, verdict in found.items() if verdict == "survived")
    fallen = min(Fraction(to) for to, verdict in found.items() if verdict == "refuted")
    assert alive <= 2 < fallen < Fraction(5, 2)


def test_a_needed_condition_falls_and_another_is_only_said_to_survive(table: dict[str, Any]) -> None:
    assert row(table, "drop", 1)["outcome"] == row(table, "drop", 3)["outcome"] == "falls"
    weaker = row(table, "weaken", 3)
    assert weaker["outcome"] == "survives" and weaker["says"].endswith("none failed; this is no proof")
    assert row(table, "converse", 3)["outcome"] == "falls"


def test_the_second_arithmetic_confirms_every_counterexample(table: dict[str, Any]) -> None:
    again = recheck_strengthened(table)
    refuted = [
        each for r in table["results"][0]["rows"] for each in r["trials"] if each["result"]["verdict"] == "refuted"
    ]
    assert len(refuted) > 6 and len(again.lines) >= 5 * len(refuted) - 6
    assert not again.shown.found and all(verdict.is_holds for _, verdict in again.lines)


def weaker_word(document: dict[str, Any]) -> None:
    row(document, "weaken", 3)["trials"][0]["result"] = row(document, "drop", 3)["trials"][0]["result"]


def other_value(document: dict[str, Any]) -> None:
    row(document, "constant", 3)["trials"][-1]["to"] = "51/100"


def tighter_sentence(document: dict[str, Any]) -> None:
    row(document, "constant", 3)["outcome"] = "survives at 1/2, falls at 51/100"


def proof(document: dict[str, Any]) -> None:
    row(document, "weaken", 3)["says"] = "it holds"


def other_condition(document: dict[str, Any]) -> None:
    row(document, "drop", 1)["number"] = 0


def moved_instance(document: dict[str, Any]) -> None:
    found = row(document, "constant", 3)["trials"][-1]["result"]
    if found["counterexample"] is None:
        found = row(document, "constant", 3)["trials"][-2]["result"]
    found["counterexample"]["instance"]["alpha"] = "1/9"


def falls_without_a_counterexample(document: dict[str, Any]) -> None:
    row(document, "drop", 1)["trials"][0]["result"]["counterexample"] = None


def rows_of_what_fell(document: dict[str, Any]) -> None:
    document["results"][0]["whole"]["verdict"] = "candidate"


@pytest.mark.parametrize(
    "forge",
    [
        weaker_word,
        other_value,
        tighter_sentence,
        proof,
        other_condition,
        moved_instance,
        falls_without_a_counterexample,
        rows_of_what_fell,
    ],
)
def test_a_forged_table_is_refused(table: dict[str, Any], forge: Callable[[dict[str, Any]], None]) -> None:
    forged = copy.deepcopy(table)
    forge(forged)
    assert forged != table
    assert any(each.answer == "fails" for each in recheck_strengthened(forged).shown.found)


def test_what_falls_has_no_rows() -> None:
    stated = Conjecture("every step", "oja-map", [*TOP, POSITIVE], Stable(ConsensusAt(V, 1)), n=[2], d=[2])
    report = strengthen(stated, seconds=120, instances=2000)
    assert report.refuted and report[0].rows == ()


def test_a_witness_of_a_row_that_refutes_the_conjecture_itself_ends_the_table() -> None:
    """The search as it stands was cut short: the row that finds more says so of the conjecture, not of its conditions."""
    stated = Conjecture("every step", "oja-map", [*TOP, POSITIVE], Stable(ConsensusAt(V, 1)), n=[2], d=[2])
    aims = targets(stated)
    with Workers() as workers:
        blank = replace(refute_conjecture(stated, aims, workers, 1e-9, None, 0), answer="survived")
        *_, last = _rows(stated, aims, blank, _Bench(workers, 120.0, 1000, 0, None))
    assert last.whole.answer == "refuted" and last.rows == ()


def test_directions_in_which_a_constant_says_more() -> None:
    def ways(*said: Any, claims: Any = None) -> list[tuple[str, tuple[int, ...]]]:
        stated = Conjecture("c", "oja-map", said, claims or Stable(ConsensusAt(V, 1)))
        return [(str(each.value), each.ways) for each in constants(stated)]

    assert ways(POSITIVE, Relation(alpha < 3)) == [("0", (-1,)), ("3", (1,))]
    assert ways(Not(Relation(alpha < 3))) == [("3", (-1,))]
    assert ways(AnyOf((Relation(alpha < 3), Relation(alpha > 5)))) == [("3", (1,)), ("5", (-1,))]
    assert ways(Relation(alpha * 2 < 1 - Eigenvalue(V, d))) == [("2", (-1,)), ("1", (1,))]
    assert ways(Relation(2 * Eigenvalue(V, d) < alpha)) == [("2", (-1, 1))]
    assert ways(claims=Iff(Stable(ConsensusAt(V, 1)), Relation(alpha < 3))) == [("3", (-1, 1))]
    assert ways(Relation(sp.Eq(alpha, 1))) == []


def test_what_may_not_be_said_is_not_offered() -> None:
    where = Relation(alpha < 1)
    offered = list(
        variants(
            Conjecture(
                "c",
                "oja-map",
                [PositiveDefinite(V), Relation(n >= 2)],
                [
                    AlmostEveryConverges(ConsensusSet()),
                    When(where, Unstable(ConsensusAt(V, 2))),
                    LyapunovStable(ConsensusAt(V, 1)),
                ],
            )
        )
    )
    assert [(each.kind, each.number) for each in offered] == [
        ("drop", 0),
        ("drop", 1),
        ("weaken", 0),
        ("sharpen", 0),
        ("sharpen", 1),
        ("sharpen", 1),
        ("sharpen", 2),
    ]
    assert offered[4].conjecture.claims[1] == Unstable(ConsensusAt(V, 2))
    assert offered[5].conjecture.claims[1] == Iff(Unstable(ConsensusAt(V, 2)), where)


def test_sentences_say_no_more_than_the_trials() -> None:
    trials = [
        TriedChange("3", "survived", 5),
        TriedChange("6", "refuted"),
        TriedChange("7", "survived", 9),
        TriedChange("4", "candidate"),
    ]
    assert outcome_of("constant", "2", trials) == "survives at 3, falls at 6"
    assert "at 4: a violation was seen in floating point and not certified" in sentence_of("constant", "2", trials)
    assert outcome_of("constant", "2", [TriedChange("3", "refuted")]) == "falls at 3"
    assert sentence_of("drop", None, [TriedChange("", "not tried", 0, "no plan")]) == "could not be judged: no plan"


def test_the_command_writes_a_table_that_recheck_reads(tmp_path: Any) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "table.json"
    file.write_text(
        "from eigentoken.lab import *\nV = matrix('V')\n"
        "top = [Symmetric(V), Relation(Eigenvalue(V, 1) > 1)]\n"
        "c = Conjecture('c', 'oja-flow', top, Equilibrium(ConsensusAt(V, 1)), n=2, d=2)\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(app, ["strengthen", str(file), "--instances", "50", "--jobs", "1", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "survives" in done.output and "this is no" in done.output
    assert json.loads(out.read_text(encoding="utf-8"))["schema"] == "eigentoken/strengthen/1"
    assert "agree: holds" in CliRunner().invoke(app, ["recheck", str(out)]).output
