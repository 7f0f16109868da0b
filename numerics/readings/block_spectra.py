"""Eigenvalues of matrices of blocks: where all blocks are diagonal in one orthonormal basis, those of small matrices.

At consensus, at bipartite states and at antipodal ones the blocks of a Jacobian are often polynomials in one symmetric matrix.
Then G x G blocks of size m have the eigenvalues of m matrices of size G, and for G <= 2 these are written down.  Whether it is
so is seen from the blocks themselves, in the basis of eigenvectors of one combination of them; all others go to LAPACK.
"""

from __future__ import annotations

import torch
from torch import Tensor

from eigentoken.numerics.certified.eigen import eigvals

__all__ = ["block_eigenvalues"]

#: Entries off the diagonal up to this part of the largest entry are rounding, as in the backward error of LAPACK's own.
ROUNDING = 2.0**-46
#: From this size on it is worth looking.
LEAST = 2


def block_eigenvalues(blocks: Tensor, alone: Tensor) -> Tensor:
    """The eigenvalues of the matrices of blocks ``(B, G, G, m, m)``, then those of the K matrices ``alone (B, K, m, m)``.

    They are complex; ``nan`` where an entry is not finite.

    >>> one, two = torch.diag(torch.tensor([1.0, 2.0], dtype=torch.float64)), torch.zeros(2, 2, dtype=torch.float64)
    >>> matrices = torch.stack([torch.stack([one, two]), torch.stack([two, -one])]).unsqueeze(0)
    >>> block_eigenvalues(matrices, one.reshape(1, 1, 2, 2)).real.sort().values
    tensor([[-2., -1.,  1.,  1.,  2.,  2.]], dtype=torch.float64)
    """
    count, groups, size = len(blocks), blocks.shape[1], blocks.shape[-1]
    everything = torch.cat([blocks.flatten(1, 2), alone], 1)
    finite = torch.isfinite(everything).flatten(1).all(-1)
    if not bool(finite.all()):
        everything = torch.where(finite[:, None, None, None], everything, torch.zeros_like(everything))
    if groups > 2 or size < LEAST or (torch.is_grad_enabled() and everything.requires_grad):
        found = _by_lapack(everything, groups)
    else:
        turned, together = _in_one_basis(everything)
        found = _written_down(turned, groups)
        if not bool(together.all()):
            found[~together] = _by_lapack(everything[~together], groups)
    if not bool(finite.all()):
        found = torch.where(finite.unsqueeze(-1), found, torch.full_like(found, torch.nan))
    return found.reshape(count, -1)


def _by_lapack(everything: Tensor, groups: int) -> Tensor:
    """The same, without a look at the structure."""
    size = everything.shape[-1]
    whole = everything[:, : groups**2].unflatten(1, (groups, groups)).movedim(3, 2)
    values = eigvals(whole.reshape(len(everything), groups * size, groups * size))
    rest = everything[:, groups**2 :]
    return torch.cat([values, eigvals(rest).flatten(1)], -1) if rest.shape[1] else values


def _in_one_basis(everything: Tensor) -> tuple[Tensor, Tensor]:
    """The diagonals ``(B, J, m)`` of all matrices in a basis of eigenvectors of one combination; and are they diagonal in it?"""
    scale = everything.abs().flatten(1).amax(-1)
    limit = ROUNDING * scale
    symmetric = (everything - everything.mT).abs().flatten(1).amax(-1) <= limit
    diagonals = everything.diagonal(dim1=-2, dim2=-1).clone()
    some = symmetric.nonzero().flatten()
    if len(some) == 0:
        return diagonals, symmetric
    asked = everything if len(some) == len(everything) else everything[some]
    # any numbers without a relation: the combination tells apart what its parts tell apart
    numbers = torch.arange(1, asked.shape[1] + 1, dtype=torch.float64).sqrt() + 0.37
    combined = (numbers[:, None, None] * asked).sum(1)
    basis = torch.linalg.eigh(combined).eigenvectors.unsqueeze(1)
    turned = basis.mT @ asked @ basis
    diagonal = turned.diagonal(dim1=-2, dim2=-1)
    rest = (turned - torch.diag_embed(diagonal)).abs().flatten(1).amax(-1)
    diagonals[some] = diagonal
    together = symmetric.clone()
    together[some] = rest <= limit[some]
    return diagonals, together


def _written_down(diagonals: Tensor, groups: int) -> Tensor:
    """The eigenvalues of one or two groups from the diagonals of their blocks, and of those alone, as they stand."""
    rest = diagonals[:, groups**2 :].flatten(1)
    if groups == 1:
        return _complex(torch.cat([diagonals[:, 0], rest], -1))
    a, b, c, d = diagonals[:, 0], diagonals[:, 1], diagonals[:, 2], diagonals[:, 3]
    middle, half = (a + d) / 2, (a - d) / 2
    below = half * half + b * c
    root = below.abs().sqrt()
    real, turning = (
        torch.where(below >= 0, root, torch.zeros_like(root)),
        torch.where(below < 0, root, torch.zeros_like(root)),
    )
    pairs = torch.complex(torch.cat([middle + real, middle - real], -1), torch.cat([turning, -turning], -1))
    return torch.cat([pairs, _complex(rest)], -1)


def _complex(real: Tensor) -> Tensor:
    return torch.complex(real, torch.zeros_like(real))
