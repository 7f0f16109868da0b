"""``eigentoken/verify/1``: verify --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, Unlisted, document, open_to_more
from eigentoken.documents.statement_document import EvidenceRecord

Anything = Instead({})
LineAnswer = Literal["holds", "fails", "undecided", "argued"]


@open_to_more
class Line(TypedDict):
    word: LineAnswer
    name: Annotated[str, Anything]
    reason: Annotated[str, Anything]
    what: Annotated[str, Anything]
    second: Annotated[str, Unlisted()]
    scope: Annotated[str, Unlisted()]
    argued: Annotated[bool, Unlisted()]


@open_to_more
class Statement(TypedDict):
    verdict: Literal["holds", "fails"]
    lines: list[Line]
    evidence: Annotated[EvidenceRecord, Anything]
    id: Annotated[str, Anything]
    status: Annotated[str, Unlisted()]


@document("eigentoken/verify/1", "verify --json")
@open_to_more
class VerifyDocument(TypedDict):
    schema: Literal["eigentoken/verify/1"]
    verdict: Literal["holds", "fails"]
    statements: list[Statement]
