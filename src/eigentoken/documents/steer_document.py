"""``eigentoken/steer/2``: steer --json."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import (
    Instead,
    Limit,
    Natural,
    NonNegative,
    Says,
    Unlisted,
    document,
    open_to_more,
)
from eigentoken.documents.verdict_object import VerdictDetails


@open_to_more
class Certificate(TypedDict):
    schema: NotRequired[Literal["eigentoken/certificate/1"]]
    kind: NotRequired[str]
    condition: NotRequired[str]
    verdict: NotRequired[Literal["holds", "fails", "undecided"]]
    inputs: NotRequired[dict[str, str]]
    data: NotRequired[dict[str, object]]
    arrays: NotRequired[Annotated[dict[str, str], Instead({"type": "object"})]]
    digest: NotRequired[Annotated[str, Unlisted()]]


@open_to_more
class Verdict(TypedDict):
    verdict: Literal["holds", "fails", "undecided"]
    margin: NonNegative | None
    unit: NotRequired[str]
    reason: str
    certificate: Certificate | None
    details: NotRequired[Annotated[VerdictDetails, Instead({"type": "object"})]]


@open_to_more
class LeadingEigenvalue(TypedDict):
    re: float
    im: float
    radius: NonNegative | None


ReadBy = Literal["tokenizer.json", "bytes", "ids"]
Side = Literal["+w", "-w"]
Share = Annotated[float, Limit(minimum=0, maximum=1)]


@open_to_more
class Before(TypedDict):
    mean: float
    smallest: float
    signed_mean: Annotated[float, Says("of the cosine with its sign")]


@open_to_more
class Guarantee(TypedDict):
    verdict: Literal["holds", "fails", "undecided"]
    margin: NonNegative | None
    unit: str
    reason: str
    kappa: Annotated[list[float | None], Limit(min_items=2, max_items=2)] | None
    tangent_at_most: NonNegative | None
    side: Annotated[Side | None, Says("where it holds: the side of w on which the token ends, certified")]
    cosine: Annotated[list[float | None], Limit(min_items=2, max_items=2)] | None


@open_to_more
class Guaranteed(TypedDict):
    tokens: Natural
    holds: Natural
    fails: Natural
    undecided: Natural
    towards: Annotated[Natural, Says("of those that hold, the ones that end on the side of +w")]
    away: Annotated[Natural, Says("of those that hold, the ones that end on the side of -w")]
    largest_tangent_bound: NonNegative | None
    scope: str
    each: list[Guarantee]
    median_tangent_bound: NonNegative | None


@open_to_more
class Tokens(TypedDict):
    before: Before
    after: Before
    guaranteed: Guaranteed


@open_to_more
class SuggestedStrength(TypedDict):
    share: Share
    strength: NonNegative | None


@open_to_more
class CurvePoint(TypedDict):
    """Measured: relative entropy of the next token (nats), and the share of positions that keep their likeliest token."""

    strength: NonNegative
    positions: Natural
    mean_kl: NonNegative
    largest_kl: NonNegative
    top1_kept: Share


@open_to_more
class OutputEffect(TypedDict):
    why_not: Annotated[str | None, Says("why there is no distribution to compare")]
    stored: CurvePoint | None
    curve: Annotated[list[CurvePoint], Says("the same edit at other strengths, not rounded to the stored dtype")]


@open_to_more
class SteerPrompts(TypedDict):
    source: str
    read_by: ReadBy
    prompts: Natural
    tokens: Natural
    ids: Annotated[list[list[Natural]], Says("the token ids of each prompt")]


@open_to_more
class SteerStates(TypedDict):
    source: str
    tokens: Natural


class SteerRun(TypedDict):
    """The random tokens where no prompts and no states were given, and what entered the last layer, of all sequences."""

    sequences: Natural
    tokens: Natural
    seed: int
    sha256: Annotated[str, Says("of the states that enter the last layer, one sequence below the other")]


class SteerEdit(TypedDict):
    """``O' = O + strength direction row^T`` before it is rounded to the stored dtype: exact floats."""

    direction: list[float]
    row: list[float]


class SteerHead(TypedDict):
    schema: Literal["eigentoken/steer/2"]


class SteerBody(TypedDict):
    """The document without the name of its schema."""

    model: str
    fingerprint: str
    folder: str
    folder_fingerprint: str
    edit: SteerEdit
    run: SteerRun
    states: Annotated[SteerStates | None, Says("states that were given in place of random tokens")]
    layers_changed: list[Natural]
    strength: NonNegative
    verdicts: Annotated[dict[str, Verdict], Limit(min_properties=1)]
    leading_eigenvalue: LeadingEigenvalue | None
    cosine_of_leading_eigenvector_with_direction: float | None
    cosine_at_least: Annotated[float, Limit(minimum=0, maximum=1)] | None
    value_matrix_condition_number: float
    prompts: Annotated[SteerPrompts | None, Says("none: random tokens")]
    tokens: Tokens
    suggested: Annotated[
        list[SuggestedStrength], Says("in floats: what a share of these tokens needs for the guarantee")
    ]
    output: OutputEffect


@document("eigentoken/steer/2", "steer --json")
@open_to_more
class SteerDocument(SteerHead, SteerBody):
    pass
