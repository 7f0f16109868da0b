"""``eigentoken/verify/1``: verify --json."""

from typing import Any, Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@open_to_more
class Line(TypedDict):
    word: Literal["holds", "fails", "undecided", "argued"]
    name: Any
    reason: Any
    what: Any


@open_to_more
class Statement(TypedDict):
    verdict: Literal["holds", "fails"]
    lines: list[Line]
    evidence: Any
    id: Any


@document("eigentoken/verify/1", "verify --json")
@open_to_more
class VerifyDocument(TypedDict):
    schema: Literal["eigentoken/verify/1"]
    verdict: Literal["holds", "fails"]
    statements: list[Statement]
