"""Where trajectories go: runs of a batch, and the distance of states to places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.dynamics.array_problem import ArrayProblem, array_problem, lengths
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.regions import margin_of
from eigentoken.numerics.readings.device_trajectories import is_elsewhere, runs_of_a_flow, runs_of_a_map
from eigentoken.theory.language.places import (
    AntipodalAt,
    AtMostClusters,
    BipartiteAt,
    Clustering,
    ConsensusAt,
    ConsensusSet,
    EachAt,
    Equiangular,
    Hemisphere,
    Place,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.readings import DISTANCE
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.system import Space, Time

__all__ = ["ObservedTrajectories", "distance", "only_slow", "problem_of", "run", "states_along"]

Array = NDArray[np.float64]

LAYERS = 1500
FLOW_STEPS = 400
LARGE = 1e6
#: Large Euclidean tokens attend almost to one token each, so the bound of the step need not grow with them for ever.
MOST_STIFF = 30.0
#: Slower than this is rest; tokens that hardly see each other move slowly, and must not be taken for resting.
STILL = 1e-12
#: A pull on a token above this is more than what is left of an approach to an equilibrium.
PULL = 1e-9
#: Pulls that leave more than this part of themselves do not cancel: the token moves, however slowly.
LEFT = 1e-3
#: Layers between two looks at which instances have come to rest.
LOOK = 32


def problem_of(batch: Batch) -> Problem:
    """The batch as the integrators take it."""
    return Problem(batch.system, batch.parameters, batch.mask, TorchAlgebra())


@dataclass(frozen=True, eq=False)
class ObservedTrajectories:
    """The end of each trajectory, whether it is at rest there, and how large it is."""

    final: Tensor
    motion: Tensor
    size: Tensor
    finite: Tensor
    slow: Tensor

    @property
    def settled(self) -> Tensor:
        """At rest: the last motion is far below what any slow approach would still show, and its causes cancel."""
        return self.finite & (self.motion <= STILL * (1 + self.size)) & ~self.slow

    def take(self, index: Tensor) -> ObservedTrajectories:
        """The trajectories with these numbers."""
        return ObservedTrajectories(*(getattr(self, each.name)[index] for each in fields(self)))


def run(batch: Batch, layers: int = LAYERS) -> ObservedTrajectories:
    """Follow every instance: ``layers`` layers of a map, or a flow for a fixed number of steps; the batch remembers it."""
    found: ObservedTrajectories | None = batch._memory.get(("trajectories", layers))
    if found is None:
        found = batch._memory["trajectories", layers] = _run(batch, layers)
    return found


def _run(batch: Batch, layers: int) -> ObservedTrajectories:
    with torch.no_grad():
        if is_elsewhere() and batch.system.time is Time.MAP:
            final, moved, finite = runs_of_a_map(problem_of(batch), batch.tokens, layers, LOOK, STILL / 10)
            clock: Any = layers
        elif is_elsewhere():
            problem = problem_of(batch)
            bounds = _strengths(problem, batch)
            final, moved, finite, clock = runs_of_a_flow(
                problem, batch.tokens, bounds, FLOW_STEPS, MOST_STIFF, LARGE, STILL / 10
            )
        elif batch.system.time is Time.MAP:
            final, moved, finite = _map(batch, layers)
            clock = layers
        else:
            final, moved, finite, clock = _flow(batch)
        size = torch.linalg.vector_norm(final, dim=-1).amax(-1)
        slow = only_slow(problem_of(batch), final, clock)
    return ObservedTrajectories(
        final, torch.nan_to_num(moved, nan=torch.inf), torch.nan_to_num(size, nan=torch.inf), finite, slow
    )


def only_slow(problem: Problem, x: Tensor, t: Any) -> Tensor:
    """Is a state that hardly moves only slow, because the weights of what pulls at a token are tiny?  ``(B,)``.

    Token i is pulled by ``sum_hj a^h_ij p^h_ij`` with ``p^h_ij`` the part of ``F_h x_j`` tangent at ``x_i``.  At an
    equilibrium the pulls vanish or cancel.  Where some pull does not vanish and they do not cancel, or all of them together
    have less weight than rounding leaves, the state is on its way, and takes a time like ``exp(score)`` for it.
    Nothing is known of the pulls in a sublayer of another package.
    """
    if not problem.system.standard:
        return torch.zeros(x.shape[:-2], dtype=torch.bool)
    metric, gross, net = problem.metric(t), x.new_zeros(x.shape[:-1]), torch.zeros_like(x)
    most = torch.zeros_like(gross)
    for value, score in problem.heads(t):
        weights = problem.algebra.attention(x, score, problem.mask, problem.system.over_root_d)
        dense = weights if isinstance(weights, Tensor) else weights.dense(x)
        pulls = problem.algebra.apply(value, x).unsqueeze(-3).expand(*x.shape[:-1], *x.shape[-2:])
        if problem.system.space is not Space.EUCLIDEAN:
            weighed = x if metric is None else problem.algebra.apply(metric, x)
            pulls = pulls - torch.einsum("...id,...ijd->...ij", weighed, pulls).unsqueeze(-1) * x.unsqueeze(-2)
        sizes = torch.linalg.vector_norm(pulls, dim=-1)
        net = net + (dense.unsqueeze(-1) * pulls).sum(-2)
        gross = gross + (dense * sizes).sum(-1)
        most = torch.maximum(most, torch.where(dense > 0, sizes, torch.zeros_like(sizes)).amax(-1))
    moving = (torch.linalg.vector_norm(net, dim=-1) > LEFT * gross) | (gross < STILL)
    return ((most > PULL) & moving).any(-1)


def _map(batch: Batch, layers: int) -> tuple[Tensor, Tensor, Tensor]:
    """Layer after layer; instances that are at rest, or only change sign, leave the batch at the next look."""
    final, moved = batch.tokens.clone(), torch.full((batch.count,), torch.inf, dtype=torch.float64)
    running = torch.arange(batch.count)
    active, x = batch, batch.tokens.numpy()
    problem = array_problem(problem_of(active), batch.n)
    done = 0
    with np.errstate(all="ignore"):
        while done < layers and len(running):
            tick()
            for layer in range(done, min(layers, done + LOOK)):
                before, x = x, problem.advance(x, layer)
            done += LOOK
            step, flip = lengths(x - before).max(-1), lengths(x + before).max(-1)
            final[running], moved[running] = torch.from_numpy(x), torch.from_numpy(step)
            going = (np.minimum(step, flip) > STILL / 10) & np.isfinite(step)
            if not going.all():
                left = torch.from_numpy(going)
                running, active, x = running[left], active.take(left), x[going]
                problem = array_problem(problem_of(active), batch.n)
    return final, moved, torch.isfinite(final).all(-1).all(-1)


def _flow(batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Runge-Kutta of order 4 with a step for each instance, ``1 / (|F| (1 + |M| |x|^2))``, retracted each time.

    The horizon is a number of such steps, not a time; instances that grow beyond LARGE are stopped there.
    """
    problem = array_problem(problem_of(batch), batch.n)
    euclidean = batch.system.space is Space.EUCLIDEAN
    values, scores = (each.numpy() for each in _strengths(problem_of(batch), batch))
    clock = np.zeros(batch.count)
    speed = size = np.ones(batch.count)
    with np.errstate(all="ignore"):
        x, now = problem.retract(batch.tokens.numpy()), problem.at(clock)
        for step_number in range(FLOW_STEPS):
            tick()
            one = now.advance(x)
            speed = lengths(one).max(-1)
            active = speed > STILL / 10
            if euclidean:
                size = lengths(x).max(-1)
                active &= (size < LARGE) & np.isfinite(size)
            if step_number % 16 == 0 and not active.any():
                break
            step = np.where(active, _safe_step(values, scores, size), 0.0)
            after, now = _runge_kutta(problem, now, x, one, clock, step)
            x = np.where(active[:, None, None], after, x)
            clock = clock + step
    final = torch.from_numpy(x)
    return final, torch.from_numpy(speed), torch.isfinite(final).all(-1).all(-1), torch.from_numpy(clock)


