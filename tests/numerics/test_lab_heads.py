"""Heads and named matrices in conjectures: their number, conditions on each, zero and stochastic matrices, two instances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import Contradiction, plan_for
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.lab import Conjecture, ConjectureError, refute
from eigentoken.numerics.lab.predicate_instances import decided_instance, one_instance
from eigentoken.numerics.readings import load
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH, EXACT_NUMBER
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.documents import decode, encode
from eigentoken.theory.language.matrix_words import EachHead, IsZero, Stochastic
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.readings import CERTIFIED, EXACT, LATEX, VALUE
from eigentoken.theory.language.terms import Eigenvalue, H, matrix, skew, sym

load()
F, M, V = (matrix(name) for name in "FMV")
ZERO, ONE, TURN = [[0, 0], [0, 0]], [[1, 0], [0, 1]], [[0, 1], [-1, 0]]


def _heads(*pairs: tuple[Any, Any]) -> Case:
    heads = [{"F": value, "M": score} for value, score in pairs]
    return Case(Instance.of("multihead-flow", [[1, 0], [0, 1]], heads=heads))


def _both(case: Case, word: Any) -> tuple[bool | None, bool | None]:
    """The verdict of the issuer and of the re-check, as truths."""
    verdict = CERTIFIED(word, case)
    own = None if verdict.is_undecided else verdict.is_holds
    return own, CONDITION_TRUTH(word, IndependentInstance(case.instance, 1, 0), {})


@pytest.mark.parametrize(
    ("pairs", "count"),
    [
        (((ONE, ONE), (ONE, ZERO)), 2),
        (((ONE, ONE), (ZERO, TURN)), 1),  # a head of zero values
        (((ONE, TURN), (ONE, TURN)), 1),  # one head written as two
        (((ONE, TURN), ([[-1, 0], [0, -1]], TURN), (ONE, ZERO)), 1),  # two heads that cancel
        (((ZERO, ONE),), 0),
    ],
)
def test_the_number_of_heads_is_that_of_heads_which_are_needed(pairs: Any, count: int) -> None:
    from eigentoken.numerics.instances.exact import batch_of

    case = _heads(*pairs)
    assert EXACT(H, case, None) == count
    assert int(VALUE(H, batch_of(case.instance, 1, 0), None)[0]) == count
    assert EXACT_NUMBER(H, IndependentInstance(case.instance, 1, 0), None) == count
    assert _both(case, Relation(H >= 2)) == (count >= 2, count >= 2)


def test_heads_are_drawn_as_the_relations_ask() -> None:
    for relation, good in ((sp.Eq(H, 2), {2}), (H > 4, {5, 6, 7, 8}), (H <= 2, {1, 2})):
        drawn = sample(plan_for("multihead-flow", [Relation(relation)]), 60, 0, cells_at_most=6)
        assert {len(batch.parameters["heads"]) for batch in drawn.batches} <= good
    with pytest.raises(Contradiction, match="number of heads"):
        sample(plan_for("multihead-flow", [Relation(H > 20)]), 5, 0, cells_at_most=2)


def test_a_condition_on_each_head_is_made_and_not_one_on_their_sum() -> None:
    words = [
        EachHead(Symmetric(F)),
        EachHead(PositiveDefinite(F)),
        EachHead(Relation(Eigenvalue(M, 1) < 0)),
        Relation(H >= 2),
    ]
    drawn = sample(plan_for("multihead-map", words), 80, 1, cells_at_most=8)
    assert drawn.constructed <= 3 * drawn.count
    one, two = [[3, 0], [0, 3]], [[-1, 0], [0, -1]]
    case = _heads((one, ONE), (two, ZERO))
    assert _both(case, PositiveDefinite(F)) == (True, True)
    assert _both(case, EachHead(PositiveDefinite(F))) == (False, False)
    single = Case(Instance.of("oja-flow", [[1, 0]], V=one))
    assert _both(single, EachHead(PositiveDefinite(V))) == (True, True)
    with pytest.raises(TypeError, match="EachHead: part must be a condition"):
        EachHead(F)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "good", "bad"),
    [
        (IsZero(sym(V)), TURN, ONE),
        (IsZero(skew(V)), ONE, TURN),
        (IsZero(V), ZERO, TURN),
        (IsZero(V * V), [[0, 1], [0, 0]], TURN),
        (Stochastic(V), [["1/3", "2/3"], [1, 0]], [["1/3", "1/3"], [1, 0]]),
        (Stochastic(V), [[0, 1], [0, 1]], [[2, -1], [1, 0]]),
        (Stochastic(V, doubly=True), [["1/3", "2/3"], ["2/3", "1/3"]], [[0, 1], [0, 1]]),
    ],
)
def test_zero_and_stochastic_matrices(word: Any, good: Any, bad: Any) -> None:
    for value, truth in ((good, True), (bad, False)):
        assert _both(Case(Instance.of("oja-flow", [[1, 0]], V=value)), word) == (truth, truth)
    assert decode(encode(word)) == word
    assert LATEX(word)
    if word != IsZero(V * V):
        drawn = sample(plan_for("oja-flow", [word]), 60, 0, cells_at_most=6)
        assert drawn.constructed <= 2 * drawn.count


def test_a_counterexample_is_not_one_head_in_disguise() -> None:
    given = [Symmetric(F), Relation(H >= 2), Relation(Eigenvalue(F, 1) > 0)]
    conjecture = Conjecture("two heads", "multihead-flow", given, [Stable(ConsensusAt(F, 1))])
    report = refute(conjecture, instances=600, jobs=1)
    result = report.results[0]
    assert result.answer == "refuted"
    assert result.counterexample is not None
    assert EXACT(H, result.counterexample.case, None) == 2
    assert len(result.counterexample.case.instance.parameters["heads"]) == 2
    assert all(verdict.is_holds for _, verdict in recheck_report(report.as_dict()))
    free = refute(replace(conjecture, conditions=(given[0], given[2])), instances=600, jobs=1).results[0]
    assert free.counterexample is not None
    assert len(free.counterexample.case.instance.parameters["heads"]) == 1


def test_heads_and_systems_are_compared() -> None:
    case = _heads((ONE, ONE), (TURN, ZERO))
    from eigentoken.numerics.instances.exact import batch_of

    both = one_instance(batch_of(case.instance, 1, 0), 0), decided_instance(case)
    for each in both:
        first = each.advance(heads=each.heads[:1])
        assert first.shape == (2, 2)
        same = each.advance(system="attention-flow", V=each.heads[0].F, M=each.heads[0].M)
        assert all(bool(abs(a - b) < 1e-12) for a, b in zip(first.ravel(), same.ravel(), strict=True))
        with pytest.raises(ValueError, match="attention-flow needs V, M"):
            each.advance(system="attention-flow")
        with pytest.raises(ValueError, match="each head must have F, M"):
            each.advance(heads=[{"F": np.eye(3), "M": np.eye(3)}])
        with pytest.raises(ValueError, match="takes tokens, heads, got V"):
            each.advance(V=np.eye(2))


def test_what_is_no_condition_is_told_at_its_line() -> None:
    with pytest.raises(ConjectureError, match="has no value in the lab"):
        Conjecture("x", "multihead-flow", [Relation(sp.Symbol("heads") > 1)], [Stable(ConsensusAt(F, 1))])
