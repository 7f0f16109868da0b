"""The large eigenvalue of ``G = F + mu w z^T``: what an eigenvector f with ``G f = zeta f`` says of zeta.

``zeta a^T f = a^T F f + mu t (a^T w)`` for every a, with ``t = z^T f``.  At ``a = z, F^T z, (F^T)^2 z`` that is the secular
equation, ``zeta^3 = mu (zeta^2 + f_1 zeta + f_2 + T)``; at ``a = f`` it is ``|mu t| >= |zeta| - |F|``, which bounds the tail T.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.rank_one_edits import EDITED, MU, eigenvector
from eigentoken.proofs.power_method.steered_numbers import at_values, distance, expansion
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.perturbation_theorems import EIGENVALUE
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import Expression, Letter, dot, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Exists, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.language.terms import matrix as letter

__all__ = [
    "ALONG",
    "BOUNDS",
    "EXISTS",
    "LARGE",
    "LONG",
    "NORM",
    "ORTHOGONAL",
    "SETTING",
    "SIZE",
    "STEERED",
    "UNIT",
    "ZETA",
    "bounded",
    "length_of_edit",
    "nonnegative",
    "orthogonal",
]

_F = letter("F")
_A, _E = VectorLetter("a"), VectorLetter("f")
_a, _e, _w, _z = vector("a"), vector("f"), vector("w"), vector("z")
_ONCE, _BACK = matrix("F"), (Letter("F", True),)
NORM = SpectralNorm(_F)
#: At least the length of z.
LONG = sp.Symbol("Z", positive=True)
_B = NORM * LONG
ZETA = EIGENVALUE
_LETTER = sp.Symbol("g", real=True)
UNIT = proposition(sp.Eq(Tensor(dot(_w, _w)), 1, evaluate=False))
SIZE = proposition(sp.Le(Tensor(dot(_z, _z)), LONG**2, evaluate=False))
ALONG = proposition(sp.Eq(Tensor(dot(_z, _w)), 1, evaluate=False))
_LEVEL = proposition(sp.Eq(Tensor(dot(_z, _w)), 0, evaluate=False))
LARGE = proposition(sp.And(MU > 0, sp.Ge(MU, 20 * _B, evaluate=False)))
#: ``G = F + mu w z^T`` with ``|w| = 1``, ``z^T w = 1``, ``|z| <= Z`` and ``mu >= 20 |F| Z``.
SETTING = Conjunction((EDITED, UNIT, ALONG, SIZE, LARGE))
EIGEN = Conjunction((eigenvector("f", "G", ZETA), proposition(sp.Eq(Tensor(dot(_e, _e)), 1, evaluate=False))))
_F1, _F2 = Tensor(dot(_z, _w.applied(_ONCE))), Tensor(dot(_z, _w.applied(_ONCE).applied(_ONCE)))
BOUNDS = Conjunction(
    tuple(
        proposition(each)
        for each in (
            sp.Abs(ZETA - MU) <= sp.Rational(6, 5) * _B,
            sp.Abs(ZETA - MU - _F1 - (_F2 - _F1**2) / MU) <= 8 * _B**3 / MU**2,
            sp.Le(ZETA**2 * (1 - Tensor(dot(_w, _e)) ** 2), NORM**2, evaluate=False),
        )
    )
)
_HALF = proposition(sp.Ge(2 * sp.Abs(ZETA), MU, evaluate=False))
#: Every real eigenvalue of modulus at least mu/2, and its unit eigenvector.
STEERED = Implication(Conjunction((SETTING, EIGEN, _HALF)), BOUNDS)
#: There is one.
EXISTS = Implication(SETTING, Exists(ZETA, BOUNDS.parts[0], Exists(_E, EIGEN, Conjunction(BOUNDS.parts[1:]))))
#: For z at right angles to w, every real eigenvalue beyond ``|F|``.
ORTHOGONAL = Implication(
    Conjunction((EDITED, UNIT, _LEVEL, SIZE, EIGEN, proposition(sp.Abs(ZETA) > NORM))),
    proposition(sp.Le(sp.Abs(ZETA**2 - MU * _F1) * (sp.Abs(ZETA) - NORM), sp.Abs(MU) * LONG * NORM**2, evaluate=False)),
)


def _split(k: Kernel) -> Proved:
    """``zeta a^T f = a^T F f + mu (z^T f)(a^T w)`` for every a."""
    form = k.instantiate(k.instantiate(k.assume(EDITED), _A), _E)
    eigen = k.instantiate(k.assume(EIGEN.parts[0]), _A)
    equal = sp.Eq(
        ZETA * Tensor(dot(_a, _e)),
        Tensor(dot(_a, _e, _ONCE)) + MU * Tensor(dot(_z, _e)) * Tensor(dot(_a, _w)),
        evaluate=False,
    )
    return k.generalise(_A, k.arithmetic([form, eigen], equal))


def _powers(start: Expression, count: int) -> list[Expression]:
    """``v, F v, F^2 v, ...``."""
    found = [start]
    for _ in range(count):
        found.append(found[-1].applied(_ONCE))
    return found


def _grown(k: Kernel, start: Expression, unit: Proved, count: int) -> list[Proved]:
    """``(z^T F^j v)^2 <= Z^2 N^(2j)`` for a unit vector v and ``j = 0, ..., count``."""
    chain = _powers(start, count)
    size, norm = unit, k.textbook(OPERATOR_NORM, A=_F, z=start)
    found = []
    for power, each in enumerate(chain):
        if power:
            step = k.textbook(OPERATOR_NORM, A=_F, z=chain[power - 1])
            bound = sp.Le(Tensor(dot(each, each)), NORM ** (2 * power), evaluate=False)
            size = k.arithmetic([k.part(step, step.proposition.parts[0]), size, k.square(chain[power - 1])], bound)
        cauchy = k.textbook(EUCLIDEAN, y=_z, z=each)
        known = [cauchy, size, k.assume(SIZE), k.square(each), k.square(_z), k.part(norm, norm.proposition.parts[1])]
        found.append(k.arithmetic(known, sp.Abs(Tensor(dot(_z, each))) <= LONG * NORM**power))
    return found


def nonnegative(k: Kernel) -> Proved:
    found = k.textbook(OPERATOR_NORM, A=_F, z=_e)
    return k.part(found, found.proposition.parts[1])


def _secular(k: Kernel, split: Proved) -> list[Proved]:
    """The equation at ``z``, ``F^T z``, ``(F^T)^2 z``, in the inner products of z."""
    found = []
    for power in range(3):
        left = _z
        for _ in range(power):
            left = left.applied(_BACK)
        value, after = _powers(_e, power + 1)[-2:]
        there = _powers(_w, power)[-1]
        found += [
            k.instantiate(split, left),
            expanded(k, dot(left, _e), (1, dot(_z, value))),
            expanded(k, dot(left, _e, _ONCE), (1, dot(_z, after))),
            expanded(k, dot(left, _w), (1, dot(_z, there))),
        ]
    return found


def _strength(k: Kernel, split: Proved) -> Proved:
    """``|mu t| >= |zeta| - N``, from ``a = f``."""
    unit = k.assume(EIGEN.parts[1])
    bounded_ = k.textbook(OPERATOR_NORM, A=_F, z=_e)
    moved = _e.applied(_ONCE)
    known = [
        k.textbook(EUCLIDEAN, y=_e, z=moved),
        k.part(bounded_, bounded_.proposition.parts[0]),
        k.part(bounded_, bounded_.proposition.parts[1]),
        unit,
        expanded(k, dot(_e, _e, _ONCE), (1, dot(_e, moved))),
    ]
    small = k.arithmetic(known, sp.Abs(Tensor(dot(_e, _e, _ONCE))) <= NORM)
    level = k.arithmetic([k.textbook(EUCLIDEAN, y=_e, z=_w), unit, k.assume(UNIT)], sp.Abs(Tensor(dot(_e, _w))) <= 1)
    pull = MU * Tensor(dot(_z, _e))
    here = k.arithmetic(
        [k.instantiate(split, _e), unit], sp.Eq(ZETA, Tensor(dot(_e, _e, _ONCE)) + pull * Tensor(dot(_e, _w)))
    )
    x, y, p, s, n = sp.symbols("x y p s n", real=True)
    hypotheses = (sp.Eq(x, y + p * s), sp.Abs(y) <= n, sp.Abs(s) <= 1)
    lemma = k.lemma(hypotheses, sp.Abs(p) >= sp.Abs(x) - n, x, y, p, s, n)
    values = (ZETA, Tensor(dot(_e, _e, _ONCE)), pull, Tensor(dot(_e, _w)), NORM)
    return at_values(k, lemma, values, small, level, here)


def _sine(k: Kernel, split: Proved) -> Proved:
    """``zeta^2 (1 - (w^T f)^2) <= N^2``: the part of f across w is that of ``F f / zeta``."""
    across = _e - _w * dot(_w, _e)
    unit, one = k.assume(EIGEN.parts[1]), k.assume(UNIT)
    moved = _e.applied(_ONCE)
    bounded_ = k.textbook(OPERATOR_NORM, A=_F, z=_e)
    known = [
        k.instantiate(split, across),
        k.textbook(EUCLIDEAN, y=across, z=moved),
        k.part(bounded_, bounded_.proposition.parts[0]),
        expanded(k, dot(across, _e, _ONCE), (1, dot(across, moved))),
        expanded(k, dot(across, _w), (1, dot(_e, _w)), (-1, dot(_w, _e), dot(_w, _w))),
        expanded(k, dot(across, _e), (1, dot(_e, _e)), (-1, dot(_w, _e), dot(_w, _e))),
        expanded(
            k,
            dot(across, across),
            (1, dot(_e, _e)),
            (-2, dot(_w, _e), dot(_w, _e)),
            (1, dot(_w, _e), dot(_w, _e), dot(_w, _w)),
        ),
        *(unit, one, k.square(across)),
    ]
    s = 1 - Tensor(dot(_w, _e)) ** 2
    level = k.arithmetic(known, sp.And(s >= 0, sp.Le((ZETA * s) ** 2, s * NORM**2)))
    x, y, m = sp.symbols("x y m", real=True)
    lemma = k.lemma((x >= 0, sp.Le((y * x) ** 2, x * m**2)), sp.Le(y**2 * x, m**2), x, y, m)
    return at_values(k, lemma, (s, ZETA, NORM), level)


def bounded(k: Kernel) -> Proved:
    """A proof of :data:`STEERED`."""
    split = _split(k)
    large, half, positive = k.assume(LARGE), k.assume(_HALF), nonnegative(k)
    long = length_of_edit(k)
    setting = k.arithmetic([large, positive, long], sp.And(MU > 0, NORM >= 0, _B >= NORM, MU >= 20 * _B))
    secular, strong = _secular(k, split), _strength(k, split)
    chain = [Tensor(dot(_z, each)) for each in _powers(_e, 3)]
    t = chain[0]
    along = k.assume(ALONG)
    first = k.arithmetic([*secular[:4], along], sp.Eq((ZETA - MU) * t, chain[1], evaluate=False))
    second = k.arithmetic(secular[4:8], sp.Eq(ZETA * chain[1], chain[2] + MU * t * _F1, evaluate=False))
    third = k.arithmetic(secular[8:], sp.Eq(ZETA * chain[2], chain[3] + MU * t * _F2, evaluate=False))
    of_e = _grown(k, _e, k.assume(EIGEN.parts[1]), 3)
    of_w = _grown(k, _w, k.assume(UNIT), 2)
    m, n, b, x, y, p, q = sp.symbols("m n b x y p q", real=True)
    product = k.lemma(
        (m > 0, sp.Eq((x - m) * y, p), sp.Abs(p) <= b, sp.Abs(m * y) >= sp.Abs(x) - n),
        sp.Abs(x - m) * (sp.Abs(x) - n) <= m * b,
        *(m, n, b, x, y, p),
    )
    estimate = at_values(k, product, (MU, NORM, _B, ZETA, t, chain[1]), setting, first, of_e[1], strong)
    near = at_values(k, distance(k), (MU, NORM, _B, ZETA), setting, half, estimate)
    nonzero = k.arithmetic([setting, near, strong], sp.Ne(t, 0))
    tail = chain[3] / (MU * t)
    powers = k.arithmetic([positive, long], sp.And(LONG * NORM**2 <= _B**2, LONG * NORM**3 <= _B**3))
    cubic_lemma = k.lemma(
        (
            *(m > 0, sp.Ne(y, 0), sp.Eq((x - m) * y, p), sp.Eq(x * p, q + m * y * n)),
            sp.Eq(x * q, b + m * y * _LETTER),
        ),
        sp.Eq(x**3, m * (x**2 + n * x + _LETTER + b / (m * y))),
        *(m, y, x, p, q, n, b, _LETTER),
    )
    values = (MU, t, ZETA, chain[1], chain[2], _F1, chain[3], _F2)
    cubic = at_values(k, cubic_lemma, values, setting, nonzero, first, second, third)
    tail_lemma = k.lemma(
        (sp.Ne(q, 0), sp.Abs(p) <= b, sp.Abs(q) >= x - n, x >= n),
        sp.Abs(p / q) * (x - n) <= b,
        *(p, q, b, x, n),
    )
    ahead = k.arithmetic([setting, near], sp.And(sp.Abs(ZETA) <= ZETA, ZETA >= NORM))
    small = [
        k.arithmetic([of_w[1]], sp.Abs(_F1) <= _B),
        k.arithmetic([of_w[2], powers], sp.Abs(_F2) <= _B**2),
        k.arithmetic([of_e[3], powers], sp.Abs(chain[3]) <= _B**3),
        k.arithmetic([strong, ahead], sp.Abs(MU * t) >= ZETA - NORM),
        k.arithmetic([nonzero, setting], sp.Ne(MU * t, 0)),
    ]
    tailed = at_values(k, tail_lemma, (chain[3], MU * t, _B**3, ZETA, NORM), *small, ahead, nonzero)
    whole = at_values(
        k,
        expansion(k),
        (MU, NORM, _B, ZETA, _F1, _F2, tail),
        *(setting, near, *small[:2], tailed, cubic, nonzero),
    )
    shown = zip((near, whole, _sine(k, split)), BOUNDS.parts, strict=True)
    return k.discharge(STEERED.left, k.conjunction(*(k.arithmetic([each, setting], said) for each, said in shown)))


def orthogonal(k: Kernel) -> Proved:
    """A proof of :data:`ORTHOGONAL`: ``(zeta^2 - mu f_1) t = z^T F^2 f``."""
    split = _split(k)
    secular, strong, level = _secular(k, split), _strength(k, split), k.assume(_LEVEL)
    chain = [Tensor(dot(_z, each)) for each in _powers(_e, 2)]
    first = k.arithmetic([*secular[:4], level], sp.Eq(ZETA * chain[0], chain[1], evaluate=False))
    second = k.arithmetic(secular[4:8], sp.Eq(ZETA * chain[1], chain[2] + MU * chain[0] * _F1, evaluate=False))
    size = _grown(k, _e, k.assume(EIGEN.parts[1]), 2)[2]
    gap, beyond = ZETA**2 - MU * _F1, sp.Abs(ZETA) - NORM
    product = k.arithmetic([first, second], sp.Eq(gap * chain[0], chain[2], evaluate=False))
    m, b, y, q, u, s = sp.symbols("m b y q u s", real=True)
    lemma = k.lemma(
        (sp.Eq(u * y, q), sp.Abs(q) <= b, sp.Abs(m * y) >= s), sp.Abs(u) * s <= sp.Abs(m) * b, m, b, y, q, u, s
    )
    values = (MU, LONG * NORM**2, chain[0], chain[2], gap, beyond)
    found = at_values(k, lemma, values, product, size, strong)
    return k.discharge(ORTHOGONAL.left, k.arithmetic([found], ORTHOGONAL.right))


def length_of_edit(k: Kernel) -> Proved:
    """``Z >= 1``."""
    known = [k.textbook(EUCLIDEAN, y=_z, z=_w), k.assume(ALONG), k.assume(UNIT), k.assume(SIZE)]
    return k.arithmetic(known, sp.Ge(LONG, 1, evaluate=False))
