"""``eigentoken/check/7``: check --json, check -o."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Also, Instead, Limit, Natural, NonNegative, Says, document
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


Word = Annotated[
    str,
    Instead(
        {
            "enum": [
                "holds",
                "fails",
                "undecided",
                "not about this model",
                "asks nothing of the weights",
                "asks only invertibility",
                "no condition on weights",
            ]
        }
    ),
]


Part = Literal[
    "heads",
    "mask",
    "positions",
    "scores",
    "metric",
    "values",
    "map",
    "matrices",
    "system",
    "attention",
    "parameters",
    "step",
    "normalisation",
]
RegimeName = Literal["convergence", "divergence", "intermediate", "none", "undecided", "not about this model"]
RegimeOf = Literal["this layer", "as if one head", "not about this model"]
AsksName = Literal["nothing", "invertible", "more"]
PlacementName = Literal["pre", "post"]
NormName = Literal["layernorm", "rmsnorm", "none"]
ZeroWeight = Literal["query", "key", "value", "output"]


class DifferenceCount(TypedDict):
    part: Part
    statement: str
    layer: str
    layers: Annotated[int, Limit(minimum=1)]


class Obstacle(TypedDict):
    condition: str
    layers: Annotated[int, Limit(minimum=1)]


IDEALISATIONS = [
    "step",
    "step of a map",
    "normalisation",
    "unit tokens",
    "centring",
    "no normalisation",
    "weights over root d",
    "gains",
    "biases",
    "feed-forward",
]
IdealisationName = Annotated[str, Instead({"enum": IDEALISATIONS})]


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


KINDS = ["lemma", "theorem", "proposition", "remark", "definition", "extension", "counterexample", "conjecture"]


class AtTokens(TypedDict):
    """A condition on tokens, certified of what enters each layer: ``holds`` for all prompts, ``fails`` for some, else open."""

    condition: str
    layers: list[Literal["holds", "fails", "undecided"]]


class Statement(TypedDict):
    id: str
    title: str
    kind: Annotated[str, Instead({"enum": KINDS})]
    asks: AsksName
    word: Word
    layers: list[Word]
    differs: list[DifferenceCount]
    obstacles: list[Obstacle]
    about_tokens: list[str]
    at_tokens: Annotated[
        list[AtTokens], Says("its conditions on tokens at the states that were given; empty where none were")
    ]
    idealisations: list[IdealisationName]
    as_one_head: AsOneHead | None


Interval = Annotated[list[float | Literal["inf", "-inf"]], Limit(min_items=2, max_items=2)] | None


class HeadRegime(TypedDict):
    regime: RegimeName
    rank: Verdict
    of: RegimeOf
    on_whole_space: RegimeName
    on: str
    reason: str
    conserved_directions: int | None
    verdicts: dict[str, Verdict]


AsIfWord = Annotated[
    str, Instead({"enum": ["met as if one head", "not met as if one head", "undecided as if one head"]})
]


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
    score: dict[str, Interval]
    value: dict[str, Interval]
    score_norm: Interval


class Difference(TypedDict):
    part: Part
    statement: str
    layer: str


class AsOneHeadReading(TypedDict):
    word: AsIfWord
    conditions: dict[str, Verdict]


class StatementReading(TypedDict):
    statement: str
    word: Word
    distance: Annotated[
        Interval,
        Says(
            "where it fails or is undecided: encloses how far the matrices are, in the spectral norm, from all conditions"
        ),
    ]
    distance_of: Annotated[str, Says("F, the scores S, both (the larger change counts), or a head")]
    distance_says: Annotated[str, Says("what is at the upper end, or why there is none; empty without a distance")]
    asks: AsksName
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
    placement: PlacementName
    norm: NormName
    gains_folded: bool
    scores: str
    weights: str
    values: str
    update: str
    says: str


class LayerRegime(TypedDict):
    regime: RegimeName
    of: RegimeOf
    reason: str
    verdicts: dict[str, Verdict]


class LayerMeasures(TypedDict):
    """What the numerics finds of one layer."""

    layer: int
    d: int
    leaders: dict[str, Verdict]
    cases: dict[str, str]
    leading_eigenvalue: Interval
    gap: Interval
    alpha_star: Interval
    norm: Interval
    distance_to_symmetric: Interval
    distance_to_identity: Interval
    distance_to_positive_definite: Interval
    score_distance_to_symmetric: Interval
    score_distance_to_positive_definite: Interval
    score_inertia: Verdict
    value_inertia: Verdict
    discs: list[list[float]]
    heads: list[Head]


class TokenBound(TypedDict):
    """A certified bound at the tokens of one sequence, what was measured there, and what is true of every head (``trivial``).

    ``head``: ``None`` for the layer; ``bound``: ``None`` where it is not finite; ``ratio``: bound / measured.
    """

    statement: str
    head: Natural | None
    bound: NonNegative | None
    measured: NonNegative
    ratio: NonNegative | None
    trivial: NonNegative | None
    vacuous: bool


class NotBounded(TypedDict):
    """A statement that is not about the heads of a layer, with the parts that differ."""

    statement: str
    differs: list[Difference]


class LayerMargins(TypedDict):
    """What the weights of a layer say without tokens, for its place in :class:`LayerBounds`."""

    bounds: list[TokenBound]
    not_about: list[NotBounded]


class LayerRecord(LayerMeasures):
    """What is kept of one layer while the others are examined."""

    system: System
    regime: LayerRegime
    hypotheses: list[StatementReading]
    principal: list[list[float]] | None
    margins: LayerMargins
    zero_weights: list[ZeroWeight]
    convention: str
    description: str


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
    zero_weights: list[ZeroWeight]
    cases: dict[str, str]
    convention: str
    d: Natural
    description: str
    discs: list[Annotated[list[float], Limit(min_items=3, max_items=3)]] | None
    layer: Natural
    weights_of: Natural
    used_by: Annotated[
        list[Natural], Limit(min_items=1), Says("every layer that has these weights, which stand here once")
    ]
    score_distance_to_symmetric: NotRequired[Interval]


Ends = Annotated[list[float], Limit(min_items=2, max_items=2)]
#: An interval before the layer and one after it.
EndsOfBoth = Annotated[list[Ends], Limit(min_items=2, max_items=2)]


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
    tokens: Natural
    mean_distance: Ends
    mean_distance_intervals: EndsOfBoth | None
    E: Ends
    E_intervals: EndsOfBoth | None
    correlation: Ends
    correlation_intervals: EndsOfBoth | None
    delta_rho: float
    delta_rho_interval: Ends
    probability: float
    probability_interval: Ends
    subspace_dimension: Natural


class LayerBounds(TypedDict):
    """The bounds of one layer at the first sequence; ``sha256``: of the tokens that enter the layer and its attention.

    Last, those that are read from weights alone (BD-E1, BD-E2, BD-H1): the only ones without tokens, with an empty ``sha256``.
    """

    layer: Natural
    tokens: Natural
    sha256: str
    bounds: list[TokenBound]
    not_about: list[NotBounded]


class StateConditions(TypedDict):
    """What is certified of the states that enter a layer: the floats with this ``sha256``.

    ``given``: are they the user's, or did the layers before make them of the user's, in floating point?  The shortest and longest
    length, the smallest and largest cosine of two tokens are enclosures.  ``measured_on_one_side``: no certificate, the share of
    tokens on one side of the leading eigenvector of F, in floats; ``None`` where none leads alone.
    """

    prompt: Annotated[Natural, Says("0 for states that were given as they are")]
    layer: Natural
    tokens: Natural
    given: bool
    sha256: str
    hemisphere: Verdict
    shortest: Interval
    longest: Interval
    smallest_cosine: Interval
    largest_cosine: Interval
    measured_on_one_side: NonNegative | None
    asked: Annotated[
        dict[str, Literal["holds", "fails", "undecided"]],
        Says("each condition on tokens of the statements that were asked for"),
    ]


class GivenPrompts(TypedDict):
    """Prompts as token ids, which the model's own embedding turned into the states before layer 0."""

    read_by: Literal["tokenizer.json", "bytes", "ids"]
    ids: list[list[Natural]]


class OwnStates(TypedDict):
    """The states that were given in place of random tokens; ``source``: the name of the file, or ``array``."""

    source: str
    sha256: str
    shape: list[Natural]
    dtype: str
    per_layer: bool
    prompts: Annotated[GivenPrompts | None, Says("the states are those of these prompts; null: given as they are")]
    conditions: list[StateConditions]


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
    heads_only: NotRequired[
        Annotated[Literal[True], Says("F and S were not formed: what is asked of them is undecided")]
    ]


class CheckHead(TypedDict):
    schema: Literal["eigentoken/check/7"]


class CheckBody(TypedDict):
    """The document without the name of its schema."""

    model: Model
    warnings: list[str]
    statements: list[Statement]
    layers: list[Layer]
    observed: list[Observed]
    bounds: list[LayerBounds]
    states: Annotated[OwnStates | None, Says("given by the user; null where random tokens were drawn")]
    idealisations: list[IdealisationRow]
    version: str
    conventions: str
    options: Options


@document("eigentoken/check/7", "check --json, check -o")
class CheckDocument(CheckHead, CheckBody):
    pass
