"""The type checker really sees every room: a deliberate type error in each is found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_type_error_in_each_room_is_found(tmp_path: Path) -> None:
    package = tmp_path / "links" / "eigentoken"
    places = [package, *(package / each for each in ("theory", "numerics", "models", "proofs"))]
    for place in places:
        place.mkdir(parents=True)
        (place / "__init__.py").write_text("")
        (place / "wrong.py").write_text("def number() -> int:\n    return 'text'\n")
    environment = {**os.environ, "MYPYPATH": str(package.parent)}
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "-p", "eigentoken"]
    command += ["--cache-dir", str(tmp_path / "cache")]
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    for place in places:
        assert f"{place.relative_to(tmp_path)}/wrong.py:2: error" in ran.stdout, ran.stdout
    assert "Found 5 errors in 5 files" in ran.stdout, ran.stdout


def test_the_gate_asks_mypy_in_one_process() -> None:
    """A worker that starts late on a loaded machine is an internal error of mypy, which says nothing of the types."""
    recipe = re.search(r"^typecheck:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert recipe is not None and recipe[1] == "\t$(BIN)/python -m mypy\n"
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert "num_workers" not in settings


def test_the_rooms_are_links_inside_the_package() -> None:
    """So that a plain path entry is a whole installation, for the interpreter and for static tools."""
    for room in ("theory", "numerics", "models", "proofs"):
        link = ROOT / "src" / "eigentoken" / room
        assert link.is_symlink() and not link.readlink().is_absolute()
        assert link.resolve() == ROOT / room
