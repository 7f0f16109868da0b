"""OBSERVED for claims: a violation for each instance of a batch: positive where the claim is seen to fail.

``nan`` says that nothing was seen (a trajectory that has not settled): it counts neither way.  These are floating-point
numbers; a verdict about one instance is the business of the certified reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra, derivative_along
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.regions import in_loops, margin_of
from eigentoken.numerics.readings.batched_jacobians import spectrum
from eigentoken.numerics.readings.seen_silences import growth_nearby, only_carried
from eigentoken.numerics.readings.trajectories import distance, problem_of, run, states_along
from eigentoken.theory.language import claims, terms
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.readings import OBSERVED
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.system import Space, Time

__all__ = ["AWAY", "ON_BOUNDARY", "exact_check_follows", "observe", "rate_of"]

#: A settled trajectory farther than this from the claimed limit has gone elsewhere.
AWAY = 1e-2
CLOSE = 1e-8
#: A start at distance 1e-4 that ends farther than this has left.
GONE = 0.1
#: Nearer to the boundary of stability the linearization says nothing in floats.
SILENT = 1e-6
#: Tokens that grew by this factor are seen as diverging.
GROWN = 20.0
#: The violation shown for an eigenvalue that rounding does not tell from the boundary of stability.
ON_BOUNDARY = 1e-6
_EXACT_CHECK_FOLLOWS = ContextVar("exact_check_follows", default=False)


def _nan(batch: Batch) -> Tensor:
    return torch.full((batch.count,), torch.nan, dtype=torch.float64)


@OBSERVED.register(claims.Equilibrium)
def observed_equilibrium(claim: claims.Equilibrium, batch: Batch) -> Tensor:
    moved = problem_of(batch).advance(batch.tokens, 0.0)
    still = moved - batch.tokens if batch.system.time is Time.MAP else moved
    size = 1 + torch.linalg.vector_norm(batch.tokens, dim=-1).amax(-1)
    return torch.linalg.vector_norm(still, dim=-1).amax(-1) - CLOSE * size


@OBSERVED.register(claims.TwoCycle)
def observed_two_cycle(claim: claims.TwoCycle, batch: Batch) -> Tensor:
    moved = problem_of(batch).advance(batch.tokens, 0)
    return torch.linalg.vector_norm(moved + batch.tokens, dim=-1).amax(-1) - CLOSE


def _motion(batch: Batch) -> Tensor:
    """How far the states are from resting, or for a map from turning into their negatives; up to 0 within rounding."""
    moved = problem_of(batch).advance(batch.tokens, 0.0)
    if batch.system.time is not Time.MAP:
        far = torch.linalg.vector_norm(moved, dim=-1).amax(-1)
    else:
        far = torch.minimum(
            *(torch.linalg.vector_norm(moved - sign * batch.tokens, dim=-1).amax(-1) for sign in (1.0, -1.0))
        )
    return far - CLOSE * (1 + torch.linalg.vector_norm(batch.tokens, dim=-1).amax(-1))


@OBSERVED.register(claims.Stable)
def observed_stable(claim: claims.Stable, batch: Batch) -> Tensor:
    """A state that moves is not stable; at rest the spectrum decides."""
    motion = _motion(batch)
    return torch.where(motion > 0, motion, spectrum(batch).margin())


@OBSERVED.register(claims.Unstable)
def observed_unstable(claim: claims.Unstable, batch: Batch) -> Tensor:
    """A spectral radius of exactly 1 violates the claim as well; within rounding of 1 it is shown as ON_BOUNDARY.

    Of a state that moves nothing is said.
    """
    margin = spectrum(batch).margin()
    seen = torch.where(margin.abs() < 1e-9, torch.full_like(margin, ON_BOUNDARY), -margin)
    return torch.where(_motion(batch) > 0, torch.full_like(seen, torch.nan), seen)


@OBSERVED.register(claims.SpectrumIs)
def observed_spectrum_is(claim: claims.SpectrumIs, batch: Batch) -> Tensor:
    resting = _motion(batch) <= 0
    return torch.where(resting, _spectral_gap(claim, batch), torch.full((batch.count,), torch.nan, dtype=torch.float64))


def _spectral_gap(claim: claims.SpectrumIs, batch: Batch) -> Tensor:
    seen = spectrum(batch).all()
    expected = expected_spectrum(claim, batch)
    if expected is None:
        return _nan(batch)
    if seen.shape != expected.shape:
        return torch.full((batch.count,), torch.inf, dtype=torch.float64)
    scale = 1 + expected.abs().amax(-1) if expected.shape[-1] else torch.ones(batch.count, dtype=torch.float64)
    return _matched(seen, expected.to(torch.complex128)) / scale - 1e-6


def expected_spectrum(claim: claims.SpectrumIs, batch: Batch) -> Tensor | None:
    """The claimed eigenvalues ``(B, m)``; ``None`` where a multiplicity is negative (a size that is not meant)."""
    columns: list[Tensor] = []
    for value, count in claim.classes:
        indexed = terms.ell in (sp.sympify(value).free_symbols | sp.sympify(count).free_symbols)
        ells = [ell for ell in range(1, batch.d + 1) if ell != batch.k] if indexed else [None]
        for ell in ells:
            times = batch.integer(count, ell)
            if times < 0:
                return None
            if times:
                columns += [batch.scalar(value, ell)] * times
    if not columns:
        return torch.zeros(batch.count, 0, dtype=torch.float64)
    return torch.stack(columns, -1)


def _matched(seen: Tensor, expected: Tensor) -> Tensor:
    """The largest distance in a matching of two lists of eigenvalues."""
    order = [values.real.argsort(-1) for values in (seen, expected)]
    pairs = [values.gather(-1, index) for values, index in zip((seen, expected), order, strict=True)]
    by_size = (pairs[0] - pairs[1]).abs().amax(-1) if seen.shape[-1] else torch.zeros(len(seen), dtype=torch.float64)
    from scipy.optimize import linear_sum_assignment

    result = by_size.clone()
    for b in (by_size > 1e-7).nonzero().flatten().tolist():
        cost = (seen[b].unsqueeze(-1) - expected[b].unsqueeze(-2)).abs()
        if bool(torch.isfinite(cost).all()):
            rows, columns = linear_sum_assignment(cost.numpy())
            result[b] = float(cost[rows, columns].max())
    return result


@OBSERVED.register(claims.LyapunovStable)
def observed_lyapunov_stable(claim: claims.LyapunovStable, batch: Batch) -> Tensor:
    """A state that moves, or an eigenvalue outside; where the linearization is silent, starts at distance 1e-4 that escape.

    A start that is carried away by a factor that does not depend on its distance, and rests there, does not escape.
    Where none is seen to escape, nothing is seen of stability either, since a slow escape takes too long: for the exact check.
    """
    motion, margin = _motion(batch), spectrum(batch).margin()
    result = torch.where(motion > 0, motion, margin)
    silent = ((margin.abs() < SILENT) & (motion <= 0)).nonzero().flatten()
    growth = growth_nearby(batch.take(silent)) if len(silent) else margin[:0]
    result[silent] = growth.clamp_max(1.0)
    silent = silent[growth <= 0]
    if len(silent):
        some = batch.take(silent)
        generator = torch.Generator().manual_seed(batch.n * 1000 + batch.d)
        nudge = 1e-4 * torch.randn(some.tokens.shape, generator=generator, dtype=torch.float64)
        end = run(some.at(problem_of(some).retract(some.tokens + nudge)))
        away = torch.linalg.vector_norm(end.final - some.tokens, dim=-1).amax(-1)
        left = away > GONE
        index = left.nonzero().flatten()
        if len(index):
            left[index] = ~only_carried(some.take(index), nudge[index], away[index])
        result[silent] = torch.where(left, away - GONE, torch.full_like(away, -ON_BOUNDARY))
    return result


@OBSERVED.register(claims.Iff)
def observed_iff(claim: claims.Iff, batch: Batch) -> Tensor:
    """Where one side holds and the other fails.

    Within rounding of its boundary the condition may be true or false: where the claim is told, for the exact check.
    """
    condition, seen = OBSERVED(claim.condition, batch), OBSERVED(claim.claim, batch)
    found = torch.maximum(torch.minimum(seen, -condition), torch.minimum(-seen, condition))
    if not _EXACT_CHECK_FOLLOWS.get():
        return found
    edge = (condition.abs() < 1e-11) & (seen.abs() > 1e-9)
    return torch.where(edge, torch.full_like(found, ON_BOUNDARY), found)


@contextmanager
def exact_check_follows() -> Iterator[None]:
    """Whoever reads the claims in this block has each ON_BOUNDARY decided exactly: it is a place to look, no violation."""
    token = _EXACT_CHECK_FOLLOWS.set(True)
    try:
        yield
    finally:
        _EXACT_CHECK_FOLLOWS.reset(token)


@OBSERVED.register(claims.When)
def observed_when(claim: claims.When, batch: Batch) -> Tensor:
    return torch.minimum(OBSERVED(claim.claim, batch), -OBSERVED(claim.condition, batch))


# --- observables -----------------------------------------------------------------------------------------------------


def observe(observable: Observable, batch: Batch, x: Tensor) -> Tensor:
    """The observable at states ``x (B, n, d)``, through its one definition, with a tensor for each scalar."""
    value = observable(*in_loops(batch, x))
    value = value if isinstance(value, Tensor) else torch.tensor(float(value), dtype=torch.float64)
    return value.expand(batch.count)


def rate_of(observable: Observable, batch: Batch) -> tuple[Tensor, Tensor]:
    """The change of the observable in one layer, or its derivative along the flow; and the size of rounding."""
    problem = problem_of(batch)
    moved = problem.advance(batch.tokens, 0.0)
    before = observe(observable, batch, batch.tokens)
    if batch.system.time is Time.MAP:
        after = observe(observable, batch, moved)
        return after - before, 1e-12 * (1 + before.abs())
    rate = derivative_along(lambda x: observe(observable, batch, x), batch.tokens, moved)
    return rate, 1e-11 * (1 + before.abs())


@OBSERVED.register(claims.Decreases)
def observed_decreases(claim: claims.Decreases, batch: Batch) -> Tensor:
    rate, noise = rate_of(claim.observable, batch)
    return rate - noise


@OBSERVED.register(claims.Increases)
def observed_increases(claim: claims.Increases, batch: Batch) -> Tensor:
    rate, noise = rate_of(claim.observable, batch)
    return -rate - noise


@OBSERVED.register(claims.Vanishes)
def observed_vanishes(claim: claims.Vanishes, batch: Batch) -> Tensor:
    return observe(claim.observable, batch, batch.tokens).abs() - CLOSE


@OBSERVED.register(claims.Nonnegative)
def observed_nonnegative(claim: claims.Nonnegative, batch: Batch) -> Tensor:
    value = observe(claim.observable, batch, batch.tokens)
    if claim.strict:  # zero violates a strict claim: within rounding of zero it is shown as ON_BOUNDARY
        return torch.where(value.abs() < 1e-11, torch.full_like(value, ON_BOUNDARY), -value)
    return -value - 1e-10


# --- limits ----------------------------------------------------------------------------------------------------------


@OBSERVED.register(claims.ForwardInvariant)
def observed_forward_invariant(claim: claims.ForwardInvariant, batch: Batch) -> Tensor:
    """The farthest that a trajectory is seen outside the region, in units of the size that the tokens have then.

    For a region by inequalities it is negative inside, by the smallest margin, so that it can be climbed.
    """
    region = claim.region
    worst = torch.full((batch.count,), -torch.inf, dtype=torch.float64)
    with torch.no_grad():
        for x in states_along(batch, count=60, longest=0.05):
            size = torch.linalg.vector_norm(x, dim=-1).amax(-1).clamp_min(1.0)
            away = -margin_of(region, batch, x) if isinstance(region, StateRegion) else distance(region, batch, x)
            worst = torch.maximum(worst, away / size)
    return worst - 1e-7


@OBSERVED.register(claims.Converges, claims.AlmostEveryConverges)
def observed_converges_or_almost_every_converges(claim: Any, batch: Batch) -> Tensor:
    """Positive for trajectories that settle away from the place, turn in a 2-cycle, or blow up.

    A start that stays where it is says nothing about almost every start: it is an equilibrium, or so slow (attention
    weights far below rounding) that floats cannot tell.  Nor does one that ends at an unstable equilibrium: almost none do.
    """
    end = run(batch)
    away = distance(claim.place, batch, end.final)
    start = distance(claim.place, batch, batch.tokens)
    result = torch.where(away < AWAY, away - AWAY, torch.full_like(away, torch.nan))
    if batch.system.space is Space.EUCLIDEAN:  # decay may be algebraic: half way there is seen as approaching
        result = torch.where(result.isnan() & (away < start / 2), away / start - 1, result)
    at_rest = end.settled & (away >= AWAY)
    if isinstance(claim, claims.AlmostEveryConverges):
        moved = torch.linalg.vector_norm(end.final - problem_of(batch).retract(batch.tokens), dim=-1).amax(-1)
        at_rest &= moved > AWAY
        at_rest &= ~_repelling(batch.at(end.final), at_rest)
    result = torch.where(at_rest, away - AWAY, result)
    grown = (end.size > 1e5) & (away > 10 * start)
    result = torch.where(grown | ~end.finite, torch.full_like(away, 1.0), result)
    if batch.system.time is Time.MAP:
        again = problem_of(batch).advance(end.final, 0)
        twice = problem_of(batch).advance(again, 0)
        cycle = torch.linalg.vector_norm(twice - end.final, dim=-1).amax(-1) < 1e-8
        size = torch.linalg.vector_norm(again - end.final, dim=-1).amax(-1)
        result = torch.where(cycle & (size > AWAY), size, result)
    return result


def _repelling(batch: Batch, asked: Tensor) -> Tensor:
    """Is the state, of those that are asked for, an unstable equilibrium?"""
    found = torch.zeros_like(asked)
    some = asked.nonzero().flatten()
    if len(some):
        found[some] = spectrum(batch.take(some)).margin() > SILENT
    return found


@OBSERVED.register(claims.Diverges)
def observed_diverges(claim: claims.Diverges, batch: Batch) -> Tensor:
    """Positive where the tokens (``every``: some token) settle at a finite size."""
    end = run(batch)
    sizes = torch.linalg.vector_norm(end.final, dim=-1)
    seen = sizes.amin(-1) if claim.every else sizes.amax(-1)
    start = torch.linalg.vector_norm(batch.tokens, dim=-1).amax(-1)
    result = torch.where(seen > GROWN * (1 + start), -torch.ones_like(seen), torch.full_like(seen, torch.nan))
    speed = torch.linalg.vector_norm(problem_of(batch).advance(end.final, 0.0), dim=-1)
    slow = (speed.amin(-1) if claim.every else speed.amax(-1)) < 1e-9
    result = torch.where(slow & (seen < GROWN * (1 + start)), torch.ones_like(seen), result)
    return torch.where(end.finite, result, -torch.ones_like(seen))


@OBSERVED.register(claims.AttentionRank)
def observed_attention_rank(claim: claims.AttentionRank, batch: Batch) -> Tensor:
    """The difference between the numerical rank and the claimed one (rows of the first head)."""
    score = batch.system.heads(batch.parameters, 0.0)[0][1]
    algebra = TorchAlgebra()
    weights = algebra.attention(batch.tokens, score, batch.mask, batch.system.over_root_d)
    dense = weights if isinstance(weights, Tensor) else weights.dense(batch.tokens)
    singular = torch.linalg.svdvals(dense.expand(batch.count, batch.n, batch.n))
    rank = (singular > 1e-10 * singular[..., :1]).sum(-1)
    return (rank - batch.integer(claim.rank)).abs().to(torch.float64) - 0.5
