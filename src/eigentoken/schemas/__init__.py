"""The JSON schemas of what the commands print, one file a document."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["names", "schema"]


def names() -> list[str]:
    """The documents that have a schema."""
    found = (each.name for each in files(__name__).iterdir() if each.name.endswith(".json"))
    return sorted(name.removesuffix(".json") for name in found)


def schema(name: str) -> dict[str, Any]:
    """The schema of a document, by the middle part of its ``schema`` field, with that of certificates where it is named.

    >>> schema("verdict")["$id"]
    'eigentoken/verdict/2'
    """
    found = dict(json.loads((files(__name__) / f"{name}.json").read_text(encoding="utf-8")))
    parts = found.get("$defs", {})
    if parts.get("certificate", {}).get("$id") is not None:
        text = (files("eigentoken.numerics") / "schemas" / "certificate.json").read_text(encoding="utf-8")
        whole = json.loads(text)
        parts["certificate"] = _within({key: value for key, value in whole.items() if key not in ("$id", "$schema")})
    return found


def _within(rule: Any) -> Any:
    """The rules of certificates as a part of another schema: references are to that part."""
    if isinstance(rule, list):
        return [_within(each) for each in rule]
    if not isinstance(rule, dict):
        return rule
    return {
        key: value.replace("#", "#/$defs/certificate", 1) if key == "$ref" else _within(value)
        for key, value in rule.items()
    }
