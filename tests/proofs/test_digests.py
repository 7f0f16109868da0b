"""Recorded evidence belongs to one text: of a statement, of the steps that it shares, and of the kernel that proves it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from eigentoken.theory.statements import registry as room
from eigentoken.theory.statements.registry import statements


def imported(name: str) -> set[str]:
    origin = statements().origin(statements().get(name))
    assert origin is not None
    return {each.name for each in room._imported(origin.resolve())}


def test_the_steps_that_a_statement_shares_belong_to_its_text() -> None:
    assert {"bipartite_criteria.py", "consensus_criteria.py", "reductions.py"} <= imported("PM-N3")
    assert "token_groups.py" in imported("PM-L1"), "imports inside of functions count"
    assert "verify.py" not in imported("PM-N3")


@pytest.mark.parametrize("changed", ["stated.py", "shared.py", "deeper.py"])
def test_a_change_of_any_of_them_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    package = tmp_path / "book_of_another"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "deeper.py").write_text("LETTER = 'V'\n")
    (package / "shared.py").write_text(
        "def step():\n    from book_of_another.deeper import LETTER\n\n    return LETTER\n"
    )
    (package / "other.py").write_text("")
    (package / "stated.py").write_text(
        "from eigentoken.theory.statements.registry import register\n"
        "from eigentoken.theory.statements.statement import Kind, Source, Statement\n"
        "from book_of_another import shared\n"
        "S = register(Statement('DG-1', Kind.REMARK, Source('', ''), shared.step()))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import importlib

    known = statements()
    try:
        told = importlib.import_module("book_of_another.stated").S
        before = known.digest(told)
        (package / "other.py").write_text("# nobody imports it\n")
        assert known.digest(told) == before
        (package / changed).write_text((package / changed).read_text() + "# changed\n")
        assert known.digest(told) != before
    finally:
        known._statements.pop("DG-1", None)
        known._origins.pop("DG-1", None)
        for name in [each for each in sys.modules if each.startswith("book_of_another")]:
            del sys.modules[name]
        room._imported.cache_clear()
        room._imports.cache_clear()


def test_the_kernel_belongs_to_what_it_proves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    proved = statements().get("PM-L4")
    stepwise = replace(proved, proof=None)
    assert proved.proof is not None and stepwise.proof is None
    before = statements().digest(proved), statements().digest(stepwise)
    (tmp_path / "logic.py").write_text("# another kernel\n")
    monkeypatch.setattr(room, "TRUSTED", (tmp_path,))
    assert statements().digest(proved) != before[0]
    assert statements().digest(stepwise) == before[1]
