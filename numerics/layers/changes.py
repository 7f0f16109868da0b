"""Certified numbers of layers and heads beside those of other weights of the same shape: which way did each go?

A difference is certified where the two enclosures part, ``high(before) < low(after)`` or the other way round; enclosures that
meet say nothing, whatever their middles are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from eigentoken.documents.check_document import Head, Layer
from eigentoken.documents.check_document import Interval as IntervalDocument
from eigentoken.documents.compare_document import Direction
from eigentoken.numerics.layers.quantities import Interval, as_json, divided_interval

__all__ = ["beyond_both_ends", "directions", "head_quantities", "layer_quantities", "parted"]


def parted(before: IntervalDocument, after: IntervalDocument) -> Direction:
    """``rises`` or ``falls`` where the enclosures are disjoint, else ``not parted``; unknown ends part from nothing.

    >>> parted([1.0, 1.5], [1.6, 2.0]), parted([1.0, 1.5], [1.5, 2.0]), parted(None, [0.0, 1.0])
    ('rises', 'not parted', 'not parted')
    """
    if before is None or after is None:
        return "not parted"
    (low, high), (later_low, later_high) = ([float(end) for end in ends] for ends in (before, after))
    return "rises" if high < later_low else "falls" if later_high < low else "not parted"


def directions(values: Sequence[IntervalDocument]) -> list[Direction]:
    """From each enclosure to the next."""
    return [parted(before, after) for before, after in itertools.pairwise(values)]


def beyond_both_ends(values: Sequence[IntervalDocument]) -> list[Direction]:
    """``rises`` where an enclosure between the first and the last is above both, ``falls`` where one is below both.

    >>> beyond_both_ends([[3.0, 3.1], [1.0, 1.1], [2.0, 2.1]]), beyond_both_ends([[1.0, 1.1], [1.05, 2.0], [3.0, 3.1]])
    (['falls'], [])
    """
    turns = [(parted(values[0], each), parted(values[-1], each)) for each in values[1:-1]]
    ways: tuple[Direction, ...] = ("rises", "falls")
    return [way for way in ways if (way, way) in turns]


def _ends(ends: IntervalDocument) -> Interval | None:
    return None if ends is None else (float(ends[0]), float(ends[1]))


def _relative(above: IntervalDocument, below: IntervalDocument) -> IntervalDocument:
    """The enclosure of a quotient of two sizes, or ``None`` where the divisor may be zero or an end is open."""
    over, under = _ends(above), _ends(below)
    if over is None or under is None or not (math.isfinite(over[1]) and math.isfinite(under[1])):
        return None
    return as_json(divided_interval(over, under))


def layer_quantities(layer: Layer) -> dict[str, IntervalDocument]:
    """The enclosures of one layer that are compared, by name."""
    to_symmetric, score_to_symmetric = layer.get("distance_to_symmetric"), layer.get("score_distance_to_symmetric")
    return {
        "leading eigenvalue": layer["leading_eigenvalue"],
        "gap": layer["gap"],
        "alpha star": layer["alpha_star"],
        "norm": layer["norm"],
        "distance to symmetric": to_symmetric,
        "distance to symmetric over norm": _relative(to_symmetric, layer["norm"]),
        "score distance to symmetric": score_to_symmetric,
    }


def _leading(head: Head) -> IntervalDocument:
    """The real part of the leader of U, where it was isolated: centre and radius of its disc, rounded outward."""
    found = head["value_leader"]["details"].get("eigenvalue")
    if not found:
        return None
    middle, radius = found["re"], found["radius"]
    if middle is None or radius is None:
        return None
    return as_json((math.nextafter(middle - radius, -math.inf), math.nextafter(middle + radius, math.inf)))


def head_quantities(head: Head) -> dict[str, IntervalDocument]:
    """The enclosures of one head that are compared, by name."""
    score, value = head["score"], head["value"]
    return {
        "leading eigenvalue": _leading(head),
        "score norm": score["norm"],
        "score distance to symmetric over norm": _relative(score["distance_to_symmetric"], score["norm"]),
        "value norm": value["norm"],
        "value distance to symmetric over norm": _relative(value["distance_to_symmetric"], value["norm"]),
    }
