"""The built wheel has all rooms and no tests, and works from another folder, in a clean venv."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import eigentoken

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_has_all_rooms_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for room in ("theory", "numerics", "models", "proofs"):
        inside = {name for name in names if name.startswith(f"eigentoken/{room}/") and name.endswith(".py")}
        on_disk = {f"eigentoken/{path.relative_to(ROOT)}" for path in (ROOT / room).rglob("*.py")}
        assert inside == on_disk
    assert "eigentoken/cli.py" in names
    listed = subprocess.run(
        ["git", "ls-files", "theory", "numerics", "models", "proofs", "src"], cwd=ROOT, capture_output=True, text=True
    )
    for name in listed.stdout.splitlines():
        if not name.endswith(".py") and not (ROOT / name).is_symlink():  # data: schemas, assets, the ledger
            assert f"eigentoken/{name.removeprefix('src/eigentoken/')}" in names, name
    assert not [name for name in names if Path(name).name.startswith("test_") or "tests" in Path(name).parts]
    assert not [name for name in names if "benchmarks" in Path(name).parts or "conftest" in name]


def test_the_wheel_carries_the_version_of_the_package_and_the_links(wheel: Path) -> None:
    name = f"eigentoken-{eigentoken.__version__}"
    assert wheel.name.startswith(f"{name}-")
    metadata = zipfile.ZipFile(wheel).read(f"{name}.dist-info/METADATA").decode().split("\n\n")[0].splitlines()
    assert f"Version: {eigentoken.__version__}" in metadata
    assert sum(line.startswith("Project-URL: ") for line in metadata) >= 4
    assert "Classifier: Programming Language :: Python :: 3.13" in metadata


def test_the_installed_wheel_runs_elsewhere(wheel: Path, tmp_path: Path) -> None:
    """A clean venv that sees this environment's libraries but not this checkout."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        "-q",
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    site = next((place / "lib").glob("python3*")) / "site-packages"
    libraries = Path(next(path for path in sys.path if path.endswith("site-packages")))
    # libraries without the editable hooks: a plain path entry is not processed for .pth files
    environment = {**os.environ, "PYTHONPATH": str(libraries), "PYTHONNOUSERSITE": "1"}
    code = (
        "import eigentoken, eigentoken.theory.systems.catalogue as s, eigentoken.proofs as p, eigentoken.models;"
        "import eigentoken.numerics;"
        "print(eigentoken.__file__); print(s.__file__); print(p.__file__)"
    )
    run = [str(python), "-c", code]
    printed = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert printed.returncode == 0, printed.stderr
    assert all(line.startswith(str(site)) for line in printed.stdout.split()), printed.stdout
    run = [str(place / "bin" / "eigentoken"), "show", "PM-L4", "--json"]
    shown = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert shown.returncode == 0, shown.stderr
    assert '"id": "PM-L4"' in shown.stdout
