"""Readings of a ball that shrinks at a rate, and of limits on at most three hyperplanes.

A ball is looked at in floats at states that are made inside it, and decided at the state of an exact instance; limits are
followed in floats.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.torch_algebra import derivative_along
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import Case, NoValue, relation_truth
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.language.contractions import RADIUS, ContractsInBall, HyperplaneLimits
from eigentoken.theory.language.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.language.verdicts import Verdict, holds, undecided
from eigentoken.theory.systems.system import Time

__all__: list[str] = []

#: Radii of the balls that are looked at, and relative rounding there.
RADII, ROUNDING = tuple(2.0**-k for k in range(-2, 9)), 1e-8


@GENERATED.register(ContractsInBall)
def generated_contracts_in_ball(claim: ContractsInBall, plan: Plan, satisfy: bool = True) -> Plan:
    """Any state will do: those of the ball are made from it."""
    return plan.noticing((sp.sympify(claim.rate).free_symbols | claim.below.free_symbols) - {RADIUS})


@OBSERVED.register(ContractsInBall)
def observed_contracts_in_ball(claim: ContractsInBall, batch: Batch) -> Tensor:
    """How much larger R is after the step (or its derivative) than the claim allows, over R; ``nan`` outside of all balls."""
    v = batch.eigenvector(claim.term, 1).unsqueeze(-2)
    beside = batch.tokens - (batch.tokens * v).sum(-1, keepdim=True) * v
    beside = beside / torch.linalg.vector_norm(beside, dim=(-1, -2), keepdim=True)
    worst = torch.full((batch.count,), torch.nan, dtype=torch.float64)
    for size in RADII:
        radius = torch.full((batch.count,), size, dtype=torch.float64)
        room = batch.scalar(claim.below.lhs - claim.below.rhs, given={RADIUS: radius})
        inside = room < 0 if isinstance(claim.below, sp.Lt | sp.Le) else room > 0
        x = v + size * beside
        x = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        there = replace(batch, tokens=x, _memory={})
        moved = problem_of(there).advance(x, 0.0)
        rate = batch.scalar(claim.rate, given={RADIUS: radius})
        if batch.system.time is Time.MAP:
            over = _radius(moved, v) - rate * size
        else:
            over = derivative_along(lambda y: _radius(y, v), x, moved) + rate * size
        found = torch.where(inside, over / size - ROUNDING, torch.nan)
        worst = torch.where(worst.isnan(), found, torch.where(found.isnan(), worst, torch.maximum(worst, found)))
    return worst


def _radius(x: Tensor, v: Tensor) -> Tensor:
    heights = (x * v).sum(-1)
    rest = x - heights.unsqueeze(-1) * v
    return ((rest * rest).sum(-1) / heights**2).sum(-1).sqrt()


@CERTIFIED.register(ContractsInBall)
def certified_contracts_in_ball(claim: ContractsInBall, case: Case) -> Verdict:
    """At the state of the instance: is it in the ball, and does R shrink there as it is claimed?"""
    try:
        vector = case.eigenvector(claim.term, 1)
    except NoValue as problem:
        return undecided(str(problem))
    heights = [(vector.T * token)[0, 0] for token in case.tokens()]
    sides = {relation_truth(case, sp.Gt(each * heights[0], 0, evaluate=False)) for each in heights}
    if sides != {True}:
        told = None in sides
        return undecided("the sides of the tokens were not told") if told else holds("not all tokens are on one side")
    size = (vector.T * vector)[0, 0]
    pairs = zip(case.tokens(), heights, strict=True)
    square: Any = sum((size * (token.T * token)[0, 0] / height**2 - 1 for token, height in pairs), sp.Integer(0))
    below, decays = claim.at(list(vector), sp.nsimplify(sp.simplify(square)), case.instance.system)
    inside = relation_truth(case, below)
    if inside is not True:
        return undecided("in the ball or not was not told") if inside is None else holds("the state is not in the ball")
    return CERTIFIED(decays, case)


# -- limits -----------------------------------------------------------------------------------------------------------------

#: Units of ``1/lambda_1`` that a start is followed, steps of each, and what counts as at rest and as near.
TIME, STEPS, AT_REST, NEAR = 14.0, 1400, 1e-4, 2e-2


@GENERATED.register(HyperplaneLimits)
def generated_hyperplane_limits(claim: HyperplaneLimits, plan: Plan, satisfy: bool = True) -> Plan:
    return plan


@OBSERVED.register(HyperplaneLimits)
def observed_hyperplane_limits(claim: HyperplaneLimits, batch: Batch) -> Tensor:
    """The farthest that a coordinate at rest is from the ends (and 0), in units of their size; ``nan`` while one moves."""
    value, score = batch.named(str(batch.system.value)), batch.named(str(batch.system.score))
    top = batch.eigen(claim.term)[0][..., 0].real
    u = batch.eigenvector(claim.term, 1, left=True)
    f, f_before = _followed(batch.tokens, value, score, top, u)
    size = f.abs().amax(-1, keepdim=True)
    ends = [f.amin(-1, keepdim=True), f.amax(-1, keepdim=True)]
    away = torch.stack([(f - end).abs() for end in ends] + ([f.abs()] if claim.zero else [])).amin(0) / size
    moving = ((f - f_before).abs() / size).amax(-1) > AT_REST
    return torch.where(moving | ~torch.isfinite(size.squeeze(-1)) | (top <= 0), torch.nan, away.amax(-1) - NEAR)


def _followed(x: Tensor, value: Tensor, score: Tensor, top: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """``f_i`` at the end and one unit of time before.

    ``z = e^{-lambda_1 t} x`` obeys ``z_i' = sum_j a_ij B z_j - lambda_1 z_i``.
    """
    rate = top[:, None, None]
    matrix, z, step = value / rate, x, TIME / STEPS
    before = x
    for k in range(STEPS):
        if k == STEPS - round(1 / step):
            before = z
        z = z + step * _middle(z, k * step, matrix, score, rate, step)
    return (z * u.unsqueeze(-2)).sum(-1), (before * u.unsqueeze(-2)).sum(-1)


def _middle(z: Tensor, time: float, matrix: Tensor, score: Tensor, rate: Tensor, step: float) -> Tensor:
    """The velocity in the middle of the step."""

    def speed(z: Tensor, time: float) -> Tensor:
        scores = torch.exp(torch.tensor(2 * time, dtype=torch.float64)) * (z @ score @ z.mT)
        return torch.softmax(scores, -1) @ z @ matrix.mT - z

    return speed(z + step / 2 * speed(z, time), time + step / 2)


@CERTIFIED.register(HyperplaneLimits)
def certified_hyperplane_limits(claim: HyperplaneLimits, case: Case) -> Verdict:
    """A limit is followed in floats: no certificate is made of it."""
    return undecided("limits of rescaled coordinates are followed in floats: no certificate is made of them")
