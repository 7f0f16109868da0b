"""What a distribution promises: one version, links, Pythons, lower bounds, hosted CI, hooks, a changelog, covered lines."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import eigentoken

from ..commands import tool

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


lowest = tool("lowest")
covered = tool("covered")


def _workflow() -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))


def test_the_version_is_typed_once() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == eigentoken.__version__
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert first is not None
    assert first[1] == eigentoken.__version__
    listed = subprocess.run(["git", "ls-files", "*.py", "*.toml", "*.cfg"], cwd=ROOT, capture_output=True, text=True)
    typed = re.compile(r"\bversion\W{1,5}" + re.escape(eigentoken.__version__) + r"\b")
    found = [name for name in listed.stdout.split() if typed.search((ROOT / name).read_text(encoding="utf-8"))]
    assert found in ([], ["src/eigentoken/__init__.py"]), found


def test_links_name_one_project() -> None:
    urls = PROJECT["urls"]
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= set(urls)
    home = urls["Homepage"]
    assert all(each.startswith(home) for each in urls.values())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["repository-code"] == home
    for name in ("Documentation", "Changelog"):
        assert (ROOT / urls[name].removeprefix(home).split("/main/")[1]).exists()


def _pythons() -> list[str]:
    classified = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"]]
    return [each[1] for each in classified if each is not None]


def test_hosted_ci_tries_every_python_that_is_promised() -> None:
    pythons = _pythons()
    assert f">={pythons[0]}" == PROJECT["requires-python"]
    jobs = _workflow()["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == pythons
    commands = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert commands == {"test": ["make test"], "lowest": ["make test-lowest"], "slow": ["make test-all"]}
    oldest = [step["with"]["python-version"] for step in jobs["lowest"]["steps"] if "with" in step]
    assert oldest == pythons[:1]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert {"test", "test-lowest", "test-all"} <= set(targets)


def test_the_tools_aim_at_the_oldest_python() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tools["mypy"]["python_version"] == _pythons()[0]
    assert tools["ruff"]["target-version"] == "py" + _pythons()[0].replace(".", "")


def test_hooks_are_local_and_call_what_the_gate_calls() -> None:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [each["repo"] for each in repositories] == ["local"]
    hooks = {hook["id"]: hook for hook in repositories[0]["hooks"]}
    assert {name: hook["entry"].removeprefix(".venv/bin/python ").split()[:3] for name, hook in hooks.items()} == {
        "ruff-format": ["-m", "ruff", "format"],
        "ruff-check": ["-m", "ruff", "check"],
        "mypy": ["-m", "mypy"],
    }
    assert all(hook["language"] == "system" for hook in hooks.values())


def test_the_pins_of_the_lowest_environment_are_the_bounds() -> None:
    assert lowest.PINS.read_text(encoding="utf-8") == lowest.pins(), "run: python tools/lowest.py"
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)", lowest.pins(), re.M))
    untried = {"torch", "jupyterlab", "jax", "diffrax"}  # torch: the build at hand; the others: imported by no test
    assert {name: pinned[name] for name in pinned if name not in lowest.HELD} == {
        name: bound for name, bound in lowest.bounds().items() if name not in untried
    }
    assert {"numpy", "scipy", "sympy", "transformers", "dask"} <= set(pinned)


def test_what_is_pinned_is_what_the_lowest_environment_installs() -> None:
    """A pin of what is not installed would make ``make test-lowest`` fail before its first test."""
    rule = re.search(r"^\$\(LOWEST_STAMP\):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert rule is not None
    asked = re.search(r'-e "\.\[([\w,-]+)\]"', rule[1])
    assert asked is not None and tuple(asked[1].split(",")) == lowest.EXTRAS
    for name in ("jax", "diffrax", "jupyterlab"):
        assert name in lowest.bounds() and name not in lowest.pinned()
    assert {"gguf", "huggingface-hub", "dask-jobqueue", "playwright", "torchdiffeq"} <= set(lowest.pinned())


def test_a_requirement_without_a_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowest, "ROOT", tmp_path)
    place = tmp_path / "pyproject.toml"
    head = '[project]\nname = "eigentoken"\n[project.optional-dependencies]\n'
    place.write_text(head + 'a = ["numpy>=1.26"]\nb = ["numpy>=1.26"]\n', encoding="utf-8")
    place.write_text(place.read_text().replace("[project.opt", 'dependencies = ["b>=2,<3"]\n[project.opt'))
    assert lowest.bounds() == {"b": "2", "numpy": "1.26"}
    place.write_text(place.read_text().replace('b = ["numpy>=1.26"]', 'b = ["numpy>=1.27"]'))
    with pytest.raises(ValueError, match=r"two lower bounds, 1\.26 and 1\.27"):
        lowest.bounds()
    place.write_text(place.read_text().replace("numpy>=1.27", "numpy"))
    with pytest.raises(ValueError, match="'numpy' has no lower bound"):
        lowest.bounds()


def test_an_environment_above_its_pins_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    at_the_bound = {**lowest.bounds(), **{name: pin for name, (pin, _) in lowest.HELD.items()}}
    monkeypatch.setattr(lowest, "version", lambda name: at_the_bound[name] + ".0")
    assert lowest.differing() == []
    at_the_bound["numpy"] = "99.1"
    assert lowest.differing() == [f"numpy: 99.1.0, not {lowest.bounds()['numpy']}"]


def test_covered_lines_are_told_by_room_and_held_to_a_floor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def files(reached: int) -> dict[str, Any]:
        return {
            "theory/language/words.py": {"summary": {"covered_lines": reached, "num_statements": 60}},
            "theory/language/terms.py": {"summary": {"covered_lines": 20, "num_statements": 20}},
            "src/eigentoken/cli.py": {"summary": {"covered_lines": 20, "num_statements": 20}},
        }

    assert covered.rooms(files(50)) == {"src/eigentoken": (20, 20), "theory/language": (70, 80)}
    monkeypatch.setattr(covered, "REPORT", tmp_path / "report.json")
    monkeypatch.setattr("coverage.cmdline.main", lambda arguments: 0)
    for reached, code in ((60, 0), (10, 1)):
        (tmp_path / "report.json").write_text(json.dumps({"files": files(reached)}), encoding="utf-8")
        assert covered.main() == code
    printed = capsys.readouterr()
    assert printed.out.splitlines()[2].split() == ["total", "100", "of", "100", "lines", "100.0", "%"]
    assert "50.0 % of the lines, below the floor" in printed.err


def _groups_read(path: Path) -> set[str]:
    """The groups that a module passes to ``entry_points(group=...)``, through a constant of the module or as text."""
    constants = {
        target.id: node.value.value
        for node in tool("house").parsed(path).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = set()
    for node in tool("house").all_parts(path):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "entry_points":
            group = next(each.value for each in node.keywords if each.arg == "group")
            found.add(group.value if isinstance(group, ast.Constant) else constants[group.id])  # type: ignore[attr-defined]
    return found


def test_every_group_of_entry_points_is_on_the_page_of_what_is_stable() -> None:
    rooms = ("theory", "numerics", "models", "proofs", "src/eigentoken")
    groups = set().union(*(_groups_read(path) for room in rooms for path in (ROOT / room).rglob("*.py")))
    assert {"eigentoken.statements", "eigentoken.families"} <= groups
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    assert not {group for group in groups if f"| `{group}` |" not in page}, (
        "name the constant ENTRY_POINT...; run tools/docs.py"
    )


def test_the_page_of_what_is_stable_says_the_pythons_that_are_promised() -> None:
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    assert f"Python {_pythons()[0]} to {_pythons()[-1]}" in page
