"""The document of a conjecture, which a report of ``refute`` carries and its certificates name.

A report says ``refuted`` of a conjecture; the certificates are about one instance.  They meet in the conjecture's document:
its name, system, conditions and claims in words that can be read back, with a sha256 that each certificate names.  The
sha256 shows that something was changed; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eigentoken.theory.language.documents import DocumentError, encode
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.systems.algebra import causal_mask

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture

__all__ = ["FREE", "conjecture_digest", "conjecture_document", "mask_document", "shown"]

FREE = "holds_if"
SHOWN = ("verdict", "margin", "unit", "reason")


def conjecture_document(conjecture: Conjecture) -> dict[str, Any]:
    """Name, system, conditions and claims of a conjecture with their digest."""
    document = {
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


def mask_document(mask: Any) -> Any:
    """A mask as it is written: ``causal`` where it is."""
    if mask is None or isinstance(mask, str):
        return mask
    rows = [[int(entry) for entry in row] for row in mask]
    return "causal" if tuple(map(tuple, rows)) == causal_mask(len(rows)) else rows


def _word(word: Any) -> dict[str, Any]:
    try:
        return {"text": str(LATEX(word)), "statement": encode(word)}
    except DocumentError as problem:  # it can be searched, but a certificate could not name it
        return {"text": str(LATEX(word)), "statement": {"unreadable": str(problem)}}


def shown(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a verdict that a reader sees: word, margin, unit, reason."""
    return {name: verdict.get(name) for name in SHOWN}


def conjecture_digest(document: Mapping[str, Any]) -> str:
    """sha256 of the document of a conjecture without its digest."""
    bare = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()
