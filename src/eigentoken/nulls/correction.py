"""The correction of families of tests, and where what was drawn is kept."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentoken.documents.chance_document import ChanceTest, TokenTest

__all__ = ["correct", "families", "keep_bytes"]

#: With fewer draws the smallest p-value is 0.05 or more.
FEW = 40


def families(tests: Sequence[ChanceTest | TokenTest]) -> list[list[ChanceTest | TokenTest]]:
    """The tests that are corrected together: of one null, of heads or of layers; those of fewer than ``FEW`` draws apart.

    Their p-values, at least ``2 / (draws + 1)``, cannot be small, whatever the weights are: among the others they would only
    raise every q-value.
    """
    found: dict[tuple[str, bool, bool], list[ChanceTest | TokenTest]] = {}
    for each in tests:
        found.setdefault((each["null"], each["head"] is None, each["draws"] < FEW), []).append(each)
    return list(found.values())


def correct(tests: Sequence[ChanceTest | TokenTest]) -> None:
    """Put in the q-values, family by family."""
    from numpy import array

    from eigentoken.numerics.layers.chance import benjamini_hochberg

    for family in families(tests):
        for each, q in zip(family, benjamini_hochberg(array([each["p"] for each in family])), strict=True):
            each["q"] = float(q)


def keep_bytes(path: Path, stream: io.BytesIO) -> None:
    """Write a file of the cache."""
    from eigentoken.files.writing import write_bytes

    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, stream.getvalue())
