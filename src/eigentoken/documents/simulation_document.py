"""``eigentoken/simulation/1``: simulate --json."""

from typing import Any, Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@document("eigentoken/simulation/1", "simulate --json")
@open_to_more
class SimulationDocument(TypedDict):
    schema: Literal["eigentoken/simulation/1"]
    system: str
    limits: dict[str, Any]
    observables: dict[str, Any]
    equilibrium: Any
