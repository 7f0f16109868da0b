"""Functions that theorems follow along a flow, as the papers write them: for tests of the integrators."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.matrices import pair_scores
from eigentoken.numerics.dynamics.observables import diameter

__all__ = [
    "attention_potential",
    "central_diameter",
    "logistic_potential",
    "planar_first_integral",
    "wendel_probability",
]


def attention_potential(x: Tensor, V: Tensor, c: float) -> Tensor:
    """``E = 1/(2c) sum_ij exp(c x_i^T V x_j)``: grows along the attention flow with M = cV (CT-8)."""
    return (c * pair_scores(V, x)).exp().sum((-2, -1)) / (2 * c)


def logistic_potential(a: Tensor) -> Tensor:
    """Eq. (17): ``2/3 - a + a^3/3`` of the cosine a to the first token (AB-L5.1)."""
    return 2 / 3 - a + a**3 / 3


def central_diameter(x: Tensor, v: Tensor) -> Tensor:
    """Diameter of the central projections ``w_i = x_i / v^T x_i``: shrinks exponentially in a hemisphere (AB-X1)."""
    return diameter(x / (x @ v).unsqueeze(-1))


def planar_first_integral(x: Tensor, lambda_1: float, lambda_2: float) -> Tensor:
    """Conserved by the two-token planar Oja flow with V = diag(lambda_1, lambda_2), lambda_1 > 0 > lambda_2 (PM-CX1).

    ``sin^2(D/2) / (sin^2 T)^k (cos^2 T)^(1-k)`` with T the mean angle, D their difference and
    ``k = lambda_1 / (lambda_1 - lambda_2)``.
    """
    angle = torch.atan2(x[..., 1], x[..., 0])
    mean, half = (angle[..., 0] + angle[..., 1]) / 2, (angle[..., 0] - angle[..., 1]) / 2
    kappa = lambda_1 / (lambda_1 - lambda_2)
    phi = torch.sin(mean).square() ** kappa * torch.cos(mean).square() ** (1 - kappa)
    return torch.sin(half).square() / phi


def wendel_probability(tokens: int, dimension: int) -> Fraction:
    """``2^-(l-1) sum_{k<d} C(l-1, k)``: the chance that l uniform tokens on the sphere of R^d share a hemisphere."""
    return Fraction(sum(comb(tokens - 1, k) for k in range(dimension)), 2 ** (tokens - 1))
