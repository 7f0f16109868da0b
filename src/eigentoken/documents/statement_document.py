"""``eigentoken/statement/3``: show --json."""

from typing import Any, Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@open_to_more
class Step(TypedDict):
    formula: Any
    kind: Any
    name: Any
    says: Any
    scope: Any
    uses: Any


@open_to_more
class Counterexample(TypedDict):
    instance: Any
    name: Any
    says: Any


class Printed(TypedDict):
    text: str
    wrong: str
    false: bool
    kind: Literal["read", "summarised", "formalised"]
    word: Literal[
        "false as printed",
        "imprecise as printed",
        "summary imprecise",
        "false as formalised here",
        "imprecise as formalised here",
    ]
    counterexamples: list[Counterexample]


@document("eigentoken/statement/3", "show --json")
@open_to_more
class StatementDocument(TypedDict):
    schema: Literal["eigentoken/statement/3"]
    id: str
    status: Literal["stated", "tested", "argued", "stepwise", "derived", "refuted", "corrected"]
    conditions: list[str]
    claims: list[str]
    steps: list[Step]
    printed: Printed | None
    bibtex: Any
    kind: Any
    source: Any
    title: Any
