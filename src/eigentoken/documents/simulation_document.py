"""``eigentoken/simulation/2``: simulate --json."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Instead, Unlisted, document, open_to_more
from eigentoken.documents.verdict_object import Verdict

AnyObject = Instead({"type": "object"})


class LimitCount(TypedDict):
    """How many of the starts went there, with a 95 % interval of the fraction."""

    count: int
    total: int
    interval95: list[float]


class FirstLimit(TypedDict):
    """Where the first start went."""

    kind: str
    clusters: int
    opposite: int
    motion: float


class ObservedEnds(TypedDict):
    """The mean of an observable over the starts, at the beginning and at the end."""

    start: float
    end: float


class EquilibriumNear(TypedDict):
    """The certified equilibrium near the first limit."""

    exists: Verdict
    stable: Verdict
    centre: list[list[float]]
    radius: float
    two_cycle: bool


class SimulationFiles(TypedDict):
    """What was written beside it."""

    figure: NotRequired[str]
    data: NotRequired[str]
    animation: NotRequired[str]


@document("eigentoken/simulation/2", "simulate --json")
@open_to_more
class SimulationDocument(TypedDict):
    schema: Literal["eigentoken/simulation/2"]
    system: str
    limits: Annotated[dict[str, LimitCount], AnyObject]
    observables: Annotated[dict[str, ObservedEnds], AnyObject]
    equilibrium: Annotated[EquilibriumNear | None, Instead({})]
    settings: Annotated[dict[str, object], Unlisted()]
    end: Annotated[float, Unlisted()]
    first: Annotated[FirstLimit, Unlisted()]
    files: NotRequired[Annotated[SimulationFiles, Unlisted()]]