def _safe_step(values: Array, scores: Array, size: Array) -> Array:
    """``1 / (|F| (1 + |M| |x|^2))``."""
    return np.asarray(1 / (values * (1 + np.minimum(scores * size * size, MOST_STIFF))))


def _runge_kutta(
    problem: ArrayProblem, now: ArrayProblem, x: Array, one: Array, clock: Array, step: Array
) -> tuple[Array, ArrayProblem]:
    """The next state of the method of order 4, retracted, and the problem of that time; ``one`` is the velocity at ``x``."""
    h, retract = step[:, None, None], problem.retract
    half_way, later = problem.at(clock + step / 2), problem.at(clock + step)
    two = half_way.advance(retract(x + h / 2 * one))
    three = half_way.advance(retract(x + h / 2 * two))
    four = later.advance(retract(x + h * three))
    return retract(x + h / 6 * (one + 2 * (two + three) + four)), later


def states_along(batch: Batch, count: int, longest: float) -> Iterator[Tensor]:
    """The next ``count`` states: layers of a map, or states of a flow after steps that are safe and at most ``longest``."""
    problem, x = array_problem(problem_of(batch), batch.n), batch.tokens.numpy()
    if batch.system.time is Time.MAP:
        for layer in range(count):
            with np.errstate(all="ignore"):
                x = problem.advance(x, layer)
            yield torch.from_numpy(x)
        return
    values, scores = (each.numpy() for each in _strengths(problem_of(batch), batch))
    clock = np.zeros(batch.count)
    now = problem.at(clock)
    for _ in range(count):
        tick()
        with np.errstate(all="ignore"):
            step = np.minimum(_safe_step(values, scores, lengths(x).max(-1)), longest)
            x, now = _runge_kutta(problem, now, x, now.advance(x), clock, step)
        clock = clock + step
        yield torch.from_numpy(x)


