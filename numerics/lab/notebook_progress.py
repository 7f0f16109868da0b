"""Progress of a long search under a cell of a notebook: one line, kept up to date, and taken away at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from eigentoken.numerics.lab.report import Progress

__all__ = ["NotebookLine", "notebook_line"]

#: A search of so many seconds shows nothing: its result comes at once.
SOON = 5.0


class NotebookLine:
    """A watcher that shows the line in the output of the cell; ``display`` is that of IPython."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def __call__(self, progress: Progress) -> None:
        if self._handle is None and progress.seconds > SOON:
            self._handle = self._display({"text/plain": str(progress)}, raw=True, display_id=True)
        elif self._handle is not None:
            self._handle.update({"text/plain": str(progress)}, raw=True)

    def close(self) -> None:
        """Take the line away."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def notebook_line() -> NotebookLine | None:
    """A watcher where the code runs in the kernel of a notebook, else ``None``; IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    return NotebookLine(import_module("IPython.display").display)
