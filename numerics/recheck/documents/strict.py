"""A validator for the part of JSON Schema that our schemas use.

A document that is re-checked is one object: it is validated against its published schema before anything in it is read.  The
validator knows the keywords of :data:`KEYWORDS` (JSON Schema 2020-12) and refuses a schema that uses any other, so that no rule
is passed over in silence.  What is wrong is said in one line, with the place in the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from eigentoken.files.documents import Json

__all__ = ["broken_rule"]

TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}
NOTES = frozenset({"$schema", "$id", "$defs", "title", "description"})
KEYWORDS = frozenset(
    {
        "$ref",
        "type",
        "const",
        "enum",
        "required",
        "properties",
        "additionalProperties",
        "propertyNames",
        "minProperties",
    }
    | {"items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "minLength", "pattern", "anyOf", "allOf"}
    | {"if", "then", "else"}
)

#: What :func:`_plain` and :meth:`_Validator._combined` read.
PLAIN = frozenset({"type", "const", "enum", "minimum", "maximum", "minLength", "pattern"})
COMBINED = frozenset({"allOf", "anyOf", "if"})


def _short(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else str(value)).split())
    return text if len(text) <= 80 else text[:77] + "..."


#: Where in the document: names of fields and numbers of entries, from the outside in.
Where = tuple[str | int, ...]


def broken_rule(document: Json, schema: Mapping[str, Json]) -> str | None:
    """The first rule of the schema that the document breaks, in one line; None if it breaks none.

    >>> broken_rule({"a": 1, "b": 2}, {"type": "object", "properties": {"a": {}}, "additionalProperties": False})
    'the document has an unknown field b'
    >>> broken_rule([3], {"items": {"type": "string"}})
    'the document[0] must be string, got 3'
    """
    try:
        return _Validator(schema).broken(document, schema, ())
    except RecursionError:
        return "the document is nested too deeply"


def _place(where: Where) -> str:
    """As a text, which is put together only where a rule is broken."""
    found = ""
    for part in where:
        found = f"{found or '.the document'}[{part}]" if isinstance(part, int) else f"{found}.{_short(part)}"
    return found.lstrip(".") or "the document"


class _Validator:
    """One schema: each of its rules is looked through for keywords that we do not know once."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.known: dict[int, tuple[Any, bool, bool]] = {}

    def broken(self, value: Any, rule: Any, where: Where) -> str | None:
        if rule is True:
            return None
        if rule is False:
            return f"{_place(where)} must not be there"
        known = self.known.get(id(rule))
        if known is None:
            unknown = set(rule) - KEYWORDS - NOTES
            if unknown:
                raise ValueError(f"the schema uses {sorted(unknown)}, which the validator does not know")
            # the rule is kept, so that its id stays its own
            known = self.known[id(rule)] = (rule, not PLAIN.isdisjoint(rule), not COMBINED.isdisjoint(rule))
        if "$ref" in rule:
            why = self.broken(value, self._referred(rule["$ref"]), where)
            if why is not None:
                return why
        return (
            (_plain(value, rule, where) if known[1] else None)
            or (self._object(value, rule, where) if isinstance(value, dict) else None)
            or (self._array(value, rule, where) if isinstance(value, list) else None)
            or (self._combined(value, rule, where) if known[2] else None)
        )

    def _referred(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise ValueError(f"a schema refers to {reference!r}: only references within a schema are known")
        node: Any = self.schema
        for part in reference.removeprefix("#").split("/")[1:]:
            node = node[part]
        return node

    def _object(self, value: Mapping[str, Any], rule: Mapping[str, Any], where: Where) -> str | None:
        known = rule.get("properties", {})
        for name in rule.get("required", ()):
            if name not in value:
                return f"{_place(where)} has no field {name}"
        if len(value) < rule.get("minProperties", 0):
            return f"{_place(where)} must have at least {rule['minProperties']} fields"
        others = rule.get("additionalProperties", True)
        for name, child in value.items():
            if name not in known and others is False:
                return f"{_place(where)} has an unknown field {_short(name)}"
            if "propertyNames" in rule and self.broken(name, rule["propertyNames"], where) is not None:
                return f"{_place(where)} has a field of another name: {_short(name)}"
            why = self.broken(child, known.get(name, others), (*where, name))
            if why is not None:
                return why
        return None

    def _array(self, value: list[Any], rule: Mapping[str, Any], where: Where) -> str | None:
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            return f"{_place(where)} must have another number of entries than {len(value)}"
        first = rule.get("prefixItems", [])
        rest = rule.get("items", True)
        for index, child in enumerate(value):
            why = self.broken(child, first[index] if index < len(first) else rest, (*where, index))
            if why is not None:
                return why
        return None

    def _combined(self, value: Any, rule: Mapping[str, Any], where: Where) -> str | None:
        for part in rule.get("allOf", ()):
            why = self.broken(value, part, where)
            if why is not None:
                return why
        if "anyOf" in rule:
            reasons = []
            for part in rule["anyOf"]:
                why = self.broken(value, part, where)
                if why is None:
                    break
                reasons.append(why)
            else:  # the reason that looks deepest into the document says most
                return max(reasons, key=lambda each: each.count(".") + each.count("["))
        if "if" in rule:
            chosen = "then" if self.broken(value, rule["if"], where) is None else "else"
            return self.broken(value, rule.get(chosen, True), where)
        return None


def _plain(value: Any, rule: Mapping[str, Any], where: Where) -> str | None:
    kinds = rule.get("type")
    if kinds is not None:
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not any(TYPES[kind](value) for kind in kinds):
            return f"{_place(where)} must be {' or '.join(kinds)}, got {_short(json.dumps(value))}"
    if "const" in rule and not _equal(value, rule["const"]):
        return f"{_place(where)} must be {json.dumps(rule['const'])}, got {_short(json.dumps(value))}"
    if "enum" in rule and not any(_equal(value, each) for each in rule["enum"]):
        return f"{_place(where)} must be one of {_short(json.dumps(rule['enum']))}, got {_short(json.dumps(value))}"
    if "minimum" in rule and TYPES["number"](value) and not value >= rule["minimum"]:
        return f"{_place(where)} must be at least {rule['minimum']}, got {value}"
    if "maximum" in rule and TYPES["number"](value) and not value <= rule["maximum"]:
        return f"{_place(where)} must be at most {rule['maximum']}, got {value}"
    if isinstance(value, str):
        if len(value) < rule.get("minLength", 0):
            return f"{_place(where)} must not be empty"
        if "pattern" in rule and re.search(rule["pattern"], value) is None:
            return f"{_place(where)} must be a text like {rule['pattern']}, got {_short(json.dumps(value))}"
    return None


def _equal(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)
