"""``eigentoken/atlas/1``: atlas --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Limit, document, open_to_more


@document("eigentoken/atlas/1", "atlas --json")
@open_to_more
class AtlasDocument(TypedDict):
    schema: Literal["eigentoken/atlas/1"]
    folder: str
    pages: Annotated[list[str], Limit(min_items=1)]
