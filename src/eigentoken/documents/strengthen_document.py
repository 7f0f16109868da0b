"""``eigentoken/strengthen/1``: strengthen --json, strengthen -o."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.refutation_document import Result
from eigentoken.documents.schema_language import Limit, Natural, Text, document

RowKind = Literal["drop", "weaken", "sharpen", "converse", "constant"]


class Trial(TypedDict):
    """The conjecture with one change, attacked; ``result`` is null where it could not be tried, and ``why_not`` says why."""

    to: str
    result: Result | None
    why_not: str


class Row(TypedDict):
    kind: RowKind
    part: Literal["conditions", "claims"]
    number: Natural
    word: Text
    constant: str | None
    trials: Annotated[list[Trial], Limit(min_items=1)]
    outcome: Text
    says: Text


class Strengthened(TypedDict):
    whole: Result
    rows: list[Row]


@document("eigentoken/strengthen/1", "strengthen --json, strengthen -o")
class StrengthenDocument(TypedDict):
    schema: Literal["eigentoken/strengthen/1"]
    file: str
    results: list[Strengthened]
