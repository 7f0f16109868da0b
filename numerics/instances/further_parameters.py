"""The further parameters of a system that another package registered: drawn, in batches and small, and rounded.

The papers' systems have matrices and a step alone; a registered one may have vectors and numbers beside them
(:class:`~eigentoken.theory.systems.system.Parameter`).  In a batch of B a vector is ``(B, d)``, a number ``(B,)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.instances.rational import rounded
from eigentoken.theory.language import terms
from eigentoken.theory.systems.system import Parameter, System

__all__ = ["exact_value", "float_value", "with_further"]

SMALL = (0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)
STEPS = (0.25, 0.5, 1.0, 2.0)

Draw = Callable[[Any, str], Tensor]


def with_further(
    system: System,
    parameters: Mapping[str, Any],
    count: int,
    d: int,
    draw: Draw,
    generator: torch.Generator,
    *,
    small: bool = False,
) -> dict[str, Any]:
    """The parameters with the further ones drawn: matrices as the plan asks, entries of vectors and numbers normal or small."""
    ready = dict(parameters)
    for each in system.further:
        if each.per_head:
            ready["heads"] = [
                {**head, each.name: _drawn(each, count, d, draw, generator, small)} for head in ready["heads"]
            ]
        elif each.name not in ready:
            ready[each.name] = _drawn(each, count, d, draw, generator, small)
    return ready


def _drawn(each: Parameter, count: int, d: int, draw: Draw, generator: torch.Generator, small: bool) -> Tensor:
    if each.kind == "matrix":
        return draw(terms.matrix(each.name), each.name)
    shape = (count, d) if each.kind == "vector" else (count,)
    if small:
        table = torch.tensor(STEPS if each.kind == "step" else SMALL, dtype=torch.float64)
        return table[torch.randint(0, len(table), shape, generator=generator)]
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    if each.kind == "step":
        return torch.exp(values)
    if each.default is not None and each.kind == "scalar":  # the default as often as anything else
        usual = torch.full_like(values, float(Fraction(each.default)))
        return torch.where(torch.rand(shape, generator=generator, dtype=torch.float64) < 0.5, usual, values)
    if not each.required:
        absent = torch.rand(count, generator=generator, dtype=torch.float64) < 0.5
        return torch.where(absent.reshape(-1, *([1] * (values.ndim - 1))), torch.zeros_like(values), values)
    return values


def exact_value(each: Parameter, value: Tensor, denominator: int) -> Any:
    """A vector or number of a single instance ``(1, d)`` or ``(1,)``, rounded; a step stays positive."""
    if each.kind == "vector":
        return tuple(rounded(entry, denominator) for entry in value[0].tolist())
    number = float(value[0])
    near = rounded(number, denominator)
    if each.kind == "step" and near <= 0 < number:
        return Fraction(1, max(1, round(1 / number)))
    return near


def float_value(value: Any) -> Tensor | None:
    """An exact matrix, vector or number as a batch of one."""
    if value is None:
        return None
    if not isinstance(value, tuple | list):
        return torch.tensor([float(value)], dtype=torch.float64)
    rows = [[float(entry) for entry in row] if isinstance(row, tuple | list) else float(row) for row in value]
    return torch.tensor([rows], dtype=torch.float64)
