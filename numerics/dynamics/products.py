"""The two inner loops of attention on one processor, products and exponentials, in place and by the fastest of what is installed.

oneDNN, which is part of torch, picks its routines by what the processor can do; the BLAS of torch and of numpy pick them by its
maker, too, and use half of the width of some. torch asks oneDNN for no product of plain matrices of 32 bits, so it is asked here.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

__all__ = ["WIDE", "exponentials", "plain", "product", "shares", "whole_floats"]


#: Fewer multiplications cost less than the call of oneDNN.
WIDE = 1 << 18


def product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """``a @ b`` for many small matrices or one: by numpy on the processor, where its loop over them is a fifth faster.

    Two matrices of 32 bits are multiplied by oneDNN, if that is there and the user asks for no lower precision.
    ``out`` is a place of the right shape to write to, which may be a part of a larger tensor.
    """
    if not plain(a, b):
        return a @ b if out is None else out.copy_(a @ b)
    if (
        a.ndim == b.ndim == 2
        and a.dtype is b.dtype is torch.float32
        and a.numel() * b.shape[1] >= WIDE
        and whole_floats()
    ):
        made = torch.ops.mkldnn._linear_pointwise(a, b.mT, None, "none", [], "")
        return made if out is None else out.copy_(made)
    made = np.matmul(a.numpy(), b.numpy(), out=None if out is None else out.numpy())
    return torch.from_numpy(made) if out is None else out


def whole_floats() -> bool:
    """Is oneDNN there, with products in float32 that keep all 24 bits of their factors?

    >>> torch.set_float32_matmul_precision("medium"); whole_floats()
    False
    >>> torch.set_float32_matmul_precision("highest")
    """
    if not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        return False
    try:
        return torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # some backend has a precision of its own
        return False


def plain(*tensors: Tensor) -> bool:
    """Numpy may read the tensors: numbers of 32 or 64 bits on the processor without a gradient."""
    return all(
        each.device.type == "cpu" and each.dtype in {torch.float32, torch.float64} and not each.requires_grad
        for each in tensors
    )


def exponentials(scores: Tensor, seen: Tensor | None = None) -> Tensor:
    """``exp(scores)`` in place, 0 where the last tokens are not ``seen``.

    Where the numbers would leave the range of the arithmetic each row is divided by its largest: a weight is a quotient
    of these, so that does not matter.

    >>> exponentials(torch.tensor([[1000.0, 2000.0], [0.0, 0.0]]), torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([[1., 0.],
            [1., 1.]])
    """
    low, high = (float(each) for each in torch.aminmax(scores))
    most = math.log(torch.finfo(scores.dtype).max) / 2
    last = scores if seen is None else scores[..., -seen.shape[-1] :]
    if not -most < low <= high < most:
        if seen is not None:
            last.masked_fill_(seen == 0, -math.inf)
        scores.sub_(scores.amax(-1, keepdim=True))
    if plain(scores):
        np.exp(scores.numpy(), out=scores.numpy())
    else:
        scores.exp_()
    if seen is not None:
        last.mul_(seen)
    return scores


def shares(weights: Tensor, total: float) -> Tensor:
    """The weights of each row times one number, in place, so that they add up to ``total``."""
    return weights.mul_(weights.sum(-1, keepdim=True).reciprocal_().mul_(total))
