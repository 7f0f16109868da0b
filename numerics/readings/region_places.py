"""Is a certified region away from a place?  In balls over a box that holds the region, for every state of it.

What is asked of the box (tokens apart, off a line, moving) is the same for all rotations of its states, so it is asked of
regions in a moving frame as well; only that a token is off an eigenvector is not.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings.contraction_regions import BITS_HERE, Region, region_box
from eigentoken.theory.classification.jacobians import ball_setting
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.language.places import (
    AntipodalAt,
    AtMostClusters,
    BipartiteAt,
    Clustering,
    ConsensusAt,
    ConsensusSet,
    EachAt,
    Equiangular,
    Place,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.system import Time

__all__ = ["box_avoids", "region_avoids", "region_moves"]


def region_avoids(place: Place, case: Case, region: Region) -> bool:
    """Does no state of the region (its box) belong to the place?  ``False`` where that is not certain."""
    with precision(BITS_HERE):
        return box_avoids(place, case, region_box(region, region.half_widths()), turned=bool(region.frame.turns))


def box_avoids(place: Place, case: Case, box: Any, *, turned: bool = False) -> bool:
    """The same of a box of states; with ``turned`` of all their rotations that commute with the weights."""
    with precision(BITS_HERE):
        if isinstance(place, Zero):
            return any(any(abs(a) > 0 for a in token) for token in box)
        if isinstance(place, SomeEquilibrium | Clustering):
            return _moves(case, box)
        if isinstance(place, Polygonal):
            pushes = ball_setting(case.instance, BITS_HERE).influence(box)
            return any(_not_zero(a) for token in pushes for a in token)
        if isinstance(place, AtMostClusters):
            return _parted_tokens(box) > place.count
        if isinstance(place, StateRegion):
            from eigentoken.numerics.readings.region_membership import margin_signs

            changed = turned and not (place.keeps_turned() and case.instance.metric is None)
            return not changed and -1 in margin_signs(place, case, box, BITS_HERE)
        if isinstance(place, Equiangular):
            return case.instance.metric is None and _unequal_angles(box)
        if _pair_off(place, box):
            return True
        if isinstance(place, ConsensusAt | BipartiteAt | EachAt) and not turned:
            return _off_eigenvector(place, case, box)
    return False


def _parted_tokens(box: Any) -> int:
    """Tokens of which no two can be equal, at least so many: each that is apart from all that were counted."""
    kept: list[Any] = []
    for token in box:
        if all(any(_not_zero(a - b) for a, b in zip(token, known, strict=True)) for known in kept):
            kept.append(token)
    return len(kept)


def _pair_off(place: Place, box: Any) -> bool:
    """Are two tokens of the box on different lines, or (for consensus) on opposite sides, for certain?"""
    for i, first in enumerate(box):
        for second in box[:i]:
            apart, opposite = _parted(first, second)
            if isinstance(place, ConsensusAt | ConsensusSet) and (apart or opposite):
                return True
            if isinstance(place, BipartiteAt | AntipodalAt | EachAt) and apart:
                return True
    return False


def region_moves(case: Case, region: Region) -> bool:
    """Does no state of the region rest?  Then a limit in it turns for ever, or goes round a cycle."""
    with precision(BITS_HERE):
        return _moves(case, region_box(region, region.half_widths()))


def _moves(case: Case, box: Any) -> bool:
    image = ball_setting(case.instance, BITS_HERE).advance(box)
    if case.instance.system.time is Time.MAP:
        return any(_not_zero(b - a) for x, y in zip(box, image, strict=True) for a, b in zip(x, y, strict=True))
    return any(_not_zero(a) for token in image for a in token)


def _not_zero(value: Any) -> bool:
    return bool(value > 0 or value < 0)


def _dot(x: Any, y: Any) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))


def _parted(first: Any, second: Any) -> tuple[bool, bool]:
    """Certainly not on one line; certainly on opposite sides."""
    product = _dot(first, second)
    return bool(product * product < _dot(first, first) * _dot(second, second)), bool(product < 0)


def _unequal_angles(box: Any) -> bool:
    """Two squares, or two inner products, that certainly differ."""
    squares = [_dot(x, x) for x in box]
    inner = [_dot(x, y) for i, x in enumerate(box) for y in box[:i]]
    gaps = [each - squares[0] for each in squares[1:]] + [each - inner[0] for each in inner[1:]]
    return any(_not_zero(each) for each in gaps)


def _off_eigenvector(place: ConsensusAt | BipartiteAt | EachAt, case: Case, box: Any) -> bool:
    """Some token of the box is certainly not along the k-th eigenvector: their cosine is below 1 in modulus."""
    try:
        vector = case.eigenvector(place.term, case.integer(place.index))
    except Exception:
        return False
    v = [expression_ball(entry, BITS_HERE) for entry in vector]
    return any(_parted(token, v)[0] for token in box)
