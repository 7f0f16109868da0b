"""By how much ``W = -xbar^T V xbar / 2`` falls in one step of the Oja map.

``Delta W <= -(1/2n) sum_i |Delta x_i|^2 ((1 + r_i)/alpha - L)`` with ``L = max(0, -lambda_d)``; for ``c = alpha |V| < 1`` each
summand is at least ``2 alpha (1 + c)^{-2} |P_i u|^2``, because ``|Delta x_i|^2 = 2 (r_i - a_i)/r_i`` and ``alpha^2 |P_i u|^2 =
r_i^2 - a_i^2`` with ``a_i = x_i^T y_i``, and ``1 - c <= r_i <= 1 + c``.  The paper has ``1 - 2c`` in place of ``(1 + c)^{-2}``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.symbols import V, alpha, d, lam
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every, moves_by, same_vectors
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.step_lengths import SHORT_STEP, apart_from_zero, not_too_long
from eigentoken.proofs.steps.theorems import OPERATOR_NORM, RAYLEIGH_BELOW
from eigentoken.theory.calculus import SLOT, TOKENS, Expression, Index, Norm, dot, factor, matrix, one, vector
from eigentoken.theory.calculus import instance as member
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import Conjunction, Implication, proposition, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.linearization.linearize import linearize

__all__ = ["FALL", "RATE", "fall", "increments", "plain_fall", "rate"]

_X, _U, _LENGTH = vector("x", TOKEN), influence(), factor(Norm("r", (TOKEN,)))
_STEP = factor(Norm("r", (TOKEN,)), -1) * RAW - _X
#: ``|Delta x_i|^2``, and with the weight ``r_i``.
_SIZE = dot(_STEP, _STEP)
_WEIGHTED = _LENGTH * _SIZE
#: ``|P_i u|^2``.
_TANGENT = _U - dot(_X, _U) * _X
_ACROSS = dot(_TANGENT, _TANGENT)
_LOW = sp.Max(0, -lam(V, d))
_PLAIN, _ALL = Tensor(_SIZE.summed(TOKEN)), Tensor(_WEIGHTED.summed(TOKEN))
_W = Rate(expression_of(oja_potential))
_C = alpha * SpectralNorm(V)
#: ``f_i = Delta x_i``, and ``g_i = P_i u``.
F, G = VectorLetter("f"), VectorLetter("g")
MOVES = proposition(moves_by(vector(F.name, TOKEN)))
TANGENT = proposition(same_vectors(vector(G.name, TOKEN), _TANGENT, TOKEN))


def _squares(name: VectorLetter) -> Expression:
    """``|f_i|^2``."""
    return dot(vector(name.name, TOKEN), vector(name.name, TOKEN))


def _fall(plain: Tensor, weighted: Tensor) -> sp.Le:
    """``Delta W <= -(1/2n) ((1/alpha - L) sum_i |Delta x_i|^2 + (1/alpha) sum_i r_i |Delta x_i|^2)``."""
    return sp.Le(_W, -((plain + weighted) / alpha - _LOW * plain) / (2 * TOKENS), evaluate=False)


def _rate(pushes: Tensor, factor_: sp.Expr) -> sp.Le:
    """``Delta W <= -alpha c (1/n) sum_i |P_i u|^2``."""
    return sp.Le(_W, -alpha * factor_ * pushes / TOKENS, evaluate=False)


_BOTH = tuple(each.summed(TOKEN) for each in (_squares(F), _LENGTH * _squares(F)))
FALL = for_every(Implication(MOVES, proposition(_fall(*map(Tensor, _BOTH)))), F)
_PUSHES = Tensor(_squares(G).summed(TOKEN))
#: With ``(1 + c)^{-2}``, and with the smaller ``1 - 2c`` of the paper.
_RATES = Conjunction(tuple(proposition(_rate(_PUSHES, each)) for each in ((1 + _C) ** -2, 1 - 2 * _C)))
RATE = Implication(proposition(SHORT_STEP), for_every(Implication(TANGENT, _RATES), G))


def increments(kernel: Kernel) -> tuple[list[Proved], Expression]:
    """The increment of W by the steps of the tokens, for symbolic n and d; and the step of the mean."""
    i, j = Index("token", "i"), Index("token", "j")
    moved = linearize("oja-map", tangent=False).step - vector("x", SLOT)
    step, other = member(moved, i), member(moved, j)
    mean, half = step.summed(i) / TOKENS, sp.Rational(1, 2)
    gain = dot((vector("x", j).summed(j) / TOKENS).applied(matrix("V")), mean)
    form, size = dot(mean, mean, matrix("V")), dot(mean, mean)
    pushed = dot(vector("y", i) - vector("x", i), step).summed(i)
    plain, weighted = kernel.squared_speed(), kernel.squared_speed(weighted=True)
    spread = dot(step - other, step - other).summed(i, j)
    symmetric = kernel.given(Symmetric(V))
    rate = kernel.increment(expression_of(oja_potential))
    facts = [
        rate,
        kernel.reduction(relation_of(rate.proposition).rhs.expression, gain * -1 + form * -half, symmetric),
        kernel.total(gain * -1, form * -half),
        kernel.scaling(gain, -1),
        kernel.scaling(form, -half),
        kernel.reduction(gain * (alpha * TOKENS), pushed, symmetric),
        kernel.scaling(gain, alpha * TOKENS),
        kernel.reduction(pushed, (plain + weighted) * half),
        kernel.scaling(plain + weighted, half),
        kernel.total(plain, weighted),
        kernel.reduction(plain * (1 / TOKENS) + size * -1, spread * (half / TOKENS**2)),
        kernel.total(plain * (1 / TOKENS), size * -1),
        kernel.scaling(plain, 1 / TOKENS),
        kernel.scaling(size, -1),
        kernel.scaling(spread, half / TOKENS**2),
        kernel.square(step - other, i, j),
        kernel.square(step, i),
        kernel.square(mean),
        kernel.textbook(RAYLEIGH_BELOW, symmetric, A=V, z=mean),
    ]
    return facts, weighted


def plain_fall(kernel: Kernel, facts: list[Proved]) -> Proved:
    """The bound of the increment by the steps, written out."""
    return kernel.arithmetic(facts, _fall(_PLAIN, _ALL))


def fall(kernel: Kernel, proved: Proved) -> Proved:
    """A proof of :data:`FALL`: the same with a letter for the steps."""
    own = dot(vector(Z.name), _X)
    named, step = kernel.instantiate(kernel.instantiate(kernel.assume(MOVES), TOKEN), Z), kernel.increment(own)
    equal = sp.Eq(
        Tensor(dot(vector(Z.name), vector(F.name, TOKEN))), Tensor(dot(vector(Z.name), _STEP)), evaluate=False
    )
    members = at_every_token(kernel, kernel.arithmetic([named, step], equal), TOKEN, Z)
    written = [kernel.congruent(each, F.name, _STEP, TOKEN, members) for each in _BOTH]
    found = kernel.arithmetic([proved, *written], FALL.body.right)
    return kernel.generalise(F, kernel.discharge(MOVES, found))


def _summand(kernel: Kernel) -> Proved:
    """``(1 + c)^2 2 (r - a)/r ((1 + r)/alpha - L) >= 2 (r^2 - a^2)/alpha`` for ``1 - c <= r <= 1 + c``, ``a <= r``."""
    a, r, low, c, s = sp.symbols("a r l c s", real=True)
    given = (s > 0, r > 0, a <= r, a >= -r, c >= 0, c < 1, r >= 1 - c, r <= 1 + c, low >= 0, s * low <= c)
    bound = (1 + c) ** 2 * (2 * (r - a) / r) * ((1 + r) / s - low) >= 2 * (r**2 - a**2) / s
    return kernel.lemma(given, bound, a, r, low, c, s)


def rate(kernel: Kernel, proved: Proved) -> Proved:
    """A proof of :data:`RATE` from :func:`plain_fall`: each token by itself, then the sum."""
    short = kernel.assume(SHORT_STEP)
    positive = kernel.positive(_LENGTH)
    inverse = kernel.factors(factor(Norm("r", (TOKEN,)), -1))
    inverse = kernel.supply(inverse, kernel.arithmetic([positive], inverse.hypotheses[0]))
    own, height = Tensor(dot(_X, RAW)), dot(_X, _U)
    length, weights = Tensor(_LENGTH), one() / TOKENS
    made = [
        *(inverse, positive, expanded(kernel, dot(RAW, RAW), (1, _LENGTH, _LENGTH))),
        expanded(kernel, dot(RAW, RAW), (1,), (2 * alpha, height), (alpha**2, dot(_U, _U))),
        expanded(kernel, dot(_X, RAW), (1,), (alpha, height)),
        expanded(kernel, _ACROSS, (1, dot(_U, _U)), (-1, height, height)),
        kernel.square(_TANGENT),
    ]
    short_ = factor(Norm("r", (TOKEN,)), -1)
    step = expanded(kernel, _SIZE, (1, short_, short_, dot(RAW, RAW)), (-2, short_, dot(_X, RAW)), (1,))
    sizes = kernel.arithmetic(
        [step, *made, kernel.product(_LENGTH, _SIZE)],
        sp.And(
            sp.Eq(Tensor(_SIZE), 2 * (length - own) / length),
            sp.Eq(Tensor(_WEIGHTED), 2 * (length - own)),
            sp.Eq(alpha**2 * Tensor(_ACROSS), length**2 - own**2),
        ),
    )
    norm = kernel.supply(kernel.norm_of_symmetric(V), kernel.given(Symmetric(V)))
    several = kernel.integers([], sp.Ge(d, 1, evaluate=False))
    last = kernel.at(kernel.part(norm, norm.proposition.parts[1]), d, several)
    bounds = kernel.arithmetic(
        [
            *(last, short, positive, sizes, kernel.square(_TANGENT), made[2]),
            kernel.instantiate(not_too_long(kernel, weights), TOKEN),
            kernel.instantiate(kernel.modus_ponens(apart_from_zero(kernel, weights), short), TOKEN),
        ],
        sp.And(
            length <= 1 + _C, length >= 1 - _C, own <= length, own >= -length, alpha * _LOW <= _C, _C >= 0, _LOW >= 0
        ),
    )
    lemma = _summand(kernel)
    for value in (own, length, _LOW, _C, alpha):
        lemma = kernel.instantiate(lemma, value)
    asked = kernel.arithmetic([bounds, positive, short], lemma.proposition.left)
    wide = (1 + _C) ** 2
    left = wide * (1 / alpha - _LOW) * Tensor(_SIZE) + wide / alpha * Tensor(_WEIGHTED)
    each = kernel.arithmetic(
        [kernel.modus_ponens(lemma, asked), sizes, positive], sp.Ge(left, 2 * alpha * Tensor(_ACROSS), evaluate=False)
    )
    total = kernel.summed(kernel.generalise(TOKEN, each))
    sums = relation_of(total.proposition)
    known = [
        *(proved, total, _norm(kernel)),
        expanded(
            kernel,
            sums.lhs.expression,
            (wide * (1 / alpha - _LOW), _SIZE.summed(TOKEN)),
            (wide / alpha, _WEIGHTED.summed(TOKEN)),
        ),
        expanded(kernel, sums.rhs.expression, (2 * alpha, _ACROSS.summed(TOKEN))),
    ]
    whole = kernel.arithmetic(known, _rate(Tensor(_ACROSS.summed(TOKEN)), (1 + _C) ** -2))
    named = kernel.congruent(_squares(G).summed(TOKEN), G.name, _TANGENT, TOKEN, kernel.assume(TANGENT))
    better = kernel.arithmetic([whole, named], _RATES.parts[0])
    c, pushes, fallen = sp.symbols("c p w", real=True)
    given = (c >= 0, pushes >= 0, fallen <= -pushes / (1 + c) ** 2)
    lemma = kernel.lemma(given, fallen <= -pushes * (1 - 2 * c), c, pushes, fallen)
    for value in (_C, alpha * _PUSHES / TOKENS, _W):
        lemma = kernel.instantiate(lemma, value)
    squares = kernel.square(vector(G.name, TOKEN), TOKEN)
    asked = kernel.arithmetic([better, squares, _norm(kernel)], lemma.proposition.left)
    printed = kernel.arithmetic([kernel.modus_ponens(lemma, asked)], _RATES.parts[1])
    found = kernel.discharge(TANGENT, kernel.conjunction(better, printed))
    return kernel.discharge(SHORT_STEP, kernel.generalise(G, found))


def _norm(kernel: Kernel) -> Proved:
    """``|V| >= 0``."""
    bounded = kernel.textbook(OPERATOR_NORM, A=V, z=vector("z"))
    return kernel.part(bounded, bounded.proposition.parts[1])
