"""What is said of the conditions of a conjecture that falls with all of them: that nothing can be said of need."""

from __future__ import annotations

import json

import sympy as sp
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.numerics.lab import Conjecture, RefutationResult, refute
from eigentoken.numerics.lab.refutation import _with_dropped, refute_conjecture
from eigentoken.numerics.lab.scale_out import Workers
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.language.claims import Unstable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import SpectralNorm, alpha, d, k, matrix

V = matrix("V")


def confirmed(result: RefutationResult) -> bool:
    """Does the second arithmetic agree with all that the result says?"""
    verdicts = [verdict for _, verdict in recheck_report({"results": [json.loads(json.dumps(result.as_dict()))]})]
    return bool(verdicts) and all(verdict.is_holds for verdict in verdicts)


def test_nothing_is_said_of_need_where_the_conjecture_itself_falls() -> None:
    """PM-L5 for any split is false as it stands, so no condition of it can be called needed."""
    conditions = [Symmetric(V), SimpleTop(V), Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))]
    stated = Conjecture("any split", "oja-map", conditions, Unstable(BipartiteAt(V, k)), n=[2, 3, 4], d=[2])
    (result,) = refute(stated, seconds=60, drop=True).results
    assert result.answer == "refuted"
    assert [line.needed for line in result.dropped] == [None] * len(conditions)
    assert all("already refuted" in line.says and line.counterexample is None for line in result.dropped)
    assert confirmed(result)


def test_a_witness_that_satisfies_the_dropped_condition_refutes_the_conjecture_itself() -> None:
    """The search with all conditions is cut short, the one without a condition finds a counterexample to both."""
    conditions = [Symmetric(V), Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)), Relation(d <= 5)]
    stated = Conjecture("any split", "oja-map", conditions, Unstable(BipartiteAt(V, k)), n=[2], d=[2])
    aims = targets(stated)
    with Workers() as workers:
        blank = refute_conjecture(stated, aims, workers, 1e-9, None, 0)
        assert blank.answer == "not tested"
        found = _with_dropped(blank, stated, aims, workers, 60.0, None, 0, None)
    assert found.answer == "refuted" and found.counterexample is not None
    assert [line.needed for line in found.dropped] == [None] * len(conditions)
    assert confirmed(found)


def test_the_command_says_it_once() -> None:
    """One plain line, and no condition is called needed."""
    done = CliRunner().invoke(
        app, ["refute", "examples/conjectures/any_step.py", "--drop", "--instances", "2000", "--jobs", "1"]
    )
    assert done.exit_code == 1
    assert " ".join(done.stdout.split()).count("already refuted, so nothing can be said of need") == 1
    assert "without" not in done.stdout
