"""The document of a conjecture, which a report of ``refute`` carries and its certificates name.

A report says ``refuted`` of a conjecture; the certificates are about one instance.  They meet in the conjecture's document:
its name, system, conditions and claims in words that can be read back, with a sha256 that each certificate names.  The
sha256 shows that something was changed; it is no signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eigentoken.theory.language.conjecture_documents import FREE, conjecture_digest, mask_document
from eigentoken.theory.language.documents import DocumentError, encode
from eigentoken.theory.language.readings import LATEX

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture

__all__ = ["conjecture_document", "shown"]

SHOWN = ("verdict", "margin", "unit", "reason")


def conjecture_document(conjecture: Conjecture) -> dict[str, Any]:
    """Name, system, conditions and claims of a conjecture with their digest."""
    document: dict[str, Any] = {
        "name": conjecture.name,
        "system": conjecture.system,
        "conditions": [_word(each) for each in conjecture.conditions],
        "claims": [_word(each) for each in conjecture.claims],
    }
    if conjecture.mask is not None:
        document["mask"] = mask_document(conjecture.mask)
    if conjecture.holds_if is not None:
        document["claims"] = [*document["claims"], {"text": FREE, "statement": None}]
    return {**document, "digest": conjecture_digest(document)}


def _word(word: Any) -> dict[str, Any]:
    try:
        return {"text": str(LATEX(word)), "statement": encode(word)}
    except DocumentError as problem:  # it can be searched, but a certificate could not name it
        return {"text": str(LATEX(word)), "statement": {"unreadable": str(problem)}}


def shown(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a verdict that a reader sees: word, margin, unit, reason."""
    return {name: verdict.get(name) for name in SHOWN}
