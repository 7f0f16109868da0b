"""``eigentoken/basin/1``: basin --json and basin -o."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.instance import Instance, Sha256
from eigentoken.documents.schema_language import Limit, Natural, NonNegative, Says, Text, When, document, with_rules

__all__ = ["BasinDocument", "Facts", "HeadSubject", "ObservedTokens", "Rate", "RegionDocument"]

Exact = Annotated[str, Limit(pattern="^-?[0-9]+(\\.[0-9]+|/[0-9]+)?$")]
Pair = Annotated[list[Exact], Limit(min_items=2, max_items=2)]
RegionKind = Literal["half-space", "ball", "cone", "ellipsoid"]
RateUnit = Literal["factor of one layer", "exponent in time"]


class Rate(TypedDict):
    """From every start within ``radius`` the measure shrinks at least at this rate, for ever."""

    radius: Exact
    rate: Exact


class Symmetric(TypedDict):
    """The leading eigenvalue, all others (lower and upper bounds), and an upper bound of the norm of the scores."""

    leader: Pair
    others: Pair
    scores: Exact


class Cone(TypedDict):
    """Approximate eigenvectors of the core, G of ``H = I + V^T G V``, q, the weight of the leader, ``|w|`` from above."""

    leader: Pair
    contraction: Exact
    reach: Exact
    weight: Exact
    left: Annotated[list[float], Limit(min_items=1)]
    right: Annotated[list[float], Limit(min_items=1)]
    form: Annotated[list[list[float]], Limit(min_items=1)]


class Ellipsoid(TypedDict):
    centre: list[list[Exact]]
    shape: list[list[Exact]]
    pull: Exact


class Facts(TypedDict):
    leader: NotRequired[Pair]
    others: NotRequired[Pair]
    scores: NotRequired[Exact]
    contraction: NotRequired[Exact]
    reach: NotRequired[Exact]
    weight: NotRequired[Exact]
    left: NotRequired[list[float]]
    right: NotRequired[list[float]]
    form: NotRequired[list[list[float]]]
    centre: NotRequired[list[list[Exact]]]
    shape: NotRequired[list[list[Exact]]]
    pull: NotRequired[Exact]


@with_rules(
    When("kind", ("half-space", "ball"), {"facts": Symmetric}),
    When("kind", ("cone",), {"facts": Cone}),
    When("kind", ("ellipsoid",), {"facts": Ellipsoid}),
)
class RegionDocument(TypedDict):
    """One certified region of attraction."""

    kind: RegionKind
    statement: Annotated[
        str | None, Says("the statement whose hypotheses were certified; none: the contraction principle")
    ]
    says: Text
    unit: RateUnit
    rates: Annotated[list[Rate], Limit(min_items=1)]
    facts: Facts


class HeadSubject(TypedDict):
    """One head of a model, alone, as a layer on the unit sphere."""

    model: Text
    fingerprint: Text
    layer: Natural
    head: Natural
    fold: bool
    alpha: Exact
    inputs: Annotated[dict[str, Sha256], Says("sha256 of the stored O and V")]


class ObservedTokens(TypedDict):
    """Where states of the model's own tokens lie (floats, of random token ids): a measurement."""

    sequences: Natural
    tokens: Natural
    seed: int
    same_side: Annotated[Natural, Says("sequences whose tokens are all on one side of the hyperplane")]
    share: Annotated[NonNegative, Says("mean share of the tokens of a sequence on its larger side")]
    radius: Annotated[NonNegative | None, Says("smallest radius that holds one of those sequences whole")]


@document("eigentoken/basin/1", "basin --json, basin -o")
class BasinDocument(TypedDict):
    schema: Literal["eigentoken/basin/1"]
    instance: Instance | None
    instance_sha256: Sha256 | None
    head: HeadSubject | None
    regions: list[RegionDocument]
    observed: ObservedTokens | None
