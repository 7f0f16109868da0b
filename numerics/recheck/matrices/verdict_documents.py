"""Re-check of a whole ``certify --json`` document: the certificate, and every number and text beside it.

The certificate is confirmed by :func:`.confirm`; what stands beside it is the certificate's own (condition, word, margin, unit),
recomputed from the matrix (intervals, the leading eigenvalue, ranks), or built again from the two (the reason).  ``rung``, the
name of the method that the issuer used, is not covered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import (
    UNCONFIRMED,
    CertificateDocument,
    Exact,
    fraction_of,
    unconfirmed,
)
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.matrices.details import extreme_differs, leader_differs, norm_differs, scale_of
from eigentoken.numerics.recheck.matrices.signs import symmetric_exact
from eigentoken.theory.language import reasons

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["VerdictParts", "arrays_shown", "recheck_answer", "recheck_beside"]

FORMS = {"symmetric": "skew-part", "identity": "minus-identity", "norm-bound": "itself"}
Answer = str | None


def arrays_shown(certificate: Mapping[str, Json], details: Mapping[str, Json]) -> dict[str, NDArray[np.float64]]:
    """The arrays of a large certificate, where the document shows all their numbers: discs, or the eigenvector."""
    named = set(certificate["arrays"])
    made: dict[str, Any] = {}
    if named == {"centers_re", "centers_im", "radii"} and "discs" in details:
        columns = {"centers_re": "re", "centers_im": "im", "radii": "radius"}
        for name, column in columns.items():
            made[name] = np.array([float(disc[column]) for disc in details["discs"]], dtype=np.float64)
    elif named == {"vector"} and "vector" in details:
        made["vector"] = np.array([float(entry) for entry in details["vector"]], dtype=np.float64)
    return made


class VerdictParts:
    """The matrix of a certificate with what is formed from it."""

    def __init__(
        self, matrix: Exact, part: Callable[[str], Exact], gram: Callable[[Exact], Exact], until: float
    ) -> None:
        self.matrix, self.part, self.gram, self.until = matrix, part, gram, until


def recheck_answer(shown: Shown, document: CertificateDocument) -> None:
    """Condition, answer, margin and unit of a verdict document: those of its certificate."""
    data = document.data
    shown.same(("condition",), document.condition, "the condition is not the one that the certificate supports")
    shown.same(("verdict",), document.verdict, "the verdict is not the one that the certificate supports")
    kept = float.fromhex(str(data["margin"]))
    shown.same(
        ("margin",), None if math.isinf(kept) else kept, "the margin is not the one that the certificate supports"
    )
    shown.same(("unit",), data["unit"], "the unit of the margin is not the one that the certificate supports")


def recheck_beside(shown: Shown, document: CertificateDocument, parts: VerdictParts) -> None:
    """Everything of a verdict document that is not its certificate."""
    recheck_answer(shown, document)
    beside = _Beside(shown, document, parts, shown.document["details"])
    beside.details()
    beside.reason()


class _Beside:
    def __init__(
        self, shown: Shown, document: CertificateDocument, parts: VerdictParts, details: Mapping[str, Any]
    ) -> None:
        self.shown, self.document, self.parts, self.stated = shown, document, parts, details
        self.facts = document.data["facts"]
        self.options = document.data["options"]
        self.slack = fraction_of(document.data["slack"])

    def _same(self, name: str, value: Any) -> None:
        self.shown.same(("details", name), value, f"{name} beside the certificate is not what the certificate says")

    def _judge(self, why: Answer, *path: str) -> None:
        self.shown.judge(("details", *path), why, UNCONFIRMED)

    def details(self) -> None:
        getattr(self, "_" + self.document.kind.replace("-", "_"))()
        if not self.stated:
            self.shown.cover(("details",))
        for name in self.stated:
            if name != "rung" and not any(path[:2] == ("details", name) for path in self.shown.covered):
                self.shown.cover(("details", name))
                self.shown.fails(("details", name), f"{name} is no detail of {self.document.condition}")

    def _signs(self) -> None:
        counts = [int(self.facts[name]) for name in ("positive", "negative", "zero")]
        if self.document.condition == "inertia":
            self._same("inertia" if sum(counts) == self.parts.matrix.shape[0] else "at_least", counts)
        symmetric = symmetric_exact(self.parts.matrix)
        ends = self.stated["eigenvalues_of_symmetric_part"]
        for name in ("smallest", "largest"):
            above, margin = name == "largest", Fraction(self.shown.document["margin"] or 0)
            size = scale_of(self.parts.matrix)
            why = extreme_differs(
                symmetric, ends[name], self.slack, self.parts.until, largest=above, size=size, margin=margin
            )
            self._judge(why, "eigenvalues_of_symmetric_part", name)

    def _leader(self) -> None:
        self._same("kind", self.facts["kind"])
        self._same("by", self.facts["by"])
        if "eigenvalue" not in self.stated:
            self.shown.fails(("details",), "the leading eigenvalue is not shown")
        else:
            shown = self.stated["eigenvalue"]
            self._judge(
                leader_differs(self.parts.matrix, self.facts, shown, self.slack, self.parts.until), "eigenvalue"
            )
        if "gap" in self.facts:
            self._same("gap", [None if end is None else float.fromhex(end) for end in self.facts["gap"]])
        elif "gap" in self.stated or (self.document.condition == "spectral-gap" and self.document.verdict == "holds"):
            self._same("gap", None)

    def _eigenvector(self) -> None:
        self._leader()
        self._same("sine_of_angle", float.fromhex(self.facts["sine"]))
        if "vector" in self.facts:
            self._same("vector", [float.fromhex(entry) for entry in self.facts["vector"]])
        else:  # the array that was re-checked under its hash is made of these numbers
            self.shown.cover(("details", "vector"))

    def _discs(self) -> None:
        if "discs" in self.facts:
            names = ("re", "im", "radius")
            self._same(
                "discs", [dict(zip(names, map(float.fromhex, disc), strict=True)) for disc in self.facts["discs"]]
            )
        else:
            self.shown.cover(("details", "discs"))
        self._same("largest_radius", max(float(disc["radius"]) for disc in self.stated["discs"]))

    def _interval(self, name: str) -> None:
        part = self.parts.part(FORMS[self.document.condition])
        square = self.parts.gram(part)
        if self.facts.get("equal") is True:
            self._same(name, [0.0, 0.0])
            return
        why = norm_differs(part, square, scale_of(self.parts.matrix), self.stated[name], self.slack, self.parts.until)
        self._judge(why, name)

    def _equality(self) -> None:
        self._interval("distance")
        self._same("norm", "spectral")

    def _norm(self) -> None:
        if self.document.condition == "norm-bound":
            self._interval("norm")
        else:
            self._equality()

    def _rank(self) -> None:
        if self.document.condition != "rank":
            return
        if "rank" in self.facts:
            self._same("rank", self.facts["rank"])
            return
        low, high = self.stated["rank"]
        rows, columns = self.parts.matrix.shape
        found = int(self.parts.matrix.numerators.rank()) if rows * columns <= 200 * 200 else None
        if found is None:
            self._judge(unconfirmed("the highest rank that is possible"), "rank")
        else:
            fits = low == self.facts["rank_at_least"] and low <= found <= high
            self._judge(None if fits else f"the rank is {found}", "rank")

    def reason(self) -> None:
        accepted = self._reasons()
        stated = self.shown.document["reason"]
        self.shown.cover(("reason",))
        if stated not in accepted:
            self.shown.fails(("reason",), f"{stated[:80]!r} is stated, {accepted[0]!r} follows")

    def _reasons(self) -> list[str]:
        kind, condition, facts = self.document.kind, self.document.condition, self.facts
        holds = self.document.verdict == "holds"
        rung, size = str(self.stated.get("rung", "")), self.parts.matrix.shape[0]
        if kind == "signs":
            counts = [int(facts[name]) for name in ("positive", "negative", "zero")]
            if condition != "inertia":
                return [reasons.sign_reason(condition, holds, counts, rung)]
            if sum(counts) == size:
                return [reasons.inertia_reason(counts, rung)]
            return [reasons.partial_inertia_reason(counts, self.options["expected"])]
        if kind == "leader":
            said = reasons.leader_reason(facts["kind"], facts["by"], rung)
            return [reasons.gap_reason(self.stated["gap"], said) if "gap" in facts else said]
        if kind == "eigenvector":
            return [reasons.angle_reason(float(self.stated["sine_of_angle"]), rung)]
        if kind == "discs":
            return [reasons.discs_reason(size, float(self.stated["largest_radius"]), rung)]
        if kind == "rank":
            if "rank_at_least" in facts:
                return [reasons.too_high_rank_reason(facts["rank_at_least"], self.options["expected"])]
            rank = int(facts["rank"])
            return [
                reasons.rank_reason(rank, rung) if condition == "rank" else reasons.invertible_reason(rank, size, rung)
            ]
        return self._norm_reasons(condition, holds)

    def _norm_reasons(self, condition: str, holds: bool) -> list[str]:
        if self.document.kind == "equality" and holds:
            return [reasons.equal_reason(condition)]
        if condition == "norm-bound":
            if "bound" not in self.options:
                return [reasons.norm_reason(self.stated["norm"], None)]
            decided = reasons.norm_reason(self.stated["norm"], holds)
            asked = Fraction(self.options["bound"])
            ends = self.stated["norm"]
        else:
            ends = self.stated["distance"]
            decided = reasons.distance_reason(holds, ends[1] if holds else ends[0])
            if "within" not in self.options:
                return [decided]
            asked = Fraction(self.options["within"])
        by_interval = (ends[1] is not None and Fraction(ends[1]) <= asked) if holds else Fraction(ends[0] or 0) > asked
        exactly = reasons.undercut_reason(condition, holds)
        return [decided, exactly] if by_interval else [exactly]
