"""The energy of PH-T2 and PH-T3 in the kernel: it falls strictly at every state but zero.

``-E' = sum_i Q_i + (1/n) y^T W y`` with ``y = sum_i x_i`` and ``Q_i = (1/(2 n Z_i)) sum_kl (e^a - e^b)(a - b)``,
``a = x_i^T W x_k``, ``b = x_i^T W x_l``.
If it vanishes, y = 0 and for each i all ``x_i^T W x_k`` are one number, which is ``x_i^T W y / n = 0``; so
``x_i^T W x_i = 0`` and ``x_i = 0``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.pham.softmax_sums import (
    FORM,
    I,
    K,
    L,
    chebyshev_sum,
    chebyshev_terms,
    form_letter,
    nonnegative,
    normaliser,
    score,
)
from eigentoken.proofs.steps.flow_theorems import MONOTONE, TIME
from eigentoken.proofs.steps.theorems import EUCLIDEAN, RAYLEIGH_ABOVE, RAYLEIGH_BELOW
from eigentoken.theory.calculus import TOKENS, dot, exponential, one, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import proposition, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import PositiveDefinite
from eigentoken.theory.language.observables_attention import token_energy
from eigentoken.theory.language.terms import Eigenvalue, d, matrix

__all__ = [
    "ENERGY",
    "NOT_ZERO",
    "RATE",
    "SIZE",
    "at_time",
    "bounded_above",
    "bounded_below",
    "falls",
    "own_size",
    "stays_below",
]

STATE = VectorLetter("x")
ENERGY = expression_of(token_energy)
RATE = Rate(ENERGY)
#: ``sum_i |x_i|^2``.
SIZE = dot(vector("x", I), vector("x", I)).summed(I)
NOT_ZERO = proposition(sp.Gt(Tensor(SIZE), 0, evaluate=False))
TOTAL = vector("x", K).summed(K)
WEIGHT = normaliser(I, -1) / (2 * TOKENS)
SPREAD = chebyshev_terms(score(I, K), score(I, L)).summed(K, L)


def at_time(kernel: Kernel, proved: Proved, time: sp.Expr = TIME) -> Proved:
    """What holds at every state, at a time of the trajectory."""
    return kernel.instantiate(kernel.generalise(STATE, proved), AtTime(sp.sympify(time)))


def own_size(kernel: Kernel) -> Proved:
    """``sum_i |x_i|^2 >= |x_i|^2``."""
    return kernel.summand(kernel.generalise(I, kernel.square(vector("x", I))), I)


def _rate(kernel: Kernel) -> list[Proved]:
    """``E' = -sum_i Q_i - (1/n) y^T W y``; each Q_i is not negative, and at most their sum."""
    rate = kernel.increment(ENERGY)
    part, mean = (WEIGHT * SPREAD).summed(I), dot(TOTAL, TOTAL, product("W"))
    claimed = -part + mean * (-1 / TOKENS)
    terms = kernel.conjunction(chebyshev_sum(kernel, score(I, K), score(I, L), K, L))
    whole = kernel.part(terms, terms.proposition.parts[0].parts[3])
    facts = [kernel.product(WEIGHT, SPREAD), kernel.positive(WEIGHT)]
    each = kernel.arithmetic([*facts, whole], sp.Ge(Tensor(WEIGHT * SPREAD), 0, evaluate=False))
    every = kernel.generalise(I, each)
    return [
        rate,
        kernel.reduction(relation_of(rate.proposition).rhs.expression, claimed, *form_letter(kernel)),
        kernel.total(-part, mean * (-1 / TOKENS)),
        kernel.scaling(part, -1),
        kernel.scaling(mean, -1 / TOKENS),
        nonnegative(kernel, kernel.summed(every)),
        kernel.summand(every, I),
        *facts,
        *(kernel.part(terms, each) for each in terms.proposition.parts[0].parts),
    ]


def _form_at(kernel: Kernel, at: object) -> Proved:
    """``|z|^2 > 0 => z^T W z > 0`` at a vector."""
    word = PositiveDefinite(matrix("W"))
    signed = kernel.modus_ponens(kernel.as_form(word), kernel.given(word))
    size = sp.Gt(Tensor(dot(at, at)), 0, evaluate=False)  # type: ignore[arg-type]
    return kernel.discharge(size, kernel.instantiate(signed, at, kernel.assume(size)))


