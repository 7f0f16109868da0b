"""Where packages are installed: what was read of them stays true until one of these folders changes."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["package_folders"]


def package_folders() -> tuple[tuple[str, int], ...]:
    """Where Python looks for packages, and when each folder last changed: a package that is installed or removed changes one.

    Reading the entry points of all packages takes longer than many an answer, so they are kept under this.
    """
    return tuple((each, Path(each).stat().st_mtime_ns if Path(each).exists() else 0) for each in sys.path)
