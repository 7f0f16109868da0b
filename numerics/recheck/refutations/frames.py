"""Moving frames by the second arithmetic: turns that commute with the weights, and the dynamics seen from them.

    ``y' = f(y) - sum_a w_a(y) S_a y``   (flow),     ``y+ = prod_a e^{-w_a(y) S_a} s F^m(y)``   (map),
    ``w_a(y) = speed_a + hold_a <S_a c, y - c>``

If ``F S = S F`` for every value matrix and ``S^T M + M S = 0`` for every score matrix and the metric, then y differs from a
trajectory by rotations alone; for a map ``S^3 = -S``, so that ``e^{tS} = 1 + sin(t) S + (1 - cos t) S^2``, and s is 1 or -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval, interval_jacobian
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space, Time

__all__ = ["framed_flow", "framed_map", "read_frame"]

#: More layers than this are not followed.
MOST_LAYERS = 12
Row = list[Any]


@dataclass(frozen=True)
class _Turn:
    matrix: list[Row]
    speed: Any
    hold: Any


@dataclass(frozen=True)
class _Frame:
    turns: tuple[_Turn, ...]
    period: int
    sign: int


def read_frame(look: IndependentInstance, data: Mapping[str, Any]) -> _Frame | None:
    """The frame of the data, where its turns are symmetries of the instance; else ``None``."""
    instance, period, sign = look.instance, data["period"], data["sign"]
    discrete = instance.system.time is Time.MAP
    if not instance.system.standard or instance.system.rotary is not None:
        return None
    if type(period) is not int or type(sign) is not int or sign not in (1, -1) or not 1 <= period <= MOST_LAYERS:
        return None
    if (not discrete and (period, sign) != (1, 1)) or (discrete and instance.system.space is Space.EUCLIDEAN):
        return None
    turns = []
    for turn in data["turns"]:
        S = sp.Matrix([[sp.Rational(str(entry)) for entry in row] for row in turn["generator"]])
        if S.shape != (instance.d, instance.d) or not _commutes(instance, S) or (discrete and S * S * S != -S):
            return None
        rows = [[interval(entry) for entry in S.row(i)] for i in range(instance.d)]
        turns.append(_Turn(rows, *(interval(sp.Rational(str(turn[each]))) for each in ("speed", "hold"))))
    return _Frame(tuple(turns), period, sign)


def _commutes(instance: Instance, S: sp.Matrix) -> bool:
    """Exactly: with every weight, and skew in the metric."""
    system = instance.system
    metric = sp.eye(instance.d) if instance.metric is None else sp.Matrix(instance.metric)
    if not (S.T * metric + metric * S).is_zero_matrix:
        return False
    for head in instance.parameters["heads"] if system.multihead else [instance.parameters]:
        if system.value is not None and head.get(system.value) is not None:
            F = sp.Matrix(head[system.value])
            if (F * S - S * F).applyfunc(sp.simplify) != sp.zeros(instance.d):
                return False
        if system.score is not None:
            M = sp.Matrix(head[system.score])
            if (S.T * M + M * S).applyfunc(sp.simplify) != sp.zeros(instance.d):
                return False
    return True


def _applied(matrix: Sequence[Row], x: Sequence[Any]) -> Row:
    return [_total(a * b for a, b in zip(row, x, strict=True)) for row in matrix]


def _total(values: Any) -> Any:
    found: Any = iv.mpf(0)
    for value in values:
        found = found + value
    return found


def _held(turn: _Turn, centre: Sequence[Row], box: Sequence[Row]) -> tuple[Row, Any]:
    """``hold S c`` as one row, and ``w`` over the box."""
    hold = [turn.hold * entry for token in centre for entry in _applied(turn.matrix, token)]
    away = [b - a for x, y in zip(centre, box, strict=True) for a, b in zip(x, y, strict=True)]
    return hold, turn.speed + _total(a * b for a, b in zip(hold, away, strict=True))


def framed_flow(
    frame: _Frame, centre: Sequence[Row], box: Sequence[Row], moved: Row, matrix: Sequence[Row]
) -> tuple[Row, list[Row]]:
    """The velocity of y at the centre and its Jacobian over the box, from those of the tokens."""
    d = len(centre[0])
    velocity, slopes = list(moved), [list(row) for row in matrix]
    for turn in frame.turns:
        hold, w = _held(turn, centre, box)
        at_centre = [entry for token in centre for entry in _applied(turn.matrix, token)]
        turned = [entry for token in box for entry in _applied(turn.matrix, token)]
        for i, row in enumerate(slopes):
            velocity[i] = velocity[i] - turn.speed * at_centre[i]
            for j in range(len(row)):
                row[j] = row[j] - turned[i] * hold[j]
                if i // d == j // d:
                    row[j] = row[j] - w * turn.matrix[i % d][j % d]
    return velocity, slopes


def framed_map(
    instance: Instance, frame: _Frame, centre: Sequence[Row], box: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """``y+`` at the centre, and its Jacobian over the box."""
    at, image, whole = list(centre), list(box), None
    for _ in range(frame.period):
        at, _ = interval_jacobian(instance, at)
        image, slopes = interval_jacobian(instance, image)
        whole = slopes if whole is None else _matmul(slopes, whole)
    assert whole is not None
    d = len(centre[0])
    turns = [(turn, *_held(turn, centre, box)) for turn in frame.turns]
    rotation = _rotation(frame.sign, [(turn.matrix, -w, False) for turn, _, w in turns], d)
    result = []
    for i in range(len(whole)):
        own = [whole[i - i % d + a] for a in range(d)]
        result.append([_total(rotation[i % d][a] * own[a][j] for a in range(d)) for j in range(len(whole))])
    for number, (_, hold, _) in enumerate(turns):
        changed = [(turn.matrix, -w, index == number) for index, (turn, _, w) in enumerate(turns)]
        slope = _rotation(frame.sign, changed, d)
        turned = [entry for token in image for entry in _applied(slope, token)]
        for i, row in enumerate(result):
            for j in range(len(row)):
                row[j] = row[j] - turned[i] * hold[j]
    still = _rotation(frame.sign, [(turn.matrix, -turn.speed, False) for turn in frame.turns], d)
    return [_applied(still, token) for token in at], result


def _rotation(sign: int, parts: Sequence[tuple[list[Row], Any, bool]], d: int) -> list[Row]:
    """``s prod_a e^{t_a S_a}``, one factor differentiated where that is asked."""
    made: list[Row] = [[iv.mpf(sign * int(a == b)) for b in range(d)] for a in range(d)]
    for S, angle, slope in parts:
        twice = _matmul(S, S)
        sine, cosine = iv.sin(angle), iv.cos(angle)
        first, second = (cosine, sine) if slope else (sine, 1 - cosine)
        unit = 0 if slope else 1
        factor = [[unit * int(a == b) + first * S[a][b] + second * twice[a][b] for b in range(d)] for a in range(d)]
        made = _matmul(made, factor)
    return made


def _matmul(a: Sequence[Row], b: Sequence[Row]) -> list[Row]:
    columns = list(zip(*b, strict=True))
    return [[_total(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]
