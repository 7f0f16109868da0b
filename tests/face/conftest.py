"""What several tests of the face share: the built wheel, an atlas, and a report of few layers and one of many."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
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


@pytest.fixture(scope="session")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Index and errata of all statements, and the pages of two."""
    from eigentoken.atlas import build

    folder = tmp_path_factory.mktemp("atlas")
    written = build(folder, ["PM-L4", "PM-L15"])
    assert {path.name for path in written} == {"index.html", "errata.html", "PM-L4.html", "PM-L15.html"}
    return folder


@pytest.fixture(scope="session")
def report_of() -> Callable[..., str]:
    """``report_of(layers=, heads=)``: the page of a report; what is repeated in it is checked once."""
    place = ROOT / "benchmarks" / "large_report.py"
    spec = importlib.util.spec_from_file_location("eigentoken_benchmarks_large_report", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page: Callable[..., str] = module.page
    return page


@pytest.fixture(scope="session")
def large_report(report_of: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 48 layers with 25 heads, the one that the benchmark opens too."""
    path = tmp_path_factory.mktemp("large") / "report.html"
    path.write_text(report_of(layers=48, heads=25), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def small_report(report_of: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of three layers with two heads: all statements, few records."""
    path = tmp_path_factory.mktemp("small") / "report.html"
    path.write_text(report_of(layers=3, heads=2, eigenvalues=40), encoding="utf-8")
    return path
