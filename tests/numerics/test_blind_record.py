"""The record of the blind lists: a line counts for its text, a run goes on, and a line that was cut off loses only itself."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
FALSE = "equal tokens rest"


@pytest.fixture(scope="module")
def imported() -> Iterator[ModuleType]:
    """``benchmarks/blind_runs.py``, once for all: it parses the rooms of the lab."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("blind_runs")
    for name in ("blind_runs", "blind_record"):
        sys.modules.pop(name, None)


@pytest.fixture
def runs(imported: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The same with a record of its own."""
    for kind, here in imported.KINDS.items():
        monkeypatch.setitem(imported.KINDS, kind, here._replace(file=tmp_path / here.file.name))
    return imported


def only(runs: ModuleType, monkeypatch: pytest.MonkeyPatch, *conjectures: object) -> None:
    monkeypatch.setattr(runs, "listed", lambda kind: iter(conjectures if kind == "false" else ()))


def named(runs: ModuleType, kind: str, name: str) -> object:
    return next(each for each in runs.listed(kind) if each.name == name)


def test_the_lists_are_of_both_kinds(runs: ModuleType) -> None:
    names = {kind: [each.name for each in runs.listed(kind)] for kind in runs.KINDS}
    assert all(len(set(each)) == len(each) > 60 for each in names.values())
    assert FALSE in names["false"] and FALSE not in names["true"]


def test_a_run_goes_on_and_a_line_counts_for_its_text(runs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    conjecture = named(runs, "false", FALSE)
    only(runs, monkeypatch, conjecture)
    assert "1 false conjectures; 0 attacked on this text" in runs.page()
    assert runs.run("false", seconds=20, seed=0, jobs=1, only="equal tokens")
    (line,) = runs.record.lines(runs.KINDS["false"].file)
    assert line["verdict"] == "refuted" and runs.is_confirmed(line)
    assert "1 attacked on this text, 1 refuted with certificates that the re-check confirms" in runs.page()

    monkeypatch.setattr(runs, "attack", lambda *_: pytest.fail("a second run of what was decided"))
    assert runs.run("false", seconds=120, seed=0, jobs=1, only="equal tokens")

    monkeypatch.setattr(runs.record, "code_digest", lambda: "of another text")
    assert f"| {FALSE} | not run on this text |" in runs.page()
    assert not runs.record.is_done([line], conjecture, 1, 0)


def test_a_certificate_that_is_not_confirmed_is_no_refutation(
    runs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    conjecture = named(runs, "false", FALSE)
    only(runs, monkeypatch, conjecture)
    line = {"name": FALSE, "asked": 20.0, "seed": 0, "verdict": "refuted", "seconds": 1.0, "found_by": "batches"}
    runs.record.add(runs.KINDS["false"].file, line | {"confirmed": "1 of 2"} | runs.record.belongs_to(conjecture))
    assert "1 attacked on this text, 0 refuted" in runs.page()


def test_a_shorter_run_another_seed_and_no_test_do_not_count(runs: ModuleType) -> None:
    conjecture = named(runs, "true", next(runs.listed("true")).name)
    line = {"seed": 1, "asked": 60.0, "verdict": "survived"} | runs.record.belongs_to(conjecture)
    assert runs.record.is_done([line], conjecture, 60, 1)
    assert not runs.record.is_done([line], conjecture, 120, 1)
    assert not runs.record.is_done([line], conjecture, 60, 0)
    assert not runs.record.is_done([line | {"verdict": "not tested"}], conjecture, 120, 1)
    assert not runs.record.is_done([line | {"conjecture": "another"}], conjecture, 60, 1)


def test_a_line_that_was_cut_off_loses_only_itself(runs: ModuleType) -> None:
    file = runs.KINDS["true"].file
    runs.record.add(file, {"name": "a"})
    file.write_text(file.read_text(encoding="utf-8") + '{"name": "b", "ver', encoding="utf-8")
    runs.record.add(file, {"name": "c"})
    assert [line["name"] for line in runs.record.lines(file)] == ["a", "c"]


def test_the_digest_is_of_the_code_and_not_of_its_words(runs: ModuleType, tmp_path: Path) -> None:
    """A statement changed in any room of the lab changes it; a comment, a docstring or the layout do not."""
    for room in runs.record.ROOMS:
        assert any((ROOT / room).rglob("*.py")), f"{room} is no room"
        shutil.copytree(ROOT / room, tmp_path / room, dirs_exist_ok=True)
    before = runs.record.code_digest(tmp_path)
    assert before == runs.record.code_digest(ROOT)
    file = tmp_path / "numerics" / "lab" / "schedule.py"
    text = file.read_text(encoding="utf-8")
    for other, same in (
        (text + "\n# a word\n", True),
        (text.replace('"""', '"""Another. ', 1), True),
        (text + "\nx = 1\n", False),
    ):
        file.write_text(other, encoding="utf-8")
        runs.record.code_digest.cache_clear()
        assert (runs.record.code_digest(tmp_path) == before) == same
