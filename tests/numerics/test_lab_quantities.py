"""Trace, determinant, rank and extreme entries: one meaning in floats, exactly, in the re-check; and matrices that have them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sympy as sp
import torch

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.instances.sampling import condition_violation, sample
from eigentoken.numerics.lab import Conjecture, ConjectureError, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH, EXACT_NUMBER
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Stable, Unstable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.documents import decode, encode
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.readings import CERTIFIED, ENCLOSURE, EXACT, LATEX, VALUE
from eigentoken.theory.language.terms import Determinant, LargestEntry, Rank, SmallestEntry, Trace, d, matrix

from .forging import resealed

V = matrix("V")
ROWS = [
    [["1/2", "-1/3", "2"], ["0", "5/7", "1"], ["4", "-2", "3"]],
    [["1", "2", "3"], ["2", "4", "6"], ["3", "6", "9"]],
    [["0", "0", "0"], ["0", "0", "0"], ["0", "0", "0"]],
    [["-1", "-2", "-5"], ["-3", "-1/1000000", "-7"], ["-1", "-1", "-4"]],
]
QUANTITIES = [Trace(V), Determinant(V), Rank(V), SmallestEntry(V), LargestEntry(V)]


def seen(rows: Any) -> Instance:
    return Instance.of("oja-flow", [["1", "0", "0"]], V=rows)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda each: type(each).__name__)
def test_all_readings_agree_with_the_definition(quantity: Any, rows: Any) -> None:
    load()
    instance, matrix_ = seen(rows), sp.Matrix(rows).applyfunc(sp.Rational)
    entries = list(matrix_)
    meant = {
        Trace: sum(matrix_[i, i] for i in range(3)),
        Determinant: sum(
            sp.LeviCivita(*order) * matrix_[0, order[0]] * matrix_[1, order[1]] * matrix_[2, order[2]]
            for order in sp.utilities.iterables.multiset_permutations(range(3))
        ),
        Rank: matrix_.rank(),
        SmallestEntry: min(entries),
        LargestEntry: max(entries),
    }[type(quantity)]
    case = Case(instance)
    assert EXACT(quantity, case, None) == meant
    assert EXACT_NUMBER(quantity, IndependentInstance(instance, 1, 1), None) == meant
    exactly = sp.Rational(meant)
    assert (ENCLOSURE(quantity, case, 64, None) * int(exactly.q) - int(exactly.p)).contains(0)
    assert float(VALUE(quantity, batch_of(instance, 1, 1), None)) == pytest.approx(float(meant), abs=1e-12)
    assert decode(encode(quantity)) == quantity
    for relation, true in ((quantity > meant - 1, True), (quantity > meant, False), (quantity >= meant, True)):
        verdict = CERTIFIED(Relation(relation), case)
        assert verdict.is_holds if true else verdict.is_fails
        assert CONDITION_TRUTH(Relation(relation), IndependentInstance(instance, 1, 1), {}) is true


def test_they_are_printed() -> None:
    shown = [LATEX(Relation(each > 0)) for each in QUANTITIES]
    assert shown[0] == r"\operatorname{tr}(V) > 0"
    assert shown[1] == r"\det(V) > 0"
    assert len(set(shown)) == len(shown)


@pytest.mark.parametrize(
    "relation",
    [SmallestEntry(V) > 0, sp.Ge(LargestEntry(V), 1), LargestEntry(V) < -1, Trace(V) > 50, sp.Eq(Trace(V), -3),
     sp.StrictLessThan(0, SmallestEntry(V)), Rank(V) < d],
    ids=str,
)  # fmt: skip
def test_instances_have_them(relation: Any) -> None:
    """All entries positive has one chance in 2^64 for d = 8: they are made, not drawn until they fit."""
    load()
    plan = plan_for("attention-map", [Relation(relation)])
    drawn = sample(plan, 64, 0)
    assert drawn.count >= 64
    for batch in drawn.batches:
        assert bool((condition_violation(plan, batch) < 0).all())
    if not relation.has(Rank):
        assert {batch.d for batch in drawn.batches} > {2, 3}
        assert drawn.constructed < 8 * drawn.count


def test_a_near_miss_is_seen_in_floats() -> None:
    load()
    batch = batch_of(seen(ROWS[0]), 1, 1)
    plan = plan_for("oja-flow", [Relation(SmallestEntry(V) > 0)])
    assert bool((condition_violation(plan, batch) > 0).all())
    assert isinstance(condition_violation(plan, batch), torch.Tensor)


FALSE = [
    Conjecture("trace 0", "oja-map", [Symmetric(V), SimpleTop(V), Relation(sp.Eq(Trace(V), 0))], Stable(ConsensusAt(V, 1)), d=3),
    Conjecture(
        "determinant", "oja-flow", [Symmetric(V), SimpleTop(V), Relation(Determinant(V) > 0)], Unstable(ConsensusAt(V, 1)), d=2
    ),
    Conjecture("rank", "oja-flow", [Symmetric(V), SimpleTop(V), Relation(Rank(V) < d)], Unstable(ConsensusAt(V, 1)), d=2),
    Conjecture(
        "positive entries", "oja-map", [Symmetric(V), Relation(SmallestEntry(V) > 0)], holds_if=lambda x: x.V[0, 1] - 2, d=2, n=1
    ),
]  # fmt: skip


@pytest.mark.parametrize("stated", FALSE, ids=lambda each: each.name)
def test_false_conjectures_with_them_are_refuted_and_forged_numbers_rejected(stated: Conjecture) -> None:
    report = json.loads(json.dumps(refute(stated, instances=4000, seconds=120).as_dict()))
    (result,) = report["results"]
    assert result["verdict"] == "refuted"
    conditions = len(stated.conditions)
    lines = [verdict for _, verdict in recheck_report(report)][-conditions - 1 :]
    assert all(verdict.is_holds for verdict in lines[:conditions])
    if stated.holds_if is None:
        assert lines[-1].is_holds
    rows = result["counterexample"]["instance"]["V"]
    rows[0][0], rows[1][1], rows[0][1] = "-7", "-3", "-1/2"
    rows[1][0] = "-1/2"  # symmetric still, and none of the relations holds
    forged = recheck_report(resealed(report))
    assert any(verdict.is_fails for _, verdict in forged)


def test_a_matrix_function_of_sympy_is_told_with_the_words_that_there_are() -> None:
    with pytest.raises(ConjectureError, match=r"has no value in the lab: .*Trace, Determinant, Rank"):
        Conjecture("sympy", "oja-map", [Relation(sp.Trace(V) > 0)], Stable(ConsensusAt(V, 1)))
