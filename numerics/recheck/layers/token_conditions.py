"""Lengths of tokens and cosines between them, found again in balls (FLINT, 192 bits) from the tokens themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.layers.numbers import Ends, interval_differs

__all__ = ["conditions_differ"]

PRECISION = 192
FIELDS = ("shortest", "longest", "smallest_cosine", "largest_cosine")


def conditions_differ(stated: Mapping[str, Json], tokens: ArrayLike) -> Iterator[tuple[str, str | None]]:
    """Each of :data:`FIELDS` with None where its interval is confirmed, ``undecided: ...``, or what is wrong; null says nothing.

    >>> dict(conditions_differ({"shortest": [1, 1], **dict.fromkeys(FIELDS[1:])}, [[2.0, 0.0], [0.0, 1.0]]))["shortest"] is None
    True
    """
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        found = _found(np.asarray(tokens, dtype=np.float64))
    finally:
        flint.ctx.prec = old
    for name in FIELDS:
        ends = found[name]
        size = 1.0 if ends is None or name.endswith("cosine") else ends[1]
        yield name, interval_differs(stated[name], ends, size)


def _found(x: Any) -> dict[str, Ends | None]:
    rows = arb_mat(x.tolist())
    products = rows * rows.transpose()
    n = len(x)
    lengths = [products[i, i].sqrt() for i in range(n)]
    cosines = []
    if all(length > 0 for length in lengths):
        cosines = [products[i, j] / (lengths[i] * lengths[j]) for i in range(n) for j in range(i)]
    return {
        "shortest": _extreme(lengths, min),
        "longest": _extreme(lengths, max),
        "smallest_cosine": _extreme(cosines, min),
        "largest_cosine": _extreme(cosines, max),
    }


def _extreme(values: list[arb], choose: Any) -> Ends | None:
    """The least or the largest of numbers in balls, as floats rounded outward."""
    if not values:
        return None
    low, high = float(choose(float(v.lower()) for v in values)), float(choose(float(v.upper()) for v in values))
    return float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))
