"""The command line as a user calls it: in a process of its own that has the libraries loaded (``tools/warm.py``), or here."""

from __future__ import annotations

import importlib.util
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

__all__ = ["at_once", "eigentoken", "here", "pytest_here", "started", "tool"]

TOOLS = Path(__file__).resolve().parents[1] / "tools"


def tool(name: str) -> ModuleType:
    """A module of ``tools/``, which is no package; loaded once."""
    full = f"eigentoken_tools_{name}"
    if full in sys.modules:
        return sys.modules[full]
    spec = importlib.util.spec_from_file_location(full, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    return module


_warm = tool("warm")


def eigentoken(
    *arguments: object, environment: dict[str, str] | None = None, book: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a command prints and its exit code; ``environment`` is added to ours.

    ``book``: our modules are imported already, where the command is not about how it starts.
    """
    command = [*_warm.command(book), *map(str, arguments)]
    added = {**os.environ, **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, env=added, timeout=600, check=False, **options)


def started(code: str, book: bool = False) -> tuple[subprocess.Popen[str], int]:
    """Python code in a process of its own that has the libraries loaded: who waits for it, and its number, for signals.

    ``book``: our modules are imported already, too.

    It leads a group of processes; who waits for it ends as it does.
    """
    announced = f"import os\nprint(os.getpid(), flush=True)\n{code}"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    waiting = subprocess.Popen([*_warm.command(book), "-c", announced], text=True, **pipes)
    assert waiting.stdout is not None
    return waiting, int(waiting.stdout.readline())


def here(*arguments: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The same in this process, where the book is read already: for what a command prints, not for how a process starts."""
    from eigentoken.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    command = ["eigentoken", *map(str, arguments)]
    code: object = 0
    with (
        mock.patch.object(sys, "argv", command),
        mock.patch.dict(os.environ, environment or {}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    printed, said = (each.buffer.getvalue().decode() for each in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(command, code if isinstance(code, int) else 1, printed, said)


def pytest_here(folder: Path, *arguments: object) -> tuple[int, str]:
    """Another pytest in this process, with the installed plugins and no settings: its exit code and what it prints.

    It looks at nothing above the folder (the folders of all other tests are there), and at its end not for what nobody holds.
    """
    out = io.StringIO()
    alone = ["-q", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-c", os.devnull]
    with redirect_stdout(out), mock.patch.dict(os.environ):
        os.environ.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)
        code = pytest.main([*alone, "--rootdir", str(folder), "--confcutdir", str(folder), *map(str, arguments)])
    return int(code), out.getvalue()


@contextmanager
def at_once(seconds: int = 120) -> Iterator[None]:
    """Ends work that has begun to compute what it should refuse; no measure of speed, so that a busy machine passes."""

    def stop(*_: object) -> None:
        raise AssertionError(f"still at work after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