def _strengths(problem: Problem, batch: Batch) -> tuple[Tensor, Tensor]:
    """Sums over the heads of ``|F_h|`` and ``|M_h|`` (at time 0, doubled for what varies)."""
    values = torch.zeros(batch.count, dtype=torch.float64)
    scores = torch.zeros_like(values)
    if not batch.system.standard:  # no bound is known: the sizes of all parameters together
        for group in (batch.parameters, *batch.parameters.get("heads", ())):
            for value in group.values():
                if isinstance(value, Tensor):
                    values = values + torch.linalg.vector_norm(value.reshape(batch.count, -1), dim=-1)
        return 1 + values, values
    scale = batch.d**-0.5 if batch.system.over_root_d else 1.0
    varying = 1.0 if problem.autonomous else 2.0
    for value, score in problem.heads(torch.zeros(batch.count, dtype=torch.float64)):
        values = values + scale * (1.0 if value is None else torch.linalg.matrix_norm(value, ord=2))
        if callable(score):  # rotated: the largest over the positions
            pairs = [torch.linalg.matrix_norm(score(i, 0), ord=2) for i in range(batch.n)]
            scores = scores + torch.stack(pairs).amax(0)
        else:
            scores = scores + (0.0 if score is None else varying * torch.linalg.matrix_norm(score, ord=2))
    metric = problem.metric(0.0)
    if isinstance(metric, Tensor):
        scores = scores / torch.linalg.eigvalsh(metric)[..., 0].clamp_min(1e-6)
    return values.clamp_min(1e-6), scores


def distance(place: Place, batch: Batch, x: Tensor) -> Tensor:
    """How far the states ``x`` are from the place, up to the global sign: ``(B,)``."""
    found: Tensor = DISTANCE(place, batch, x)
    return found


def _unit(batch: Batch, place: Any) -> Tensor:
    from eigentoken.numerics.instances.states import on_manifold

    vector = batch.eigenvector(place.term, batch.integer(place.index))
    found: Tensor = on_manifold(batch, vector.unsqueeze(1))
    return found


@DISTANCE.register(ConsensusAt)
def distance_consensus_at(place: ConsensusAt, batch: Batch, x: Tensor) -> Tensor:
    vector = _unit(batch, place)
    sides = [torch.linalg.vector_norm(x - sign * vector, dim=-1).amax(-1) for sign in (1.0, -1.0)]
    return torch.minimum(*sides)


@DISTANCE.register(BipartiteAt)
def distance_bipartite_at(place: BipartiteAt, batch: Batch, x: Tensor) -> Tensor:
    vector = _unit(batch, place)
    sides = [torch.linalg.vector_norm(x - sign * vector, dim=-1) for sign in (1.0, -1.0)]
    return torch.minimum(*sides).amax(-1)


@DISTANCE.register(EachAt)
def distance_each_at(place: EachAt, batch: Batch, x: Tensor) -> Tensor:
    """Of the token that is farthest from both signs of the vector."""
    vector = _unit(batch, place)
    sides = [torch.linalg.vector_norm(x - sign * vector, dim=-1) for sign in (1.0, -1.0)]
    return torch.minimum(*sides).amax(-1)


