"""Certified open sets of starts of the Euclidean flow from which every token goes out for ever, along one direction.

Let ``u^T B = b u^T`` and ``h_i = u^T x_i``, so that ``h_i' = b sum_j a_ij h_j``.

* *One side*: ``b > 0`` and ``h_i > 0`` for all i.  The smallest height grows at least like ``e^{bt}``, whatever the weights are.
* *Two ends*: ``B e = b e``, ``u^T e = 1``, ``x = h e + y`` with ``y = P x``, ``P = I - e u^T``, and ``|B y| <= |b| |y|`` there.
  Call j a friend of i where ``b h_i h_j > 0``.  Where ``b e^T W e > 0``, and ``|h_i| >= r`` and ``|y_i| <= k |h_i| - m`` for all
  i, friends have scores of at least ``g |h_i h_j|`` and all others of at most ``-g |h_i h_j|``, with

    ``g = |e^T W e| - k (|P^T W e| + |P^T W^T e|) - k^2 |P^T W P|_F``.

  Let i see f friends and o others.  Then ``|h_i|' = |b| (sum_friends a_ij |h_j| - sum_others a_ij |h_j|)``.  As
  ``z exp(-g r z) <= 1/(e g r)``, the second sum is at most ``t = o / (f g r exp(1 + g r^2))``, and with Z the unnormalised weight
  of the friends the difference is at least ``(r Z - o/(e g r)) / (Z + o)``, which rises with ``Z >= f exp(g r^2)``.  So every
  ``|h_i|`` grows at least at a constant speed where ``g r^2 f exp(1 + g r^2) > o``, and as
  ``k |h_i|' - |y_i|' >= |b| (m - 2 k t)``, the set is kept where ``m > 2 k t`` (for d = 1 there is no y, and k = m = 0).

All inequalities are strict at the start, so that an open set of starts goes out: none of them comes to 0 or to rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings.escapes import is_linear_far_out
from eigentoken.numerics.readings.silent_linearizations import exact_rows, is_definite, rational_eigenspaces
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.balls import precision

__all__ = ["Outward", "goes_out", "outward"]

#: Apertures k of the cones that are tried, wide ones first, and the part of the reach that is left for m.
APERTURES, LEFT = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 50), Fraction(1, 500)), Fraction(1, 8)
#: The reach is this part of the smallest height of the start.
REACH = Fraction(15, 16)
#: Directions of a start are rounded to such parts of their largest entry.
PARTS = (1, 4, 64)
BITS_HERE = 128


@dataclass(frozen=True)
class Outward:
    """u, and for two ends e and the numbers r, k, m; for one side there is no e."""

    functional: tuple[Fraction, ...]
    direction: tuple[Fraction, ...] | None
    reach: Fraction
    aperture: Fraction
    slack: Fraction

    def as_data(self) -> dict[str, Any]:
        return {
            "functional": [str(a) for a in self.functional],
            "direction": None if self.direction is None else [str(a) for a in self.direction],
            "reach": str(self.reach),
            "aperture": str(self.aperture),
            "slack": str(self.slack),
        }

    @property
    def told(self) -> str:
        along = f"({', '.join(str(a) for a in self.functional)})"
        if self.direction is None:
            return f"all tokens are on one side of the hyperplane normal to {along}, and their distances to it grow for ever"
        where = f"|h| > {self.reach} for all heights h along {along}"
        return f"{where}, and the tokens attend to those that push them out: every |h| grows for ever, for an open set of starts"


def outward(case: Case) -> Outward | None:
    """An open set of starts, with the tokens of the case among them, that goes out; or ``None``."""
    if not is_linear_far_out(case.instance):
        return None
    proposals = _proposals(case.instance)
    return next((each for each in proposals if goes_out(case.instance, each)), None)


# --- the check, in exact numbers and one exponential --------------------------------------------------------------------


def goes_out(instance: Instance, found: Outward) -> bool:
    """Every condition of the head of this module."""
    d = instance.d
    B, W, X = _matrices(instance)
    u = fmpq_mat([[_q(a)] for a in found.functional])
    b = _multiple(B.transpose() * u, u)
    if b is None or b == 0:
        return False
    heights = [(X * u)[i, 0] for i in range(instance.n)]
    if found.direction is None:
        return bool(b > 0 and all(h > 0 for h in heights))
    e = fmpq_mat([[_q(a)] for a in found.direction])
    if (u.transpose() * e)[0, 0] != 1 or B * e != e * b:
        return False
    P = _unit(d) - e * u.transpose()
    if not is_definite(P.transpose() * (_unit(d) * (b * b) - B.transpose() * B) * P, strict=False):
        return False
    middle = (e.transpose() * W * e)[0, 0]
    r, k, m = (_q(each) for each in (found.reach, found.aperture, found.slack))
    beside = [P.transpose() * W * e, P.transpose() * W.transpose() * e]
    if not b * middle > 0 or not r > 0 or (d > 1 and not (k > 0 and m > 0)) or (d == 1 and (k, m) != (0, 0)):
        return False
    for i, h in enumerate(heights):
        y = [sum((P[a, c] * X[i, c] for c in range(d)), fmpq(0)) for a in range(d)]
        room = k * abs(h) - m
        if not abs(h) > r or (d > 1 and not (room > 0 and sum((a * a for a in y), fmpq(0)) < room * room)):
            return False
    with precision(BITS_HERE):
        wide = sum((_length(each) for each in beside), arb(0))
        g = arb(abs(middle)) - arb(k) * wide - arb(k * k) * _length(P.transpose() * W * P)
        if not g > 0:
            return False
        lift = g * arb(r) * (1 + g * arb(r * r)).exp()
        for friends, others in _company(instance, [b * h for h in heights], heights):
            if friends == 0 or not lift * arb(r) * friends > others:
                return False
            if d > 1 and not arb(m) * friends * lift > 2 * arb(k) * others:
                return False
    return True


def _company(instance: Instance, pushed: list[fmpq], heights: list[fmpq]) -> Iterator[tuple[int, int]]:
    """For each token how many friends and how many others it sees."""
    mask = instance.mask
    for i, push in enumerate(pushed):
        seen = [j for j in range(instance.n) if mask is None or mask[i][j]]
        friends = sum(1 for j in seen if push * heights[j] > 0)
        yield friends, len(seen) - friends


def _length(matrix: fmpq_mat) -> arb:
    square = sum((a * a for a in matrix.entries()), fmpq(0))
    return arb(square).sqrt() if square != 0 else arb(0)


def _multiple(image: fmpq_mat, vector: fmpq_mat) -> fmpq | None:
    """b with ``image = b vector``, or ``None``."""
    pivot = next((a for a in range(vector.nrows()) if vector[a, 0] != 0), None)
    if pivot is None:
        return None
    b = image[pivot, 0] / vector[pivot, 0]
    return b if image == vector * b else None


def _matrices(instance: Instance) -> tuple[fmpq_mat, fmpq_mat, fmpq_mat]:
    system = instance.system
    rows = [exact_rows(instance.parameters[str(name)]) for name in (system.value, system.score)]
    made = [fmpq_mat(each) for each in (*rows, exact_rows(instance.tokens)) if each is not None]
    return made[0], made[1], made[2]


def _unit(d: int) -> fmpq_mat:
    return fmpq_mat([[fmpq(int(i == j)) for j in range(d)] for i in range(d)])


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


# --- proposals -----------------------------------------------------------------------------------------------------------


def _proposals(instance: Instance) -> Iterator[Outward]:
    B, _, X = _matrices(instance)
    for b, basis in rational_eigenspaces(B.transpose()):
        for vector in _directions(basis, X):
            u = fmpq_mat([[a] for a in vector])
            heights = [(X * u)[i, 0] for i in range(instance.n)]
            if any(h == 0 for h in heights) or b == 0:
                continue
            if b > 0 and len({h > 0 for h in heights}) == 1:
                sign = 1 if heights[0] > 0 else -1
                yield Outward(tuple(sign * _fraction(a) for a in vector), None, *[Fraction(0)] * 3)
            e = _right(B, b, u)
            if e is None:
                continue
            reach = REACH * min(_fraction(abs(h)) for h in heights)
            for k in APERTURES if instance.d > 1 else (Fraction(0),):
                yield Outward(tuple(map(_fraction, vector)), e, reach, k, LEFT * k * reach)


def _right(B: fmpq_mat, b: fmpq, u: fmpq_mat) -> tuple[Fraction, ...] | None:
    """An eigenvector of B with ``u^T e = 1``: that along u where it is one."""
    spaces = [basis for value, basis in rational_eigenspaces(B) if value == b]
    own = [u[a, 0] for a in range(u.nrows())]
    listed = ([own] if _multiple(B * u, u) == b else []) + (spaces[0] if spaces else [])
    for vector in listed:
        product = sum((p * q for p, q in zip(vector, own, strict=True)), fmpq(0))
        if product != 0:
            return tuple(_fraction(a / product) for a in vector)
    return None


def _directions(basis: list[list[fmpq]], X: fmpq_mat) -> Iterator[list[fmpq]]:
    """Vectors of the space: its only one, or those near the line on which the tokens are."""
    if len(basis) == 1:
        yield basis[0]
        return
    rows = np.array([[float(_fraction(a)) for a in vector] for vector in basis])
    x = np.array([[float(_fraction(X[i, c])) for c in range(X.ncols())] for i in range(X.nrows())])
    line = np.linalg.svd(x)[2][0]
    shares = np.linalg.lstsq(rows.T, line, rcond=None)[0]
    shares = shares / max(float(np.abs(shares).max()), 1e-300)
    for parts in PARTS:
        whole = [fmpq(round(float(share) * parts), parts) for share in shares]
        yield [sum((c * each[a] for c, each in zip(whole, basis, strict=True)), fmpq(0)) for a in range(len(basis[0]))]
    yield [sum((each[a] for each in basis), fmpq(0)) for a in range(len(basis[0]))]


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
