"""Clustering equilibria of three tokens in the plane: one on an axis, two mirrored at it.

With ``x_1 = u``, ``x_2, x_3 = c u +- s w``, ``M = m_1 u u^T + m_2 w w^T`` and ``V = v_1 u u^T + v_2 w w^T`` the first token is
at rest by symmetry, and the others are for ``v_2/v_1 = (s/c) X/Y``, where (X, Y) is the mean that token 2 sees.  The attention
matrix of such a state is singular on a curve: half of the instances are put on it, by bisection in m_1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.rational import rounded

__all__ = ["clustered", "exact_cluster"]

HALVINGS = 80
SINGULAR = 1e-9


def _weights(c: Tensor, m1: Tensor, m2: Tensor) -> Tensor:
    """``exp(x_i^T M x_j)`` for the three tokens, before normalisation: ``(B, 3, 3)``."""
    s = (1 - c * c).sqrt()
    zero, one = torch.zeros_like(c), torch.ones_like(c)
    x = torch.stack([torch.stack(each, -1) for each in ((one, zero), (c, s), (c, -s))], -2)
    return torch.exp((x * torch.stack([m1, m2], -1).unsqueeze(-2)) @ x.mT)


def clustered(batch: Batch, generator: torch.Generator) -> Batch:
    """The batch with V and M changed so that three tokens rest in such a state (not a number for other sizes)."""
    value, score = batch.system.value, batch.system.score
    if (
        batch.n != 3
        or batch.d != 2
        or value is None
        or score is None
        or batch.system.multihead
        or batch.mask is not None
    ):
        return batch.at(torch.full_like(batch.tokens, torch.nan))
    count = batch.count
    steps = torch.randint(2, 6, (count,), generator=generator).to(torch.float64)
    c = (steps - 1) / steps
    m1 = 2 * torch.randn(count, generator=generator, dtype=torch.float64)
    m2 = 0.3 + 2 * torch.rand(count, generator=generator, dtype=torch.float64)
    singular = torch.rand(count, generator=generator) < 0.5
    m1 = torch.where(singular, _singular(c, m2), m1)
    weights = _weights(c, m1, m2)
    weights = weights / weights.sum(-1, keepdim=True)
    s = (1 - c * c).sqrt()
    mean_u = weights[:, 1, 0] + c * (weights[:, 1, 1] + weights[:, 1, 2])
    mean_w = s * (weights[:, 1, 1] - weights[:, 1, 2])
    ratio = s * mean_u / (c * mean_w)
    eye = torch.eye(2, dtype=torch.float64)
    lead = 0.5 + torch.rand(count, generator=generator, dtype=torch.float64)
    V = torch.diag_embed(torch.stack([lead, lead * ratio], -1))
    M = torch.diag_embed(torch.stack([m1, m2], -1))
    x = torch.stack([eye[0].expand(count, 2), torch.stack([c, s], -1), torch.stack([c, -s], -1)], 1)
    return batch.with_parameters({**batch.parameters, value: V, score: M}, x)


def _singular(c: Tensor, m2: Tensor) -> Tensor:
    """m_1 at which the determinant of the weights vanishes: it changes sign between a very negative value and zero."""
    low, high = torch.full_like(c, -60.0) / (1 - c), torch.zeros_like(c)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        block = _weights(c, middle, m2)  # on mirrored vectors: [[a, 2 b], [b, e + f]]
        sign = block[:, 0, 0] * (block[:, 1, 1] + block[:, 1, 2]) - 2 * block[:, 0, 1] ** 2
        low, high = torch.where(sign > 0, low, middle), torch.where(sign > 0, middle, high)
    return (low + high) / 2


def exact_cluster(batch: Batch, denominator: int) -> tuple[dict[str, Any], tuple[tuple[Any, ...], ...]] | None:
    """V, M (logarithms of rationals, so that all weights are rational) and tokens of a state near that of the batch."""
    value, score = str(batch.system.value), str(batch.system.score)
    c = float(batch.tokens[0, 1, 0])
    m1, m2 = (float(batch.parameters[score][0, i, i]) for i in range(2))
    lead = rounded(float(batch.parameters[value][0, 0, 0]), denominator)
    k = round(1 / (1 - c))
    cosine = Fraction(k - 1, k)
    square = 1 - cosine * cosine  # s^2
    e = rounded(math.exp(m2 * float(square)), denominator)  # exp(m_2 s^2)
    floats = _weights(
        batch.tokens[0, 1, :1], torch.tensor([m1], dtype=torch.float64), torch.tensor([m2], dtype=torch.float64)
    )[0]
    block = floats[0, 0] * (floats[1, 1] + floats[1, 2]) - 2 * floats[0, 1] ** 2
    if abs(float(block)) < SINGULAR * float(floats.abs().max()) ** 2:
        kappa = (e + 1 / e) / 2 if e else Fraction(0)
    else:
        kappa = rounded(math.exp(-m1 / k**2), denominator)  # m_1 = -k^2 ln(kappa)
    if denominator == 1:  # the plainest of them all
        singular = kappa == (e + 1 / e) / 2 if e else False
        k, cosine, square, e, lead = 2, Fraction(1, 2), Fraction(3, 4), max(e, Fraction(2)), max(lead, Fraction(1))
        kappa = (e + 1 / e) / 2 if singular else max(kappa, Fraction(1))
    if e <= 0 or e == 1 or kappa <= 0 or lead == 0:
        return None
    near, far = kappa ** -((k - 1) ** 2) * e, kappa ** -((k - 1) ** 2) / e  # exp(m_1 c^2 +- m_2 s^2)
    side = kappa ** -(k * (k - 1))  # exp(m_1 c)
    total = side + near + far
    mean = (side + cosine * (near + far)) / total
    ratio = mean * total / (cosine * (near - far))  # (s/c) X/Y with Y = s (near - far) / total
    matrices = {
        value: ((lead, Fraction(0)), (Fraction(0), lead * ratio)),
        score: ((f"-{k * k}*ln({kappa})", "0"), ("0", f"{1 / square}*ln({e})")),
    }
    tokens = (("1", "0"), (str(cosine), f"sqrt({square})"), (str(cosine), f"-sqrt({square})"))
    return matrices, tokens
