"""Contraction regions: ellipsoids ``{|x - c|_P <= eps}`` of the ambient space in which all trajectories come together.

A map has ``|J(x)|_P <= q < 1`` on the ellipsoid and ``|F(c) - c|_P <= (1 - q) eps`` (Banach: every start in it converges to one
fixed point in it); a flow has the logarithmic norm ``-rate`` and ``|f(c)|_P <= rate eps``.  J is enclosed over a box that holds
the ellipsoid.  This is an open set of starts, and the centre need not be an equilibrium: nothing is assumed exact.

In a moving frame (:mod:`eigentoken.numerics.readings.moving_frames`) the same is asked of the trajectory up to rotations: it then
approaches a family of rotated states, on which it rests, turns, or goes round a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, arb_mat, fmpq, fmpq_mat

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.rational import rounded, sphere_point
from eigentoken.numerics.readings.moving_frames import STILL, Frame, frame_velocity, frames_near, turned_image
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import ball_setting, jacobian
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.exactness.krawczyk import positive_definite
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "SHARE",
    "Region",
    "contraction_region",
    "is_contraction",
    "region_box",
    "region_in_a_frame",
    "state_at_rest",
]

#: Radii that are tried in turn, large first: a larger region is reached sooner.
RADII = ("1/3", "1/5", "1/10", "1/20", "1/50", "1/100", "1/300", "1/1000", "1/10000", "1/100000", "1/10000000")
#: Pulls back to the sphere that are tried, beyond what the state itself needs.
PULLS = (1.0, 0.25)
#: The certified rate is this share of the one of the linearization: what is left is room for a larger region.
SHARE = 1 / 16
BITS_HERE = 192
#: What is stated in a moving frame is smaller by this than what was certified: a second arithmetic has wider boxes.
ROOM = 4
#: Newton's iteration for a state at rest, on points with coordinates of this fineness.
NEWTON_STEPS, POINT = 12, 10**9
#: The box of a region is wider than needed by this.
WIDER = 1.04


@dataclass(frozen=True)
class Region:
    """``{|x - centre|_P <= eps}`` with the rate q (map) or c (flow); everything rational."""

    centre: tuple[tuple[Fraction, ...], ...]
    shape: tuple[tuple[Fraction, ...], ...]
    eps: Fraction
    rate: Fraction
    pull: Fraction
    frame: Frame = STILL

    def as_data(self) -> dict[str, Any]:
        return {
            "centre": [[str(a) for a in token] for token in self.centre],
            "shape": [[str(a) for a in row] for row in self.shape],
            "eps": str(self.eps),
            "rate": str(self.rate),
            "pull": str(self.pull),
            **({} if self.frame == STILL else self.frame.as_data()),
        }

    def half_widths(self) -> list[float]:
        """Upper bounds of ``eps sqrt((P^-1)_aa)``, by the exact inverse; a box of these holds the ellipsoid.

        ``|delta_a| <= |delta|_P sqrt((P^-1)_aa)``.  Wider than needed, so that the box of the second arithmetic is inside.
        """
        rows = [[fmpq(a.numerator, a.denominator) for a in row] for row in self.shape]
        inverse = fmpq_mat(rows).inv()
        eps = arb(self.eps.numerator) / arb(self.eps.denominator)
        found = []
        for index in range(len(rows)):
            entry = inverse[index, index]
            bound = (eps * (arb(entry.p) / arb(entry.q)).sqrt()).upper()
            found.append(float(bound) * WIDER)
        return found


def _rational(value: float, digits: int = 20) -> Fraction:
    return Fraction(round(value * 2**digits), 2**digits)


def contraction_region(case: Case, frame: Frame = STILL) -> Region | None:
    """An ellipsoid around the tokens of the case that the dynamics (in the frame) contracts, or ``None``."""
    centre = tuple(tuple(_to_fraction(a) for a in token) for token in case.instance.tokens)
    found = [_largest(case, centre, frame, *each) for each in _shapes(case, centre, frame)]
    return max((each for each in found if each is not None), key=lambda region: region.eps, default=None)


def region_in_a_frame(case: Case) -> Region | None:
    """A region around the tokens in a frame that moves with a symmetry of the system, or ``None``."""
    centre = tuple(tuple(_to_fraction(a) for a in token) for token in case.instance.tokens)
    for frame in frames_near(case.instance, centre):
        found = contraction_region(case, frame)
        smaller = None if found is None else replace(found, eps=found.eps / ROOM)
        if smaller is not None and is_contraction(case, smaller):
            return smaller
    return None


def state_at_rest(instance: Instance, tokens: list[list[float]]) -> tuple[tuple[Fraction, ...], ...] | None:
    """Rational tokens nearly at rest in a moving frame, by Newton's iteration from those that are given: a proposal."""
    flat = instance.system.space is Space.EUCLIDEAN
    if instance.system.space is Space.ELLIPSOID:
        return None
    case = Case(instance)
    size = instance.n * instance.d
    for _ in range(NEWTON_STEPS):
        if not np.isfinite(tokens).all():
            return None
        centre = tuple(tuple(rounded(a, POINT) for a in x) if flat else sphere_point(x, POINT) for x in tokens)
        frames = frames_near(instance, centre)
        if not frames:
            return None
        with precision(BITS_HERE):
            pull = Fraction(int(instance.system.time is Time.FLOW and not flat))
            moved, full = _dynamics(case, Region(centre, (), Fraction(0), Fraction(0), pull, frames[0]), [0.0] * size)
            gap = np.array([float(a.mid()) for a in moved])
            slopes = np.array([[float(entry.mid()) for entry in row] for row in full])
        if float(np.abs(gap).max()) < 1e-12:
            return centre
        if instance.system.time is Time.MAP:
            slopes = slopes - np.eye(size)
        try:
            step = np.linalg.solve(slopes, -gap)
        except np.linalg.LinAlgError:
            return None
        step *= min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-300))
        tokens = (np.array([[float(a) for a in x] for x in centre]) + step.reshape(instance.n, -1)).tolist()
    return centre if float(np.abs(gap).max()) < 1e-6 else None


