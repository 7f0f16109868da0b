"""What several tests of the face share: the built wheel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the tree: what an earlier build left behind is not in it."""
    target = tmp_path_factory.mktemp("wheel")
    source = target / "source"
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.splitlines() if listed.returncode == 0 else []
    for name in names:
        origin, place = ROOT / name, source / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if origin.is_symlink():  # the rooms inside src/eigentoken
            place.symlink_to(origin.readlink())
        elif origin.is_file():
            place.write_bytes(origin.read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", str(target)]
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    return next(target.glob("eigentoken-*.whl"))
