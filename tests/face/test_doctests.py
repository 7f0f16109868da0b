"""Every doctest of the package, under the names that users import (a room's folder is no package of its own)."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _modules() -> list[str]:
    found = []
    for folder, package in [*((ROOT / room, f"eigentoken.{room}") for room in ("theory", "numerics", "models", "proofs")),
                            (ROOT / "src" / "eigentoken", "eigentoken")]:  # fmt: skip
        for path in sorted(folder.rglob("*.py")):
            if ">>>" not in path.read_text(encoding="utf-8"):
                continue
            parts = path.relative_to(folder).with_suffix("").parts
            found.append(".".join([package, *(part for part in parts if part != "__init__")]))
    return found


@pytest.mark.parametrize("name", _modules())
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
