"""Spectra and matrices with prescribed spectra, drawn in batches.

Degenerate spectra are drawn on purpose: the names in :data:`CORNERS` are counted in every report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.instances.plans import STOCHASTIC, Contradiction, MatrixPlan

__all__ = ["CORNERS", "general_matrices", "orthogonal", "spectra", "symmetric_matrices_with"]

#: Names of the spectra that are drawn: each plan goes through all of them.
CORNERS = (
    "generic",
    "integers",
    "repeated",
    "tie at the top",
    "negative second",
    "deep negative",
    "singular",
    "positive",
    "negative",
    "skew scores",
    "zero scores",
)

Bounds = Mapping[int, tuple[float | None, float | None]]


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator, dtype=torch.float64)


def orthogonal(count: int, d: int, generator: torch.Generator) -> Tensor:
    """Haar-random orthogonal matrices ``(count, d, d)``."""
    frame, triangle = torch.linalg.qr(_normal((count, d, d), generator))
    signs = torch.sign(torch.diagonal(triangle, dim1=-2, dim2=-1))
    return frame * signs.unsqueeze(-2)


def spectra(count: int, d: int, plan: MatrixPlan, corner: str, bounds: Bounds, generator: torch.Generator) -> Tensor:
    """Real spectra ``(count, d)``, largest first, of the asked sign and inside the bounds on single eigenvalues."""
    scale = torch.exp(0.7 * _normal((count, 1), generator))
    values = _normal((count, d), generator) * scale
    if corner == "integers":
        values = torch.round(2 * values)
    values = values.sort(dim=-1, descending=True).values
    if corner == "repeated" and d > 2:
        values[:, 1:] = values[:, 1:2]
    elif corner == "tie at the top" and d > 1:
        values[:, 1] = values[:, 0]
    elif corner == "negative second" and d > 1:
        values = torch.cat([values[:, :1].abs() + 0.1, -values[:, 1:].abs() - 0.05], -1)
    elif corner == "deep negative" and d > 1:
        values = torch.cat([values[:, :1].abs() + 0.1, values[:, 1:]], -1)
        values[:, -1] = -values[:, 0] * (1 + 2 * _uniform((count,), generator))
    elif corner == "positive":
        values = values.abs() + 0.05
    elif corner == "negative":
        values = -values.abs() - 0.05
    elif corner == "singular":
        spot = torch.randint(0, d, (count,), generator=generator)
        values[torch.arange(count), spot] = 0.0
    values = values.sort(dim=-1, descending=True).values
    low, high = _propagated(d, plan, bounds)
    for index in range(d):
        lower, upper = low[index], high[index]
        column = values[:, index]
        room = 0.02 if corner != "integers" else 1.0
        if lower is not None and upper is not None:
            if lower > upper:
                raise Contradiction(f"eigenvalue {index + 1} cannot be above {lower:g} and below {upper:g}")
            inside = lower + (upper - lower) * _uniform((count,), generator)
            column = torch.where(
                (column > lower) & (column < upper), column, inside
            )  # a fixed value where they are equal
        elif lower is not None:
            column = torch.where(column > lower, column, lower + (column - lower).abs() + room)
        elif upper is not None:
            column = torch.where(column < upper, column, upper - (column - upper).abs() - room)
        values[:, index] = column
    values = values.sort(dim=-1, descending=True).values
    if plan.simple_top and d > 1:
        close = values[:, 0] - values[:, 1] < 1e-6
        gap = 0.2 + _uniform((count,), generator) if corner != "integers" else torch.ones(count, dtype=torch.float64)
        values[:, 0] = torch.where(close, values[:, 0] + gap, values[:, 0])
    if plan.simple_top is False and d > 1:
        values[:, 1] = values[:, 0]
    if plan.sign == "nonnegative singular":
        values[:, -1] = 0.0
    if plan.nonsingular:
        values = torch.where(values.abs() < 1e-6, torch.full_like(values, 0.5), values).sort(-1, descending=True).values
    if plan.nonsingular is False:
        smallest = values.abs().argmin(-1)
        values[torch.arange(count), smallest] = 0.0
    if plan.dominant and d > 1:
        limit = values[:, :1].abs() * (0.3 + 0.69 * _uniform((count, 1), generator))
        largest = values[:, 1:].abs().amax(-1, keepdim=True).clamp_min(1e-9)
        top = values[:, :1].abs() + 0.05
        values = torch.cat([top, values[:, 1:] * torch.clamp(limit / largest, max=1.0)], -1)
        values = values.sort(-1, descending=True).values
    return values


def _propagated(d: int, plan: MatrixPlan, bounds: Bounds) -> tuple[list[float | None], list[float | None]]:
    """Bounds on each eigenvalue, completed by the order: a lower bound on one bounds those above it."""
    low: list[float | None] = [None] * d
    high: list[float | None] = [None] * d
    asked = dict(bounds)
    signs = {"positive": (d, (0.0, None)), "nonnegative": (d, (-1e-300, None)), "negative": (1, (None, 0.0))}
    signs["nonnegative singular"] = signs["nonnegative"]
    signs["not positive"] = (d, (None, 0.0))
    signs["not negative"] = (1, (0.0, None))
    signs["not nonnegative"] = (d, (None, 0.0))
    if plan.sign in signs:
        index, (lower, upper) = signs[plan.sign]
        known = asked.get(index, (None, None))
        asked[index] = (
            lower if known[0] is None else max(known[0], lower if lower is not None else known[0]),
            upper if known[1] is None else min(known[1], upper if upper is not None else known[1]),
        )
    for index, (lower, upper) in asked.items():
        if not 1 <= index <= d:
            continue
        if lower is not None:
            for above in range(index):
                low[above] = lower if low[above] is None else max(low[above], lower)  # type: ignore[type-var]
        if upper is not None:
            for below in range(index - 1, d):
                high[below] = upper if high[below] is None else min(high[below], upper)  # type: ignore[type-var]
    return low, high


def symmetric_matrices_with(values: Tensor, frame: Tensor) -> Tensor:
    """``Q diag(values) Q^T``, exactly symmetric."""
    product = (frame * values.unsqueeze(-2)) @ frame.mT
    return (product + product.mT) / 2


def general_matrices(
    count: int, d: int, plan: MatrixPlan, corner: str, bounds: Bounds, generator: torch.Generator
) -> Tensor:
    """Matrices that need not be symmetric: with a definite symmetric part, a simple real top, or nothing asked."""
    if plan.fixed is not None:
        return _fixed(count, d, plan, generator)
    raw = _normal((count, d, d), generator)
    skew = (raw - raw.mT) / 2
    if plan.sign is not None:
        values = spectra(count, d, plan, corner, {}, generator)
        strength = torch.exp(_normal((count, 1, 1), generator))
        return symmetric_matrices_with(values, orthogonal(count, d, generator)) + strength * skew
    if plan.simple_top or plan.dominant or bounds:
        return _with_real_top(count, d, plan, corner, bounds, generator)
    if corner == "skew scores":
        return skew
    if corner == "zero scores":
        return torch.zeros_like(raw)
    scale = torch.exp(_normal((count, 1, 1), generator))
    if corner == "integers":
        return torch.round(1.5 * raw)
    if corner == "repeated":
        return torch.eye(d, dtype=torch.float64) * scale
    if corner == "positive":
        return raw @ raw.mT / d
    if corner == "negative":
        return -raw @ raw.mT / d
    if corner == "singular":
        return raw[:, :, :1] * raw[:, :1, :] * scale
    if corner == "negative second":
        return (raw + raw.mT) / 2 * scale
    return raw * scale


def multiple_of_identity(fixed: Any) -> float | None:
    """The c of a matrix that is fixed to be ``c I``; ``None`` where it is another one."""
    if isinstance(fixed, str):
        return {"identity": 1.0, "zero": 0.0}.get(fixed)
    return float(fixed)


def _fixed(count: int, d: int, plan: MatrixPlan, generator: torch.Generator) -> Tensor:
    factor = multiple_of_identity(plan.fixed)
    if factor is not None:
        return factor * torch.eye(d, dtype=torch.float64).repeat(count, 1, 1)
    if plan.fixed == "skew":
        return 0 * skew_matrices(count, d, generator) if plan.symmetric else skew_matrices(count, d, generator)
    if plan.fixed in STOCHASTIC:
        return stochastic_matrices(count, d, plan.fixed == "doubly stochastic", bool(plan.symmetric), generator)
    frame = orthogonal(count, d, generator)
    if plan.fixed == "orthogonal" and not plan.symmetric:
        return frame
    signs = torch.where(_uniform((count, d), generator) < 0.5, 1.0, -1.0).to(torch.float64)
    return symmetric_matrices_with(signs, frame)


def _with_real_top(
    count: int, d: int, plan: MatrixPlan, corner: str, bounds: Bounds, generator: torch.Generator
) -> Tensor:
    """``S D S^-1`` with a real top eigenvalue; the others real or in complex pairs with smaller real part."""
    values = spectra(count, d, MatrixPlan(simple_top=True, dominant=plan.dominant), corner, bounds, generator)
    blocks = torch.diag_embed(values)
    for start in range(1, d - 1, 2):
        if corner in {"integers", "repeated"}:
            break
        middle = (values[:, start] + values[:, start + 1]) / 2
        turn = _normal((count,), generator) * 1.5
        if plan.dominant:
            room = (values[:, 0] ** 2 - middle**2).clamp_min(0).sqrt()
            turn = 0.95 * room * torch.tanh(turn)
        use = _uniform((count,), generator) < 0.5
        blocks[:, start, start] = torch.where(use, middle, values[:, start])
        blocks[:, start + 1, start + 1] = torch.where(use, middle, values[:, start + 1])
        blocks[:, start, start + 1] = torch.where(use, -turn, torch.zeros_like(turn))
        blocks[:, start + 1, start] = torch.where(use, turn, torch.zeros_like(turn))
    frame = orthogonal(count, d, generator)
    if corner != "positive":
        frame = (
            frame @ torch.diag_embed(torch.exp(0.5 * _normal((count, d), generator))) @ orthogonal(count, d, generator)
        )
    return frame @ blocks @ torch.linalg.inv(frame)


def stochastic_matrices(count: int, d: int, doubly: bool, symmetric: bool, generator: torch.Generator) -> Tensor:
    """Rows of shares, some of them zero; doubly: convex combinations of permutations (with the transposed, if symmetric)."""
    if not doubly and not symmetric:
        shares = torch.rand(count, d, d, generator=generator, dtype=torch.float64)
        shares = torch.where(torch.rand(count, d, d, generator=generator) < 0.3, 0 * shares, shares)
        shares = shares + torch.where(shares.sum(-1, keepdim=True) == 0, 1.0, 0.0)
        return shares / shares.sum(-1, keepdim=True)
    made = torch.zeros(count, d, d, dtype=torch.float64)
    weights = torch.rand(count, 3, generator=generator, dtype=torch.float64)
    weights = weights / weights.sum(-1, keepdim=True)
    eye = torch.eye(d, dtype=torch.float64)
    for part in range(3):
        order = torch.rand(count, d, generator=generator).argsort(-1)
        made = made + weights[:, part, None, None] * eye[order]
    return (made + made.mT) / 2 if symmetric else made


def skew_matrices(count: int, d: int, generator: torch.Generator) -> Tensor:
    """``X^T = -X``."""
    raw = torch.exp(_normal((count, 1, 1), generator)) * _normal((count, d, d), generator)
    return (raw - raw.mT) / 2
