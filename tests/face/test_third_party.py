"""A statement of another package: the example of CONTRIBUTING.md as it stands, and a package that is broken."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from eigentoken.proofs.verify import LEDGER

from ..commands import eigentoken

CONTRIBUTING = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", CONTRIBUTING.read_text(encoding="utf-8"), re.S)


def install(folder: Path, module: str, code: str, name: str = "my-results") -> None:
    """What ``pip install`` leaves behind, as far as an entry point needs it."""
    (folder / f"{module}.py").write_text(code)
    facts = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[eigentoken.statements]\n{name} = {module}\n")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return eigentoken(*arguments, environment={"PYTHONPATH": str(folder)}, book=True)


def test_the_example_of_contributing_works_and_keeps_its_own_ledger(tmp_path: Path) -> None:
    project = tomllib.loads(blocks("toml")[0])["project"]
    ((name, module),) = project["entry-points"]["eigentoken.statements"].items()
    assert (project["name"], name) == ("my-results", "my-results")
    install(tmp_path, module, blocks("python")[0])
    ours = LEDGER.read_bytes()

    def status() -> str:
        listed = json.loads(run(tmp_path, "statements", "--json").stdout)["statements"]
        return next(each["status"] for each in listed if each["id"] == "MY-1")

    shown = run(tmp_path, "show", "MY-1").stdout
    assert "Polarisation" in shown and "status: stated" in shown
    done = run(tmp_path, "verify", "MY-1", "--record")
    assert done.returncode == 0, done.stderr
    assert LEDGER.read_bytes() == ours
    assert list(json.loads((tmp_path / "eigentoken-ledger.json").read_text())) == ["MY-1"]
    assert status() == "stepwise"
    code = tmp_path / f"{module}.py"
    code.write_text(code.read_text().replace("4 * a * b", "5 * a * b"))
    assert "status: stated" in run(tmp_path, "show", "MY-1").stdout, "evidence belongs to exactly one text"
    assert run(tmp_path, "verify", "MY-1").returncode == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        pytest.param("def load():\n    return 1 / 0", "ZeroDivisionError", marks=pytest.mark.slow),
        pytest.param("x = 1", "AttributeError", marks=pytest.mark.slow),
    ],
)
def test_a_broken_package_is_named_in_one_line(code: str, said: str, tmp_path: Path) -> None:
    install(tmp_path, "broken_results", code, "broken-results")
    done = run(tmp_path, "show", "MY-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1
    assert "entry point broken-results (broken-results): " in done.stderr and said in done.stderr
    assert "uninstall broken-results or repair it" in done.stderr


def test_a_statement_of_ours_is_shown_beside_a_broken_package(tmp_path: Path) -> None:
    install(tmp_path, "broken_results", "import no_such_module", "broken-results")
    assert "Stability of consensus" in run(tmp_path, "show", "PM-L4").stdout


def test_a_package_that_fails_halfway_leaves_nothing_and_is_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.metadata import EntryPoint

    from eigentoken.theory.statements import registry as module

    half = blocks("python")[0].rstrip() + "\n    raise RuntimeError('halfway')\n"
    install(tmp_path, "half_results", half, "half-results")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = module.Registry(complete=False)
    entry = EntryPoint("half", "half_results", module.ENTRY_POINT_GROUP)
    monkeypatch.setattr(module, "_REGISTRY", registry)
    monkeypatch.setattr(module, "entry_points", lambda group: [entry])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"entry point half \(half_results\): RuntimeError: halfway"):
            registry.load()
        assert not registry._statements
