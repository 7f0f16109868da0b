"""The JSON schemas of what the commands print, one file a document, written by ``tools/schemas.py`` from their types."""

from __future__ import annotations

import json
from importlib.resources import files

from eigentoken.files.documents import Json

__all__ = ["names", "schema"]


def names() -> list[str]:
    """The documents that have a schema."""
    found = (each.name for each in files(__name__).iterdir() if each.name.endswith(".json"))
    return sorted(name.removesuffix(".json") for name in found)


def schema(name: str) -> dict[str, Json]:
    """The schema of a document, by the middle part of its ``schema`` field.

    >>> schema("verdict")["$id"]
    'eigentoken/verdict/3'
    """
    return dict(json.loads((files(__name__) / f"{name}.json").read_text(encoding="utf-8")))
