"""``eigentoken/doctor/1``: doctor --json."""

from typing import Any, Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@open_to_more
class Check(TypedDict):
    detail: Any
    name: Any
    state: Any


@document("eigentoken/doctor/1", "doctor --json")
@open_to_more
class DoctorDocument(TypedDict):
    schema: Literal["eigentoken/doctor/1"]
    checks: list[Check]
