"""JSON is read in one way: duplicate keys, NaN, lost numbers, endless depth and devices are one line, at once."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from eigentoken.files.documents import DEEPEST, MOST_DIGITS, DocumentError, parse_json, read_json

from ..commands import at_once


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '"a"',
        "1",
        "-1.5e-3",
        "null",
        '{"a": [1, {"b": "\\u00e9"}]}',
        "[" * DEEPEST + "]" * DEEPEST,
        "9" * 4000,
    ],
)
def test_what_is_json_is_read_as_python_reads_it(text: str) -> None:
    assert parse_json(text, "it") == json.loads(text)
    assert parse_json(text.encode(), "it") == json.loads(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 1}', "gives 'a' twice"),
        ('[{"x": {"y": 1, "z": 2, "y": 3}}]', "gives 'y' twice"),
        ('{"a": 1, "\\u0061": 2}', "gives 'a' twice"),
        ('{"a": NaN}', "NaN is not a number of JSON"),
        ("[Infinity]", "Infinity is not a number of JSON"),
        ("[-Infinity]", "-Infinity is not a number of JSON"),
        ("[1e999]", "beyond the range of floats"),
        ("[-1e999]", "beyond the range of floats"),
        ("9" * (MOST_DIGITS + 1), "a number of 4001 characters"),
        ("0." + "9" * MOST_DIGITS, "a number of 4002 characters"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("", "it is empty: give a JSON document"),
        ("{'a': 1}", "is not JSON"),
        ('{"a": 1} x', "is not JSON"),
        ("\ufeff{}", "it begins with a byte order mark: save it as UTF-8 without one"),
        (b"\xff\xfe{\x00}\x00", "it is text in UTF-16: save it as UTF-8: give a JSON document"),
        (b"\x93NUMPY\x01\x00v\x00", r"it is an array of numpy \(.npy\), which certify"),
        (b"PK\x03\x04\xff", "it is a zip archive"),
        (b"GGUF\xff", "it is a GGUF checkpoint, which check reads"),
        (b"{\xff}", r"it is no text \(no UTF-8\)"),
    ],
)
def test_what_is_not_is_one_line(text: str | bytes, words: str) -> None:
    with at_once(), pytest.raises(DocumentError, match=words) as caught:
        parse_json(text, "it")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_numbers_are_read_by_the_caller() -> None:
    value = parse_json("[0.1, 1e400, 3]", "it", parse_float=Decimal, parse_int=Fraction)
    assert value == [Decimal("0.1"), Decimal("1e400"), Fraction(3)]
    with pytest.raises(KeyError):
        parse_json("[0.1]", "it", parse_float={}.__getitem__)


def test_an_object_with_very_many_keys_and_one_twice() -> None:
    """Two hundred thousand keys: a search that compares each with all others would not come to an end here."""
    text = "{" + ", ".join(f'"{index}": 0' for index in range(200_000)) + ', "199999": 1}'
    with pytest.raises(DocumentError, match="gives '199999' twice"):
        parse_json(text, "it")


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    assert read_json(tmp_path / "a.json") == {"a": 1}
    with pytest.raises(KeyError, match="cannot read"):
        read_json(tmp_path / "none.json", error=_Own)
    with pytest.raises(DocumentError, match="directory"):
        read_json(tmp_path)
    with pytest.raises(DocumentError, match="device"):
        read_json("/dev/zero")
    with pytest.raises(DocumentError, match="more than 3 bytes"):
        read_json(tmp_path / "a.json", largest=3)
    with pytest.raises(DocumentError, match="not the name of a file"):
        read_json("a\0b")


class _Own(KeyError, ValueError):
    """An error of another room."""
