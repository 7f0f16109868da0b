"""Leaders from the exact characteristic polynomial: counts beyond a score, real ones among them, and exact ties.

Roots beyond a score are counted by the Routh array (for moduli after ``x = beta (1 + w) / (1 - w)``), real ones by
Sturm's theorem.  A tie is confirmed by a divisor of the polynomial that has all the leaders as roots, and each of whose
roots shares its score with another root: mirror images, orbits ``h(x^k)``, or all roots on one line or circle.
"""

from __future__ import annotations

import time
from fractions import Fraction

import flint

from eigentoken.numerics.recheck.documents.reading import Exact, unconfirmed
from eigentoken.numerics.recheck.matrices import rational

__all__ = ["confirm_exactly"]

_NUDGES = tuple(Fraction(sign, 1 << bits) for bits in (3000, 1200, 400, 90, 56, 40) for sign in (0, 1, -1))


def _beyond(p: flint.fmpq_poly, order: str, beta: Fraction, until: float) -> int | None:
    """Roots beyond beta (with multiplicity), None if one may lie on the boundary."""
    at = flint.fmpq(beta.numerator, beta.denominator)
    if order == "real-part":
        return rational.roots_right(p(flint.fmpq_poly([at, 1])), until)
    if beta < 0:
        return int(p.degree())
    if beta == 0:
        return None
    n = p.degree()
    plus, minus = flint.fmpq_poly([at, at]), flint.fmpq_poly([1, -1])
    total = flint.fmpq_poly([0])
    for k in range(n + 1):
        total = total + plus**k * minus ** (n - k) * p[k]
    if total.degree() != n:
        return None
    return rational.roots_right(total, until)


def _real_beyond(p: flint.fmpq_poly, order: str, beta: Fraction, until: float) -> int:
    count = rational.real_roots_above(p, beta, until)
    if order == "modulus":
        mirrored = flint.fmpq_poly([p[k] * (-1) ** k for k in range(p.degree() + 1)])
        count += rational.real_roots_above(mirrored, beta, until)
    return count


def confirm_exactly(matrix: Exact, order: str, beta: Fraction, kind: str, until: float) -> str | None:
    """None if the leaders beyond beta are of that kind, else why not (false at beta itself, or unconfirmed)."""
    p = rational.characteristic(matrix.numerators, matrix.denominator, until)
    largest = max((abs(int(e)) for e in matrix.numerators.entries()), default=0)
    size = abs(beta) or Fraction(largest, int(matrix.denominator)) or Fraction(1)
    free = rational.square_free(p)
    stated: str | None = None
    for share in _NUDGES:  # another score nearby is as good, where the Routh array is singular at this one
        if time.monotonic() > until:
            raise rational.LateError("the time limit was reached in counting roots")
        score = beta + share * size
        count, distinct = _beyond(p, order, score, until), _beyond(free, order, score, until)
        if count is None or distinct is None:
            continue
        why = _judge(p, order, score, kind, (count, distinct), until)
        if why is None:
            return None
        stated = why if share == 0 else stated
    return stated if stated is not None else unconfirmed("exact root counts at and near the given score")


def _judge(
    p: flint.fmpq_poly, order: str, beta: Fraction, kind: str, counts: tuple[int, int], until: float
) -> str | None:
    count, distinct = counts
    if kind == "simple-real":
        return None if count == 1 else f"{count} eigenvalues are beyond the given score, not one"
    if kind == "multiple-real":
        return None if count >= 2 and distinct == 1 else f"{distinct} distinct eigenvalues are beyond the given score"
    if kind in ("simple-pair", "non-real", "multiple-pair"):
        many = count >= 4 and distinct == 2
        enough = {"simple-pair": count == 2, "non-real": count >= 1, "multiple-pair": many}[kind]
        real = _real_beyond(p, order, beta, until)
        return None if enough and real == 0 else f"{count} eigenvalues, {real} of them real, are beyond the given score"
    if kind == "all-real":
        real = _real_beyond(p, order, beta, until)
        return None if real == distinct > 0 else f"{real} of {distinct} eigenvalues beyond the given score are real"
    return _confirm_tie(p, order, beta, distinct, until)


