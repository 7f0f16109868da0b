"""``eigentoken/certificate/1``: Certificate of a verdict."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Also, Instead, Limit, Natural, Says, Text, When, document, with_rules

Sha256 = Annotated[str, Limit(pattern="^[0-9a-f]{64}$")]


Rational = Annotated[str, Limit(pattern="^-?[0-9]+(/[0-9]+)?$")]


LeaderKind = Literal["simple-real", "simple-pair", "non-real", "multiple-real", "multiple-pair", "tie", "all-real"]
MatrixForm = Literal["symmetric-part", "skew-part", "minus-identity", "itself"]
LeadBy = Literal["real-part", "modulus", "step"]


class Options(TypedDict):
    alpha: NotRequired[Rational]
    bound: NotRequired[Rational]
    within: NotRequired[Rational]
    expected: NotRequired[Natural | Annotated[list[Natural], Limit(min_items=3, max_items=3)]]
    by: NotRequired[LeadBy]


class Facts(TypedDict):
    form: NotRequired[MatrixForm]
    positive: NotRequired[Natural]
    negative: NotRequired[Natural]
    zero: NotRequired[Natural]
    beyond: NotRequired[Rational]
    kind: NotRequired[LeaderKind]
    by: NotRequired[LeadBy]
    size: NotRequired[Annotated[int, Limit(minimum=1)]]
    alpha: NotRequired[Rational]
    beta: NotRequired[Rational]
    gap: NotRequired[Annotated[list[str | None], Limit(min_items=2, max_items=2)]]
    sine: NotRequired[str]
    vector: NotRequired[list[str]]
    discs: NotRequired[list[Annotated[list[str], Limit(min_items=3, max_items=3)]]]
    equal: NotRequired[bool]
    distance_above: NotRequired[Rational]
    norm_at_most: NotRequired[Rational]
    norm_above: NotRequired[Rational]
    low: NotRequired[Rational]
    high: NotRequired[Rational]
    rank: NotRequired[Natural]
    rank_at_least: NotRequired[Natural]


class MatrixFacts(TypedDict):
    """Facts about one matrix, formed from the inputs."""

    shape: Annotated[list[Annotated[int, Limit(minimum=1)]], Limit(min_items=2, max_items=2)]
    terms: Annotated[
        list[
            Annotated[
                list[
                    Annotated[
                        list[str | bool],
                        Instead(
                            {
                                "type": "array",
                                "minItems": 2,
                                "maxItems": 2,
                                "prefixItems": [{"type": "string"}, {"type": "boolean"}],
                            }
                        ),
                    ]
                ],
                Limit(min_items=1),
            ]
        ],
        Limit(min_items=1),
        Says("the matrix as a sum of products of named inputs, true where one is transposed"),
    ]
    slack: Annotated[Rational, Says("radius of the set the verdict is about")]
    margin: Annotated[str, Limit(min_length=1), Says("hexadecimal float, or inf")]
    unit: Literal["spectral norm"]
    options: Options
    facts: Facts


Piece = TypedDict(
    "Piece",
    {
        "from": Rational,
        "to": Rational,
        "certificate": "Certificate",
        "center": NotRequired[list[list[str]]],
        "sample": NotRequired[Natural],
    },
)


class Times(TypedDict):
    """Pieces of an interval of times, each with the certificate of a matrix."""

    interval: Annotated[list[Rational], Limit(min_items=2, max_items=2)]
    options: Options
    margin: Annotated[str, Limit(min_length=1), Says("hexadecimal float")]
    unit: Literal["spectral norm"]
    formula: NotRequired[list[list[str]]]
    times: NotRequired[list[Rational]]
    lipschitz: NotRequired[Rational]
    pieces: Annotated[list[Piece], Limit(min_items=1)]


class Tokens(TypedDict):
    tokens: Annotated[list[list[str]], Instead({"type": "array"})]
    vector: NotRequired[Annotated[list[str], Instead({"type": "array"})]]
    weights: NotRequired[Annotated[list[str], Instead({"type": "array"})]]


class Box(TypedDict):
    system: str
    n: Annotated[int, Limit(minimum=1)]
    d: Annotated[int, Limit(minimum=1)]
    parameters: dict[str, object]
    mask: Annotated[Sequence[Sequence[int]] | None, Instead({"anyOf": [{"type": "array"}, {"type": "null"}]})]
    centre: list[str]
    radius: str
    cycle: bool


class Form(TypedDict):
    form: Annotated[list[list[float]], Instead({"type": "array"})]
    direction: NotRequired[Annotated[list[float], Instead({"type": "array"})]]
    kind: Literal["map", "flow"]
    equilibrium: Box


class Claim(TypedDict):
    claim: Literal["fixed", "moved", "undefined", "inside", "outside", "boundary", "discrete"]
    at_least: str | None
    cycle: bool


#: The kinds that leave the house; others stand inside the data of one of these, or of a counterexample.
PUBLISHED = [
    "signs",
    "leader",
    "eigenvector",
    "equality",
    "norm",
    "rank",
    "discs",
    "core-inertia",
    "time-formula",
    "time-samples",
    "hemisphere",
    "equilibrium-krawczyk",
    "equilibrium-lyapunov",
    "classification",
]


class Inputs(TypedDict):
    instance: Sha256


@document("eigentoken/certificate/1", "Certificate of a verdict")
@with_rules(
    When(
        "kind",
        ("signs", "leader", "eigenvector", "equality", "norm", "rank", "discs", "core-inertia"),
        {"data": MatrixFacts, "inputs": Annotated[Any, Also({"minProperties": 1})]},
    ),
    When(
        "kind", ("time-formula", "time-samples"), {"data": Times, "inputs": Annotated[Any, Also({"minProperties": 1})]}
    ),
    When("kind", ("hemisphere",), {"data": Tokens}),
    When("kind", ("equilibrium-krawczyk",), {"data": Box}),
    When("kind", ("equilibrium-lyapunov",), {"data": Form}),
    When("kind", ("classification",), {"data": Claim, "inputs": Inputs}),
)
class Certificate(TypedDict):
    """Facts, in exact numbers, that imply a verdict; a re-check needs nothing but these and the inputs.."""

    schema: Literal["eigentoken/certificate/1"]
    kind: Annotated[str, Instead({"enum": PUBLISHED})]
    condition: Text
    verdict: Literal["holds", "fails"]
    inputs: Annotated[
        dict[str, Sha256],
        Says("name of each input and the sha256 of its content (empty where the data hold the input itself)"),
    ]
    arrays: Annotated[
        dict[str, Sha256], Says("name and sha256 of each array in the safetensors file beside the document")
    ]
    digest: NotRequired[Annotated[Sha256, Says("sha256 of the canonical document without this field")]]
    data: dict[str, object]
