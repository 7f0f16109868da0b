"""``eigentoken/steer/1``: steer --json."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Instead, Limit, Natural, NonNegative, Unlisted, document, open_to_more
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


@open_to_more
class Before(TypedDict):
    mean: float
    smallest: float


@open_to_more
class Guarantee(TypedDict):
    verdict: Literal["holds", "fails", "undecided"]
    margin: NonNegative | None
    unit: str
    reason: str
    kappa: Annotated[list[float | None], Limit(min_items=2, max_items=2)] | None
    tangent_at_most: NonNegative | None
    cosine: Annotated[list[float | None], Limit(min_items=2, max_items=2)] | None


@open_to_more
class Guaranteed(TypedDict):
    tokens: Natural
    holds: Natural
    fails: Natural
    undecided: Natural
    largest_tangent_bound: NonNegative | None
    scope: str
    each: list[Guarantee]
    median_tangent_bound: NonNegative | None


@open_to_more
class Tokens(TypedDict):
    before: Before
    after: Before
    guaranteed: Guaranteed


class SteerHead(TypedDict):
    schema: Literal["eigentoken/steer/1"]


class SteerBody(TypedDict):
    """The document without the name of its schema."""

    model: str
    folder: str
    layers_changed: list[Natural]
    strength: NonNegative
    verdicts: Annotated[dict[str, Verdict], Limit(min_properties=1)]
    leading_eigenvalue: LeadingEigenvalue | None
    cosine_of_leading_eigenvector_with_direction: float | None
    cosine_at_least: Annotated[float, Limit(minimum=0, maximum=1)] | None
    value_matrix_condition_number: float
    tokens: Tokens


@document("eigentoken/steer/1", "steer --json")
@open_to_more
class SteerDocument(SteerHead, SteerBody):
    pass
