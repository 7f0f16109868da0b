"""Two tokens at ``a_1 = -a_2``, V negative across them: W has a local minimum there, and the Oja map is Lyapunov stable.

For two tokens ``x_i^T xbar = |xbar|^2``, so that near the state ``beta = a_i^T xbar`` has ``beta^2 <= 4 eps |xbar|^2``; with
``xbar^T V xbar <= -c |z|^2 + ...``, ``z = xbar - beta a_i``, that makes ``W = -xbar^T V xbar / 2 >= 0`` for a small eps.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.pm_r03_oja_convergence import LEAST, MOST, falls, slope
from eigentoken.proofs.power_method.polygons import NO_PUSH, rests
from eigentoken.proofs.power_method.symbols import V, alpha, n
from eigentoken.proofs.steps.equations import TOKEN, Z, for_every
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.map_theorems import STABLE_MINIMA, at, near
from eigentoken.proofs.steps.step_lengths import apart_from_zero
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import TOKENS, Expression, Index, Letter, dot, matrix, one, vector
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Exists,
    ForAll,
    Implication,
    conjuncts,
    proposition,
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.kernel.words import stays_near
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.terms import SpectralNorm

__all__ = [
    "BALANCED",
    "BELOW",
    "DEPTH",
    "NEGATIVE",
    "PLACE",
    "RADIUS",
    "STABLE",
    "UNIT",
    "antipodal_stability",
    "defined",
    "norm_of_values",
    "small_mean",
    "tilted_form",
    "two_tokens",
]

PLACE = VectorLetter("a")
_A, _X, _Z, _J = vector("a", TOKEN), vector("x", TOKEN), vector(Z.name), Index("token", "j")
_V, _W, _NORM = matrix("V"), expression_of(oja_potential), SpectralNorm(V)
_TOTAL = vector("x", _J).summed(_J)
_MEAN, _CENTRE = _TOTAL / TOKENS, vector("a", _J).summed(_J) / TOKENS
#: How negative V is across the tokens.
DEPTH = sp.Symbol("c", positive=True)
UNIT = for_every(sp.Eq(Tensor(dot(_A, _A)), 1, evaluate=False), TOKEN)
#: ``sum_i a_i = 0``.
BALANCED = for_every(sp.Eq(Tensor(dot(_Z, _A).summed(TOKEN)), 0, evaluate=False), Z)
#: ``z^T V z <= -c |z|^2`` for every z at right angles to a token.
BELOW = for_every(
    Implication(
        proposition(sp.Eq(Tensor(dot(_A, _Z)), 0, evaluate=False)),
        proposition(sp.Le(Tensor(dot(_Z, _Z, _V)), -DEPTH * Tensor(dot(_Z, _Z)), evaluate=False)),
    ),
    TOKEN,
    Z,
)
NEGATIVE = Exists(DEPTH, TRUE, BELOW)
STABLE = ForAll(PLACE, Conjunction((UNIT, BALANCED, NEGATIVE)), stays_near("a"))
#: W is not negative at states with ``|x_i - a_i|^2`` up to this number.
RADIUS = DEPTH**2 / (4 * (DEPTH + 2 * _NORM) ** 2)


def _rests_there(k: Kernel) -> Proved:
    """The map rests where the tokens sum to zero."""
    there = k.assume(at("a"))
    push = dot(_Z, influence())
    same = k.congruent(push, STATE, _A, TOKEN, there)
    back = _Z.applied((Letter("V", True),))
    moved = dot(_Z, _CENTRE.applied(_V))
    known = [
        same,
        k.instantiate(k.assume(BALANCED), back),
        expanded(k, moved, (1 / TOKENS, dot(back, _A).summed(TOKEN))),
    ]
    nothing = k.generalise(Z, k.arithmetic(known, NO_PUSH.body))
    return k.generalise(VectorLetter(STATE), k.discharge(at("a"), k.supply(rests(k), nothing)))


def _centred(k: Kernel, *vectors: Expression) -> list[Proved]:
    """``v^T abar = 0`` for the vectors given."""
    zero = k.assume(BALANCED)
    return [
        k.arithmetic(
            [k.instantiate(zero, each), expanded(k, dot(each, _CENTRE), (1 / TOKENS, dot(each, _A).summed(TOKEN)))],
            sp.Eq(Tensor(dot(each, _CENTRE)), 0, evaluate=False),
        )
        for each in vectors
    ]


def small_mean(k: Kernel, eps: sp.Expr = RADIUS) -> Proved:
    """``|xbar|^2 <= eps``: the mean of ``x_i - a_i``."""
    gap = _X - _A
    middle = _MEAN - _CENTRE
    apart = gap - middle
    each = k.instantiate(k.assume(near("a", eps)), TOKEN)
    bound = one() * eps
    level = k.arithmetic([each, k.factors(bound)], sp.Le(Tensor(dot(gap, gap)), Tensor(bound), evaluate=False))
    known = [
        k.summed(k.generalise(TOKEN, level)),
        expanded(k, bound.summed(TOKEN), (TOKENS * eps,)),
        k.square(apart, TOKEN),
        expanded(k, dot(apart, apart).summed(TOKEN), (1, dot(gap, gap).summed(TOKEN)), (-TOKENS, dot(middle, middle))),
        expanded(k, dot(middle, middle), (1, dot(_MEAN, _MEAN)), (-2, dot(_MEAN, _CENTRE)), (1, dot(_CENTRE, _CENTRE))),
        *_centred(k, _MEAN, _CENTRE),
    ]
    found = k.arithmetic(known, sp.Le(Tensor(dot(_MEAN, _MEAN)), eps, evaluate=False))
    defined = [each for each in found.hypotheses if isinstance(relation_of(each), sp.Ne)]
    return k.supply(found, *(k.arithmetic([norm_of_values(k)], each) for each in defined))


def two_tokens(k: Kernel) -> Proved:
    """``x_i^T xbar = |xbar|^2`` for two tokens."""
    two = k.given(sp.Eq(n, 2))
    some = k.instantiate(k.pair(two), TOKEN)
    partner = vector("x", some.proposition.letter)
    both = k.assume(some.proposition.body)
    known = [
        *(k.instantiate(both, each) for each in (_X, partner, _TOTAL)),
        *(expanded(k, dot(each, each), (1,)) for each in (_X, partner)),
        expanded(k, dot(_X, _MEAN), (1 / TOKENS, dot(_X, _TOTAL))),
        expanded(k, dot(_MEAN, _MEAN), (1 / TOKENS**2, dot(_TOTAL, _TOTAL))),
        two,
    ]
    equal = sp.Eq(Tensor(dot(_X, _MEAN)), Tensor(dot(_MEAN, _MEAN)), evaluate=False)
    return k.exists_elimination(some, k.arithmetic(known, equal))


def tilt_of_mean(k: Kernel, eps: sp.Expr = RADIUS) -> Proved:
    """``beta^2 <= 4 eps |xbar|^2`` with ``beta = a_i^T xbar``."""
    gap = _X - _A
    size, beta = Tensor(dot(_MEAN, _MEAN)), Tensor(dot(_A, _MEAN))
    known = [
        two_tokens(k),
        small_mean(k, eps),
        k.instantiate(k.assume(near("a", eps)), TOKEN),
        k.textbook(EUCLIDEAN, y=gap, z=_MEAN),
        expanded(k, dot(gap, _MEAN), (1, dot(_X, _MEAN)), (-1, dot(_A, _MEAN))),
        k.square(_MEAN),
    ]
    x, b, bound = sp.symbols("s b r", real=True)
    apart = k.arithmetic(known, sp.And(sp.Le((size - beta) ** 2, eps * size), size <= eps, size >= 0))
    hypotheses = (sp.Le((x - b) ** 2, bound * x), x <= bound, x >= 0)
    lemma = k.lemma(hypotheses, sp.Le(b**2, 4 * bound * x), x, b, bound)
    defined = k.arithmetic([norm_of_values(k)], sp.Gt(eps, 0))
    return _at(k, lemma, (size, beta, eps), apart, defined)


def norm_of_values(k: Kernel) -> Proved:
    """``|V| >= 0``."""
    found = k.textbook(OPERATOR_NORM, A=V, z=_A)
    return k.part(found, found.proposition.parts[1])


def defined(k: Kernel, value: sp.Expr) -> list[Proved]:
    """Where a number made of the depth and of the norm of V has a value."""
    return [k.arithmetic([norm_of_values(k)], each) for each in where_defined(value)]


def _at(k: Kernel, lemma: Proved, values: tuple[sp.Expr, ...], *known: Proved) -> Proved:
    """A lemma about numbers, at quantities; what is known has its hypotheses."""
    for value in values:
        lemma = k.instantiate(lemma, value, *known)
    parts = [k.arithmetic(known, each) for each in conjuncts(lemma.proposition.left)]
    return k.modus_ponens(lemma, k.conjunction(*parts))


def _form_bound(k: Kernel) -> Proved:
    """``xbar^T V xbar <= -c |z|^2 / 2 + (2 N^2/c + N) beta^2`` with ``z = xbar - beta a_i``, ``N = |V|``."""
    across = _MEAN - dot(_A, _MEAN) * _A
    beta, size = Tensor(dot(_A, _MEAN)), Tensor(dot(across, across))
    mixed, own = dot(across, _A, _V), dot(_A, _A, _V)
    moved = _A.applied(_V)
    bounded = k.textbook(OPERATOR_NORM, A=V, z=_A)
    unit = k.instantiate(k.assume(UNIT), TOKEN)
    level = k.arithmetic(
        [unit, expanded(k, dot(_A, across), (1, dot(_A, _MEAN)), (-1, dot(_A, _MEAN), dot(_A, _A)))],
        sp.Eq(Tensor(dot(_A, across)), 0, evaluate=False),
    )
    below = k.modus_ponens(k.instantiate(k.instantiate(k.assume(BELOW), TOKEN), across), level)
    sides = [
        k.textbook(EUCLIDEAN, y=across, z=moved),
        k.textbook(EUCLIDEAN, y=_A, z=moved),
        expanded(k, dot(across, moved), (1, mixed)),
        expanded(k, dot(_A, moved), (1, own)),
        k.part(bounded, bounded.proposition.parts[0]),
        k.part(bounded, bounded.proposition.parts[1]),
        unit,
        k.square(across),
    ]
    small = k.arithmetic(sides, sp.And(Tensor(mixed) ** 2 <= _NORM**2 * size, Tensor(own) <= _NORM))
    b, y, s, norm = sp.symbols("b y s N", real=True)
    hypotheses = (s >= 0, norm >= 0, sp.Le(y**2, norm**2 * s))
    lemma = k.lemma(hypotheses, 2 * b * y <= DEPTH * s / 2 + 2 * norm**2 * b**2 / DEPTH, b, y, s, norm)
    cross = _at(k, lemma, (beta, Tensor(mixed), size, _NORM), small, sides[-1], sides[5])
    split = expanded(
        k,
        dot(_MEAN, _MEAN, _V),
        (1, dot(across, across, _V)),
        (2, dot(_A, _MEAN), mixed),
        (1, dot(_A, _MEAN), dot(_A, _MEAN), own),
        premises=(k.given(Symmetric(V)),),
    )
    whole = sp.Le(
        Tensor(dot(_MEAN, _MEAN, _V)), -DEPTH * size / 2 + (2 * _NORM**2 / DEPTH + _NORM) * beta**2, evaluate=False
    )
    return k.arithmetic([below, cross, split, small], whole)


def tilted_form(k: Kernel, parts: int = 1) -> Proved:
    """``xbar^T V xbar <= -(1 - 1/m) c |xbar|^2 / 2``, where ``|x_i - a_i|^2 <= eps/m``."""
    across = _MEAN - dot(_A, _MEAN) * _A
    beta, size = Tensor(dot(_A, _MEAN)), Tensor(dot(_MEAN, _MEAN))
    length = expanded(
        k,
        dot(across, across),
        (1, dot(_MEAN, _MEAN)),
        (-2, dot(_A, _MEAN), dot(_A, _MEAN)),
        (1, dot(_A, _MEAN), dot(_A, _MEAN), dot(_A, _A)),
    )
    form, tilt = Tensor(dot(_MEAN, _MEAN, _V)), tilt_of_mean(k, RADIUS / parts)
    known = [_form_bound(k), length, k.instantiate(k.assume(UNIT), TOKEN), tilt, norm_of_values(k), k.square(_MEAN)]
    tilted = sp.Le(form, -DEPTH * size / 2 + (DEPTH / 2 + 2 * _NORM**2 / DEPTH + _NORM) * beta**2, evaluate=False)
    first = k.arithmetic(known[:3], tilted)
    f, x, b, norm = sp.symbols("f s b N", real=True)
    eps = DEPTH**2 / (4 * (DEPTH + 2 * norm) ** 2) / parts
    hypotheses = (
        norm >= 0,
        x >= 0,
        sp.Le(b**2, 4 * eps * x),
        sp.Le(f, -DEPTH * x / 2 + (DEPTH / 2 + 2 * norm**2 / DEPTH + norm) * b**2),
    )
    left = sp.Rational(parts - 1, 2 * parts)
    lemma = k.lemma(hypotheses, sp.Le(f, -left * DEPTH * x), f, x, b, norm)
    return _at(k, lemma, (form, size, beta, _NORM), first, *known[3:])


def _minimum(k: Kernel) -> Proved:
    """``W(x) >= W(a) = 0`` near a."""
    below = tilted_form(k)
    at_place = dot(_CENTRE, _CENTRE, _V) * sp.Rational(-1, 2)
    back = _CENTRE.applied((Letter("V", True),))
    zero = [
        *_centred(k, back),
        expanded(k, at_place, (sp.Rational(-1, 2), dot(back, _CENTRE))),
        expanded(k, _W, (sp.Rational(-1, 2), dot(_MEAN, _MEAN, _V))),
    ]
    least = k.arithmetic([below, *zero], sp.Ge(Tensor(_W), Tensor(at_place), evaluate=False))
    return k.generalise(VectorLetter(STATE), k.discharge(near("a", RADIUS), least))


def antipodal_stability(k: Kernel) -> Proved:
    """A proof of :data:`STABLE`."""
    state, short = VectorLetter(STATE), k.given(alpha * _NORM < 1)
    rho = (1 - alpha * _NORM) ** 2
    objects = {"v": _W, "c": LEAST, "C": MOST, "rho": rho, "a": PLACE}
    apart = k.modus_ponens(apart_from_zero(k, one() / TOKENS), short)
    wanted = STABLE_MINIMA.of(**objects)[0][-1]
    found = k.textbook(
        STABLE_MINIMA,
        k.arithmetic([short], LEAST > 0),
        k.arithmetic([short], rho > 0),
        *(k.generalise(state, each) for each in (falls(k), slope(k), apart)),
        k.assume(UNIT),
        _rests_there(k),
        k.witness(wanted, RADIUS, _minimum(k), k.arithmetic([norm_of_values(k)], sp.Gt(RADIUS, 0, evaluate=False))),
        **objects,
    )
    found = k.exists_elimination(k.assume(NEGATIVE), found)
    return k.generalise(PLACE, found, STABLE.guard)
