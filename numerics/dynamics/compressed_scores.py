"""The scores of one head in the coordinates of the tokens' span, ``G(t) = Q^T M(t) Q``, at the stages of a step.

For ``M(t) = diag(s(t)) M'`` the product ``M' Q`` is made once and G is linear in the scales s: with nodes t_k at which
G is known, and any weights w_k,

    G(t) = sum_k w_k G(t_k) + Q^T diag(rho) M' Q,   rho = s(t) - sum_k w_k s(t_k),

without an error.  With Lagrange's weights rho is tiny wherever s is smooth in time, so the coordinates in which
``|rho| <= within max |s|`` are left out and the others (a kink of ``|sin|``, say) are multiplied: a few columns instead
of d.  A tolerance of 0 leaves out nothing that is not zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.matrices import RowScaled, compress
from eigentoken.numerics.dynamics.products import product
from eigentoken.theory.systems.algebra import Number

__all__ = ["CompressedScore", "InterpolationPlan", "cheapest_plan", "lagrange"]

#: How many numbers are scaled at once: about what the caches of one core hold.
CHUNK = 1 << 17

#: Nodes that are remembered, and how many of them a plan may use.
MOST_NODES, USED_NODES = 8, (3, 4, 5, 6, 7)

#: An interpolation whose weights add up to more than this is not used: it would enlarge the rounding of the nodes.
MOST_WEIGHT = 30.0

#: What adding one node to one matrix costs, in columns of the product.
NODE_COST = 8

#: Below so many multiplications a whole product is cheaper than the thought of how to avoid it.
SMALL = 1 << 20


def lagrange(nodes: Sequence[float], at: float) -> list[float]:
    """Weights w with ``sum_k w_k p(nodes_k) = p(at)`` for every polynomial p of degree below ``len(nodes)``.

    >>> lagrange([0.0, 1.0], 0.25)
    [0.75, 0.25]
    """
    return [math.prod((at - other) / (node - other) for other in nodes if other != node) for node in nodes]


@dataclass(frozen=True, eq=False)
class InterpolationPlan:
    """How the matrices of a step are made: ``whole`` times by a product, the ``others`` from ``nodes``.

    ``weights`` is (others, nodes); ``rest`` is rho, (others, columns), in the ``columns`` that are not left out.
    """

    whole: list[float]
    others: list[float]
    nodes: list[float]
    weights: np.ndarray
    columns: np.ndarray
    rest: np.ndarray
    cost: float


def cheapest_plan(
    wanted: Sequence[float], known: dict[float, np.ndarray], scales: np.ndarray, within: float
) -> InterpolationPlan:
    """The plan with the fewest columns: ``scales`` are those of the wanted times, ``known`` those of the nodes.

    The last time is made whole (a node for the steps to come), then always the time that its nodes miss in most
    columns, as long as that pays.
    """
    d = scales.shape[-1]
    rows = dict(zip(wanted, scales, strict=True))
    none = np.empty((0, 0))
    best = InterpolationPlan(list(wanted), [], [], none, np.empty(0, dtype=int), none, float(len(wanted) * d))
    middle = (min(wanted) + max(wanted)) / 2
    old = sorted(known, key=lambda t: abs(t - middle))
    whole = [wanted[-1]]
    while within > 0 and len(whole) < len(wanted):
        others = [t for t in wanted if t not in whole]
        missed = np.zeros(len(others))
        cheapest = math.inf
        for count in USED_NODES:
            nodes = [*whole, *old[: count - len(whole)]]
            weights = np.array([lagrange(nodes, t) for t in others])
            if len(nodes) < 2 or np.abs(weights).sum(1).max() > MOST_WEIGHT:
                continue
            read = np.stack([rows[t] if t in rows else known[t] for t in nodes])
            rest = np.stack([rows[t] for t in others]) - weights @ read
            large = np.abs(rest) > within
            columns = np.flatnonzero(large.any(0))
            cost = len(whole) * d + len(others) * (len(columns) + NODE_COST * len(nodes))
            if cost < cheapest:
                cheapest, missed = cost, large.sum(1)
            if cost < best.cost:
                best = InterpolationPlan(list(whole), others, nodes, weights, columns, rest[:, columns], float(cost))
            if len(nodes) < count:
                break
        if cheapest > best.cost:
            break
        whole = [*whole, others[int(np.argmax(missed))]]
    return best


class CompressedScore:
    """``Q^T M(t) Q`` for the score of one head: a matrix, a structured matrix or a function of time.

    ``basis`` is Q, (..., d, r).  :meth:`prepare` makes the matrices of several times together.
    """

    def __init__(self, score: Any, basis: Tensor) -> None:
        self.score, self.basis = score, basis
        self.moving = callable(score)
        self._ready: dict[Any, Tensor] = {} if self.moving else {None: compress(score, basis)}
        self._modulated: _Modulated | None = None

    def at(self, t: Number) -> Tensor:
        """``G(t)``, (..., r, r)."""
        key = t if self.moving else None
        if key not in self._ready:
            self.prepare([key])
        return self._ready[key]

    def prepare(self, times: Sequence[Any], within: float = 0.0) -> None:
        """Make the matrices of these times, scales within so much of their largest; those of others are forgotten."""
        if not self.moving or all(t in self._ready for t in times):
            return
        wanted = list(dict.fromkeys(times))
        values = [self.score(t) for t in wanted]
        if not all(isinstance(value, RowScaled) and value.scale.ndim == 1 for value in values):
            self._ready = {t: compress(value, self.basis) for t, value in zip(wanted, values, strict=True)}
            return
        matrix = values[0].matrix
        if not all(_same(value.matrix, matrix) for value in values):  # not only the scales depend on time
            self._ready = {t: compress(value, self.basis) for t, value in zip(wanted, values, strict=True)}
            return
        if self._modulated is None or not _same(self._modulated.matrix, matrix):
            self._modulated = _Modulated(matrix, self.basis)
        self._ready = self._modulated.matrices(wanted, torch.stack([value.scale for value in values]), within)


def _same(a: Tensor, b: Tensor) -> bool:
    return a is b or torch.equal(a, b)


class _Modulated:
    """``Q^T diag(s) M' Q`` for one M' and many s; what was multiplied whole is remembered as a node."""

    def __init__(self, matrix: Tensor, basis: Tensor) -> None:
        r, d = basis.shape[-1], basis.shape[-2]
        self.matrix, self.shape = matrix, (*basis.shape[:-2], r, r)
        rows = basis.mT.contiguous()
        self.rows = rows.reshape(-1, r, d)
        self.products = (rows @ matrix.mT).reshape(-1, r, d)
        self.columns: dict[torch.dtype, tuple[Tensor, ...]] = {}
        self.scales: dict[float, np.ndarray] = {}
        self.nodes: dict[float, Tensor] = {}

    def matrices(self, times: Sequence[float], scales: Tensor, within: float) -> dict[float, Tensor]:
        """The matrices of the times, whose scales are the rows of ``scales``."""
        values = scales.double().cpu().numpy()
        largest = float(np.abs(values).max(initial=0.0))
        count, r, d = self.rows.shape
        resolved = max(within, 8 * torch.finfo(scales.dtype).eps) * largest if within > 0 and largest > 0 else 0.0
        small = count * r * r * d * len(times) < SMALL
        known = {} if small else self.scales
        plan = cheapest_plan(times, known, values, 0.0 if small else resolved)
        row = {t: k for k, t in enumerate(times)}
        for t in plan.whole:
            self.nodes[t] = self.whole(scales[row[t]])
            self.scales[t] = values[row[t]]
        made = {t: self.nodes[t].view(self.shape) for t in plan.whole}
        if plan.others:
            made.update(zip(plan.others, self.between(plan, resolved), strict=True))
        for t in sorted(self.nodes, key=lambda t: abs(t - times[-1]))[MOST_NODES:]:
            del self.nodes[t], self.scales[t]
        return made

    def whole(self, scale: Tensor) -> Tensor:
        """The product, a few instances at a time: what is scaled is used while it is in the cache."""
        count, r, d = self.rows.shape
        found = self.rows.new_empty(count, r, r)
        size = min(count, max(1, CHUNK // (r * d)))
        scaled = self.rows.new_empty(size, r, d)
        for begin in range(0, count, size):
            part = slice(begin, begin + size)
            some = torch.mul(self.products[part], scale, out=scaled[: min(size, count - begin)])
            torch.bmm(self.rows[part], some.mT, out=found[part])
        return found

    def between(self, plan: InterpolationPlan, left_out: float) -> list[Tensor]:
        """The matrices of the other times of the plan.

        The columns are multiplied in 32 bits where the rounding of that is below what is ``left_out`` anyway.
        """
        count, r, _ = self.rows.shape
        short = float(np.abs(plan.rest).max(initial=0.0)) * torch.finfo(torch.float32).eps <= left_out
        dtype = torch.float32 if short else self.rows.dtype
        if dtype not in self.columns:
            self.columns[dtype] = tuple(each.mT.to(dtype).contiguous() for each in (self.rows, self.products))
        index = torch.as_tensor(plan.columns, device=self.rows.device)
        left, right = (each.index_select(1, index) for each in self.columns[dtype])
        rest = torch.as_tensor(plan.rest, dtype=dtype, device=self.rows.device).unsqueeze(-1)
        size = min(count, max(1, CHUNK // (r * max(1, len(index)))))
        scaled, made = left.new_empty(size, len(index), r), left.new_empty(size, r, r)
        found = self.rows.new_empty(len(plan.others), count, r, r)
        for begin in range(0, count, size):
            part, some = slice(begin, begin + size), min(size, count - begin)
            for k in range(len(plan.others)):
                torch.mul(right[part], rest[k], out=scaled[:some])
                place = found[k, part].copy_(product(left[part].mT, scaled[:some], made[:some]))
                for t, weight in zip(plan.nodes, plan.weights[k], strict=True):
                    place.add_(self.nodes[t][part], alpha=float(weight))
        return [each.view(self.shape) for each in found]
