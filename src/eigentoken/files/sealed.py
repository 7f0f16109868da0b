"""Lines of a log that an interrupted run goes on from: each carries a sha256 of itself and of what the run is about.

The hash shows a line that was changed, cut off, or written for other inputs; such a line is not believed, and its result is found
again.  It is no signature: who can write the file can make the hash anew.  A report that goes to somebody else is re-checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from eigentoken.files.documents import DocumentError, parse_json

__all__ = ["opened", "sealed"]


def sealed(document: Mapping[str, Any], binding: str) -> str:
    """The line of a document, bound to what it is about (inputs, options, code, in any text).

    >>> line = sealed({"layer": 0, "word": "fails"}, "these weights")
    >>> opened(line, "these weights")
    {'layer': 0, 'word': 'fails'}
    >>> opened(line.replace("fails", "holds"), "these weights") is None, opened(line, "other weights") is None
    (True, True)
    """
    text = json.dumps(document, allow_nan=False, sort_keys=True)
    return json.dumps({**document, "sha256": _seal(text, binding)}, allow_nan=False)


def opened(line: str | bytes, binding: str) -> dict[str, Any] | None:
    """The document of a line, or None where the line is not the one that was written for this binding."""
    try:
        document = parse_json(line, "the log")
    except DocumentError:
        return None
    if not isinstance(document, dict) or "sha256" not in document:
        return None
    stated = document.pop("sha256")
    text = json.dumps(document, allow_nan=False, sort_keys=True)
    return document if stated == _seal(text, binding) else None


def _seal(text: str, binding: str) -> str:
    return hashlib.sha256(f"{binding}\n{text}".encode()).hexdigest()