def _shapes(case: Case, centre: Any, frame: Frame) -> Iterator[tuple[np.ndarray, Fraction, Fraction]]:
    """Lyapunov shapes of the linearization, each with the rate to be certified and the pull back to the sphere."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    instance = case.instance
    size = instance.n * instance.d
    flat = instance.system.space is Space.EUCLIDEAN
    further: tuple[float, ...] = PULLS
    if instance.system.time is Time.MAP or flat:
        further = (0.0,)
    for each in further:
        pull = Fraction(0) if flat or instance.system.time is Time.MAP else _rational(each + _height(case), 10)
        with precision(BITS_HERE):
            balls = _dynamics(case, Region(centre, (), Fraction(0), Fraction(0), pull, frame), [0.0] * size)[1]
            full = np.array([[float(entry.mid()) for entry in row] for row in balls])
        if not np.isfinite(full).all():
            return
        values = np.linalg.eigvals(full)
        if instance.system.time is Time.MAP:
            radius = float(np.abs(values).max())
            if radius < 1 - 1e-9:
                bound = _rational(1 - SHARE * (1 - radius), 30)
                yield solve_discrete_lyapunov((full / ((1 + radius) / 2)).T, np.eye(size)), bound, pull
            continue
        growth = float(values.real.max())
        if growth < -1e-9:
            shape = solve_continuous_lyapunov((full - growth / 2 * np.eye(size)).T, -np.eye(size))
            yield shape, _rational(-SHARE * growth, 30), pull


def _height(case: Case) -> float:
    """The largest ``|x_i^T u_i|``: a pull back to the sphere must be stronger."""
    with precision(BITS_HERE):
        setting = ball_setting(case.instance, BITS_HERE)
        pushes = zip(setting.tokens, setting.influence(), strict=True)
        return max(abs(float(sum(a * b for a, b in zip(x, u, strict=True)).mid())) for x, u in pushes)


def _largest(case: Case, centre: Any, frame: Frame, shape: np.ndarray, rate: Fraction, pull: Fraction) -> Region | None:
    """The largest region of this shape that is certified."""
    shape = (shape + shape.T) / 2
    scale, size = float(np.abs(shape).max()), len(shape)
    rows = tuple(
        tuple(_rational(float(shape[min(i, j), max(i, j)]) / scale, 40) for j in range(size)) for i in range(size)
    )
    regions = (Region(centre, rows, Fraction(text), rate, pull, frame) for text in RADII)
    return next((region for region in regions if is_contraction(case, region)), None)


def _to_fraction(value: Any) -> Fraction:
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    return Fraction(round(sp.N(value, 40) * 10**30), 10**30)


def _ball(value: Fraction, radius: Any = 0) -> arb:
    middle = arb(fmpq(value.numerator, value.denominator))
    return middle + arb(0, radius) if radius else middle


def is_contraction(case: Case, region: Region) -> bool:
    """Check the region in ball arithmetic: the definition in the head of this module, nothing else."""
    with precision(BITS_HERE):
        shape = [[_ball(a) for a in row] for row in region.shape]
        if not positive_definite(arb_mat(shape)):
            return False
        widths = region.half_widths()
        if not box_holds_ellipsoid(region, shape, widths):
            return False
        moved, full = _dynamics(case, region, widths)
        discrete = case.instance.system.time is Time.MAP
        rate, eps = _ball(region.rate), _ball(region.eps)
        size = len(shape)
        if any(not entry.is_finite() for row in full for entry in row) or any(not a.is_finite() for a in moved):
            return False
        if discrete:
            if not (rate > 0 and rate < 1):
                return False
            image = [
                [sum((shape[i][k] * full[k][j] for k in range(size)), arb(0)) for j in range(size)] for i in range(size)
            ]
            gap = [
                [
                    rate * rate * shape[i][j] - sum((full[k][i] * image[k][j] for k in range(size)), arb(0))
                    for j in range(size)
                ]
                for i in range(size)
            ]
            room = (1 - rate) * eps
        else:
            if not rate > 0:
                return False
            product = [
                [sum((shape[i][k] * full[k][j] for k in range(size)), arb(0)) for j in range(size)] for i in range(size)
            ]
            gap = [
                [-(product[i][j] + product[j][i]) - 2 * rate * shape[i][j] for j in range(size)] for i in range(size)
            ]
            room = rate * eps
        symmetric = [[(gap[i][j] + gap[j][i]) / 2 for j in range(size)] for i in range(size)]
        if not positive_definite(arb_mat(symmetric)):
            return False
        square = sum((moved[i] * shape[i][j] * moved[j] for i in range(size) for j in range(size)), arb(0))
        return bool(square < room * room)


def box_holds_ellipsoid(region: Region, shape: list[list[Any]], widths: list[float]) -> bool:
    """``delta_a^2 <= eps^2 (P^-1)_aa <= w_a^2``: checked by ``[[P, e_a], [e_a^T, (w_a/eps)^2]]`` positive definite."""
    size = len(shape)
    eps = _ball(region.eps)
    for a in range(size):
        corner = (arb(widths[a]) / eps) ** 2
        bordered = [[*row, arb(int(i == a))] for i, row in enumerate(shape)]
        bordered.append([*(arb(int(i == a)) for i in range(size)), corner])
        if not positive_definite(arb_mat(bordered)):
            return False
    return True


def region_box(region: Region, widths: list[float]) -> tuple[tuple[arb, ...], ...]:
    """The balls of these half widths around the centre."""
    d = len(region.centre[0])
    return tuple(
        tuple(_ball(a, arb(widths[i * d + j]).upper()) for j, a in enumerate(token))
        for i, token in enumerate(region.centre)
    )


def _dynamics(case: Case, region: Region, widths: list[float]) -> tuple[list[Any], list[list[Any]]]:
    """``F(c) - c`` (or the velocity) at the centre, and the Jacobian enclosed over the box; flows with their pull."""
    tick()
    instance = case.instance
    setting = ball_setting(instance, BITS_HERE)
    centre = tuple(tuple(_ball(a) for a in token) for token in region.centre)
    box = region_box(region, widths)
    if instance.system.time is Time.MAP:
        return _layers(setting, region.frame, centre, box)
    full = jacobian(setting, box)
    moved = [a for token in setting.advance(centre) for a in token]
    if region.pull:
        pull_back(setting.metric, _ball(region.pull), centre, box, moved, full)
    if region.frame.turns:
        added, slopes = frame_velocity(region.frame, centre, box)
        moved = [a + b for a, b in zip(moved, added, strict=True)]
        full = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(full, slopes, strict=True)]
    return moved, full


def _layers(setting: Any, frame: Frame, centre: Any, box: Any) -> tuple[list[Any], list[list[Any]]]:
    """``y+(c) - c`` and the Jacobian of ``y+`` over the box."""
    at, image, full = centre, box, None
    for _ in range(frame.period):
        slopes = jacobian(setting, image)
        full = slopes if full is None else _product(slopes, full)
        at, image = setting.advance(at), setting.advance(image)
    assert full is not None
    if frame != STILL:
        at, _ = turned_image(frame, centre, centre, at, full)
        _, full = turned_image(frame, centre, box, image, full)
    return [b - a for x, y in zip(centre, at, strict=True) for a, b in zip(x, y, strict=True)], full


def _product(a: list[list[Any]], b: list[list[Any]]) -> list[list[Any]]:
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, column, strict=True)), arb(0)) for column in columns] for row in a]


def pull_back(metric: Any, pull: Any, centre: Any, box: Any, moved: list[Any], full: list[list[Any]]) -> None:
    """Add ``pull (1 - x^T W x) x``, which vanishes on the manifold: to the velocity at the centre, to the Jacobian on the box."""
    d = len(centre[0])

    def lowered(x: Any) -> list[Any]:
        if metric is None:
            return list(x)
        return [sum((metric[a][b] * x[b] for b in range(d)), arb(0)) for a in range(d)]

    for i, (mid, token) in enumerate(zip(centre, box, strict=True)):
        low, low_mid = lowered(token), lowered(mid)
        excess = 1 - sum((a * b for a, b in zip(token, low, strict=True)), arb(0))
        at_mid = 1 - sum((a * b for a, b in zip(mid, low_mid, strict=True)), arb(0))
        for a in range(d):
            moved[i * d + a] = moved[i * d + a] + pull * at_mid * mid[a]
            for b in range(d):
                change = pull * (-2 * token[a] * low[b])
                if a == b:
                    change = change + pull * excess
                full[i * d + a][i * d + b] = full[i * d + a][i * d + b] + change
