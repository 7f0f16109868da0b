"""Schemas are written from types: the files are current, and a schema refuses what its type refuses."""

import importlib.util
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import jsonschema
import pytest

from eigentoken.documents.schema_language import Limit, Natural, Text, When, document, schema_of, with_rules

ROOT = Path(__file__).resolve().parents[2]


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
    spec = importlib.util.spec_from_file_location("eigentoken_tools_schemas", ROOT / "tools" / "schemas.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    generated = tool.generated()
    stale = [path.name for path, text in generated.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run: python tools/schemas.py"
    assert {path.stem for path in generated} >= {"check", "certificate", "verdict", "refutation", "classification"}
    assert set((ROOT / "src" / "eigentoken" / "schemas").glob("*.json")) <= set(generated)


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
