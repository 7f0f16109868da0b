"""``eigentoken/statement/4``: show --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, Unlisted, document, open_to_more

Anything = Instead({})
StatusName = Annotated[
    str, Instead({"enum": ["stated", "tested", "argued", "stepwise", "derived", "formal", "refuted", "corrected"]})
]
PrintedFinding = Literal[
    "false as printed",
    "imprecise as printed",
    "summary imprecise",
    "false as formalised here",
    "imprecise as formalised here",
    "false as recorded",
    "imprecise as recorded",
]


@open_to_more
class Step(TypedDict):
    formula: Annotated[str, Anything]
    kind: Annotated[str, Anything]
    name: Annotated[str, Anything]
    says: Annotated[str, Anything]
    scope: Annotated[str, Anything]
    uses: Annotated[list[str], Anything]
    argued: Annotated[bool, Unlisted()]


@open_to_more
class Counterexample(TypedDict):
    instance: Annotated[dict[str, object], Anything]
    name: Annotated[str, Anything]
    says: Annotated[str, Anything]


class Printed(TypedDict):
    text: str
    wrong: str
    false: bool
    kind: Annotated[str, Instead({"enum": ["read", "summarised", "recorded", "formalised"]})]
    word: PrintedFinding
    counterexamples: list[Counterexample]


class Dropped(TypedDict):
    """A condition without which the statement fails."""

    condition: str
    says: str


class RegressionVector(TypedDict):
    """Digits that a computation must give."""

    name: str
    expected: list[str]


class EvidenceRecord(TypedDict):
    """What was run for exactly this text of a statement."""

    digest: str
    checked: int
    cited: int
    second: int
    tested: int
    unseen: int
    vectors: int
    counterexamples: int
    scopes: list[str]
    argued: int
    proved: int
    formal: int
    complete: bool


@document("eigentoken/statement/4", "show --json")
@open_to_more
class StatementDocument(TypedDict):
    schema: Literal["eigentoken/statement/4"]
    id: str
    status: StatusName
    conditions: list[str]
    claims: list[str]
    steps: list[Step]
    printed: Printed | None
    bibtex: Annotated[str, Anything]
    kind: Annotated[str, Anything]
    source: Annotated[str, Anything]
    reading: Annotated[str, Instead({"enum": ["read", "summarised", "recorded", "formalised"]})]
    title: Annotated[str, Anything]
    depends: Annotated[list[str], Unlisted()]
    systems: Annotated[list[str], Unlisted()]
    covers: Annotated[str, Unlisted()]
    text: Annotated[str, Unlisted()]
    dropped: Annotated[list[Dropped], Unlisted()]
    vectors: Annotated[list[RegressionVector], Unlisted()]
    evidence: Annotated[EvidenceRecord | None, Unlisted()]
    notes: Annotated[str, Unlisted()]
