"""States of a region: tokens are moved into it, not drawn until they fit, and measured by its margins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Contradiction, Plan
from eigentoken.numerics.instances.spectra import orthogonal
from eigentoken.theory.language.readings import GENERATED, OBSERVED, PLACED
from eigentoken.theory.language.regions import Acute, Cap, Orthant, StartsIn, StateRegion, Subspace, Where
from eigentoken.theory.systems.algebra import LoopAlgebra, MaskValue, Parameters, causal_mask
from eigentoken.theory.systems.system import Space, System

__all__ = ["in_loops", "into_region", "margin_of", "starting_in", "to_the_edge"]

#: Rounding of floats that is not seen as a violation of an inequality that admits equality.
ROUNDING = 1e-9
#: Steps up a margin that has no construction, and their lengths.
STEPS, REACH = 40, 0.15
#: Halvings on the way to the boundary of a region, and the share of that way that is gone.
HALVINGS, INSIDE = 20, 0.99


def in_loops(
    batch: Batch, x: Tensor
) -> tuple[LoopAlgebra, System, Parameters, tuple[tuple[Tensor, ...], ...], MaskValue]:
    """The scalars, system, parameters, tokens and mask of a batch, with a tensor for each number: what observables are given."""
    one = torch.ones((), dtype=torch.float64)
    scalars = LoopAlgebra(torch.exp, torch.sqrt, one, greater=_greater)
    parameters = {name: _unstacked(value) for name, value in batch.parameters.items()}
    for name, value in batch.extra.items():
        parameters.setdefault(name, [value[:, a] for a in range(value.shape[1])] if value.ndim == 2 else value)
    tokens = tuple(tuple(x[:, i, a] for a in range(x.shape[-1])) for i in range(x.shape[1]))
    return scalars, batch.system, parameters, tokens, causal_mask(batch.n) if batch.mask == "causal" else batch.mask


def _greater(a: Any, b: Any) -> Tensor:
    return torch.maximum(torch.as_tensor(a, dtype=torch.float64), torch.as_tensor(b, dtype=torch.float64))


def _unstacked(value: Any) -> Any:
    value = value(0.0) if callable(value) else value
    if isinstance(value, Tensor) and value.ndim == 3:
        return [[value[:, i, j] for j in range(value.shape[2])] for i in range(value.shape[1])]
    if isinstance(value, Tensor) and value.ndim == 2:
        return [value[:, i] for i in range(value.shape[1])]
    if isinstance(value, list):
        return [{name: _unstacked(each) for name, each in head.items()} for head in value]
    return value


def margin_of(region: StateRegion, batch: Batch, x: Tensor) -> Tensor:
    """The smallest margin of the region at the states ``x``, ``(B,)``."""
    worst = torch.full((batch.count,), torch.inf, dtype=torch.float64)
    for each in region.margins(*in_loops(batch, x)):
        worst = torch.minimum(worst, torch.as_tensor(each, dtype=torch.float64))
    return worst


@GENERATED.register(StartsIn)
def generated_starts_in(condition: StartsIn, plan: Plan, satisfy: bool = True) -> Plan:
    asked = plan.noting(condition, satisfy)
    if not satisfy:
        return asked
    if plan.start is not None and plan.start != condition.region:
        raise Contradiction("the tokens start in two regions: say it by one, Where((first, second))")
    return starting_in(condition.region, asked)


def starting_in(region: StateRegion, plan: Plan) -> Plan:
    """The plan with its tokens in the region; observables are written with loops, so small sizes for those of an author."""
    size = region.dimension()
    if size is not None:
        plan = plan.sized(d=(size,))
    if isinstance(region, Where) and not plan.sizes_given:
        small = tuple(n for n in plan.n if n <= 4), tuple(d for d in plan.d if d <= 3)
        plan = replace(plan, n=small[0] or plan.n, d=small[1] or plan.d)
    return replace(plan, start=region)


@OBSERVED.register(StartsIn)
def observed_starts_in(condition: StartsIn, batch: Batch) -> Tensor:
    return -margin_of(condition.region, batch, batch.tokens) + (ROUNDING if condition.region.strict else -ROUNDING)


def into_region(region: StateRegion, batch: Batch, generator: torch.Generator) -> Batch:
    """The batch with its tokens moved into the region, and drawn first where it has none."""
    if not bool(batch.tokens.any()):
        batch = batch.at(torch.randn(batch.tokens.shape, generator=generator, dtype=torch.float64))
    found: Batch = PLACED(region, batch, generator)
    return found


def to_the_edge(region: StateRegion, batch: Batch, generator: torch.Generator) -> Batch:
    """The batch with states of the region moved towards random ones until they are just inside its boundary."""
    from eigentoken.numerics.instances.states import on_manifold

    inside = batch.tokens
    aim = torch.randn(inside.shape, generator=generator, dtype=torch.float64)
    aim = torch.where(torch.rand(inside.shape[:2], generator=generator)[..., None] < 0.5, inside, aim)

    def between(share: Tensor) -> Tensor:
        return on_manifold(batch, (1 - share)[:, None, None] * inside + share[:, None, None] * aim)

    low, high = torch.zeros(batch.count, dtype=torch.float64), torch.ones(batch.count, dtype=torch.float64)
    with torch.no_grad():
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            kept = margin_of(region, batch, between(middle)) > 0
            low, high = torch.where(kept, middle, low), torch.where(kept, high, middle)
        return batch.at(between(INSIDE * low))


def _put(batch: Batch, x: Tensor) -> Batch:
    from eigentoken.numerics.instances.states import on_manifold

    return batch.at(on_manifold(batch, x))


@PLACED.register(Orthant)
def placed_orthant(region: Orthant, batch: Batch, generator: torch.Generator) -> Batch:
    return _put(batch, batch.tokens.abs())


@PLACED.register(Subspace)
def placed_subspace(region: Subspace, batch: Batch, generator: torch.Generator) -> Batch:
    x = batch.tokens.clone()
    x[..., region.size :] = 0
    if batch.system.space is not Space.EUCLIDEAN:  # a token that vanishes becomes the first coordinate vector
        x[..., 0] = torch.where(x.abs().amax(-1) == 0, 1.0, x[..., 0])
    return _put(batch, x)


@PLACED.register(Cap)
def placed_cap(region: Cap, batch: Batch, generator: torch.Generator) -> Batch:
    w = torch.zeros(batch.d, dtype=torch.float64)
    w[0] = 1.0
    if region.vector:
        w = torch.tensor([float(each) for each in region.vector], dtype=torch.float64)
    return _put(batch, _within(batch.tokens, w.expand(batch.count, 1, -1), float(region.cosine), generator))


def _within(x: Tensor, w: Tensor, cosine: float, generator: torch.Generator) -> Tensor:
    """Each token at an angle from w whose cosine is at least this: mirrored, and turned towards w where that is not enough."""
    w = w / torch.linalg.vector_norm(w, dim=-1, keepdim=True)
    sizes = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    u = x / sizes.clamp_min(1e-300)
    height = (u * w).sum(-1, keepdim=True)
    beside = u - height * w
    length = torch.linalg.vector_norm(beside, dim=-1, keepdim=True)
    mirrored = height.abs() if cosine >= 0 else height
    share = torch.rand(height.shape, generator=generator, dtype=torch.float64)
    new = torch.where(mirrored < cosine, cosine + (1 - cosine) * share, mirrored)
    sine = (1 - new * new).clamp_min(0).sqrt()
    turned = new * w + torch.where(length > 1e-12, sine * beside / length.clamp_min(1e-12), 0 * beside)
    return sizes * turned


@PLACED.register(Acute)
def placed_acute(region: Acute, batch: Batch, generator: torch.Generator) -> Batch:
    """Tokens of an orthant in any position (for c <= 0), or in a cap around the first whose angles are half as wide."""
    cosine = float(region.cosine)
    near = _within(batch.tokens, batch.tokens[:, :1], ((1 + max(cosine, 0.0)) / 2) ** 0.5, generator)
    if cosine > 0:
        return _put(batch, near)
    wide = batch.tokens.abs()
    if batch.corner != "structured":
        wide = wide @ orthogonal(batch.count, batch.d, generator)
    chosen = torch.rand(batch.count, 1, 1, generator=generator) < (0.7 if batch.corner != "structured" else 1.0)
    return _put(batch, torch.where(chosen, wide, near))


@PLACED.register(Where)
def placed_where(region: Where, batch: Batch, generator: torch.Generator) -> Batch:
    """Steps up the smallest margin, back to the manifold after each; what does not arrive is left out later."""
    batch = _put(batch, batch.tokens)
    for step in range(STEPS):
        with torch.enable_grad():
            x = batch.tokens.detach().clone().requires_grad_()
            margin = margin_of(region, batch, x)
            low = margin < (1e-3 if region.strict else 0.0)
            if not bool(low.any()) or not margin.requires_grad:
                break
            (slope,) = torch.autograd.grad(torch.where(torch.isfinite(margin), margin, 0 * margin).sum(), x)
        slope = torch.nan_to_num(slope)
        size = torch.linalg.vector_norm(slope.flatten(1), dim=-1).clamp_min(1e-12)[:, None, None]
        moved = batch.tokens + REACH * (0.97**step) * slope / size
        batch = _put(batch, torch.where(low[:, None, None], moved, batch.tokens))
    return batch
