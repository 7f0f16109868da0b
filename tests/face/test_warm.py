"""Commands in forks of a process with the libraries loaded: the same answers, streams, folders and codes as a fresh Python."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ..commands import eigentoken, tool

warm = tool("warm")


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "PM-L333"],
        ["--version"],
        ["certify", "rank", "-"],
        pytest.param(["show", "PM-L3"], marks=pytest.mark.slow),
    ],
)
def test_it_answers_as_a_fresh_process_does(arguments: list[str], tmp_path: Path) -> None:
    fresh = subprocess.run(
        [sys.executable, "-m", "eigentoken", *arguments], capture_output=True, text=True, cwd=tmp_path, input=""
    )
    served = eigentoken(*arguments, cwd=tmp_path, input="")
    assert (served.returncode, served.stdout, served.stderr) == (fresh.returncode, fresh.stdout, fresh.stderr)


def test_folder_environment_and_pipes_are_the_callers(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('[["2", "1"], ["1", "1"]]')
    command = " ".join([*warm.command(), "certify positive-definite m.json | head -n 1 > out.txt"])
    assert subprocess.run(command, shell=True, cwd=tmp_path).returncode == 0
    assert (tmp_path / "out.txt").read_text().startswith("positive-definite: holds")
    narrow = eigentoken("show", "PM-L3", environment={"COLUMNS": "60", "NO_COLOR": "1"}).stdout
    assert max(map(len, narrow.splitlines())) <= 60


def test_nothing_of_ours_is_loaded_beforehand() -> None:
    """A missing import is seen, as in a fresh process: each fork imports our modules anew."""
    ours = "import sys; print(sorted(name for name in sys.modules if name.split('.')[0] == 'eigentoken'))"
    served = eigentoken("-c", ours)
    assert (served.returncode, served.stdout, served.stderr) == (0, "[]\n", "")
    assert eigentoken("-c", f"import eigentoken.version\n{ours}").stdout == "['eigentoken', 'eigentoken.version']\n"


def test_code_ends_as_in_a_fresh_process() -> None:
    assert eigentoken("-c", "raise SystemExit(7)").returncode == 7
    served = eigentoken("-c", "assert 1 == 2, 'no'")
    assert served.returncode == 1
    assert served.stderr.endswith("AssertionError: no\n")


def test_a_caller_that_is_killed_takes_its_command_along() -> None:
    conjecture = Path(__file__).resolve().parents[2] / "examples" / "conjectures" / "oja_consensus.py"
    command = [*warm.command(), "refute", str(conjecture), "--seconds", "300", "--jobs", "1"]
    before = _served()  # the server, and what is served meanwhile
    called = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert _forks(before, some=True)
    called.kill()
    called.wait()
    assert not _forks(before, some=False)


def test_a_server_that_has_read_the_book_answers_likewise(tmp_path: Path) -> None:
    ours = "import sys; print('eigentoken.proofs.power_method' in sys.modules)"
    asked = [*warm.command(book=True), "-c", ours]
    served = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path)
    assert (served.returncode, served.stdout, served.stderr) == (0, "True\n", "")
    assert eigentoken("-c", ours).stdout == "False\n"


def _served() -> set[str]:
    return {entry.name for entry in Path("/proc").glob("[0-9]*") if _is_served(entry)}


def _forks(before: set[str], *, some: bool) -> set[str]:
    """The processes of the server that were not there before, as soon as there are some, or none; at most a minute."""
    found: set[str] = set()
    for _ in range(600):
        found = _served() - before
        if bool(found) is some:
            break
        time.sleep(0.1)
    return found


def _is_served(process: Path) -> bool:
    try:
        arguments = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has just ended
        return False
    return b"--serve" in arguments and os.environ[warm.SOCKET].encode() in arguments
