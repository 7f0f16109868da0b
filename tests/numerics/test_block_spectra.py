"""Eigenvalues of blocks: those of LAPACK, whether the blocks commute or not, and nearly."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from eigentoken.numerics.readings import block_spectra
from eigentoken.numerics.readings.block_spectra import ROUNDING, block_eigenvalues


def polynomials(count: int, groups: int, size: int, alone: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Blocks that are polynomials in one symmetric matrix each."""
    raw = torch.randn(count, size, size, generator=source, dtype=torch.float64)
    one = (raw + raw.mT) / 2
    weights = torch.randn(count, groups * groups + alone, 3, 1, 1, generator=source, dtype=torch.float64)
    eye = torch.eye(size, dtype=torch.float64)
    made = weights[:, :, 0] * eye + weights[:, :, 1] * one[:, None] + weights[:, :, 2] * (one @ one)[:, None]
    made = (made + made.mT) / 2
    return made[:, : groups * groups].unflatten(1, (groups, groups)), made[:, groups * groups :]


def by_numpy(blocks: Tensor, alone: Tensor) -> np.ndarray:
    count, groups, size = len(blocks), blocks.shape[1], blocks.shape[-1]
    whole = blocks.movedim(3, 2).reshape(count, groups * size, groups * size).numpy()
    parts = [np.linalg.eigvals(whole), *(np.linalg.eigvals(alone[:, k].numpy()) for k in range(alone.shape[1]))]
    return np.concatenate([each.astype(complex) for each in parts], -1)


def matched(found: Tensor, wanted: np.ndarray) -> float:
    """The largest distance of an eigenvalue to the nearest of the other list, both ways."""
    apart = np.abs(found.numpy()[:, :, None] - wanted[:, None, :])
    return float(max(apart.min(1).max(), apart.min(2).max()))


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_they_are_those_of_the_whole_matrix(groups: int, size: int) -> None:
    source = torch.Generator().manual_seed(groups * 10 + size)
    blocks, alone = polynomials(40, groups, size, 2, source)
    found = block_eigenvalues(blocks, alone)
    assert found.shape == (40, groups * size + 2 * size)
    assert matched(found, by_numpy(blocks, alone)) < 1e-6  # a pair that is nearly defective errs by a root
    mixed = blocks + torch.randn(blocks.shape, generator=source, dtype=torch.float64)
    assert matched(block_eigenvalues(mixed, alone), by_numpy(mixed, alone)) < 1e-6


def test_blocks_that_do_not_quite_commute_go_to_lapack(monkeypatch: pytest.MonkeyPatch) -> None:
    source = torch.Generator().manual_seed(5)
    blocks, alone = polynomials(30, 2, 3, 1, source)
    asked: list[int] = []
    lapack = block_spectra._by_lapack
    monkeypatch.setattr(
        block_spectra, "_by_lapack", lambda every, groups: (asked.append(len(every)), lapack(every, groups))[1]
    )
    block_eigenvalues(blocks, alone)
    assert asked == []
    blocks[7, 0, 1, 0, 2] += 100 * ROUNDING * float(blocks[7].abs().max())
    assert matched(block_eigenvalues(blocks, alone), by_numpy(blocks, alone)) < 1e-6
    assert asked == [1]


def test_what_is_not_finite_is_nan_alone() -> None:
    source = torch.Generator().manual_seed(6)
    blocks, alone = polynomials(4, 2, 3, 1, source)
    blocks[2, 1, 1, 0, 0] = torch.inf
    found = block_eigenvalues(blocks, alone)
    assert bool(found[2].isnan().all()) and bool(torch.isfinite(found[[0, 1, 3]].abs()).all())
