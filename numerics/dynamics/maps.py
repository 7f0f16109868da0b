"""The papers' discrete maps, layer after layer, with memory bounded by the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.theory.systems.algebra import Number
from eigentoken.theory.systems.system import Time

__all__ = ["Orbit", "iterate"]


#: How many numbers of a batch are taken through all layers at once: what a processor's cache holds.
CHUNK = 1 << 16


@dataclass(frozen=True)
class Orbit:
    """The last state of an iteration, the one before it, and what was recorded.

    ``settled`` marks the instances that stopped moving or only change sign (``|f(x) - x|`` or ``|f(x) + x|`` at most
    the stopping distance for every token).
    """

    final: Tensor
    previous: Tensor
    layers: int
    times: list[int]
    states: Tensor | None
    observed: Mapping[str, list[Number]]
    settled: Tensor
    finite: Tensor


def iterate(
    problem: Problem,
    x: Tensor,
    layers: int,
    *,
    every: int | None = None,
    keep: bool = True,
    observe: Callable[[int, Tensor], Mapping[str, Number]] | None = None,
    stop_distance: float | None = None,
    check_every: int = 16,
    first_layer: int = 0,
) -> Orbit:
    """``x(k+1) = f_k(x(k))`` for ``layers`` layers; ``every`` asks for the states at multiples of it.

    The arithmetic is that of ``x``: its dtype, on its device.
    Functions among the parameters are called with the layer number.  A token that meets ``y_i = 0``, where the map is
    undefined, becomes not-a-number and its instance is reported as not finite.
    """
    if problem.system.time is not Time.MAP:
        raise ValueError(f"{problem.system.name} is a flow: follow it (eigentoken.numerics.dynamics.flows.follow)")
    problem = problem.like(x)
    if every is None and observe is None and x.ndim == 3 and x.numel() > 2 * CHUNK and not problem.batched:
        size = max(1, CHUNK // (x.shape[-2] * x.shape[-1]))
        runs = [
            iterate(
                problem, part, layers, stop_distance=stop_distance, check_every=check_every, first_layer=first_layer
            )
            for part in x.split(size)
        ]
        final, previous, settled, finite = (
            torch.cat([getattr(run, name) for run in runs]) for name in ("final", "previous", "settled", "finite")
        )
        return Orbit(final, previous, max(run.layers for run in runs), [], None, {}, settled, finite)
    times: list[int] = []
    states: list[Tensor] = []
    observed: dict[str, list[Any]] = {}

    def record(k: int, state: Tensor) -> None:
        times.append(k)
        if keep:
            states.append(state)
        if observe is not None:
            for name, value in observe(k, state).items():
                observed.setdefault(name, []).append(value)

    settled = torch.zeros(x.shape[:-2], dtype=torch.bool, device=x.device)
    previous = x = problem.retract(x)
    if every is not None:
        record(0, x)
    done = 0
    for k in range(layers):
        previous, x = x, problem.advance(x, first_layer + k)
        done = k + 1
        if every is not None and done % every == 0:
            record(done, x)
        if stop_distance is not None and done % check_every == 0:
            settled = _at_rest(previous, x, stop_distance)
            if bool((settled | ~torch.isfinite(x).all(-1).all(-1)).all()):
                break
    if stop_distance is not None and done:
        settled = _at_rest(previous, x, stop_distance)
    if every is not None and times[-1] != done:
        record(done, x)
    finite = torch.isfinite(x).all(-1).all(-1)
    return Orbit(x, previous, done, times, torch.stack(states) if states else None, observed, settled, finite)


def _at_rest(previous: Tensor, x: Tensor, distance: float) -> Tensor:
    still = torch.linalg.vector_norm(x - previous, dim=-1).amax(-1)
    flipped = torch.linalg.vector_norm(x + previous, dim=-1).amax(-1)
    return torch.minimum(still, flipped) <= distance
