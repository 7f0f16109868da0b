"""The algebra of the systems in double precision, over batches: a state is an array ``(..., n, d)``.

Used to search and to follow trajectories, never to decide.  It is analytic in its arguments, so that complex steps give
Jacobians to full double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.balls import expression_ball
from eigentoken.theory.systems.algebra import MaskValue, ParameterValue, checked_function, mapped
from eigentoken.theory.systems.system import System, Time

__all__ = ["FloatAlgebra", "FloatSystem", "double", "doubles"]

Array = NDArray[Any]


def double(value: Any) -> float:
    """The nearest double of an exact number."""
    return float(expression_ball(value, 96).mid())


def doubles(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Exact parameters in double precision."""
    converted: dict[str, Any] = {}
    for name, value in mapped(parameters, double).items():
        converted[name] = np.array(value) if isinstance(value, tuple) else value
        if name == "heads":
            converted[name] = [
                {part: np.array(each) if isinstance(each, tuple) else each for part, each in head.items()}
                for head in value
            ]
    return converted


@dataclass(frozen=True)
class FloatAlgebra:
    """The operations of :class:`~eigentoken.theory.systems.algebra.Algebra` on numpy arrays.

    A matrix is one for all instances, ``(d, d)``, or one for each, ``(..., d, d)``; so is a number that multiplies a state.
    Equal weights are one number seen many times (strides of zero), and so is the average that all tokens share.
    """

    def attention(self, x: Array, score: Any, mask: MaskValue, over_root_d: bool) -> Array:
        n, d = x.shape[-2:]
        if score is None and mask is None:
            return np.broadcast_to(1 / (n * d**0.5 if over_root_d else n), (n, n))
        scores = np.zeros((n, n)) if score is None else self.scores(x, score)
        if mask is not None:
            scores = np.where(np.asarray(mask, dtype=bool), scores, -np.inf)
        shifted = np.exp(scores - _largest(scores.real))
        total = shifted @ np.ones((n, 1))  # the sum of short rows is ten times slower
        return np.asarray(shifted / (total * d**0.5 if over_root_d else total))

    def average(self, weights: Array, x: Array) -> Array:
        if weights.strides == (0, 0):
            return np.broadcast_to(np.full((1, x.shape[-2]), weights[0, 0]) @ x, x.shape)
        return np.asarray(weights @ x)

    def apply(self, matrix: Array | None, x: Array) -> Array:
        if matrix is None:
            return x
        alike = x.strides[-2] == 0 and np.ndim(matrix) <= x.ndim
        moved = np.asarray((x[..., :1, :] if alike else x) @ np.asarray(matrix).mT)
        return np.repeat(moved, x.shape[-2], axis=-2) if alike else moved

    def add(self, x: Array, u: Array, step: Any = 1) -> Array:
        return np.asarray(x + u if isinstance(step, int) and step == 1 else x + _of_each(step) * u)

    def normalise(self, y: Array, metric: Array | None = None) -> Array:
        if metric is not None:
            return np.asarray(y / np.sqrt(_inner(y, y @ metric)))
        rows = y.reshape(-1, y.shape[-1])  # one long pass each: numpy goes through short rows slowly
        sizes = np.sqrt((rows * rows) @ np.ones(rows.shape[1]))
        return np.asarray((rows / np.repeat(sizes, rows.shape[1]).reshape(rows.shape)).reshape(y.shape))

    def tangent(self, x: Array, u: Array, metric: Array | None = None) -> Array:
        return np.asarray(u - _inner(x, u if metric is None else u @ metric) * x)

    def scores(self, x: Array, matrix: Any) -> Array:
        if callable(matrix):
            return _scores_by_pair(x, matrix)
        return np.asarray(x @ (x if matrix is None else x @ np.asarray(matrix).mT).mT)

    def function(self, name: str, values: Array) -> Array:
        if checked_function(name) == "sigmoid":
            return np.asarray(0.5 + 0.5 * np.tanh(values / 2))
        return np.asarray(np.exp(values) if name == "exp" else np.tanh(values))

    def masked(self, weights: Array, mask: MaskValue) -> Array:
        return weights if mask is None else np.asarray(weights * np.array(mask, dtype=float))

    def shares(self, weights: Array) -> Array:
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def hardest(self, scores: Array, mask: MaskValue) -> Array:
        seen = scores if mask is None else np.where(np.array(mask, dtype=bool), scores, -np.inf)
        best = seen == seen.max(axis=-1, keepdims=True)
        return np.asarray(best / best.sum(axis=-1, keepdims=True))

    def product(self, a: Array, b: Array) -> Array:
        return np.asarray(a * b)

    def scale(self, x: Array, number: Any) -> Array:
        return np.asarray(x * _of_each(number))

    def shift(self, x: Array, vector: Array | None) -> Array:
        return x if vector is None else np.asarray(x + vector[..., None, :])


