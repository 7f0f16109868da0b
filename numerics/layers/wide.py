"""Questions about layers that are too wide for every rung: one eigen-decomposition each, and what it does not settle is open.

A matrix of order 4096 takes 134 MB; the later rungs of :func:`eigentoken.numerics.certified.certify.certify` (sliced products,
congruences, exact integers) hold many such matrices at once.  Here the signs of sym(M) come from one ``eigh`` with its
error bound, shared by every condition on signs, and leaders from one set of discs.  The facts are the same, fewer are found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from eigentoken.documents.certificate import Facts, LeadBy
from eigentoken.documents.verdict_document import EigenvaluesOfSymmetricPart
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.dominance import Dominance, _from_discs, discs_of, scaled_step
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.exact_matrices import Deadline
from eigentoken.numerics.certified.inertia import Signs
from eigentoken.numerics.certified.matrices import exact_number
from eigentoken.numerics.certified.questions import Question, answer, give_up, reported_margin, threshold
from eigentoken.numerics.certified.sign_conditions import SIGN_CONDITIONS, Settled
from eigentoken.numerics.certified.spectral_conditions import _leader_verdict
from eigentoken.theory.language.reasons import inertia_reason, sign_reason
from eigentoken.theory.language.verdicts import Verdict, VerdictAnswer

__all__ = ["certify_wide"]

TIME_LIMIT = 1.0
ORDERS: dict[str, LeadBy] = {"dominant-real-part": "real-part", "dominant-modulus": "modulus", "dominant-step": "step"}
Remembered = Callable[[tuple[Any, ...], Callable[[], Any]], Any]


def certify_wide(name: str, enclosure: Enclosure, options: Mapping[str, Any], remembered: Remembered) -> Verdict:
    """The condition by its first rung alone; ``remembered`` computes once what several conditions share."""
    question = Question(name, enclosure, Deadline.after(TIME_LIMIT), _step(options))
    if name in SIGN_CONDITIONS or name == "inertia":
        signs = remembered(("signs", enclosure), lambda: _signs(enclosure))
        return _sign_verdict(question, signs)
    if name in ORDERS:
        return _leader(question)
    return certify(name, enclosure, time_limit=TIME_LIMIT, **options)


def _step(options: Mapping[str, Any]) -> Fraction | None:
    return exact_number(options["alpha"]) if "alpha" in options else None


def _signs(enclosure: Enclosure) -> Signs:
    """Counts and extremes of sym(M) from ``|lambda_i - w_i| <= e``."""
    n = enclosure.shape[0]
    with np.errstate(all="ignore"):
        found = enclosure.symmetric_spectrum
    if found is None:
        return Signs(n, tried=("eigenvalue intervals",))
    w, e, _ = found
    positive, negative = int((w > e).sum()), int((w < -e).sum())
    ends = [(float(np.nextafter(v - e, -np.inf)), float(np.nextafter(v + e, np.inf))) for v in (w[0], w[-1])]
    complete = positive + negative == n
    clearance = max(0.0, float(np.nextafter(np.abs(w).min() - e, -np.inf))) if complete else 0.0
    return Signs(
        n, positive, negative, 0, ends[0], ends[1], clearance, "eigenvalue intervals", ("eigenvalue intervals",)
    )


def _sign_verdict(question: Question, signs: Signs) -> Verdict:
    enclosure = question.enclosure
    details: VerdictDetails = {"eigenvalues_of_symmetric_part": _extremes(enclosure, signs), "rung": signs.rung}
    if question.condition == "inertia":
        found = (signs.positive, signs.negative, signs.zero)
        if not signs.complete:
            return give_up(question, signs.tried, {**details, "at_least": list(found)})
        settled = Settled(VerdictAnswer.HOLDS, *found, signs.clearance)
        details["inertia"] = list(found)
    else:
        decided = SIGN_CONDITIONS[question.condition](signs)
        if decided is None:
            return give_up(question, signs.tried, details)
        settled = decided
    margin = reported_margin(enclosure, settled.margin)
    facts: Facts = {
        "form": "symmetric-part",
        "positive": settled.positive,
        "negative": settled.negative,
        "zero": settled.zero,
        "beyond": str(threshold(enclosure, margin)),
    }
    if question.condition == "inertia":
        reason = inertia_reason(settled.counts, signs.rung)
    else:
        reason = sign_reason(question.condition, settled.answer is VerdictAnswer.HOLDS, settled.counts, signs.rung)
    return answer(question, settled.answer, reason, kind="signs", facts=facts, margin=margin, details=details)


def _extremes(enclosure: Enclosure, signs: Signs) -> EigenvaluesOfSymmetricPart:
    def outward(value: float, *, below: bool) -> float | None:
        if not np.isfinite(value):
            return None
        grow = (value > 0) != below
        moved = enclosure.unscaled_upper(abs(value)) if grow else enclosure.unscaled_lower(abs(value))
        return float(np.copysign(moved, value)) if np.isfinite(moved) else None

    def interval(low: float, high: float) -> list[float | None]:
        return [outward(low, below=True), outward(high, below=False)]

    return {"smallest": interval(*signs.smallest), "largest": interval(*signs.largest)}


def _leader(question: Question) -> Verdict:
    """Who leads, from one set of discs; a margin is quartered as in the full ladder (another basis must confirm it)."""
    by = ORDERS[question.condition]
    with np.errstate(all="ignore"):
        discs = discs_of(question.enclosure)
        step, step_error = scaled_step(question.enclosure, question.alpha)
        found = Dominance("unknown", by) if discs is None else _from_discs(discs, by, step, step_error)
    if not question.enclosure.center_is_symmetric:
        found = replace(found, margin=found.margin / 4)
    return _leader_verdict(question, replace(found, tried=("discs",)), "simple-real", light=True)
