"""``eigentoken/nearest/1``: nearest --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.check_document import Interval, Word
from eigentoken.documents.schema_language import Natural, Says, document


class NearestStatement(TypedDict):
    id: str
    title: str


class NearestLayer(TypedDict):
    layer: Natural
    word: Word
    distance: Annotated[
        Interval, Says("encloses the spectral distance of the weights to those that meet the conditions")
    ]
    of: Annotated[str, Says("what the distance is of: the layer matrix F, or a head")]
    norm: Annotated[Interval, Says("of F, to compare")]
    says: str


class NearestWritten(TypedDict):
    folder: str
    layers_changed: list[Natural]
    words: Annotated[list[Word], Says("what the check says of each layer of the stored weights, after rounding")]
    moved: Annotated[list[Interval], Says("how far each changed layer matrix moved, after rounding")]


class NearestHead(TypedDict):
    schema: Literal["eigentoken/nearest/1"]


class NearestBody(TypedDict):
    """The document without the name of its schema."""

    version: str
    model: str
    fingerprint: str
    statement: NearestStatement
    layers: list[NearestLayer]
    written: NearestWritten | None


@document("eigentoken/nearest/1", "nearest --json")
class NearestDocument(NearestHead, NearestBody):
    pass
