"""Conditions that are not about eigenvalue signs: symmetric, identity, norm-bound, rank, nonsingular.

``symmetric`` and ``identity`` compare exact entries; with ``within`` they ask for a spectral distance at most that.
An equality that holds has margin 0: the smallest change breaks it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.documents.certificate import Facts, MatrixForm
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError
from eigentoken.numerics.certified.exact_matrices import DeadlinePassed, ExactMatrix
from eigentoken.numerics.certified.norms import (
    distance_to_symmetric,
    norm_interval,
    plain_distance_to_identity,
    rank_of,
    sharply_exceeds,
)
from eigentoken.numerics.certified.questions import SHARE, Question, answer, give_up, reported_margin, threshold
from eigentoken.numerics.certified.rounding import scale_down, scale_up
from eigentoken.theory.language.reasons import (
    distance_reason,
    equal_reason,
    invertible_reason,
    norm_reason,
    rank_reason,
    too_high_rank_reason,
    undercut_reason,
)
from eigentoken.theory.language.verdicts import Verdict, VerdictAnswer

__all__ = ["decide_identity", "decide_nonsingular", "decide_norm_bound", "decide_rank", "decide_symmetric"]

HOLDS, FAILS = VerdictAnswer.HOLDS, VerdictAnswer.FAILS


def _as_fraction(value: float, exponent: int) -> Fraction:
    return Fraction(value) * Fraction(2) ** exponent


def decide_symmetric(question: Question) -> Verdict:
    """Is ``M = M^T`` exactly (or within a spectral distance)?"""
    question.need_square()
    interval, exponent = distance_to_symmetric(question.enclosure), question.enclosure.exponent
    return _equality(question, interval, "skew-part", lambda exact: exact.is_symmetric(), exponent)


def decide_identity(question: Question) -> Verdict:
    """Is ``M = I`` exactly (or within a spectral distance)?"""
    question.need_square()
    interval = plain_distance_to_identity(question.enclosure)
    n = question.enclosure.shape[0]

    def equal(exact: ExactMatrix) -> bool:
        return bool(exact.numerators == _identity(n) * exact.denominator)

    return _equality(question, interval, "minus-identity", equal, exponent=0)


def _identity(n: int) -> flint.fmpz_mat:
    return flint.fmpz_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])


def _symmetric_floats(enclosure: Enclosure) -> bool:
    """May the float center stand for the exact matrix (large matrices need no integers for an equality)?"""
    return enclosure.radius == 0.0


def _equality(question: Question, interval: tuple[float, float], form: MatrixForm, test: Any, exponent: int) -> Verdict:
    """``interval``: the distance, in units of ``2^exponent``."""
    enclosure = question.enclosure
    low, high = interval
    details: VerdictDetails = {
        "distance": [scale_down(low, exponent), _finite(scale_up(high, exponent))],
        "norm": "spectral",
    }
    if question.within is not None:
        return _within(question, interval, form, details, exponent)
    if low > 0:
        return _different(question, low, form, details, exponent)
    if enclosure.slack > 0:
        return give_up(question, ("the entries are known only up to the radius",), details)
    if form == "skew-part" and _symmetric_floats(enclosure):
        equal = enclosure.center_is_symmetric
    elif form == "minus-identity" and _symmetric_floats(enclosure):
        scaled = enclosure.exponent
        one = np.eye(enclosure.shape[0])
        equal = abs(scaled) < 900 and bool(np.array_equal(enclosure.center, np.ldexp(one, -scaled)))
    elif enclosure.exact is not None:
        equal = test(enclosure.exact)
    else:
        return give_up(question, ("no exact value is known",), details)
    if equal:
        details = {"distance": [0.0, 0.0], "norm": "spectral"}
        facts: Facts = {"form": form, "equal": True}
        reason = equal_reason(question.condition)
        return answer(question, HOLDS, reason, kind="equality", facts=facts, details=details)
    return _different(question, low, form, details, exponent)


def _different(question: Question, low: float, form: MatrixForm, details: VerdictDetails, exponent: int) -> Verdict:
    margin = scale_down(low * SHARE, exponent)
    facts: Facts = {"form": form, "equal": False, "distance_above": str(threshold(question.enclosure, margin))}
    reason = distance_reason(False, details["distance"][0])
    return answer(question, FAILS, reason, kind="equality", facts=facts, margin=margin, details=details)


def _within(
    question: Question, interval: tuple[float, float], form: MatrixForm, details: VerdictDetails, exponent: int
) -> Verdict:
    enclosure, within = question.enclosure, question.within
    if within is None or within < 0:
        raise MatrixError(f"within must be a number >= 0, got {within}")
    low, high = (_as_fraction(end, exponent) if math.isfinite(end) else None for end in interval)
    if high is not None and high <= within:
        margin = _float_below(within - high)
        facts: Facts = {"form": form, "norm_at_most": str(within - Fraction(margin) - enclosure.slack_above)}
        reason = distance_reason(True, details["distance"][1])
        return answer(question, HOLDS, reason, kind="norm", facts=facts, margin=margin, details=details)
    if low is not None and low > within:
        margin = _float_below((low - within) * Fraction(999, 1000))
        facts = {"form": form, "norm_above": str(within + Fraction(margin) + enclosure.slack_above)}
        reason = distance_reason(False, details["distance"][0])
        return answer(question, FAILS, reason, kind="norm", facts=facts, margin=margin, details=details)
    return _exact_within(question, within, form, details)


def _exact_within(question: Question, within: Fraction, form: MatrixForm, details: VerdictDetails) -> Verdict:
    """``within^2 I - X^T X`` has a negative eigenvalue or not, exactly, for X the skew part or ``M - I``."""
    enclosure = question.enclosure
    tried = ("a norm interval that contains the distance asked for",)
    if enclosure.slack > 0 or enclosure.exact is None:
        return give_up(question, tried, details)
    exact = enclosure.exact
    if form == "skew-part":
        part = exact.plus(exact.transpose().scaled(Fraction(-1))).scaled(Fraction(1, 2))
    else:
        part = exact.shifted(Fraction(-1))
    try:
        beyond = _exceeds(part, within, question)
    except DeadlinePassed as late:
        return give_up(question, (*tried, str(late)), details)
    facts: Facts = {"form": form, "norm_above": str(within)} if beyond else {"form": form, "norm_at_most": str(within)}
    reason = undercut_reason(question.condition, not beyond)
    return answer(question, FAILS if beyond else HOLDS, reason, kind="norm", facts=facts, details=details)


def _exceeds(exact: ExactMatrix, bound: Fraction, question: Question) -> bool:
    """Is ``||X||_2 > bound``, exactly?"""
    if bound < 0:
        return True
    gram = exact.transpose().times(exact).scaled(Fraction(-1)).shifted(bound * bound)
    return gram.inertia(question.deadline)[1] > 0


def _float_below(value: Fraction) -> float:
    from eigentoken.numerics.certified.inertia import float_below

    return float_below(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def decide_norm_bound(question: Question) -> Verdict:
    """Is ``||M||_2 <= bound``?  Without a bound: the certified interval of the norm."""
    enclosure = question.enclosure
    low, high = norm_interval(enclosure)
    exponent = enclosure.exponent
    ends = [scale_down(low, exponent), _finite(scale_up(high, exponent))]
    details: VerdictDetails = {"norm": ends}
    if question.bound is None:
        if not math.isfinite(high):
            return give_up(question, ("a norm interval that is not finite",), details)
        top, bottom = _as_fraction(high, exponent), _as_fraction(low, exponent) * Fraction(999999, 1000000)
        facts: Facts = {
            "form": "itself",
            "low": str(bottom),
            "high": str(top),
            "norm_at_most": str(top - enclosure.slack_above),
        }
        if bottom > 0:
            facts["norm_above"] = str(bottom + enclosure.slack_above)
        reason = norm_reason(ends, None)
        return answer(question, HOLDS, reason, kind="norm", facts=facts, details=details)
    bound = question.bound
    above = _as_fraction(high, exponent) if math.isfinite(high) else None
    below = _as_fraction(low, exponent)
    if above is not None and above <= bound:
        margin = _float_below((bound - above) * Fraction(999, 1000))
        facts = {"form": "itself", "norm_at_most": str(bound - Fraction(margin) - enclosure.slack_above)}
        reason = norm_reason(ends, True)
        return answer(question, HOLDS, reason, kind="norm", facts=facts, margin=margin, details=details)
    if below > bound:
        margin = _float_below((below - bound) * Fraction(999, 1000))
        facts = {"form": "itself", "norm_above": str(bound + Fraction(margin) + enclosure.slack_above)}
        reason = norm_reason(ends, False)
        return answer(question, FAILS, reason, kind="norm", facts=facts, margin=margin, details=details)
    return _exact_norm_bound(question, bound, details)


def _exact_norm_bound(question: Question, bound: Fraction, details: VerdictDetails) -> Verdict:
    """``bound^2 I - M^T M`` has a negative eigenvalue or not, exactly."""
    enclosure = question.enclosure
    tried = ("a norm interval that contains the bound", "the Gram matrix in sliced products")
    if enclosure.slack > 0 or enclosure.exact is None:
        return give_up(question, tried[:1], details)
    try:
        sharp = sharply_exceeds(enclosure, bound)
        beyond = _exceeds(enclosure.exact, bound, question) if sharp is None else sharp
    except DeadlinePassed as late:
        return give_up(question, (*tried, str(late)), details)
    if beyond:
        facts: Facts = {"form": "itself", "norm_above": str(bound)}
        reason = undercut_reason(question.condition, False)
        return answer(question, FAILS, reason, kind="norm", facts=facts, details=details)
    facts = {"form": "itself", "norm_at_most": str(bound)}
    reason = undercut_reason(question.condition, True)
    return answer(question, HOLDS, reason, kind="norm", facts=facts, details=details)


def decide_rank(question: Question) -> Verdict:
    """The rank of M; with ``expected`` also whether it is that one."""
    expected = question.expected_rank
    found = rank_of(question.enclosure, question.deadline, wanted=expected)
    details: VerdictDetails = {"rank": [found.low, found.high]}
    full = min(question.enclosure.shape)
    if found.low != found.high:
        if expected is not None and found.low > expected:
            facts: Facts = {"rank_at_least": found.low}
            reason = too_high_rank_reason(found.low, expected)
            return answer(question, FAILS, reason, kind="rank", facts=facts, details=details)
        return give_up(question, found.tried, details)
    details |= {"rank": found.low, "rung": found.rung}
    decided = HOLDS if expected is None or expected == found.low else FAILS
    margin = reported_margin(question.enclosure, found.margin) if found.low == full else 0.0
    facts = {"rank": found.low, "beyond": str(threshold(question.enclosure, margin))}
    reason = rank_reason(found.low, found.rung)
    return answer(question, decided, reason, kind="rank", facts=facts, margin=margin, details=details)


def decide_nonsingular(question: Question) -> Verdict:
    """Is M invertible?"""
    question.need_square()
    n = question.enclosure.shape[0]
    found = rank_of(question.enclosure, question.deadline)
    if found.low == n:
        margin = reported_margin(question.enclosure, found.margin)
        facts: Facts = {"rank": n, "beyond": str(threshold(question.enclosure, margin))}
        reason = invertible_reason(n, n, found.rung)
        return answer(question, HOLDS, reason, kind="rank", facts=facts, margin=margin, details={"rung": found.rung})
    if found.high < n:
        facts = {"rank": found.high, "beyond": "0"}
        reason = invertible_reason(found.high, n, found.rung)
        return answer(question, FAILS, reason, kind="rank", facts=facts, details={"rung": found.rung})
    return give_up(question, found.tried)
