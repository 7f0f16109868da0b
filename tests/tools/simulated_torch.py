"""A torch device that is none: operations on its tensors only, sums in another order, subnormal numbers flushed to zero.

Under the mode each result belongs to the device.  An operation that is given a tensor of the processor with more than one number,
as a card would refuse it, is an error, and so is numpy's view of a tensor (:func:`no_numpy`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["MixedDevices", "SimulatedTorch", "no_numpy"]

#: The ways onto the device: a copy, and a tensor made of a list.
ENTRANCE = (torch.ops.aten.clone.default, torch.ops.aten.lift_fresh.default)
TINY = torch.finfo(torch.float64).tiny


class MixedDevices(RuntimeError):
    """Tensors of two devices in one operation."""


class SimulatedTorch(TorchDispatchMode):
    """The mode; ``asked`` counts the operations."""

    def __init__(self) -> None:
        super().__init__()
        self.mine: dict[int, Any] = {}
        self.asked = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.asked += 1
        for each in _tensors(args) if func not in ENTRANCE else ():
            if each.numel() > 1 and each.untyped_storage()._cdata not in self.mine:
                raise MixedDevices(f"{func} was given a tensor {tuple(each.shape)} of the processor")
        if func in (torch.ops.aten.mm.default, torch.ops.aten.bmm.default):  # the inner sum from its other end
            found = func(args[0].flip(-1), args[1].flip(-2))
        elif func is torch.ops.aten.sum.dim_IntList and isinstance(args[1], list) and args[1]:
            found = func(args[0].flip(args[1]), *args[1:], **(kwargs or {}))
        else:
            found = func(*args, **(kwargs or {}))
        for each in _tensors(found if isinstance(found, tuple | list) else [found]):
            if each.dtype is torch.float64 and func not in (torch.ops.aten.view.default,) and not each.requires_grad:
                each.masked_fill_(each.abs() < TINY, 0.0) if _dense(each) else None
            storage = each.untyped_storage()
            self.mine[storage._cdata] = storage  # kept, so that its address is not used again
        return found


def no_numpy(given: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    """``Tensor.numpy`` as the tensors of a card have it, while the mode is on."""

    def refused(each: Tensor) -> Any:
        if torch._C._len_torch_dispatch_stack():
            raise MixedDevices("numpy was asked for a tensor of the device")
        return given(each)

    return refused


def _dense(each: Tensor) -> bool:
    return 0 not in each.stride() or each.numel() <= 1


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for each in values:
        if isinstance(each, Tensor):
            found.append(each)
        elif isinstance(each, list | tuple):
            found += _tensors(each)
    return found
