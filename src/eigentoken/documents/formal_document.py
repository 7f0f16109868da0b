"""``eigentoken/formal/1``: verify --coq --json."""

from typing import Literal, TypedDict

from eigentoken.documents.schema_language import Natural, document, open_to_more


@open_to_more
class Hypothesis(TypedDict):
    """What the theorem assumes beyond the conditions of the statement."""

    rule: str
    says: str
    coq: str


@open_to_more
class Theorem(TypedDict):
    """A statement for one system, as Coq has it."""

    id: str
    system: str
    theorem: str
    accepted: bool
    reason: str
    proved: Natural
    assumed: list[Hypothesis]
    claims: Natural
    given: Natural
    axioms: list[str]


@document("eigentoken/formal/1", "verify --coq --json")
@open_to_more
class FormalDocument(TypedDict):
    schema: Literal["eigentoken/formal/1"]
    verdict: Literal["holds", "fails"]
    theorems: list[Theorem]
