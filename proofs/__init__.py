"""The book: one file a statement of the papers, found by walking the folders, none listed by hand.

For: the statements of the papers, their derivations, property tests and documents.
Enters: theory's statements and steps.  Leaves: the registered book, its ledger of evidence, LaTeX.
Below it: theory, numerics.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

__all__ = ["find", "load"]

#: One folder a paper, or a family of papers.
CHAPTERS = ("power_method", "abella", "pham", "clusters", "new_results", "bounds")


def load() -> None:
    """Import every statement file; each registers what it states."""
    for chapter in CHAPTERS:
        package = importlib.import_module(f"{__name__}.{chapter}")
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda each: each.name):
            importlib.import_module(f"{package.__name__}.{module.name}")
    import eigentoken.proofs.subjects  # noqa: F401 - declares what they speak of


def find(name: str) -> None:
    """Import the files that state this id, and no others (of an id that none states, nothing)."""
    for chapter in CHAPTERS:
        for file in sorted((Path(__file__).resolve().parent / chapter).glob("*.py")):
            if f'id="{name}"' in file.read_text(encoding="utf-8"):
                importlib.import_module(f"{__name__}.{chapter}.{file.stem}")
    import eigentoken.proofs.subjects  # noqa: F401 - declares what they speak of
