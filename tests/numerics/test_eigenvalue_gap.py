"""The gap of a spectrum in the lab: a conjecture that asks for one falls, and the re-check decides the condition anew."""

from __future__ import annotations

import pytest

import eigentoken as et
from eigentoken.numerics.recheck.refutations.condition_truths import EXACT_NUMBER
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import read_instance
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, matrix

V = matrix("V")


def test_a_conjecture_with_a_simple_spectrum_falls_and_is_confirmed() -> None:
    simple = [Symmetric(V), Relation(EigenvalueGap(V) > 0), Relation(Eigenvalue(V, 1) > 0)]
    guess = et.Conjecture("a simple spectrum is enough", "oja-map", simple, [Stable(ConsensusAt(V, 1))])
    report = et.refute(guess, seconds=60, instances=200)
    assert report.results[0].answer == "refuted"
    document = report.as_dict()
    assert all(verdict.is_holds for _, verdict in recheck_report(document))


@pytest.mark.parametrize(
    ("value", "gap"),
    [
        ([["3", "0", "0"], ["0", "1", "0"], ["0", "0", "-1"]], 2),
        ([["1", "0", "0"], ["0", "1", "0"], ["0", "0", "0"]], 0),
        ([["2", "1", "0"], ["1", "2", "0"], ["0", "0", "0"]], 1),
        ([["0", "-1", "0"], ["1", "0", "0"], ["0", "0", "2"]], None),  # a pair: not decided here
    ],
)
def test_the_second_arithmetic_has_the_gap(value: list[list[str]], gap: int | None) -> None:
    given = {"system": "oja-map", "V": value, "alpha": "1", "tokens": [["1", "0", "0"]]}
    look = IndependentInstance(read_instance(given), 1, 1)
    assert EXACT_NUMBER(EigenvalueGap(V), look, None) == gap
