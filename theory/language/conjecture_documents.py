"""The document of a conjecture, which a report of ``refute`` carries and its certificates name: its parts and its digest.

Both sides of the wall use it: the issuer writes it, the re-check forms the digest again.  The sha256 shows that something was
changed; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Literal, SupportsInt

from eigentoken.documents.refutation_document import Mask as MaskDocument
from eigentoken.theory.systems.algebra import causal_mask

__all__ = ["FREE", "conjecture_digest", "mask_document"]

#: The text of a claim that is a free predicate.
FREE = "holds_if"


def mask_document(mask: str | Sequence[Sequence[SupportsInt]]) -> MaskDocument:
    """A mask as it is written: ``causal`` where it is."""
    if isinstance(mask, str):
        if mask not in ("full", "causal"):
            raise ValueError(f"mask must be full, causal or rows of 0 and 1, got {mask!r}")
        return "causal" if mask == "causal" else "full"
    rows: list[list[Literal[0, 1]]] = [[1 if int(entry) else 0 for entry in row] for row in mask]
    return "causal" if tuple(map(tuple, rows)) == causal_mask(len(rows)) else rows


def conjecture_digest(document: Mapping[str, object]) -> str:
    """sha256 of the document of a conjecture without its digest."""
    bare = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()
