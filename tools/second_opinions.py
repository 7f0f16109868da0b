"""Find for each question of the book how the second solver answers it soonest: theory/proving/best_attempts.json.

``python tools/second_opinions.py`` asks every question that ``eigentoken verify`` asks cvc5, in the order of the attempts.  Where
none of the first two answers at once, it looks for hypotheses that are enough (z3 is asked which can go; cvc5 must then answer
from those that are left), and for the attempt that answers soonest.  It writes these down, and which questions no attempt
answered.  The next run of ``verify`` begins there; what nobody answered is asked briefly.  No ``holds`` or ``fails`` depends
on it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

from eigentoken.files.writing import write_text
from eigentoken.proofs.verify_many import verify_many
from eigentoken.theory.proving import cvc5_process
from eigentoken.theory.proving.cvc5_inequalities import ATTEMPTS, inequality_by_cvc5
from eigentoken.theory.proving.real_arithmetic import prove

#: The first attempts are short: where one of these answers within so many seconds of the clock, nothing is gained.
SHORT, AT_ONCE = 2, 0.04
#: Processor time for one attempt on a question, at most; and for the search of hypotheses that are enough.
LONGEST, SEARCH = 1.0, 6.0

Question = tuple[tuple[Any, ...], Any]


def main() -> int:
    found: dict[str, cvc5_process.Hint] = {}
    slow: dict[str, tuple[Question, float]] = {}
    asked, answered = cvc5_process._attempted, cvc5_process._asked

    def noted(question: cvc5_process.Question) -> cvc5_process.Verdict | None:
        begun = time.perf_counter()
        verdict = asked(question)
        took = time.perf_counter() - begun
        hypotheses, conclusion, number, _ = question
        if verdict is not None and not verdict.is_undecided and (number >= SHORT or took > AT_ONCE):
            name = cvc5_process.name_of(hypotheses, conclusion)
            found[name] = cvc5_process.Hint(number)
            if verdict.is_holds and took > AT_ONCE:
                slow[name] = (hypotheses, conclusion), took
        return verdict

    def noted_in_the_end(hypotheses: tuple[Any, ...], conclusion: Any, seconds: float) -> cvc5_process.Verdict:
        verdict = answered(hypotheses, conclusion, seconds)
        if verdict.is_undecided and cvc5_process.OUTSIDE not in verdict.reason:
            found[cvc5_process.name_of(hypotheses, conclusion)] = cvc5_process.Hint(cvc5_process.UNANSWERED)
        return verdict

    cvc5_process._attempted, cvc5_process._asked = noted, noted_in_the_end
    cvc5_process.best_attempts = dict  # type: ignore[assignment]  # none is known
    verify_many(instances=0)
    for name, (question, took) in slow.items():
        found[name] = _soonest(question, took) or found[name]
    lines = [f"{json.dumps(name)}: {json.dumps([each.attempt, *each.enough])}" for name, each in sorted(found.items())]
    write_text(cvc5_process.BEST, "{\n" + ",\n".join(lines) + "\n}\n")
    nobody = sum(each.attempt == cvc5_process.UNANSWERED for each in found.values())
    print(f"{len(found) - nobody} questions have a hint, {nobody} no answer: {cvc5_process.BEST.name}")
    return 0


def _soonest(question: Question, took: float) -> cvc5_process.Hint | None:
    """The attempt that answers soonest, from hypotheses that are enough or from all; ``None`` where that gains little."""
    hypotheses, conclusion = question
    enough = _enough(hypotheses, conclusion)
    best, least = None, took
    for places in (enough, tuple(range(len(hypotheses))))[: 2 if len(enough) < len(hypotheses) else 1]:
        for number, attempt in enumerate(ATTEMPTS):
            if attempt.near or least < AT_ONCE:
                continue
            few = tuple(hypotheses[place] for place in places)
            spent = _answered_in((few, conclusion), number, min(0.6 * least, LONGEST))
            if spent is not None and spent < least:
                best, least = cvc5_process.Hint(number, places if len(places) < len(hypotheses) else ()), spent
    return best


def _enough(hypotheses: tuple[Any, ...], conclusion: Any) -> tuple[int, ...]:
    """Places of hypotheses from which it follows: one after the other is left out, where z3 says that it can be."""
    kept, begun = tuple(range(len(hypotheses))), time.process_time()
    for place in reversed(kept):
        rest = tuple(each for each in kept if each != place)
        if time.process_time() - begun > SEARCH:
            break
        if prove([hypotheses[each] for each in rest], conclusion, seconds=1.0, vacuous_allowed=True).is_holds:
            kept = rest
    return kept


def _answered_in(question: Question, number: int, limit: float) -> float | None:
    """The processor time in which the attempt says ``holds``; ``None`` where it does not within the limit."""
    copy = os.fork()
    if not copy:
        signal.setitimer(signal.ITIMER_PROF, limit)  # its signal ends the copy
        verdict = inequality_by_cvc5(*question, attempts=ATTEMPTS[number : number + 1])
        os._exit(0 if verdict.is_holds else 1)
    _, status, used = os.wait4(copy, 0)
    return used.ru_utime + used.ru_stime if os.waitstatus_to_exitcode(status) == 0 else None


if __name__ == "__main__":
    sys.exit(main())
