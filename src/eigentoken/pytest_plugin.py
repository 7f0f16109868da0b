"""Run conjecture files under pytest: every conjecture is a test.

Files named ``conjecture_*.py``, or in a folder named ``conjectures``, or given with ``--conjectures PATTERN``, or named on the
command line (``pytest mine.py``) and stating a conjecture, are collected.  A conjecture that is expected to survive fails
its test when it is refuted or a violation is seen; one that is expected to be refuted fails its test when no counterexample
certifies; an open one fails only when it is refuted.  One of which no instance was judged (``not tested``) fails its test
whatever is expected.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["pytest_addoption", "pytest_collect_file"]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("eigentoken", "conjectures about attention dynamics")
    group.addoption("--conjectures", default="", help="collect conjectures from files whose path matches this pattern")
    group.addoption("--conjecture-seconds", type=float, default=20.0, help="seconds for each conjecture (default 20)")
    group.addoption("--conjecture-instances", type=int, default=None, help="at most this many instances for each")
    group.addoption("--conjecture-seed", type=int, default=0, help="seed of the search (default 0)")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".py" or file_path.name.startswith(("test_", "__init__")):
        return None
    pattern = parent.config.getoption("--conjectures")
    named = file_path.name.startswith("conjecture_") or file_path.parent.name == "conjectures"
    if named or (pattern and fnmatch.fnmatch(str(file_path), pattern)) or _asked_for(file_path, parent.session):
        collected: pytest.Collector = ConjectureFile.from_parent(parent, path=file_path)
        return collected
    return None


def _asked_for(path: Path, session: pytest.Session) -> bool:
    """Was the file itself named on the command line, and does it state a conjecture?"""
    return session.isinitpath(path) and "Conjecture(" in path.read_text(encoding="utf-8", errors="replace")


class ConjectureFile(pytest.File):
    """A file of conjectures."""

    def collect(self) -> Iterator[pytest.Item]:
        from eigentoken.numerics.lab import ConjectureError, load

        try:
            found = load(self.path)
        except ConjectureError as problem:
            raise self.CollectError(str(problem)) from None
        for conjecture in found:
            yield ConjectureItem.from_parent(self, name=conjecture.name, conjecture=conjecture)


class RefutedError(Exception):
    """The search contradicts what the author expects."""


class ConjectureItem(pytest.Item):
    """One conjecture."""

    def __init__(self, *, conjecture: Any, **options: Any) -> None:
        super().__init__(**options)
        self.conjecture = conjecture

    def runtest(self) -> None:
        from eigentoken.numerics.lab import refute

        option = self.config.getoption
        report = refute(
            self.conjecture,
            seconds=option("--conjecture-seconds"),
            instances=option("--conjecture-instances"),
            seed=option("--conjecture-seed"),
        )
        result = report.results[0]
        self.add_report_section("call", "conjecture", result.meaning)
        wanted = {"refuted": ("refuted",), "survives": ("survived",), "open": ("survived", "candidate")}[result.expect]
        if result.answer not in wanted:
            shown = "" if result.counterexample is None else f"\n{result.counterexample.case.instance.as_dict()}"
            raise RefutedError(
                f"{result.name}: expected {' or '.join(wanted)}, got {result.answer}; {result.meaning}{shown}"
            )

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        from eigentoken.numerics.lab import ConjectureError

        if isinstance(excinfo.value, RefutedError | ConjectureError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, max(0, self.conjecture.line - 1), self.name
