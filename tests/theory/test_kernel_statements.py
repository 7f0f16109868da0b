"""Statements whose proof is a value of the kernel: what it proves is what is claimed, and a changed claim is not proved."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.proofs.power_method.pm_l03_consensus_spectrum import PM_L3
from eigentoken.proofs.power_method.pm_l04_consensus_stability import CLAIMS, PM_L4, STEP_BELOW
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.language.claims import Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import Condition, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, k, matrix
from eigentoken.theory.statements.statement import Statement

V = matrix("V")


@pytest.mark.parametrize("statement", [PM_L3, PM_L4], ids=lambda each: each.id)
def test_the_kernel_proves_exactly_the_claims(statement: Statement) -> None:
    (proved,) = statement.proofs.values()
    assert not proved.argued
    assert proved.scope() == ()


NOT_STRICT = Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) <= 2)
WRONG = {
    "the threshold is not strict": Iff(
        Stable(ConsensusAt(V, 1)), Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) <= 2)
    ),
    "another place": Iff(Stable(ConsensusAt(V, 2)), STEP_BELOW),
    "the other word": Iff(Unstable(ConsensusAt(V, 1)), STEP_BELOW),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_changed_claim_is_not_what_is_proved(what: str) -> None:
    with pytest.raises(Refused, match="not what is claimed"):
        _ = replace(PM_L4, claims=(WRONG[what], CLAIMS[1])).proofs


def test_a_claim_without_its_guard_is_not_proved() -> None:
    bare = When(Relation(Eigenvalue(V, k) < Eigenvalue(V, 1)), Unstable(ConsensusAt(V, k)))
    with pytest.raises(Refused, match="not what is claimed"):
        _ = replace(PM_L4, claims=(CLAIMS[0], bare)).proofs


@pytest.mark.parametrize("dropped", [Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0)], ids=str)
def test_a_dropped_condition_is_missed(dropped: Condition) -> None:
    kept = tuple(each for each in PM_L4.conditions if each != dropped)
    assert len(kept) == len(PM_L4.conditions) - 1
    with pytest.raises(Refused, match="no condition"):
        _ = replace(PM_L4, conditions=kept).proofs


def test_another_system_is_another_statement() -> None:
    with pytest.raises(Refused):
        _ = replace(PM_L4, systems=("oja-flow",)).proofs
