"""Where the linearization is silent: growth near the state that floats see from the parameters alone.

The proposals for :mod:`eigentoken.numerics.readings.silent_linearizations`, which certifies: a simulation from nearby starts
would take a time like one over the square of their distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.readings.centre_forms import centre_form
from eigentoken.numerics.readings.trajectories import problem_of, run
from eigentoken.theory.classification.instances import Instance, InstanceError
from eigentoken.theory.systems.system import Space, Time

__all__ = ["growth_nearby", "mirrored_lines", "only_carried"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
#: Numbers below this are zero, for a proposal.
SMALL = 1e-9
#: Singular values of a matrix of entries up to 1 that are zero, and below which it is not said whether they are.
ZERO, DOUBTFUL = 1e-8, 1e-4
#: A start that went far is tried again at these parts of its distance, and grows by the same factor up to this part of it.
NEARER, SAME = (1e-2, 5e-3), 0.05
#: So many states of a batch are looked at for a form on their centre directions.
LOOKED_AT = 8


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
            step = batch.parameters.get("alpha") if system.time is Time.MAP else None
            found[index] = _defective(F, v, None if step is None else float(step[index]))
        elif float(np.abs(v).max()) < SMALL:
            score = batch.parameters.get(str(system.score))
            paired = isinstance(score, Tensor) and batch.mask is None and batch.n > 1 and not system.multihead
            lines = _lines(F, np.asarray(score[index])) if paired and score is not None else []
            found[index] = max([_drifts(F), *lines])
    left = [index for index in range(batch.count) if found[index] <= 0]
    for index in left[:LOOKED_AT]:
        tick()
        found[index] = _on_the_centre(batch, index)
    return found


def only_carried(batch: Batch, nudge: Tensor, far: Tensor) -> Tensor:
    """Does a start at the nudge, which ends at a distance ``far``, only show a linear growth that ends?

    Where the linear part is far from normal, a start may end a thousand times as far away as it was, at a state that is stable.
    It is started again much nearer, and at half of that: a growth that ends has the same factor each time, and comes to rest.
    An instability leaves by other factors (a slow one hardly moves from there), or comes to no rest.
    """
    size = torch.linalg.vector_norm(nudge, dim=-1).amax(-1)
    factors, settled = [], torch.ones(batch.count, dtype=torch.bool)
    for scale in NEARER:
        end = run(batch.at(problem_of(batch).retract(batch.tokens + scale * nudge)))
        factors.append(torch.linalg.vector_norm(end.final - batch.tokens, dim=-1).amax(-1) / (scale * size))
        settled &= end.settled
    first, second = factors
    return settled & ((first - second).abs() <= SAME * second) & (4 * second >= far / size)


def _on_the_centre(batch: Batch, index: int) -> float:
    """Does a form on the centre directions grow, with the entries as rational numbers of eight decimal places?

    In a basis whose first vector is the direction of the tokens, where what is 0 up to rounding becomes 0.
    """
    v = batch.tokens[index, 0].numpy()
    flat = batch.system.space is Space.EUCLIDEAN
    if batch.system.space is Space.ELLIPSOID or (flat and float(batch.tokens[index].abs().max()) > SMALL):
        return 0.0
    sides = batch.tokens[index].numpy() @ v
    if not flat and float(np.abs(np.abs(sides) - 1).max()) > SMALL:
        return 0.0
    Q = np.eye(batch.d) if flat else np.linalg.qr(np.column_stack([v, np.eye(batch.d)]))[0][:, : batch.d]
    Q = Q if flat or float(Q[:, 0] @ v) > 0 else np.column_stack([-Q[:, 0], Q[:, 1:]])

    def turned(value: Any) -> Any:
        entry = np.asarray(value[index])
        rows = Q.T @ entry @ Q if entry.ndim == 2 else entry
        return [[_text(each) for each in row] for row in rows] if entry.ndim == 2 else _text(float(entry))

    given: dict[str, Any] = {}
    for name, value in batch.parameters.items():
        if name == "heads":
            given[name] = [
                {key: turned(each) for key, each in head.items() if isinstance(each, Tensor)} for head in value
            ]
        elif isinstance(value, Tensor) and value.ndim in (1, 3):
            given[name] = turned(value)
        elif value is not None:
            return 0.0
    tokens = [[0] * batch.d if flat else [round(float(side)), *[0] * (batch.d - 1)] for side in sides]
    try:
        form = centre_form(Instance.of(batch.system.name, tokens, batch.mask, **given))
    except (InstanceError, ValueError):
        return 0.0
    return 0.1 if form is not None and form.unstable else 0.0


def _text(value: float) -> str:
    return f"{round(float(value), 8):.8f}"


def _defective(F: Floats, v: Floats, alpha: float | None) -> float:
    """Is v an eigenvector with a defective eigenvalue?  Of a map: is the square of that of the layer?"""
    one = np.eye(len(v))
    mu = float(v @ F @ v) / float(v @ v)
    around = F - mu * one
    if float(np.abs(around @ v).max()) > SMALL or (alpha is not None and 1 + alpha * mu <= 0):
        return 0.0
    if alpha is not None:
        layer = one + alpha * F
        around = layer @ layer - (1 + alpha * mu) ** 2 * one
    return _drifts(around)


def _moved(F: Floats, v: Floats) -> float:
    """Is v an eigenvector of a positive eigenvalue, and is there a w beside it with ``F w = 0``?"""
    mu = float(v @ F @ v) / float(v @ v)
    if mu < SMALL or float(np.abs(F @ v - mu * v).max()) > SMALL:
        return 0.0
    return 0.1 if np.linalg.svd(np.vstack([F, v]))[1][-1] < SMALL else 0.0


def _drifts(F: Floats) -> float:
    """Is the eigenvalue 0 defective: has F^2 less rank?  Not where a singular value may be small or zero."""
    scale = max(float(np.abs(F).max()), SMALL)
    once, twice = (np.linalg.svd(each)[1] for each in (F / scale, F @ F / scale**2))
    zeros = once < ZERO
    if bool((~zeros & (once < DOUBTFUL)).any()):
        return 0.0
    return 0.1 if int(zeros.sum()) < int((twice < ZERO).sum()) else 0.0


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
