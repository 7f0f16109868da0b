"""Re-check of the principal eigenvector: is it within the stated angle of the stored vector?

With a column x of the basis (the stored vector, or one near it) whose disc is apart from all others, the eigenvector is
``x + sum_j z_j x_j`` with ``|z_j| <= r_j / (|c_j - c| - r)`` (its largest coordinate is the one of its own disc), and the
sine of the angle is at most ``sum_j |z_j| ||x_j|| / ||x||``.  For a symmetric matrix it is at most
``||S x - c x|| / (||x|| gap)`` (Davis and Kahan), and a change E adds ``||E|| / (gap - ||E||)``.
Shown false: the eigenvector is within a smaller angle of another vector, which is too far from the stored one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.numerics.recheck.documents.reading import CertificateDocument, Exact, fraction_of, unconfirmed
from eigentoken.numerics.recheck.matrices import balls
from eigentoken.numerics.recheck.matrices.bases import (
    Basis,
    FloatDiscs,
    candidate_basis,
    float_discs,
    residual,
    with_column,
)
from eigentoken.numerics.recheck.matrices.floats import Floats, scaled_above
from eigentoken.numerics.recheck.matrices.leaders import COARSE_FROM, EXACT_SIZE, balls_fit, confirm_leader
from eigentoken.numerics.recheck.matrices.locating import SLIP, BallPlaces, FloatPlaces, Score, arb_of

__all__ = ["confirm_eigenvector"]

REAL_PART = Score("real-part")


@dataclass(frozen=True)
class VectorAngle:
    """The leading eigenvector is within an angle of this sine of the vector."""

    vector: Floats
    sine: float


def confirm_eigenvector(document: CertificateDocument, matrix: Exact, reach: Fraction, until: float) -> str | None:
    """None if the stored vector is within the stated angle of the eigenvector of largest real part, else why not."""
    n = matrix.shape[0]
    facts = document.data["facts"]
    vector = document.arrays.get("vector")
    if vector is None and "vector" in facts:
        vector = np.array([float.fromhex(v) for v in facts["vector"]])
    if vector is None:
        return unconfirmed("nothing: the vector was not given")
    if vector.shape != (n,) or not np.isfinite(vector).all() or not np.any(vector):
        return "the vector does not fit"
    if facts.get("by") != "real-part" or facts.get("kind") != "simple-real":
        return "the principal eigenvector is that of a simple real leader by real part"
    sine = fraction_of(facts["sine"])
    if sine < 0:
        return "a sine is not negative"
    if n > EXACT_SIZE and facts.get("size") == n and "beta" in facts:
        for coarse in (True, False) if n >= COARSE_FROM else (False,):
            quick = _by_floats(
                matrix, fraction_of(facts["beta"]), reach, vector, leads_within_reach=True, coarse=coarse
            )
            if quick is not None and math.isfinite(quick.sine) and Fraction(quick.sine) <= sine:
                return None  # its discs show the leader of every matrix within reach, too
    why = confirm_leader(document, matrix, reach, until)
    if why is not None or n == 1:
        return why
    beta = fraction_of(facts["beta"])
    tried = []
    for name, found in _angles(matrix, beta, reach, until, vector):
        tried.append(name)
        if found is not None and math.isfinite(found.sine) and Fraction(found.sine) <= sine:
            return None
    for _, found in _angles(matrix, beta, Fraction(0), until, None):
        if found is not None and math.isfinite(found.sine) and _sine_at_least(found.vector, vector, found.sine) > sine:
            return "the stored vector is farther from the eigenvector than stated"
    return unconfirmed(*tried)


def _sine_at_least(found: Floats, stored: Floats, off: float) -> Fraction:
    """A lower bound on the sine between ``stored`` and an eigenvector that is within the sine ``off`` of ``found``.

    ``sin(x + y) <= sin x + sin y`` for angles up to a right one, so the sine is at least that between the two vectors less
    ``off``.  In floats, with unit roundoff u and vectors first scaled to largest entry 1: two normalizations, one inner
    product and one norm of length n each err by at most ``gamma_(n+4) <= 1.01 (n + 4) u`` relative to vectors of length at
    most 1 (Higham, Accuracy and Stability, section 3.1), and entries lost to underflow by far less: ``8 (n + 8) u`` in all.
    """
    a, b = found / float(np.abs(found).max()), stored / float(np.abs(stored).max())
    a, b = a / float(np.linalg.norm(a)), b / float(np.linalg.norm(b))
    seen = float(np.linalg.norm(a - b * float(a @ b)))
    if not math.isfinite(seen):
        return Fraction(-1)
    return Fraction(seen) - Fraction(off) - Fraction(8 * (len(a) + 8), 2**53)


def _angles(
    matrix: Exact, beta: Fraction, reach: Fraction, until: float, vector: Floats | None
) -> Iterator[tuple[str, VectorAngle | None]]:
    n = matrix.shape[0]
    if n > EXACT_SIZE:
        yield "a basis in floats", _by_floats(matrix, beta, reach, vector)
    if balls_fit(n, until):
        for attempt in balls.ATTEMPTS if n <= EXACT_SIZE else balls.ATTEMPTS[:1]:
            yield f"a basis in balls ({attempt})", _by_balls(matrix, beta, reach, vector, attempt)


def _by_floats(
    matrix: Exact,
    beta: Fraction,
    reach: Fraction,
    vector: Floats | None,
    *,
    leads_within_reach: bool = False,
    coarse: bool = False,
) -> VectorAngle | None:
    """From the discs of a basis; ``leads_within_reach``: only where these are of every matrix within reach."""
    values, e, rho = matrix.rounded
    basis = candidate_basis(values)
    spread = scaled_above(reach, e)
    if basis is None or not math.isfinite(spread) or (leads_within_reach and basis.normal):
        return None
    lead = int(np.argmax(basis.re))
    if basis.im[lead] != 0:
        return None
    x = basis.columns[:, lead] if vector is None else np.ldexp(vector, -math.frexp(float(np.abs(vector).max()))[1])
    if not basis.normal:
        basis = with_column(basis, lead, x)
    change = rho + spread
    found = float_discs(values, basis, 0.0 if basis.normal else change, coarse=coarse)
    if found is None or not _leads_alone(found, e, beta, lead):
        return None
    others = np.arange(values.shape[0]) != lead
    distance = np.hypot(found.re - found.re[lead], found.im - found.im[lead])[others] * (1 - SLIP)
    room = distance - float(found.radii[lead]) * (1 + SLIP)
    if not bool((room > 0).all()):
        return None
    length = float(np.linalg.norm(x)) * (1 - values.shape[0] * 2.0**-52)
    if basis.normal:
        gap = float((room - found.radii[others]).min()) * (1 - SLIP)
        if not gap > 2 * change:  # else another eigenvalue might lead after the change
            return None
        total = _residual_norm(values, x, float(basis.re[lead])) / (length * gap) + change / (gap - change)
    else:
        parts = found.radii[others] / room * found.column_norms()[others]
        total = float(parts.sum()) * (1 + (values.shape[0] + 8) * 2.0**-51) / length
    return VectorAngle(x, total * (1 + 8 * SLIP) + 2.0**-1000)


def _residual_norm(values: Floats, x: Floats, center: float) -> float:
    """An upper bound on ``||S x - c x||``."""
    alone = Basis(x[:, None], np.array([center]), np.zeros(1), np.zeros(0, dtype=np.intp), True)
    high, error = residual(values, alone)
    return (float(np.linalg.norm(high)) + float(np.linalg.norm(error))) * (1 + values.shape[0] * 2.0**-51)


def _leads_alone(found: FloatDiscs, e: int, beta: Fraction, lead: int) -> bool:
    beyond, inside = FloatPlaces(found, e).sides(REAL_PART, beta)
    return bool(beyond[lead]) and int(beyond.sum()) == 1 and bool((beyond | inside).all())


def _by_balls(
    matrix: Exact, beta: Fraction, reach: Fraction, vector: Floats | None, attempt: str
) -> VectorAngle | None:
    n = matrix.shape[0]
    symmetric = bool(matrix.numerators == matrix.numerators.transpose())
    own = Fraction(0) if symmetric else reach
    found = balls.discs(matrix.numerators, matrix.denominator, own, attempt=attempt)
    if found is None:
        return None
    beyond, inside = BallPlaces(found).sides(REAL_PART, beta)
    if int(beyond.sum()) != 1 or not bool((beyond | inside).all()):
        return None
    lead = int(np.argmax(beyond))
    old, flint.ctx.prec = flint.ctx.prec, found.precision
    try:
        total = _sine_ball(found, lead, n)
        if total is not None and symmetric and reach:
            total = _changed(found, lead, total, reach)
        if total is None or not total.is_finite():
            return None
        if vector is not None:
            return VectorAngle(vector, float((total + _between(found, lead, vector)).upper()) * (1 + 2.0**-50))
        return VectorAngle(_middle(found, lead), float(total.upper()) * (1 + 2.0**-50))
    finally:
        flint.ctx.prec = old


def _sine_ball(found: balls.BallDiscs, lead: int, n: int) -> Any:
    total = flint.arb(0)
    for j in range(n):
        if j != lead:
            room = abs(found.centers[j] - found.centers[lead]) - found.radii[lead]
            if not room > 0:
                return None
            total += found.radii[j] / room * _length(found, j, n)
    return total / _length(found, lead, n)


def _between(found: balls.BallDiscs, lead: int, vector: Floats) -> Any:
    """The sine of the angle between the leading column and the given vector: sines of angles add up at most."""
    column = [found.columns[i, lead] for i in range(len(vector))]
    given = [flint.acb(float(v)) for v in vector]
    along = sum((c.conjugate() * g for c, g in zip(column, given, strict=True)), flint.acb(0))
    along /= sum((balls.squared(c) for c in column), flint.arb(0))
    off = sum((balls.squared(g - c * along) for c, g in zip(column, given, strict=True)), flint.arb(0))
    return flint.arb(abs(off / sum((balls.squared(g) for g in given), flint.arb(0))).upper()).sqrt()


def _middle(found: balls.BallDiscs, lead: int) -> Floats:
    """The leading column as floats, turned so that its largest entry is real."""
    column = np.array([complex(found.columns[i, lead]) for i in range(found.columns.nrows())])
    largest = column[int(np.argmax(np.abs(column)))]
    return np.asarray((column * np.conj(largest) / abs(largest)).real)


def _length(found: balls.BallDiscs, j: int, n: int) -> Any:
    return sum((balls.squared(found.columns[i, j]) for i in range(n)), flint.arb(0)).sqrt()


def _changed(found: balls.BallDiscs, lead: int, total: Any, reach: Fraction) -> Any:
    """The eigenvector of M + E is within ``t / (gap - t)`` of that of the symmetric M (sine)."""
    gaps = [
        (abs(c - found.centers[lead]) - r - found.radii[lead]).lower()
        for j, (c, r) in enumerate(zip(found.centers, found.radii, strict=True))
        if j != lead
    ]
    gap = flint.arb(min(gaps, key=float)) - arb_of(reach)
    return total + arb_of(reach) / gap if gap > 0 else None
