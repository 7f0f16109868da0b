"""Rings of tokens ``x_i = R^i z`` with ``R^m = 1``: symmetric states of Euclidean flows, as a place to look for escape.

A ring is kept where R commutes with the values and leaves the scores unchanged.  Weights of the plane that are drawn are brought
to that form: sym(W) to the form that R keeps, by a change of basis, and B to the matrices that commute with R; far out the ring
moves like ``z' = B R^s z``, s the step to the token that is attended to most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Contradiction, Plan
from eigentoken.numerics.instances.sampling import condition_violation, sample
from eigentoken.theory.systems.system import Space, Time

__all__ = ["FINE", "growing_rings", "has_rings"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
#: Integer matrices of finite order with the form that each keeps.
TURNS: dict[int, tuple[list[list[int]], list[list[int]]]] = {
    3: ([[0, -1], [1, -1]], [[2, -1], [-1, 2]]),
    4: ([[0, -1], [1, 0]], [[1, 0], [0, 1]]),
    6: ([[0, -1], [1, 1]], [[2, 1], [1, 2]]),
}
#: Entries are multiples of 1/FINE, so that rounding keeps the form.
FINE = 4
#: The ring is so large that its weights are nearly those of one token.
SHARP = 14.0


def has_rings(plan: Plan) -> bool:
    """Is the plan about one head of the papers' Euclidean flow, full attention, with room for a ring in the plane?"""
    system = plan.system
    plain = system.standard and not system.multihead and system.rotary is None and not system.over_root_d
    free = plan.mask is None and plan.place is None and system.value is not None and system.score is not None
    flat = system.space is Space.EUCLIDEAN and system.time is Time.FLOW
    return plain and free and flat and 2 in plan.d and any(m in plan.n for m in TURNS)


def growing_rings(plan: Plan, count: int, seed: int) -> Iterator[tuple[Batch, Tensor]]:
    """Batches of rings that satisfy the conditions, and how fast they grow far out (negative: they do not)."""
    for order, (turn, kept) in TURNS.items():
        if order not in plan.n:
            continue
        narrowed = replace(plan, timed=()).sized((order,), (2,))
        try:
            drawn = sample(narrowed, count, seed, cells_at_most=6).batches
        except (Contradiction, ValueError):
            continue
        R, form = np.array(turn, dtype=float), np.array(kept, dtype=float)
        for batch in drawn:
            tick()
            rows = [_ring(batch, index, R, form, order) for index in range(batch.count)]
            good = [row for row in rows if row is not None]
            if not good:
                continue
            value, score = str(plan.system.value), str(plan.system.score)
            made = batch.take([0] * len(good))
            matrices = [torch.tensor(np.stack([row[part] for row in good])) for part in range(3)]
            numbers, tokens = {value: matrices[0], score: matrices[1]}, matrices[2]
            ready = replace(made.with_parameters({**made.parameters, **numbers}, tokens), groups=None)
            allowed = condition_violation(plan, ready) < 0
            speed = torch.tensor([row[3] for row in good], dtype=torch.float64)
            yield ready, torch.where(allowed, speed, -torch.ones_like(speed))


def _ring(batch: Batch, index: int, R: Floats, form: Floats, order: int) -> tuple[Floats, Floats, Floats, float] | None:
    """B, W and the tokens of the ring nearest to the weights of one instance, and its growth."""
    B, W = (batch.named(str(name))[index].numpy() for name in (batch.system.value, batch.system.score))
    values, vectors = np.linalg.eigh((W + W.T) / 2)
    if values[0] * values[1] <= 1e-9:
        return None
    sign = float(np.sign(values[0]))
    root = vectors @ np.diag(np.abs(values) ** -0.5) @ vectors.T
    T = root @ np.linalg.cholesky(form).T  # T^T sym(W) T = sign form
    skew = round(float((T.T @ W @ T)[1, 0] - (T.T @ W @ T)[0, 1]) / 2 * FINE) / FINE
    own = sign * form + skew * np.array([[0.0, -1.0], [1.0, 0.0]])
    parts = np.stack([np.eye(2).ravel(), R.ravel()], 1)
    shares = np.linalg.lstsq(parts, (np.linalg.inv(T) @ B @ T).ravel(), rcond=None)[0]
    p, q = (round(float(each) * FINE) / FINE for each in shares)
    value = p * np.eye(2) + q * R
    powers = [np.linalg.matrix_power(R, step) for step in range(order)]
    heights = np.array([(own @ power)[0, 0] / form[0, 0] for power in powers])  # z^T W R^s z = height z^T form z
    best = int(heights.argmax())
    second = float(np.partition(heights, -2)[-2])
    if heights[best] - second < 1e-6:
        return None
    growth = float(np.linalg.eigvals(value @ powers[best]).real.min())
    radius = float(np.ceil((SHARP / (heights[best] - second) / form[0, 0]) ** 0.5))
    tokens = np.stack([power @ np.array([radius, 0.0]) for power in powers])
    return value, own, tokens, growth
