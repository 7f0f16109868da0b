"""The command line as a user calls it, in a process of its own that has the libraries loaded (``tools/warm.py``)."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["at_once", "eigentoken", "tool"]

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
    *arguments: object, environment: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a command prints and its exit code; ``environment`` is added to ours."""
    command = [*_warm.command(), *map(str, arguments)]
    added = {**os.environ, **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, env=added, timeout=600, check=False, **options)


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
