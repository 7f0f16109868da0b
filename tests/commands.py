"""The command line as a user calls it, in a process of its own that has the libraries loaded (``tools/warm.py``)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["eigentoken", "tool"]

TOOLS = Path(__file__).resolve().parents[1] / "tools"


def tool(name: str) -> ModuleType:
    """A module of ``tools/``, which is no package."""
    spec = importlib.util.spec_from_file_location(f"eigentoken_tools_{name}", TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
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
