"""Verdicts and certificates: what an answer is, and what is kept so that somebody else can check it.

A verdict is one of three answers.  ``holds`` and ``fails`` are theorems about the input as it was given: they rest on
exact arithmetic or on a rounding-error bound, never on a comparison of a float with a tolerance.  Everything that was
not established is ``undecided``, with what was tried in the reason.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict, Unpack

from eigentoken.display import brief

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from eigentoken.documents.certificate import Certificate as CertificateDocument
    from eigentoken.documents.verdict_object import Verdict as VerdictDocument
    from eigentoken.documents.verdict_object import VerdictDetails

__all__ = ["Certificate", "KeptAnswers", "Verdict", "VerdictAnswer", "all_of", "any_of", "fails", "holds", "undecided"]


class VerdictAnswer(StrEnum):
    """The three answers."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"

    def __eq__(self, other: object) -> bool:
        """Equal texts; a text that is no answer is an error, for a slip in it would read as a no."""
        if isinstance(other, str) and str(other) not in _ANSWERS:
            raise ValueError(f"a verdict is one of {', '.join(_ANSWERS)}, got {other!r}: compare it with one of these")
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    @property
    def text(self) -> Literal["holds", "fails", "undecided"]:
        """As documents write it."""
        return _TEXTS[self]


_TEXTS: dict[VerdictAnswer, Literal["holds", "fails", "undecided"]] = {
    VerdictAnswer.HOLDS: "holds",
    VerdictAnswer.FAILS: "fails",
    VerdictAnswer.UNDECIDED: "undecided",
}
_ANSWERS = ("holds", "fails", "undecided")


