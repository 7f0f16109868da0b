"""Every scalar step of the book is confirmed by the second arithmetic, and its negation by neither."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.proofs import verify as verify_room
from eigentoken.theory.proving import cvc5_process
from eigentoken.theory.proving.cvc5_inequalities import ATTEMPTS
from eigentoken.theory.proving.cvc5_process import guarded_inequality
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Evidence
from eigentoken.theory.statements.steps import Identity, Inequality, Step

SAMPLE = ("PM-L3", "PM-L4", "PM-L5", "AB-E2", "AB-E7", "AB-E25")
#: cvc5 finds neither a proof nor a rational model of the negation in its time; the kernel proves AB-L4.1 by another route.
UNDECIDED = {("AB-L4.1", "scores")}


def scalar_steps(ids: tuple[str, ...] = ()) -> list[tuple[str, Step]]:
    chosen = [each for each in statements() if not ids or each.id in ids]
    steps = [(each.id, step) for each in chosen if each.derivation for step in each.derivation.steps]
    return [(name, step) for name, step in steps if isinstance(step, Identity | Inequality)]


def unconfirmed(steps: list[tuple[str, Step]]) -> list[str]:
    asked = [(name, step, step.second_opinion()) for name, step in steps]
    return [
        f"{name}: {step.name}: {verdict}" for name, step, verdict in asked if verdict is None or not verdict.is_holds
    ]


def test_a_sample_of_the_book_is_confirmed() -> None:
    steps = scalar_steps(SAMPLE)
    assert len(steps) >= 10
    assert unconfirmed(steps) == []


@pytest.mark.slow
def test_every_scalar_step_of_the_book_is_confirmed() -> None:
    assert unconfirmed([each for each in scalar_steps() if (each[0], each[1].name) not in UNDECIDED]) == []


def test_the_negation_of_a_conclusion_is_not_confirmed() -> None:
    asked = 0
    for _, step in scalar_steps(SAMPLE):
        if isinstance(step, Inequality) and sp.sympify(step.conclusion) not in (sp.true, sp.false):
            asked += 1
            assert not guarded_inequality(step.hypotheses, sp.Not(step.conclusion)).is_holds, step.name
    assert asked >= 5


def test_a_sign_changed_in_an_identity_is_not_confirmed() -> None:
    asked = 0
    for name, step in scalar_steps(SAMPLE):
        if isinstance(step, Identity) and step.sides()[1] != 0:
            asked += 1
            spoiled = Identity(name=step.name, says="", left=step.left, right=-step.right, where=step.where)
            assert not spoiled.second_opinion().is_holds, (name, step.name)  # type: ignore[union-attr]
    assert asked >= 5


def test_what_nobody_answered_is_asked_briefly_and_stays_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hint never makes an answer: a question that is answered after all has its answer, another is undecided."""
    x, y = sp.symbols("x y", real=True)
    asked: list[int] = []
    monkeypatch.setattr(cvc5_process, "_attempted", lambda question: asked.append(question[2]))
    question = ((x > 1,), x**2 * y**2 + x > y)
    name = cvc5_process.name_of(*question)
    monkeypatch.setattr(cvc5_process, "best_attempts", lambda: {name: cvc5_process.Hint(cvc5_process.UNANSWERED)})
    assert cvc5_process._asked(*question, 4.0).is_undecided
    briefly = list(asked)
    assert briefly and not any(ATTEMPTS[number].long for number in briefly)
    monkeypatch.setattr(cvc5_process, "best_attempts", dict)
    assert cvc5_process._asked(*question, 4.0).is_undecided
    assert len(asked) - len(briefly) > len(briefly)
    monkeypatch.undo()
    name = cvc5_process.name_of((x > 1,), x**2 > x)
    monkeypatch.setattr(cvc5_process, "best_attempts", lambda: {name: cvc5_process.Hint(cvc5_process.UNANSWERED)})
    assert cvc5_process._asked((x > 1,), x**2 > x, 4.0).is_holds


def test_a_derivation_asks_for_second_opinions_where_none_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence of exactly this text has them: printing need not ask again; an edited statement has no evidence."""

    def confirmed(**how: bool) -> list[str]:
        return [line.second for line in verify_room.verify("PM-L4", instances=0, **how).lines if line.what == "proved"]

    recorded = Evidence(digest="", checked=9, second=7, proved=1, complete=True)
    for known, expected in (
        (recorded, ""),
        (None, "holds"),
        (replace(recorded, second=0), "holds"),
        (replace(recorded, complete=False), "holds"),
    ):
        monkeypatch.setattr(verify_room, "evidence_of", lambda _, known=known: known)
        assert confirmed(printed=True) == [expected], known
        assert confirmed() == ["holds"], "verify asks again, whatever is recorded"
