"""``attempt``: true conjectures that the means reach are derived, false ones never are, and what was tried is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.lab import (
    Abs,
    Conjecture,
    ConsensusAt,
    Eigenvalue,
    Equilibrium,
    Iff,
    PositiveDefinite,
    Relation,
    SimpleTop,
    SpectralNorm,
    Stable,
    Symmetric,
    Unstable,
    When,
    alpha,
    d,
    k,
    matrix,
    n,
)
from eigentoken.proofs.attempts.attempt import attempt
from eigentoken.proofs.attempts.prover import Prover
from eigentoken.schemas import schema
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import Condition

from ..documents import validate

V = matrix("V")
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
FLIP = Relation(alpha * (Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) < 2)
FIRST, SECOND = ConsensusAt(V, 1), ConsensusAt(V, 2)
GAP = (Symmetric(V), Relation(d >= 2), Relation(Eigenvalue(V, 2) < Eigenvalue(V, 1)))


def bounded(constant: int) -> Condition:
    return Relation(alpha * SpectralNorm(V) < constant)


TRUE: list[tuple[str, tuple[Condition, ...], Claim]] = [
    ("oja-map", (*TOP, bounded(2)), Stable(FIRST)),
    ("oja-map", (*TOP, PositiveDefinite(V)), Stable(FIRST)),
    ("oja-map", TOP, Iff(Stable(FIRST), FLIP)),
    ("oja-map", TOP, When(FLIP, Stable(FIRST))),
    ("oja-map", (Symmetric(V), PositiveDefinite(V)), Equilibrium(ConsensusAt(V, k))),
    ("oja-map", (*GAP, Relation(Eigenvalue(V, 2) > 0)), Unstable(SECOND)),
    ("oja-flow", GAP, Unstable(SECOND)),
    ("attention-flow", TOP[1:], Stable(FIRST)),
]
FALSE: list[tuple[str, tuple[Condition, ...], Claim]] = [
    ("oja-map", TOP, Stable(FIRST)),
    ("oja-map", (*TOP, bounded(3)), Stable(FIRST)),
    ("oja-map", (*TOP[:2], Relation(Eigenvalue(V, 1) >= 0), bounded(2)), Stable(FIRST)),
    ("oja-map", TOP, Iff(Stable(FIRST), bounded(2))),
    ("oja-map", (Symmetric(V),), Equilibrium(ConsensusAt(V, k))),
    ("oja-flow", TOP, Unstable(FIRST)),
    ("oja-flow", (TOP[0], TOP[2]), Stable(FIRST)),
    ("attention-flow", TOP[1:2], Stable(FIRST)),
]


@pytest.mark.parametrize(("system", "conditions", "claim"), TRUE, ids=str)
def test_what_the_means_reach_is_derived(system: str, conditions: Any, claim: Claim) -> None:
    found = attempt(Conjecture("true", system, conditions, claim), seconds=300, recall=False)["true"]
    assert found.answer == "derived" and found.proved is not None, found
    assert found.agreed == found.asked > 0 or isinstance(claim, Equilibrium)
    assert {heading.partition(" ")[0] for heading, _ in found.sections()} == {"Statement", "Derivation"}


@pytest.mark.parametrize(("system", "conditions", "claim"), FALSE, ids=str)
def test_what_is_false_is_not_derived_and_the_means_are_told(system: str, conditions: Any, claim: Claim) -> None:
    found = attempt(Conjecture("false", system, conditions, claim), seconds=300, recall=False)["false"]
    assert found.answer == "not derived" and found.statement is None
    assert found.tried and all(each.stopped for each in found.tried if each.goal in str(found.says))


def test_a_statement_of_the_book_is_recalled_where_its_conditions_follow() -> None:
    stated = Conjecture("exactly", "oja-map", (*TOP, Relation(n >= 3)), Iff(Stable(FIRST), FLIP))
    found = attempt(stated, seconds=300)["exactly"]
    assert found.answer == "derived" and found.recalled == ("PM-L4",)
    validate(json.loads(json.dumps(attempt([], seconds=1).as_dict())), schema("attempt"))


def test_a_proof_of_something_else_is_no_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate is that of the book: what is proved must be the claims, under the conditions."""
    monkeypatch.setattr(
        Prover, "claims", lambda self, said: self.kernel.arithmetic([], sp.Gt(alpha, 0, evaluate=False))
    )
    found = attempt(Conjecture("other", "oja-map", TOP, Stable(FIRST)), recall=False)[0]
    assert found.answer == "not derived" and "not what is claimed" in found.says
    monkeypatch.setattr(Prover, "claims", lambda self, said: self.kernel.assume(Stable(FIRST)))
    found = attempt(Conjecture("circle", "oja-map", TOP, Stable(FIRST)), recall=False)[0]
    assert found.answer == "not derived" and "no condition" in found.says


def test_code_and_masks_are_not_attempted() -> None:
    code = Conjecture("code", "oja-map", TOP, holds_if=lambda x: True)
    masked = Conjecture("masked", "oja-map", TOP, Stable(FIRST), mask="causal")
    assert [each.answer for each in attempt([code, masked])] == ["not attempted"] * 2


def test_the_command_prints_the_derivation(tmp_path: Path) -> None:
    out = tmp_path / "attempt.json"
    done = CliRunner().invoke(app, ["attempt", "examples/conjectures/short_steps.py", "--no-recall", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "The claims follow from" in done.output
    document = json.loads(out.read_text(encoding="utf-8"))
    validate(document, schema("attempt"))
    assert document["results"][0]["verdict"] == "derived"
    failed = CliRunner().invoke(app, ["attempt", "examples/conjectures/any_step.py", "--no-recall"])
    assert failed.exit_code == 1 and "linearization" in failed.output
