"""The book: one file a statement of the papers, found by walking the folders, none listed by hand.

For: the statements of the papers, their derivations, property tests and documents.
Enters: theory's statements and steps.  Leaves: the registered book, its ledger of evidence, LaTeX.
Below it: theory, numerics.
"""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["load"]

#: One folder a paper, or a family of papers.
CHAPTERS = ("power_method", "abella", "pham", "clusters", "new_results", "bounds")


def load() -> None:
    """Import every statement file; each registers what it states."""
    for chapter in CHAPTERS:
        package = importlib.import_module(f"{__name__}.{chapter}")
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda each: each.name):
            importlib.import_module(f"{package.__name__}.{module.name}")
    import eigentoken.proofs.subjects  # noqa: F401 - declares what they speak of
