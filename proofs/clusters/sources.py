"""The papers of the cluster literature: none was read in print; records of a public formalisation, or abstracts, were."""

from __future__ import annotations

from eigentoken.theory.statements.statement import Source, SourceKind

__all__ = [
    "CAUSAL",
    "CIRCLE",
    "EUCLIDEAN_CLUSTERS",
    "FRANK_WOLFE",
    "METASTABLE",
    "PERSPECTIVE",
    "SPHERES",
    "abstract",
    "recorded",
]

EUCLIDEAN_CLUSTERS = "Geshkovski-et-al-clusters"
PERSPECTIVE = "Geshkovski-et-al-perspective"
CAUSAL = "Karagodin-Polyanskiy-Rigollet"
METASTABLE = "Geshkovski-et-al-metastability"
FRANK_WOLFE = "Alcalde-et-al"
SPHERES = "Criscitiello-et-al"
CIRCLE = "Polyanskiy-Rigollet-Yao"


def recorded(paper: str, place: str) -> Source:
    """Taken from the statement records of a formalisation by others."""
    return Source(paper, place, SourceKind.RECORDED)


def abstract(paper: str, place: str) -> Source:
    """Only the abstract was read."""
    return Source(paper, place, SourceKind.SUMMARISED)
