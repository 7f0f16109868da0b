"""PH-T1 in the kernel: the rate of a pair form is a sum over pairs of tokens of ``(e^a - e^b)(a - b)``, and positive weights.

With ``delta = x_i - x_j`` and ``c_m = delta^T W x_m`` the rate is ``2 sum_m (p_im - p_jm) c_m``; times ``Z_i Z_j`` it is the
sum over tokens k, l of the terms with ``a = s_ik + s_jl`` and ``b = s_il + s_jk``, for which ``a - b = c_k - c_l``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.energy_rates import at_time
from eigentoken.proofs.pham.softmax_sums import (
    FORM,
    IS_FORM,
    I,
    J,
    K,
    L,
    average,
    chebyshev,
    chebyshev_sum,
    chebyshev_terms,
    form_letter,
    known_form,
    normaliser,
    score,
    sums_of_equals,
    without_form,
)
from eigentoken.proofs.steps.flow_theorems import LASALLE, MONOTONE, TIME, later
from eigentoken.proofs.steps.theorems import RAYLEIGH_ABOVE, RAYLEIGH_BELOW
from eigentoken.theory.calculus import Expression, Index, dot, exponential, one, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Equivalence,
    ForAll,
    Proposition,
    proposition,
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import Claim, Diverges, Increases, When
from eigentoken.theory.language.conditions import (
    AllOf,
    AnyOf,
    NegativeDefinite,
    NotAllEqual,
    PositiveDefinite,
    Symmetric,
)
from eigentoken.theory.language.observables_attention import pair_form
from eigentoken.theory.language.terms import Eigenvalue, d, matrix

__all__ = ["CLAIMS", "SEPARATES", "proof"]

W = matrix("W")
QUOTIENT = W * matrix("B").inv()
U, Z = VectorLetter("u"), VectorLetter("z")
GAP = vector("x", I) - vector("x", J)
RATE = Rate(expression_of(pair_form))
#: The two sums of scores whose difference is c_k - c_l.
UP, DOWN = score(I, K) + score(J, L), score(I, L) + score(J, K)
SCALE = normaliser(I, -1) * normaliser(J, -1)
DEFINITE = AnyOf((PositiveDefinite(W), NegativeDefinite(W)))


def _pairs(body: Proposition, guard: Proposition = TRUE) -> ForAll:
    return ForAll(I, TRUE, ForAll(J, guard, body))


def _relation(kind: Any, left: Any, right: Any = 0) -> Proposition:
    return proposition(kind(left, sp.sympify(right), evaluate=False))


def _apart(first: Index, second: Index) -> Expression:
    """``c_k - c_l``."""
    return dot(GAP, vector("x", first) - vector("x", second), product("W"))


#: c_k = c_i for all tokens k.
ALL_EQUAL = ForAll(K, TRUE, _relation(sp.Eq, Tensor(_apart(K, I))))
EQUALITY = ForAll(FORM, known_form(Symmetric(FORM)), _pairs(Equivalence(_relation(sp.Eq, RATE), ALL_EQUAL)))
APART = _relation(sp.Gt, Tensor(dot(GAP, GAP)))
STRICT = ForAll(FORM, known_form(Symmetric(FORM)), _pairs(_relation(sp.Gt, RATE), APART))
#: u is the difference of the two tokens.
IS_GAP = ForAll(Z, TRUE, _relation(sp.Eq, Tensor(dot(vector("z"), vector("u"))), Tensor(dot(vector("z"), GAP))))
ALONG = Rate(dot(vector("u"), GAP, product("A")))
ANY_FORM = ForAll(FORM, IS_FORM, _pairs(ForAll(U, IS_GAP, _relation(sp.Ge, ALONG))))

#: A > 0, sym W definite of either sign, and two tokens that differ at the start.
SEPARATES = AllOf((PositiveDefinite(QUOTIENT), DEFINITE, NotAllEqual()))

CLAIMS: tuple[Claim, ...] = (
    Increases(pair_form),
    Formula(EQUALITY),
    When(DEFINITE, Formula(STRICT)),
    When(SEPARATES, Diverges()),
    Formula(ANY_FORM),
)


def _rate(kernel: Kernel) -> tuple[list[Proved], Proved]:
    """The rate as a positive multiple of the sum; what is known of the sum."""
    whole = chebyshev_terms(UP, DOWN).summed(K, L)
    rate = kernel.increment(expression_of(pair_form))
    reduced = kernel.reduction(relation_of(rate.proposition).rhs.expression, SCALE * whole, *form_letter(kernel))
    return [rate, reduced, kernel.product(SCALE, whole), kernel.positive(SCALE)], chebyshev_sum(kernel, UP, DOWN, K, L)


def _parts(kernel: Kernel, found: Proved) -> list[Proved]:
    return [kernel.part(found, each) for each in found.proposition.parts]


def _differs(kernel: Kernel) -> list[Proved]:
    """The gap of the scores of a term."""
    return [kernel.total(UP, -DOWN), kernel.scaling(DOWN, -1)]


def _equality(kernel: Kernel, facts: list[Proved], found: Proved) -> Proved:
    """The rate vanishes exactly where every term does."""
    term, row, column, _ = _parts(kernel, found)
    gap = Tensor(UP - DOWN)
    still = kernel.assume(sp.Eq(RATE, 0, evaluate=False))
    nothing = kernel.arithmetic([*facts, still, term, row, column], sp.Eq(Tensor(chebyshev_terms(UP, DOWN)), 0))
    up, down = exponential(UP), exponential(DOWN)
    exact = [
        kernel.product(up - down, UP - DOWN),
        kernel.total(up, -down),
        kernel.scaling(down, -1),
        kernel.exponential_of(UP),
        kernel.exponential_of(DOWN),
        *_differs(kernel),
    ]
    equal = kernel.arithmetic([*exact, nothing], sp.Eq(gap, 0))
    with_first = kernel.instantiate(kernel.generalise(L, equal), I)
    forth = kernel.discharge(still.proposition, kernel.generalise(K, with_first))
    both = [kernel.at(kernel.assume(ALL_EQUAL), each) for each in (K, L)]
    split = [kernel.total(_apart(K, I), -_apart(L, I)), kernel.scaling(_apart(L, I), -1)]
    given = kernel.arithmetic([*both, *split], sp.Eq(gap, 0))
    each = kernel.arithmetic(
        [exact[0], given, kernel.scaling(one(), 0)], sp.Eq(Tensor(chebyshev_terms(UP, DOWN)), Tensor(one() * 0))
    )
    rows = kernel.summed(kernel.generalise(L, each))
    total = kernel.summed(kernel.generalise(K, rows))
    back = kernel.arithmetic([*facts, total, kernel.scaling(one(), 0)], sp.Eq(RATE, 0, evaluate=False))
    return kernel.iff(forth, kernel.discharge(ALL_EQUAL, back))


def _strict(kernel: Kernel, facts: list[Proved], found: Proved) -> Proved:
    """For a definite W the term of the two tokens themselves is positive."""
    own_up, own_down = score(I, I) + score(J, J), score(I, J) + score(J, I)
    form = Tensor(dot(GAP, GAP, product("W")))
    apart = kernel.assume(APART)
    ways = []
    for word in (PositiveDefinite(W), NegativeDefinite(W)):
        signed = kernel.modus_ponens(kernel.as_form(word), kernel.assume(word))
        at_gap = kernel.instantiate(signed, GAP, apart)
        ways.append((word, kernel.arithmetic([at_gap], sp.Ne(form, 0))))
    moved = kernel.by_cases(kernel.assume(DEFINITE), *ways)
    own = chebyshev(kernel, own_up, own_down, strict=moved)
    _, row, column, _ = _parts(kernel, found)
    at_own = kernel.instantiate(kernel.instantiate(kernel.generalise(K, kernel.generalise(L, row)), I), J)
    at_row = kernel.instantiate(kernel.generalise(K, column), I)
    return kernel.arithmetic([*facts, own, at_own, at_row], sp.Gt(RATE, 0, evaluate=False))


def _unbounded(kernel: Kernel, facts: list[Proved], found: Proved, strict: Proved) -> Proved:
    """For ``A > 0`` the form of two tokens that differ stays above its start, so they stay apart: the state is unbounded."""
    form, size, state = expression_of(pair_form), dot(GAP, GAP), VectorLetter("x")
    falling = kernel.increment(-form)
    turned = [*facts, falling, kernel.scaling(relation_of(facts[0].proposition).rhs.expression, -1)]
    falls = kernel.arithmetic([*turned, _parts(kernel, found)[3]], sp.Le(Rate(-form), 0, evaluate=False))
    strictly = kernel.arithmetic([*turned, strict], sp.Lt(Rate(-form), 0, evaluate=False))
    rates = kernel.generalise(state, falls), kernel.generalise(state, strictly, APART)
    ends = kernel.textbook(LASALLE, *rates, v=-form, w=size)
    after = sp.Ge(TIME, 0, evaluate=False)
    stays = kernel.textbook(MONOTONE, kernel.generalise(TIME, at_time(kernel, falls), after), v=-form)
    symmetric = form_letter(kernel)[1]
    top = Eigenvalue(FORM, 1)
    positive = kernel.unfold(kernel.assume(PositiveDefinite(FORM)))
    order = kernel.at(kernel.at(kernel.eigenvalue_order(FORM), sp.Integer(1)), d)
    above = kernel.arithmetic([positive, order], top > 0)
    apart = kernel.assume(sp.Gt(later(Tensor(size), 0), 0, evaluate=False))
    least = at_time(kernel, kernel.textbook(RAYLEIGH_BELOW, symmetric, A=FORM, z=GAP), sp.Integer(0))
    start = later(Tensor(form), 0)
    begins = kernel.arithmetic([least, positive, apart], sp.Gt(start, 0, evaluate=False))
    vanishes = kernel.assume(ends.proposition.parts[1])
    room = kernel.arithmetic([above, begins], sp.Gt(start / top, 0, evaluate=False))
    late = kernel.instantiate(vanishes, start / top, kernel.arithmetic([above], sp.Ne(top, 0)), room)
    first = late.proposition.letter
    then = kernel.instantiate(
        kernel.assume(late.proposition.body), first, kernel.arithmetic([], sp.Ge(first, first, evaluate=False))
    )
    most = at_time(kernel, kernel.textbook(RAYLEIGH_ABOVE, symmetric, A=FORM, z=GAP), first)
    held = kernel.instantiate(stays, first, kernel.assume(late.proposition.guard))
    signs = [at_time(kernel, kernel.scaling(form, -1), time) for time in (first, sp.Integer(0))]
    absurd = kernel.exists_elimination(late, kernel.arithmetic([then, most, held, *signs, above, begins], False))
    grows = kernel.tautology([ends, kernel.discharge(vanishes.proposition, absurd)], Diverges())
    some = kernel.unfold(kernel.assume(NotAllEqual()))
    for binder in (some.proposition.body, some.proposition):
        one_of = some if binder is some.proposition else kernel.assume(binder)
        grows = kernel.exists_elimination(one_of, grows)
    return grows


def _any_form(kernel: Kernel, found: Proved) -> Proved:
    """Without symmetry: with the gap held fixed, the rate of ``u^T A (x_i - x_j)`` at ``u = x_i - x_j``."""
    gap, form = kernel.assume(IS_GAP), kernel.assume(IS_FORM)
    whole = chebyshev_terms(UP, DOWN).summed(K, L)

    def fixed(k: Any) -> Expression:
        return dot(vector("u"), vector("x", k), product("W"))

    def moving(k: Any) -> Expression:
        return dot(GAP, vector("x", k), product("W"))

    rate = kernel.increment(dot(vector("u"), GAP, product("A")))
    split = average(I, fixed) - average(J, fixed)
    equal = kernel.instantiate(gap, vector("x", K).applied(product("W")))
    weights = [exponential(score(token, K)) * normaliser(token, -1) for token in (I, J)]
    facts = [
        rate,
        kernel.reduction(relation_of(rate.proposition).rhs.expression, split, form),
        kernel.total(average(I, fixed), -average(J, fixed)),
        kernel.scaling(average(J, fixed), -1),
        *(sums_of_equals(kernel, equal, weight, K) for weight in weights),
        kernel.total(average(I, moving), -average(J, moving)),
        kernel.scaling(average(J, moving), -1),
        kernel.reduction((average(I, moving) - average(J, moving)) * 2, SCALE * whole),
        kernel.scaling(average(I, moving) - average(J, moving), 2),
        kernel.product(SCALE, whole),
        kernel.positive(SCALE),
        _parts(kernel, found)[3],
    ]
    at_gap = kernel.generalise(U, kernel.arithmetic(facts, sp.Ge(ALONG, 0, evaluate=False)), IS_GAP)
    return kernel.generalise(FORM, kernel.generalise(I, kernel.generalise(J, at_gap)), IS_FORM)


def _separated(kernel: Kernel, facts: list[Proved], found: Proved) -> Proved:
    """``Diverges`` under ``A > 0``, W definite and tokens that differ, without the letter A."""
    within = Kernel(kernel.system, (*kernel.conditions, proposition(SEPARATES)))
    grows = _unbounded(within, facts, found, _strict(within, facts, found))
    return without_form(within, grows, Symmetric(FORM), PositiveDefinite(FORM))


def proof(kernel: Kernel) -> Proved:
    """Monotone; where the rate vanishes; strictly for a definite W; for any A."""
    facts, found = _rate(kernel)
    rises = kernel.arithmetic([*facts, _parts(kernel, found)[3]], sp.Ge(RATE, 0, evaluate=False))
    symmetric = known_form(Symmetric(FORM))
    equality = kernel.generalise(I, kernel.generalise(J, _equality(kernel, facts, found)))
    apart = kernel.generalise(I, kernel.generalise(J, _strict(kernel, facts, found), APART))
    strict = kernel.generalise(FORM, apart, symmetric)
    unbounded = kernel.discharge(SEPARATES, _separated(kernel, facts, found))
    return kernel.conjunction(
        without_form(kernel, kernel.monotone(pair_form, rises), Symmetric(FORM)),
        kernel.generalise(FORM, equality, symmetric),
        kernel.discharge(DEFINITE, strict),
        unbounded,
        _any_form(kernel, found),
    )