@dataclass(frozen=True)
class Certificate:
    """Data from which a second, independent arithmetic re-checks a verdict without trusting the first.

    ``kind`` names the checker (``cholesky-shift``, ``lyapunov``, ``exact-inertia`` ...); ``condition`` says what was
    asserted, in words that the checker reads; ``verdict`` is the answer it supports; ``inputs`` maps each input name to
    the sha256 of its content; ``data`` is JSON-able (numbers as exact strings where exactness matters); ``arrays``
    holds what is too large for JSON and is written to safetensors beside it.
    """

    kind: str
    condition: str
    verdict: VerdictAnswer
    inputs: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[np.generic]] = field(default_factory=dict, repr=False, compare=False)

    SCHEMA: ClassVar[Literal["eigentoken/certificate/1"]] = "eigentoken/certificate/1"

    def as_dict(self) -> CertificateDocument:
        """The JSON document, without the arrays, whose content hashes it names instead."""
        answer = self.verdict.text
        if answer == "undecided":
            raise ValueError("a certificate supports holds or fails, got undecided: there is nothing to certify")
        return {
            "schema": self.SCHEMA,
            "kind": self.kind,
            "condition": self.condition,
            "verdict": answer,
            "inputs": dict(self.inputs),
            "data": dict(self.data),
            "arrays": {name: array_digest(array) for name, array in self.arrays.items()},
        }

    def as_document(self) -> CertificateDocument:
        """The JSON document with the sha256 of its canonical form, which changes when any field changes."""
        bare = self.as_dict()
        text = json.dumps(bare, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return {**bare, "digest": hashlib.sha256(text.encode()).hexdigest()}

    def digest(self) -> str:
        """sha256 of the canonical JSON document."""
        return self.as_document()["digest"]

    def __repr__(self) -> str:
        return f"Certificate({self.kind}: {brief(self.condition, 160)} {self.verdict!s}, {len(self.arrays)} arrays)"


def array_digest(array: ArrayLike) -> str:
    """sha256 over dtype, shape and the bytes of an array in C order (numpy array or anything with its interface)."""
    from numpy import asarray, ascontiguousarray

    values = ascontiguousarray(asarray(array))
    digest = hashlib.sha256(f"{values.dtype.str}{values.shape}".encode())
    digest.update(values.data if values.size else b"")
    return digest.hexdigest()


def _nothing_more() -> VerdictDetails:
    return {}


@dataclass(frozen=True)
class Verdict:
    """``holds``, ``fails`` or ``undecided``, with how far from flipping, why, and a certificate.

    ``margin`` is a lower bound, in ``unit``, on how much the input may change before the answer could flip: zero or
    ``None`` says that nothing is claimed.  A verdict is not a boolean; ask ``verdict.is_holds`` and the like, or
    compare it with one of the three answers (any other text is an error).

    >>> found = holds("smallest eigenvalue at least 1/2", margin=0.5, unit="spectral norm")
    >>> found
    holds (margin 0.5 spectral norm): smallest eigenvalue at least 1/2
    >>> found == "holds", found == "fails"
    (True, False)
    >>> bool(undecided("time limit"))
    Traceback (most recent call last):
    TypeError: a Verdict is holds, fails or undecided, not true or false: use .is_holds, .is_fails or .is_undecided
    """

    answer: VerdictAnswer
    reason: str
    margin: float | None = None
    unit: str = ""
    certificate: Certificate | None = None
    details: VerdictDetails = field(default_factory=_nothing_more, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "answer", VerdictAnswer(self.answer))  # also accepts the plain text
        if self.margin is not None and (math.isnan(self.margin) or self.margin < 0):
            raise ValueError(f"margin must be a number >= 0 or None, got {self.margin}: state what is certified")
        if self.certificate is not None and self.certificate.verdict != self.answer:
            raise ValueError(f"the certificate supports {self.certificate.verdict!s}, the verdict says {self.answer!s}")

    def __bool__(self) -> bool:
        raise TypeError(
            "a Verdict is holds, fails or undecided, not true or false: use .is_holds, .is_fails or .is_undecided"
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.answer == other
        if not isinstance(other, Verdict):
            return NotImplemented
        return self._compared() == other._compared()

    def _compared(self) -> tuple[object, ...]:
        return self.answer, self.reason, self.margin, self.unit, self.certificate

    def __hash__(self) -> int:
        return hash(self.answer)  # that of its text, to which it is equal

    def __repr__(self) -> str:
        margin = "" if self.margin is None else f" (margin {self.margin:.6g} {self.unit})".replace(" )", ")")
        kept = "" if self.certificate is None else f" [certificate {self.certificate.kind}]"
        return f"{self.answer!s}{margin}: {brief(self.reason)}{kept}"

    @property
    def is_holds(self) -> bool:
        return self.answer is VerdictAnswer.HOLDS

    @property
    def is_fails(self) -> bool:
        return self.answer is VerdictAnswer.FAILS

    @property
    def is_undecided(self) -> bool:
        return self.answer is VerdictAnswer.UNDECIDED

    def as_dict(self) -> VerdictDocument:
        """The JSON object of DESIGN section 5: verdict, margin, reason, certificate (and unit, details)."""
        margin = self.margin
        return {
            "verdict": self.answer.text,
            "margin": None if margin is None or math.isinf(margin) else margin,
            "unit": self.unit,
            "reason": self.reason,
            "certificate": None if self.certificate is None else self.certificate.as_document(),
            "details": self.details.copy(),
        }

    def _repr_html_(self) -> str:
        from html import escape

        margin = "" if self.margin is None else f" (margin {self.margin:.3g} {escape(self.unit)})"
        return f"<b>{self.answer!s}</b>{margin}: {escape(self.reason)}"


class BesideAnswer(TypedDict, total=False):
    """What may stand beside the answer and its reason."""

    margin: float | None
    unit: str
    certificate: Certificate | None
    details: VerdictDetails


def holds(reason: str, **parts: Unpack[BesideAnswer]) -> Verdict:
    """A verdict ``holds``."""
    return Verdict(VerdictAnswer.HOLDS, reason, **parts)


def fails(reason: str, **parts: Unpack[BesideAnswer]) -> Verdict:
    """A verdict ``fails``."""
    return Verdict(VerdictAnswer.FAILS, reason, **parts)


def undecided(reason: str, **parts: Unpack[BesideAnswer]) -> Verdict:
    """A verdict ``undecided``; the reason says what was tried."""
    return Verdict(VerdictAnswer.UNDECIDED, reason, **parts)


def all_of(verdicts: Mapping[str, Verdict]) -> Verdict:
    """Conjunction: fails if one fails, holds if all hold, else undecided.  The margin is the smallest."""
    return _combine(verdicts, decisive=VerdictAnswer.FAILS, otherwise=VerdictAnswer.HOLDS)


def any_of(verdicts: Mapping[str, Verdict]) -> Verdict:
    """Disjunction: holds if one holds, fails if all fail, else undecided."""
    return _combine(verdicts, decisive=VerdictAnswer.HOLDS, otherwise=VerdictAnswer.FAILS)


def _combine(verdicts: Mapping[str, Verdict], decisive: VerdictAnswer, otherwise: VerdictAnswer) -> Verdict:
    parts = {name: verdict.as_dict() for name, verdict in verdicts.items()}
    for name, verdict in verdicts.items():
        if verdict.answer is decisive:
            return Verdict(decisive, f"{name}: {verdict.reason}", verdict.margin, verdict.unit, None, {"parts": parts})
    open_ones = [name for name, verdict in verdicts.items() if verdict.is_undecided]
    if open_ones:
        reason = "; ".join(f"{name}: {verdicts[name].reason}" for name in open_ones)
        return Verdict(VerdictAnswer.UNDECIDED, reason, details={"parts": parts})
    margins = [verdict.margin for verdict in verdicts.values() if verdict.margin is not None]
    units = {verdict.unit for verdict in verdicts.values()}
    known = len(margins) == len(verdicts) and len(units) == 1 and bool(margins)
    reason = "; ".join(f"{name}: {verdict.reason}" for name, verdict in verdicts.items()) or "nothing to check"
    return Verdict(
        otherwise, reason, min(margins) if known else None, units.pop() if known else "", None, {"parts": parts}
    )


class KeptAnswers:
    """Answers that a process need not find twice, in a table of a bounded size: what was not asked for longest goes first.

    A step of the book is asked by its page, by the ledger, by the kernel and by the statements that rest on it.  The key is
    the question itself (every hypothesis, the conclusion, the limits), compared part by part, so that a changed question is
    another one.  Only ``holds`` and ``fails`` are kept (what was undecided may be decided on a quieter machine), unless
    ``undecided`` answers do not depend on that.

    >>> from eigentoken.theory.language.verdicts import holds, undecided
    >>> table = KeptAnswers()
    >>> table.answer("late", lambda: undecided("no time")), table.answer("late", lambda: holds("found"))
    (undecided: no time, holds: found)
    >>> table.answer("late", lambda: holds("found again"))
    holds: found
    """

    def __init__(self, most: int = 8192, undecided: bool = False) -> None:
        self.most = most
        self.undecided = undecided
        self._found: OrderedDict[Hashable, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, question: Hashable, find: Callable[[], Verdict]) -> Verdict:
        """The kept answer to this very question, or the one that ``find`` finds."""
        with self._lock:
            verdict = self._found.get(question)
            if verdict is not None:
                self._found.move_to_end(question)
                return verdict
        verdict = find()
        if self.undecided or not verdict.is_undecided:
            with self._lock:
                self._found[question] = verdict
                if len(self._found) > self.most:
                    self._found.popitem(last=False)
        return verdict