def falls(kernel: Kernel) -> tuple[Proved, Proved]:
    """``E' <= 0``, and ``E' < 0`` where some token is not zero; for a letter A with ``A B = W`` and ``A = A^T``."""
    facts = _rate(kernel)
    flat = kernel.textbook(EUCLIDEAN, y=TOTAL.applied(product("W^T")), z=TOTAL)
    mean = [kernel.square(TOTAL), _form_at(kernel, TOTAL), flat]
    still = kernel.assume(sp.Ge(RATE, 0, evaluate=False))
    no_total = kernel.textbook(EUCLIDEAN, y=vector("x", I).applied(product("W^T")), z=TOTAL)
    zero = [no_total, kernel.scaling(one(), 0)]
    own = score(I, I)
    gap = score(I, K) - score(I, L)
    up, down = exponential(score(I, K)), exponential(score(I, L))
    exact = [
        kernel.product(up - down, gap),
        kernel.total(up, -down),
        kernel.scaling(down, -1),
        kernel.exponential_of(score(I, K)),
        kernel.exponential_of(score(I, L)),
        kernel.total(score(I, K), -score(I, L)),
        kernel.scaling(score(I, L), -1),
    ]
    centred = kernel.arithmetic([*facts, *mean, still], sp.Eq(Tensor(dot(TOTAL, TOTAL)), 0))
    term = kernel.arithmetic([*facts, *mean, still], sp.Eq(Tensor(chebyshev_terms(score(I, K), score(I, L))), 0))
    equal = kernel.arithmetic([*exact, term], sp.Eq(Tensor(score(I, K)), Tensor(score(I, L))))
    with_own = kernel.instantiate(kernel.generalise(L, equal), I)
    summed = kernel.summed(kernel.generalise(K, with_own))
    row = kernel.arithmetic(
        [summed, kernel.scaling(own, TOKENS), *zero, centred, kernel.positive(one() * TOKENS)],
        sp.Eq(Tensor(own), 0),
    )
    each, size = kernel.square(vector("x", I)), Tensor(dot(vector("x", I), vector("x", I)))
    at_token = [row, _form_at(kernel, vector("x", I)), each, kernel.scaling(one(), 0)]
    here = kernel.arithmetic(at_token, sp.Eq(size, Tensor(one() * 0)))
    nothing = kernel.summed(kernel.generalise(I, here))
    absurd = kernel.arithmetic([nothing, kernel.scaling(one(), 0), kernel.assume(NOT_ZERO)], False)
    strictly = kernel.arithmetic([kernel.discharge(still.proposition, absurd)], sp.Lt(RATE, 0, evaluate=False))
    return kernel.arithmetic([*facts, *mean], sp.Le(RATE, 0, evaluate=False)), strictly


def _bounded(kernel: Kernel, theorem: Textbook, relation: type, index: object) -> Proved:
    """``E`` against ``-1/2 lambda(A) sum_i |x_i|^2``, by Rayleigh's principle for each token."""
    here = vector("x", I)
    each = kernel.textbook(theorem, form_letter(kernel)[1], A=FORM, z=here)
    whole, value = dot(here, here, product("A")).summed(I), Eigenvalue(FORM, index)
    summed = kernel.summed(kernel.generalise(I, each))
    half = sp.Rational(-1, 2)
    facts = [summed, kernel.scaling(whole, half), kernel.scaling(SIZE, value)]
    return kernel.arithmetic(facts, relation(Tensor(ENERGY), half * value * Tensor(SIZE), evaluate=False))


def bounded_below(kernel: Kernel) -> Proved:
    """``E >= -1/2 lambda_1(A) sum_i |x_i|^2``."""
    return _bounded(kernel, RAYLEIGH_ABOVE, sp.Ge, 1)


def bounded_above(kernel: Kernel) -> Proved:
    """``E <= -1/2 lambda_d(A) sum_i |x_i|^2``."""
    return _bounded(kernel, RAYLEIGH_BELOW, sp.Le, d)


def stays_below(kernel: Kernel, falling: Proved) -> Proved:
    """``E(t) <= E(0)`` for every ``t >= 0``, from ``E' <= 0`` at every state."""
    after = sp.Ge(TIME, 0, evaluate=False)
    rate = kernel.generalise(TIME, at_time(kernel, falling), after)
    return kernel.textbook(MONOTONE, rate, v=ENERGY)
