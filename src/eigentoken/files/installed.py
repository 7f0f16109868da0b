"""Where packages are installed, what their text is, and where results are kept between runs."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

__all__ = ["cache_folder", "package_folders", "text_digest"]


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


def text_digest(packages: Sequence[ModuleType], libraries: Sequence[str]) -> str:
    """sha256 of all Python files of packages, and of the versions of the libraries that compute.

    What one text found is not taken for what another finds.

    >>> import eigentoken.files
    >>> text_digest([eigentoken.files], ["numpy"]) == text_digest([eigentoken.files], ["scipy"])
    False
    """
    digest = hashlib.sha256()
    digest.update(json.dumps([[name, version(name)] for name in libraries]).encode())
    for package in packages:
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
