"""OBSERVED for conditions: how far each instance of a batch is from satisfying them (negative: satisfied)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.certified.eigen import eig
from eigentoken.numerics.instances.batches import Batch, Wave, relation_violation
from eigentoken.theory.language import conditions
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.readings import OBSERVED

__all__: list[str] = []

#: Below this relative size a float difference counts as zero when a batch is looked at (never in a verdict).
ROUNDING = 1e-9


def _scale(value: Tensor) -> Tensor:
    return ROUNDING * (torch.linalg.matrix_norm(value) + 1e-30)


@OBSERVED.register(conditions.Symmetric)
def observed_symmetric(condition: conditions.Symmetric, batch: Batch) -> Tensor:
    value = batch.matrix(condition.term)
    return torch.linalg.matrix_norm(value - value.mT) - _scale(value)


@OBSERVED.register(conditions.PositiveDefinite)
def observed_positive_definite(condition: conditions.PositiveDefinite, batch: Batch) -> Tensor:
    return _symmetric_values(condition.term, batch).amin(-1).neg() + 1e-12


@OBSERVED.register(conditions.PositiveSemidefinite)
def observed_positive_semidefinite(condition: conditions.PositiveSemidefinite, batch: Batch) -> Tensor:
    return _symmetric_values(condition.term, batch).amin(-1).neg() - 1e-12


@OBSERVED.register(conditions.NegativeDefinite)
def observed_negative_definite(condition: conditions.NegativeDefinite, batch: Batch) -> Tensor:
    return _symmetric_values(condition.term, batch).amax(-1) + 1e-12


def _symmetric_values(term: Any, batch: Batch) -> Tensor:
    value = batch.matrix(term)
    return torch.linalg.eigvalsh((value + value.mT) / 2)


@OBSERVED.register(conditions.Nonsingular)
def observed_nonsingular(condition: conditions.Nonsingular, batch: Batch) -> Tensor:
    value = batch.matrix(condition.term)
    return _scale(value) - torch.linalg.svdvals(value)[..., -1]


@OBSERVED.register(conditions.SimpleTop)
def observed_simple_top(condition: conditions.SimpleTop, batch: Batch) -> Tensor:
    values = batch.eigen(condition.term)[0]
    if values.shape[-1] == 1:
        return torch.full((batch.count,), -1.0, dtype=torch.float64)
    gap = values[:, 1].real - values[:, 0].real + ROUNDING * (1 + values.abs().amax(-1))
    return torch.maximum(gap, values[:, 0].imag.abs() - ROUNDING) if values.is_complex() else gap


@OBSERVED.register(conditions.NonPrincipalModulusBelow)
def observed_non_principal_modulus_below(condition: conditions.NonPrincipalModulusBelow, batch: Batch) -> Tensor:
    values = batch.eigen(condition.term)[0]
    if values.shape[-1] == 1:  # there is no other eigenvalue
        return torch.full((batch.count,), -1.0, dtype=torch.float64)
    gap = values[:, 1:].abs().amax(-1) - values[:, 0].real + ROUNDING
    return torch.maximum(gap, values[:, 0].imag.abs() - ROUNDING) if values.is_complex() else gap


@OBSERVED.register(conditions.Relation)
def observed_relation(condition: conditions.Relation, batch: Batch) -> Tensor:
    return relation_violation(batch, condition.relation)


@OBSERVED.register(conditions.InHemisphere)
def observed_in_hemisphere(condition: conditions.InHemisphere, batch: Batch) -> Tensor:
    if condition.normal is not None:  # only a simple real eigenvalue at the top has one eigenvector
        heights = torch.einsum("bnd,bd->bn", batch.tokens, batch.eigenvector(condition.normal, 1, condition.left))
        low = ROUNDING - torch.maximum(heights.amin(-1), (-heights).amin(-1))
        return torch.maximum(low, OBSERVED(conditions.SimpleTop(condition.normal), batch))
    return ROUNDING - best_height(batch.tokens, batch.extra.get("w"))


def best_height(tokens: Tensor, w: Tensor | None = None, rounds: int = 60) -> Tensor:
    """``min_i w^T x_i`` for a unit w that makes it positive if any does (perceptron steps, then a linear program)."""
    x = tokens / torch.linalg.vector_norm(tokens, dim=-1, keepdim=True).clamp_min(1e-300)
    w = x.mean(1) if w is None else w
    best = torch.full((len(x),), -torch.inf, dtype=torch.float64)
    for _ in range(rounds):
        unit = w / torch.linalg.vector_norm(w, dim=-1, keepdim=True).clamp_min(1e-12)
        heights = torch.einsum("bnd,bd->bn", x, unit)
        lowest, index = heights.min(-1)
        best = torch.maximum(best, lowest)
        if bool((best > 0).all()):
            break
        w = unit + 0.3 * x[torch.arange(len(x)), index]
    for b in (best <= 0).nonzero().flatten().tolist():  # not found by steps: a linear program decides
        best[b] = max(float(best[b]), _height_by_program(x[b]))
    return best


def _height_by_program(x: Tensor) -> float:
    """``max t`` with ``x_i^T w >= t``, ``|w_a| <= 1``, turned into a height for a unit w."""
    from scipy.optimize import linprog

    n, d = x.shape
    rows = torch.cat([-x, torch.ones(n, 1, dtype=x.dtype)], 1).numpy()
    found = linprog([0.0] * d + [-1.0], A_ub=rows, b_ub=[0.0] * n, bounds=[(-1, 1)] * d + [(None, 1)])
    length = float((found.x[:d] ** 2).sum() ** 0.5) if found.success else 0.0
    return float(found.x[-1]) / length if length > 1e-12 else 0.0


@OBSERVED.register(conditions.NotAllEqual)
def observed_not_all_equal(condition: conditions.NotAllEqual, batch: Batch) -> Tensor:
    spread = torch.linalg.vector_norm(batch.tokens - batch.tokens[:, :1], dim=-1).amax(-1)
    return ROUNDING - spread


@OBSERVED.register(conditions.BoundedInTime, conditions.UniformlyContinuous)
def observed_bounded_in_time_or_uniformly_continuous(condition: Any, batch: Batch) -> Tensor:
    """Every matrix that is drawn is constant or a :class:`Wave`; a wave with a square part is not continuous."""
    smooth = isinstance(condition, conditions.UniformlyContinuous)
    groups = [batch.parameters, *batch.parameters.get("heads", [])]
    jumps = any(
        isinstance(group.get(condition.name), Wave) and bool((group[condition.name].square != 0).any())
        for group in groups
    )
    value = 1.0 if smooth and jumps else -1.0
    return torch.full((batch.count,), value, dtype=torch.float64)


@OBSERVED.register(conditions.Commute)
def observed_commute(condition: conditions.Commute, batch: Batch) -> Tensor:
    first, second = batch.matrix(condition.first), batch.matrix(condition.second)
    size = ROUNDING * (1 + torch.linalg.matrix_norm(first) * torch.linalg.matrix_norm(second))
    return torch.linalg.matrix_norm(first @ second - second @ first) - size


@OBSERVED.register(MultipleOf)
def observed_multiple_of(condition: MultipleOf, batch: Batch) -> Tensor:
    """The distance to the nearest multiple."""
    value = batch.matrix(condition.term)
    identity = condition.of == IDENTITY
    of = torch.eye(batch.d, dtype=torch.float64).expand_as(value) if identity else batch.matrix(condition.of)
    square = torch.einsum("bij,bij->b", of, of).clamp_min(1e-300)
    factor = torch.einsum("bij,bij->b", value, of) / square
    return torch.linalg.matrix_norm(value - factor.reshape(-1, 1, 1) * of) - _scale(value)


@OBSERVED.register(conditions.SharesTopEigenvector)
def observed_shares_top_eigenvector(condition: conditions.SharesTopEigenvector, batch: Batch) -> Tensor:
    heads = [head[condition.name] for head in batch.parameters.get("heads", [batch.parameters])]
    worst = torch.full((batch.count,), -torch.inf, dtype=torch.float64)
    first = None
    for value in heads:
        numbers, vectors = torch.linalg.eigh((value + value.mT) / 2)
        vector = vectors[..., -1]
        first = vector if first is None else first
        turned = 1 - torch.einsum("bd,bd->b", first, vector).abs()
        gap = numbers[:, -2] - numbers[:, -1] if numbers.shape[-1] > 1 else -torch.ones_like(turned)
        for part in (turned - ROUNDING, gap + ROUNDING, -numbers[:, -1]):
            worst = torch.maximum(worst, part)
        worst = torch.maximum(worst, torch.linalg.matrix_norm(value - value.mT) - _scale(value))
    return worst


@OBSERVED.register(conditions.AllOf)
def observed_all_of(condition: conditions.AllOf, batch: Batch) -> Tensor:
    return torch.stack([OBSERVED(part, batch) for part in condition.parts]).amax(0)


@OBSERVED.register(conditions.AnyOf)
def observed_any_of(condition: conditions.AnyOf, batch: Batch) -> Tensor:
    return torch.stack([OBSERVED(part, batch) for part in condition.parts]).amin(0)


@OBSERVED.register(conditions.Not)
def observed_not(condition: conditions.Not, batch: Batch) -> Tensor:
    value: Tensor = OBSERVED(condition.part, batch)
    return -value


@OBSERVED.register(conditions.IsIdentity)
def observed_is_identity(condition: conditions.IsIdentity, batch: Batch) -> Tensor:
    eye = torch.eye(batch.d, dtype=torch.float64)
    name = getattr(condition.term, "name", "")
    heads = batch.parameters.get("heads", ())
    values = [head[name] for head in heads if name in head] or [batch.matrix(condition.term)]
    worst = torch.stack([torch.linalg.matrix_norm(value - eye) for value in values]).amax(0)
    return worst - 1e-9


@OBSERVED.register(conditions.ShareDominantPair)
def observed_share_dominant_pair(condition: conditions.ShareDominantPair, batch: Batch) -> Tensor:
    """The worst of: not an eigenvector of a head, not positive, not contracted beside it in the Euclidean norm."""
    heads = [head[condition.name] for head in batch.parameters.get("heads", [batch.parameters])]
    total = torch.stack(heads).sum(0)
    right, left = _leading(total), _leading(total.mT)
    inner = torch.einsum("bd,bd->b", left, right)
    left = left / torch.where(inner.abs() < 1e-12, torch.full_like(inner, 1e-12), inner)[:, None]
    beside = torch.eye(batch.d, dtype=torch.float64) - right[:, :, None] * left[:, None, :]
    worst = torch.full((batch.count,), -torch.inf, dtype=torch.float64)
    for value in heads:
        number = torch.einsum("bi,bij,bj->b", left, value, right)
        size = 1e-9 * (1 + torch.linalg.matrix_norm(value))
        moved = torch.linalg.vector_norm(torch.einsum("bij,bj->bi", value, right) - number[:, None] * right, dim=-1)
        back = torch.linalg.vector_norm(torch.einsum("bi,bij->bj", left, value) - number[:, None] * left, dim=-1)
        contracted = torch.linalg.matrix_norm(beside @ value @ beside, ord=2) - number
        for part in (moved - size, back / torch.linalg.vector_norm(left, dim=-1) - size, -number, contracted + size):
            worst = torch.maximum(worst, part)
    return worst


def _leading(matrix: Tensor) -> Tensor:
    """The real part of the eigenvector whose eigenvalue is largest in modulus, of unit length."""
    numbers, vectors = eig(matrix)
    first = numbers.abs().argmax(-1)
    found = vectors.gather(-1, first[:, None, None].expand(-1, matrix.shape[-1], 1))[..., 0].real
    return found / torch.linalg.vector_norm(found, dim=-1, keepdim=True).clamp_min(1e-300)


@OBSERVED.register(conditions.NoneOpposite)
def observed_none_opposite(condition: conditions.NoneOpposite, batch: Batch) -> Tensor:
    """The distance of the tokens to the antipode of the first (to which it is not opposite itself)."""
    away = torch.linalg.vector_norm(batch.tokens + batch.tokens[:, :1], dim=-1).amin(-1)
    return 1e-6 - away


@OBSERVED.register(conditions.NotAllZero)
def observed_not_all_zero(condition: conditions.NotAllZero, batch: Batch) -> Tensor:
    return 1e-9 - torch.linalg.vector_norm(batch.tokens, dim=-1).amax(-1)
