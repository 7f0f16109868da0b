"""All eigenvalues of a matrix of balls, as discs that hold a known number of them, multiple ones too.

Candidates are approximations of the eigenvalues, near ones put together (their mean c_i, their number m_i).  They are not
trusted: with the characteristic polynomial p in balls and ``q = prod (z - c_i)^(m_i)``, exactly m_i eigenvalues lie within
r of c_i if ``|p - q| < |q|`` on the circle (Rouche), for which it suffices that

    ``sum_k |p_k - q_k| (|c_i| + r)^k < r^(m_i) prod_(j != i) (|c_i - c_j| - r)^(m_j)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flint

from eigentoken.numerics.recheck.matrices.rational import LateError

__all__ = ["Cluster", "clusters", "square_root"]

arb, acb = flint.arb, flint.acb
PRECISIONS = (640, 1600, 4000)
#: Approximations nearer than 2^-k (relative to 1 + size) are taken together: the finest k first, so that eigenvalues which differ
#: by little are told apart; a multiple eigenvalue that was split is not confirmed, and a coarser k is tried.
NEAR = (280, 150, 100, 70, 44)
RADII = (400, 200, 120, 90, 70, 56)


@dataclass(frozen=True)
class Cluster:
    """``count`` eigenvalues (with multiplicity) within the ball, and no other one in it."""

    ball: flint.acb
    count: int

    @property
    def is_real(self) -> bool:
        """Real as far as it is seen: the ball meets the real axis."""
        return bool(self.ball.imag.contains(0))


def square_root(size: Any) -> Any:
    """The square root of a number >= 0 whose ball may reach below zero (FLINT's own has no value there)."""
    return size.sqrt() if size > 0 else arb(0).union(arb(size.upper()).sqrt())


def clusters(matrix_at: Callable[[int], Any], until: float) -> list[Cluster] | None:
    """The eigenvalues of ``matrix_at(bits)``; None where no precision separates them."""
    for bits in PRECISIONS:
        if time.monotonic() > until:
            raise LateError("the time limit was reached in enclosing a spectrum")
        old, flint.ctx.prec = flint.ctx.prec, bits
        try:
            found = _attempt(matrix_at(bits))
        finally:
            flint.ctx.prec = old
        if found is not None:
            return found
    return None


def _attempt(matrix: Any) -> list[Cluster] | None:
    size = matrix.nrows()
    if size == 0:
        return []
    if not all(acb(entry).is_finite() for entry in matrix.entries()):
        return None  # a ball that reaches a division by zero: more bits, or nothing is known
    if size == 1:
        return [Cluster(acb(matrix[0, 0]), 1)]
    p = matrix.charpoly()
    middle = flint.acb_mat(size, size, [acb(entry.mid()) for entry in matrix.entries()])
    values = [value.mid() for value in middle.eig(algorithm="approx")]
    tried: set[tuple[int, ...]] = set()
    for near in NEAR:
        candidates = _candidates(p, values, near)
        shape = tuple(sorted(count for _, count in candidates))
        found = _confirmed(p, candidates) if shape not in tried else None
        if found is not None:
            return found
        tried.add(shape)
    return None


def _confirmed(p: Any, candidates: list[tuple[Any, int]]) -> list[Cluster] | None:
    """The candidates as discs, where the inequality shows that each holds as many eigenvalues as it should."""
    size = sum(count for _, count in candidates)
    q = flint.acb_poly([1])
    for center, count in candidates:
        q = q * flint.acb_poly([-center, 1]) ** count
    differences = [abs(acb(p[k]) - q[k]) for k in range(size + 1)]
    found = []
    for number, (center, count) in enumerate(candidates):
        radius = _radius(candidates, number, differences)
        if radius is None:
            return None
        found.append(Cluster(acb(center.real + arb(0, radius), center.imag + arb(0, radius)), count))
    return found


def _candidates(p: Any, values: list[Any], near: int) -> list[tuple[Any, int]]:
    """Approximate eigenvalues put together, each mean made better by Newton's method on the derivative of order m - 1."""
    size = len(values)
    groups: list[list[Any]] = []
    for value in values:
        close = [group for group in groups if any(_near(value, other, near) for other in group)]
        groups = [group for group in groups if group not in close] + [[value, *(v for group in close for v in group)]]
    listed = []
    derivatives = [flint.acb_poly([acb(p[k].mid()) for k in range(size + 1)])]
    for _ in range(size):
        derivatives.append(derivatives[-1].derivative())
    for group in groups:
        center = (sum(group, acb(0)) / len(group)).mid()
        for _ in range(6):
            slope = derivatives[len(group)](center)
            step = (derivatives[len(group) - 1](center) / slope).mid() if not slope.contains(0) else acb(0)
            if not step.is_finite() or not _near(center - step, center, 44):
                break
            center = (center - step).mid()
        listed.append((acb(center.real) if abs(center.imag) < arb(2) ** -300 else center, len(group)))
    return listed


def _near(a: Any, b: Any, near: int) -> bool:
    return bool(abs(a - b) < (1 + abs(a)) * arb(2) ** -near)


def _radius(candidates: list[tuple[Any, int]], number: int, differences: list[Any]) -> Any:
    center, count = candidates[number]
    size = 1 + abs(center)
    for bits in RADII:
        radius = arb((size * arb(2) ** -bits).upper())
        reach, far = abs(center) + radius, arb(1)
        for other, (c, m) in enumerate(candidates):
            if other != number:
                apart = abs(center - c) - radius
                if not apart > radius:
                    return None
                far = far * apart**m
        total, power = arb(0), arb(1)
        for difference in differences:
            total = total + difference * power
            power = power * reach
        if total < radius**count * far:
            return radius
    return None
