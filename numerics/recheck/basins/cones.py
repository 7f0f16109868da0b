"""The half space of a layer matrix ``O V`` (BD-H1), in exact rationals.

1. An eigenpair of the core ``C = V O`` near the stored vector: Newton's iteration in rationals for
   ``f(v, mu) = (C v - mu v, c^T v - 1)``, then ``|R f| + |I - R J| r + |R| r^2 <= r`` (f beyond its linear part is
   ``-dmu dv``): by Brouwer there is a zero within r.
2. ``q^2 lambda^2 G + tau l l^T - O^T O - C^T G C`` and G are definite, with the distance of l from the stored one taken off.
   Then every other eigenvalue has modulus at most ``q lambda``: both vectors belong to the one eigenvalue between the bounds.
3. ``|w|^2 = |O rho|^2 |V^T l|^2/(lambda l^T rho)^2`` and the rates, as inequalities of rationals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.numerics.recheck.documents.reading import Exact
from eigentoken.numerics.recheck.matrices.signs import at_least

__all__ = ["Factors", "confirm_cone"]

GRID = 2**220
"Newton's iterates are rounded to multiples of 1/GRID"
NEWTON_STEPS = 8
COARSE = 2**120
"the matrices whose definiteness is asked are rounded to this part of their largest entry, and the loss is taken off"


@dataclass(frozen=True)
class Factors:
    """O (d x k) and V (k x d), exact."""

    O: flint.fmpq_mat
    V: flint.fmpq_mat

    @classmethod
    def of(cls, O: Exact, V: Exact) -> Factors:
        return cls(*(flint.fmpq_mat(each.numerators) / flint.fmpq(each.denominator) for each in (O, V)))


def confirm_cone(factors: Factors, region: Mapping[str, Any], step: Fraction, until: float) -> str | None:
    """``None`` where facts and rates are confirmed; else what is not."""
    facts = region["facts"]
    core, gram = factors.V * factors.O, factors.O.transpose() * factors.O
    size = core.nrows()
    if factors.O.ncols() != factors.V.nrows() or factors.O.nrows() != factors.V.ncols():
        return "O and V do not fit each other"
    left, right, form = (np.array(facts[name], dtype=np.float64) for name in ("left", "right", "form"))
    if left.shape != (size,) or right.shape != (size,) or form.shape != (size, size):
        return f"the vectors and the form are not of the size {size} of the core"
    if not (np.isfinite(left).all() and np.isfinite(right).all() and np.isfinite(form).all()):
        return "a number is not finite"
    if not np.array_equal(form, form.T):
        return "the form is not symmetric"
    low, high = (Fraction(each) for each in facts["leader"])
    q, reach, weight = (Fraction(facts[name]) for name in ("contraction", "reach", "weight"))
    if not (0 < low <= high and q >= 0 and q * high < low and weight > 0 and reach > 0 and step > 0):
        return "leader, contraction, weight or reach say nothing"
    pairs = []
    for matrix, vector in ((core.transpose(), left), (core, right)):
        found = _eigenpair(matrix, vector, (low + high) / 2)
        if found is None:
            return "no eigenvector was found at a stored one"
        if not (low <= found.value - found.off and found.value + found.off <= high):
            return "the leading eigenvalue is not between its bounds"
        pairs.append(found)
    why = _dominated(core, gram, form, pairs[0], low, q, weight, until)
    return why or _reached(factors, gram, pairs, low, reach) or _rates(region, step * low, q, reach)


@dataclass(frozen=True)
class _Pair:
    """An exact eigenvector and eigenvalue are within ``off`` of these, entry by entry."""

    vector: list[Fraction]
    value: Fraction
    off: Fraction


def _eigenpair(matrix: flint.fmpq_mat, along: np.ndarray, value: Fraction) -> _Pair | None:
    size = len(along)
    floats = np.array([[float(int(e.p) / int(e.q)) for e in row] for row in matrix.tolist()])
    start = np.block([[floats - float(value) * np.eye(size), -along[:, None]], [along[None, :], np.zeros((1, 1))]])
    try:
        inverse = np.linalg.inv(start)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None
    R = _exact(inverse)
    c = _exact(along[None, :])
    z = [Fraction(float(entry)) for entry in along] + [value]
    for _ in range(NEWTON_STEPS):
        change = R * _residual(matrix, c, z)
        z = [_rounded(a - _fraction(change[i, 0])) for i, a in enumerate(z)]
    shift = max(abs(_fraction(entry)) for entry in (R * _residual(matrix, c, z)).entries())
    unit = flint.fmpq_mat(size + 1, size + 1, [int(i == j) for i in range(size + 1) for j in range(size + 1)])
    spread, stretch = _row_norm(unit - R * _jacobian(matrix, along, z)), _row_norm(R)
    radius = 2 * shift + Fraction(1, GRID)
    if shift + spread * radius + stretch * radius**2 > radius or spread >= 1:
        return None
    return _Pair(z[:-1], z[-1], radius)


def _residual(matrix: flint.fmpq_mat, c: flint.fmpq_mat, z: Sequence[Fraction]) -> flint.fmpq_mat:
    v = flint.fmpq_mat(len(z) - 1, 1, [_q(a) for a in z[:-1]])
    image = matrix * v - v * _q(z[-1])
    return flint.fmpq_mat(len(z), 1, [*image.entries(), (c * v)[0, 0] - 1])


def _jacobian(matrix: flint.fmpq_mat, along: np.ndarray, z: Sequence[Fraction]) -> flint.fmpq_mat:
    size = len(along)
    rows = [[matrix[i, j] - (_q(z[-1]) if i == j else 0) for j in range(size)] + [-_q(z[i])] for i in range(size)]
    rows.append([*(_q(Fraction(float(a))) for a in along), flint.fmpq(0)])
    return flint.fmpq_mat(size + 1, size + 1, [entry for row in rows for entry in row])


def _dominated(
    core: flint.fmpq_mat,
    gram: flint.fmpq_mat,
    form: np.ndarray,
    left: _Pair,
    low: Fraction,
    q: Fraction,
    weight: Fraction,
    until: float,
) -> str | None:
    size = core.nrows()
    G = _exact(form)
    if at_least(_coarse(G, Fraction(0)), Fraction(0), size, 0, 0, Fraction(0), until, None) is not None:
        return "the form is not confirmed to be positive definite"
    l = flint.fmpq_mat(size, 1, [_q(a) for a in left.vector])
    gap = G * _q((q * low) ** 2) + l * l.transpose() * _q(weight) - gram - core.transpose() * G * core
    largest = max(abs(a) for a in left.vector)
    loss = weight * size * (2 * left.off * largest + left.off**2)
    if at_least(_coarse(gap, loss), Fraction(0), size, 0, 0, Fraction(0), until, None) is not None:
        return "the form is not confirmed to contract by the stated factor beside the leading direction"
    return None


def _reached(
    factors: Factors, gram: flint.fmpq_mat, pairs: Sequence[_Pair], low: Fraction, reach: Fraction
) -> str | None:
    left, right = pairs
    across = abs(sum((a * b for a, b in zip(left.vector, right.vector, strict=True)), Fraction(0)))
    off = max(left.off, right.off)
    sums = sum((abs(a) for a in (*left.vector, *right.vector)), Fraction(0))
    least = across - off * sums - len(left.vector) * off**2
    outer = factors.V * factors.V.transpose()
    above = _form_above(gram, right) * _form_above(outer, left)
    if least <= 0 or above > (reach * low * least) ** 2:
        return "the length of the leading direction is not confirmed to be below its bound"
    return None


def _form_above(matrix: flint.fmpq_mat, pair: _Pair) -> Fraction:
    """``v^T A v`` from above, for v within ``off`` of the one that is known."""
    size = matrix.nrows()
    v = flint.fmpq_mat(size, 1, [_q(a) for a in pair.vector])
    value = _fraction((v.transpose() * matrix * v)[0, 0])
    largest = max(abs(_fraction(entry)) for entry in matrix.entries())
    sums = sum((abs(a) for a in pair.vector), Fraction(0))
    return value + largest * (2 * size * pair.off * sums + (size * pair.off) ** 2)


def _rates(region: Mapping[str, Any], push: Fraction, q: Fraction, reach: Fraction) -> str | None:
    for stated in region["rates"]:
        radius, rate = Fraction(stated["radius"]), Fraction(stated["rate"])
        size = reach + radius
        if not (radius > 0 and 0 < rate < 1):
            return f"radius {stated['radius']} and rate {stated['rate']} say nothing"
        found = (size + push * q) / (size + push)
        if found > rate:
            return (
                f"the rate {stated['rate']} does not follow for the radius {stated['radius']}: {float(found):.9g} does"
            )
    return None


def _coarse(matrix: flint.fmpq_mat, loss: Fraction) -> Exact:
    """A symmetric matrix not above ``matrix - loss I``, in short integers."""
    size = matrix.nrows()
    largest = max((abs(_fraction(entry)) for entry in matrix.entries()), default=Fraction(1)) or Fraction(1)
    unit = largest / COARSE
    rows = [[round(_fraction(matrix[i, j]) / unit) for j in range(size)] for i in range(size)]
    taken = (
        -(-loss // unit) + size
    )  # each entry was moved by at most half a unit: the norm of that is below size/2 units
    for i in range(size):
        rows[i][i] -= int(taken)
        for j in range(i):
            rows[i][j] = rows[j][i]
    flat = flint.fmpz_mat(size, size, [entry for row in rows for entry in row])
    near = np.array([[float(Fraction(entry) * unit) for entry in row] for row in rows])
    scale = Fraction(unit)
    return Exact(
        lambda: (flat * scale.numerator, flint.fmpz(scale.denominator)),
        None,
        "",
        (size, size),
        (near, float(np.linalg.norm(near)) * 2.0**-52 + 2.0**-900),
    )


def _exact(values: np.ndarray) -> flint.fmpq_mat:
    return flint.fmpq_mat(*values.shape, [_q(Fraction(float(a))) for a in values.ravel()])


def _row_norm(matrix: flint.fmpq_mat) -> Fraction:
    return max(sum((abs(_fraction(e)) for e in row), Fraction(0)) for row in matrix.tolist())


def _q(value: Fraction) -> flint.fmpq:
    return flint.fmpq(value.numerator, value.denominator)


def _fraction(value: flint.fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _rounded(value: Fraction) -> Fraction:
    return Fraction(round(value * GRID), GRID)
