"""``eigentoken/nearest/3``: nearest --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.check_document import AsIfWord, Interval, Word
from eigentoken.documents.schema_language import Also, Natural, Says, document


class NearestStatement(TypedDict):
    id: str
    title: str


Distance = Annotated[Interval, Says("encloses the spectral distance of the weights to those that meet the conditions")]


class NearestAsIf(TypedDict):
    """A statement about one head, read on the sums of the heads."""

    word: AsIfWord
    distance: Distance
    of: Annotated[str, Says("F, the scores S of all heads over their scale, or both: the larger change counts")]
    says: str


class NearestOfHead(TypedDict):
    """A statement about one head, read on one of several as if it were alone; the distance is to other factors of its shapes."""

    head: Natural
    word: AsIfWord
    distance: Distance
    of: Annotated[str, Says("the values U, the scores P, or both: the larger change counts")]
    norm: Annotated[Interval, Says("of U, to compare")]
    score_norm: Annotated[Interval, Says("of P, to compare")]
    says: str


class NearestLayer(TypedDict):
    layer: Natural
    word: Word
    distance: Distance
    of: Annotated[str, Says("what the distance is of: the layer matrix F, the scores S, both, or a head")]
    norm: Annotated[Interval, Says("of F, to compare")]
    says: str
    as_one_head: NearestAsIf | None
    heads: list[NearestOfHead]


class NearestWritten(TypedDict):
    folder: str
    layers_changed: list[Natural]
    words: Annotated[list[Word], Says("what the check says of each layer of the stored weights, after rounding")]
    changed: Annotated[
        list[Annotated[str, Also({"pattern": "^O?Q?K?V?$"})]],
        Says("the stored matrices of each changed layer that are others"),
    ]
    moved: Annotated[list[Interval], Says("how far each changed layer matrix moved, after rounding")]
    scores_moved: Annotated[
        list[Interval | None],
        Says("how far the scores P of the only head of each changed layer moved; null: not at all"),
    ]


class NearestHead(TypedDict):
    schema: Literal["eigentoken/nearest/3"]


class NearestBody(TypedDict):
    """The document without the name of its schema."""

    version: str
    model: str
    fingerprint: str
    statement: NearestStatement
    layers: list[NearestLayer]
    written: NearestWritten | None


@document("eigentoken/nearest/3", "nearest --json")
class NearestDocument(NearestHead, NearestBody):
    pass
