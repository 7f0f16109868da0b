"""The table of statements in the docs is what the registry and the ledger say, and the test can tell."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from eigentoken.proofs import verify as verification
from eigentoken.theory.statements.registry import statements


def _tables() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "tools" / "tables.py"
    found = importlib.util.spec_from_file_location("tables_tool", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


tables = _tables()


def rows(text: str) -> dict[str, list[str]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cells[1]: cells for cells in lines}


def test_the_page_is_what_would_be_written() -> None:
    assert tables.PAGE.read_text(encoding="utf-8") == tables.statements_table(), "stale: run python tools/tables.py"


def test_the_page_of_dropped_conditions_is_what_would_be_written() -> None:
    assert tables.DROPPED.read_text(encoding="utf-8") == tables.dropped_table(), "stale: run python tools/tables.py"


def test_every_statement_has_one_row_with_its_status() -> None:
    found = rows(tables.statements_table())
    for each in statements():
        assert found[each.id][-1] == str(verification.status_of(each))
    assert len([name for name in found if name in statements()]) == len(statements())


def test_the_page_of_theorems_is_what_would_be_written() -> None:
    assert tables.TEXTBOOK.read_text(encoding="utf-8") == tables.textbook_page(), "stale: run python tools/tables.py"


def test_recorded_numbers_reach_the_page_and_old_ones_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = statements().get("PM-L4")
    result = verification.verify(told, instances=0)
    ledger = tmp_path / "ledger.json"
    verification.record([result], ledger)
    monkeypatch.setattr(verification, "LEDGER", ledger)
    verification._ledger.cache_clear()
    row = rows(tables.statements_table())["PM-L4"]
    found = result.evidence()
    assert row[3:7] == [str(found.checked), str(found.cited), str(found.argued), str(found.second)]
    assert row[-1] == "derived"
    ledger.write_text(ledger.read_text().replace(result.digest, "0" * 64))
    verification._ledger.cache_clear()
    assert rows(tables.statements_table())["PM-L4"][-1] == "stated"
    verification._ledger.cache_clear()


def test_check_says_stale(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "statements.md"
    monkeypatch.setattr(tables, "PAGE", page)
    monkeypatch.setattr(tables, "DROPPED", tmp_path / "dropped.md")
    monkeypatch.setattr(tables, "TEXTBOOK", tmp_path / "textbook.md")
    monkeypatch.setattr(tables, "CONTENTS", tmp_path / "contents.json")
    for name in ("statements_table", "dropped_table", "textbook_page"):  # made once, compared four times
        monkeypatch.setattr(tables, name, cache(getattr(tables, name)))
    monkeypatch.setattr(tables.contents, "text", cache(tables.contents.text))
    assert tables.main(["--check"]) == 1
    assert tables.main([]) == 0
    assert tables.main(["--check"]) == 0
    page.write_text(page.read_text().replace("PM-L4", "PM-L44"))
    assert tables.main(["--check"]) == 1
