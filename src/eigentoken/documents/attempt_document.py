"""``eigentoken/attempt/1``: attempt --json, attempt -o."""

from typing import Literal, TypedDict

from eigentoken.documents.refutation_document import Conjecture
from eigentoken.documents.schema_language import Natural, Text, document
from eigentoken.documents.statement_document import Step as StepRecord

AttemptAnswer = Literal["derived", "argued", "not derived", "not attempted"]


class TriedMeans(TypedDict):
    goal: Text
    means: Text
    stopped: str


class Questions(TypedDict):
    """Questions to a solver in the derivation, and how many of them an independent solver answered in the same way."""

    asked: Natural
    agreed: Natural


class AttemptResult(TypedDict):
    name: Text
    system: Text
    verdict: AttemptAnswer
    says: Text
    conjecture: Conjecture
    conditions: list[Text]
    steps: list[StepRecord]
    recalled: list[Text]
    second_opinion: Questions
    tried: list[TriedMeans]


@document("eigentoken/attempt/1", "attempt --json, attempt -o")
class AttemptDocument(TypedDict):
    schema: Literal["eigentoken/attempt/1"]
    file: str
    results: list[AttemptResult]
