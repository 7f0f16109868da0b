"""Numbers behind BD-L1: what an atom of a law leaves for its variance, and two inequalities between numbers."""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, proposition
from eigentoken.theory.kernel.proved import Proved

__all__ = ["atom", "cancelled", "sum_of_two"]


def atom(k: Kernel) -> Proved:
    """``a Var(u) <= 16/27 r^2`` as numbers: a weight a, its value u, the mean m, the mean q of squares, and r."""
    a, u, m, q, r = letters = sp.symbols("a u m q r", real=True)
    given = [
        a > 0,
        a <= 1,
        r >= 0,
        u**2 <= r**2,
        r**2 - q >= a * (r**2 - u**2),
        r - m >= a * (r - u),
        r + m >= a * (r + u),
    ]
    known = [k.assume(each) for each in given]
    said = sp.Le(a * (q - m**2), sp.Rational(16, 27) * r**2, evaluate=False)
    between = k.arithmetic(known, sp.And(u <= r, u >= -r))
    mass = k.arithmetic(known, sp.Le(q, a * u**2 + (1 - a) * r**2, evaluate=False))
    rest = a <= sp.Rational(1, 2)
    here = k.assume(rest)
    less = k.arithmetic([mass, *known[:4], here], sp.Le(q, r**2, evaluate=False))
    half = k.arithmetic([less, *known[:2], here], sp.Le(a * (q - m**2), r**2 / 2, evaluate=False))
    ways = [(rest, k.arithmetic([half], said))]
    cubic = k.arithmetic(known[:2], sp.Le(4 * a**2 * (1 - a), sp.Rational(16, 27), evaluate=False))
    for sign in (1, -1):
        heavy = sp.And(a > sp.Rational(1, 2), sign * a * u >= (1 - a) * r)
        there = k.assume(heavy)
        low = k.arithmetic([there, *known], sp.Ge(sign * m, sign * a * u - (1 - a) * r, evaluate=False))
        square = k.arithmetic([low, there], sp.Ge(m**2, (sign * a * u - (1 - a) * r) ** 2, evaluate=False))
        gap = k.arithmetic([mass, square], sp.Le(q - m**2, a * (1 - a) * (sign * u + r) ** 2, evaluate=False))
        wide = k.arithmetic([between, known[2]], sp.Le((sign * u + r) ** 2, 4 * r**2, evaluate=False))
        share = k.arithmetic([gap, wide, *known[:2]], sp.Le(q - m**2, a * (1 - a) * 4 * r**2, evaluate=False))
        scaled = k.arithmetic([share, known[0]], sp.Le(a * (q - m**2), 4 * a**2 * (1 - a) * r**2, evaluate=False))
        ways.append((heavy, k.arithmetic([scaled, cubic, k.arithmetic([], sp.Ge(r**2, 0))], said)))
    light = sp.And(a > sp.Rational(1, 2), a * u < (1 - a) * r, -a * u < (1 - a) * r)
    there = k.assume(light)
    far = k.arithmetic([there, *known[:3]], sp.Le(a**2 * u**2, (1 - a) ** 2 * r**2, evaluate=False))
    scaled = k.arithmetic([mass, known[0]], sp.Le(a * q, a**2 * u**2 + a * (1 - a) * r**2, evaluate=False))
    last = k.arithmetic([far, scaled], sp.Le(a * q, (1 - a) * r**2, evaluate=False))
    ends = k.arithmetic([last, there, known[0]], sp.Le(a * (q - m**2), r**2 / 2, evaluate=False))
    ways.append((light, k.arithmetic([ends], said)))
    either = k.arithmetic(known, sp.Or(*(each for each, _ in ways)))
    found = k.discharge(Conjunction(tuple(map(proposition, given))), k.by_cases(either, *ways))
    for letter in reversed(letters):
        found = k.generalise(letter, found)
    return found


def cancelled(k: Kernel) -> Proved:
    """``v^2 <= v V m``, ``m <= R^2``: ``v <= V R^2``, for numbers that are not negative."""
    v, most, radius, m = letters = sp.symbols("v V s m", real=True)
    given = [v >= 0, most >= 0, radius >= 0, sp.Le(v**2, v * most * m), m <= radius]
    known = [k.assume(each) for each in given]
    scaled = k.arithmetic(known, sp.Le(v**2, v * (most * radius), evaluate=False))
    ways = [(case, k.arithmetic([scaled, *known, k.assume(case)], v <= most * radius)) for case in (v > 0,)]
    zero = sp.Eq(v, 0)
    size = k.arithmetic(known, sp.Or(v > 0, zero))
    ways.append((zero, k.arithmetic([k.assume(zero), *known], v <= most * radius)))
    found = k.discharge(Conjunction(tuple(map(proposition, given))), k.by_cases(size, *ways))
    for letter in reversed(letters):
        found = k.generalise(letter, found)
    return found


def sum_of_two(k: Kernel) -> Proved:
    """``P^2 <= b^2 s^2`` and ``Q^2 <= c^2 s^2`` give ``(P + Q)^2 <= (b + c)^2 s^2``."""
    b, c, p, q, s = letters = sp.symbols("b c p q s", real=True)
    given = [b >= 0, c >= 0, s >= 0, sp.Le(p**2, b**2 * s**2), sp.Le(q**2, c**2 * s**2)]
    known = [k.assume(each) for each in given]
    ends = []
    for each, most, square in ((p, b, 3), (q, c, 4)):
        facts = [known[square], known[2], known[0 if each == p else 1]]
        ends.append(k.arithmetic(facts, sp.And(sp.Le(each, most * s), sp.Ge(each, -most * s))))
    end = k.arithmetic([*ends, *known[:3]], sp.Le((p + q) ** 2, (b + c) ** 2 * s**2, evaluate=False))
    found = k.discharge(Conjunction(tuple(map(proposition, given))), end)
    for letter in reversed(letters):
        found = k.generalise(letter, found)
    return found
