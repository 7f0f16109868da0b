"""Attempts to prove what is false.  Each of them once succeeded, or nearly; each must be refused where it first goes wrong."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from eigentoken.theory.calculus import Index, Letter, delta, dot, exponential, one, vector
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import books, dynamics, forms, kernel, logic, quantities, spectra, structure, words
from eigentoken.theory.kernel.kernel import accepted
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    Atom,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Negation,
    free_letters,
    proposition,
    put,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import Converges, Decreases, SpectrumIs, Stable
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    InHemisphere,
    NonPrincipalModulusBelow,
    Nonsingular,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import Observable, oja_potential
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, ConsensusSet, SomeEquilibrium
from eigentoken.theory.language.terms import Angle, Eigenvalue, alpha, d, ell, k, matrix, n, p, q
from eigentoken.theory.systems.catalogue import system

OJA, FLOW, CAUSAL = system("oja-map"), system("oja-flow"), system("causal-flow")
V, W = matrix("V"), matrix("W")
x, y, z, c = sp.symbols("x y z c", real=True)
m = sp.Symbol("m", integer=True)
i, j = Index("token", "i"), Index("token", "j")
STATE = VectorLetter("x")
NOTHING = logic.tautology([], TRUE)


def equation(left: Any, right: Any) -> Any:
    return sp.Eq(left, right, evaluate=False)


def claimed(said: Any, about: Any = None, *given: Any) -> Proved:
    """``given |- said``, of which only the shape matters."""
    return books.argued(said, "let it be so", about, *(logic.assume(each) for each in given))


def follows(premises: list[Proved], said: Any) -> Proved:
    return numbers.arithmetic(premises, said)


# -- terms without a value ----------------------------------------------------------------------------------------------


def test_an_undefined_case_distinction_is_not_exhaustive() -> None:
    """``1/x > 0 or 1/x <= 0`` would make x nonzero, and 0 != 0 true."""
    either = Disjunction((proposition(1 / x > 0), proposition(1 / x <= 0)))
    with pytest.raises(Refused, match="does not follow"):
        follows([], either)


def test_a_tautology_about_an_undefined_relation_says_nothing_of_its_terms() -> None:
    positive = proposition(1 / x > 0)
    either = logic.tautology([], Disjunction((positive, Negation(positive), proposition(x > 3))))
    with pytest.raises(Refused, match="does not follow"):
        follows([either], sp.Ne(x, 0))
    trivial = logic.tautology([], Implication(positive, Disjunction((positive, proposition(x > 3)))))
    with pytest.raises(Refused, match="does not follow"):
        follows([trivial], sp.Ne(x, 0))


def test_the_negation_of_an_undefined_relation_is_no_relation() -> None:
    not_positive = logic.assume(Negation(proposition(1 / x > 0)))
    with pytest.raises(Refused, match="does not follow"):
        follows([not_positive], 1 / x <= 0)
    known = logic.assume(sp.Ne(x, 0))
    assert follows([not_positive, known], 1 / x <= 0).rule == "arithmetic"


def test_a_case_that_is_not_taken_says_nothing_of_its_terms() -> None:
    """``1/x where x > 0, else 0`` has the value 0 at 0: that it has one would make x nonzero."""
    by_cases = sp.Piecewise((1 / x, x > 0), (0, True))
    with pytest.raises(Refused, match="disjunction"):
        follows([logic.assume(sp.Ge(by_cases, 0, evaluate=False))], sp.Ne(x, 0))
    with pytest.raises(Refused, match="does not follow"):
        follows([], equation(sp.Piecewise((1, x > 0)), 1))


def test_a_relation_says_that_its_terms_are_defined_and_only_where_that_is_proved() -> None:
    assert follows([logic.assume(1 / x < 5)], sp.Ne(x, 0)).rule == "arithmetic"
    assert follows([logic.assume(sp.sqrt(x) < 5)], x >= 0).rule == "arithmetic"
    for trivial in (equation(1 / x, 1 / x), sp.Gt(1 / x + y**2 + 1, 1 / x, evaluate=False)):
        with pytest.raises(Refused, match="does not follow"):
            follows([], trivial)
    with pytest.raises(Refused, match="does not follow"):
        numbers.identity(x / y, x / y)
    with pytest.raises(Refused, match="no term"):
        numbers.identity(sp.tan(x), sp.tan(x))


def test_a_value_does_not_take_away_where_a_relation_is_defined() -> None:
    """``x/y = 1 => y != 0`` for all x; at x := y sympy reads ``1 = 1``."""
    nonzero = follows([logic.assume(equation(x / y, 1))], sp.Ne(y, 0))
    for_all = logic.generalise(x, logic.discharge(equation(x / y, 1), nonzero))
    at_y = logic.instantiate(for_all, y)
    assert same(at_y.proposition.left, proposition(sp.Ne(y, 0)))
    with pytest.raises(Refused):
        kernel.modus_ponens(at_y, NOTHING)
    zero = put(proposition(equation(1 / x, 1 / x)), {x: sp.Integer(0)})
    assert same(zero, FALSE)
    assert same(put(proposition(sp.log(1 / x) > 0), {x: sp.Integer(0)}), FALSE)


def test_rewriting_does_not_take_it_away_either() -> None:
    nonzero = logic.discharge(equation(x / y, 1), follows([logic.assume(equation(x / y, 1))], sp.Ne(y, 0)))
    rewritten = logic.rewrite(logic.assume(equation(x, y)), nonzero)
    assert same(rewritten.proposition.left, proposition(sp.Ne(y, 0)))


def test_quantities_that_divide_by_a_quantity_are_defined_by_hypothesis() -> None:
    a, b = vector("a"), vector("b")
    quotient = dot(a, a) * dot(a, b) ** -1
    same_value = structure.reduction(quotient, quotient, None)
    assert [each.word.relation for each in same_value.hypotheses] == [sp.Ne(Tensor(dot(a, b)), 0)]
    assert structure.reduction(one() * (1 / z), one() * (1 / z), None).hypotheses == (proposition(sp.Ne(z, 0)),)
    assert quantities.scaling(dot(a, b) * (1 / z), 2).hypotheses == (proposition(sp.Ne(z, 0)),)


def test_a_spectrum_keeps_where_its_formulas_are_defined() -> None:
    claim = Atom(SpectrumIs(ConsensusAt(V, 1), ((x / y, 1),)))
    with pytest.raises(Refused, match="would hide"):
        put(claim, {x: y})


# -- sorts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [sp.I, sp.oo, sp.zoo, 1 / x, sp.sqrt(x), sp.Symbol("u")], ids=str)
@pytest.mark.parametrize("about", [sp.Symbol("w"), sp.Symbol("w", real=True), sp.Symbol("w", extended_real=True)])
def test_what_holds_for_numbers_is_taken_at_real_numbers_only(about: sp.Symbol, value: Any) -> None:
    square = logic.generalise(about, follows([], sp.Ge(about**2 + 1, 0, evaluate=False)))
    with pytest.raises(Refused, match="sort"):
        logic.instantiate(square, value)


def test_letters_that_are_not_real_are_no_real_numbers() -> None:
    for letter_ in (sp.Symbol("w", imaginary=True), sp.Symbol("w", real=False), sp.Symbol("w", infinite=True)):
        with pytest.raises(Refused, match="real numbers"):
            follows([], sp.Ge(sp.Mul(letter_, letter_, evaluate=False) + y, y, evaluate=False))


def test_every_declaration_of_a_letter_counts() -> None:
    odd = sp.Symbol("w", odd=True)
    said = logic.generalise(odd, logic.assume(FALSE), FALSE)
    with pytest.raises(Refused, match="sort"):
        logic.instantiate(said, sp.Integer(2))


def test_matrices_are_real_and_of_their_size() -> None:
    said = logic.generalise(V, logic.tautology([], Disjunction((Atom(Symmetric(V)), Negation(Atom(Symmetric(V)))))))
    for value in (sp.I * V, sp.sqrt(-(x**2) - 1) * V, sp.MatrixSymbol("V", 2, 2), V.inverse(), sp.Symbol("V")):
        with pytest.raises(Refused, match="sort"):
            logic.instantiate(said, value)
    assert logic.instantiate(said, V + 2 * W.T).rule == "instantiate"


def test_rounded_numbers_are_no_values() -> None:
    """``(1 + x)^2 = 1 + 2 x + x^2`` for all x; at the float 0.1 both sides are rounded, and differ."""
    square = logic.generalise(x, numbers.identity((1 + x) ** 2, 1 + 2 * x + x**2))
    for value in (0.1, sp.Float("0.1"), x + sp.Float("0.1")):
        with pytest.raises(Refused, match="rounded"):
            logic.instantiate(square, value)
    with pytest.raises(Refused, match="rounded"):
        put(proposition(x + sp.Float("0.1") > y), {x: sp.Rational(1, 5)})


def test_two_letters_with_one_name_are_not_confused() -> None:
    positive = sp.Symbol("x", positive=True)
    with pytest.raises(Refused, match="called 'x'"):
        follows([logic.assume(x + positive > 0)], x > 0)
    with pytest.raises(Refused, match="different integers"):
        numbers.integers([], sp.Ge(m + sp.Symbol("m", integer=True, positive=True), 1))
    assert not same(ForAll(x, TRUE, proposition(x > y)), ForAll(positive, TRUE, proposition(positive > y)))


# -- bound letters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["_0", "#0", "_1", "x_1"])
def test_a_free_letter_is_never_the_name_of_a_bound_one(name: str) -> None:
    other = sp.Symbol(name, real=True)
    trivial = logic.generalise(x, follows([], equation(x, x)))
    with pytest.raises(Refused, match="no part"):
        kernel.part(trivial, ForAll(x, TRUE, proposition(equation(x, other))))
    nested = ForAll(x, TRUE, ForAll(y, TRUE, proposition(equation(x, y))))
    assert not same(nested, ForAll(x, TRUE, ForAll(y, TRUE, proposition(equation(other, y)))))
    moved = put(ForAll(x, TRUE, proposition(x < y)), {y: x})
    assert not same(moved, ForAll(y, TRUE, proposition(sp.Lt(y, y, evaluate=False))))


def test_an_index_is_not_captured_by_a_sum() -> None:
    for name in ("1", "2", "_7", "*", "slot", "column"):
        with pytest.raises(Refused, match="names its own"):
            Tensor(dot(vector("a", j), vector("a", Index("token", name))).summed(j))
    inner = Tensor(dot(vector("a", i), vector("b", j)).summed(j))
    moved = put(ForAll(i, TRUE, proposition(inner > 0)), {})
    taken = logic.instantiate(
        logic.generalise(i, logic.assume(inner > 0), inner > 0),
        j,
        logic.assume(Tensor(dot(vector("a", j), vector("b", i)).summed(i)) > 0),
    )
    assert same(taken.proposition, proposition(Tensor(dot(vector("a", j), vector("b", i)).summed(i)) > 0))
    assert moved.letter == i


def test_a_matrix_in_a_value_is_not_captured() -> None:
    form = Tensor(dot(vector("w"), vector("a"), (Letter("V"),)))
    said = logic.assume(ForAll(VectorLetter("w"), TRUE, ForAll(V, TRUE, proposition(form > 0))))
    moved = logic.instantiate(said, vector("b").applied((Letter("V"),)))
    assert moved.proposition.letter != V
    assert V in free_letters(moved.proposition)


def test_the_objects_of_a_theorem_are_not_captured() -> None:
    ordered = books.Textbook(
        "order",
        "the order of eigenvalues",
        {"X": sp.MatrixExpr},
        lambda X: ((Symmetric(X),), ForAll(ell, TRUE, proposition(Eigenvalue(X, ell) <= Eigenvalue(X, 1)))),
        "Author, Title",
        "@book{}",
    )
    with pytest.raises(Refused, match="binds ell"):
        books.textbook(ordered, (logic.assume(Symmetric((ell - 1) * V)),), X=(ell - 1) * V)
    assert books.textbook(ordered, (logic.assume(Symmetric(V)),), X=V).rule == "textbook"


def test_the_solvers_letters_are_its_own() -> None:
    for name in ("_abs1", "_root1", "_exp1", "_abs2"):
        with pytest.raises(Refused, match="underscore"):
            follows([], sp.Eq(sp.Abs(x) + sp.exp(x) + sp.sqrt(x**2 + 1), sp.Symbol(name, real=True)))
    with pytest.raises(Refused, match="solver"):
        follows([], sp.Eq(sp.Symbol("q_0", real=True), Eigenvalue(V, 1)))


def test_a_hypothesis_about_one_index_says_nothing_of_the_classes_of_a_spectrum() -> None:
    """``lambda_ell = lambda_2`` where ``ell = 2``: the class would lose all other eigenvalues."""
    fixed = logic.assume(1 + alpha * Eigenvalue(V, 1) > 0)
    found = logic.supply(spectra.spectrum(ConsensusAt(V, 1), OJA), fixed)
    place, ((common, times), apart) = spectra.classes_of(found)
    second = common.xreplace({ell: sp.Integer(2)})
    equal = words.equal_indices(logic.assume(equation(ell, 2)), Eigenvalue(V, ell))
    assert spectra.respelled(found, SpectrumIs(place, ((common, times), apart))).rule == "respelled"
    for claimed in (second, common.xreplace({Eigenvalue(V, ell): Eigenvalue(V, 2) + 0 * ell})):
        both = follows([equal, fixed], equation(common, claimed))
        with pytest.raises(Refused, match="ell"):
            spectra.respelled(found, SpectrumIs(place, ((claimed, times), apart)), both)
    root = SpectrumIs(ConsensusAt(V, 1), ((sp.sqrt(Eigenvalue(V, ell)), 1),))
    real = follows([logic.assume(Eigenvalue(V, ell) > 0)], Eigenvalue(V, ell) >= 0)
    with pytest.raises(Refused, match="ell"):
        dynamics.linear_stability(logic.assume(root, OJA), real)


def test_the_place_of_a_spectrum_is_not_the_index_that_its_classes_run_over() -> None:
    with pytest.raises(Refused):
        spectra.respelled(spectra.spectrum(ConsensusAt(V, ell), OJA), SpectrumIs(ConsensusAt(V, ell), ()))
    found = spectra.spectrum(ConsensusAt(V, k), OJA)
    with pytest.raises(Refused, match="ell"):
        logic.instantiate(logic.generalise(k, logic.discharge(Conjunction(found.hypotheses), found)), ell)


def test_a_class_that_is_not_there_says_nothing() -> None:
    absent = SpectrumIs(ConsensusAt(V, 1), ((sp.Integer(5), 0), (sp.Rational(1, 2), 1)))
    stable = dynamics.linear_stability(logic.assume(absent, OJA))
    assert same(logic.tautology([stable], Atom(Stable(ConsensusAt(V, 1)))).proposition, Atom(Stable(ConsensusAt(V, 1))))


# -- the state ------------------------------------------------------------------------------------------------------------


def unit() -> Proved:
    """Every state of the map has unit tokens."""
    return logic.generalise(STATE, structure.reduction(dot(vector("x", i), vector("x", i)), one(), OJA))


def test_a_state_is_not_any_vector() -> None:
    for value in (vector("w") * 2, VectorLetter("w"), VectorLetter("y")):
        with pytest.raises(Refused, match="sort"):
            logic.instantiate(unit(), value)
    w = VectorLetter("w")
    with pytest.raises(Refused, match="no part"):
        kernel.part(
            unit(), ForAll(w, TRUE, proposition(equation(Tensor(dot(vector("w", i), vector("w", i))), Tensor(one()))))
        )
    assert logic.instantiate(unit(), AtTime(c)).rule == "instantiate"


def test_no_vector_is_witness_for_a_state() -> None:
    long = Exists(STATE, TRUE, proposition(equation(Tensor(dot(vector("x", i), vector("x", i))), 4)))
    given = logic.assume(equation(Tensor(dot(vector("w", i), vector("w", i))), 4))
    with pytest.raises(Refused, match="sort"):
        logic.witness(long, VectorLetter("w"), given)


@pytest.mark.parametrize("name", ["y", "y2"])
def test_what_the_system_defines_is_no_letter(name: str) -> None:
    for binder in (ForAll, Exists):
        with pytest.raises(Refused, match="defined by the system"):
            binder(VectorLetter(name), TRUE, proposition(Tensor(dot(vector(name, i), vector("a"))) > 0))


def test_a_vector_is_not_the_state_at_a_time() -> None:
    said = logic.generalise(VectorLetter("w"), logic.assume(TRUE))
    with pytest.raises(Refused, match="sort"):
        logic.instantiate(said, AtTime(c))


def test_a_rate_holds_its_constants_fixed() -> None:
    """The rate of <x_i|w> for constant w is not that of <x_i|x_j>."""
    rate = structure.increment(dot(vector("x", i), vector("w", j)), FLOW)
    for_all = logic.generalise(VectorLetter("w"), rate)
    for value in (STATE, vector("x", Index("token", "slot")) * 2, VectorLetter("y")):
        with pytest.raises(Refused, match="constant"):
            logic.instantiate(for_all, value)
    assert logic.instantiate(for_all, VectorLetter("u")).rule == "instantiate"


def test_a_rate_of_what_the_map_defines_is_not_zero() -> None:
    with pytest.raises(Refused, match="functions of the state"):
        structure.increment(dot(vector("y", i), vector("a")), OJA)


def test_letters_are_replaced_everywhere_in_a_quantity() -> None:
    from eigentoken.theory.calculus import exponential

    weight = exponential(dot(vector("a"), vector("b")) * c)
    assert put(proposition(Tensor(weight) > 0), {c: sp.Integer(2)}) == proposition(
        Tensor(exponential(dot(vector("a"), vector("b")) * 2)) > 0
    )
    form = Tensor(dot(vector("a"), vector("b"), (Letter("V"),)))
    other = Tensor(dot(vector("a"), vector("b"), (Letter("W"),)))
    assert put(proposition(form > 0), {V: W}) == proposition(other > 0)
    plain = put(proposition(form > 0), {V: sp.Identity(d)})
    assert plain == proposition(Tensor(dot(vector("a"), vector("b"))) > 0)
    with pytest.raises(Refused, match="a letter, the identity or zero"):
        put(proposition(form > 0), {V: V + W})
    with pytest.raises(Refused, match="quantity"):
        put(proposition(Tensor(dot(vector("a"), vector("b")) * c) > 0), {c: form})


# -- the system -----------------------------------------------------------------------------------------------------------


def test_the_parameters_of_a_system_are_not_arbitrary() -> None:
    """``Stable(place)`` does not show alpha, n, d or V: with another value in their place the equivalence is false."""
    found = spectra.spectrum(ConsensusAt(V, 1), OJA)
    test = dynamics.linear_stability(found)
    closed = logic.discharge(Conjunction(test.hypotheses), test)
    for parameter in (alpha, n, d, V):
        with pytest.raises(Refused, match="belongs to the system"):
            logic.generalise(parameter, closed)
    assert (
        logic.generalise(
            k,
            logic.discharge(
                Conjunction(spectra.spectrum(ConsensusAt(V, k), OJA).hypotheses),
                spectra.spectrum(ConsensusAt(V, k), OJA),
            ),
        ).rule
        == "generalise"
    )


def test_a_sum_over_the_tokens_knows_how_many_there_are() -> None:
    total = dot(vector("x", i), vector("x", i)).summed(i)
    count = structure.reduction(total, one() * n, OJA)
    with pytest.raises(Refused, match="belongs to the system"):
        logic.generalise(n, count)


def test_the_parameters_are_not_chosen_by_an_existence_statement() -> None:
    some = logic.assume(Exists(V, TRUE, Atom(PositiveDefinite(V))))
    rule = logic.assume(Implication(Atom(PositiveDefinite(V)), Atom(Converges(ConsensusSet()))), OJA)
    end = kernel.modus_ponens(rule, logic.assume(PositiveDefinite(V)))
    with pytest.raises(Refused):
        logic.exists_elimination(some, end)
    free = claimed(Converges(ConsensusSet()), OJA, PositiveDefinite(V))
    with pytest.raises(Refused, match="belongs to the system"):
        logic.exists_elimination(some, free)


def test_the_size_of_a_matrix_is_not_rewritten() -> None:
    order = proposition(Eigenvalue(V, d) <= Eigenvalue(V, 1))
    with pytest.raises(Refused, match="size"):
        logic.rewrite(logic.assume(equation(d, 2)), logic.assume(order))
    small = sp.MatrixSymbol("V", 2, 2)
    mixed = claimed(Eigenvalue(small, 2) <= Eigenvalue(small, 1), None, Symmetric(V))
    with pytest.raises(Refused, match="outside"):
        logic.generalise(small, mixed)


@pytest.mark.parametrize(
    "term", [sp.MatrixSymbol("A", 3, 3), (ell - 1) * V, sp.MatrixSymbol("A", ell, ell), "V"], ids=str
)
def test_words_about_matrices_are_about_d_by_d_matrices(term: Any) -> None:
    for rule in (words.eigenvalue_order, words.norm_of_symmetric, lambda each: words.meaning(PositiveDefinite(each))):
        with pytest.raises(Refused, match="d x d"):
            rule(term)


def test_a_masked_system_has_another_spectrum() -> None:
    with pytest.raises(Refused):
        spectra.spectrum(ConsensusAt(matrix(str(CAUSAL.value)), 1), CAUSAL)
    masked = replace(OJA, mask="causal")
    with pytest.raises(Refused, match="mask"):
        spectra.spectrum(ConsensusAt(V, 1), masked)


@pytest.mark.parametrize("index", [0, -1, sp.Rational(1, 2), x, sp.Symbol("j", integer=True)], ids=str)
def test_the_place_of_a_spectrum_has_a_number(index: Any) -> None:
    with pytest.raises(Refused, match="sort"):
        spectra.spectrum(ConsensusAt(V, index), OJA)


def test_a_spectrum_at_the_seventh_eigenvector_asks_for_seven_dimensions() -> None:
    found = spectra.spectrum(ConsensusAt(V, 7), OJA)
    assert proposition(sp.Le(7, d)) in found.hypotheses


def test_observables_with_one_name_are_not_one() -> None:
    other = Observable(oja_potential.name, oja_potential.latex, lambda *_: 1)
    assert not same(Atom(Decreases(oja_potential)), Atom(Decreases(other)))
    with pytest.raises(Refused, match="no expression"):
        dynamics.monotone(other, claimed(Rate(expression_of(oja_potential)) <= 0, FLOW))


# -- induction, sums, time ---------------------------------------------------------------------------------------------


def test_induction_starts_at_a_number_of_the_sort_and_reaches_the_next() -> None:
    """``m^2 <= -3 m`` holds at -3; for positive m it is false, so the step is empty."""
    positive = sp.Symbol("m", integer=True, positive=True)
    claim = sp.Le(positive**2, -3 * positive, evaluate=False)
    base = numbers.integers([], sp.Le(9, 9, evaluate=False))
    empty = numbers.integers([logic.assume(claim)], put(proposition(claim), {positive: positive + 1}))
    step = logic.generalise(positive, logic.discharge(claim, empty), sp.Ge(positive, -3, evaluate=False))
    with pytest.raises(Refused, match="sort"):
        structure.induction(positive, base, step, -3)
    said = logic.generalise(
        m, logic.tautology([], Implication(proposition(m > 0), proposition(m > 0))), m >= sp.Rational(5, 2)
    )
    with pytest.raises(Refused, match="sort"):
        structure.induction(m, NOTHING, said, sp.Rational(5, 2))
    even = sp.Symbol("m", even=True)
    for_even = logic.generalise(even, logic.tautology([], Implication(TRUE, TRUE)), sp.Ge(even, 0, evaluate=False))
    with pytest.raises(Refused, match="sort"):
        structure.induction(even, NOTHING, for_even, 0)


def exit_step(t: Any, s: Any, claim: Any) -> tuple[Proved, Proved]:
    """``start`` and ``step`` of a first exit, assumed: what is asked is whether the rule takes their shape."""
    said = proposition(claim) if not isinstance(claim, ForAll) else claim
    until = Conjunction((proposition(sp.Ge(s, 0, evaluate=False)), proposition(s < t)))
    step = ForAll(t, proposition(sp.Ge(t, 0, evaluate=False)), Implication(ForAll(s, until, put(said, {t: s})), said))
    return logic.assume(put(said, {t: sp.Integer(0)}), FLOW), logic.assume(step, FLOW)


T, S = sp.symbols("t s", real=True)
HEIGHT = Tensor(dot(vector("x", i), vector("w")))


def height(at: Any) -> Tensor:
    return HEIGHT.put({STATE: AtTime(at)})


DISCONTINUOUS = {
    "a pole": height(T) + 1 / (T - 1) + 2 > 0,
    "a floor behind a constant": sp.log(c**2 + 1) + sp.floor(T) + height(T) > -1,
    "an exponent": height(T) + 2**T > 0,
    "not strict": height(T) >= 0,
    "another time": height(sp.floor(T)) > 0,
    "a rate": Rate(dot(vector("x", i), vector("w")), T) > 0,
    "a matrix that could depend on time": Tensor(dot(vector("x", i), vector("w"), (Letter("V"),)), T) > 0,
    "a guard that depends on time": ForAll(i, proposition(T > 5), proposition(height(T) > 0)),
    "an unknown function": sp.Function("f")(T) > 0,
}


@pytest.mark.parametrize("what", DISCONTINUOUS)
def test_first_exit_needs_continuity(what: str) -> None:
    with pytest.raises(Refused, match="continuous"):
        dynamics.first_exit(*exit_step(T, S, DISCONTINUOUS[what]))


def test_first_exit_is_for_all_times_of_a_flow() -> None:
    good = ForAll(i, TRUE, proposition(height(T) > 0))
    assert dynamics.first_exit(*exit_step(T, S, good)).rule == "first_exit"
    start, step = exit_step(T, S, good)
    with pytest.raises(Refused, match="flow"):
        dynamics.first_exit(logic.assume(start.proposition, OJA), logic.assume(step.proposition, OJA))
    rational, whole = sp.Symbol("t", rational=True), sp.Symbol("t", integer=True)
    for t, s in ((whole, S), (rational, sp.Symbol("s", rational=True)), (T, sp.Symbol("s", integer=True))):
        with pytest.raises(Refused, match="real times"):
            dynamics.first_exit(*exit_step(t, s, height(t) > 0))


def test_what_holds_for_almost_every_start_is_not_rewritten_for_one() -> None:
    """``q != 5`` for almost every start, and ``q = 5`` at this one, would give ``5 != 5``."""
    others = logic.assume(ForAlmostEvery(proposition(sp.Ne(height(0), 5))))
    here = logic.assume(equation(height(0), 5))
    assert same(logic.rewrite(here, others).proposition, others.proposition)


@pytest.mark.parametrize(
    "about",
    [Relation(Angle(V) > 0), InHemisphere(V), Relation(height(sp.Integer(0)) > 0), Stable(SomeEquilibrium())],
    ids=str,
)
def test_an_implication_for_one_start_is_not_for_almost_every(about: Any) -> None:
    first = logic.assume(ForAlmostEvery(Atom(Converges(ConsensusSet()))))
    rule = claimed(Implication(Atom(Converges(ConsensusSet())), FALSE), None, about)
    with pytest.raises(Refused, match="about the start"):
        logic.almost_everywhere([first, rule], FALSE)


# -- inverses ---------------------------------------------------------------------------------------------------------------


def test_a_relation_does_not_say_that_there_is_an_inverse() -> None:
    """In a relation an inverse is some matrix where there is none: nothing about X follows from it."""
    inverse = matrix("B").inverse()
    alike = follows([], equation(Eigenvalue(inverse, 1), Eigenvalue(inverse, 1)))
    below = words.modulus(inverse)
    for each in (alike, below, logic.assume(Relation(Eigenvalue(inverse, 1) > 0))):
        with pytest.raises(Refused, match="word about the inverse"):
            forms.invertible(each, matrix("B"))


def test_a_word_about_an_inverse_comes_from_a_word_about_it() -> None:
    """Where d = 1 no other eigenvalue is larger, of any matrix: that is no word from which an inverse follows."""
    inverse = matrix("B").inverse()
    for word in (PositiveDefinite(inverse), SimpleTop(inverse)):
        means = words.meaning(word)
        assert means.hypotheses == (Atom(Symmetric(inverse)),)
    with pytest.raises(Refused, match="word about the inverse"):
        forms.invertible(logic.assume(NonPrincipalModulusBelow(inverse)), matrix("B"))
    with pytest.raises(Refused, match="no sum of products"):
        forms.as_form(PositiveDefinite(inverse))
    every = logic.generalise(matrix("A"), logic.discharge(Symmetric(matrix("A")), logic.assume(Symmetric(matrix("A")))))
    with pytest.raises(Refused, match="sort"):
        logic.instantiate(every, inverse)
    assert logic.instantiate(every, inverse, logic.assume(Nonsingular(matrix("B"))))


# -- statements -------------------------------------------------------------------------------------------------------------


def recalled(proved: Proved, here: Any, letters: dict[Any, Any], *premises: Proved) -> Proved:
    name = proved.system.name if proved.system else ""
    stated = SimpleNamespace(id="X", systems=(name,) if name else (), conditions=(), claims=(), proofs={name: proved})
    return books.recall(stated, {name: proved}, here, letters, *premises)


def test_a_recalled_statement_is_taken_at_values_of_its_sorts() -> None:
    positive = sp.Symbol("u", positive=True)
    says = follows([], positive + 1 > 1)
    with pytest.raises(Refused, match="sort"):
        recalled(says, None, {positive: sp.Integer(-1)})
    assert recalled(says, None, {positive: sp.Integer(3)}).proposition == TRUE
    found = spectra.spectrum(ConsensusAt(V, k), OJA)
    with pytest.raises(Refused, match="sort"):
        recalled(found, OJA, {k: sp.Rational(1, 2)})


def test_the_sides_of_a_bipartite_point_are_not_renamed() -> None:
    rule = claimed(Implication(proposition(p > q), Atom(Stable(BipartiteAt(V, 1)))), OJA)
    for letters in ({p: q, q: p}, {p: p + 1}, {n: n + 1}, {alpha: 2 * alpha}, {V: W}):
        with pytest.raises(Refused):
            recalled(rule, OJA, letters)
    with pytest.raises(Refused, match="p tokens"):
        put(Atom(Stable(BipartiteAt(V, 1))), {p: q})


def test_a_statement_about_full_attention_is_not_recalled_under_a_mask() -> None:
    from eigentoken.theory.systems.catalogue import SPECIAL_CASES

    masked = [each for each in SPECIAL_CASES if each.masked]
    assert masked
    for case in masked:
        says = logic.assume(Atom(Converges(ConsensusSet())), system(case.large))
        with pytest.raises(Refused, match="does not contain"):
            recalled(says, system(case.small), {}, says)


def test_an_argued_statement_stays_argued_when_recalled() -> None:
    words_only = books.argued(FALSE, "because", None)
    assert recalled(words_only, None, {}).argued
    assert not recalled(NOTHING, None, {}).argued


def test_conventions_hold_for_letters_that_the_statement_has() -> None:
    """``n = p + q`` makes n at least 2: a statement without two groups has no such condition."""
    split = logic.assume(equation(n, p + q))
    several = numbers.integers([split], n >= 2)
    assert accepted(several, (), (proposition(n >= 2),), None).is_fails
    with_groups = kernel.conjunction(several, logic.tautology([split], equation(n, p + q)))
    assert accepted(with_groups, (), tuple(each for each in with_groups.proposition.parts), None).is_holds


def test_a_matrix_that_depends_on_time_is_not_held_fixed() -> None:
    """The rate of <x|V x> has a term with the derivative of V, where V has one."""
    found = structure.increment(dot(vector("x", i), vector("x", i), (Letter("V"),)), FLOW)
    claim = (found.proposition,)
    assert accepted(found, (), claim, FLOW).is_holds
    assert accepted(found, (proposition(BoundedInTime("V")),), claim, FLOW).is_fails
    other = structure.increment(dot(vector("x", i), vector("w")), FLOW)
    assert accepted(other, (proposition(BoundedInTime("V")),), (other.proposition,), FLOW).is_holds


def test_the_symmetry_of_a_sum_of_heads_is_not_that_of_a_head() -> None:
    heads = system("multihead-flow")
    form = dot(vector("a"), vector("b"), (Letter("F", False, (Index("head", "g"),)),))
    turned = dot(vector("b"), vector("a"), (Letter("F", False, (Index("head", "g"),)),))
    with pytest.raises(Refused, match="sum of the heads"):
        structure.reduction(form, turned, heads, logic.assume(Symmetric(matrix("F"))))
    with pytest.raises(Refused, match="sum of the heads"):
        structure.reduction(form, turned, None, logic.assume(Symmetric(matrix("F"))))


def test_terms_that_become_equal_are_added() -> None:
    """``|x_i - x_j|^2 = 2 - 2 x_i^T x_j`` at i = j is ``0 = 2 - 2 |x_i|^2``: no term is lost, no factor, no exponential."""
    i, j, b, z = Index("token", "i"), Index("token", "j"), Index("token", "b"), vector("z")
    gap = vector("x", i) - vector("x", j)
    apart = structure.reduction(dot(gap, gap), one() * 2 - dot(vector("x", i), vector("x", j)) * 2, system("oja-map"))
    at_one = logic.instantiate(logic.generalise(j, apart), i)
    assert at_one.proposition.word.relation.lhs == Tensor(one() * 0)
    both = dot(vector("x", i), z) * dot(vector("x", j), z)
    assert Tensor(both).put({j: i}) == Tensor(dot(vector("x", i), z) ** 2)
    grown = exponential(dot(vector("x", i), z) - dot(vector("x", j), z))
    assert Tensor(grown).put({j: i}) == Tensor(one())
    c = sp.Symbol("c", real=True)
    scaled = exponential(dot(z, z) * c) + exponential(dot(z, z))
    assert Tensor(scaled).put({c: sp.Integer(1)}) == Tensor(exponential(dot(z, z)) * 2)
    picked = delta(i, j) * dot(vector("x", j), vector("x", b)) * dot(vector("x", i), vector("x", b))
    with pytest.raises(Refused, match="remain"):
        structure.reduction(picked, delta(i, j) * dot(vector("x", j), vector("x", b)), None)
    assert structure.reduction(picked, delta(i, j) * dot(vector("x", j), vector("x", b)) ** 2, None)


def test_nothing_claimed_is_nothing_proved() -> None:
    assert accepted(NOTHING, (), (), None).is_fails


# -- forgeries ----------------------------------------------------------------------------------------------------------------


def test_a_proved_is_not_forged() -> None:
    with pytest.raises(TypeError):
        Proved(FALSE, None, (), "assume", ())
    with pytest.raises(TypeError):
        replace(NOTHING, proposition=FALSE)
    with pytest.raises(TypeError):
        pickle.dumps(NOTHING)
    with pytest.raises(TypeError):
        type("Forged", (Proved,), {"__post_init__": lambda self: None})
    assert copy.copy(NOTHING) is NOTHING
    assert copy.deepcopy([NOTHING])[0] is NOTHING
    with pytest.raises(AttributeError):
        NOTHING.proposition = FALSE  # type: ignore[misc]


def test_what_looks_like_a_proved_is_none() -> None:
    forged: Any = SimpleNamespace(proposition=FALSE, hypotheses=(), system=None)
    assert accepted(forged, (), (FALSE,), None).is_fails
    for rule in (
        kernel.conjunction,
        lambda each: kernel.part(each, FALSE),
        lambda each: logic.discharge(TRUE, each),
    ):
        with pytest.raises(Refused, match="must be proved"):
            rule(forged)
