"""Instances where the premise ``given`` of a free predicate is true: kept where it is, climbed to where it is a margin.

Code of an author has no gradient, so slopes are forward differences, one parameter or coordinate at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.deadline import tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.joining import joined
from eigentoken.numerics.instances.sampling import condition_violation
from eigentoken.numerics.instances.states import on_manifold, place_state
from eigentoken.numerics.lab.predicates import premise_height
from eigentoken.numerics.lab.targets import Target
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.terms import matrix

__all__ = ["difference_slopes", "leaves", "moved_by", "picked", "premise_holds", "with_leaves", "within_premise"]

#: Step of the forward differences.
STEP = 1e-6
#: Changes on the way to the premise, at most.
APPROACHES = 48
#: Instances of a batch that are moved to the premise, at most: each change costs a call.
MOVED = 24


def leaves(batch: Batch) -> dict[str, Tensor]:
    """The numbers of the instances by name; those of heads as ``heads/0/V``."""
    found = {name: value for name, value in batch.parameters.items() if isinstance(value, Tensor) and value.ndim}
    for number, head in enumerate(batch.parameters.get("heads", ())):
        found |= {
            f"heads/{number}/{name}": value for name, value in head.items() if isinstance(value, Tensor) and value.ndim
        }
    return found


def with_leaves(batch: Batch, values: Mapping[str, Tensor], tokens: Tensor | None = None) -> Batch:
    """The batch with other numbers of these names."""
    plain: dict[str, Any] = {
        name: values.get(name, value) for name, value in batch.parameters.items() if name != "heads"
    }
    if "heads" in batch.parameters:
        plain["heads"] = [
            {name: values.get(f"heads/{number}/{name}", value) for name, value in head.items()}
            for number, head in enumerate(batch.parameters["heads"])
        ]
    return batch.with_parameters(plain, tokens)


def moved_by(target: Target, batch: Batch, directions: Mapping[str, Tensor], reach: Tensor) -> Batch:
    """The instances after a step of this length; steps stay positive, symmetric matrices symmetric, tokens where they belong."""
    squares = torch.stack([value.reshape(batch.count, -1).square().sum(-1) for value in directions.values()])
    share = reach / squares.sum(0).sqrt().clamp_min(1e-12)

    def step(name: str, value: Tensor) -> Tensor:
        return value + share.reshape(-1, *([1] * (value.ndim - 1))) * directions[name]

    changed = {}
    for name, value in leaves(batch).items():
        changed[name] = _allowed(target, batch, name, step(name, value))
    tokens = step("tokens", batch.tokens) if "tokens" in directions else None
    return placed(target, with_leaves(batch, changed, tokens), tokens is not None)


def _allowed(target: Target, batch: Batch, name: str, value: Tensor) -> Tensor:
    steps = {each.name for each in batch.system.further if each.kind == "step"}
    if name == "alpha" or name in steps:
        return value.clamp_min(1e-6)
    plan = target.plan.matrices.get(matrix(name.rpartition("/")[2]))
    symmetric = (plan is not None and plan.symmetric) or name == batch.system.metric
    return (value + value.mT) / 2 if symmetric and value.ndim > 2 else value


def placed(target: Target, batch: Batch, free: bool) -> Batch:
    """Tokens that were moved go back to the manifold, others to the place that depends on the parameters."""
    if free:
        return batch.at(on_manifold(batch, batch.tokens))
    if isinstance(target.plan.place, ConsensusAt | BipartiteAt):
        return place_state(target.plan.place, batch, torch.Generator().manual_seed(0))
    return batch


def picked(good: Tensor, tried: Batch, before: Batch) -> Batch:
    """The instances of the first batch where they are good, of the second elsewhere."""

    def pick(new: Tensor, old: Tensor) -> Tensor:
        return torch.where(good.reshape(-1, *([1] * (new.ndim - 1))), new.detach(), old)

    after = leaves(tried)
    chosen = {name: pick(after[name], value) for name, value in leaves(before).items()}
    return with_leaves(before, chosen, pick(tried.tokens, before.tokens))


def difference_slopes(target: Target, batch: Batch, height: Callable[[Batch], Tensor]) -> dict[str, Tensor]:
    """``(f(x + h e_i) - f(x)) / h`` for every number of the instances that may move; 0 where it is not finite."""
    base = height(batch)
    found: dict[str, Tensor] = {}
    for name, shape, changed in _nudged(target, batch):
        tick()
        slopes = [(height(each) - base) / STEP for each in changed]
        stacked = torch.stack(slopes, -1).reshape(shape)
        found[name] = torch.where(torch.isfinite(stacked), stacked, torch.zeros_like(stacked))
    return found


def _nudged(target: Target, batch: Batch) -> Iterator[tuple[str, Any, Iterator[Batch]]]:
    def each(name: str, value: Tensor) -> Iterator[Batch]:
        flat = value.reshape(batch.count, -1)
        for index in range(flat.shape[1]):
            nudge = torch.zeros_like(flat)
            nudge[:, index] = STEP
            other = (flat + nudge).reshape(value.shape)
            if name == "tokens":
                yield placed(target, batch.at(other), True)
            else:
                yield placed(target, with_leaves(batch, {name: _allowed(target, batch, name, other)}), False)

    for name, value in leaves(batch).items():
        yield name, value.shape, each(name, value)
    if target.plan.place is None:
        yield "tokens", batch.tokens.shape, each("tokens", batch.tokens)


def premise_holds(target: Target, batch: Batch) -> Tensor:
    """Is the premise true of each instance?  True everywhere where there is none."""
    if target.conjecture.given is None or target.claim is not None:
        return torch.ones(batch.count, dtype=torch.bool)
    return premise_height(target.conjecture, batch) >= 0


def within_premise(target: Target, batch: Batch) -> Batch:
    """The instances where the premise is true; some of the others are moved there, along its margin."""
    conjecture = target.conjecture
    if conjecture.given is None or target.claim is not None or batch.count == 0:
        return batch
    height = premise_height(conjecture, batch)
    inside, outside = batch.take(height >= 0), batch.take((height < 0).nonzero().flatten()[:MOVED])
    signed = bool(((height.abs() != 1) & ~height.isnan()).any())
    if not signed or outside.count == 0 or inside.count >= batch.count // 2:
        return inside
    both = joined([inside, _entered(target, outside)])
    return both[0] if both else inside


def _entered(target: Target, batch: Batch) -> Batch:
    """Random changes, kept where they raise the margin of the premise and the conditions still hold."""
    if any(callable(value) for value in batch.parameters.values()):
        return batch.take([])
    generator = torch.Generator().manual_seed(977 * batch.n + 31 * batch.d + batch.count)
    changes = (_fresh_token, _mirrored_coordinate, _shaken) if target.plan.place is None else (_shaken,)
    height = premise_height(target.conjecture, batch)
    for number in range(APPROACHES):
        tick()
        open_ = (height < 0).nonzero().flatten()
        if not len(open_):
            break
        before = batch.take(open_)
        tried = changes[number % len(changes)](target, before, generator)
        value = premise_height(target.conjecture, tried)
        good = (value > height[open_]) & (condition_violation(target.plan, tried) < 0) & tried.finite
        if bool(good.any()):
            chosen = torch.zeros(batch.count, dtype=torch.bool)
            chosen[open_] = good
            spread = torch.zeros(batch.count, dtype=torch.long)
            spread[open_] = torch.arange(len(open_))
            batch = picked(chosen, tried.take(spread), batch)
            height = height.index_put((open_,), torch.where(good, value, height[open_]))
    return batch.take(height >= 0)


def _fresh_token(target: Target, batch: Batch, generator: torch.Generator) -> Batch:
    """One token of each instance drawn again."""
    rows, which = torch.arange(batch.count), torch.randint(batch.n, (batch.count,), generator=generator)
    tokens = batch.tokens.clone()
    drawn = torch.randn(batch.count, batch.d, generator=generator, dtype=torch.float64)
    tokens[rows, which] = drawn
    return placed(target, batch.at(tokens), True)


def _mirrored_coordinate(target: Target, batch: Batch, generator: torch.Generator) -> Batch:
    """One coordinate of one token of each instance with the other sign, and not too small."""
    rows, which = torch.arange(batch.count), torch.randint(batch.n, (batch.count,), generator=generator)
    axis = torch.randint(batch.d, (batch.count,), generator=generator)
    tokens = batch.tokens.clone()
    entry = tokens[rows, which, axis]
    size = entry.abs().clamp_min(0.05) * torch.where(entry > 0, -1.0, 1.0)
    tokens[rows, which, axis] = size
    return placed(target, batch.at(tokens), True)


def _shaken(target: Target, batch: Batch, generator: torch.Generator) -> Batch:
    """Parameters scaled, parameters and tokens a little off where they were."""

    def noise(value: Tensor) -> Tensor:
        return torch.randn(value.shape, generator=generator, dtype=torch.float64)

    changed = {}
    for name, value in leaves(batch).items():
        factor = torch.exp(0.5 * torch.randn(batch.count, generator=generator, dtype=torch.float64))
        scaled = value * factor.reshape(-1, *([1] * (value.ndim - 1)))
        changed[name] = _allowed(target, batch, name, scaled + 0.1 * noise(value))
    free = target.plan.place is None
    tokens = batch.tokens + 0.3 * noise(batch.tokens) if free else None
    return placed(target, with_leaves(batch, changed, tokens), free)
