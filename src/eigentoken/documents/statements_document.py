"""``eigentoken/statements/5``: statements --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, Unlisted, document, open_to_more
from eigentoken.documents.statement_document import PrintedFinding, StatusName

FINDINGS = [
    "false as printed",
    "imprecise as printed",
    "summary imprecise",
    "false as formalised here",
    "imprecise as formalised here",
    "false as recorded",
    "imprecise as recorded",
    None,
]


class Statement(TypedDict):
    id: str
    kind: str
    source: str
    reading: Annotated[str, Instead({"enum": ["read", "summarised", "recorded", "formalised"]})]
    title: str
    status: StatusName
    depends: list[str]
    systems: list[str]
    about: str
    needs: list[str]
    says: str
    listed_sizes: bool
    printed: Annotated[PrintedFinding | None, Instead({"enum": FINDINGS})]


@document("eigentoken/statements/5", "statements --json")
@open_to_more
class StatementsDocument(TypedDict):
    schema: Literal["eigentoken/statements/5"]
    asked: Annotated[dict[str, str], Unlisted()]
    layers: Annotated[dict[str, int], Unlisted()]
    heads: Annotated[dict[str, int], Unlisted()]
    statements: list[Statement]
