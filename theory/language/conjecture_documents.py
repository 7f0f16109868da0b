"""The document of a conjecture, which a report of ``refute`` carries and its certificates name: its parts and its digest.

Both sides of the wall use it: the issuer writes it, the re-check forms the digest again.  The sha256 shows that something was
changed; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from eigentoken.theory.systems.algebra import causal_mask

__all__ = ["FREE", "conjecture_digest", "mask_document"]

#: The text of a claim that is a free predicate.
FREE = "holds_if"


def mask_document(mask: str | Sequence[Sequence[Any]] | None) -> str | list[list[int]] | None:
    """A mask as it is written: ``causal`` where it is."""
    if mask is None or isinstance(mask, str):
        return mask
    rows = [[int(entry) for entry in row] for row in mask]
    return "causal" if tuple(map(tuple, rows)) == causal_mask(len(rows)) else rows


def conjecture_digest(document: Mapping[str, Any]) -> str:
    """sha256 of the document of a conjecture without its digest."""
    bare = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()
