"""Regions of principal consensus where the value matrix is symmetric: the half space (PM-X1, CT-12) and the ball (PM-X2, CT-13).

``V w = lambda w`` with w the common token, all other eigenvalues of V in ``[low, high]``, ``rho = max(|low|, |high|)``.  With
``s = sqrt(1 + R^2)``:

* half space, ``rho < lambda``: ``R^+ <= q R``, ``q = (s + alpha rho)/(s + alpha lambda)``; flow: ``exp(-(lambda - rho) t/s)``;
* ball, no mask, ``eta = e^(2|M|R) s - 1``, ``m = 1 + alpha lambda``: ``q = (m sigma + alpha rho eta)/(m - alpha lambda eta)``
  with ``m sigma = max(1, |1 + alpha low|, |1 + alpha high|)``; flow: ``lambda - max(0, high) - (lambda + rho) eta``.

All numbers are balls; what is stated is rounded to the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat

from eigentoken.numerics.basins.decimals import above, ball_of, below
from eigentoken.numerics.basins.regions import BasinRegion, Floats, facts_of, strictly_rated
from eigentoken.numerics.instances.exact_values import Case, zero
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.exactness.krawczyk import positive_definite
from eigentoken.theory.systems.system import Time

__all__ = ["symmetric_regions"]

BITS = 192
#: The systems that the theorems are about.
SYSTEMS = ("oja-map", "oja-flow", "attention-map", "attention-flow")
#: Largest tangents for which the rate of the half space is stated.
TANGENTS = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5), Fraction(10))
#: Shares of the largest radius of the ball.
SHARES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(9, 10))


@dataclass(frozen=True)
class _Values:
    """What the formulas need: the leader as a ball, the others between decimals, the norm of the scores, the step."""

    leader: arb
    low: Fraction
    high: Fraction
    scores: Fraction
    step: arb | None

    @property
    def rho(self) -> Fraction:
        return max(abs(self.low), abs(self.high))


def symmetric_regions(case: Case) -> list[BasinRegion]:
    """The regions of the theorems at a consensus of exact tokens, known to be an equilibrium; none where they say nothing."""
    instance = case.instance
    system = instance.system
    if system.name not in SYSTEMS or instance.d < 2 or len(set(instance.tokens)) != 1:
        return []
    value, score = str(system.value), system.score
    matrix = case.named(value)
    if any(zero(matrix[i, j] - matrix[j, i]) is not True for i in range(case.d) for j in range(i)):
        return []
    with precision(BITS):
        w = [expression_ball(entry, BITS) for entry in instance.tokens[0]]
        rows = _balls(matrix)
        leader = sum((w[i] * rows[i][j] * w[j] for i in range(case.d) for j in range(case.d)), arb(0))
        low, high = _others(rows, w, leader)
        scores = Fraction(0) if score is None else _norm(_balls(case.named(score)))
        discrete = system.time is Time.MAP
        step = expression_ball(instance.parameters["alpha"], BITS) if discrete else None
        values = _Values(leader, low, high, scores, step)
        centre = np.array([float(entry.mid()) for entry in w])
        found = [_half_space(values, centre)]
        if instance.mask is None:
            found.append(_ball(values, centre))
    return [each for each in found if each is not None]


def _balls(matrix: Any) -> list[list[arb]]:
    return [[expression_ball(entry, BITS) for entry in matrix.row(i)] for i in range(matrix.rows)]


def _definite(rows: list[list[arb]]) -> bool:
    return positive_definite(arb_mat(rows))


def _others(rows: list[list[arb]], w: list[arb], leader: arb) -> tuple[Fraction, Fraction]:
    """Decimals with ``low I < V < high I`` on the complement of w, each shown by a definite matrix."""
    size = len(w)
    rest = [[rows[i][j] - leader * w[i] * w[j] for j in range(size)] for i in range(size)]
    floats = np.array([[float(entry.mid()) for entry in row] for row in rest])
    unit = np.array([float(entry.mid()) for entry in w])
    basis = np.linalg.qr(np.column_stack([unit, np.eye(size)]))[0][:, 1:size]
    seen = np.linalg.eigvalsh(basis.T @ ((floats + floats.T) / 2) @ basis)
    scale = max(1e-30, float(np.abs(floats).max()), abs(float(leader.mid())))
    for power in range(12, 2, -1):
        slack = scale * 10.0**-power
        low, high = below(arb(float(seen[0]) - slack)), above(arb(float(seen[-1]) + slack))
        if all(
            _definite(
                [
                    [
                        sign * ((ball_of(bound) if i == j else arb(0)) - rest[i][j])
                        + (abs(ball_of(bound)) + 1) * w[i] * w[j]
                        for j in range(size)
                    ]
                    for i in range(size)
                ]
            )
            for sign, bound in ((-1, low), (1, high))
        ):
            return low, high
    raise ArithmeticError("the eigenvalues of the value matrix were not bounded: no decimal passed the test")


def _norm(rows: list[list[arb]]) -> Fraction:
    """A decimal not below the spectral norm: ``b^2 I - M^T M`` is definite."""
    size = len(rows)
    gram = [[sum((rows[k][i] * rows[k][j] for k in range(size)), arb(0)) for j in range(size)] for i in range(size)]
    largest = float(np.linalg.norm(np.array([[float(entry.mid()) for entry in row] for row in rows]), 2))
    if largest == 0 and all(entry == 0 for row in rows for entry in row):
        return Fraction(0)
    for power in range(12, 2, -1):
        bound = above(arb(largest * (1 + 10.0**-power)) + arb(10) ** -30)
        square = ball_of(bound) ** 2
        if _definite([[(square if i == j else arb(0)) - gram[i][j] for j in range(size)] for i in range(size)]):
            return bound
    raise ArithmeticError("the norm of the scores was not bounded: no decimal passed the test")


def _half_space(values: _Values, centre: Floats) -> BasinRegion | None:
    rho = ball_of(values.rho)
    if not rho < values.leader:
        return None
    discrete = values.step is not None

    def rate(radius: Fraction) -> Fraction | None:
        size = (1 + ball_of(radius) ** 2).sqrt()
        if values.step is None:
            return below((values.leader - rho) / size)
        return above((size + values.step * rho) / (size + values.step * values.leader))

    return _region(
        "half-space", "PM-X1" if discrete else "CT-12", values, strictly_rated(TANGENTS, rate, discrete), centre
    )


def _ball(values: _Values, centre: Floats) -> BasinRegion | None:
    discrete = values.step is not None
    room = _room(values)
    if not values.leader > 0 or not room > 0:
        return None
    low, high = 0.0, float(((1 + room) ** 2 - 1).sqrt().mid())
    for _ in range(
        60
    ):  # eta grows with the radius: the root by halving, in floats; each radius is then tested in balls
        middle = (low + high) / 2
        low, high = (middle, high) if _spread(values, arb(middle)) < room else (low, middle)
    radii = [below(arb(float(share) * low), 6) for share in SHARES]

    def rate(radius: Fraction) -> Fraction | None:
        eta = _spread(values, ball_of(radius))
        if not eta < room:
            return None
        rho = ball_of(values.rho)
        if values.step is None:
            return below(values.leader - _slow(values) - (values.leader + rho) * eta)
        m = 1 + values.step * values.leader
        return above((_slow(values) + values.step * rho * eta) / (m - values.step * values.leader * eta))

    rates = strictly_rated([each for each in radii if each > 0], rate, discrete)
    return _region("ball", "PM-X2" if discrete else "CT-13", values, rates, centre) if rates else None


def _spread(values: _Values, radius: arb) -> arb:
    """``eta(R)``."""
    return (2 * ball_of(values.scores) * radius).exp() * (1 + radius**2).sqrt() - 1


def _slow(values: _Values) -> arb:
    """``max(1, |1 + alpha low|, |1 + alpha high|)``; of the flow ``max(0, high)``."""
    low, high = ball_of(values.low), ball_of(values.high)
    if values.step is None:
        return high.max(arb(0))
    return arb(1).max(abs(1 + values.step * low)).max(abs(1 + values.step * high))


def _room(values: _Values) -> arb:
    """``eta*``: the rate says something below it."""
    rho = ball_of(values.rho)
    if values.step is None:
        return (values.leader - _slow(values)) / (values.leader + rho)
    return (1 + values.step * values.leader - _slow(values)) / (values.step * (rho + values.leader))


def _region(kind: Any, statement: str, values: _Values, rates: Any, centre: Floats) -> BasinRegion:
    facts = facts_of(
        {
            "leader": (below(values.leader), above(values.leader)),
            "others": (values.low, values.high),
            "scores": values.scores,
        }
    )
    whole = kind == "ball"

    def measure(tokens: Floats) -> float:
        """The largest tangent, or the root of the summed squares."""
        heights = tokens @ centre
        if not (heights > 0).all():
            return float("inf")
        tangents = np.linalg.norm(tokens / heights[:, None] - centre, axis=1)
        return float(np.linalg.norm(tangents) if whole else tangents.max())

    return BasinRegion(kind, statement, values.step is not None, rates, facts, measure)
