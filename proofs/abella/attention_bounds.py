"""Bounds on tokens, scores and attention weights in the kernel: what AB-L4.1 claims, and what the hemisphere theorems use."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.steps.theorems import RAYLEIGH_BELOW
from eigentoken.theory.calculus import DIMENSION, HEAD, Expression, Index, Letter, dot, exponential, factor, one, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, HeadNorm, d, matrix, n

__all__ = ["BOUND", "BOUNDS", "METRIC", "I", "J", "K", "length", "of_every_weight", "weight", "weight_bounds"]

W = matrix("W")
#: The least eigenvalue of the metric: a token has length at most ``1/sqrt`` of it.
LEAST = Eigenvalue(W, d)
#: The largest norm of the score matrices, at the time.
BOUND = HeadNorm(matrix("P"))
I, J, K = (Index("token", name) for name in "ijk")
_SUMMED = Index("token", "s")
METRIC, SCORE = (Letter("W"),), (Letter("P", False, (HEAD,)),)


def score(at: Index, other: Index) -> Expression:
    """``x_i^T P_h x_j``."""
    return dot(vector("x", at), vector("x", other), SCORE)


def row(at: Index) -> Expression:
    """``sum_k exp(x_i^T P_h x_k)``."""
    return factor(row_sum(score(at, _SUMMED), _SUMMED))


def weight(at: Index, other: Index) -> Expression:
    """``alpha_ij = exp(x_i^T P_h x_j) / (sqrt(d) sum_k exp(x_i^T P_h x_k))``."""
    return exponential(score(at, other)) * row(at) ** -1 / sp.sqrt(DIMENSION)


def length(kernel: Kernel, at: Index) -> Proved:
    """``|x_i|^2 <= 1/lambda_d(W)`` on the ellipsoid, and ``lambda_d(W) > 0``."""
    x = vector("x", at)
    positive = kernel.unfold(kernel.given(PositiveDefinite(W)))
    unit = kernel.reduction(dot(x, x, METRIC), one())
    form = kernel.textbook(RAYLEIGH_BELOW, kernel.given(Symmetric(W)), A=W, z=x)
    here = Tensor(dot(x, x))
    return kernel.arithmetic([positive, unit, kernel.factors(one()), form], sp.And(LEAST > 0, here <= 1 / LEAST))


def score_bound(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``|x_i^T P_h x_j| <= b/lambda_d(W)``, where b is the norm of the forms."""
    x, y = vector("x", at), vector("x", other)
    known = kernel.bounded_forms("P")
    bound = kernel.part(known, known.proposition.parts[0])
    form = kernel.instantiate(kernel.instantiate(kernel.instantiate(bound, HEAD), x), y)
    squares = [kernel.square(x), kernel.square(y)]
    lengths = [length(kernel, at), length(kernel, other)]
    here, most = Tensor(score(at, other)), BOUND / LEAST
    norm = kernel.part(known, BOUND >= 0)
    return kernel.arithmetic([form, norm, *squares, *lengths], sp.And(here <= most, here >= -most))


def exponential_range(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``e^{-k} <= exp(x_i^T P_h x_j) <= e^k`` with ``k = b/lambda_d(W)``."""
    here, most = Tensor(exponential(score(at, other))), BOUND / LEAST
    within = score_bound(kernel, at, other)
    equal = kernel.exponential_of(score(at, other))
    return kernel.arithmetic([within, equal, length(kernel, at)], sp.And(sp.exp(-most) <= here, here <= sp.exp(most)))


#: ``e^{b/lambda_d(W)}``, the largest value that the exponential of a score can have.
TOP = sp.exp(BOUND / LEAST)
SHARP = (1 / (sp.sqrt(d) * (1 + (n - 1) * TOP**2)), 1 / (sp.sqrt(d) * (1 + (n - 1) / TOP**2)))
PRINTED = (1 / (sp.sqrt(d) * n * TOP**2), TOP**2)


_WEIGHT = Tensor(weight(I, J))
#: The sharp bounds on each weight from below and from above, and the printed ones.
BOUNDS = tuple(
    each
    for low, high in (SHARP, PRINTED)
    for each in (sp.Ge(_WEIGHT, low, evaluate=False), sp.Le(_WEIGHT, high, evaluate=False))
)


def of_every_weight(said: Any) -> Proposition:
    """For every head and every pair of tokens."""
    found = proposition(said)
    for letter in (J, I, HEAD):
        found = ForAll(letter, TRUE, found)
    return found


def rows(kernel: Kernel) -> Proved:
    """``e^s_ij + (n-1) e^{-k} <= Z_i <= e^s_ij + (n-1) e^k``: the sum without its term j."""
    each, single, whole = exponential(score(I, K)), exponential(score(I, J)), row(I)
    within, there = exponential_range(kernel, I, K), kernel.arithmetic([length(kernel, I)], sp.Ne(LEAST, 0))
    unit, found = kernel.factors(one()), []
    for sign, end in ((1, 1 / TOP), (-1, TOP)):
        apart = kernel.arithmetic([within], sp.Ge(sign * (Tensor(each) - end), 0, evaluate=False))
        known = [kernel.summand(kernel.generalise(K, apart), J), unit]
        for many, scale in ((whole, n), (single, sp.Integer(1))):
            shift = -sign * scale * end
            split = (kernel.total(many * sign, one() * shift), kernel.scaling(many, sign), kernel.scaling(one(), shift))
            known += [kernel.supply(part, there) for part in split]
        rest = Tensor(single) + (n - 1) * end
        said = sp.Ge(sign * Tensor(whole), sign * rest, evaluate=False)
        found.append(kernel.arithmetic(known, said))
    return kernel.conjunction(*found)


def weight_bounds(kernel: Kernel) -> Proved:
    """The bounds of :data:`BOUNDS`: the weight times its row is one exponential."""
    whole, single, value = row(I), exponential(score(I, J)), Tensor(weight(I, J))
    within, many = exponential_range(kernel, I, J), rows(kernel)
    scaled = [kernel.product(weight(I, J), whole), kernel.scaling(single, 1 / sp.sqrt(DIMENSION))]
    quotient = kernel.arithmetic(
        [*scaled, kernel.positive(whole)],
        sp.And(sp.Eq(value * sp.sqrt(d) * Tensor(whole), Tensor(single)), Tensor(whole) > 0),
    )
    known = [quotient, within, many]
    claims = [kernel.arithmetic(known, each) for each in BOUNDS]
    for letter in (J, I, HEAD):
        claims = [kernel.generalise(letter, each) for each in claims]
    return kernel.conjunction(*claims)
