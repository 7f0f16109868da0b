"""A question about a matrix, and the parts that every answer shares: certificate facts, margins, reasons.

A certificate states **facts** that imply the answer, in exact numbers: never how they were found.  What a re-check has to
form again (which inputs, which products) is in ``terms``; ``slack`` is the radius that was given; ``margin`` is the
number that the verdict reports, in the units of the input.

An answer that one factorization gives is returned at once (:func:`answer_now`); what its document says beside it (the sharp
margin, the digest of the matrix, the certificate) is found when one of these is first asked for, on a copy of the matrix that the
verdict keeps for itself until then.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, SupportsIndex
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from eigentoken.documents.certificate import Facts, LeadBy, MatrixFacts, Options
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError
from eigentoken.numerics.certified.exact_matrices import Deadline
from eigentoken.numerics.certified.rounding import scale_down
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, undecided

__all__ = ["SPECTRAL", "Question", "answer", "answer_now", "give_up", "reported_margin", "threshold"]

SPECTRAL: Final = "spectral norm"
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
    expected_rank: int | None = None
    expected_inertia: tuple[int, int, int] | None = None
    bound: Fraction | None = None
    within: Fraction | None = None
    by: LeadBy = "real-part"

    def need_square(self) -> None:
        if not self.enclosure.is_square:
            raise MatrixError(f"{self.condition} needs a square matrix, got shape {self.enclosure.shape}")

    def options(self) -> Options:
        """The options that change the meaning of the question."""
        found: Options = {}
        meant = MEANT.get(self.condition, ())
        if "alpha" in meant and self.alpha is not None and (self.condition == "dominant-step" or self.by == "step"):
            found["alpha"] = str(self.alpha)
        if "bound" in meant and self.bound is not None:
            found["bound"] = str(self.bound)
        if "within" in meant and self.within is not None:
            found["within"] = str(self.within)
        if self.expected_rank is not None:
            found["expected"] = self.expected_rank
        if self.expected_inertia is not None:
            found["expected"] = list(self.expected_inertia)
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
    facts: Facts,
    margin: float = 0.0,
    details: VerdictDetails | None = None,
    arrays: Mapping[str, NDArray[np.generic]] | None = None,
) -> Verdict:
    """A decided verdict with its certificate."""
    enclosure = question.enclosure
    data: MatrixFacts = {
        "shape": list(enclosure.shape),
        "terms": [[[name, turned] for name, turned in term] for term in enclosure.terms],
        "slack": str(enclosure.slack_above),
        "margin": float(margin).hex(),
        "unit": SPECTRAL,
        "options": question.options(),
        "facts": facts,
    }
    certificate = Certificate(kind, question.condition, decided, enclosure.inputs, data, dict(arrays or {}))
    return Verdict(decided, reason, margin, SPECTRAL, certificate, details or VerdictDetails())


#: So many bytes of matrices may wait in verdicts at one time; an answer beyond that is made whole at once.
MOST_WAITING: Final = 2**28


@dataclass(frozen=True, eq=False)
class _Rest:
    """How the whole verdict is made, and how many bytes are kept alive for it."""

    make: Callable[[], Verdict]
    held: int
    lock: threading.RLock = field(default_factory=threading.RLock)


_WAITING: WeakSet[_Rest] = WeakSet()
_ENTRY = threading.Lock()


class _Waiting(Verdict):
    """A verdict whose margin, details and certificate are found when they are asked for; then it is a plain :class:`Verdict`."""

    def __new__(cls, *parts: Any, **named: Any) -> Any:
        """``dataclasses.replace`` makes a new one by the class of the old: a plain verdict, for all its parts are given."""
        return Verdict(*parts, **named)

    def _whole(self) -> Verdict:
        rest: _Rest | None = self.__dict__.get("_rest")
        if rest is None:
            return self
        with rest.lock:
            if "_rest" in self.__dict__:
                found = rest.make()
                if (found.answer, found.reason, found.unit) != (self.answer, self.reason, self.unit):
                    raise AssertionError(f"{self.answer!s}: {self.reason}, and then {found!r}: please report this")
                self.__dict__.update(found.__dict__)
                object.__setattr__(self, "__class__", Verdict)
                del self.__dict__["_rest"]
        return self

    @property
    def margin(self) -> float | None:
        found: float | None = self._whole().__dict__["margin"]
        return found

    @property
    def certificate(self) -> Certificate | None:
        found: Certificate | None = self._whole().__dict__["certificate"]
        return found

    @property
    def details(self) -> VerdictDetails:
        found: VerdictDetails = self._whole().__dict__["details"]
        return found

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return object.__reduce_ex__(self._whole(), protocol)


def answer_now(decided: VerdictAnswer, reason: str, whole: Callable[[], Verdict], held: int) -> Verdict:
    """The verdict that ``whole`` makes, whose answer and reason are known; it is made when more of it is wanted.

    ``held``: the bytes that ``whole`` keeps alive.  Pickling, printing, comparing with a verdict and every document want more.
    """
    rest = _Rest(whole, held)
    with _ENTRY:
        if sum(each.held for each in _WAITING) + held > MOST_WAITING:
            return whole()
        _WAITING.add(rest)
    found: _Waiting = object.__new__(_Waiting)
    found.__dict__.update(answer=decided, reason=reason, unit=SPECTRAL, _rest=rest)
    return found


def give_up(question: Question, tried: tuple[str, ...], details: VerdictDetails | None = None) -> Verdict:
    """``undecided``, with what was tried and why nothing more was."""
    steps = "; ".join(tried) if tried else "nothing applied"
    slack = question.enclosure.slack
    more = " (exact arithmetic cannot help inside a radius)" if slack > 0 else ""
    return undecided(f"{question.condition}: tried {steps}{more}", details=details or VerdictDetails())
