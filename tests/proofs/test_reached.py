"""The steps of a derivation come to what is claimed: each claim names its steps, and no step can be dropped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sympy as sp
from joblib.externals.loky import process_executor

from eigentoken.numerics.lanes import in_lanes, lanes_of
from eigentoken.proofs.typeset.document import of_statement
from eigentoken.proofs.typeset.markdown import to_markdown
from eigentoken.proofs.typeset.summary import Summary
from eigentoken.proofs.verify import verify
from eigentoken.proofs.verify_many import verify_many
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation, Identity, Step

x = sp.Symbol("x", real=True)
FIRST = Identity(name="first", says="", left=(x + 1) ** 2, right=x**2 + 2 * x + 1, establishes=("a square",))
LAST = Identity(name="last", says="", left=x + x, right=2 * x + 0 * x, needs=("a square",), establishes=("done",))
CLAIM = Stable(ConsensusAt(matrix("V"), 1))


def told(*steps: Step, **parts: object) -> Statement:
    given = {"claims": (CLAIM,), "claims_from": (("last",),), **parts}
    return Statement("X-1", Kind.LEMMA, Source("here", ""), "t", derive=lambda: Derivation(steps), **given)  # type: ignore[arg-type]


def words(statement: Statement) -> dict[str, str]:
    """What is said of the conclusions when every step is accepted."""
    assert statement.derivation is not None
    names = {step.name for step in statement.derivation.steps}
    return {name: str(verdict.answer) for name, verdict in statement.reached(names)}


def test_a_claim_is_reached_by_the_steps_that_it_names() -> None:
    assert words(told(FIRST, LAST)) == {"claim 1": "holds"}
    assert words(told(FIRST, LAST, claims_from=()))["claim 1"] == "fails", "nothing is named"
    assert words(told(FIRST, LAST, claims_from=(("nobody",),)))["claim 1"] == "fails"
    assert words(told(FIRST))["claim 1"] == "fails", "the last step is dropped"
    assert words(told(FIRST, LAST, claims=(CLAIM, CLAIM)))["claim 2"] == "fails", "the second claim has no step"
    assert words(told(FIRST, LAST, claims_from=(("last",), ("first",))))["claims"] == "fails"


def test_a_step_that_is_not_accepted_concludes_nothing() -> None:
    statement = told(FIRST, LAST)
    (_, verdict), *_ = statement.reached({"first"})
    assert verdict.is_fails
    assert "last" in verdict.reason


def test_a_text_without_claims_names_its_steps() -> None:
    plain = {"claims": (), "claims_from": (), "text": "So it is."}
    assert words(told(FIRST, LAST, **plain)) == {"text": "fails", "idle steps": "fails"}
    assert words(told(FIRST, LAST, **plain, prose_from=("last",))) == {"text": "holds"}


def test_a_step_that_leads_nowhere_is_idle() -> None:
    """By use or by a fact a step leads on; one that does neither is noticed, unless the text names it."""
    beside = replace(FIRST, name="beside", establishes=("another square",))
    assert words(told(beside, FIRST, LAST))["idle steps"] == "fails"
    assert "idle steps" not in words(told(beside, FIRST, replace(LAST, uses=("beside",))))
    assert "idle steps" not in words(told(beside, FIRST, LAST, text="And so on.", prose_from=("beside",)))


def _shorter(statement: Statement) -> Iterator[tuple[str, Statement]]:
    """The statement with one step dropped, for each of them that can be dropped without breaking a reference."""
    assert statement.derivation is not None
    steps = statement.derivation.steps
    for place, step in enumerate(steps):
        try:
            rest = Derivation((*steps[:place], *steps[place + 1 :]))
        except ValueError:  # a later step uses it by name
            continue
        facts = set(statement.facts)
        for later in rest.steps:
            if not set(later.needed) <= facts:  # a later step needs what it establishes
                break
            facts |= set(later.establishes)
        else:
            yield step.name, replace(statement, derive=lambda rest=rest: rest)


def test_no_step_of_the_book_can_be_dropped() -> None:
    """Every claim and text of the book is reached, and with any one step dropped something is not."""
    for statement in statements():
        if statement.proof is not None:
            continue  # the kernel proves the claims: no step is named for them
        if statement.derive is None:
            continue  # it stands on vectors and random instances, or is a conjecture: no step is there to be dropped
        assert set(words(statement).values()) == {"holds"}, statement.id
        for name, shorter in _shorter(statement):
            assert "fails" in words(shorter).values(), f"{statement.id} without {name}"


def test_verify_fails_without_the_last_step() -> None:
    assert verify(told(FIRST, LAST), instances=0, second=False).good
    shorter = verify(told(FIRST), instances=0, second=False)
    assert not shorter.good
    assert {line.what for line in shorter.lines if not line.good} == {"conclusion"}


def test_the_steps_of_a_claim_are_printed() -> None:
    statement = told(FIRST, LAST)
    screen = [line for _, lines in Summary(statement, "stepwise", None).sections() for line in lines]
    assert any(line.startswith("then") and line.endswith("[step 2]") for line in screen)
    assert "(Step 2)" in to_markdown(of_statement(statement))


def test_two_processes_find_what_one_finds() -> None:
    """The halves of a statement may be done by different processes; the answers come in the order asked."""
    ids = ["PM-E3", "PM-E1", "PM-E3"]
    finished: list[int] = []
    found = verify_many(ids, instances=20, jobs=2, done=lambda: finished.append(1))
    assert [each.id for each in found] == ids and len(finished) == 3
    assert found == verify_many(ids, instances=20, jobs=1)
    assert all(each.good and each.tested for each in found)


@pytest.mark.parametrize("jobs", [2, 3, 7])
def test_each_proof_is_in_one_lane_with_those_that_it_recalls(jobs: int) -> None:
    names = [each.id for each in statements()]
    rests_on = {each.id: each.depends for each in statements()}
    lanes = lanes_of(names, rests_on, lambda name: 1.0, jobs)
    assert len(lanes) == jobs and sorted(name for lane in lanes for name in lane) == sorted(names)
    for lane in lanes:
        assert lane == [name for name in names if name in lane]
        assert {other for name in lane for other in rests_on[name]} <= set(lane)
    assert all(lanes)


def _half(task: int) -> tuple[int, int]:
    if task == 13:
        raise ValueError("thirteen")
    return task, os.getpid()


def _given_up(_problem: BaseException, task: int, deaths: int) -> tuple[int, int] | None:
    return (task, -deaths) if deaths == 2 else None


def test_a_lane_stays_in_its_process_and_the_others_help_at_the_end() -> None:
    """What a task gives stands beside it; the shared ones are asked for one at a time."""
    asked: list[int] = []

    def shared() -> Iterator[int]:
        for each in (10, 11):
            asked.append(each)
            yield each

    tasks = in_lanes([[1, 2, 3, 4], []], shared(), _half, _given_up)
    first = next(tasks)
    assert asked == [10]
    found = dict([first, *tasks])
    assert sorted(found) == [1, 2, 3, 4, 10, 11] and all(found[task][0] == task for task in found)
    processes = {task: process for task, (_, process) in found.items()}
    assert len({processes[1], processes[10]}) == 2 and set(processes.values()) == {processes[1], processes[10]}
    with pytest.raises(ValueError, match="thirteen"):
        list(in_lanes([[1, 13]], [], _half, _given_up))


def _deadly(task: int) -> tuple[int, int]:
    if task == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return task, os.getpid()


def test_a_task_that_ends_its_process_ends_no_other() -> None:
    """The process is replaced, the task is tried once more and given up, and the lane goes on."""
    found = dict(in_lanes([[1, 13, 2], [3]], [], _deadly, _given_up))
    assert sorted(found) == [1, 2, 3, 13] and found[13] == (13, -2)
    assert found[2][1] not in (found[1][1], os.getpid())


def _never(_problem: BaseException, _task: int, _deaths: int) -> None:
    raise AssertionError("a process died")


def _patience(_: int) -> float:
    return process_executor._MEMORY_LEAK_CHECK_DELAY


_GROWN: list[bytes] = []


def _grown(_: int) -> int:
    _GROWN.append(b"1" * 400_000_000)
    time.sleep(1.1)
    return os.getpid()


def test_a_process_that_keeps_much_is_not_taken_for_one_that_leaks() -> None:
    """loky would end it, and with it the proofs that it keeps; the name is one of loky's own."""
    assert process_executor._MEMORY_LEAK_CHECK_DELAY < 60
    assert set(in_lanes([[1]], [], _patience, _never)) == {(1, float("inf"))}


@pytest.mark.slow
def test_a_process_that_grows_goes_on() -> None:
    assert len({process for _, process in in_lanes([[1, 2, 3]], [], _grown, _never)}) == 1
