"""The numeric readings of every word: certified (a verdict on one exact instance), observed (a violation measure).

For: deciding and measuring what :mod:`eigentoken.theory.language` only says; :func:`load` fills the tables.
Enters: a word and an exact instance, or a batch of trajectories.  Leaves: a verdict, or how far it is from holding.
Below it: theory, certified, dynamics, instances (which generate), author_code.
"""

from __future__ import annotations

import importlib

from eigentoken.numerics.instances.plans import load as load_generators

__all__ = ["load"]

_MODULES = (
    "observed_claims",
    "certified_conditions",
    "certified_matrix_words",
    "certified_claims",
    "formulas",
    "invariance",
    "region_membership",
    "opposites_and_rates",
    "contractions",
)


def load() -> None:
    """Register the readings; later calls do nothing."""
    load_generators()
    for name in _MODULES:
        importlib.import_module(f"{__name__}.{name}")
