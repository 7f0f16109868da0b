"""``eigentoken/reproduction/1``: reproduce --json."""

from typing import Any, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@open_to_more
class Check(TypedDict):
    claim: str
    agrees: bool
    evidence: str
    because: NotRequired[str]


@open_to_more
class Outcome(TypedDict):
    name: str
    paper: str
    figure: str
    title: str
    settings: str
    claim: str
    status: Literal["agrees", "differs", "cannot run"]
    reason: str
    seconds: NotRequired[float]
    checks: list[Check]
    numbers: dict[str, Any]
    resumed: bool


@document("eigentoken/reproduction/1", "reproduce --json")
@open_to_more
class ReproductionDocument(TypedDict):
    schema: Literal["eigentoken/reproduction/1"]
    scale: Literal["quick", "full", "paper"]
    seed: int
    gallery: str
    outcomes: list[Outcome]
