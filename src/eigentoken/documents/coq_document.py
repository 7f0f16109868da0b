"""``eigentoken/coq/1``: derive --coq --json."""

from typing import Literal, TypedDict

from eigentoken.documents.schema_language import Natural, document, open_to_more


@open_to_more
class File(TypedDict):
    id: str
    file: str
    accepted: list[str]
    refused: list[str]
    missing: list[str]


@document("eigentoken/coq/1", "derive --coq --json")
@open_to_more
class CoqDocument(TypedDict):
    schema: Literal["eigentoken/coq/1"]
    accepted: Natural
    refused: Natural
    missing: Natural
    files: list[File]
