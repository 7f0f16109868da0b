"""``eigentoken/statements/3``: statements --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, document, open_to_more
from eigentoken.documents.statement_document import PrintedFinding, StatusName

FINDINGS = [
    "false as printed",
    "imprecise as printed",
    "summary imprecise",
    "false as formalised here",
    "imprecise as formalised here",
    None,
]


class Statement(TypedDict):
    id: str
    kind: str
    source: str
    title: str
    status: StatusName
    depends: list[str]
    listed_sizes: bool
    printed: Annotated[PrintedFinding | None, Instead({"enum": FINDINGS})]


@document("eigentoken/statements/3", "statements --json")
@open_to_more
class StatementsDocument(TypedDict):
    schema: Literal["eigentoken/statements/3"]
    statements: list[Statement]
