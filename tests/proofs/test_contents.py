"""The stored list of statements: current, never shown for another text, and light."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from eigentoken.proofs import contents
from eigentoken.theory.statements.registry import statements


def test_stored_rows_are_those_of_the_registry() -> None:
    assert contents.CONTENTS.read_text() == contents.text(), "stale: run python tools/tables.py"
    assert [each["id"] for each in contents.rows()] == [each.id for each in statements()]


def _copy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that decide the rows (what they begin with), in a folder of their own, with a contents.json that is current."""
    found = []
    for path in contents._files():
        target = folder / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes()[:80])
        found.append(target)
    stored = folder / "contents.json"
    monkeypatch.setattr(contents, "_files", lambda: iter(found))
    monkeypatch.setattr(contents, "CONTENTS", stored)
    stored.write_text(json.dumps({"key": contents.key(), "rows": [{"id": "stored"}]}))
    return found


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_one_changed_byte_in_any_file_brings_back_the_registry(
    every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "computed_rows", lambda: [{"id": "computed"}])
    files = _copy(tmp_path, monkeypatch)
    assert contents.rows() == [{"id": "stored"}]
    for path in files[::every]:
        text = path.read_bytes()
        path.write_bytes(text[:-1] + b"!")
        assert contents.rows() == [{"id": "computed"}], path.name
        path.write_bytes(text)
    assert contents.rows() == [{"id": "stored"}]


@pytest.mark.parametrize("damaged", ["", "{", "[]", "null", '{"key": 1}', '{"rows": []}'])
def test_a_damaged_file_brings_back_the_registry(damaged: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _copy(tmp_path, monkeypatch)
    monkeypatch.setattr(contents, "computed_rows", lambda: [{"id": "computed"}])
    contents.CONTENTS.write_text(damaged)
    assert contents.rows() == [{"id": "computed"}]
    contents.CONTENTS.unlink()
    assert contents.rows() == [{"id": "computed"}]


def test_statements_of_another_package_bring_back_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = SimpleNamespace(value="eigentoken.proofs"), SimpleNamespace(value="elsewhere.statements")
    monkeypatch.setattr(contents, "computed_rows", lambda: [{"id": "computed"}])
    monkeypatch.setattr(contents, "_stored", lambda: [{"id": "stored"}])
    monkeypatch.setattr(contents, "entry_points", lambda group: [ours])
    assert contents.rows() == [{"id": "stored"}]
    monkeypatch.setattr(contents, "entry_points", lambda group: [ours, other])
    assert contents.rows() == [{"id": "computed"}]


def test_the_list_costs_no_sympy_where_it_is_current() -> None:
    asked = (
        "import sys; from eigentoken.proofs import contents; assert contents._stored() is not None; "
        "contents.rows(); print('sympy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
