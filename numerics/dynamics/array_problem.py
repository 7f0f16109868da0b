"""A problem as numpy sees it: for the many small batches of property tests, where a call of torch costs more than its work.

The equation is the one of :mod:`eigentoken.theory.systems.system`, in the arithmetic of
:class:`~eigentoken.theory.classification.float_algebra.FloatAlgebra`: double precision, on the processor, without derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from eigentoken.numerics.dynamics.matrices import StructuredMatrix
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.dynamics.torch_algebra import mask_tensor
from eigentoken.theory.classification.float_algebra import FloatAlgebra
from eigentoken.theory.systems.system import Space, System, parameters_at

__all__ = ["ArrayProblem", "array_problem", "lengths"]

Array = NDArray[np.float64]
ALGEBRA = FloatAlgebra()


@dataclass(frozen=True)
class ArrayProblem:
    """A system with parameters in arrays; ``mask`` is boolean, or ``None`` for full attention."""

    system: System
    parameters: Mapping[str, Any]
    mask: NDArray[np.bool_] | None

    def at(self, t: Any) -> ArrayProblem:
        """The problem of these times (one for each instance): what is asked several times is evaluated once."""
        now = parameters_at(self.parameters, t)
        return self if now is self.parameters else replace(self, parameters=now)

    def advance(self, x: Array, t: Any = None) -> Array:
        """The next state of a map, or the velocity of a flow."""
        moved: Array = self.system.advance(ALGEBRA, self.parameters, x, self.mask, t)
        return moved

    def retract(self, y: Array) -> Array:
        """``y_i / |y_i|_W``, or ``y`` itself in Euclidean space."""
        metric = None if self.system.metric is None else self.parameters.get(self.system.metric)
        return y if self.system.space is Space.EUCLIDEAN else ALGEBRA.normalise(y, metric)


def array_problem(problem: Problem, n: int) -> ArrayProblem:
    """The problem in arrays, which share the memory of its tensors, for n tokens."""
    mask = mask_tensor(problem.mask, n)
    return ArrayProblem(
        problem.system,
        {name: _arrays(name, value) for name, value in problem.parameters.items()},
        None if mask is None else mask.numpy(),
    )


def lengths(x: Array) -> Array:
    """``|x_i|`` of each token."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", x, x)))


def _arrays(name: str, value: Any) -> Any:
    if name == "heads":
        return [{part: _arrays(part, each) for part, each in head.items()} for head in value]
    if isinstance(value, torch.Tensor):
        return value.numpy()
    if isinstance(value, StructuredMatrix):
        return value.dense().numpy()
    if hasattr(value, "in_arrays"):
        return value.in_arrays()
    if callable(value) and name != "pair_score":
        return _of_time(value)
    return value


def _of_time(value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of time whose values are tensors, as one whose values are arrays."""

    def found(t: Any) -> Any:
        tensor = value(torch.from_numpy(t) if isinstance(t, np.ndarray) else t)
        return tensor.numpy() if isinstance(tensor, torch.Tensor) else tensor

    return found
