"""``eigentoken/doctor/1``: doctor --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, document, open_to_more

Anything = Instead({})


@open_to_more
class Check(TypedDict):
    detail: Annotated[str, Anything]
    name: Annotated[str, Anything]
    state: Annotated[str, Anything]


@document("eigentoken/doctor/1", "doctor --json")
@open_to_more
class DoctorDocument(TypedDict):
    schema: Literal["eigentoken/doctor/1"]
    checks: list[Check]
