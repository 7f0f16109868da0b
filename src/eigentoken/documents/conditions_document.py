"""``eigentoken/conditions/1``: certify --json without arguments."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Limit, document, open_to_more


@document("eigentoken/conditions/1", "certify --json without arguments")
@open_to_more
class ConditionsDocument(TypedDict):
    schema: Literal["eigentoken/conditions/1"]
    conditions: Annotated[dict[str, str], Limit(min_properties=1)]
