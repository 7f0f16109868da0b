"""Find for each question of the book the attempt of the second solver that answers it: theory/proving/best_attempts.json.

``python tools/second_opinions.py`` asks every question that ``eigentoken verify`` asks cvc5, in the order of the attempts, and
writes down which answered where it was not one of the first two, and which questions none answered.  The next run begins with
that one and saves those before; what nobody answered is asked briefly.  No ``holds`` or ``fails`` depends on it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from eigentoken.files.writing import write_text
from eigentoken.proofs.verify import verify_many
from eigentoken.theory.proving import cvc5_process

#: The first attempts are short: where one of these answers, nothing is gained.
SHORT = 2


def main() -> int:
    found: dict[str, int] = {}
    asked, answered = cvc5_process._attempted, cvc5_process._asked

    def noted(question: cvc5_process.Question) -> cvc5_process.Verdict | None:
        verdict = asked(question)
        hypotheses, conclusion, number, _ = question
        if verdict is not None and not verdict.is_undecided and number >= SHORT:
            found[cvc5_process.name_of(hypotheses, conclusion)] = number
        return verdict

    def noted_in_the_end(hypotheses: tuple[Any, ...], conclusion: Any, seconds: float) -> cvc5_process.Verdict:
        verdict = answered(hypotheses, conclusion, seconds)
        if verdict.is_undecided and cvc5_process.OUTSIDE not in verdict.reason:
            found[cvc5_process.name_of(hypotheses, conclusion)] = cvc5_process.UNANSWERED
        return verdict

    cvc5_process._attempted, cvc5_process._asked = noted, noted_in_the_end
    cvc5_process.best_attempts = dict  # type: ignore[assignment]  # none is known
    verify_many(instances=0)
    write_text(cvc5_process.BEST, json.dumps(dict(sorted(found.items())), indent=0) + "\n")
    nobody = list(found.values()).count(cvc5_process.UNANSWERED)
    print(
        f"{len(found) - nobody} questions are answered by a later attempt, {nobody} by none: {cvc5_process.BEST.name}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
