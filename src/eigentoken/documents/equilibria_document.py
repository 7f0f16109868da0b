"""Equilibria of one system, and one of them, as ``et.equilibria(...).as_dict()`` gives them (no command prints them)."""

from typing import TypedDict

from eigentoken.documents.classification_document import SpectrumEntry
from eigentoken.documents.verdict_object import Verdict

EquilibriumDocument = TypedDict(
    "EquilibriumDocument",
    {
        "class": str,
        "origin": str,
        "k": int | None,
        "p": int | None,
        "q": int | None,
        "tokens": list[list[float]],
        "exact": list[list[str]] | None,
        "equilibrium": Verdict,
        "stable": Verdict,
        "linearization": str | None,
        "unstable_dimension": int | None,
        "spectrum": list[SpectrumEntry],
        "family": int,
        "notes": list[str],
    },
)

EquilibriumRow = TypedDict(
    "EquilibriumRow",
    {
        "name": str,
        "class": str,
        "k": int | None,
        "p": int | None,
        "q": int | None,
        "equilibrium": str,
        "stable": str,
        "unstable_dimension": int | None,
        "origin": str,
    },
)


class EquilibriaDocument(TypedDict):
    system: str
    n: int
    d: int
    complete: bool
    equilibria: list[EquilibriumDocument]
