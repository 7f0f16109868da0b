"""``eigentoken/statements/3``: statements --json."""

from typing import Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


class Statement(TypedDict):
    id: str
    kind: str
    source: str
    title: str
    status: Literal["stated", "tested", "argued", "stepwise", "derived", "refuted", "corrected"]
    depends: list[str]
    listed_sizes: bool
    printed: Literal[
        "false as printed",
        "imprecise as printed",
        "summary imprecise",
        "false as formalised here",
        "imprecise as formalised here",
        None,
    ]


@document("eigentoken/statements/3", "statements --json")
@open_to_more
class StatementsDocument(TypedDict):
    schema: Literal["eigentoken/statements/3"]
    statements: list[Statement]
