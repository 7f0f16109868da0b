"""A verdict as it stands inside other documents, with its certificate and what is known beside the answer."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.certificate import Certificate
from eigentoken.documents.schema_language import Instead, NonNegative
from eigentoken.documents.verdict_document import Details

__all__ = ["Answer", "Verdict", "VerdictDetails"]

Answer = Literal["holds", "fails", "undecided"]


class Verdict(TypedDict):
    verdict: Literal["holds", "fails", "undecided"]
    margin: NonNegative | None
    unit: str
    reason: str
    certificate: Certificate | None
    details: Annotated[VerdictDetails, Instead({"type": "object"})]


class VerdictDetails(Details, total=False):
    """Everything that a verdict of this toolkit may carry beside its answer, each where it applies."""

    parts: dict[str, Verdict]
    full_rank: Verdict
    certified: str
    point: dict[str, str]
    residual: str
    terms: int
