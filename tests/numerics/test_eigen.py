"""Eigenvalues of small general matrices: right, with their gradient, and without the fault of torch's own LAPACK."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from eigentoken.numerics.certified.eigen import SMALL, eig, eigvals

#: On this matrix ``torch.linalg.eig`` of torch 2.13 (MKL 2024.2) gives up and corrupts memory: it must not be given to it.
FATAL = [[0.0, 0.7891509044020647, 1.3103412174629576], [0.0, 0.0, 0.46911479266384876], [0.0, 0.0, 0.0]]


def matrices(size: int, count: int = 40) -> torch.Tensor:
    generator = torch.Generator().manual_seed(size)
    return torch.randn(count, size, size, generator=generator, dtype=torch.float64)


def test_the_matrix_that_kills_torch() -> None:
    upper = torch.tensor([FATAL], dtype=torch.float64)
    skew = upper - upper.mT
    length = float(torch.linalg.vector_norm(upper))
    for given in (skew, skew.mT):
        assert torch.allclose(eigvals(given).imag.sort().values, torch.tensor([[-length, 0.0, length]]).double())
        numbers, vectors = eig(given)
        assert torch.allclose(given.to(vectors.dtype) @ vectors, vectors * numbers.unsqueeze(-2))


@pytest.mark.parametrize("size", [1, 2, 3, 5, SMALL, SMALL + 1])
def test_pairs_are_eigenpairs(size: int) -> None:
    given = matrices(size)
    numbers, vectors = eig(given)
    assert torch.allclose(given.to(vectors.dtype) @ vectors, vectors * numbers.unsqueeze(-2))
    assert torch.allclose(torch.linalg.vector_norm(vectors, dim=-2), torch.ones(len(given), size).double())
    alone = eigvals(given)
    assert torch.allclose(alone.sum(-1).real, given.diagonal(dim1=-2, dim2=-1).sum(-1))
    assert torch.allclose(alone.prod(-1).real, torch.linalg.det(given))


@pytest.mark.parametrize("size", [2, 4, 6])
def test_the_gradient_is_that_of_differences(size: int) -> None:
    given = matrices(size, 6).requires_grad_()
    eigvals(given).real.amax(-1).sum().backward()
    assert given.grad is not None
    direction = torch.randn(6, size, size, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    h = 1e-6
    with torch.no_grad():
        ends = [eigvals(given + sign * h * direction).real.amax(-1) for sign in (1, -1)]
    assert torch.allclose((given.grad * direction).sum((-1, -2)), (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-7)


def test_matrices_that_are_not_finite_are_told() -> None:
    given = matrices(3, 3)
    given[1, 0, 0] = torch.nan
    given[2, 1, 0] = torch.inf
    numbers, vectors = eig(given)
    assert numbers.isnan().any(-1).tolist() == [False, True, True]
    assert vectors.isnan().all(-1).all(-1).tolist() == [False, True, True]
    assert eigvals(given).isnan().any(-1).tolist() == [False, True, True]


def test_nothing_else_calls_the_eigenvalues_of_torch() -> None:
    """One place decides; ``eigh`` of symmetric matrices is another routine, and sound."""
    root = Path(__file__).parents[2]
    called = re.compile(r"torch\.linalg\.eig(vals)?\(")
    found = [
        str(file.relative_to(root))
        for room in ("theory", "numerics", "models", "proofs", "src")
        for file in (root / room).rglob("*.py")
        if called.search(file.read_text(encoding="utf-8"))
    ]
    assert found == [str(Path("numerics") / "certified" / "eigen.py")]


def test_skew_matrices_by_the_thousand() -> None:
    generator = torch.Generator().manual_seed(0)
    upper = torch.randn(20_000, 3, 3, generator=generator, dtype=torch.float64)
    skew = upper - upper.mT
    sizes = torch.linalg.matrix_norm(skew) / np.sqrt(2)
    assert torch.allclose(eigvals(skew).imag.amax(-1), sizes)
