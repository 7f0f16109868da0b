"""Where results and samples are kept between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """``EIGENTOKEN_CACHE``, else eigentoken/ in the cache folder that the platform gives to the user."""
    if given := os.environ.get("EIGENTOKEN_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "eigentoken" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "eigentoken"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eigentoken"
