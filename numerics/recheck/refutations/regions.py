"""Ellipsoids that contract, in intervals, from the data of a certificate; and whether their states are away from a place.

The dynamics is that of the tokens, or that in a moving frame (:mod:`.frames`); nothing of the data is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.refutations.frames import framed_flow, framed_map, read_frame
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval, interval_jacobian, is_definite
from eigentoken.numerics.recheck.refutations.region_truths import outside
from eigentoken.theory.language import places as points
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.system import Time

__all__ = ["box_is_far", "contracts", "far", "fraction", "holds_start", "total"]


def contracts(look: IndependentInstance, data: Mapping[str, Json], *, framed: bool = False) -> bool:
    """Does the ellipsoid of the data contract at its rate, and go into itself (intervals, closed-form Jacobian)?

    ``framed``: in the moving frame of the data, whose turns must commute with the weights.
    """
    shape, centre = _rows(data["shape"]), _rows(data["centre"])
    eps, rate = (fraction(data[each]) for each in ("eps", "rate"))
    size = len(shape)
    if len(centre) != look.instance.n or any(len(token) != look.instance.d for token in centre):
        return False
    if size != look.instance.n * look.instance.d or any(len(row) != size for row in shape) or not is_definite(shape):
        return False
    widths = _widths(data)
    for a in range(size):  # the box holds the ellipsoid
        corner = (iv.mpf(float(widths[a])) / eps) ** 2
        bordered = [[*row, iv.mpf(int(i == a))] for i, row in enumerate(shape)]
        bordered.append([*(iv.mpf(int(i == a)) for i in range(size)), corner])
        if not is_definite(bordered):
            return False
    moved, matrix = _dynamics(look, data, centre, framed)
    discrete = look.instance.system.time is Time.MAP
    if not matrix or not (eps.a > 0 and rate.a > 0 and (rate.b < 1 or not discrete)):
        return False
    product = [[total(shape[i][k] * matrix[k][j] for k in range(size)) for j in range(size)] for i in range(size)]
    if discrete:
        gap = [
            [rate * rate * shape[i][j] - total(matrix[k][i] * product[k][j] for k in range(size)) for j in range(size)]
            for i in range(size)
        ]
        room = (1 - rate) * eps
    else:
        gap = [[-(product[i][j] + product[j][i]) - 2 * rate * shape[i][j] for j in range(size)] for i in range(size)]
        room = rate * eps
    half = [[(gap[i][j] + gap[j][i]) / 2 for j in range(size)] for i in range(size)]
    square = total(moved[i] * shape[i][j] * moved[j] for i in range(size) for j in range(size))
    return bool(is_definite(half) and square.b < (room * room).a)


def _dynamics(
    look: IndependentInstance, data: Mapping[str, Any], centre: list[list[Any]], framed: bool
) -> tuple[list[Any], list[list[Any]]]:
    """What moves the centre, and the Jacobian over the box; no Jacobian where the frame of the data is none."""
    box = region_box(look, data)
    pull = fraction(data["pull"]) if look.pulled() else None
    frame = read_frame(look, data) if framed else None
    if framed and frame is None:
        return [], []
    if look.instance.system.time is Time.MAP:
        if frame is None:
            image, matrix = interval_jacobian(look.instance, centre)[0], interval_jacobian(look.instance, box)[1]
        else:
            image, matrix = framed_map(look.instance, frame, centre, box)
        return [b - a for x, y in zip(centre, image, strict=True) for a, b in zip(x, y, strict=True)], matrix
    image, _ = interval_jacobian(look.instance, centre, pull)
    _, matrix = interval_jacobian(look.instance, box, pull)
    moved = [entry for token in image for entry in token]
    return (moved, matrix) if frame is None else framed_flow(frame, centre, box, moved, matrix)


def holds_start(look: IndependentInstance, data: Mapping[str, Any]) -> bool:
    """Is the exact state of the instance in the ellipsoid?  Then it holds an open set of states, and those of the manifold."""
    state = [interval(entry) for token in look.instance.tokens for entry in token]
    away = [a - b for a, b in zip(state, (fraction(c) for token in data["centre"] for c in token), strict=True)]
    square = total(
        a * fraction(p) * b for a, row in zip(away, data["shape"], strict=True) for b, p in zip(away, row, strict=True)
    )
    eps = fraction(data["eps"])
    return bool(square.b < (eps * eps).a)


def far(look: IndependentInstance, place: Any, data: Mapping[str, Any], *, framed: bool = False) -> bool:
    """No state of the box is at the place: tokens stay apart, off the eigenvector, or move, in interval arithmetic.

    With ``framed`` no rotation of a state of the box is.
    """
    return box_is_far(look, place, region_box(look, data), turned=framed and bool(data["turns"]))


def box_is_far(look: IndependentInstance, place: Any, box: list[list[Any]], *, turned: bool = False) -> bool:
    """The same of a box of states; with ``turned`` of all their rotations that commute with the weights."""
    if isinstance(place, points.SomeEquilibrium | points.Clustering):
        return _box_moves(look, box)
    if isinstance(place, points.Polygonal):
        return not look.instance.system.multihead and any(_not_zero(a) for mean in _means(look, box) for a in mean)
    if isinstance(place, points.AtMostClusters):
        return _different(box) > place.count
    if isinstance(place, StateRegion):
        changed = turned and not (place.keeps_turned() and look.instance.metric is None)
        return not changed and outside(place, look, [a for token in box for a in token])
    if isinstance(place, points.Equiangular):
        return look.instance.metric is None and _unequal(box)
    if _two_tokens_off(place, box):
        return True
    if isinstance(place, points.ConsensusAt | points.BipartiteAt | points.EachAt):
        if turned:
            return False
        vector = look.eigenvector(look.matrix(place.term), int(sp.sympify(place.index).subs(look.sizes())))
        return vector is not None and any(_parted(x, [interval(e) for e in vector])[0] for x in box)
    return isinstance(place, points.Zero) and any(_not_zero(a) for x in box for a in x)


def _different(box: Any) -> int:
    """So many tokens are certainly different from each other over the box."""
    kept: list[Any] = []
    for x in box:
        if all(any(_not_zero(a - b) for a, b in zip(x, y, strict=True)) for y in kept):
            kept.append(x)
    return len(kept)


def _two_tokens_off(place: Any, box: Any) -> bool:
    """Some pair of tokens is never on one line, or (for consensus) always on opposite sides."""
    for i, x in enumerate(box):
        for y in box[:i]:
            apart, opposite = _parted(x, y)
            if isinstance(place, points.ConsensusAt | points.ConsensusSet) and (apart or opposite):
                return True
            if isinstance(place, points.BipartiteAt | points.AntipodalAt | points.EachAt) and apart:
                return True
    return False


def _box_moves(look: IndependentInstance, box: list[list[Any]]) -> bool:
    """No state of the box is at rest."""
    image, _ = interval_jacobian(look.instance, box)
    if look.instance.system.time is Time.FLOW:
        return any(_not_zero(a) for token in image for a in token)
    return any(_not_zero(b - a) for x, y in zip(box, image, strict=True) for a, b in zip(x, y, strict=True))


def _parted(x: list[Any], y: list[Any]) -> tuple[bool, bool]:
    product = total(a * b for a, b in zip(x, y, strict=True))
    norms = total(a * a for a in x) * total(b * b for b in y)
    return bool((product * product - norms).b < 0), bool(product.b < 0)


def _unequal(box: list[list[Any]]) -> bool:
    """Squares or inner products that certainly differ."""
    gram = [[total(a * b for a, b in zip(x, y, strict=True)) for y in box] for x in box]
    numbers = range(len(box))
    gaps = [gram[i][i] - gram[0][0] for i in numbers]
    gaps += [gram[i][j] - gram[1][0] for i in numbers for j in range(i)]
    return any(_not_zero(each) for each in gaps)


def _means(look: IndependentInstance, box: list[list[Any]]) -> Any:
    """``sum_j a_ij x_j`` over the box, for one head."""
    instance = look.instance
    loops = LoopAlgebra(iv.exp, iv.sqrt, iv.mpf(1))
    name = instance.system.score
    score = None if name is None else [[interval(sp.sympify(e)) for e in row] for row in instance.parameters[name]]
    return loops.average(loops.attention(box, score, instance.mask, instance.system.over_root_d), box)


def _widths(data: Mapping[str, Any]) -> Any:
    floats = np.array([[float(Fraction(str(entry))) for entry in row] for row in data["shape"]])
    with np.errstate(invalid="ignore"):
        return float(Fraction(str(data["eps"]))) * np.sqrt(np.diag(np.linalg.inv(floats))) * 1.02


def region_box(look: IndependentInstance, data: Mapping[str, Any]) -> list[list[Any]]:
    """Intervals around the centre that hold the ellipsoid (which :func:`contracts` checks)."""
    widths, d = _widths(data), look.instance.d
    return [
        [fraction(x) + iv.mpf([-float(widths[i * d + a]), float(widths[i * d + a])]) for a, x in enumerate(token)]
        for i, token in enumerate(data["centre"])
    ]


def _rows(value: Any) -> list[list[Any]]:
    return [[fraction(entry) for entry in row] for row in value]


def _not_zero(value: Any) -> bool:
    return bool(value.a > 0 or value.b < 0)


def fraction(value: Any) -> Any:
    """The interval of a rational number that is given as text."""
    number = Fraction(str(value))
    return iv.mpf(number.numerator) / iv.mpf(number.denominator)


def total(values: Any) -> Any:
    """A sum of intervals."""
    found: Any = iv.mpf(0)
    for value in values:
        found = found + value
    return found
