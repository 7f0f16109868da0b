"""``eigentoken/classification/2``: classify --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.instance import Empty, Instance, Sha256
from eigentoken.documents.schema_language import Instead, Limit, Natural, NonNegative, Text, document


class Inputs(TypedDict):
    instance: Sha256


PointClaim = Literal["fixed", "moved", "undefined", "inside", "outside", "boundary", "discrete"]
Stability = Literal["stable", "marginal", "unstable", "undecided"]
ShapeName = Literal["consensus", "bipartite", "polygonal", "clustering"]
PointClass = Literal["consensus", "bipartite", "polygonal", "clustering", "2-cycle", "not-an-equilibrium", "undecided"]
PointArithmetic = Literal["exact", "balls", "exact, spectrum by balls", "exact, spectrum open"]


class ClassifiedData(TypedDict):
    claim: PointClaim
    at_least: Annotated[str, Limit(pattern="^-?0x[01]\\.[0-9a-f]{1,13}p[+-][0-9]{1,4}$")] | None
    cycle: bool


class Certificate(TypedDict):
    schema: Literal["eigentoken/certificate/1"]
    kind: Literal["classification"]
    condition: Annotated[str, Instead({"enum": ["equilibrium", "linearly asymptotically stable"]})]
    verdict: Literal["holds", "fails"]
    inputs: Inputs
    data: ClassifiedData
    arrays: Empty
    digest: Sha256


class Verdict(TypedDict):
    verdict: Literal["holds", "fails", "undecided"]
    margin: NonNegative | None
    unit: str
    reason: Text
    certificate: Certificate | None
    details: Empty


class Eigenvalue(TypedDict):
    exact: str | None
    float: float | Annotated[list[float], Limit(min_items=2, max_items=2)]


class SpectrumEntry(TypedDict):
    exact: str | None
    float: float | Annotated[list[float], Limit(min_items=2, max_items=2)]
    multiplicity: Annotated[int, Limit(minimum=1)]
    enclosure: str


class Nearby(TypedDict):
    distance: NonNegative
    reason: Text
    spectrum: list[SpectrumEntry]
    linearization: Stability


ClassificationDocument = TypedDict(
    "ClassificationDocument",
    {
        "schema": Literal["eigentoken/classification/2"],
        "instance": Instance,
        "instance_sha256": Sha256,
        "system": Text,
        "n": Annotated[int, Limit(minimum=1)],
        "d": Annotated[int, Limit(minimum=1)],
        "class": PointClass,
        "also": list[ShapeName],
        "shape": Literal["consensus", "bipartite", "polygonal", "clustering", None],
        "equilibrium": Verdict,
        "k": Annotated[int, Limit(minimum=1)] | None,
        "eigenvalue": Eigenvalue | None,
        "p": Natural | None,
        "q": Natural | None,
        "clusters": Annotated[int, Limit(minimum=1)] | None,
        "attention_rank": Natural | list[Natural | None] | None,
        "spectrum": list[SpectrumEntry],
        "linearization": Literal["stable", "marginal", "unstable", "undecided", None],
        "unstable_dimension": Natural | None,
        "stable": Verdict,
        "arithmetic": PointArithmetic,
        "notes": list[Text],
        "nearby": Nearby | None,
    },
)
document("eigentoken/classification/2", "classify --json")(ClassificationDocument)
