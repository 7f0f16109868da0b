"""What the check of a layer costs, from measured layers: processor time and memory as powers of the width.

Between two measured widths a cost is read off the line through them in logarithms; beyond the widest one time grows with
the last exponent that was measured, and at least as ``d^3`` (one eigenvalue decomposition), memory as ``d^2`` beside what the
program itself takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["LayerCost", "exponents", "layer_cost"]


@dataclass(frozen=True)
class LayerCost:
    """Processor seconds and peak bytes of one layer; ``measured``: at this width, not read off others."""

    d: int
    seconds: float
    bytes: float
    measured: bool = True


def exponents(known: Sequence[LayerCost]) -> list[float]:
    """The exponent of the time between each two neighbouring widths.

    >>> [round(each, 2) for each in exponents([LayerCost(100, 1.0, 0), LayerCost(200, 8.0, 0), LayerCost(400, 32.0, 0)])]
    [3.0, 2.0]
    """
    ordered = sorted(known, key=lambda each: each.d)
    pairs = pairwise(ordered)
    return [math.log(b.seconds / a.seconds) / math.log(b.d / a.d) for a, b in pairs]


def layer_cost(d: int, known: Sequence[LayerCost]) -> LayerCost:
    """The cost of a layer of width d, from two or more measured ones.

    >>> known = [LayerCost(100, 1.0, 1e9), LayerCost(200, 4.0, 1.3e9)]
    >>> layer_cost(400, known)
    LayerCost(d=400, seconds=32.0, bytes=2500000000.0, measured=False)
    """
    ordered = sorted(known, key=lambda each: each.d)
    if len(ordered) < 2 or d < 1:
        raise ValueError(f"a cost needs two measured widths and a positive width, got {len(ordered)} and {d}")
    found = next((each for each in ordered if each.d == d), None)
    if found is not None:
        return found
    place = min(max(1, sum(each.d < d for each in ordered)), len(ordered) - 1)
    low, high = ordered[place - 1], ordered[place]
    slope = exponents([low, high])[0]
    if d > high.d:
        slope = max(3.0, slope)
    start = high if d > high.d else low
    squares = (high.bytes - low.bytes) / (high.d**2 - low.d**2)
    memory = max(low.bytes, high.bytes + max(0.0, squares) * (d**2 - high.d**2)) if d > low.d else low.bytes
    return LayerCost(d, start.seconds * (d / start.d) ** slope, memory, False)