def _inner(x: Array, y: Array) -> Array:
    """``x_i^T y_i`` of each token, with an axis for its coordinates."""
    return np.asarray(np.einsum("...i,...i->...", x, y)[..., None])


def _largest(rows: Array) -> Array:
    """The largest entry of each row, halves compared with each other: numpy goes through short rows ten times slower."""
    while rows.shape[-1] > 1:
        half = (rows.shape[-1] + 1) // 2
        rows = np.maximum(rows[..., :half], rows[..., -half:])
    return rows


def _of_each(number: Any) -> Any:
    """A number, or one for each instance, beside a state."""
    return number[..., None, None] if isinstance(number, np.ndarray) else number


def _scores_by_pair(x: Array, score: Callable[[int, int], Any]) -> Array:
    """``x_i^T M_ij x_j`` for scores that depend on the positions."""
    places = range(x.shape[-2])
    rows = [
        [_inner(x[..., i, :], (np.asarray(score(i, j)) @ x[..., j, :, None])[..., 0]) for j in places] for i in places
    ]
    return np.stack([np.concatenate(row, axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True)
class FloatSystem:
    """A system with parameters in doubles: residuals, Jacobians and orbits of batches of states."""

    system: System
    parameters: Mapping[str, ParameterValue]
    mask: MaskValue = None

    @classmethod
    def of(cls, instance: Instance) -> FloatSystem:
        """The system of an instance."""
        return cls(instance.system, doubles(instance.parameters), instance.mask)

    @property
    def metric(self) -> Array | None:
        """W, or ``None`` for the identity."""
        name = self.system.metric
        return None if name is None else np.asarray(self.parameters[name])

    def influence(self, x: Array) -> Array:
        """``u_i``."""
        return np.asarray(self.system.influence(FloatAlgebra(), self.parameters, x, self.mask))

    def advance(self, x: Array) -> Array:
        """Next state of a map, velocity of a flow."""
        return np.asarray(self.system.advance(FloatAlgebra(), self.parameters, x, self.mask))

    def project(self, x: Array) -> Array:
        """To the sphere or ellipsoid; as it is in Euclidean space."""
        return x if self.system.space.value == "euclidean" else FloatAlgebra().normalise(x, self.metric)

    def drift(self, x: Array) -> Array:
        """The field whose zeros are the equilibria up to signs: ``u_i`` made tangent (``u_i`` in Euclidean space)."""
        if self.system.writes_step:
            return self.advance(x) - x if self.system.time is Time.MAP else self.advance(x)
        push = self.influence(x)
        return push if self.system.space.value == "euclidean" else FloatAlgebra().tangent(x, push, self.metric)

    def jacobian(self, x: Array, function: Callable[[Array], Array] | None = None) -> Array:
        """Derivative of ``advance`` (or of another function) at one state, by complex steps: nd x nd."""
        n, d = x.shape
        steps = np.eye(n * d).reshape(n * d, n, d) * 1e-30j
        values = (self.advance if function is None else function)(x[None] + steps)
        return np.asarray(values.imag.reshape(n * d, n * d).T / 1e-30)

    def step(self, x: Array, h: float) -> Array:
        """One step: of the map, or a Runge-Kutta step of length h of the flow, projected."""
        if self.system.time is Time.MAP:
            return self.advance(x)
        a = self.advance(x)
        b = self.advance(x + h / 2 * a)
        c = self.advance(x + h / 2 * b)
        e = self.advance(x + h * c)
        return self.project(x + h / 6 * (a + 2 * b + 2 * c + e))
