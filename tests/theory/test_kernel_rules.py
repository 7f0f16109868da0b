"""Each rule of the kernel: what it gives, and what it refuses."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from eigentoken.theory.calculus import Letter, Norm, dot, factor, vector
from eigentoken.theory.kernel import books, dynamics, forms, instances, kernel, logic, structure, sums, words
from eigentoken.theory.kernel.kernel import accepted
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    ForAll,
    Implication,
    Negation,
    Proposition,
    proposition,
    same,
)
from eigentoken.theory.kernel.proved import ALL_SIZES, Proved, Refused
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import (
    ForwardInvariant,
)
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    InHemisphere,
    NegativeDefinite,
    Nonsingular,
    PositiveDefinite,
    Symmetric,
)
from eigentoken.theory.language.observables_attention import pair_form, token_energy
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.terms import (
    Eigenvalue,
    alpha,
    d,
    k,
    matrix,
    n,
)
from eigentoken.theory.systems.catalogue import system
from tests.theory import (
    kernel_rules_of_context,
    kernel_rules_of_dynamics,
    kernel_rules_of_logic,
    kernel_rules_of_matrices,
    kernel_rules_of_order,
    kernel_rules_of_places,
    kernel_rules_of_structure,
    kernel_rules_of_sums,
)
from tests.theory.kernel_rules_objects import (
    FLOW,
    OJA,
    V_FORM,
    W_FORM,
    P,
    Q,
    R,
    V,
    W,
    assume,
    claim_of,
    eq,
    every,
    ge,
    i,
    some,
    spectrum,
    t,
    x,
    y,
)

GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {}
REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {}


for _room in (
    kernel_rules_of_logic,
    kernel_rules_of_structure,
    kernel_rules_of_dynamics,
    kernel_rules_of_sums,
    kernel_rules_of_matrices,
    kernel_rules_of_order,
    kernel_rules_of_places,
):
    GIVES |= _room.GIVES
    REFUSES |= _room.REFUSES
for _rule, _uses in (*kernel_rules_of_matrices.FURTHER.items(), *kernel_rules_of_context.FURTHER.items()):
    assert not set(REFUSES[_rule]) & set(_uses), f"{_rule}: two uses have one name"
    REFUSES[_rule] = REFUSES[_rule] | _uses


@pytest.mark.parametrize("rule", GIVES)
def test_a_rule_gives_what_it_should(rule: str) -> None:
    use, expected = GIVES[rule]
    proved = use()
    assert same(proved.proposition, proposition(expected))
    assert any(each.rule == rule for each in proved.tree())
    assert proved.sizes == ALL_SIZES


@pytest.mark.parametrize(("rule", "what"), [(rule, what) for rule, uses in REFUSES.items() for what in uses])
def test_a_rule_refuses(rule: str, what: str) -> None:
    use, words_ = REFUSES[rule][what]
    with pytest.raises((Refused, TypeError, ValueError), match=words_):
        use()


def test_a_matrix_that_is_a_multiple_of_another_is_written_in_it() -> None:
    found = structure.reduction(W_FORM, V_FORM * x, None, assume(eq(W, x * V)))
    assert same(found.proposition, claim_of(eq(Tensor(W_FORM), Tensor(V_FORM * x))))
    assert found.hypotheses


def test_hypotheses_are_kept_and_dropped_as_they_should() -> None:
    assert logic.discharge(P, kernel.conjunction(assume(P), assume(Q))).hypotheses == (Q,)
    assert logic.discharge(Conjunction((P, Q)), kernel.conjunction(assume(P), assume(Q))).hypotheses == ()
    assert kernel.conjunction(assume(Conjunction((P, Q)))).hypotheses == (P, Q)
    given = kernel.modus_ponens(assume(Implication(R, P)), assume(R))
    assert set(logic.supply(kernel.conjunction(assume(P), assume(Q)), given).hypotheses) == {
        Q,
        R,
        Implication(R, P),
    }
    assert logic.generalise(x, assume(x > 1), x > 1).hypotheses == ()
    assert set(spectrum(index=k).hypotheses) == {P, claim_of(k <= d), claim_of(1 + alpha * Eigenvalue(V, k) > 0)}
    assert kernel.conjunction(assume(P), assume(Q, OJA)).system == OJA


def test_an_observable_with_a_letter_of_its_own_keeps_its_definition() -> None:
    tokens = system("token-flow")
    falls = dynamics.monotone(token_energy, books.argued(Rate(expression_of(token_energy)) <= 0, "so", tokens))
    quotient = eq(matrix("A") * matrix("B"), matrix("W"))
    assert {claim_of(quotient), claim_of(Nonsingular(matrix("B")))} <= set(falls.hypotheses)
    rises = dynamics.monotone(pair_form, books.argued(ge(Rate(expression_of(pair_form)), 0), "so", tokens))
    assert claim_of(ge(n, 2)) in rises.hypotheses


def test_an_exact_matrix_has_a_word_or_its_negation() -> None:
    turn = sp.ImmutableMatrix([[1, 2], [-2, 1]])
    saddle = sp.ImmutableMatrix([[1, sp.sqrt(3)], [sp.sqrt(3), 1]])
    not_symmetric = instances.exact_matrix(Symmetric(turn)).proposition
    assert same(not_symmetric, Negation(Atom(Symmetric(turn))))
    assert same(instances.exact_matrix(Symmetric(saddle)).proposition, Atom(Symmetric(saddle)))
    for word in (PositiveDefinite(saddle), NegativeDefinite(saddle)):
        assert same(instances.exact_matrix(word).proposition, Negation(Atom(word)))
    product = eq(sp.MatMul(turn, turn, evaluate=False), sp.ImmutableMatrix(turn * turn))
    assert same(instances.exact_matrix(product).proposition, claim_of(product))
    wrong = eq(sp.MatMul(turn, turn, evaluate=False), turn)
    assert same(instances.exact_matrix(wrong).proposition, Negation(claim_of(wrong)))


def test_nonsingular_says_that_nothing_is_sent_to_zero() -> None:
    z = vector("z")
    image = sp.Gt(Tensor(dot(z.applied((Letter("V"),)), z.applied((Letter("V"),)))), 0, evaluate=False)
    guard = sp.Gt(Tensor(dot(z, z)), 0, evaluate=False)
    found = forms.as_form(Nonsingular(V)).proposition
    assert same(found, Equivalence(Atom(Nonsingular(V)), every(VectorLetter("z"), image, guard)))


def test_a_half_space_is_that_of_a_simple_top_eigenvalue() -> None:
    found = words.half_space(ForwardInvariant(Hemisphere(V)), FLOW)
    assert found.hypotheses == (R,)
    assert isinstance(found.proposition.right, ForAll)
    other = words.half_space(InHemisphere(V))
    assert not same(other.proposition.right, words.half_space(InHemisphere(V, left=True)).proposition.right)


def test_quotients_and_inverses_that_are_known_to_exist_are_values() -> None:
    taken = logic.instantiate(assume(every(x, x**2 > -1)), 1 / y, assume(sp.Ne(y, 0)))
    assert claim_of(sp.Ne(y, 0)) in taken.hypotheses
    inverse = logic.instantiate(assume(every(V, Symmetric(V))), W.inv(), assume(Nonsingular(W)))
    assert same(inverse.proposition, Atom(Symmetric(W.inv())))


def test_a_theorem_about_matrices_that_do_not_move_is_not_used_where_they_do() -> None:
    found = books.textbook(kernel_rules_of_matrices.AUTONOMOUS, (), FLOW, X=W)
    assert accepted(found, (), (found.proposition,), FLOW).is_holds
    assert accepted(found, (claim_of(BoundedInTime("V")),), (found.proposition,), FLOW).is_fails


def test_a_family_that_is_not_the_state_is_replaced_beside_norms() -> None:
    length, family = factor(Norm("r", (i,))), vector("w", i)
    given = kernel_rules_of_sums.consensus("w")
    found = sums.congruent((length * dot(family, family)).summed(i), "w", vector("b"), i, given)
    expected = (length * dot(vector("b"), vector("b"))).summed(i)
    assert found.proposition.word.relation.rhs == Tensor(expected)


def test_a_quantity_is_no_function_of_the_state_where_a_matrix_moves() -> None:
    found = kernel_rules_of_sums.GIVES["same_state"][0]()
    given = found.hypotheses
    assert accepted(found, given, [found.proposition], found.system).is_holds
    moving = (*given, claim_of(BoundedInTime("V")))
    assert "depends on time" in accepted(found, moving, [found.proposition], found.system).reason


def test_a_bound_letter_is_renamed_before_it_captures() -> None:
    taken = logic.instantiate(assume(every(x, some(y, y > x))), y)
    assert same(taken.proposition, some(t, t > y))
    assert not same(taken.proposition, some(y, sp.Gt(y, y, evaluate=False)))
    kept = logic.rewrite(assume(eq(x, 1)), assume(every(x, x > y)))
    assert same(kept.proposition, every(x, x > y))
    into = logic.rewrite(assume(eq(y, x)), assume(every(x, x**2 + y > 0)))
    assert same(into.proposition, every(x, x**2 + y > 0))


def test_words_print_and_carry_nothing() -> None:
    told = assume(P).said("V is symmetric")
    assert (told.proposition, told.hypotheses, told.caption) == (P, (P,), "V is symmetric")


def test_the_truth_table_is_read_until_it_is_decided() -> None:
    """Forty parts and a chain of forty implications: rows that are decided are not split further."""
    parts = [claim_of(x > each) for each in range(40)]
    assert logic.tautology([assume(each) for each in parts], Conjunction(tuple(parts))).rule == "tautology"
    chain = [Implication(one, other) for one, other in itertools.pairwise(parts)]
    assert logic.tautology(map(assume, chain), Implication(parts[0], parts[-1])).rule == "tautology"
    with pytest.raises(Refused, match="connectives"):
        logic.tautology(map(assume, chain[1:]), Implication(parts[0], parts[-1]))


def test_the_truth_table_agrees_with_every_row() -> None:
    """Random formulas in four letters, against all sixteen rows by another reading of the connectives."""
    letters = [claim_of(x > each) for each in range(4)]
    draw = random.Random(7)
    told = {True: 0, False: 0}
    for _ in range(300):
        said, other = (_formula(draw, letters, 4) for _ in range(2))
        rows = [dict(zip(letters, row, strict=True)) for row in itertools.product((False, True), repeat=4)]
        follows = all(_holds(other, row) for row in rows if _holds(said, row))
        try:
            logic.tautology([assume(said)], other)
            found = True
        except Refused:
            found = False
        assert found is follows
        told[follows] += 1
    assert min(told.values()) > 30


def _formula(draw: random.Random, letters: list[Proposition], depth: int) -> Proposition:
    if depth == 0 or draw.random() < 0.2:
        return draw.choice([*letters, TRUE, FALSE])
    one, other = (_formula(draw, letters, depth - 1) for _ in range(2))
    kinds = (Conjunction((one, other)), Disjunction((one, other)), Implication(one, other), Equivalence(one, other))
    return draw.choice([*kinds, Negation(one)])


def _holds(said: Proposition, row: dict[Proposition, bool]) -> bool:
    match said:
        case Conjunction(parts):
            return all(_holds(each, row) for each in parts)
        case Disjunction(parts):
            return any(_holds(each, row) for each in parts)
        case Implication(left, right):
            return _holds(right, row) if _holds(left, row) else True
        case Equivalence(left, right):
            return _holds(left, row) is _holds(right, row)
        case Negation(inner):
            return not _holds(inner, row)
    return row[said]
