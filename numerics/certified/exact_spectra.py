"""Eigenvalues of an exact matrix from its characteristic polynomial, and which of them is ahead.

FLINT isolates the roots of an integer polynomial with their multiplicities (square-free decomposition, then certified
isolating balls; a real root has imaginary part exactly zero).  A *score* orders eigenvalues: the real part, the
modulus, or ``|1 + alpha lambda|``.  Balls are refined until the leaders separate; where they do not, exact ties of a
real root a are proved by algebra:

* p has a non-real root with real part a (a rational) iff the polynomials E, O of ``p(a + i y) = E(y^2) + i y O(y^2)``
  have a common positive root;
* p has a non-real root x with ``|x|^2 = a^2 = s`` (s rational) iff x and ``s / x = conj(x)`` are common roots of
  ``p(x)`` and ``x^n p(s / x)``;
* ``-a`` is a root iff a is a root of ``gcd(p(x), p(-x))``;
* an irreducible factor ``h(x^k)``, k > 1, has its roots in orbits of k with equal modulus.

What remains tied is ``unknown``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import flint

from eigentoken.documents.certificate import LeadBy, LeaderKind
from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, ExactMatrix

if TYPE_CHECKING:
    from flint import acb

__all__ = ["IsolatedEigenvalue", "Leader", "exact_roots", "leading_eigenvalue", "score_of", "score_polynomial"]


@dataclass(frozen=True)
class IsolatedEigenvalue:
    """One distinct eigenvalue: an isolating ball, its multiplicity, and whether it is real."""

    ball: acb
    multiplicity: int
    real: bool


@dataclass(frozen=True)
class Leader:
    """What is known of the eigenvalues with the largest score.

    ``kind`` is ``simple-real``, ``multiple-real``, ``simple-pair``, ``multiple-pair`` (one pair or eigenvalue strictly
    ahead), ``non-real`` (no real one is ahead), ``tie`` (no real one is *strictly* ahead: each real leader is tied) or
    ``unknown``.
    """

    kind: LeaderKind | Literal["unknown"]
    roots: tuple[IsolatedEigenvalue, ...] = ()
    others: tuple[IsolatedEigenvalue, ...] = ()
    why: str = ""


def _balls(polynomial: flint.fmpz_poly, precision: int) -> list[IsolatedEigenvalue]:
    """Isolating balls of all roots, real ones with imaginary part exactly zero.

    For each square-free factor FLINT certifies balls with one root each.  The factor is real, so the mirror image of a
    root is a root; if the mirrored ball meets no other ball, the root is its own mirror image: real.
    """
    roots = []
    old = flint.ctx.prec
    try:
        for factor, multiplicity in polynomial.factor_squarefree()[1]:
            for ball, real in _factor_balls(factor, precision):
                roots.append(IsolatedEigenvalue(ball, int(multiplicity), real))
        return roots
    finally:
        flint.ctx.prec = old


def _factor_balls(factor: flint.fmpz_poly, precision: int) -> list[tuple[Any, bool]]:
    """Isolating balls of a square-free polynomial and whether each root is real; irreducible parts if they are close."""
    try:
        balls = _isolated(factor, precision)
    except DeadlinePassed:
        parts = factor.factor()[1] if factor.degree() <= 30 else []
        if len(parts) < 2:
            raise
        return [found for part, _ in parts for found in _factor_balls(part, precision)]
    from eigentoken.theory.exactness.polynomials import real_or_not

    flint.ctx.prec = 2 * precision + 64
    return real_or_not(balls)


def _isolated(factor: flint.fmpz_poly, precision: int) -> list[Any]:
    """Isolating balls of a square-free factor, to about ``precision`` bits of its largest root; bounded work.

    Roots in one cluster (a nearly defective matrix) are isolated after a shift by their exact mean, which is rational.
    """
    deepest = precision + (6000 if factor.degree() <= 12 else 1600)
    try:
        return _certified_roots(factor, precision, deepest)
    except ValueError:
        pass
    degree = factor.degree()
    mean = flint.fmpq(-factor[degree - 1], factor[degree] * degree)
    centered = flint.fmpq_poly(factor)(flint.fmpq_poly([mean, flint.fmpq(1)])).numer()
    try:
        found = _certified_roots(centered, precision, deepest)
    except ValueError:
        raise DeadlinePassed(f"distinct roots too close to isolate at {deepest} bits") from None
    flint.ctx.prec = 2 * deepest
    return [root + flint.arb(mean) for root in found]


def _certified_roots(factor: flint.fmpz_poly, precision: int, deepest: int) -> list[Any]:
    flint.ctx.prec = factor.height_bits() + 64
    approximate = flint.acb_poly(factor)  # exact: the coefficients fit
    flint.ctx.prec = 64
    rough = approximate.roots(maxprec=deepest)
    size = flint.arb(0)
    for root in rough:  # compared as they are: zero has no exponent, and floats would underflow
        reach = flint.arb(abs(root).upper())
        size = reach if reach > size else size
    if size == 0:  # the one root of x
        return list(rough)
    return list(approximate.roots(tol=size * flint.arb(2) ** -precision, maxprec=deepest))


def score_polynomial(exact: ExactMatrix, alpha: Fraction | None, deadline: Deadline) -> flint.fmpz_poly:
    """An integer polynomial whose roots are the eigenvalues (or ``1 + alpha lambda``), with multiplicities."""
    target = exact if alpha is None else exact.scaled(alpha).shifted(Fraction(1))
    polynomial = target.charpoly(deadline)  # of the numerators: its roots are denominator times ours
    q = target.denominator
    if q == 1:
        return polynomial
    power, coefficients = flint.fmpz(1), []
    for c in polynomial.coeffs():
        coefficients.append(c * power)
        power *= q
    scaled = flint.fmpz_poly(coefficients)
    return scaled / scaled.content()


def exact_roots(polynomial: flint.fmpz_poly, deadline: Deadline, precision: int = 64) -> list[IsolatedEigenvalue]:
    """Distinct roots with multiplicities (measured: below 1e-7 n^2 (bits + 20 n) seconds)."""
    n, bits = polynomial.degree(), polynomial.height_bits()
    deadline.allow(2e-7 * n * n * (1 + (bits + precision) / 300), f"isolating the {n} roots exactly")
    return _balls(polynomial, precision)


def score_of(ball: Any, by: LeadBy, alpha: Fraction | None) -> Any:
    """The score of an eigenvalue ball, as a ball."""
    if by == "real-part":
        return ball.real
    if by == "modulus" or alpha is None:
        return abs(ball)
    return abs(1 + ball * flint.arb(flint.fmpq(alpha.numerator, alpha.denominator)))


def leading_eigenvalue(exact: ExactMatrix, by: LeadBy, alpha: Fraction | None, deadline: Deadline) -> Leader:
    """Who is ahead by ``real-part``, by ``modulus``, or (with alpha) by ``|1 + alpha lambda|``."""
    if by not in ("real-part", "modulus", "step"):
        raise ValueError(f"by must be real-part, modulus or step, got {by!r}")
    if by == "step" and alpha == 0:  # every score is 1
        n = exact.shape[0]
        return Leader("simple-real" if n == 1 else "multiple-real", (IsolatedEigenvalue(flint.acb(0), n, True),))
    try:
        polynomial = score_polynomial(exact, None, deadline)
        leader = Leader("unknown", why="nothing was tried")
        for precision in (64, 256, 1024, 4096):
            roots = exact_roots(polynomial, deadline, precision)
            old, flint.ctx.prec = flint.ctx.prec, precision + 64
            try:
                leader = _leader(roots, by, alpha)
            finally:
                flint.ctx.prec = old
            if leader.kind != "unknown":
                return leader
            if precision == 256 and _tie_of_leaders(exact, polynomial, leader, by, alpha, deadline):
                return Leader("tie", leader.roots, leader.others, "an exact tie")
        return leader
    except DeadlinePassed as late:
        return Leader("unknown", why=str(late))


def _tie_of_leaders(
    exact: ExactMatrix,
    polynomial: flint.fmpz_poly,
    leader: Leader,
    by: LeadBy,
    alpha: Fraction | None,
    deadline: Deadline,
) -> bool:
    """A tie by step is a tie by modulus of ``I + alpha M``, whose roots are isolated again."""
    if by != "step":
        return _tie_is_proved(polynomial, leader, by)
    stepped = score_polynomial(exact, alpha, deadline)
    old, flint.ctx.prec = flint.ctx.prec, 320
    try:
        moved = _leader(exact_roots(stepped, deadline, 256), "modulus", None)
    finally:
        flint.ctx.prec = old
    return moved.kind == "unknown" and _tie_is_proved(stepped, moved, "modulus")


def _leader(roots: list[IsolatedEigenvalue], by: LeadBy, alpha: Fraction | None) -> Leader:
    if any(not root.real and root.ball.imag.contains(0) for root in roots):
        return Leader("unknown", tuple(roots), why="a root is not yet known to be real or not")
    scores = [score_of(root.ball, by, alpha) for root in roots]
    best = 0
    for k, score in enumerate(scores):  # exact midpoints: floats may tie, or overflow
        best = k if score.mid() > scores[best].mid() else best
    ahead = [k for k in range(len(roots)) if not scores[k] < scores[best]]
    top = tuple(roots[k] for k in ahead)
    rest = tuple(roots[k] for k in range(len(roots)) if k not in ahead)
    if len(top) == 1 and top[0].real:
        return Leader("simple-real" if top[0].multiplicity == 1 else "multiple-real", top, rest)
    if all(not root.real for root in top):
        if len(top) == 2 and top[0].multiplicity == 1:
            return Leader("simple-pair", top, rest)
        if len(top) == 2:
            return Leader("multiple-pair", top, rest)
        return Leader("non-real", top, rest, "every leading eigenvalue is non-real")
    return Leader("unknown", top, rest, f"{len(top)} leaders do not separate by {by}")


def _substituted(p: flint.fmpz_poly, shift: Fraction, sign: int) -> flint.fmpz_poly:
    """``p(shift + sign x)`` times a positive integer."""
    inner = flint.fmpq_poly([flint.fmpq(shift.numerator, shift.denominator), flint.fmpq(sign)])
    return flint.fmpq_poly(p)(inner).numer()


def _reversed_at(p: flint.fmpz_poly, s: Fraction) -> flint.fmpz_poly:
    """``x^n p(s / x)`` times a positive integer."""
    n = p.degree()
    top, bottom = flint.fmpz(s.numerator), flint.fmpz(s.denominator)
    return flint.fmpz_poly([p[n - k] * top ** (n - k) * bottom**k for k in range(n + 1)])


def _tie_is_proved(p: flint.fmpz_poly, leader: Leader, by: LeadBy) -> bool:
    """Is some *real* leader exactly tied with another leader?  Then no real eigenvalue is strictly ahead.

    The leaders are those whose score is not certainly below the best, so a proved tie of **every** real leader with
    another eigenvalue shows that a strictly dominant real eigenvalue does not exist.
    """
    real = [root for root in leader.roots if root.real]
    if by != "real-part" and any(not abs(root.ball) > 0 for root in leader.roots):
        return False
    return bool(real) and all(_is_tied(p, root, leader, by) for root in real)


def _is_tied(p: flint.fmpz_poly, root: IsolatedEigenvalue, leader: Leader, by: LeadBy) -> bool:
    factor = _factor_of(p, root)
    if by == "real-part":
        if factor is None or factor.degree() != 1:
            return False
        return _line_roots(p, -Fraction(int(factor[0]), int(factor[1])))
    if _mirror_is_root(p, root, leader):
        return True
    if factor is None:
        return False
    if factor.degree() > 1 and factor.deflation()[1] > 1:
        return True
    if factor.degree() == 1:
        return _circle_roots(p, Fraction(int(factor[0]), int(factor[1])) ** 2)
    return False


def _mirror_is_root(p: flint.fmpz_poly, root: IsolatedEigenvalue, leader: Leader) -> bool:
    """Is minus this real root a root too?  A root of the gcd is identified by the only ball of p that it meets."""
    g = p.gcd(_substituted(p, Fraction(0), -1))
    if g.degree() <= 0:
        return False
    for c in _balls(g, 256):
        met = [r for r in (*leader.roots, *leader.others) if r.ball.overlaps(c.ball)]
        if met == [root] and abs(root.ball) > 0:
            return True
    return False


def _factor_of(p: flint.fmpz_poly, root: IsolatedEigenvalue) -> flint.fmpz_poly | None:
    """The irreducible factor that has this root (the others have no root in its isolating ball)."""
    if p.degree() > 30:
        return None
    old, flint.ctx.prec = flint.ctx.prec, 320
    try:
        found = [f for f, _ in p.factor()[1] if f(root.ball.real).contains(0)]
    finally:
        flint.ctx.prec = old
    return found[0] if len(found) == 1 else None


def _line_roots(p: flint.fmpz_poly, a: Fraction) -> bool:
    """Has p a non-real root with real part exactly a?  (a common positive root of E and O)"""
    q = _substituted(p, a, 1)
    even = flint.fmpz_poly([q[2 * k] * (-1) ** k for k in range(q.degree() // 2 + 1)])
    odd = flint.fmpz_poly([q[2 * k + 1] * (-1) ** k for k in range((q.degree() + 1) // 2)])
    g = even.gcd(odd)
    return g.degree() > 0 and any(r.real and r.ball.real > 0 for r in _balls(g, 256))


def _circle_roots(p: flint.fmpz_poly, s: Fraction) -> bool:
    """Has p a non-real root with ``|x|^2 = s`` exactly?

    If x is a common root of p and ``x^n p(s / x)``, so are ``s / x`` and ``conj(x)``; they are the same root if both
    can only be one and the same isolated root of the gcd.
    """
    if s <= 0:
        return False
    g = p.gcd(_reversed_at(p, s))
    if g.degree() <= 0:
        return False
    roots = _balls(g, 1024)
    old, flint.ctx.prec = flint.ctx.prec, 1024
    try:
        value = flint.arb(flint.fmpq(s.numerator, s.denominator))
        for root in roots:
            if root.real:
                continue
            partner, mirrored = value / root.ball, root.ball.conjugate()
            met = [other for other in roots if other.ball.overlaps(partner)]
            if len(met) == 1 and [other for other in roots if other.ball.overlaps(mirrored)] == met:
                return True
    finally:
        flint.ctx.prec = old
    return False
