"""``eigentoken/chance/6``: chance --json, chance -o."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Limit, Natural, NonNegative, Says, document

NullName = Literal["gaussian factors", "random bases"]
Probability = Annotated[float, Limit(minimum=0, maximum=1)]


class ChanceModel(TypedDict):
    source: str
    description: str
    fingerprint: str


class ChanceOptions(TypedDict):
    draws: Natural
    layer_draws: Natural
    seed: int
    level: Probability


class ChanceShare(TypedDict):
    what: str
    met: Natural
    of: Natural
    chance: Probability
    p: Annotated[Probability, Says("exact binomial, two-sided")]


class ChanceTest(TypedDict):
    layer: Natural
    head: Annotated[Natural | None, Says("none: the sums of all heads of the layer, F (values) and S (scores)")]
    part: Literal["scores", "values"]
    statistic: str
    null: NullName
    value: float
    mean: float
    deviation: NonNegative
    z: float
    p: Annotated[Probability, Says("two-sided, from the draws")]
    q: Annotated[
        Probability,
        Says(
            "adjusted (Benjamini and Hochberg) over the heads, or layers, and statistics of a null; of fewer than 40 draws apart"
        ),
    ]
    draws: Annotated[Natural, Says("of the null where the statistic is defined: p is at least 2 / (draws + 1)")]


class TokenTest(TypedDict):
    layer: Annotated[Natural, Says("the place of the layer; layers that share weights meet other tokens")]
    head: Annotated[Natural | None, Says("none: of the whole layer")]
    quantity: str
    null: NullName
    value: float
    mean: float
    deviation: NonNegative
    z: float
    p: Annotated[Probability, Says("two-sided, from the draws")]
    q: Annotated[
        Probability,
        Says(
            "adjusted over the heads, or the layers, and quantities of a null on tokens; of fewer than 40 draws apart"
        ),
    ]
    draws: Annotated[Natural, Says("of the null where the quantity is defined: p is at least 2 / (draws + 1)")]


class NotTaken(TypedDict):
    quantity: str
    why: str


class ChanceTokens(TypedDict):
    source: Annotated[str, Says("random tokens, or the name of what was given")]
    tokens: Natural
    sha256: Annotated[str, Says("of the states that enter the first layer, or each layer")]
    ids: Annotated[list[Natural] | None, Says("of the prompt, where one was given")]
    draws: Natural
    layer_draws: Natural
    quantities: Annotated[dict[str, str], Says("what each quantity is")]
    not_taken: list[NotTaken]
    tests: list[TokenTest]


class ChanceHead(TypedDict):
    schema: Literal["eigentoken/chance/6"]


class ChanceBody(TypedDict):
    """The document without the name of its schema."""

    version: str
    model: ChanceModel
    options: ChanceOptions
    statistics: Annotated[dict[str, str], Says("what each statistic is")]
    not_taken: Annotated[list[NotTaken], Says("of weights: what their draws would cost too much for, by width")]
    shares: list[ChanceShare]
    tests: list[ChanceTest]
    tokens: Annotated[
        ChanceTokens | None,
        Says("under redrawn attention weights; none if no tokens are run"),
    ]


@document("eigentoken/chance/6", "chance --json, chance -o")
class ChanceDocument(ChanceHead, ChanceBody):
    pass
