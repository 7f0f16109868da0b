"""Observables: scalar functions of a state, written once, read in every arithmetic.

An observable is a function of ``(scalars, system, parameters, x, mask)`` that uses only ``+ - * /`` and the two
functions of the :class:`~eigentoken.theory.systems.algebra.LoopAlgebra` it is given, so that the same lines are evaluated in
floats, in sympy, in mpmath, in balls and in dual numbers.  Claims say of an observable that it vanishes, has a sign, or
decreases along trajectories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eigentoken.theory.systems.algebra import LoopAlgebra, MaskValue, Number, Parameters, ParameterValue
from eigentoken.theory.systems.system import System

__all__ = ["Observable", "apply_matrix", "dot", "mean_token", "oja_potential"]


@dataclass(frozen=True)
class Observable:
    """A named scalar function of the state, with its LaTeX and its equation in the docstring of ``function``."""

    name: str
    latex: str
    function: Callable[[LoopAlgebra, System, Parameters, Sequence[Sequence[Number]], MaskValue], Number] = field(
        repr=False
    )

    def __call__(
        self,
        scalars: LoopAlgebra,
        system: System,
        parameters: Mapping[str, ParameterValue],
        x: Sequence[Sequence[Number]],
        mask: MaskValue = None,
    ) -> Number:
        return self.function(scalars, system, parameters, x, mask)


def dot(x: Sequence[Number], y: Sequence[Number]) -> Number:
    """``x^T y``."""
    total: Any = 0
    for a, b in zip(x, y, strict=True):
        total = total + a * b
    return total


def apply_matrix(matrix: Sequence[Sequence[Number]], x: Sequence[Number]) -> tuple[Number, ...]:
    """``M x``."""
    return tuple(dot(row, x) for row in matrix)


def mean_token(scalars: LoopAlgebra, x: Sequence[Sequence[Number]]) -> tuple[Number, ...]:
    """``xbar = (1/n) sum_j x_j``."""
    count = len(x) * scalars.one
    return tuple(sum(column, 0 * scalars.one) / count for column in zip(*x, strict=True))


def _oja_potential(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``W(x) = -xbar^T V xbar / 2`` (PM-L7)."""
    centre = mean_token(scalars, x)
    return -dot(centre, apply_matrix(parameters["V"], centre)) / (2 * scalars.one)


#: W(x) = -1/2 xbar^T V xbar, decreasing along the Oja map and flow.
oja_potential = Observable("oja-potential", r"W(x) = -\tfrac12\, \bar x^{\top} V \bar x", _oja_potential)
