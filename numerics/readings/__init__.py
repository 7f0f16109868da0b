"""The numeric readings of every word: certified (a verdict), generated (a plan), observed (a violation measure)."""

from __future__ import annotations

import importlib

__all__ = ["load"]

_MODULES = (
    "generated",
    "observed_conditions",
    "observed_claims",
    "certified_conditions",
    "certified_claims",
    "left_regions",
    "further_words",
)


def load() -> None:
    """Register the readings; later calls do nothing."""
    importlib.import_module("eigentoken.theory.claim_symbols")
    for name in _MODULES:
        importlib.import_module(f"{__name__}.{name}")
