"""``eigentoken/chance/4``: chance --json, chance -o."""

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
        Probability, Says("adjusted (Benjamini and Hochberg) over the heads, or the layers, and statistics of a null")
    ]


class ChanceHead(TypedDict):
    schema: Literal["eigentoken/chance/4"]


class ChanceBody(TypedDict):
    """The document without the name of its schema."""

    version: str
    model: ChanceModel
    options: ChanceOptions
    statistics: Annotated[dict[str, str], Says("what each statistic is")]
    shares: list[ChanceShare]
    tests: list[ChanceTest]


@document("eigentoken/chance/4", "chance --json, chance -o")
class ChanceDocument(ChanceHead, ChanceBody):
    pass
