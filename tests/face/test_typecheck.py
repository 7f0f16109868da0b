"""The type checker really sees every room: a deliberate type error in each is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("room", ["theory", "numerics", "models", "proofs", "face"])
def test_a_type_error_in_a_room_is_found(room: str, tmp_path: Path) -> None:
    package = tmp_path / "links" / "eigentoken"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for each in ("theory", "numerics", "models", "proofs"):
        (package / each).mkdir()
        (package / each / "__init__.py").write_text("")
    wrong = package / (f"{room}/wrong.py" if room != "face" else "wrong.py")
    wrong.write_text("def number() -> int:\n    return 'text'\n")
    environment = {**os.environ, "MYPYPATH": str(package.parent)}
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "-p", "eigentoken"]
    command += ["--cache-dir", str(tmp_path / "cache")]
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "wrong.py:2" in ran.stdout, ran.stdout


def test_the_rooms_are_links_inside_the_package() -> None:
    """So that a plain path entry is a whole installation, for the interpreter and for static tools."""
    for room in ("theory", "numerics", "models", "proofs"):
        link = ROOT / "src" / "eigentoken" / room
        assert link.is_symlink() and not link.readlink().is_absolute()
        assert link.resolve() == ROOT / room
