"""``eigentoken/derive/1``: derive --json."""

from typing import Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@document("eigentoken/derive/1", "derive --json")
@open_to_more
class DeriveDocument(TypedDict):
    schema: Literal["eigentoken/derive/1"]
    files: list[str]
    missing: list[str]
