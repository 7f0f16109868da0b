"""Frames that move with the tokens: rotations that commute with the weights, the sign, and several layers at once.

If ``S`` commutes with every value matrix and ``S^T M + M S = 0`` for every score matrix (and for the metric), then
``f(e^{tS} x) = e^{tS} f(x)`` with the same rotation on every token.  For any function ``w`` of the state, y with

    ``y' = f(y) - sum_a w_a(y) S_a y``   (flow),     ``y+ = prod_a e^{-w_a(y) S_a} s F^m(y)``   (map, ``S_a^3 = -S_a``)

differs from a trajectory x only by rotations (and, for a map, by the sign ``s``, ``F(-x) = -F(x)``, and by the layers that are
passed over): ``x = R y``.  With ``w_a(y) = speed_a + hold_a <S_a c, y - c>`` the direction in which a family of rotated states
is neutral is held back at the centre c, so that y can contract where x only approaches the family, or turns for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, fmpq

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import ball_setting
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.systems.system import Space, Time

__all__ = ["STILL", "Frame", "Turn", "frame_velocity", "frames_near", "generators", "turned_image"]

Rows = tuple[tuple[Fraction, ...], ...]
Floats = np.ndarray[Any, np.dtype[np.float64]]
BITS_HERE = 64
#: Several layers that are looked at together.
PERIODS = (1, 2, 3, 4)
#: A state that comes back nearer than this may be on a cycle: a proposal.
NEAR = 0.05
#: The speeds of a frame are multiples of 2^-FINE.
FINE = 44


@dataclass(frozen=True)
class Turn:
    """One generator S with ``w(y) = speed + hold <S c, y - c>``; everything rational."""

    generator: Rows
    speed: Fraction
    hold: Fraction

    def as_data(self) -> dict[str, Any]:
        return {
            "generator": [[str(entry) for entry in row] for row in self.generator],
            "speed": str(self.speed),
            "hold": str(self.hold),
        }


@dataclass(frozen=True)
class Frame:
    """Turns; for a map also how many layers are one step (``period``), and the sign after them."""

    turns: tuple[Turn, ...] = ()
    period: int = 1
    sign: int = 1

    def as_data(self) -> dict[str, Any]:
        return {"turns": [turn.as_data() for turn in self.turns], "period": self.period, "sign": self.sign}


#: The frame of the tokens themselves.
STILL = Frame()


def generators(instance: Instance) -> list[Rows]:
    """A basis of the rational S that commute with the weights: ``F S = S F``, ``S^T M + M S = 0``, ``S^T W + W S = 0``.

    ``S = W^-1 K`` with K skew (W = I on the sphere and in Euclidean space); empty where the weights are not rational, depend on
    positions, or belong to an equation of another package.
    """
    system, d = instance.system, instance.d
    if not system.standard or system.rotary is not None or d < 2:
        return []
    metric = sp.eye(d) if instance.metric is None else sp.Matrix([list(row) for row in instance.metric])
    pairs = [(a, b) for a in range(d) for b in range(a)]
    units = []
    for a, b in pairs:
        K = sp.zeros(d, d)
        K[a, b], K[b, a] = 1, -1
        units.append(metric.inv() * K if instance.metric is not None else K)
    rows = []
    for head in instance.parameters.get("heads", (instance.parameters,)):
        for name, commutes in ((system.value, True), (system.score, False)):
            if name is None or head.get(name) is None:
                continue
            X = sp.Matrix([list(row) for row in head[name]])
            if not all(entry.is_Rational for entry in X):
                return []
            gaps = [X * S - S * X if commutes else S.T * X + X * S for S in units]
            rows += [[gap[i, j] for gap in gaps] for i in range(d) for j in range(d)]
    solved = sp.Matrix(rows).nullspace() if rows else [sp.eye(len(units)).col(i) for i in range(len(units))]
    found = []
    for vector in solved:
        S = sum((c * unit for c, unit in zip(vector, units, strict=True)), sp.zeros(d, d))
        found.append(tuple(tuple(Fraction(int(e.p), int(e.q)) for e in S.row(i)) for i in range(d)))
    return found


def frames_near(instance: Instance, centre: Rows) -> list[Frame]:
    """Frames in which the centre is (nearly) at rest, by floats: proposals; not the still one."""
    discrete = instance.system.time is Time.MAP
    matrices = _independent([each for each in generators(instance) if not discrete or _plane(each)], centre)
    at = np.array([[float(a) for a in token] for token in centre])
    if not discrete:
        moved = _advanced(instance, at)
        if not np.isfinite(moved).all():
            return []
        return [Frame(_turns(matrices, at, _speeds(matrices, at, moved)))] if matrices else []
    if not instance.system.standard or instance.system.space is Space.EUCLIDEAN:
        return []
    found: list[tuple[float, int, Frame]] = []
    image = at
    for period in PERIODS:
        image = _advanced(instance, image)
        if not np.isfinite(image).all():
            break
        for sign in (1, -1):
            angles = _angles(matrices, at, sign * image)
            rest = float(np.abs(_turned(matrices, angles, sign * image) - at).max())
            frame = Frame(_turns(matrices, at, angles), period, sign)
            if rest < NEAR and (matrices or (period, sign) != (1, 1)):
                found.append((rest, 2 * period - sign, frame))
    least = min((rest for rest, _, _ in found), default=0.0)
    ordered = sorted((each for each in found if each[0] < 10 * least + 1e-6), key=lambda each: each[1])
    return [frame for _, _, frame in ordered[:1]]


def _plane(generator: Rows) -> bool:
    S = sp.Matrix([[sp.Rational(e.numerator, e.denominator) for e in row] for row in generator])
    return bool(S * S * S == -S)


def _floats(generator: Rows) -> Floats:
    return np.array([[float(entry) for entry in row] for row in generator])


def _independent(matrices: Sequence[Rows], centre: Rows) -> list[Rows]:
    """Generators whose directions at the centre are independent, in floats."""
    at = np.array([[float(a) for a in token] for token in centre])
    kept: list[Rows] = []
    columns: list[Floats] = []
    for each in matrices:
        column = (at @ _floats(each).T).ravel()
        if np.linalg.svd(np.stack([*columns, column]), compute_uv=False)[-1] > 1e-3:
            kept.append(each)
            columns.append(column)
    return kept


def _advanced(instance: Instance, at: Floats) -> Floats:
    with precision(BITS_HERE):
        setting = ball_setting(instance, BITS_HERE)
        image = setting.advance(tuple(tuple(arb(float(a)) for a in token) for token in at))
        return np.array([[float(a.mid()) for a in token] for token in image])


def _speeds(matrices: Sequence[Rows], at: Floats, moved: Floats) -> list[float]:
    """``f(c) ~ sum_a speed_a S_a c`` in the sense of least squares."""
    columns = np.stack([(at @ _floats(each).T).ravel() for each in matrices], 1)
    return [float(each) for each in np.linalg.lstsq(columns, moved.ravel(), rcond=None)[0]]


def _turns(matrices: Sequence[Rows], at: Floats, speeds: Sequence[float]) -> tuple[Turn, ...]:
    made = []
    for each, speed in zip(matrices, speeds, strict=True):
        size = float(np.square(at @ _floats(each).T).sum())
        made.append(Turn(each, Fraction(round(speed * 2**FINE), 2**FINE), Fraction(round(2**16 / size), 2**16)))
    return tuple(made)


def _rotation(S: Floats, angle: float) -> Floats:
    return np.asarray(np.eye(len(S)) + np.sin(angle) * S + (1 - np.cos(angle)) * S @ S)


def _turned(matrices: Sequence[Rows], angles: Sequence[float], z: Floats) -> Floats:
    whole = np.eye(z.shape[1])
    for each, angle in zip(matrices, angles, strict=True):
        whole = whole @ _rotation(_floats(each), -angle)
    return z @ whole.T


def _angles(matrices: Sequence[Rows], at: Floats, image: Floats) -> list[float]:
    """Angles for which ``prod_a e^{-angle_a S_a} image`` is near the centre: each in turn, in closed form."""
    angles = [0.0] * len(matrices)
    for _ in range(12 if len(matrices) > 1 else 1):
        for number, each in enumerate(matrices):
            S = _floats(each)
            after = _turned(matrices[number + 1 :], angles[number + 1 :], image)
            before = np.eye(len(S))
            for other, angle in zip(matrices[:number], angles[:number], strict=True):
                before = before @ _rotation(_floats(other), -angle)
            goal = at @ before
            turned, twice = after @ S.T, after @ (S @ S).T
            angles[number] = float(np.arctan2(-(turned * goal).sum(), -(twice * goal).sum()))
    return angles


# --- in balls --------------------------------------------------------------------------------------------------------


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _times(matrix: Sequence[Sequence[Any]], x: Sequence[Any]) -> list[Any]:
    return [sum((a * b for a, b in zip(row, x, strict=True)), arb(0)) for row in matrix]


def _held(turn: Turn, centre: Any, box: Any) -> tuple[list[list[arb]], list[arb], Any]:
    """S in balls, ``hold S c`` flat, and ``w`` over the box."""
    S = [[_ball(entry) for entry in row] for row in turn.generator]
    hold = [_ball(turn.hold) * entry for token in centre for entry in _times(S, token)]
    away = [b - a for x, y in zip(centre, box, strict=True) for a, b in zip(x, y, strict=True)]
    return S, hold, _ball(turn.speed) + sum((a * b for a, b in zip(hold, away, strict=True)), arb(0))


def frame_velocity(frame: Frame, centre: Any, box: Any) -> tuple[list[arb], list[list[arb]]]:
    """What the frame of a flow adds: ``-sum_a speed_a S_a c`` at the centre, and its Jacobian over the box."""
    d, size = len(centre[0]), len(centre) * len(centre[0])
    added = [arb(0)] * size
    slopes = [[arb(0)] * size for _ in range(size)]
    for turn in frame.turns:
        S, hold, w = _held(turn, centre, box)
        speed = _ball(turn.speed)
        added = [a - speed * b for a, b in zip(added, [e for x in centre for e in _times(S, x)], strict=True)]
        moved = [entry for token in box for entry in _times(S, token)]
        for i in range(size):
            for j in range(size):
                slopes[i][j] = slopes[i][j] - moved[i] * hold[j]
                if i // d == j // d:
                    slopes[i][j] = slopes[i][j] - w * S[i % d][j % d]
    return added, slopes


def _product(a: Sequence[Sequence[Any]], b: Sequence[Sequence[Any]]) -> list[list[Any]]:
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, column, strict=True)), arb(0)) for column in columns] for row in a]


def turned_image(
    frame: Frame, centre: Any, box: Any, image: Any, slopes: Sequence[Sequence[Any]]
) -> tuple[list[list[arb]], list[list[arb]]]:
    """``y+`` and its Jacobian over the box, from ``F^m`` and the Jacobian of that over the box."""
    d, size = len(centre[0]), len(slopes)
    unit = [[arb(int(a == b)) for b in range(d)] for a in range(d)]
    parts = []
    for turn in frame.turns:
        S, hold, w = _held(turn, centre, box)
        sine, cosine = (-w).sin(), (-w).cos()
        twice = _product(S, S)
        rotation = [[unit[a][b] + sine * S[a][b] + (1 - cosine) * twice[a][b] for b in range(d)] for a in range(d)]
        change = [[cosine * S[a][b] + sine * twice[a][b] for b in range(d)] for a in range(d)]
        parts.append((rotation, change, hold))

    def whole(changed: int | None) -> list[list[Any]]:
        made = [[frame.sign * entry for entry in row] for row in unit]
        for number, (rotation, change, _) in enumerate(parts):
            made = _product(made, change if number == changed else rotation)
        return made

    Q = whole(None)
    after = [_times(Q, token) for token in image]
    result = []
    for i in range(size):
        rows = [slopes[i - i % d + a] for a in range(d)]
        result.append([sum((Q[i % d][a] * rows[a][j] for a in range(d)), arb(0)) for j in range(size)])
    for number, (_, _, hold) in enumerate(parts):
        turned = [entry for token in image for entry in _times(whole(number), token)]
        for i in range(size):
            for j in range(size):
                result[i][j] = result[i][j] - turned[i] * hold[j]
    return after, result
