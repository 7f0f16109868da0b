"""Runge-Kutta methods that stay on the manifold.

The velocity is evaluated at the retracted point: ``k = f(pi(y))``.  This extension of the field off the manifold is
smooth, equal to f on it, and has no radial motion, so a method of order p keeps its order and the state is put back by
the retraction after each step (AB-E7: the plain extension can be radially unstable).  The tableaus (Dormand-Prince
5(4), Bogacki-Shampine 3(2), with their dense outputs) are scipy's; the loop is ours because scipy has no batches and no
retraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.theory.systems.algebra import Number
from eigentoken.theory.systems.system import Space, Time

__all__ = ["METHODS", "Flow", "Tableau", "follow", "tableau"]

METHODS = ("dopri5", "bosh3", "rk4")

#: A step is predicted to have ``SAFETY^order`` of the allowed error.
SAFETY = 0.9

#: Scales that modulate a score may be wrong by this share of ``rtol``, relative to the largest: a state that is known to
#: ``rtol`` leaves its scores uncertain by twice that, and what is wrong here enters the step times its length.
MODULATION = 0.25

#: Velocities are found in float32 where that moves no probed token by more than this share of what the step may be wrong by.
SINGLE = 1 / 64

#: How many numbers of a batch make a step together, on each thread: what the caches of one core hold.
CHUNK = 1 << 18

Observer = Callable[[float, Tensor], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Tableau:
    """An explicit method: stages A, C, weights B, error weights E and interpolant P (``None``: not embedded)."""

    order: int
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    E: np.ndarray | None
    P: np.ndarray | None


@cache
def tableau(method: str) -> Tableau:
    """``dopri5``, ``bosh3`` (adaptive) or ``rk4`` (fixed step only)."""
    if method == "rk4":
        A = np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]])
        return Tableau(4, A, np.array([1, 2, 2, 1]) / 6, np.array([0, 0.5, 0.5, 1]), None, None)
    from scipy.integrate import RK23, RK45

    known = {"dopri5": (RK45, 5), "bosh3": (RK23, 3)}
    if method not in known:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    scheme, order = known[method]
    return Tableau(order, scheme.A, scheme.B, scheme.C, scheme.E, scheme.P)


@dataclass(frozen=True)
class Flow:
    """What an integration gives: the last state, and what was asked for on the way.

    ``states`` is (times, ..., n, d) and is kept only when asked for; ``observed`` maps each observable to its values at
    ``times``.  ``settled`` marks the instances whose speed fell below the stopping speed, ``finite`` the finite ones.
    """

    final: Tensor
    end: float
    times: list[float]
    states: Tensor | None
    observed: Mapping[str, list[Number]]
    settled: Tensor
    finite: Tensor
    evaluations: int
    steps: int
    rejected: int
    statistics: Mapping[str, Any] = field(default_factory=dict)


def follow(
    problem: Problem,
    x: Tensor,
    end: float,
    *,
    start: float = 0.0,
    at: Sequence[float] | None = None,
    keep: bool = True,
    observe: Observer | None = None,
    method: str = "dopri5",
    step: float | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    stop_speed: float | None = None,
    max_steps: int = 100_000,
    reduce: bool = True,
) -> Flow:
    """Integrate ``x' = f(t, x)`` from ``start`` to ``end`` (backwards if ``end < start``) for a batch (..., n, d).

    One step size serves the batch: the local error of every token of every instance is kept below
    ``atol + rtol |x_i|`` in norm, a criterion that no rotation changes.  With ``step`` the size is fixed.  ``at`` lists
    output times (dense output, retracted); ``stop_speed`` ends the run once every token of every instance is slower.
    The arithmetic is that of ``x``: its dtype, on its device; velocities of many unit tokens alone are found in float32 where
    that moves no probed token by more than a 64th of what the step may be wrong by, and added to the tokens in their own.
    Memory is that of the state unless ``keep`` and ``at`` ask for more.  ``reduce`` uses the span of the tokens where
    that is invariant and smaller (exact; see :meth:`Problem.span_reduction`).
    """
    _check(problem, x, method, step)
    problem = problem.like(x)
    reduction = problem.span_reduction(x) if reduce and not _metric_moves(problem) else None
    if reduction is None:
        return _Stepper(problem, tableau(method), lambda y: y).run(
            x, start, end, at, keep, observe, step, rtol, atol, stop_speed, max_steps
        )
    stepper = _Stepper(reduction.problem, tableau(method), reduction.lift)
    return stepper.run(reduction.coordinates, start, end, at, keep, observe, step, rtol, atol, stop_speed, max_steps)


def _check(problem: Problem, x: Tensor, method: str, step: float | None) -> None:
    if problem.system.time is not Time.FLOW:
        raise ValueError(f"{problem.system.name} is a map: iterate it (eigentoken.numerics.dynamics.maps.iterate)")
    if x.ndim < 2 or not torch.isfinite(x).all():
        raise ValueError(f"tokens must be finite with shape (..., n, d), got shape {tuple(x.shape)}")
    if tableau(method).E is None and step is None:
        raise ValueError(f"method {method} has a fixed step: give step, or use dopri5")


def parts(problem: Problem, x: Tensor) -> list[slice]:
    """The instances that are stepped together: all of them where they have matrices of their own, or are small."""
    size = CHUNK * torch.get_num_threads() // (x.shape[-2] * x.shape[-1])
    whole = problem.fused is not None or problem.batched or x.ndim != 3 or x.device.type != "cpu"
    if whole or x.shape[0] <= 2 * max(1, size):
        return [slice(None)]
    return [slice(begin, begin + max(1, size)) for begin in range(0, x.shape[0], max(1, size))]


def token_norms(x: Tensor) -> Tensor:
    """``|x_i|`` for each token."""
    return torch.linalg.vector_norm(x, dim=-1)


def _in_singles(now: Problem) -> bool:
    """Can tokens in float32 be pushed at this time?"""
    return now.whole is not None and now.whole.singles is not None


def _metric_moves(problem: Problem) -> bool:
    return problem.system.metric is not None and callable(problem.parameters.get(problem.system.metric))


class _Stepper:
    """One integration.

    A step is made for a few instances at a time, so that their stages and all that comes between them stay in the cache:
    ``stages`` has one buffer (stages, instances, n, d) for each of the ``parts`` of the batch.
    """

    def __init__(self, problem: Problem, scheme: Tableau, lift: Callable[[Tensor], Tensor]) -> None:
        self.problem, self.scheme, self.lift = problem, scheme, lift
        self.evaluations = 0
        self.within = 0.0
        self.single = False
        self.parts: list[slice] = [slice(None)]
        self.stages: list[Tensor] = []
        self._now: dict[float, Problem] = {}
        self._still: Problem | None = None

    def begin(self, x: Tensor, t: float) -> None:
        """Cut the batch into parts and put the velocity at ``x`` into the first stage."""
        now = self.at(t, x)
        self.single, self.parts = self.single and _in_singles(now), parts(now, x)
        kind = torch.float32 if self.single else x.dtype
        self.stages = [x.new_empty(len(self.scheme.C) + 1, *x[part].shape, dtype=kind) for part in self.parts]
        for stages, part in zip(self.stages, self.parts, strict=True):
            stages[0] = now.advance(x[part].to(kind), t)
        self.evaluations += 1

    def at(self, t: float, like: Tensor) -> Problem:
        """The problem of one time; a function of time is called once for all parts, and there is one where none depends on it."""
        if self._still is not None:
            return self._still
        if t not in self._now:
            self._now[t] = self.problem.at(t, like, self.single)
            if self.problem.autonomous or self.problem.fused is not None:
                self._still = self._now[t]
            if len(self.parts) > 1 and self._now[t].batched:  # from now on every instance has matrices of its own
                self.parts, self.stages = [slice(None)], [torch.cat(self.stages, dim=1)]
        return self._now[t]

    def _of_unit_doubles(self, x: Tensor, t: float) -> bool:
        """Are the tokens float64 vectors of length 1, on the processor?"""
        there = x.dtype is torch.float64 and x.device.type == "cpu" and self.problem.system.space is not Space.EUCLIDEAN
        return there and self.problem.metric(t) is None

    def speed(self) -> Tensor:
        """The fastest token of each instance at the beginning of the step."""
        return torch.cat([token_norms(stages[0]).amax(-1).reshape(-1) for stages in self.stages])

    def combine(self, weights: np.ndarray, stages: Tensor, start: Tensor | None = None) -> Tensor:
        """``start + sum_s weights_s stages_s`` in one pass over the stages (no start: without it)."""
        used = np.flatnonzero(weights)
        count = int(used[-1]) + 1 if len(used) else 0
        if count == 0:
            return torch.zeros_like(stages[0]) if start is None else start.clone()
        if start is not None and start.dtype != stages.dtype:
            return start + self.combine(weights, stages)
        vector = torch.as_tensor(weights[:count], dtype=stages.dtype, device=stages.device)
        columns = stages[:count].reshape(count, -1).mT
        sums = columns @ vector if start is None else torch.addmv(start.reshape(-1), columns, vector)
        return sums.reshape(stages.shape[1:])

    def attempt(self, t: float, h: float, x: Tensor, allowed: tuple[float, float] | None) -> tuple[Tensor, float]:
        """Fill the stages; the new point, retracted, at which the last stage is the velocity, and its error.

        The error is that of the worst token in units of what is ``allowed`` (rtol and atol), 0 where none is asked for.
        """
        times = [t + h * float(c) for c in self.scheme.C]
        self._now = {time: now for time, now in self._now.items() if time == t}
        if self.problem.fused is not None:
            self.problem.fused.prepare([*times[1:], t + h], self.within)
        found = [self.at(time, x) for time in (*times, t + h)]
        if self.single and not (all(map(_in_singles, found)) and allowed and not self.shows(t, h, x, *allowed)):
            self.single, self._still, self._now = False, None, {}  # from here on in the arithmetic of the tokens alone
            self.begin(x, t)
            for time in (*times, t + h):
                self.at(time, x)
        self.evaluations += len(times)
        if len(self.parts) == 1:
            new = self.fill(times, h, x, self.stages[0])
            return new, 0.0 if allowed is None else self.error(h, x, new, self.stages[0], *allowed)
        new, worst = torch.empty_like(x), 0.0
        for stages, part in zip(self.stages, self.parts, strict=True):
            new[part] = self.fill(times, h, x[part], stages)
            if allowed is not None:
                worst = max(worst, self.error(h, x[part], new[part], stages, *allowed))
        return new, worst

    def shows(self, t: float, h: float, x: Tensor, rtol: float, atol: float) -> bool:
        """Would velocities in float32 show in a step, beside what it may be wrong by?"""
        whole = self.at(t, x).whole
        return whole is not None and not abs(h) * whole.rounding(x) <= SINGLE * (rtol + atol)

    def fill(self, times: Sequence[float], h: float, x: Tensor, stages: Tensor) -> Tensor:
        """The stages of one part, and its new point."""
        start = x.to(stages.dtype)
        for s in range(1, len(times)):
            now = self.at(times[s], x)
            point = self.combine(h * self.scheme.A[s, :s], stages, start)
            stages[s] = now.advance(now.retract(point, times[s]), times[s])
        end = times[0] + h
        now = self.at(end, x)
        new = now.retract(self.combine(h * self.scheme.B, stages, x), end)
        stages[-1] = now.advance(new.to(stages.dtype), end)
        return new

    def error(self, h: float, x: Tensor, new: Tensor, stages: Tensor, rtol: float, atol: float) -> float:
        assert self.scheme.E is not None
        gap = token_norms(self.combine(self.scheme.E, stages)).to(x.dtype).mul_(abs(h))
        scale = torch.maximum(token_norms(x), token_norms(new)).mul_(rtol).add_(atol)
        worst = float(gap.div_(scale).max().detach())
        return worst if math.isfinite(worst) else math.inf

    def between(self, theta: float, h: float, x: Tensor, new: Tensor, t: float) -> Tensor:
        """Dense output at ``t + theta h``."""
        if theta == 1.0:
            return new
        y = torch.empty_like(x)
        for stages, part in zip(self.stages, self.parts, strict=True):
            if self.scheme.P is not None:
                powers = np.array([theta ** (k + 1) for k in range(self.scheme.P.shape[1])])
                y[part] = self.combine(h * (self.scheme.P @ powers), stages, x[part])
            else:
                a, b = theta, 1 - theta
                y[part] = (
                    (1 + 2 * a) * b * b * x[part]
                    + a * a * (3 - 2 * a) * new[part]
                    + h * (a * b * b * stages[0] - a * a * b * stages[-1])
                )
        return self.problem.retract(y, t + theta * h)

    def first_step(self, t: float, end: float, x: Tensor, rtol: float, atol: float) -> float:
        """The size at which ``h^p max(|x'|, |x''|)`` is the tolerance (Hairer, Norsett, Wanner, II.4, without their
        factor 0.01: a first step that is too long costs one attempt, one that is too short costs two or three).
        """
        direction, span = 1.0 if end >= t else -1.0, abs(end - t)
        k = torch.cat([stages[0] for stages in self.stages]) if len(self.parts) > 1 else self.stages[0][0]
        scale = token_norms(x).mul_(rtol).add_(atol)
        d0 = float((token_norms(x) / scale).square().mean(-1).max().sqrt())
        d1 = float((token_norms(k) / scale).square().mean(-1).max().sqrt())
        h0 = min(0.01 * d0 / d1, span) if d0 > 1e-5 and d1 > 1e-5 else min(1e-6, span)
        t1 = t + direction * h0
        now = self.at(t1, x)
        y = now.retract(torch.add(x, k, alpha=direction * h0), t1).to(k.dtype)
        k1 = torch.cat([now.advance(y[part], t1) for part in self.parts]) if len(self.parts) > 1 else now.advance(y, t1)
        self.evaluations += 1
        d2 = float((token_norms(k1 - k) / scale).square().mean(-1).max().sqrt()) / h0
        top = max(d1, d2)
        h1 = max(1e-6, h0 * 1e-3) if top <= 1e-15 else (1 / top) ** (1 / self.scheme.order)
        return min(100 * h0, h1)

    def run(
        self,
        x: Tensor,
        start: float,
        end: float,
        at: Sequence[float] | None,
        keep: bool,
        observe: Observer | None,
        step: float | None,
        rtol: float,
        atol: float,
        stop_speed: float | None,
        max_steps: int,
    ) -> Flow:
        self.within = MODULATION * rtol if step is None else 0.0
        # a run that waits for a small speed needs velocities that are exact where they are small
        self.single = step is None and stop_speed is None and self._of_unit_doubles(x, start)
        direction = 1.0 if end >= start else -1.0
        wanted = [] if at is None else sorted((float(t) for t in at), reverse=direction < 0)
        recorder = _Recorder(wanted, direction, keep, observe, self.lift)
        x = self.problem.retract(x, start)
        self.begin(x, start)
        recorder.at_start(start, x)
        t, steps, rejected = start, 0, 0
        settled = torch.zeros(x.shape[:-2], dtype=torch.bool, device=x.device)
        h = abs(step) if step is not None else self.first_step(start, end, x, rtol, atol)
        order = self.scheme.order
        while direction * (end - t) > 0 and steps < max_steps:
            if stop_speed is not None:
                settled = self.speed().reshape(settled.shape) <= stop_speed
                if bool(settled.all()):
                    break
            remaining = abs(end - t)
            longest = h if step is not None else h / SAFETY  # predicted to be within the tolerance still
            size = remaining if longest > remaining * (1 - 1e-12) else h
            signed = direction * size
            new, worst = self.attempt(t, signed, x, None if step is not None else (rtol, atol))
            if step is None:
                if worst > 1:
                    rejected += 1
                    h = size * (max(0.2, SAFETY * worst ** (-1 / order)) if math.isfinite(worst) else 0.1)
                    if h < 1e-14 * max(1.0, abs(t)) or rejected > max_steps:
                        break
                    continue
                grown = size * min(10.0, SAFETY * worst ** (-1 / order) if worst > 0 else 10.0)
                h = max(grown, h) if size < h and grown < h else grown
            reached = end if size == remaining else t + signed
            recorder.during(t, signed, reached, partial(self.between, h=signed, x=x, new=new, t=t))
            x, t = new, reached
            for stages in self.stages:
                stages[0] = stages[-1]
            steps += 1
            if not math.isfinite(float(x.detach().sum())):
                break
        recorder.at_end(t, x)
        if stop_speed is not None:
            settled = self.speed().reshape(settled.shape) <= stop_speed
        final = self.lift(x)
        finite = torch.isfinite(final).all(-1).all(-1)
        return Flow(
            final,
            t,
            recorder.times,
            recorder.stacked(),
            recorder.observed,
            settled,
            finite,
            self.evaluations,
            steps,
            rejected,
        )


class _Recorder:
    """Takes the states at the wanted times; the last state is always among them."""

    def __init__(
        self,
        wanted: list[float],
        direction: float,
        keep: bool,
        observe: Observer | None,
        lift: Callable[[Tensor], Tensor],
    ) -> None:
        self.wanted, self.direction, self.keep, self.observe, self.lift = wanted, direction, keep, observe, lift
        self.times: list[float] = []
        self.states: list[Tensor] = []
        self.observed: dict[str, list[Any]] = {}
        self.next = 0

    def take(self, t: float, x: Tensor) -> None:
        self.times.append(t)
        lifted = self.lift(x)
        if self.keep:
            self.states.append(lifted.clone())
        if self.observe is not None:
            for name, value in self.observe(t, lifted).items():
                self.observed.setdefault(name, []).append(value)

    def at_start(self, t: float, x: Tensor) -> None:
        while self.next < len(self.wanted) and self.direction * (self.wanted[self.next] - t) <= 0:
            if self.wanted[self.next] == t:
                self.take(t, x)
            self.next += 1

    def during(self, t: float, h: float, reached: float, state: Callable[[float], Tensor]) -> None:
        while self.next < len(self.wanted) and self.direction * (reached - self.wanted[self.next]) >= 0:
            time = self.wanted[self.next]
            self.take(time, state(1.0 if time == reached else (time - t) / h))
            self.next += 1

    def at_end(self, t: float, x: Tensor) -> None:
        if self.wanted and (not self.times or self.times[-1] != t):
            self.take(t, x)

    def stacked(self) -> Tensor | None:
        return torch.stack(self.states) if self.states else None
