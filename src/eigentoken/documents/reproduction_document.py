"""``eigentoken/reproduction/1``: reproduce --json."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Unlisted, document, open_to_more

RecipeStatus = Literal["agrees", "differs", "cannot run"]
Scale = Literal["quick", "full", "paper"]


@open_to_more
class Check(TypedDict):
    claim: str
    agrees: bool
    evidence: str
    because: NotRequired[str]


class ResultTable(TypedDict):
    """A table of a figure."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@open_to_more
class Outcome(TypedDict):
    name: str
    paper: str
    figure: str
    title: str
    settings: str
    claim: str
    status: RecipeStatus
    reason: str
    seconds: NotRequired[float]
    checks: list[Check]
    numbers: dict[str, object]
    resumed: bool
    scale: Annotated[str, Unlisted()]
    seed: Annotated[int, Unlisted()]
    models: Annotated[list[str], Unlisted()]
    note: Annotated[str, Unlisted()]
    tables: Annotated[list[ResultTable], Unlisted()]


@document("eigentoken/reproduction/1", "reproduce --json")
@open_to_more
class ReproductionDocument(TypedDict):
    schema: Literal["eigentoken/reproduction/1"]
    scale: Scale
    seed: int
    gallery: str
    outcomes: list[Outcome]
