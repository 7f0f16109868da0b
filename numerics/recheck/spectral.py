"""Re-check of facts about the whole spectrum: who is ahead, discs, the principal eigenvector.

Exact counts of roots for small matrices without slack (:mod:`.exact_leaders`); signs of ``M -+ beta I`` for symmetric
ones (Bauer and Fike); otherwise balls, or for large matrices a stored Lyapunov or Stein matrix (:mod:`.floats`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.numerics.recheck import balls, floats, rational
from eigentoken.numerics.recheck.exact_leaders import confirm_exactly
from eigentoken.numerics.recheck.reading import Document, Exact, fraction_of
from eigentoken.numerics.recheck.signs import at_least

__all__ = ["confirm_discs", "confirm_eigenvector", "confirm_leader"]

EXACT_SIZE = 40
BALL_SECONDS = 5e-6  # measured on a loaded machine: balls take at most about this times n^3


def _balls_fit(n: int, until: float) -> bool:
    return n <= 40 or BALL_SECONDS * n**3 < until - time.monotonic()


def confirm_leader(document: Document, matrix: Exact, reach: Fraction, until: float) -> str | None:
    """None if the facts are confirmed, else why not."""
    facts = document.data["facts"]
    n = matrix.shape[0]
    kind, by = facts.get("kind"), facts.get("by")
    if facts.get("size") != n:
        return "the size in the certificate is not the size of the matrix"
    if n == 1:
        return None if kind == "simple-real" else "a 1 x 1 matrix has one simple real eigenvalue"
    if by not in ("real-part", "modulus", "step"):
        return f"unknown order {by!r}"
    only_pairs = kind == "non-real" or (kind == "simple-pair" and n == 2)
    if only_pairs and reach > 0 and n <= EXACT_SIZE and _no_real_eigenvalue(matrix, reach):
        return None
    matrix, reach = _stepped(matrix, reach, facts) if by == "step" else (matrix, reach)
    order = "real-part" if by == "real-part" else "modulus"
    if "beta" not in facts:
        return "no separating score is given"
    beta = fraction_of(facts["beta"])
    if kind in ("tie", "multiple-real", "multiple-pair"):
        if reach != 0:
            return "an exact tie has no margin"
        return confirm_exactly(matrix, order, beta, kind, until)
    if kind not in ("simple-real", "simple-pair", "non-real"):
        return f"unknown kind {kind!r}"
    if kind == "simple-real" and _may_be_symmetric(matrix):
        why = _confirm_symmetric(matrix, order, beta, reach, until)
        if why is None:
            return None
    if reach == 0 and n <= EXACT_SIZE:
        return confirm_exactly(matrix, order, beta, kind, until)
    if kind == "simple-real" and n > 64 and "lyapunov" in document.arrays:
        return _confirm_lyapunov(document, matrix, order, beta, reach)
    if _balls_fit(n, until):
        for refined in (False, True) if n <= 40 else (False,):
            found = balls.discs(matrix.numerators, matrix.denominator, reach, refined=refined)
            if found is not None and _separated(found, order, beta, kind):
                return None
        return "the discs do not separate at the given score"
    return f"undecided: no exact, ball or stored certificate applies at size {n}"


def _no_real_eigenvalue(matrix: Exact, reach: Fraction) -> bool:
    """Then a non-real one is ahead by every order."""
    found = balls.discs(matrix.numerators, matrix.denominator, reach)
    if found is None:
        return False
    return all(abs(c.imag) > r for c, r in zip(found.centers, found.radii, strict=True))


def _may_be_symmetric(matrix: Exact) -> bool:
    values = matrix.floats if matrix.near is None else matrix.near[0]
    return values is None or bool(np.array_equal(values, values.T))


def _stepped(matrix: Exact, reach: Fraction, facts: Mapping[str, Any]) -> tuple[Exact, Fraction]:
    """``I + alpha M`` and the reach there."""
    alpha = fraction_of(facts.get("alpha"))
    q = flint.fmpz(alpha.denominator)

    def build() -> tuple[flint.fmpz_mat, flint.fmpz]:
        scaled = matrix.numerators * flint.fmpz(alpha.numerator)
        return rational.shifted(scaled, matrix.denominator * q, Fraction(1))

    near = None
    if matrix.floats is not None and matrix.shape[0] > 64:
        step = float(alpha)
        values = step * matrix.floats + np.eye(matrix.shape[0])
        error = 2.0**-50 * (abs(step) * float(np.linalg.norm(matrix.floats)) + matrix.shape[0])
        near = (values, error) if np.isfinite(values).all() else None
    return Exact(build, None, "", matrix.shape, near), reach * abs(alpha)


def _confirm_symmetric(matrix: Exact, order: str, beta: Fraction, reach: Fraction, until: float) -> str | None:
    """Exactly one eigenvalue beyond beta: one above ``beta + reach`` and n - 1 below ``beta - reach``, and mirrored."""
    n = matrix.shape[0]
    if matrix.floats is None and not bool(matrix.numerators == matrix.numerators.transpose()):
        return "not symmetric"
    above = at_least(matrix, -beta, 1, n - 1, 0, reach, until, None)
    if order == "real-part":
        return above
    if beta <= 0:
        return "a modulus bound must be positive"
    # the leader beyond +beta, everybody else inside (-beta, beta); or the mirror image
    if above is None and at_least(matrix, beta, n, 0, 0, reach, until, None) is None:
        return None
    below = at_least(matrix, beta, n - 1, 1, 0, reach, until, None)
    if below is None and at_least(matrix, -beta, 0, n, 0, reach, until, None) is None:
        return None
    return "the moduli do not separate at the given score"


def _separated(found: balls.BallDiscs, order: str, beta: Fraction, kind: str) -> bool:
    bound = flint.arb(flint.fmpq(beta.numerator, beta.denominator))
    beyond, inside = [], []
    for k, (center, radius) in enumerate(zip(found.centers, found.radii, strict=True)):
        score = center.real if order == "real-part" else abs(center)
        if score - radius > bound:
            beyond.append(k)
        elif score + radius < bound:
            inside.append(k)
    off_axis = all(abs(found.centers[k].imag) > found.radii[k] for k in beyond)
    if kind == "non-real":
        rest = [k for k in range(len(found.centers)) if k not in beyond and k not in inside]
        closed = all(abs(found.centers[k].imag) > found.radii[k] for k in rest)
        apart = all(
            abs(found.centers[i] - found.centers[j]) > found.radii[i] + found.radii[j]
            for i in beyond
            for j in rest + inside
        )
        return bool(beyond) and off_axis and closed and apart
    if len(beyond) + len(inside) != len(found.centers):
        return False
    if kind == "simple-real":
        return len(beyond) == 1
    return len(beyond) == 2 and off_axis


def _confirm_lyapunov(document: Document, matrix: Exact, order: str, beta: Fraction, reach: Fraction) -> str | None:
    held = (matrix.floats, 0.0) if matrix.floats is not None else matrix.near
    if held is None:
        return "undecided: a stored certificate needs float weights"
    a, e, lost = floats.scaled(held[0])
    if abs(e) > 900:
        return "undecided: the entries are beyond the range of the float verifier"
    lost += math.ldexp(held[1], -e) * (1 + 2.0**-40)
    scale = Fraction(2) ** -e
    exact_beta = beta * scale
    bound, spread = float(exact_beta), math.nextafter(float(reach * scale), math.inf)
    if Fraction(bound) != exact_beta:
        return "the separating score is not a float"
    p, x, r = (document.arrays.get(name) for name in ("lyapunov", "vector", "row"))
    if p is None or x is None or r is None:
        return "the stored certificate is incomplete"
    check = floats.beyond_real_part if order == "real-part" else floats.beyond_modulus
    with np.errstate(all="ignore"):
        ok = check(a, lost, bound, spread, p, x, r)
    return None if ok else "the stored matrix is not a certificate"


def confirm_discs(document: Document, matrix: Exact, reach: Fraction, until: float) -> str | None:
    """Are the stored discs right: own small discs inside their union, with the right count in each component?"""
    facts = document.data["facts"]
    n = matrix.shape[0]
    if "discs" in facts:
        stored = [tuple(fraction_of(v) for v in disc) for disc in facts["discs"]]
    else:
        names = ("centers_re", "centers_im", "radii")
        if any(name not in document.arrays for name in names):
            return "undecided: the arrays of the discs were not given"
        columns = [document.arrays[name].tolist() for name in names]
        stored = [tuple(Fraction(v) for v in disc) for disc in zip(*columns, strict=True)]
    if len(stored) != n or facts.get("size") != n or any(disc[2] < 0 for disc in stored):
        return "there must be one disc for each eigenvalue"
    if not _balls_fit(n, until):
        return f"undecided: discs of size {n} are too large for balls within the time limit"
    old, flint.ctx.prec = flint.ctx.prec, 256
    try:
        components = _components(stored)
        for small in _small_discs(matrix, reach, until):
            if small is not None and _fill(small, stored, components):
                return None
    finally:
        flint.ctx.prec = old
    return "the eigenvalues are not confirmed inside the stored discs"


def _small_discs(matrix: Exact, reach: Fraction, until: float) -> Any:
    n = matrix.shape[0]
    squares = sum((e * e for e in matrix.numerators.entries()), flint.fmpz(0))
    whole = flint.arb(squares).sqrt() / flint.arb(matrix.denominator) + _ball(reach)
    yield [(flint.acb(0), whole)] * n  # |lambda| <= ||M||_F + reach
    for refined in (False, True) if n <= 40 else (False,):
        found = balls.discs(matrix.numerators, matrix.denominator, reach, refined=refined)
        yield None if found is None else list(zip(found.centers, found.radii, strict=True))
    if reach == 0 and n <= 64:
        p = rational.characteristic(matrix.numerators, matrix.denominator, until).numer()
        old, flint.ctx.prec = flint.ctx.prec, 256
        try:
            for factor, _ in p.factor_squarefree()[1]:  # a bounded attempt first: complex_roots has no limit
                flint.ctx.prec = factor.height_bits() + 64
                flint.acb_poly(factor).roots(maxprec=2000)
            flint.ctx.prec = 256
            roots = [(flint.acb(r), m) for r, m in p.complex_roots()]
        finally:
            flint.ctx.prec = old
        yield [(r.mid(), flint.arb(abs(r - r.mid()).upper())) for r, m in roots for _ in range(m)]


def _components(stored: list[Any]) -> list[int]:
    """The index of the component of each disc (overlaps decided exactly, touching counts)."""
    label = list(range(len(stored)))

    def root(k: int) -> int:
        while label[k] != k:
            k = label[k]
        return k

    for i, (x, y, r) in enumerate(stored):
        for j in range(i):
            u, v, s = stored[j]
            if (x - u) ** 2 + (y - v) ** 2 <= (r + s) ** 2:
                label[root(i)] = root(j)
    return [root(k) for k in range(len(stored))]


def _fill(small: list[Any], stored: list[Any], components: list[int]) -> bool:
    """Each small disc inside one stored disc; the counts per component agree.

    Small discs of different components are disjoint then, so each component's small discs are a union of components
    of small discs, and hold exactly as many eigenvalues.
    """
    filled = dict.fromkeys(components, 0)
    for center, radius in small:
        home = None
        for k, (x, y, r) in enumerate(stored):
            middle = flint.acb(_ball(x), _ball(y))
            if abs(center - middle) + radius <= _ball(r):
                home = components[k]
                break
        if home is None:
            return False
        filled[home] += 1
    return all(filled[c] == components.count(c) for c in filled)


def _ball(value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def confirm_eigenvector(document: Document, matrix: Exact, reach: Fraction, until: float) -> str | None:
    """Is the stored vector within the stated angle of the eigenvector of the eigenvalue of largest real part?"""
    why = confirm_leader(document, matrix, reach, until)
    if why is not None:
        return why
    n = matrix.shape[0]
    vector = document.arrays.get("vector")
    if vector is None and "vector" in document.data["facts"]:
        vector = np.array([float.fromhex(v) for v in document.data["facts"]["vector"]])
    if vector is None or vector.shape != (n,) or not np.isfinite(vector).all() or not np.any(vector):
        return "undecided: the vector was not given" if vector is None else "the vector does not fit"
    if n == 1:
        return None
    if not _balls_fit(n, until):
        return f"undecided: an eigenvector of size {n} is too large for balls within the time limit"
    facts = document.data["facts"]
    sine, beta = fraction_of(facts["sine"]), fraction_of(facts["beta"])
    symmetric = bool(matrix.numerators == matrix.numerators.transpose())
    found = balls.discs(matrix.numerators, matrix.denominator, Fraction(0) if symmetric else reach, vector=vector)
    old, flint.ctx.prec = flint.ctx.prec, 256
    try:
        if found is None or not _separated(found, "real-part", beta, "simple-real"):
            return "the leading disc is not isolated around the given vector"
        lead = next(k for k in range(n) if found.centers[k].real - found.radii[k] > _ball(beta))
        given = [flint.acb(float(v)) for v in vector]
        if any(found.columns[i, lead] != given[i] for i in range(n)):
            return "the given vector is not close to the leading eigenvector"
        total = flint.arb(0)
        for j in range(n):
            if j != lead:
                room = abs(found.centers[j] - found.centers[lead]) - found.radii[lead]
                if not room > 0:
                    return "the leading disc is not isolated"
                length = sum((abs(found.columns[i, j]) ** 2 for i in range(n)), flint.arb(0)).sqrt()
                total += found.radii[j] / room * length
        norm = sum((abs(c) ** 2 for c in given), flint.arb(0)).sqrt()
        if symmetric and reach:  # the eigenvector of M + E is within t / (gap - t) of that of M (sine)
            gaps = [
                (abs(found.centers[j] - found.centers[lead]) - found.radii[j] - found.radii[lead]).lower()
                for j in range(n)
                if j != lead
            ]
            gap = flint.arb(min(gaps, key=float)) - _ball(reach)
            if not gap > 0:
                return "the leading eigenvalue is not isolated enough"
            total += norm * _ball(reach) / gap
        return None if total / norm <= _ball(sine) else "the angle is not confirmed"
    finally:
        flint.ctx.prec = old
