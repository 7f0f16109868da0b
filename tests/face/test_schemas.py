"""Schemas are written from types: the files are current, and a schema refuses what its type refuses."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args, get_type_hints

import jsonschema
import pytest

from eigentoken.documents import check_document, statement_document, verdict_document
from eigentoken.documents.schema_language import (
    Instead,
    Limit,
    Natural,
    Text,
    Unlisted,
    When,
    document,
    open_to_more,
    schema_of,
    with_rules,
)
from eigentoken.numerics.certified.certify import conditions
from eigentoken.theory.statements.layer_systems import IDEALISATIONS, AsIfAnswer, LayerAnswer
from eigentoken.theory.statements.statement import Kind, SourceKind, Status

from ..commands import tool

ROOT = Path(__file__).resolve().parents[2]
schemas = tool("schemas")


class Part(TypedDict):
    """A part of the whole."""

    kind: Literal["a", "b"]
    more: NotRequired["Whole"]


@document("eigentoken/whole/1", "a whole")
@with_rules(When("word", ("yes",), {"size": Natural}, {"size": None}))
class Whole(TypedDict):
    word: Text
    size: Natural | None
    parts: Annotated[list[Part], Limit(min_items=1)]
    rest: NotRequired[dict[str, float]]


@document("eigentoken/bad/1", "bad")
class Bad(TypedDict):
    when: complex


GOOD: dict[str, Any] = {"word": "yes", "size": 1, "parts": [{"kind": "a"}], "rest": {"x": 0.5}}
INNER = {"kind": "b", "more": {"word": "no", "size": None, "parts": [{"kind": "b"}]}}


def test_the_files_are_written_from_the_types() -> None:
    generated = schemas.generated()
    stale = [path.name for path, text in generated.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run: python tools/schemas.py"
    assert {path.stem for path in generated} >= {"check", "certificate", "verdict", "refutation", "classification"}
    assert set((ROOT / "src" / "eigentoken" / "schemas").glob("*.json")) <= set(generated)


def test_no_document_changes_its_shape_under_its_number() -> None:
    record = json.loads(schemas.SHAPES.read_text(encoding="utf-8"))
    found = [json.loads(text) for text in schemas.generated().values()]
    new, changed = schemas.against_record(found, record)
    assert not changed, "a schema of another shape needs a new number"
    assert not new, "run: python tools/schemas.py"
    assert {"eigentoken/nearest/2", "eigentoken/nearest/3"} <= set(record)  # an old number keeps its shape


def test_a_changed_shape_is_told_and_a_changed_explanation_is_not() -> None:
    schema = schema_of(Whole)
    record = {schema["$id"]: schemas.shape(schema)}
    explained = {**schema, "title": "other words", "description": "more of them"}
    assert schemas.against_record([explained], record) == ({}, [])
    more = {**schema, "properties": {**schema["properties"], "title": {"type": "string"}}}  # an optional field
    assert schemas.against_record([more], record) == ({}, ["eigentoken/whole/1"])
    other = {**more, "$id": "eigentoken/whole/2"}
    assert schemas.against_record([other], record) == ({"eigentoken/whole/2": schemas.shape(other)}, [])


@pytest.mark.parametrize("value", [GOOD, {**GOOD, "parts": [INNER]}], ids=["flat", "with a whole inside"])
def test_what_the_type_admits_is_valid(value: dict[str, Any]) -> None:
    jsonschema.validate(value, schema_of(Whole))


@pytest.mark.parametrize(
    "change",
    [
        {"word": ""},
        {"size": -1},
        {"size": None},
        {"word": "no"},
        {"parts": []},
        {"parts": [{"kind": "c"}]},
        {"parts": [{}]},
        {"parts": [{"kind": "b", "more": {"word": "no"}}]},
        {"rest": {"x": "0.5"}},
        {"other": 1},
    ],
    ids=str,
)
def test_what_the_type_refuses_is_invalid(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**GOOD, **change}, schema_of(Whole))


def test_a_type_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Bad: no JSON schema for .*complex"):
        schema_of(Bad)


def _closed(kind: type, key: str) -> set[str]:
    """The list of words that the schema allows for a field."""
    hint = get_type_hints(kind, include_extras=True)[key]
    (rule,) = (each for each in get_args(hint) if isinstance(each, Instead))
    return set(rule.rule["enum"])  # type: ignore[call-overload]


def test_closed_lists_of_words_are_those_of_the_code() -> None:
    """Where the words are an enumeration of the theory, no type says that the schema lists them all: this does."""
    listed = check_document
    assert _closed(listed.StatementReading, "word") == {str(each) for each in LayerAnswer}
    assert _closed(listed.HeadReading, "word") == {str(each) for each in AsIfAnswer}
    assert set(listed.IDEALISATIONS) == set(IDEALISATIONS)
    assert set(listed.KINDS) == {str(each) for each in Kind}
    assert _closed(statement_document.StatementDocument, "status") == {str(each) for each in Status}
    assert _closed(statement_document.Printed, "kind") == {str(each) for each in SourceKind}
    assert set(verdict_document.CONDITIONS) == set(conditions())


def test_a_field_that_is_not_promised_needs_an_open_document() -> None:
    class Closed(TypedDict):
        name: str
        more: Annotated[int, Unlisted()]

    document("eigentoken/closed/1", "closed")(Closed)
    with pytest.raises(TypeError, match="Closed: a field is unlisted, and the schema is not open to more"):
        schema_of(Closed)
    open_to_more(Closed)
    assert set(schema_of(Closed)["properties"]) == {"name"}


def test_a_schema_may_promise_less_than_the_type_knows() -> None:
    @document("eigentoken/loose/1", "loose")
    class Loose(TypedDict):
        word: Annotated[str, Instead({"enum": ["yes", "no"]})]

    assert schema_of(Loose)["properties"] == {"word": {"enum": ["yes", "no"]}}
