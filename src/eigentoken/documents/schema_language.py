"""From a typed document to its JSON schema (draft 2020-12).

A document is a TypedDict: a key that may be missing is ``NotRequired``, a key that no field names is refused unless the class
is :func:`open_to_more`.  What a Python type cannot say stands in ``Annotated``: limits, a pattern, a sentence.

>>> from typing import TypedDict
>>> @document("eigentoken/point/1", "a point")
... class Point(TypedDict):
...     x: float
>>> schema_of(Point)["properties"]
{'x': {'type': 'number'}}
"""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

__all__ = [
    "DOCUMENTS",
    "Also",
    "Instead",
    "Limit",
    "Natural",
    "NonNegative",
    "Says",
    "Text",
    "Unlisted",
    "When",
    "document",
    "open_to",
    "open_to_more",
    "schema_of",
    "with_rules",
]

Kind = TypeVar("Kind", bound=type)
Schema = dict[str, Any]


@dataclass(frozen=True)
class Limit:
    """Bounds on a number, a text, a list or a mapping."""

    minimum: float | None = None
    maximum: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_length: int | None = None
    min_properties: int | None = None
    pattern: str | None = None

    def keywords(self) -> Schema:
        found = {
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minItems": self.min_items,
            "maxItems": self.max_items,
            "minLength": self.min_length,
            "minProperties": self.min_properties,
            "pattern": self.pattern,
        }
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True)
class Says:
    """A sentence for the reader of the schema."""

    text: str

    def keywords(self) -> Schema:
        return {"description": self.text}


@dataclass(frozen=True, eq=False)
class Also:
    """Further keywords of JSON schema, as they are."""

    rule: Mapping[str, object]

    def keywords(self) -> Schema:
        return dict(self.rule)


@dataclass(frozen=True, eq=False)
class Instead:
    """This schema in place of the one that the type gives: the type knows more than the contract promises, or cannot say it."""

    rule: Mapping[str, object]

    def keywords(self) -> Schema:
        return dict(self.rule)


@dataclass(frozen=True)
class Unlisted:
    """Written, and typed here, but not promised: the schema, open to more, does not name the field."""

    def keywords(self) -> Schema:
        return {}


@dataclass(frozen=True, eq=False)
class When:
    """Where ``key`` has one of ``values`` the fields of ``then`` have these types; elsewhere those of ``otherwise``."""

    key: str
    values: tuple[str, ...]
    then: Mapping[str, object]
    otherwise: Mapping[str, object] = field(default_factory=dict)
    closed: bool = False
    "There no other keys are allowed than those of the class, though it is open."


Natural = Annotated[int, Limit(minimum=0)]
NonNegative = Annotated[float, Limit(minimum=0)]
Text = Annotated[str, Limit(min_length=1)]

_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}
#: every document with the text of its ``schema`` field and its title
DOCUMENTS: dict[type, tuple[str, str]] = {}
#: classes with keys that no field names, and the type of what they hold (``None``: anything)
_OPEN: dict[type, Any] = {}
_RULES: dict[type, tuple[When, ...]] = {}


def document(name: str, title: str) -> Callable[[Kind], Kind]:
    """Class decorator: a whole document, with the text of its ``schema`` field and a title."""

    def enter(kind: Kind) -> Kind:
        DOCUMENTS[kind] = (name, title)
        return kind

    return enter


def open_to_more(kind: Kind) -> Kind:
    """Class decorator: keys that no field names are allowed."""
    _OPEN[kind] = None
    return kind


def open_to(value: Any) -> Callable[[Kind], Kind]:
    """Class decorator: keys that no field names are allowed, with values of this type."""

    def enter(kind: Kind) -> Kind:
        _OPEN[kind] = value
        return kind

    return enter


def with_rules(*rules: When) -> Callable[[Kind], Kind]:
    """Class decorator: what one key says about the types of others."""

    def enter(kind: Kind) -> Kind:
        _RULES[kind] = rules
        return kind

    return enter


