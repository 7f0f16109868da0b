"""Where packages are installed, and where results are kept between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder", "package_folders"]


def package_folders() -> tuple[tuple[str, int], ...]:
    """Where Python looks for packages, and when each folder last changed: a package that is installed or removed changes one.

    Reading the entry points of all packages takes longer than many an answer, so they are kept under this.
    """
    return tuple((each, Path(each).stat().st_mtime_ns if Path(each).exists() else 0) for each in sys.path)


def cache_folder() -> Path:
    """``EIGENTOKEN_CACHE``, else eigentoken/ in the cache folder that the platform gives to the user."""
    if given := os.environ.get("EIGENTOKEN_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "eigentoken" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "eigentoken"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eigentoken"
