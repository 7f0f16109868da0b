"""The velocities of the flows, written again for the second integration: no code of the issuer, none of its systems.

    ``x_i' = u_i - (x_i^T W u_i) x_i``,  ``u_i = r sum_h F_h sum_j a_ij x_j``,  ``a_ij = exp(s_ij) / sum_l exp(s_il)``

with ``s_ij = x_i^T M x_j`` over the tokens that i sees (r = 1 or 1/sqrt d; Euclidean: ``x_i' = u_i``); on the circle, with
``x_i = (cos t_i, sin t_i)``,
``t_i' = x_i1 u_i2 - x_i2 u_i1``.  Numbers are whatever the caller computes with; entries that are exactly zero are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from eigentoken.numerics.recheck.refutations.interval_recheck import INTERVALS, interval, turned_scores
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space, Time

__all__ = ["circle_angles", "circle_field", "is_plain_circle_flow", "velocity_field"]

Sparse = list[list[Any]]


def _sparse(matrix: Any) -> Sparse | None:
    """Rows of numbers, None where an entry is exactly zero."""
    if matrix is None:
        return None
    return [[None if entry == 0 else interval(sp.sympify(entry)) for entry in row] for row in matrix]


def _times(matrix: Sparse | None, x: Sequence[Any]) -> list[Any]:
    if matrix is None:
        return list(x)
    made = []
    for row in matrix:
        parts = [b * a for a, b in zip(row, x, strict=True) if a is not None]
        made.append(_sum(parts) if parts else 0 * x[0])
    return made


def _sum(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


class _Heads:
    """Value and score of each head, who sees whom, and the common factor r."""

    def __init__(self, instance: Instance) -> None:
        system, parameters = instance.system, instance.parameters
        groups = parameters["heads"] if system.multihead else [parameters]
        self.pairs = [
            (
                None if system.value is None else _sparse(group.get(system.value)),
                None if system.score is None else _sparse(group[system.score]),
            )
            for group in groups
        ]
        self.turned = turned_scores(system, parameters, INTERVALS)
        n = instance.n
        mask = instance.mask
        self.seen = [[j for j in range(n) if mask is None or mask[i][j]] for i in range(n)]
        self.root = interval(sp.sqrt(instance.d)) if system.over_root_d else None

    def weights(self, x: Sequence[Sequence[Any]], i: int, score: Sparse | None) -> list[Any] | None:
        """``exp(s_ij - s_il)`` for the tokens j that i sees, in their order, l the first of them; None for equal weights.

        The difference is taken before the product with ``x_i``, so that what both scores share widens nothing.
        """
        if self.turned is None and score is None:
            return None
        keys = [_times(score if self.turned is None else self.turned(i, j), x[j]) for j in self.seen[i]]
        made: list[Any] = [1]
        for key in keys[1:]:
            made.append(_sum([a * (b - c) for a, b, c in zip(x[i], key, keys[0], strict=True)]).exp())
        return made


def velocity_field(instance: Instance) -> Callable[[Any, Sequence[Any]], list[Any]]:
    """The velocity of a flow on flat lists of coordinates; numbers need ``+``, ``*``, ``/`` and ``exp``."""
    heads, d, n = _Heads(instance), instance.d, instance.n
    flat = instance.system.space is Space.EUCLIDEAN
    metric = None if instance.system.metric is None else _sparse(instance.parameters[instance.system.metric])

    def field(_: Any, coordinates: Sequence[Any]) -> list[Any]:
        x = [list(coordinates[i * d : (i + 1) * d]) for i in range(n)]
        speeds: list[Any] = []
        for i in range(n):
            pushes = []
            for value, score in heads.pairs:
                weights = heads.weights(x, i, score)
                seen = [x[j] for j in heads.seen[i]]
                if weights is None:
                    mean = [_sum([y[a] for y in seen]) / len(seen) for a in range(d)]
                else:
                    mass = _sum(weights)
                    mean = [_sum([w * y[a] for w, y in zip(weights, seen, strict=True)]) / mass for a in range(d)]
                pushes.append(_times(value, mean))
            u = [_sum([push[a] for push in pushes]) for a in range(d)]
            u = u if heads.root is None else [entry / heads.root for entry in u]
            if flat:
                speeds += u
                continue
            height = _sum([a * b for a, b in zip(x[i], _times(metric, u), strict=True)])
            speeds += [entry - height * a for entry, a in zip(u, x[i], strict=True)]
        return speeds

    return field


def circle_field(instance: Instance) -> Callable[[Any, Sequence[Any]], list[Any]]:
    """The same for the angles of tokens on the circle; numbers need ``sin`` and ``cos`` too."""
    heads, n = _Heads(instance), instance.n

    def field(_: Any, angles: Sequence[Any]) -> list[Any]:
        x = [[angle.cos(), angle.sin()] for angle in angles]
        speeds = []
        for i in range(n):
            total: Any = 0 * angles[i]
            for value, score in heads.pairs:
                weights = heads.weights(x, i, score)
                turning, mass = [], len(heads.seen[i]) if weights is None else _sum(weights)
                for place, j in enumerate(heads.seen[i]):
                    if j == i and value is None:
                        continue  # a token does not turn itself
                    moved = _times(value, x[j])
                    part = x[i][0] * moved[1] - x[i][1] * moved[0]
                    turning.append(part if weights is None else weights[place] * part)
                if turning:
                    total = total + _sum(turning) / mass
            speeds.append(total if heads.root is None else total / heads.root)
        return speeds

    return field


def is_plain_circle_flow(instance: Instance) -> bool:
    """A flow on the circle in which every head's value matrix is the identity, with full or causal attention."""
    system = instance.system
    if system.space is not Space.SPHERE or system.time is not Time.FLOW or instance.d != 2 or instance.n < 2:
        return False
    causal = tuple(tuple(int(j <= i) for j in range(instance.n)) for i in range(instance.n))
    if instance.mask is not None and tuple(map(tuple, instance.mask)) != causal:
        return False
    groups = instance.parameters["heads"] if system.multihead else (instance.parameters,)
    values = [] if system.value is None else [sp.Matrix(group[system.value]) for group in groups]
    return all(sp.simplify(entry) == 0 for value in values for entry in value - sp.eye(2))


def circle_angles(instance: Instance, m: int, sign: int, angle: Callable[[Any, Any], Any]) -> list[Any]:
    """The angles of the tokens, the last one turned along its arc by ``sign 2 atan(1/m)``; ``angle(y, x)`` is atan2."""
    angles = [angle(token[1], token[0]) for token in instance.tokens]
    angles[-1] = angles[-1] + 2 * sign * angle(sp.Integer(1), sp.Integer(m))
    return angles