def _confirm_tie(p: flint.fmpq_poly, order: str, beta: Fraction, distinct: int, until: float) -> str | None:
    """All leaders beyond beta tie: they are roots of a polynomial whose roots come in groups of one score."""
    if distinct < 2:
        return f"{distinct} distinct eigenvalues are beyond the given score: no tie"
    free = rational.square_free(p)
    for shared in _tied_parts(free, order, until):
        if shared.degree() > 0 and _beyond(shared, order, beta, until) == distinct:
            return None
    return unconfirmed("mirror images, orbits and common lines or circles of the tied roots")


def _tied_parts(free: flint.fmpq_poly, order: str, until: float) -> list[flint.fmpq_poly]:
    """Divisors of p: every root of one has another root of p with the same score."""
    parts = []
    if order == "modulus":
        mirrored = flint.fmpq_poly([free[k] * (-1) ** k for k in range(free.degree() + 1)])
        without_zero = free // flint.fmpq_poly([0, 1]) if free[0] == 0 else free
        parts.append(without_zero.gcd(mirrored))
        whole = without_zero.numer()
        for factor, _ in whole.factor()[1]:
            if factor.degree() > 1 and factor.deflation()[1] > 1:
                parts.append(flint.fmpq_poly(factor))
    for value in _rational_roots(free):
        group = _same_score(free, order, value, until)
        if group is not None:
            parts.append(group)
    return parts


def _rational_roots(p: flint.fmpq_poly) -> list[Fraction]:
    factors = p.numer().factor()[1]
    return [-Fraction(int(f[0]), int(f[1])) for f, _ in factors if f.degree() == 1]


def _same_score(p: flint.fmpq_poly, order: str, a: Fraction, until: float) -> flint.fmpq_poly | None:
    """The divisor of p with **exactly** the roots that share the score of the rational root a, if they are all on it.

    Line: ``q(y) = p(a + y)``; the roots with ``y`` and ``-y`` both roots form ``g = gcd(q(y), q(-y))``; written
    ``y^e h(y^2)``, all of them are purely imaginary iff h has only negative roots (counted by Sturm's theorem).
    Circle: ``x = a (1 + w) / (1 - w)`` maps it to the line; a root ``-a`` goes to infinity and is put back.
    """
    at = flint.fmpq(a.numerator, a.denominator)
    if order == "real-part":
        q = p(flint.fmpq_poly([at, 1]))
    else:
        if a == 0:
            return None
        n = p.degree()
        plus, minus = flint.fmpq_poly([at, at]), flint.fmpq_poly([1, -1])
        q = flint.fmpq_poly([0])
        for k in range(n + 1):
            q = q + plus**k * minus ** (n - k) * p[k]
    turned = flint.fmpq_poly([q[k] * (-1) ** k for k in range(q.degree() + 1)])
    g = q.gcd(turned)
    if g.degree() < 2:
        return None
    reduced = g // flint.fmpq_poly([0, 1]) if g[0] == 0 else g
    h = flint.fmpq_poly([reduced[2 * k] for k in range(reduced.degree() // 2 + 1)])
    negative = flint.fmpq_poly([h[k] * (-1) ** k for k in range(h.degree() + 1)])
    if h.degree() < 1 or rational.real_roots_above(negative, Fraction(0), until) != h.degree():
        return None
    # back to x: each factor y -> x - a, or w -> (x - a) / (x + a)
    degree = g.degree()
    if order == "real-part":
        return g(flint.fmpq_poly([-at, 1]))
    above, under = flint.fmpq_poly([-at, 1]), flint.fmpq_poly([at, 1])
    back = flint.fmpq_poly([0])
    for k in range(degree + 1):
        back = back + above**k * under ** (degree - k) * g[k]
    return p.gcd(back * under)  # with the root -a, if it is one
