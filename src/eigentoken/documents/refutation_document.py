"""``eigentoken/refutation/3``: refute --json, refute -o."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.instance import Empty, Instance, Sha256
from eigentoken.documents.schema_language import Limit, Natural, NonNegative, Text, When, document, with_rules

RefutationAnswer = Literal["refuted", "candidate", "survived", "not tested"]
RefutationStatus = Literal["refuted", "tested", "not tested"]
Mask = Literal["full", "causal"] | list[list[Literal[0, 1]]]


class StatedWord(TypedDict):
    text: str
    statement: dict[str, object] | None


class Conjecture(TypedDict):
    name: Text
    system: Text
    conditions: list[StatedWord]
    claims: Annotated[list[StatedWord], Limit(min_items=1)]
    mask: NotRequired[Mask]
    digest: Sha256


class CertifiedCondition(TypedDict):
    condition: Text
    verdict: Literal["holds"]
    margin: NonNegative | None
    unit: str
    reason: Text


class RefutedClaim(TypedDict):
    claim: Text
    verdict: Literal["fails"]
    margin: NonNegative | None
    unit: str
    reason: Text


class Inputs(TypedDict):
    instance: Sha256
    conjecture: Sha256


class LabData(TypedDict):
    k: int
    p: int
    statement: dict[str, object] | None
    reason: Text
    kind: str
    data: NotRequired[dict[str, object]]
    predicate: NotRequired[dict[str, object] | None]


class LabCertificate(TypedDict):
    schema: Literal["eigentoken/certificate/1"]
    kind: Literal["lab/condition", "lab/claim"]
    condition: Text
    verdict: Literal["holds", "fails"]
    inputs: Inputs
    data: LabData
    arrays: Empty
    digest: Sha256


class Counterexample(TypedDict):
    instance: Instance
    instance_sha256: Sha256
    n: Annotated[int, Limit(minimum=1)]
    d: Annotated[int, Limit(minimum=1)]
    k: int
    p: int
    conditions: list[CertifiedCondition]
    claim: RefutedClaim
    certificates: list[LabCertificate]


class Dropped(TypedDict):
    condition: str
    needed: bool | None
    says: Text
    counterexample: Counterexample | None


@with_rules(When("verdict", ("refuted",), {"counterexample": Counterexample}, {"counterexample": None}))
class Result(TypedDict):
    name: Text
    system: Text
    place: str
    verdict: RefutationAnswer
    status: RefutationStatus
    meaning: Text
    expect: str
    conjecture: Conjecture
    seed: int
    tried: Natural
    units: Natural
    seconds: NonNegative
    best_violation: float | None
    stopped: str
    methods: dict[str, Natural]
    corners: dict[str, Natural]
    volume: dict[str, Annotated[list[float], Limit(min_items=2, max_items=2)]]
    unsettled: Natural
    found_by: str
    counterexample: Counterexample | None
    candidate: dict[str, object] | None
    dropped: list[Dropped]
    lost_workers: list[str]


@document("eigentoken/refutation/3", "refute --json, refute -o")
class RefutationDocument(TypedDict):
    schema: Literal["eigentoken/refutation/3"]
    file: str
    file_sha256: Sha256 | None
    results: list[Result]
