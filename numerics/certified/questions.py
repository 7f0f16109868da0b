"""A question about a matrix, and the parts that every answer shares: certificate facts, margins, reasons.

A certificate states **facts** that imply the answer, in exact numbers: never how they were found.  What a re-check has to
form again (which inputs, which products) is in ``terms``; ``slack`` is the radius that was given; ``margin`` is the
number that the verdict reports, in the units of the input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError
from eigentoken.numerics.certified.exact_matrices import Deadline
from eigentoken.numerics.certified.rounding import scale_down
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, undecided

__all__ = ["SPECTRAL", "Question", "answer", "give_up", "reported_margin", "threshold"]

SPECTRAL = "spectral norm"
#: The numbers that a condition asks for; others that were given mean nothing for it and are not recorded.
MEANT: Mapping[str, tuple[str, ...]] = {
    "norm-bound": ("bound",),
    "symmetric": ("within",),
    "identity": ("within",),
    "principal-eigenvector": ("within",),
    "dominant-step": ("alpha",),
    "dominant-complex-pair": ("alpha",),
}
SHARE = 1.0 - 2.0**-20  # a reported margin is a little below the certified one, so that a re-check has room


@dataclass(frozen=True)
class Question:
    """One condition on one enclosure, with its options and its time limit."""

    condition: str
    enclosure: Enclosure
    deadline: Deadline
    alpha: Fraction | None = None
    expected: Any = None
    bound: Fraction | None = None
    within: Fraction | None = None
    by: str = "real-part"

    def need_square(self) -> None:
        if not self.enclosure.is_square:
            raise MatrixError(f"{self.condition} needs a square matrix, got shape {self.enclosure.shape}")

    def options(self) -> dict[str, Any]:
        """The options that change the meaning of the question."""
        found: dict[str, Any] = {}
        for name in MEANT.get(self.condition, ()):
            value = getattr(self, name)
            if value is not None and not (name == "alpha" and self.condition != "dominant-step" and self.by != "step"):
                found[name] = str(value)
        if self.expected is not None:
            found["expected"] = list(self.expected) if isinstance(self.expected, tuple | list) else self.expected
        if self.condition == "dominant-complex-pair":
            found["by"] = self.by
        return found


def reported_margin(enclosure: Enclosure, certified: float) -> float:
    """The margin that is reported for a certified one in scaled units."""
    if certified <= 0:
        return 0.0
    return scale_down(certified * SHARE, enclosure.exponent)


def threshold(enclosure: Enclosure, margin: float) -> Fraction:
    """``slack + margin`` as an exact number: beyond it the eigenvalues of the exact matrix are claimed to lie."""
    return enclosure.slack_above + (Fraction(margin) if math.isfinite(margin) else 0)


def answer(
    question: Question,
    decided: VerdictAnswer,
    reason: str,
    *,
    kind: str,
    facts: Mapping[str, Any],
    margin: float = 0.0,
    unit: str = SPECTRAL,
    details: Mapping[str, Any] | None = None,
    arrays: Mapping[str, Any] | None = None,
) -> Verdict:
    """A decided verdict with its certificate."""
    enclosure = question.enclosure
    data = {
        "shape": list(enclosure.shape),
        "terms": [[[name, turned] for name, turned in term] for term in enclosure.terms],
        "slack": str(enclosure.slack_above),
        "margin": float(margin).hex(),
        "unit": unit,
        "options": question.options(),
        "facts": dict(facts),
    }
    certificate = Certificate(kind, question.condition, decided, enclosure.inputs, data, dict(arrays or {}))
    return Verdict(decided, reason, margin, unit, certificate, dict(details or {}))


def give_up(question: Question, tried: tuple[str, ...], details: Mapping[str, Any] | None = None) -> Verdict:
    """``undecided``, with what was tried and why nothing more was."""
    steps = "; ".join(tried) if tried else "nothing applied"
    slack = question.enclosure.slack
    more = " (exact arithmetic cannot help inside a radius)" if slack > 0 else ""
    return undecided(f"{question.condition}: tried {steps}{more}", details=dict(details or {}))