def schema_of(kind: type) -> Schema:
    """The schema of a document; TypedDicts inside it become ``$defs``, each once."""
    name, title = DOCUMENTS[kind]
    writer = _Writer(kind)
    body = writer.body(kind)
    defs = {"$defs": dict(sorted(writer.defs.items()))} if writer.defs else {}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name, "title": title}
    return {**head, **body, **defs}


def _unlisted(hint: object) -> bool:
    parts = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.NotRequired, typing.Required):
        return _unlisted(parts[0])
    return typing.get_origin(hint) is Annotated and any(isinstance(each, Unlisted) for each in parts[1:])


class _Writer:
    """The schema of one document while it is written."""

    def __init__(self, root: type) -> None:
        self.root = root
        self.defs: dict[str, Schema] = {}
        self.owners: dict[str, type] = {}

    def body(self, kind: type) -> Schema:
        every = typing.get_type_hints(kind, include_extras=True)
        hints = {key: hint for key, hint in every.items() if not _unlisted(hint)}
        if kind not in _OPEN and len(hints) < len(every):
            raise TypeError(f"{kind.__name__}: a field is unlisted, and the schema is not open to more: list it")
        properties = {key: self.of(hint) for key, hint in hints.items()}
        found: Schema = {"type": "object"}
        if kind.__doc__ and kind.__module__ != "typing" and not kind.__doc__.startswith("dict("):
            found["description"] = kind.__doc__.strip().removesuffix(".")
        required: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
        if needed := [key for key in hints if key in required]:
            found["required"] = needed
        found["properties"] = properties
        if kind not in _OPEN:
            found["additionalProperties"] = False
        elif _OPEN[kind] is not None:
            found["additionalProperties"] = self.of(_OPEN[kind])
        if rules := _RULES.get(kind):
            found["allOf"] = [self.rule(each, list(hints)) for each in rules]
        return found

    def rule(self, rule: When, keys: list[str]) -> Schema:
        given: Schema = {"properties": {rule.key: {"enum": list(rule.values)}}, "required": [rule.key]}
        found: Schema = {"if": given, "then": self.fields(rule.then)}
        if rule.closed:
            found["then"]["propertyNames"] = {"enum": keys}
        if rule.otherwise:
            found["else"] = self.fields(rule.otherwise)
        return found

    def fields(self, types_of: Mapping[str, Any]) -> Schema:
        return {"properties": {key: self.of(each) for key, each in types_of.items()}}

    def of(self, hint: Any) -> Schema:
        """The schema of one annotation."""
        if hint is None:
            return {"type": "null"}
        if hint in _SCALARS:
            return dict(_SCALARS[hint])
        if typing.is_typeddict(hint):
            return self.reference(hint)
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.NotRequired, typing.Required):
            return self.of(inner[0])
        if origin is Annotated:
            if any(isinstance(extra, Instead) for extra in inner[1:]):
                return {key: value for extra in inner[1:] for key, value in extra.keywords().items()}
            found = self.of(inner[0])
            for extra in inner[1:]:
                found |= extra.keywords()
            return found
        if origin is typing.Literal:
            return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.of(each) for each in inner]}
        if origin is list:
            items = self.of(inner[0])
            return {"type": "array", **({"items": items} if items else {})}
        if origin is dict:
            values = self.of(inner[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        raise TypeError(
            f"{self.root.__name__}: no JSON schema for {hint!r}: use str, int, float, bool, list, dict, TypedDict"
        )

    def reference(self, kind: type) -> Schema:
        if kind is self.root:
            return {"$ref": "#"}
        name = kind.__name__
        if self.owners.setdefault(name, kind) is not kind:
            name = f"{kind.__module__.rsplit('.', 1)[1]}.{name}"
            self.owners[name] = kind
        if name not in self.defs:
            self.defs[name] = {}  # a document may contain its own kind
            self.defs[name] = self.body(kind)
        return {"$ref": f"#/$defs/{name}"}