@DISTANCE.register(Equiangular)
def distance_equiangular(place: Equiangular, batch: Batch, x: Tensor) -> Tensor:
    """The largest difference of two inner products, or of one to the asked cosine, in units of the mean length."""
    n = x.shape[-2]
    gram = x @ x.mT
    squares = gram.diagonal(dim1=-2, dim2=-1)
    size = squares.mean(-1)
    spread = squares.amax(-1) - squares.amin(-1)
    if n > 1:
        apart = ~torch.eye(n, dtype=torch.bool)
        inner = gram[..., apart]
        spread = torch.maximum(spread, inner.amax(-1) - inner.amin(-1))
        if place.cosine is not None:
            spread = torch.maximum(spread, (inner - float(place.cosine) * size.unsqueeze(-1)).abs().amax(-1))
    return spread / size.clamp_min(1e-300).sqrt()


@DISTANCE.register(AntipodalAt)
def distance_antipodal_at(place: AntipodalAt, batch: Batch, x: Tensor) -> Tensor:
    """Of the first half of the tokens to the first one, and of the others to its opposite; infinite where n is odd."""
    n, first = x.shape[-2], x[:, :1]
    if not place.has_states(n):
        return torch.full_like(x[:, 0, 0], torch.inf)
    opposite = torch.cat([first.expand(-1, n // 2, -1), -first.expand(-1, n // 2, -1)], 1)
    return torch.linalg.vector_norm(x - opposite, dim=-1).amax(-1)


@DISTANCE.register(ConsensusSet)
def distance_consensus_set(place: ConsensusSet, batch: Batch, x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x - x[:, :1], dim=-1).amax(-1)


@DISTANCE.register(AtMostClusters)
def distance_at_most_clusters(place: AtMostClusters, batch: Batch, x: Tensor) -> Tensor:
    """How far the farthest token is from those that were chosen, each as far as can be from the ones before it."""
    away = torch.linalg.vector_norm(x - x[:, :1], dim=-1)
    for _ in range(1, min(place.count, x.shape[1])):
        chosen = x[torch.arange(len(x)), away.argmax(-1)].unsqueeze(1)
        away = torch.minimum(away, torch.linalg.vector_norm(x - chosen, dim=-1))
    return away.amax(-1)


@DISTANCE.register(Zero)
def distance_zero(place: Zero, batch: Batch, x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x, dim=-1).amax(-1)


@DISTANCE.register(Polygonal)
def distance_polygonal(place: Polygonal, batch: Batch, x: Tensor) -> Tensor:
    from dataclasses import replace

    if not batch.system.standard:
        raise ValueError(f"{batch.system.name}: Polygonal is known by the weighted means of the papers' equation alone")
    system = replace(batch.system, value=None)
    push = system.influence(TorchAlgebra(), batch.parameters, x, batch.mask, 0.0)
    return torch.linalg.vector_norm(push, dim=-1).amax(-1)


@DISTANCE.register(SomeEquilibrium, Clustering)
def distance_some_equilibrium_or_clustering(place: Any, batch: Batch, x: Tensor) -> Tensor:
    moved = problem_of(batch).advance(x, 0.0)
    return torch.linalg.vector_norm(moved - x if batch.system.time is Time.MAP else moved, dim=-1).amax(-1)


@DISTANCE.register(Hemisphere)
def distance_hemisphere(place: Hemisphere, batch: Batch, x: Tensor) -> Tensor:
    w = batch.extra.get("w") if place.normal is None else batch.eigenvector(place.normal, 1, place.left)
    if w is None:
        raise ValueError("Hemisphere without a normal needs tokens drawn in a hemisphere: add InHemisphere()")
    heights = torch.einsum("bnd,bd->bn", x, w)
    start = torch.einsum("bnd,bd->bn", batch.tokens, w).mean(-1, keepdim=True)
    return (-heights * torch.sign(start)).amax(-1).clamp_min(0.0)


@DISTANCE.register(StateRegion)
def distance_region(place: StateRegion, batch: Batch, x: Tensor) -> Tensor:
    """By how much the smallest margin is negative."""
    return (-margin_of(place, batch, x)).clamp_min(0.0)
