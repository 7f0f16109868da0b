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


#: What a theorist asks, and statements that answer; the first has the words themselves.
ASKED = {
    "hemisphere": ("AB-T4.1", "CL-8", "CT-12", "BD-H1"),
    "symmetric": ("AB-T6.1", "CT-2", "PM-T1"),
    "causal": ("AB-T5.1", "CL-12", "BD-M1"),
    "rank collapse": ("BD-R2", "BD-R1", "BD-R4", "BD-M1", "BD-D3"),
    "temperature": ("BD-T2", "BD-T3"),
    "Lipschitz": ("BD-K1", "BD-L1", "BD-J2"),
    "rotary": ("PH-T7", "PH-T4c", "BD-D3"),
    "post-norm": ("BD-P1", "BD-P2", "BD-N1"),
    "leader": ("BD-E1", "CL-16", "PM-N1"),
    "basin": ("BD-R2", "CT-12", "CT-13", "AB-T4.1", "PM-X1"),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_question_of_a_theorist_is_answered(question: str) -> None:
    """Words are searched by what they mean, and statements that have the words themselves come first."""
    everything = contents.rows()
    found = [each["id"] for each in contents.matching(everything, search=question)]
    assert set(ASKED[question]) <= set(found) and len(found) == len(set(found)) < len(everything)
    words = question.lower().split()
    literal = [
        all(
            word in " ".join([e["id"], e["title"], e["source"], e["about"], e["says"], *e["needs"]]).lower()
            for word in words
        )
        for name in found
        for e in everything
        if e["id"] == name
    ]
    assert literal == sorted(literal, reverse=True) and literal[0]


def test_what_no_statement_speaks_of_is_not_found() -> None:
    for question in ("tokamak", "rotary tokamak", "rank tokamak collapse"):
        assert contents.matching(contents.rows(), search=question) == []
    everything = contents.rows()
    assert contents.matching(everything) == everything
    both = {each["id"] for each in contents.matching(everything, search="causal rank collapse")}
    assert "BD-M1" in both and "BD-R1" not in both
    assert all(known == known.lower() and known not in means for known, means in contents.MEANINGS.items())
