"""Files are written whole or not at all: a full disk, an interruption and a refusal leave the previous one as it was."""

from __future__ import annotations

import ast
import errno
import os
import re
import resource
import stat
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from eigentoken.files import writing
from eigentoken.files.writing import Replacement, append_line, copy_file, ready, replacing, write_bytes, write_text

from ..commands import tool


def _only(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    write_bytes(path, b"two")
    assert path.read_bytes() == b"two"
    copy_file(path, tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_bytes() == b"two"
    assert _only(tmp_path) == ["a.txt", "b.txt"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real.txt").stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "fresh.txt", "x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("broken", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_previous_file(broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    path.write_text("previous")

    class Full:
        """What is opened is a disk without room."""

        def __call__(self, *_: object) -> IO[bytes]:
            return Path("/dev/full").open("wb")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if broken == "write":
            patch.setattr(writing, "open", Full(), raising=False)
        else:
            patch.setattr(os, broken, full)
        with pytest.raises(OSError, match="No space left") as caught:
            write_text(path, "next " * 10_000)
    assert caught.value.filename == str(path)  # not the temporary one
    assert path.read_text() == "previous"
    assert _only(tmp_path) == ["report.json"]


def test_files_that_belong_together_change_together(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("previous")
    with pytest.raises(ZeroDivisionError), Replacement() as files:
        files.place(tmp_path / "a").write_text("next")
        raise ZeroDivisionError
    assert {(tmp_path / name).read_text() for name in ("a", "b")} == {"previous"}
    with Replacement() as files:
        files.place(tmp_path / "a").write_text("next")
        files.place(tmp_path / "b").write_text("next")
        assert {(tmp_path / name).read_text() for name in ("a", "b")} == {"previous"}
    assert {(tmp_path / name).read_text() for name in ("a", "b")} == {"next"}
    assert _only(tmp_path) == ["a", "b"]


def test_an_interruption_leaves_the_previous_file(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text("previous")
    with pytest.raises(KeyboardInterrupt), replacing(path) as place:
        assert place.suffix == ".svg"  # what a library reads the format from
        assert place.parent == tmp_path
        place.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "previous"
    assert _only(tmp_path) == ["a.svg"]


def test_a_device_is_written_as_it_is() -> None:
    write_text("/dev/null", "x")
    with pytest.raises(OSError, match="No space left"):
        write_text("/dev/full", "x")
    command = [
        sys.executable,
        "-c",
        "from eigentoken.files.writing import write_text; write_text('/dev/stdout', 'said')",
    ]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "said"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_text(tmp_path / "none" / "a.txt", "x")
    assert caught.value.filename == str(tmp_path / "none" / "a.txt")
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "x")
    assert _only(tmp_path) == []


def test_a_place_is_tried_before_the_work(tmp_path: Path) -> None:
    """Folders are made; what is there stays, and nothing new; a folder, and a file in the way of one, are refused."""
    kept = tmp_path / "kept.json"
    kept.write_text("old")
    ready(kept, None, tmp_path / "new" / "deep" / "a.json", os.devnull)
    assert kept.read_text() == "old" and _only(tmp_path) == ["kept.json", "new"]
    assert _only(tmp_path / "new") == ["deep"] and not _only(tmp_path / "new" / "deep")
    with pytest.raises(IsADirectoryError):
        ready(tmp_path)
    with pytest.raises(OSError, match=r"kept\.json"):
        ready(kept / "a.json")
    with pytest.raises(OSError, match=r"kept\.json"):
        ready(kept / "deep" / "a.json")


@pytest.mark.parametrize(
    "command",
    [
        "check {model} -o {file}/report.json",
        "check {model} --html {file}/report.html",
        "compare {model} {model} -o {file}/compare.json",
        "chance {model} -o {file}/chance.json",
        "basin {model} --layer 0 --head 0 -o {file}/basin.json",
        "nearest {model} PM-N1 -o {file}",
        "nearest {model} PM-N1 -o {file}/copy",
        "steer {model} --direction random -o {file}/copy",
        "steer {model} --direction random -o {folder}/copy --figure {file}/a.svg",
        "simulate attention-flow --animate {file}/run.gif",
        "simulate attention-flow --data run.txt",
        "spectrum attention-map --format json -o {file}/a.json",
        "verify PM-L4 --junit {file}/a.xml",
        "refute {conjectures} --html {file}/a.html",
        "strengthen {conjectures} -o {file}/a.json",
        "attempt {conjectures} -o {file}/a.json",
        "explore oja-flow -o {file}/a",
    ],
)
def test_no_work_is_done_for_a_place_that_cannot_be_written(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bar of the work is not even begun, and the model is not opened."""
    from eigentoken import cli

    def work(*_args: object, **_options: object) -> None:
        raise AssertionError("the work was begun")

    (tmp_path / "file").write_text("old")
    conjectures = tmp_path / "mine.py"
    conjectures.write_text("from eigentoken.lab import *\nraise SystemExit('the work was begun')\n")
    names = {"file": tmp_path / "file", "folder": tmp_path, "conjectures": conjectures}
    model = Path(__file__).parents[2] / "examples" / "byte_lm" / "step00000.safetensors"
    given = [each.format(model=model, **names) for each in command.split()]
    monkeypatch.setattr("eigentoken.checking.run.open_model", work)
    monkeypatch.setattr("eigentoken.numerics.dynamics.simulate.simulate", work)
    monkeypatch.setattr(sys, "argv", ["eigentoken", *given])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert "file" in said.err and said.out == "" and said.err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "old" and _only(tmp_path) == ["file", "mine.py"]


def test_what_cannot_be_shown_moving_makes_no_folder(tmp_path: Path) -> None:
    from eigentoken.figures import run_simulation

    for options in ({"d": 5}, {"d": 3, "n": 0}):
        with pytest.raises(ValueError, match=r"circle or sphere|n must be"):
            run_simulation("attention-flow", animation=tmp_path / "new" / "run.gif", end=0.1, **options)
    assert _only(tmp_path) == []


def test_a_log_grows_by_whole_lines(tmp_path: Path) -> None:
    append_line(tmp_path / "log", "one")
    append_line(tmp_path / "log", "two")
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    with pytest.raises(ValueError, match="one line"):
        append_line(tmp_path / "log", "three\nfour")


def test_a_limit_on_the_size_of_files_is_a_full_disk_too(tmp_path: Path) -> None:
    """With the operating system's own limit, in a process of its own."""
    path = tmp_path / "report.json"
    path.write_text("previous")
    code = f"from eigentoken.files.writing import write_text; write_text({str(path)!r}, 'x' * 100_000)"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=limit)
    assert ran.returncode == 1
    assert "File too large" in ran.stderr
    assert path.read_text() == "previous"
    assert _only(tmp_path) == ["report.json"]


#: who may write by other means, and why it cannot destroy anything
ELSEWHERE = {
    "src/eigentoken/output.py": "paper.tex in a temporary folder",
    "src/eigentoken/api/rechecking.py": "a document in a temporary folder",
    "numerics/dynamics/drawing.py": "a picture in memory",
    "numerics/layers/chance_draws.py": "a stream that the caller opened through eigentoken.files",
    "numerics/layers/chance_turned.py": "a stream that the caller opened through eigentoken.files",
    "src/eigentoken/nulls/on_tokens.py": "a stream that the caller opened through eigentoken.files",
    "src/eigentoken/checking/inside.py": "a line of progress in a temporary folder",
    "proofs/coq/run.py": "files in a temporary folder",
    "proofs/coq/formal.py": "files in a temporary folder",
    "models/loading/write.py": "a new folder, synced and renamed when it is whole",
    "models/loading/samples.py": "a new folder, synced and renamed when it is whole",
}
WRITERS = {"write_text", "write_bytes", "savefig", "save_file", "savez", "savez_compressed", "dump"}
OURS = {"write_text", "write_bytes"}


def _writes(parts: list[ast.AST]) -> set[str]:
    """The calls of a module that write a file past ``eigentoken.files``."""
    found = set()
    for node in parts:
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in {"open", *WRITERS}:
            continue
        called, shown = ast.unparse(node.func), ast.unparse(node)
        mode = [
            each.value for each in (*node.args, *(k.value for k in node.keywords)) if isinstance(each, ast.Constant)
        ]
        opened = name == "open" and any(isinstance(each, str) and re.fullmatch("[wax]b?[+]?", each) for each in mode)
        ours = (
            called in OURS
            or ".place(" in called
            or shown.startswith(("figure.savefig(picture", "draw(chart, style).savefig(p"))
        )
        if opened or (name != "open" and not ours):
            found.add(shown)
    return found


def test_no_command_writes_by_other_means() -> None:
    root = Path(__file__).resolve().parents[2]
    found = {}
    for room in ("src", "theory", "numerics", "models", "proofs"):
        for path in (root / room).rglob("*.py"):
            name = str(path.relative_to(root))
            if not name.startswith("src/eigentoken/files/") and (calls := _writes(tool("house").all_parts(path))):
                found[name] = calls
    assert set(found) == set(ELSEWHERE), found


@pytest.mark.parametrize(
    "code",
    [
        "path.write_text('x')",
        "np.savez(path, a=a)",
        "open(p, 'w')",
        "p.open('ab')",
        "figure.savefig(target)",
        "json.dump(a, b)",
    ],
)
def test_the_rule_sees_other_means(code: str) -> None:
    assert _writes(tool("house").parts(ast.parse(code)))
    assert not _writes(tool("house").parts(ast.parse("write_text(path, 'x')")))
