"""``eigentoken/explore/1``: explore --json."""

from typing import Literal, TypedDict

from eigentoken.documents.schema_language import Natural, Text, document


class Proposal(TypedDict):
    """A conjecture that no instance was seen to break; ``source`` is a file that states it."""

    name: Text
    conditions: list[Text]
    claim: Text
    tried: Natural
    surprise: float
    distance: float
    score: float
    nearest: str
    known: bool
    source: Text


@document("eigentoken/explore/1", "explore --json")
class ExploreDocument(TypedDict):
    schema: Literal["eigentoken/explore/1"]
    system: Text
    about: list[Text]
    looked: Natural
    fallen: Natural
    implied: Natural
    seed: int
    proposals: list[Proposal]
