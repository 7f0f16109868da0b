"""What a free predicate may answer: True or False, or a signed number, its margin.

A margin ``m`` says that the predicate is true where ``m >= 0`` and false by ``-m`` where it is negative: then a search can
climb, and a counterexample says how false the conjecture is.  An integer is refused: it has no slope, and a 0 that was meant as
False would count as true.  On exact numbers the sign is proved as any comparison of a predicate is, or refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import acb, arb

from eigentoken.numerics.author_code.decided_numbers import DecidedNumber, decided, enclosure
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, holds

__all__ = ["MARGIN", "MARGIN_UNIT", "ProvedAnswer", "answer_height", "named", "proved_answer", "truth"]

#: The kind of the certificate that says how false a predicate is.
MARGIN = "predicate/margin"
MARGIN_UNIT = "margin of the predicate"


def truth(answer: Any) -> bool | None:
    """True or False as Python and numpy write them; ``None`` for anything else."""
    if isinstance(answer, np.ndarray) and answer.ndim == 0 and answer.dtype == bool:
        return bool(answer)
    return bool(answer) if isinstance(answer, bool | np.bool_) else None


def answer_height(answer: Any) -> float | None:
    """How true an answer of floats is: 1 for True, -1 for False, the number itself; ``None`` for what is no answer.

    >>> [answer_height(each) for each in (True, np.bool_(False), 0.25, np.array(-2.0), 3, "yes", None)]
    [1.0, -1.0, 0.25, -2.0, None, None, None]
    """
    found = truth(answer)
    if found is not None:
        return 1.0 if found else -1.0
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        answer = answer[()]
    return float(answer) if isinstance(answer, float | np.floating) else None


def named(answer: Any) -> str:
    """What came instead of an answer, in words."""
    if isinstance(answer, np.ndarray):
        return f"an array of shape {answer.shape}"
    return "None (is a return missing?)" if answer is None else f"{answer!r}, a {type(answer).__name__}"


@dataclass(frozen=True)
class ProvedAnswer:
    """What a predicate answers on exact numbers: is it true, and by which number."""

    true: bool
    number: DecidedNumber | None = None

    @property
    def false_by(self) -> float | None:
        """A number that ``-m`` is at least, where the answer is a negative margin ``m``."""
        if self.true or self.number is None:
            return None
        low: arb = (-enclosure(self.number)).lower()
        near = float(low)
        while not arb(near) <= low:
            near = math.nextafter(near, 0.0)
        return near

    def verdict(self, how: str) -> Verdict:
        """True or false, in the way that is told."""
        least = self.false_by
        if self.true:
            return holds(f"the predicate is true {how}")
        if least is None or not 0 < least < math.inf:
            return fails(f"the predicate is false {how}")
        said = Certificate(MARGIN, "holds_if", VerdictAnswer.FAILS, data={"at_least": least.hex()})
        reason = f"the predicate is false by at least {least:.6g} {how}"
        return fails(reason, margin=least, unit=MARGIN_UNIT, certificate=said)


def proved_answer(answer: Any) -> ProvedAnswer | None:
    """The answer on exact numbers; its sign is proved, or ``NotDecided`` is raised; ``None`` for what is no answer."""
    found = truth(answer)
    if found is not None:
        return ProvedAnswer(found)
    if isinstance(answer, np.ndarray):
        if answer.ndim:
            return None
        answer = answer[()]
    number = decided(answer)
    if number is NotImplemented or isinstance(number.value, acb):
        return None
    return ProvedAnswer(bool(number >= 0), number)
