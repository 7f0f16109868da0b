"""Trajectories of a batch on another device: the loops of :mod:`eigentoken.numerics.readings.trajectories` in torch alone.

On the processor small batches go through numpy, whose calls cost less; a device has tensors and nothing else, and is wide, so
instances that have come to rest stay in the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.theory.systems.system import Space

__all__ = ["is_elsewhere", "on", "runs_of_a_flow", "runs_of_a_map"]

_ELSEWHERE: ContextVar[bool] = ContextVar("batches_are_on_a_device", default=False)


@contextmanager
def on(device: str) -> Iterator[None]:
    """New tensors are made on the device, and trajectories are followed there."""
    token = _ELSEWHERE.set(True)
    try:
        with torch.device(device), torch.no_grad():
            yield
    finally:
        _ELSEWHERE.reset(token)


def is_elsewhere() -> bool:
    """Are batches on a device?"""
    return _ELSEWHERE.get()


def _lengths(x: Tensor) -> Tensor:
    """The length of the longest token of each instance."""
    return torch.linalg.vector_norm(x, dim=-1).amax(-1)


def runs_of_a_map(problem: Problem, x: Tensor, layers: int, look: int, still: float) -> tuple[Tensor, Tensor, Tensor]:
    """The last states, how far the last layer moved them, and whether they are finite."""
    before, step = x, torch.full_like(x[..., 0, 0], torch.inf)
    for first in range(0, layers, look):
        tick()
        for layer in range(first, min(layers, first + look)):
            before, x = x, problem.advance(x, layer)
        step, flip = _lengths(x - before), _lengths(x + before)
        if not bool(((torch.minimum(step, flip) > still) & torch.isfinite(step)).any()):
            break
    return x, step, torch.isfinite(x).all(-1).all(-1)


def runs_of_a_flow(
    problem: Problem,
    x: Tensor,
    strengths: tuple[Tensor, Tensor],
    steps: int,
    most_stiff: float,
    large: float,
    still: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same of a flow whose parameters do not depend on time, by the method of order 4; and the time that it took."""
    values, scores = strengths
    clock = torch.zeros_like(values)
    speed = size = torch.ones_like(values)
    euclidean = problem.system.space is Space.EUCLIDEAN
    x = problem.retract(x)
    for number in range(steps):
        tick()
        one = problem.advance(x, 0.0)
        speed = _lengths(one)
        active = speed > still
        if euclidean:
            size = _lengths(x)
            active = active & (size < large) & torch.isfinite(size)
        if number % 16 == 0 and not bool(active.any()):
            break
        safe = 1 / (values * (1 + (scores * size * size).clamp_max(most_stiff)))
        step = torch.where(active, safe, torch.zeros_like(safe))
        h = step[:, None, None]
        two = problem.advance(problem.retract(x + h / 2 * one), 0.0)
        three = problem.advance(problem.retract(x + h / 2 * two), 0.0)
        four = problem.advance(problem.retract(x + h * three), 0.0)
        after = problem.retract(x + h / 6 * (one + 2 * (two + three) + four))
        x = torch.where(active[:, None, None], after, x)
        clock = clock + step
    return x, speed, torch.isfinite(x).all(-1).all(-1), clock
