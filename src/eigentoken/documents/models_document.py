"""``eigentoken/models/1``: models --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, document, open_to_more

Anything = Instead({"type": "array"})


class Sample(TypedDict):
    """A checkpoint that can be fetched."""

    name: str
    family: str
    licence: str
    megabytes: float
    package: str
    cached: bool
    good_for: str


@document("eigentoken/models/1", "models --json")
@open_to_more
class ModelsDocument(TypedDict):
    schema: Literal["eigentoken/models/1"]
    families: Annotated[list[str], Anything]
    samples: Annotated[list[Sample], Anything]
