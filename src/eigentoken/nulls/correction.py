"""The correction of a family of tests, and where what was drawn is kept."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentoken.documents.chance_document import ChanceTest, TokenTest

__all__ = ["correct", "keep_bytes"]


def correct(tests: Sequence[ChanceTest] | Sequence[TokenTest]) -> None:
    """Put in the q-values of one family of tests."""
    from numpy import array

    from eigentoken.numerics.layers.chance import benjamini_hochberg

    if tests:
        for each, q in zip(tests, benjamini_hochberg(array([each["p"] for each in tests])), strict=True):
            each["q"] = float(q)


def keep_bytes(path: Path, stream: io.BytesIO) -> None:
    """Write a file of the cache."""
    from eigentoken.files.writing import write_bytes

    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, stream.getvalue())
