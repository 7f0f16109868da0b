"""``eigentoken/compare/2``: compare --json, compare -o, check --revisions."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.check_document import Interval
from eigentoken.documents.schema_language import Limit, Natural, Says, document

Direction = Literal["rises", "falls", "not parted"]


class ComparedModel(TypedDict):
    label: str
    source: str
    fingerprint: str


class CompareOptions(TypedDict):
    fold: bool
    statements: Annotated[list[str], Says("the ids that were asked for; none: all")]


class ComparedNumber(TypedDict):
    quantity: str
    values: Annotated[list[Interval], Says("a certified interval a model, in the order of the models")]
    steps: Annotated[list[Direction], Says("from each model to the next: certified where the intervals part")]
    overall: Annotated[Direction, Says("from the first model to the last")]


class ComparedWord(TypedDict):
    quantity: str
    values: list[str]


class ComparedHead(TypedDict):
    head: Natural
    words: list[ComparedWord]
    numbers: list[ComparedNumber]


class ComparedLayer(TypedDict):
    layer: Natural
    used_by: Annotated[list[Natural], Limit(min_items=1)]
    words: list[ComparedWord]
    numbers: list[ComparedNumber]
    heads: list[ComparedHead]


class ComparedStatement(TypedDict):
    id: str
    title: str
    applies_to: Annotated[list[list[Natural]], Says("a list of layers a model: those where it holds")]


class CompareHead(TypedDict):
    schema: Literal["eigentoken/compare/2"]


class CompareBody(TypedDict):
    """The document without the name of its schema."""

    version: str
    options: CompareOptions
    models: Annotated[list[ComparedModel], Limit(min_items=2)]
    layers: list[ComparedLayer]
    statements: Annotated[list[ComparedStatement], Says("statements that hold in some layer of some model")]


@document("eigentoken/compare/2", "compare --json, compare -o")
class CompareDocument(CompareHead, CompareBody):
    pass
