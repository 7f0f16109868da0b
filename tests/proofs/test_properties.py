"""Property tests made from statements: true ones hold, wrong ones are caught, dropped conditions are felt."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.proofs.properties.property import test_statement
from eigentoken.theory.language.claims import Decreases, Iff, Stable, Unstable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, d, matrix, n, p, q
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Kind, Source, Statement

from ..tools.dropping import find_failure_without

V = matrix("V")
A1 = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))


def stated(*claims: object, conditions: tuple[object, ...] = A1, systems: tuple[str, ...] = ("oja-map",)) -> Statement:
    return Statement("T", Kind.CONJECTURE, Source("test", ""), "test", systems, conditions, claims)  # type: ignore[arg-type]


def test_a_statement_of_the_book_holds() -> None:
    report = test_statement(statements().get("PM-L4"), 200, 1)
    assert report.instances >= 200
    assert report.violations == 0
    assert report.worst < 0
    assert {"n = 2", "deep negative", "repeated"} <= set(report.corners)


def test_a_wrong_threshold_is_caught() -> None:
    """The threshold of PM-L4 with 3 in place of 2: the equivalence fails between the two."""
    wrong = Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) < 3)
    report = test_statement(stated(Iff(Stable(ConsensusAt(V, 1)), wrong), conditions=(*A1, Relation(n >= 2))), 400, 0)
    assert report.violations > 0
    assert report.first is not None
    assert report.first["system"] == "oja-map"


def test_a_flipped_claim_is_caught() -> None:
    report = test_statement(stated(Unstable(ConsensusAt(V, 1))), 200, 0)
    assert report.violations > 0


def test_true_instability_of_unequal_splits() -> None:
    conditions = (*A1, Relation(sp.Ne(p, q)), Relation(alpha * SpectralNorm(V) < 1))
    report = test_statement(stated(Unstable(BipartiteAt(V, 1)), conditions=conditions), 200, 0)
    assert report.violations == 0
    assert report.instances >= 200


def test_dropping_the_split_condition_is_felt() -> None:
    conditions = (*A1, Relation(sp.Ne(p, q)), Relation(alpha * SpectralNorm(V) < 1))
    found = find_failure_without(stated(Unstable(BipartiteAt(V, 1)), conditions=conditions), conditions[3])
    assert found is not None
    assert len(found["tokens"]) % 2 == 0


def test_dropping_the_step_bound_of_the_potential_is_felt() -> None:
    small = Relation(alpha * sp.Abs(Eigenvalue(V, d)) <= 1)
    statement = stated(Decreases(oja_potential), conditions=(Symmetric(V), small))
    assert test_statement(statement, 200, 0).violations == 0
    assert find_failure_without(statement, small) is not None


def test_only_conditions_of_the_statement_can_be_dropped() -> None:
    with pytest.raises(ValueError, match="not a condition"):
        find_failure_without(stated(Unstable(BipartiteAt(V, 1))), Relation(n >= 7))


def test_contradictory_conditions_are_reported_as_not_generated() -> None:
    nothing = replace(stated(Stable(ConsensusAt(V, 1))), conditions=(*A1, Relation(Eigenvalue(V, 1) < 0)))
    report = test_statement(nothing, 50, 0)
    assert report.instances == 0
    assert "not generated" in report.summary()
