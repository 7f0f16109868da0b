"""The two inner loops of attention on one processor, products and exponentials, in place and by the faster of torch and numpy."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

__all__ = ["exponentials", "plain", "product", "shares"]


def product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """``a @ b`` for many small matrices: by numpy on the processor, where its loop over them is a fifth faster.

    ``out`` is a place of the right shape to write to, which may be a part of a larger tensor.
    """
    if not plain(a, b):
        return a @ b if out is None else out.copy_(a @ b)
    made = np.matmul(a.numpy(), b.numpy(), out=None if out is None else out.numpy())
    return torch.from_numpy(made) if out is None else out


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
