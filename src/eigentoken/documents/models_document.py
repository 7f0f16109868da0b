"""``eigentoken/models/1``: models --json."""

from typing import Any, Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@document("eigentoken/models/1", "models --json")
@open_to_more
class ModelsDocument(TypedDict):
    schema: Literal["eigentoken/models/1"]
    families: list[Any]
    samples: list[Any]
