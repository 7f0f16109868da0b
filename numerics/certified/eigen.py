"""Eigenvalues of general matrices for torch, by numpy's LAPACK where they are small and on the processor.

The LAPACK inside torch 2.13 for processors (MKL 2024.2) does not converge on some ordinary skew matrices of size 3, about one
in four thousand, and writes beyond its arrays when it gives up: the process dies, at once or later.  (No other size and no
other kind of matrix was seen to do so.)  A skew matrix is one of the corners that a search visits on purpose.  numpy's LAPACK
has none of this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["eig", "eigvals"]


#: Matrices up to this size go to numpy.
SMALL = 16


def eig(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues ``(..., d)`` and unit eigenvectors in columns, complex; ``nan`` for a small matrix that is not finite."""
    if _large(matrices):
        found: tuple[Tensor, Tensor] = torch.linalg.eig(matrices)
        return found
    return _by_numpy(matrices)


def eigvals(matrices: Tensor) -> Tensor:
    """Eigenvalues ``(..., d)``, complex, with their gradient; ``nan`` for a small matrix that is not finite.

    >>> eigvals(torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)).imag.sort().values
    tensor([-1.,  1.], dtype=torch.float64)
    """
    if _large(matrices):
        return torch.linalg.eigvals(matrices)
    if matrices.requires_grad and torch.is_grad_enabled():
        found: Tensor = _Eigenvalues.apply(matrices)
        return found
    return _by_numpy(matrices, vectors=False)[0]


def _large(matrices: Tensor) -> bool:
    """Are they for torch: large, or on a device?"""
    return matrices.device.type != "cpu" or matrices.shape[-1] > SMALL


class _Eigenvalues(torch.autograd.Function):
    """``d lambda_i = (X^-1 dA X)_ii`` for simple eigenvalues with the eigenvectors in the columns of X."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor) -> Tensor:
        numbers, vectors = _by_numpy(matrices)
        ctx.save_for_backward(vectors)
        ctx.real = not matrices.is_complex()
        return numbers

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> Tensor:
        (vectors,) = ctx.saved_tensors
        turned = vectors.mH
        slope, _ = torch.linalg.solve_ex(turned, given[0].unsqueeze(-1) * turned)
        return slope.real if ctx.real else slope


def _by_numpy(matrices: Tensor, vectors: bool = True) -> tuple[Tensor, Tensor]:
    plain = matrices.detach().numpy()
    finite = np.isfinite(plain).all(axis=(-1, -2))
    ready = np.where(finite[..., None, None], plain, 0.0).astype(plain.dtype, copy=False)
    kind = np.result_type(plain.dtype, np.complex64)
    numbers, columns = np.linalg.eig(ready) if vectors else (np.linalg.eigvals(ready), None)
    numbers = np.where(finite[..., None], numbers.astype(kind), np.nan)
    if columns is None:
        return torch.from_numpy(numbers), torch.empty(0)
    columns = np.where(finite[..., None, None], columns.astype(kind), np.nan)
    return torch.from_numpy(numbers), torch.from_numpy(columns)
