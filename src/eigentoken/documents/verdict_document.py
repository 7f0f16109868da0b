"""``eigentoken/verdict/3``: certify --json."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.certificate import Certificate
from eigentoken.documents.schema_language import Also, Instead, Limit, Natural, NonNegative, Text, document


class EigenvaluesOfSymmetricPart(TypedDict):
    smallest: Annotated[list[float | None], Limit(min_items=2, max_items=2)]
    largest: Annotated[list[float | None], Limit(min_items=2, max_items=2)]


class Eigenvalue(TypedDict):
    re: float | None
    im: float | None
    radius: float | None


class Disc(TypedDict):
    re: float
    im: float
    radius: NonNegative


class Details(TypedDict):
    eigenvalues_of_symmetric_part: NotRequired[EigenvaluesOfSymmetricPart]
    rung: NotRequired[str]
    inertia: NotRequired[Annotated[list[Natural], Limit(min_items=3, max_items=3)]]
    at_least: NotRequired[Annotated[list[Natural], Limit(min_items=3, max_items=3)]]
    kind: NotRequired[
        Literal[
            "simple-real", "simple-pair", "non-real", "multiple-real", "multiple-pair", "tie", "all-real", "unknown"
        ]
    ]
    by: NotRequired[Literal["real-part", "modulus", "step"]]
    eigenvalue: NotRequired[Eigenvalue]
    gap: NotRequired[Annotated[list[float | None], Limit(min_items=2, max_items=2)] | None]
    sine_of_angle: NotRequired[NonNegative]
    vector: NotRequired[Annotated[list[float], Limit(min_items=1)]]
    discs: NotRequired[Annotated[list[Disc], Limit(min_items=1)]]
    largest_radius: NotRequired[NonNegative]
    distance: NotRequired[Annotated[list[float | None], Limit(min_items=2, max_items=2)]]
    norm: NotRequired[Literal["spectral"] | Annotated[list[float | None], Limit(min_items=2, max_items=2)]]
    pieces: NotRequired[Annotated[int, Limit(minimum=1)]]
    interval: NotRequired[Annotated[list[Text], Limit(min_items=2, max_items=2)]]
    time: NotRequired[Text | Annotated[list[Text], Limit(min_items=2, max_items=2)]]
    rank: NotRequired[Natural | Annotated[list[Natural], Limit(min_items=2, max_items=2)]]


CONDITIONS = [
    "symmetric",
    "identity",
    "positive-definite",
    "negative-definite",
    "positive-semidefinite",
    "negative-semidefinite",
    "indefinite",
    "inertia",
    "rank",
    "nonsingular",
    "norm-bound",
    "spectrum",
    "dominant-real-part",
    "dominant-modulus",
    "dominant-step",
    "dominant-complex-pair",
    "spectral-gap",
    "principal-eigenvector",
]


@document("eigentoken/verdict/3", "certify --json")
class VerdictDocument(TypedDict):
    schema: Literal["eigentoken/verdict/3"]
    condition: Annotated[str, Instead({"enum": CONDITIONS})]
    matrix: Text
    verdict: Literal["holds", "fails", "undecided"]
    margin: NonNegative | None
    unit: str
    reason: Text
    certificate: (
        Annotated[
            Certificate,
            Also(
                {
                    "required": ["digest"],
                    "properties": {
                        "kind": {
                            "enum": [
                                "signs",
                                "leader",
                                "eigenvector",
                                "equality",
                                "norm",
                                "rank",
                                "discs",
                                "time-formula",
                                "time-samples",
                            ]
                        }
                    },
                }
            ),
        ]
        | None
    )
    details: Details
