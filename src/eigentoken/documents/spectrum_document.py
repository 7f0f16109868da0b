"""``eigentoken/spectrum/1``: spectrum --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, Limit, Says, Text, document
from eigentoken.documents.verdict_object import VerdictDetails

Extension = Literal["homogeneous", "unit"]


class Formula(TypedDict):
    text: Text
    latex: Text


class Run(TypedDict):
    symbol: Text
    count: Formula
    over: str
    meaning: str


Family = TypedDict(
    "Family",
    {
        "class": str,
        "value": Formula,
        "multiplicity": Formula,
        "runs": list[Run],
        "eigenvectors": str,
        "tangent": bool,
        "extension": Literal["homogeneous", "unit", None],
        "block": Annotated[list[Annotated[list[Formula], Limit(min_items=1)]], Limit(min_items=1)] | None,
    },
)


class Relation(TypedDict):
    letter: Formula
    meaning: Formula


class Verdict(TypedDict):
    verdict: Literal["holds", "fails", "undecided"]
    margin: float | None
    unit: str
    reason: str
    certificate: None
    details: Annotated[VerdictDetails, Instead({"type": "object"})]


class Proof(TypedDict):
    name: Text
    latex: Text
    verdict: Literal["holds", "fails", "undecided"]
    reason: str
    smtlib: Annotated[
        str | None, Says("the question whose unsatisfiability is the lemma, for any solver that reads SMT-LIB 2")
    ]


class Criterion(TypedDict):
    name: Text
    assumes: list[Text]
    hypotheses: list[Formula]
    condition: Formula
    letters: list[Relation]
    exact: bool
    unstable: bool
    proof: Annotated[list[Proof], Limit(min_items=1)]
    words: str
    verdict: Literal["holds", "fails", "undecided"]


class SpectrumHead(TypedDict):
    schema: Literal["eigentoken/spectrum/1"]


class SpectrumBody(TypedDict):
    """The document without the name of its schema."""

    system: Text
    point: Text
    time: Literal["map", "flow"]
    dimension: Formula
    families: Annotated[list[Family], Limit(min_items=1)]
    conditions: list[Formula]
    relations: list[Relation]
    abbreviations: list[Relation]
    notes: list[Text]
    count: Verdict
    criteria: list[Criterion]


@document("eigentoken/spectrum/1", "spectrum --json")
class SpectrumDocument(SpectrumHead, SpectrumBody):
    pass
