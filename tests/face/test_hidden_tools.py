"""A fresh machine passes: the gate hides the optional tools, and a test that needs one says so by its marker or fails."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"


def _hide_tools() -> ModuleType:
    spec = importlib.util.spec_from_file_location("eigentoken_tools_hide_tools", ROOT / "tools" / "hide_tools.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tools = _hide_tools()


def _program(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\necho here\n")
    (folder / name).chmod(0o755)


def test_every_tool_is_hidden_and_nothing_else(tmp_path: Path) -> None:
    for name in (*tools.HIDDEN, "git", "latexmk-like"):
        _program(tmp_path / "bin", name)
    _program(tmp_path / "plain", "hammer")
    whole = os.pathsep.join([str(tmp_path / "bin"), str(tmp_path / "plain"), str(tmp_path / "nowhere")])
    (tmp_path / "links").mkdir()
    hidden = tools.hidden_path(whole, tmp_path / "links")
    for names in tools.NEEDED.values():
        for name in (each for tool in names for each in tool):
            assert shutil.which(name, path=whole)
            assert shutil.which(name, path=hidden) is None
    for name in ("git", "latexmk-like", "hammer"):
        found = shutil.which(name, path=hidden)
        assert found is not None
        assert subprocess.run([found], capture_output=True, text=True).stdout == "here\n"
    assert hidden.split(os.pathsep)[1:] == [str(tmp_path / "plain")]  # a folder without hidden tools stays as it is


def test_on_this_machine_the_tools_are_gone_and_the_interpreter_is_the_same() -> None:
    show = (
        "import shutil, sys, eigentoken; "
        f"print([name for name in {sorted(tools.HIDDEN)} if shutil.which(name)], sys.prefix, bool(shutil.which('git')))"
    )
    command = [sys.executable, str(ROOT / "tools" / "hide_tools.py"), sys.executable, "-c", show]
    printed = subprocess.run(command, capture_output=True, text=True)
    assert printed.stdout == f"[] {sys.prefix} {bool(shutil.which('git'))}\n", printed.stderr


def test_the_exit_code_is_the_one_of_the_command() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "hide_tools.py")]
    assert subprocess.run([*tool, sys.executable, "-c", "raise SystemExit(7)"]).returncode == 7
    assert subprocess.run(tool, capture_output=True).returncode == 2


SUITE = """
import subprocess
import pytest

def test_forgets_its_marker():
    subprocess.run(["coqc", "--version"], check=True)

@pytest.mark.needs_coq
def test_says_what_it_needs():
    subprocess.run(["coqc", "--version"], check=True)

def test_needs_nothing():
    pass
"""


def test_a_test_that_forgets_its_marker_fails_in_the_hidden_run(tmp_path: Path) -> None:
    for name in ("tests", "tools"):
        (tmp_path / name).mkdir()
    shutil.copy(TESTS / "conftest.py", tmp_path / "tests")
    shutil.copy(ROOT / "tools" / "hide_tools.py", tmp_path / "tools")
    (tmp_path / "tests" / "test_suite.py").write_text(SUITE)
    marks = "\n".join(f"    {name}" for name in tools.NEEDED)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = --strict-markers -rs\nmarkers =\n{marks}\n")
    (tmp_path / "bare").mkdir()
    _program(tmp_path / "bin", "coqc")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    environment.pop(tools.WHOLE, None)  # of the run that this test is in
    suite = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]

    def run(*command: str) -> tuple[int, str]:
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return ran.returncode, ran.stdout

    code, printed = run(*suite)
    assert code == 0, printed
    assert "3 passed" in printed
    code, printed = run(sys.executable, "tools/hide_tools.py", *suite)
    assert code == 1
    assert "1 failed, 2 passed" in printed  # the marked test has its tool
    assert "_ test_forgets_its_marker _" in printed
    code, again = run(sys.executable, "tools/hide_tools.py", sys.executable, "tools/hide_tools.py", *suite)
    assert code == 1
    assert "1 failed, 2 passed" in again  # hidden twice, as .ci/run does: the marked test still has its tool
    environment["PATH"] = tools.hidden_path(environment["PATH"], tmp_path / "bare")
    code, printed = run(sys.executable, "tools/hide_tools.py", *suite)  # a machine without the tool
    assert code == 1
    assert "1 failed, 1 passed, 1 skipped" in printed
    assert "coqc is not on the PATH (needs_coq)" in printed


def test_no_test_decides_by_itself_that_a_tool_is_missing() -> None:
    """A test that looks for its tool and returns or skips would pass unseen: only the marker may do that."""
    asks = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("which", "shutil.which")
    }
    # the browser is started by its path, in a file that is marked as a whole
    assert asks - {"face/test_hidden_tools.py"} == {"face/test_browser.py"}
    marked = (TESTS / "face" / "test_browser.py").read_text(encoding="utf-8")
    assert "pytestmark = pytest.mark.needs_browser\n" in marked


@pytest.mark.parametrize("target", ["test", "test-tools", "test-all", "test-lowest"])
def test_the_gate_runs_the_whole_suite_with_the_tools_hidden(target: str) -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    values = dict(re.findall(r"^(\w+) := (.*)$", text, re.M))
    text = text.replace("$(PYTEST)", values["PYTEST"]).replace("$(NEEDS)", values["NEEDS"])
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.M)
    assert recipe is not None
    (run,) = [each for each in recipe.group(1).split(";") if "pytest" in each]
    assert "tools/hide_tools.py" in run
    needs = " or ".join(sorted(tools.NEEDED))
    chosen = re.search(r'-m "(.*)"', run)
    assert (chosen and chosen[1]) == {
        "test": f"not (slow or {needs})",
        "test-tools": f"not slow and ({needs})",  # what the one leaves out, the other has
        "test-all": None,
        "test-lowest": f"not (slow or {needs})",
    }[target]
    assert "python3 tools/hide_tools.py make test\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
