"""A second opinion on a certified equilibrium, in another arithmetic: mpmath intervals instead of flint balls.

From the data of the certificates alone (system, parameters, box, quadratic form) the Krawczyk test and the Lyapunov
inequality are evaluated again, with interval derivatives of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import iv

from eigentoken.theory.language.verdicts import Certificate, VerdictWord
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Space, Time

__all__ = ["recheck_equilibrium"]

Row = list[Any]
Rows = list[Row]


def recheck_equilibrium(exists: Certificate, stable: Certificate | None = None, digits: int = 50) -> bool:
    """True if the certificates of :func:`certify_equilibrium` are confirmed; False says only that they were not."""
    before = iv.dps
    iv.dps = digits
    try:
        task = _Task(exists.data)
        found = exists.verdict is VerdictWord.HOLDS and task.contracts() and task.signs_fit(bool(exists.data["cycle"]))
        if not found or stable is None:
            return found
        return task.form_decides(stable)
    finally:
        iv.dps = before


@dataclass(frozen=True, eq=False)
class _Number:
    """An interval with an interval gradient; ``None`` is the gradient of a constant."""

    value: Any
    slope: Row | None = None

    def __add__(self, other: Any) -> _Number:
        if not isinstance(other, _Number):
            return _Number(self.value + other, self.slope)
        if self.slope is None or other.slope is None:
            return _Number(self.value + other.value, self.slope or other.slope)
        return _Number(self.value + other.value, [a + b for a, b in zip(self.slope, other.slope, strict=True)])

    __radd__ = __add__

    def __neg__(self) -> _Number:
        return self.times(-1)

    def __sub__(self, other: Any) -> _Number:
        return self + (-other)

    def times(self, factor: Any) -> _Number:
        """The product with an interval or a whole number."""
        return _Number(self.value * factor, None if self.slope is None else [a * factor for a in self.slope])

    def __mul__(self, other: Any) -> _Number:
        if not isinstance(other, _Number):
            return self.times(other)
        return _Number(self.value * other.value, self.times(other.value).slope) + _Number(
            iv.mpf(0), other.times(self.value).slope
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> _Number:
        if not isinstance(other, _Number):
            return self.times(1 / iv.mpf(other))
        inverse = 1 / other.value
        return self * _Number(inverse, other.times(-inverse * inverse).slope)

    def exp(self) -> _Number:
        grown = iv.exp(self.value)
        return _Number(grown, self.times(grown).slope)

    def sqrt(self) -> _Number:
        root = iv.sqrt(self.value)
        return _Number(root, self.times(1 / (2 * root)).slope)


class _Task:
    def __init__(self, data: Mapping[str, Any]) -> None:
        self.system = system(str(data["system"]))
        self.n, self.d = int(data["n"]), int(data["d"])
        self.euclidean = self.system.space is Space.EUCLIDEAN
        self.size = self.n * self.d + (0 if self.euclidean else self.n)
        self.parameters = _read(data["parameters"])
        self.mask = data["mask"]
        self.centre = [iv.mpf(text) for text in data["centre"]]
        width = iv.mpf(data["radius"])
        self.box = [c + width * iv.mpf([-1, 1]) for c in self.centre]
        name = self.system.metric
        self.metric = None if name is None else self.parameters.get(name)

    def algebra(self) -> LoopAlgebra:
        return LoopAlgebra(lambda y: y.exp(), lambda y: y.sqrt(), _Number(iv.mpf(1)))

    def variables(self, z: Row, width: int) -> list[_Number]:
        return [_Number(z[k], [iv.mpf(int(k == m)) for m in range(width)]) for k in range(width)]

    def tokens(self, z: list[_Number]) -> tuple[tuple[_Number, ...], ...]:
        return tuple(tuple(z[i * self.d : (i + 1) * self.d]) for i in range(self.n))

    def equations(self, z: Row) -> list[_Number]:
        unknowns = self.variables(z, self.size)
        x = self.tokens(unknowns)
        push = self.system.influence(self.algebra(), self.parameters, x, self.mask)
        if self.euclidean:
            return [entry for token in push for entry in token]
        rows: list[_Number] = []
        for i in range(self.n):
            c = unknowns[self.n * self.d + i]
            rows.extend(push[i][k] - c * x[i][k] for k in range(self.d))
        for i in range(self.n):
            terms = [
                x[i][a] * x[i][b] * (1 if self.metric is None else self.metric[a][b])
                for a in range(self.d)
                for b in range(self.d)
                if self.metric is not None or a == b
            ]
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            rows.append(total - 1)
        return rows

    def contracts(self) -> bool:
        """``z - C g(z) + (I - C G(box)) (box - z)`` lies strictly inside the box."""
        values = [row.value for row in self.equations(self.centre)]
        slopes = [row.slope or [iv.mpf(0)] * self.size for row in self.equations(self.box)]
        middle = np.array([[float(mpmath.mpf(entry.mid)) for entry in row] for row in slopes])
        if not np.isfinite(middle).all() or np.linalg.matrix_rank(middle) < self.size:
            return False
        C = np.linalg.inv(middle)
        for r in range(self.size):
            image = self.centre[r] - _dot(C[r], values)
            for c in range(self.size):
                entry = iv.mpf(int(r == c)) - _dot(C[r], [row[c] for row in slopes])
                image = image + entry * (self.box[c] - self.centre[c])
            if not (image.a > self.box[r].a and image.b < self.box[r].b):
                return False
        return True

    def signs_fit(self, cycle: bool) -> bool:
        """For a map: all ``1 + alpha c_i`` are positive (fixed point) or all are negative (2-cycle)."""
        if self.system.time is not Time.MAP:
            return not cycle
        factors = [1 + self.parameters["alpha"].value * self.box[self.n * self.d + i] for i in range(self.n)]
        return all(f.b < 0 for f in factors) if cycle else all(f.a > 0 for f in factors)

    def linearization(self) -> Rows:
        width = self.n * self.d
        algebra = self.algebra()
        x = self.tokens(self.variables(self.box[:width], width))
        on = x if self.euclidean else algebra.normalise(x, self.metric)
        moved = self.system.advance(algebra, self.parameters, on, self.mask)
        J = [list(entry.slope or [iv.mpf(0)] * width) for token in moved for entry in token]
        if self.euclidean or self.system.time is Time.MAP:
            return J
        for i in range(self.n):
            token = self.box[i * self.d : (i + 1) * self.d]
            for b in range(self.d):
                weights = (
                    [iv.mpf(int(a == b)) for a in range(self.d)]
                    if self.metric is None
                    else [w.value for w in self.metric[b]]
                )
                height = sum((w * t for w, t in zip(weights, token, strict=True)), iv.mpf(0))
                for a in range(self.d):
                    J[i * self.d + a][i * self.d + b] = J[i * self.d + a][i * self.d + b] - token[a] * height
        return J

    def form_decides(self, certificate: Certificate) -> bool:
        """The form S decreases; it is positive definite (stable) or negative somewhere (unstable)."""
        J = self.linearization()
        S = [[iv.mpf(float(entry)) for entry in row] for row in certificate.data["form"]]
        size = len(J)
        if len(S) != size or any(S[r][c].a != S[c][r].a for r in range(size) for c in range(r)):
            return False
        SJ = [[_sum(S[r][k] * J[k][c] for k in range(size)) for c in range(size)] for r in range(size)]
        if self.system.time is Time.MAP:
            decrease = [
                [S[r][c] - _sum(J[k][r] * SJ[k][c] for k in range(size)) for c in range(size)] for r in range(size)
            ]
        else:
            decrease = [[-(SJ[r][c] + SJ[c][r]) for c in range(size)] for r in range(size)]
        if not _positive_definite(decrease):
            return False
        if certificate.verdict is VerdictWord.HOLDS:
            return _positive_definite(S)
        v = [iv.mpf(float(entry)) for entry in certificate.data["direction"]]
        return bool(_sum(v[r] * S[r][c] * v[c] for r in range(size) for c in range(size)).b < 0)


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _read(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_read(entry) for entry in value]
    return None if value is None else _Number(iv.mpf(float.fromhex(value)))


def _sum(terms: Any) -> Any:
    total = iv.mpf(0)
    for term in terms:
        total = total + term
    return total


def _dot(row: Sequence[float] | np.ndarray, entries: Row) -> Any:
    return _sum(iv.mpf(float(a)) * b for a, b in zip(row, entries, strict=True))


def _positive_definite(matrix: Rows) -> bool:
    rows = [[(matrix[r][c] + matrix[c][r]) / 2 for c in range(len(matrix))] for r in range(len(matrix))]
    for k in range(len(rows)):
        if not rows[k][k].a > 0:
            return False
        for r in range(k + 1, len(rows)):
            factor = rows[r][k] / rows[k][k]
            for c in range(k + 1, r + 1):
                rows[r][c] = rows[r][c] - factor * rows[c][k]
    return True
