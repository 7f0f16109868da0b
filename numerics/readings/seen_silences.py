"""Where the linearization is silent: growth near the state that floats see from the parameters alone.

The proposals for :mod:`eigentoken.numerics.readings.silent_linearizations`, which certifies: a simulation from nearby starts
would take a time like one over the square of their distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.theory.systems.system import Space

__all__ = ["growth_nearby", "mirrored_lines"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
#: Numbers below this are zero, for a proposal.
SMALL = 1e-9


def growth_nearby(batch: Batch) -> Tensor:
    """For each instance a positive number where tokens near its state go away by an exact solution, else 0."""
    found = torch.zeros(batch.count, dtype=torch.float64)
    system = batch.system
    same = torch.linalg.vector_norm(batch.tokens - batch.tokens[:, :1], dim=-1).amax(-1) < SMALL
    if not system.standard or system.value is None:
        return found
    for index in range(batch.count):
        heads = batch.parameters.get("heads", (batch.parameters,))
        values = [np.asarray(head[system.value][index]) for head in heads if isinstance(head.get(system.value), Tensor)]
        if len(values) != len(heads) or any(value.ndim != 2 for value in values):
            continue
        F, v = sum(values[1:], values[0]), batch.tokens[index, 0].numpy()
        if not bool(same[index]):
            even = system.space is Space.SPHERE and float(batch.tokens[index].sum(0).abs().max()) < SMALL
            found[index] = _moved(F, v) if even and batch.mask is None else 0.0
        elif system.space is not Space.EUCLIDEAN:
            found[index] = _defective(F, v)
        elif float(np.abs(v).max()) < SMALL:
            score = batch.parameters.get(str(system.score))
            paired = isinstance(score, Tensor) and batch.mask is None and batch.n > 1 and not system.multihead
            lines = _lines(F, np.asarray(score[index])) if paired and score is not None else []
            found[index] = max([_drifts(F), *lines])
    return found


def _defective(F: Floats, v: Floats) -> float:
    shifted = F - float(v @ F @ v) / float(v @ v) * np.eye(len(v))
    if float(np.abs(shifted @ v).max()) > SMALL:
        return 0.0
    w = np.linalg.lstsq(shifted, v, rcond=SMALL)[0]
    return 0.1 if float(np.abs(shifted @ w - v).max()) < SMALL else 0.0


def _moved(F: Floats, v: Floats) -> float:
    """Is v an eigenvector of a positive eigenvalue, and is there a w beside it with ``F w = 0``?"""
    mu = float(v @ F @ v) / float(v @ v)
    if mu < SMALL or float(np.abs(F @ v - mu * v).max()) > SMALL:
        return 0.0
    return 0.1 if np.linalg.svd(np.vstack([F, v]))[1][-1] < SMALL else 0.0


def _drifts(F: Floats) -> float:
    rank = np.linalg.matrix_rank
    return 0.1 if rank(F, tol=SMALL) > rank(F @ F, tol=SMALL) else 0.0


def _lines(B: Floats, W: Floats) -> list[float]:
    return [growth for growth, _ in mirrored_lines(B, W)]


def mirrored_lines(B: Floats, W: Floats) -> list[tuple[float, Floats]]:
    """``b v^T W v`` and v for real eigenvectors v of B (largest entry 1), the extreme ones of each eigenspace."""
    found = []
    values = np.linalg.eigvals(B)
    real = sorted({round(float(each.real), 9) for each in values if abs(each.imag) < SMALL})
    for b in real:
        _, sizes, rows = np.linalg.svd(B - b * np.eye(len(B)))
        basis = rows[sizes < 1e-7].T
        if basis.shape[1] == 0:
            continue
        form = b * basis.T @ (W + W.T) @ basis / 2
        heights, shares = np.linalg.eigh(form)
        for at in {0, len(heights) - 1}:
            v = basis @ shares[:, at]
            found.append((float(heights[at]), v / v[int(np.abs(v).argmax())]))
    return found
