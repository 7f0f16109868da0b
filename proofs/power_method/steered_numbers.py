"""The numbers of steering: the distance of the large eigenvalue from mu, and the remainder of its expansion.

``N = |F|``, ``B = N Z``, ``f_j = z^T F^j w``, and the tail T with ``zeta^3 = mu (zeta^2 + f_1 zeta + f_2 + T)``.  Every constant
is derived, none is fitted.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved

__all__ = ["at_values", "distance", "expansion"]

MU, NORM, B, ROOT, F1, F2, TAIL = sp.symbols("mu n_F b r f_1 f_2 tau", real=True)
_SETTING = (MU > 0, NORM >= 0, B >= NORM, MU >= 20 * B)
_CUBE = B**3 / MU**2


def _lemma(k: Kernel, hypotheses: tuple[sp.Basic, ...], found: Proved, *letters: sp.Symbol) -> Proved:
    """``for all letters: hypotheses => conclusion``."""
    found = k.discharge(Conjunction(tuple(map(proposition, hypotheses))), found)
    for letter in reversed(letters):
        found = k.generalise(letter, found)
    return found


def distance(k: Kernel) -> Proved:
    """``|zeta - mu| (|zeta| - N) <= mu B`` and ``|zeta| >= mu/2`` give ``|zeta - mu| <= 6/5 B``: the same estimate, twice."""
    hypotheses = (*_SETTING, 2 * sp.Abs(ROOT) >= MU, sp.Abs(ROOT - MU) * (sp.Abs(ROOT) - NORM) <= MU * B)
    given = [k.assume(each) for each in hypotheses]
    ahead = k.arithmetic(given, sp.Ge(2 * ROOT, MU, evaluate=False))
    first = k.arithmetic([*given, ahead], sp.Abs(ROOT - MU) <= sp.Rational(20, 9) * B)
    found = k.arithmetic([*given, ahead, first], sp.Abs(ROOT - MU) <= sp.Rational(6, 5) * B)
    return _lemma(k, hypotheses, found, MU, NORM, B, ROOT)


def expansion(k: Kernel) -> Proved:
    """``|zeta - mu - f_1 - (f_2 - f_1^2)/mu| <= 8 B^3/mu^2``."""
    hypotheses = (
        *_SETTING,
        sp.Abs(ROOT - MU) <= sp.Rational(6, 5) * B,
        sp.Abs(F1) <= B,
        sp.Abs(F2) <= B**2,
        sp.Abs(TAIL) * (ROOT - NORM) <= B**3,
        sp.Eq(ROOT**3, MU * (ROOT**2 + F1 * ROOT + F2 + TAIL)),
    )
    given = [k.assume(each) for each in hypotheses]
    setting, near, cubic = given[:4], given[4], given[8]
    tail = k.arithmetic([*setting, near, given[7]], sp.Abs(TAIL) <= sp.Rational(9, 8) * B**3 / MU)
    quotients = [
        k.arithmetic([*setting, near], each)
        for each in (
            sp.Gt(ROOT, 0, evaluate=False),
            sp.Abs(MU / ROOT**2 - 1 / MU) <= sp.Rational(53, 20) * B / MU**2,
            sp.Le(MU / ROOT**2, sp.Rational(23, 20) / MU),
            sp.Le(MU / ROOT**3, sp.Rational(61, 50) / MU**2),
        )
    ]
    first, second, third = (
        (F2 - F1**2) * (MU / ROOT**2 - 1 / MU),
        F1 * (F2 + TAIL) * (MU / ROOT**3),
        TAIL * (MU / ROOT**2),
    )
    gap, part, middle = sp.symbols("u q p", real=True)
    one = k.lemma(
        (*_SETTING, sp.Abs(part) <= 2 * B**2, sp.Abs(gap) <= sp.Rational(53, 20) * B / MU**2),
        sp.Abs(part * gap) <= sp.Rational(53, 10) * _CUBE,
        *(MU, NORM, B, part, gap),
    )
    two = k.lemma(
        (
            *_SETTING,
            sp.Abs(F1) <= B,
            sp.Abs(middle) <= B**2 + sp.Rational(9, 8) * B**3 / MU,
            gap >= 0,
            gap <= sp.Rational(61, 50) / MU**2,
        ),
        sp.Abs(F1 * middle * gap) <= sp.Rational(13, 10) * _CUBE,
        *(MU, NORM, B, F1, middle, gap),
    )
    three = k.lemma(
        (*_SETTING, sp.Abs(TAIL) <= sp.Rational(9, 8) * B**3 / MU, gap >= 0, gap <= sp.Rational(23, 20) / MU),
        sp.Abs(TAIL * gap) <= sp.Rational(13, 10) * _CUBE,
        *(MU, NORM, B, TAIL, gap),
    )
    small = [
        at_values(k, one, (MU, NORM, B, F2 - F1**2, MU / ROOT**2 - 1 / MU), *given, *quotients),
        at_values(k, two, (MU, NORM, B, F1, F2 + TAIL, MU / ROOT**3), *given, tail, *quotients),
        at_values(k, three, (MU, NORM, B, TAIL, MU / ROOT**2), *given, tail, *quotients),
    ]
    exact = _exact(k, (cubic, given[0], quotients[0]), first - second + third)
    e1, e2, e3, whole = sp.symbols("e_1 e_2 e_3 e", real=True)
    total = k.lemma(
        (
            *(B >= 0, MU > 0),
            *(sp.Abs(each) <= size * _CUBE for each, size in zip((e1, e2, e3), _SIZES, strict=True)),
            sp.Eq(whole, e1 - e2 + e3),
        ),
        sp.Abs(whole) <= 8 * _CUBE,
        *(MU, B, e1, e2, e3, whole),
    )
    value = ROOT - MU - F1 - (F2 - F1**2) / MU
    found = at_values(k, total, (MU, B, first, second, third, value), *setting, *small, exact, *quotients[:1])
    return _lemma(k, hypotheses, found, MU, NORM, B, ROOT, F1, F2, TAIL)


_SIZES = (sp.Rational(53, 10), sp.Rational(13, 10), sp.Rational(13, 10))


def _exact(k: Kernel, known: tuple[Proved, ...], remainder: sp.Expr) -> Proved:
    """``zeta - mu - f_1 - (f_2 - f_1^2)/mu`` is the sum of the three terms."""
    inverse = 1 / ROOT
    once = k.arithmetic(known, sp.Eq(ROOT - MU, MU * F1 * inverse + MU * (F2 + TAIL) * inverse**2, evaluate=False))
    turned = k.identity(MU * F1 / ROOT, F1 - F1 * (ROOT - MU) / ROOT, known[2])
    twice = k.arithmetic(
        [once, known[2]],
        sp.Eq((ROOT - MU) / ROOT, MU * F1 * inverse**2 + MU * (F2 + TAIL) * inverse**3, evaluate=False),
    )
    value = ROOT - MU - F1 - (F2 - F1**2) / MU
    return k.arithmetic([once, turned, twice, *known[1:]], sp.Eq(value, remainder, evaluate=False))


def at_values(k: Kernel, lemma: Proved, values: tuple[sp.Expr, ...], *known: Proved) -> Proved:
    """A lemma about numbers at others; what is known has its hypotheses, and says where they are defined."""
    for value in values:
        defined = [k.arithmetic(known, each) for each in where_defined(value)]
        lemma = k.instantiate(lemma, value, *defined)
    parts = [k.arithmetic(known, each) for each in conjuncts(lemma.proposition.left)]
    return k.modus_ponens(lemma, k.conjunction(*parts))
