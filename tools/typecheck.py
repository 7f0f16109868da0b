"""Run mypy on the package as one tree.

The rooms are mapped into ``eigentoken`` only when installed, which static tools do not see; so a folder of links is
made under ``build/`` (not committed) and checked as the package it is.  ``--only ROOM`` checks one room.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINKS = ROOT / "build" / "links" / "eigentoken"
ROOMS = ("theory", "numerics", "models", "proofs")


def make_links(target: Path = LINKS) -> Path:
    """``build/links/eigentoken`` with the face's files and one link a room."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = {path.name: path for path in (ROOT / "src" / "eigentoken").iterdir() if path.name != "__pycache__"}
    wanted |= {room: ROOT / room for room in ROOMS}
    for stale in target.iterdir():
        if stale.is_symlink():
            stale.unlink()
    for name, path in wanted.items():
        (target / name).symlink_to(path)
    return target.parent


def main(arguments: list[str]) -> int:
    path = make_links()
    what = ["-p", "eigentoken"]
    if arguments[:1] == ["--only"]:
        what = ["-p", f"eigentoken.{arguments[1]}"]
    environment = {**os.environ, "MYPYPATH": str(path)}
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *what]
    return subprocess.run(command, env=environment, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
