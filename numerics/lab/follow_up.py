"""Trajectories that come to no rest are followed up: is there a state nearby that turns for ever, or a cycle, to certify?

Weights that commute with the rotations of the plane (``a I + b J``; in more dimensions multiples of I) are looked at beside the
given ones: for those a wave that runs round is a state at rest in a moving frame
(:mod:`eigentoken.numerics.readings.moving_frames`), which can be found by Newton's iteration and certified.  Where there is no
such symmetry, a trajectory of a flow that comes back to itself is followed to its closed orbit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact import ExactDraft, batch_of, draft
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.instances.rational import rounded, sphere_point
from eigentoken.numerics.instances.sampling import condition_violation
from eigentoken.numerics.readings.contraction_regions import state_at_rest
from eigentoken.numerics.readings.trajectories import distance, run
from eigentoken.numerics.readings.tube_proposals import states_on_orbit
from eigentoken.theory.language.claims import AlmostEveryConverges, Claim, Converges
from eigentoken.theory.systems.system import Space, Time

__all__ = ["followed_up", "restless"]

#: Roundings of the weights that are tried, coarse first.
COARSE = (1, 2, 4, 10, 100)
#: So many roundings of the same weights are looked at for an orbit in vain.
IN_VAIN = 3
#: A trajectory that still moves as fast as this when the time is over comes to no rest.
MOVING = 1e-3
#: Farther than this from the claimed limit.
AWAY = 1e-2
#: Tokens on an orbit are rational points of this fineness, where one is as near to it as this.
POINTS = ((1, 1e-2), (5, 1e-2), (25, 5e-3), (125, 3e-3), (10**6, 1e-3))
#: So many trajectories of a batch are run again.
MOST = 16


def restless(claim: Claim | None, batch: Batch, values: Tensor) -> Batch | None:
    """Of the instances of which nothing was seen (``nan``), some whose trajectories go on moving away from the place.

    Those of short steps come first.
    """
    if not isinstance(claim, Converges | AlmostEveryConverges):
        return None
    some = values.isnan().nonzero().flatten()
    if len(some) == 0:
        return None
    if batch.system.time is Time.MAP and isinstance(batch.parameters.get("alpha"), Tensor):
        some = some[batch.parameters["alpha"][some].argsort()]  # long steps throw tokens about
    some = some[:MOST]
    asked = batch.take(some)
    end = run(batch).take(some)
    going = end.finite & (end.motion > MOVING) & (end.size < 1e3)
    going &= distance(claim.place, asked, end.final) > AWAY
    return asked.take(going) if bool(going.any()) else None


def followed_up(plan: Plan, batch: Batch) -> Iterator[ExactDraft]:
    """Exact drafts whose tokens are at rest in a moving frame near the end of the trajectory of the instance."""
    for weights in (made for some in (*_fewer(plan, batch), batch) for made in (some, _commuting(some))):
        if weights is None or float(condition_violation(plan, weights)[0]) > 1e-6:
            continue
        without = 0
        for denominator in COARSE:
            tick()
            made = draft(plan, weights, denominator, as_it_stands=True)
            if made is None:
                continue
            settled = at_rest(made)
            if settled is not None:
                yield settled
                continue
            turning = list(on_an_orbit(made)) if without < IN_VAIN else []
            without = 0 if turning else without + 1
            yield from turning


def _fewer(plan: Plan, batch: Batch) -> list[Batch]:
    """The instance with as few of its tokens as the plan allows: a wave of few tokens is found sooner."""
    sizes = [n for n, d, _, _ in plan.shapes() if d == batch.d and n < batch.n]
    if not sizes or not (batch.mask is None or batch.mask == "causal"):
        return []
    n = min(sizes)
    return [replace(batch.at(batch.tokens[:, :n]), p=min(batch.p, n))]


def at_rest(made: ExactDraft) -> ExactDraft | None:
    """The draft with its tokens where the trajectory of its weights rests, in a moving frame (points near that, rational)."""
    instance = made.instance()
    if instance is None:
        return None
    finish = run(batch_of(instance, made.k, made.p))
    if not bool(finish.finite.all()):
        return None
    tokens = state_at_rest(instance, finish.final[0].tolist())
    return None if tokens is None else replace(made, tokens=tokens)


def on_an_orbit(made: ExactDraft) -> Iterator[ExactDraft]:
    """The draft with its tokens near the closed orbit that the trajectory of its weights approaches: simple ones first."""
    instance = made.instance()
    if instance is None:
        return
    flat, states = instance.system.space is Space.EUCLIDEAN, states_on_orbit(instance)
    for fine, near in POINTS:
        rational = [
            [tuple(rounded(a, fine) for a in x) if flat else sphere_point(x, fine) for x in each] for each in states
        ]
        away = [
            max(abs(float(a) - b) for x, y in zip(*pair, strict=True) for a, b in zip(x, y, strict=True))
            for pair in zip(rational, states, strict=True)
        ]
        if away and min(away) < near:
            yield replace(made, tokens=tuple(rational[away.index(min(away))]))


def _commuting(batch: Batch) -> Batch | None:
    """The weights averaged over the rotations of the plane; multiples of I in more dimensions; ``None``: they vary in time."""
    eye = torch.eye(batch.d, dtype=torch.float64)

    def averaged(value: Any) -> Any:
        if not isinstance(value, Tensor) or value.ndim != 3:
            return value
        scale = value.diagonal(dim1=-2, dim2=-1).mean(-1)[:, None, None] * eye
        if batch.d != 2:
            return scale
        turn = (value[:, 1, 0] - value[:, 0, 1])[:, None, None] / 2
        return scale + turn * torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)

    if any(callable(each) for each in batch.parameters.values()) or batch.system.metric is not None:
        return None
    parameters = {
        name: [{part: averaged(each) for part, each in head.items()} for head in value]
        if name == "heads"
        else averaged(value)
        for name, value in batch.parameters.items()
    }
    return batch.with_parameters(parameters)
