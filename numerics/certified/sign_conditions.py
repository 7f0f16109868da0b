"""Conditions on the signs of the eigenvalues of sym(M): definite, semidefinite, indefinite, inertia.

``M > 0`` means ``x^T M x > 0`` for all x != 0, that is sym(M) > 0; ``symmetric`` is a condition of its own.  The word
follows from certified counts (:class:`~eigentoken.numerics.certified.inertia.Signs`), the margin from certified bounds on the
extreme eigenvalues, because ``|lambda_i(sym(M + E)) - lambda_i(sym(M))| <= ||E||_2`` (Weyl).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigentoken.documents.certificate import Facts
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.exact_matrices import Deadline
from eigentoken.numerics.certified.inertia import AtOnce, Signs, definite_at_once, signs_of
from eigentoken.numerics.certified.questions import Question, answer, answer_now, give_up, reported_margin, threshold
from eigentoken.theory.language.reasons import inertia_reason, partial_inertia_reason, sign_reason
from eigentoken.theory.language.verdicts import Verdict, VerdictAnswer

__all__ = ["SIGN_CONDITIONS", "decide_inertia", "decide_signs"]

HOLDS, FAILS = VerdictAnswer.HOLDS, VerdictAnswer.FAILS


@dataclass(frozen=True)
class Settled:
    """An answer, the counts that imply it, and the certified margin in scaled units."""

    answer: VerdictAnswer
    positive: int
    negative: int
    zero: int
    margin: float

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.positive, self.negative, self.zero


Rule = Callable[[Signs], Settled | None]


def _mirrored(s: Signs) -> Signs:
    """The signs of minus the matrix."""
    low, high = s.smallest, s.largest
    return Signs(
        s.size, s.negative, s.positive, s.zero, (-high[1], -high[0]), (-low[1], -low[0]), s.clearance, s.rung, s.tried
    )


def _positive_definite(s: Signs) -> Settled | None:
    if s.positive == s.size:
        return Settled(HOLDS, s.size, 0, 0, max(0.0, s.smallest[0]))
    if s.negative >= 1:
        return Settled(FAILS, 0, 1, 0, max(0.0, -s.smallest[1]))
    if s.zero >= 1:
        return Settled(FAILS, 0, 0, 1, 0.0)
    return None


def _positive_semidefinite(s: Signs) -> Settled | None:
    if s.positive + s.zero == s.size:
        margin = max(0.0, s.smallest[0]) if s.zero == 0 else 0.0
        return Settled(HOLDS, s.positive, 0, s.zero, margin)
    if s.negative >= 1:
        return Settled(FAILS, 0, 1, 0, max(0.0, -s.smallest[1]))
    return None


def _indefinite(s: Signs) -> Settled | None:
    if s.positive >= 1 and s.negative >= 1:
        margin = max(0.0, min(-s.smallest[1], s.largest[0]))
        return Settled(HOLDS, 1, 1, 0, margin)
    if s.positive + s.zero == s.size:
        margin = max(0.0, s.smallest[0]) if s.zero == 0 else 0.0
        return Settled(FAILS, s.positive, 0, s.zero, margin)
    if s.negative + s.zero == s.size:
        margin = max(0.0, -s.largest[1]) if s.zero == 0 else 0.0
        return Settled(FAILS, 0, s.negative, s.zero, margin)
    return None


def _flipped(rule: Rule) -> Rule:
    def settle(s: Signs) -> Settled | None:
        found = rule(_mirrored(s))
        if found is None:
            return None
        return Settled(found.answer, found.negative, found.positive, found.zero, found.margin)

    return settle


SIGN_CONDITIONS: dict[str, Rule] = {
    "positive-definite": _positive_definite,
    "negative-definite": _flipped(_positive_definite),
    "positive-semidefinite": _positive_semidefinite,
    "negative-semidefinite": _flipped(_positive_semidefinite),
    "indefinite": _indefinite,
}


def decide_signs(question: Question) -> Verdict:
    """One of :data:`SIGN_CONDITIONS`."""
    question.need_square()
    rule = SIGN_CONDITIONS[question.condition]
    found = definite_at_once(question.enclosure)
    settled = None if found is None else rule(found.signs)
    if found is not None and settled is not None:
        reason = _reason(question, settled, found.signs)
        parts = (
            question.condition,
            question.deadline,
        )  # not the question: its enclosure may be of an array that is changed
        return answer_now(settled.answer, reason, lambda: _of_copy(*parts, rule, found), found.factor.nbytes)
    return _decided(question, rule, signs_of(question.enclosure, lambda s: rule(s) is not None, question.deadline))


def _of_copy(condition: str, deadline: Deadline, rule: Rule, found: AtOnce) -> Verdict:
    """The whole verdict of what was answered at once, from the copy that was kept."""
    enclosure, signs = found.whole()
    return _decided(Question(condition, enclosure, deadline), rule, signs)


def _reason(question: Question, settled: Settled, signs: Signs) -> str:
    return sign_reason(question.condition, settled.answer is HOLDS, settled.counts, signs.rung)


def _decided(question: Question, rule: Rule, signs: Signs) -> Verdict:
    """The verdict that follows from these signs."""
    settled = rule(signs)
    if settled is None:
        return give_up(question, signs.tried, _intervals(question, signs))
    margin = reported_margin(question.enclosure, settled.margin)
    facts = _facts(question, settled, margin)
    return answer(
        question,
        settled.answer,
        _reason(question, settled, signs),
        kind="signs",
        facts=facts,
        margin=margin,
        details=_intervals(question, signs),
        arrays=_hints(signs, settled),
    )


def decide_inertia(question: Question) -> Verdict:
    """The full inertia of sym(M): (positive, negative, zero); with ``expected`` also whether it is that one."""
    question.need_square()
    signs = signs_of(question.enclosure, lambda s: s.complete, question.deadline)
    found = (signs.positive, signs.negative, signs.zero)
    if not signs.complete:
        expected = question.expected_inertia
        details: VerdictDetails = {**_intervals(question, signs), "at_least": list(found)}
        if expected is not None and any(have > want for have, want in zip(found, expected, strict=True)):
            settled = Settled(FAILS, *found, 0.0)
            reason = partial_inertia_reason(found, expected)
            facts = _facts(question, settled, 0.0)
            return answer(question, FAILS, reason, kind="signs", facts=facts, details=details)
        return give_up(question, signs.tried, details)
    decided = HOLDS if question.expected_inertia is None or question.expected_inertia == found else FAILS
    certified = signs.clearance if signs.zero == 0 else 0.0
    settled = Settled(decided, *found, certified)
    margin = reported_margin(question.enclosure, certified)
    reason = inertia_reason(found, signs.rung)
    details = {**_intervals(question, signs), "inertia": list(found)}
    return answer(
        question,
        decided,
        reason,
        kind="signs",
        facts=_facts(question, settled, margin),
        margin=margin,
        details=details,
        arrays=_hints(signs, settled),
    )


def _facts(question: Question, settled: Settled, margin: float) -> Facts:
    """At least ``positive`` eigenvalues of sym(T) above ``beyond``, ``negative`` below minus it, ``zero`` at zero."""
    return {
        "form": "symmetric-part",
        "positive": settled.positive,
        "negative": settled.negative,
        "zero": settled.zero,
        "beyond": str(threshold(question.enclosure, margin)),
    }


def _hints(signs: Signs, settled: Settled) -> dict[str, NDArray[np.float64]]:
    """Arrays that help a re-check of a large matrix; it trusts none of them."""
    n = signs.size
    if n <= 48:
        return {}
    if signs.witness is not None and settled.positive + settled.negative == 1:
        return {"direction": np.ascontiguousarray(signs.witness)}
    definite = n in (settled.positive, settled.negative)
    if signs.transform is not None and not (definite and signs.rung == "cholesky"):
        return {"transform": np.ascontiguousarray(signs.transform)}
    return {}


def _intervals(question: Question, signs: Signs) -> VerdictDetails:
    """The certified intervals of the extreme eigenvalues, in the units of the input (null where unknown)."""
    enclosure = question.enclosure

    def lower(value: float) -> float | None:
        if not np.isfinite(value):
            return None
        return enclosure.unscaled_lower(value) if value >= 0 else -enclosure.unscaled_upper(-value)

    def upper(value: float) -> float | None:
        if not np.isfinite(value):
            return None
        return enclosure.unscaled_upper(value) if value >= 0 else -enclosure.unscaled_lower(-value)

    def interval(low: float, high: float) -> list[float | None]:
        return [None if end is not None and not np.isfinite(end) else end for end in (lower(low), upper(high))]

    smallest, largest = interval(*signs.smallest), interval(*signs.largest)
    return {"eigenvalues_of_symmetric_part": {"smallest": smallest, "largest": largest}, "rung": signs.rung}
