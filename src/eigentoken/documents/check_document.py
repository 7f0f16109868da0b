"""``eigentoken/check/2``: check --json, check -o."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Also, Limit, Natural, NonNegative, document
from eigentoken.documents.verdict_object import Verdict


class File(TypedDict):
    name: str
    sha256: str


class Model(TypedDict):
    source: str
    family: str
    format: str
    layers: Natural
    heads: Natural
    key_value_heads: Natural
    d: Natural
    d_head: Natural
    description: str
    fingerprint: str
    files: list[File]


Word = Literal[
    "holds",
    "fails",
    "undecided",
    "not about this model",
    "asks nothing of the weights",
    "asks only invertibility",
    "no condition on weights",
]


class DifferenceCount(TypedDict):
    part: Literal["heads", "mask", "positions", "scores", "metric", "values", "map", "matrices", "system"]
    statement: str
    layer: str
    layers: Annotated[int, Limit(minimum=1)]


class Obstacle(TypedDict):
    condition: str
    layers: Annotated[int, Limit(minimum=1)]


IdealisationName = Literal[
    "step",
    "step of a map",
    "normalisation",
    "centring",
    "no normalisation",
    "weights over root d",
    "gains",
    "biases",
    "feed-forward",
]


AsIfCounts = TypedDict(
    "AsIfCounts",
    {
        "met as if one head": Natural,
        "not met as if one head": Natural,
        "undecided as if one head": Natural,
    },
)


class ObstacleInHeads(TypedDict):
    condition: str
    heads: Annotated[int, Limit(minimum=1)]


class AsOneHead(TypedDict):
    layers: AsIfCounts
    obstacles: list[Obstacle]
    heads: AsIfCounts
    obstacles_in_heads: list[ObstacleInHeads]


class Statement(TypedDict):
    id: str
    title: str
    kind: Literal[
        "lemma", "theorem", "proposition", "remark", "definition", "extension", "counterexample", "conjecture"
    ]
    asks: Literal["nothing", "invertible", "more"]
    word: Word
    layers: list[Word]
    differs: list[DifferenceCount]
    obstacles: list[Obstacle]
    about_tokens: list[str]
    idealisations: list[IdealisationName]
    as_one_head: AsOneHead | None


Interval = Annotated[list[float | Literal["inf", "-inf"]], Limit(min_items=2, max_items=2)] | None


class HeadRegime(TypedDict):
    regime: Literal["convergence", "divergence", "intermediate", "none", "undecided", "not about this model"]
    rank: Verdict
    of: Literal["this layer", "as if one head", "not about this model"]
    on_whole_space: Literal["convergence", "divergence", "intermediate", "none", "undecided", "not about this model"]
    on: str
    reason: str
    conserved_directions: int | None
    verdicts: dict[str, Verdict]


AsIfWord = Literal["met as if one head", "not met as if one head", "undecided as if one head"]


class HeadReading(TypedDict):
    statement: str
    word: AsIfWord
    conditions: dict[str, str]


class Rotary(TypedDict):
    offset: Natural
    norm: Interval
    change: Interval
    relative_change: Interval


class Head(TypedDict):
    score_inertia: Verdict
    value_inertia: Verdict
    value_leader: Verdict
    verdicts: dict[str, Verdict]
    regime: HeadRegime
    hypotheses: list[HeadReading]
    rotary: NotRequired[list[Rotary]]
    head: Natural
    score: dict[str, Interval] | None
    value: dict[str, Interval] | None
    score_norm: Interval


class Difference(TypedDict):
    part: Literal["heads", "mask", "positions", "scores", "metric", "values", "map", "matrices", "system"]
    statement: str
    layer: str


class AsOneHeadReading(TypedDict):
    word: AsIfWord
    conditions: dict[str, Verdict]


class StatementReading(TypedDict):
    statement: str
    word: Word
    asks: Literal["nothing", "invertible", "more"]
    system: str | None
    differs: list[Difference]
    verdict: Verdict | None
    conditions: dict[str, Verdict]
    about_tokens: list[str]
    idealisations: list[IdealisationName]
    as_one_head: AsOneHeadReading | None


class System(TypedDict):
    heads: Annotated[int, Limit(minimum=1)]
    acting: Natural
    mask: str
    window: int | None
    positions: str
    added_positions: str
    key_value_heads: Annotated[int, Limit(minimum=1)]
    queries_are_keys: bool
    uniform: bool
    score_is_identity: bool
    value_is_identity: bool
    placement: Literal["pre", "post"]
    norm: Literal["layernorm", "rmsnorm"]
    gains_folded: bool
    says: str


class LayerRegime(TypedDict):
    regime: Literal["convergence", "divergence", "intermediate", "none", "undecided", "not about this model"]
    of: Literal["this layer", "as if one head", "not about this model"]
    reason: str
    verdicts: dict[str, Verdict]


class Layer(TypedDict):
    leaders: dict[str, Verdict]
    leading_eigenvalue: Interval
    gap: Interval
    alpha_star: Interval
    norm: Interval
    distance_to_symmetric: NotRequired[Interval]
    distance_to_identity: NotRequired[Interval]
    score_inertia: NotRequired[Verdict]
    heads: list[Head]
    hypotheses: list[StatementReading]
    value_inertia: NotRequired[Verdict]
    distance_to_positive_definite: NotRequired[Interval]
    score_distance_to_positive_definite: NotRequired[Interval]
    system: System
    regime: LayerRegime
    zero_weights: list[Literal["query", "key", "value", "output"]]
    cases: dict[str, str]
    convention: str
    d: Natural
    description: str
    discs: list[Annotated[list[float], Limit(min_items=3, max_items=3)]] | None
    layer: Natural
    weights_of: Natural
    score_distance_to_symmetric: NotRequired[Interval]


class Observed(TypedDict):
    layer: Natural
    left_out: Annotated[
        dict[str, NonNegative | None],
        Also(
            {
                "required": [
                    "biases",
                    "gains",
                    "feed_forward",
                    "attention_to_state",
                    "gain_spread",
                    "own_step",
                    "length_spread",
                    "centring",
                    "norm_change",
                ]
            }
        ),
    ]
    tokens: NotRequired[list[Any] | float | None]
    mean_distance: NotRequired[list[Any] | float | None]
    E: NotRequired[list[Any] | float | None]
    correlation: NotRequired[list[Any] | float | None]
    delta_rho: NotRequired[list[Any] | float | None]
    delta_rho_interval: NotRequired[list[Any] | float | None]
    probability: NotRequired[list[Any] | float | None]
    probability_interval: NotRequired[list[Any] | float | None]
    subspace_dimension: NotRequired[list[Any] | float | None]


class IdealisationRow(TypedDict):
    name: IdealisationName
    says: str
    measured: Literal["not measured"] | list[NonNegative | None]
    certified: list[Interval] | None


class Options(TypedDict):
    fold: bool
    sequences: Natural
    tokens: Natural
    seed: int


@document("eigentoken/check/2", "check --json, check -o")
class CheckDocument(TypedDict):
    schema: Literal["eigentoken/check/2"]
    model: Model
    warnings: list[str]
    statements: list[Statement]
    layers: list[Layer]
    observed: list[Observed]
    idealisations: list[IdealisationRow]
    version: str
    conventions: str
    options: Options
