"""More attempts to prove what is false, as in test_kernel_soundness: each succeeded once, and is refused where it goes wrong."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.steps.theorems import LARGEST_NUMBER, RAYLEIGH_BELOW
from eigentoken.theory.calculus import HEAD, SLOT, TOKENS, Index, dot, exponential, factor, vector
from eigentoken.theory.calculus.atoms import Base, Delta, Dot, MaskEntry, Named, Norm
from eigentoken.theory.calculus.expressions import HEADS, row_sum
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import books, kernel, logic, quantities, structure, sums, words
from eigentoken.theory.kernel.arithmetic import arithmetic
from eigentoken.theory.kernel.books import Textbook, textbook
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.kernel import accepted
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    Atom,
    Disjunction,
    Exists,
    ForAll,
    Implication,
    conjuncts,
    proposition,
    put,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import NonPrincipalModulusBelow, Nonsingular, Relation, Symmetric
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import (
    Angle,
    Eigenvalue,
    ScoreAtEigenvector,
    SpectralNorm,
    SpectralRadiusOff,
    alpha,
    d,
    ell,
    matrix,
    n,
)
from eigentoken.theory.proving.cvc5_inequalities import inequality_by_cvc5
from eigentoken.theory.proving.real_arithmetic import prove
from eigentoken.theory.systems.catalogue import system

x, y, c, k = sp.symbols("x y c k", real=True)
m = sp.Symbol("m", integer=True)
i, j = Index("token", "i"), Index("token", "j")


def equation(left: Any, right: Any) -> Any:
    return sp.Eq(left, right, evaluate=False)


def for_all_at(letter: sp.Symbol, value: Any, proved: Proved) -> Proved:
    return logic.instantiate(logic.generalise(letter, proved), sp.Integer(value))


# -- terms without a value ----------------------------------------------------------------------------------------------


def test_a_term_by_cases_has_no_value_outside_of_them() -> None:
    """``(1 if x > 0) = 1 => ...`` would make x positive, also at -1."""
    positive = proposition(equation(sp.Piecewise((1, x > 0)), 1))
    trivial = logic.tautology([], Implication(positive, Disjunction((positive, proposition(x > 3)))))
    with pytest.raises(Refused, match="does not follow"):
        numbers.arithmetic([trivial], x > 0)
    assert numbers.arithmetic([logic.assume(positive)], x > 0).rule == "arithmetic"
    assert where_defined(sp.Piecewise((1, x > 0), (0, True))) == frozenset()


def test_an_exponent_is_not_rewritten() -> None:
    """``x^2 > 0`` with 2 = k is ``x^k > 0``, which says that x is positive; with k = 2 that would be said of x^2."""
    square = numbers.arithmetic([logic.assume(sp.Ne(x, 0))], x**2 > 0)
    with pytest.raises(Refused, match="exponent"):
        logic.rewrite(logic.assume(equation(2, k)), square)
    assert logic.rewrite(logic.assume(equation(x, k)), square).proposition == proposition(k**2 > 0)


def test_a_power_asks_for_no_more_than_its_exponent_does() -> None:
    """``x^K`` has a value at x = 0 where K >= 1: at K = m + 5 >= 1, and then at m = 0, it is not said that x is not zero."""
    whole = sp.Symbol("K", integer=True, positive=True)
    for_all = logic.generalise(whole, numbers.identity(y * (x**whole + 1), y * x**whole + y))
    known = logic.assume(m + 5 >= 1)
    moved = logic.discharge(m + 5 >= 1, logic.instantiate(for_all, m + 5, known))
    at_zero = for_all_at(x, 0, for_all_at(m, 0, moved))
    with pytest.raises(Refused, match="does not follow"):
        logic.tautology([at_zero], FALSE)
    assert where_defined(x**m) == {sp.Or(sp.Ne(x, 0), m >= 0)}
    assert where_defined(x**-2) == {sp.Ne(x, 0)}


def test_a_vector_with_a_root_before_it_is_real_where_the_root_is() -> None:
    """``|sqrt(c) a|^2 = c |a|^2`` is not negative where c is not; the root is not seen in the square."""
    square = structure.square(vector("a") * sp.sqrt(c))
    assert square.hypotheses == (proposition(c >= 0),)
    A = matrix("A")
    given = logic.assume(Symmetric(A))
    form = books.textbook(RAYLEIGH_BELOW, (given,), None, A=A, z=vector("a") * sp.sqrt(c))
    assert proposition(c >= 0) in form.hypotheses
    for proved in (square, form):
        with pytest.raises(Refused, match="spoken of outside"):
            logic.generalise(c, proved)


@pytest.mark.parametrize("solver", [prove, inequality_by_cvc5])
def test_what_stands_on_both_sides_must_have_a_value(solver: Any) -> None:
    """``1/x + 1 > 1/x`` is not true at 0, although the difference of the sides is 1."""
    more = sp.Gt(1 / x + 1, 1 / x, evaluate=False)
    sure = (sp.Gt(y + 1, y, evaluate=False), sp.Lt(0, 1, evaluate=False))
    either = [sp.Or(each, 1 / x > 0, evaluate=False) for each in sure]
    for trivial in (more, *either, sp.Gt(sp.sqrt(x) + 1, sp.sqrt(x), evaluate=False)):
        assert not solver([], trivial).is_holds
        assert solver([x > 0], trivial).is_holds


# -- one key for two things ---------------------------------------------------------------------------------------------


def test_a_norm_is_no_name_that_is_spelled_alike() -> None:
    """The letters of a term are kept by its key: were the keys one, the norm of the state would not depend on the state."""
    named, norm = factor(Named("r", (i,))), factor(Norm("r", (i,)))
    assert Named("r", (i,)) != Norm("r", (i,)) != Named("r", (i,))
    assert Norm("r", (i,)) == Norm("r", (i,)) and Named("r", (i,)) == Named("r", (i,))
    assert len({Named("r", (i,)), Norm("r", (i,))}) == 2
    assert VectorLetter("x") not in Tensor(named).letters()
    assert VectorLetter("x") in Tensor(norm).letters()
    assert Tensor(named) != Tensor(norm)
    length = structure.reduction(dot(vector("y", i), vector("y", i)), norm**2, system("oja-map"))
    fixed = logic.rewrite(logic.assume(equation(Tensor(norm**2), c)), length)
    with pytest.raises(Refused, match="spoken of outside"):
        logic.generalise(VectorLetter("x"), fixed)


def test_two_letters_with_one_name_are_two_questions() -> None:
    """Whatever was asked before: the answer is that to the letter with its own assumptions."""
    for assumptions, holds in (({"positive": True}, True), ({"real": True}, False), ({"integer": True}, False)) * 2:
        assert prove([], sp.Gt(sp.Symbol("u", **assumptions), 0, evaluate=False)).is_holds is holds
    with pytest.raises(ValueError, match="two different symbols"):
        prove([], sp.Gt(x, sp.Symbol("x", positive=True)))
    assert inequality_by_cvc5([], sp.Gt(x + sp.Symbol("x", positive=True), 0, evaluate=False)).is_undecided


# -- indices that the calculus names itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["*", "1", "_13", "slot"])
def test_the_index_of_a_sum_is_no_value(name: str) -> None:
    """``sum_j exp(a_i^T a_j) = c`` for every token i says nothing of ``sum_j exp(a_j^T a_j)``."""
    own = Index("token", name)
    row = Tensor(factor(row_sum(dot(vector("a", i), vector("a", j)), j)))
    total = Tensor(dot(vector("a", i), vector("a", j)).summed(j))
    for quantity in (row, total):
        every = logic.assume(ForAll(i, TRUE, proposition(sp.Ge(quantity, 0, evaluate=False))))
        for rule in (logic.instantiate, sums.summand):
            with pytest.raises(Refused, match="sort"):
                rule(every, own)
            assert rule(every, j).rule == rule.__name__


# -- masks -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [MaskEntry("causal", i, j), Delta(i, j)])
def test_what_can_be_zero_is_no_divisor(part: Any) -> None:
    """``c_ij c_ij^-1 = 1`` of any two tokens: every token would see every other."""
    whole = quantities.product(factor(part, -1), factor(part))
    assert proposition(sp.Ne(Tensor(factor(part)), 0)) in whole.hypotheses
    refuted = numbers.arithmetic([whole, logic.assume(equation(Tensor(factor(part)), 0))], FALSE)
    with pytest.raises(Refused, match="spoken of outside"):
        logic.generalise(i, refuted)
    for beside in (dot(vector("a", j), vector("a", j)), exponential(dot(vector("a", i), vector("a", j)))):
        with pytest.raises(Refused, match="divides by a quantity in a sum"):
            where_defined(Tensor((factor(part, -1) * beside).summed(j)))


def test_a_row_of_what_another_token_sees_may_be_empty() -> None:
    """``sum_l c_ij exp(...)`` is zero where token i does not see token j."""
    other, own = Index("token", "l"), dot(vector("a", i), vector("a", j))
    for masks in ((MaskEntry("causal", i, other),), (MaskEntry("causal", i, j), MaskEntry("causal", other, j))):
        row = factor(row_sum(own, j, masks))
        with pytest.raises(Refused, match="no sum of products"):
            sums.positive(row)
        assert proposition(sp.Ne(Tensor(row), 0)) in quantities.product(row**-1, row).hypotheses
    assert not sums.positive(factor(row_sum(own, j, (MaskEntry("causal", i, j),)))).hypotheses


# -- inverses, and numbers that some matrices alone have ----------------------------------------------------------------------


def test_no_equation_cancels_an_inverse() -> None:
    """``A = B^-1`` and ``A B = C`` gave ``I = C``; as relations they do not say that B has an inverse."""
    a, b, c = map(matrix, "ABC")
    inverse, product = (logic.assume(sp.Eq(*each, evaluate=False)) for each in ((a, b.I), (a * b, c)))
    with pytest.raises(Refused, match="inverse"):
        logic.rewrite(inverse, product)
    with pytest.raises(Refused, match="inverse"):  # (A^-1)^-1 would be A
        logic.rewrite(logic.assume(sp.Eq(b, a.I, evaluate=False)), logic.assume(sp.Eq(b.I, c, evaluate=False)))
    with pytest.raises(Refused, match="inverse"):  # X B^-1 at X = B
        logic.rewrite(logic.assume(sp.Eq(c, b, evaluate=False)), logic.assume(sp.Eq(c * b.I, a, evaluate=False)))
    plain = logic.rewrite(logic.assume(sp.Eq(c, b, evaluate=False)), logic.assume(sp.Eq(c * a, a, evaluate=False)))
    assert same(plain.proposition, proposition(sp.Eq(b * a, a, evaluate=False)))


def test_a_matrix_without_an_inverse_is_no_value_where_one_is_said() -> None:
    a, b = matrix("A"), matrix("B")
    every = logic.assume(ForAll(b, TRUE, proposition(sp.Eq(a, b.I, evaluate=False))))
    with pytest.raises(Refused, match="inverse"):
        logic.instantiate(every, sp.ZeroMatrix(d, d))


def test_a_theorem_about_a_matrix_with_an_inverse_asks_that_there_is_one() -> None:
    """A theorem of norms, ``|X Y| <= |X| |Y|``, with Y = X^-1 would give ``1 <= |X| |X^-1|`` for X = 0."""

    def says(X: Any, Y: Any) -> tuple[tuple[Any, ...], Any]:
        return (), sp.Le(SpectralNorm(X * Y), SpectralNorm(X) * SpectralNorm(Y), evaluate=False)

    kinds = {"X": sp.MatrixExpr, "Y": sp.MatrixExpr}
    theorem = Textbook("norms", "norms of products", kinds, says, "a book", "@book{a}")
    b, c = matrix("B"), matrix("C")
    nonsingular = proposition(Nonsingular(b))
    assert nonsingular in textbook(theorem, (), X=b, Y=b.I).hypotheses
    assert textbook(theorem, (), X=b, Y=c).hypotheses == ()
    known = textbook(theorem, (logic.assume(Nonsingular(b)),), X=b, Y=b.I)
    assert known.hypotheses == (nonsingular,)
    word = textbook(theorem, (logic.assume(Symmetric(c * b.I)),), X=b, Y=b.I)  # the word says that there is one
    assert word.hypotheses == (proposition(Symmetric(c * b.I)),)


@pytest.mark.parametrize(
    "number, conditions, good",
    [
        (ScoreAtEigenvector(matrix("M"), matrix("V"), 5), (Symmetric(matrix("V")),), False),  # no fifth eigenvector
        (ScoreAtEigenvector(matrix("M"), matrix("V"), 1), (), False),  # of a rotation
        (ScoreAtEigenvector(matrix("M"), matrix("V"), 1), (Symmetric(matrix("V")),), True),
        (ScoreAtEigenvector(matrix("M"), matrix("V"), d), (Symmetric(matrix("V")),), True),
        (Angle(matrix("V")), (), False),
        (Angle(matrix("V")), (Symmetric(matrix("V")),), True),
        (EigenvalueGap(matrix("V")), (Symmetric(matrix("V")),), False),  # infinite where d = 1
        (EigenvalueGap(matrix("V")), (Relation(sp.Ge(d, 2, evaluate=False)),), True),
        (SpectralRadiusOff(matrix("V")), (), False),
        (SpectralRadiusOff(matrix("V")), (Relation(sp.Ge(d, 3, evaluate=False)),), True),
        (SpectralNorm(matrix("V").I), (), False),
        (SpectralNorm(matrix("V").I), (Nonsingular(matrix("V")),), True),
        (SpectralNorm(matrix("V").I), (Symmetric(matrix("W") * matrix("V").I),), True),
        (SpectralNorm(matrix("V").I), (Nonsingular(matrix("W")),), False),
        (SpectralNorm(matrix("V").I), (Relation(sp.Gt(SpectralNorm(matrix("V").I), 1, evaluate=False)),), False),
        (SpectralNorm(matrix("V")), (), True),
    ],
)
def test_a_number_in_a_claim_is_one_that_there_is(number: Any, conditions: tuple[Any, ...], good: bool) -> None:
    said = proposition(sp.Ge(number**2, 0, evaluate=False))
    found = accepted(arithmetic([], said), tuple(map(proposition, conditions)), (said,), None)
    assert found.is_holds is good
    assert good or "not known to exist" in found.reason


# -- letters that are spoken of and not shown ------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "count"), [(i, TOKENS), (HEAD, HEADS)])
def test_the_number_of_tokens_or_heads_is_not_captured(index: Index, count: sp.Symbol) -> None:
    """``z^T sum_i v_i = c`` shows no n; where all v_i become one vector w it is ``n z^T w = c``, which is not so for every n."""
    here = proposition(equation(Tensor(dot(vector("v", index), vector("z")).summed(index)), c))
    vacuous = logic.generalise(sp.Symbol("m", integer=True, positive=True), logic.assume(here))
    whole = logic.generalise(VectorLetter("v"), logic.discharge(here, vacuous))
    renamed = kernel.part(whole, ForAll(VectorLetter("v"), TRUE, Implication(here, ForAll(count, TRUE, here))))
    said = logic.instantiate(renamed, vector("w")).proposition
    assert count in said.left.word.relation.free_symbols
    assert said.right.letter != count
    assert same(said.right.body, said.left)


def test_the_dimension_of_a_matrix_is_not_arbitrary() -> None:
    """``|lambda_ell| < lambda_1 <= 0`` for every other eigenvalue says that there is none: d = 1, and not every d."""
    V = matrix("V")
    below, low = logic.assume(NonPrincipalModulusBelow(V)), logic.assume(sp.Le(Eigenvalue(V, 1), 0, evaluate=False))
    plane = logic.assume(sp.Ge(d, 2, evaluate=False))

    def second(every: Proved) -> Proved:
        guards = conjuncts(put(every.proposition.guard, {ell: sp.Integer(2)}))
        return logic.instantiate(every, sp.Integer(2), *(numbers.integers([plane], each) for each in guards))

    moduli = kernel.modus_ponens(words.meaning(below.proposition.word), below)
    absurd = numbers.arithmetic([second(moduli), second(words.modulus(V)), low], sp.false)
    line = numbers.arithmetic([logic.discharge(plane.proposition, absurd)], sp.Lt(d, 2, evaluate=False))
    with pytest.raises(Refused, match="belongs to the system"):
        logic.generalise(d, line)


@pytest.mark.parametrize("letter", [alpha, n])
def test_a_claim_does_not_bind_what_its_words_speak_of(letter: sp.Symbol) -> None:
    """``Stable(place)`` shows no step: ``for every alpha < 100`` before it says nothing, and reads as if it did."""
    oja, stable = system("oja-map"), Atom(Stable(ConsensusAt(matrix("V"), 1)))
    other = sp.Symbol("other", **letter.assumptions0)
    guard, known = sp.Lt(letter, 100, evaluate=False), logic.assume(stable, oja)
    every = ForAll(letter, proposition(guard), stable)
    proved = logic.generalise(other, known, guard.subs(letter, other))
    assert same(proved.proposition, every)
    some = logic.witness(
        Exists(letter, proposition(guard), stable), sp.Integer(5), known, numbers.arithmetic([], sp.Integer(100) > 5)
    )
    for made, claim in ((proved, every), (some, some.proposition)):
        verdict = accepted(made, (stable,), (claim,), oja)
        assert verdict.is_fails
        assert "belongs to the system" in verdict.reason
        assert accepted(known, (claim, stable), (stable,), oja).is_fails
    free = ForAll(other, proposition(guard.subs(letter, other)), stable)
    assert accepted(proved, (stable,), (free,), oja).is_holds


# -- conclusions of theorems that have no value --------------------------------------------------------------------------------


def test_a_theorem_does_not_say_that_what_it_binds_has_a_value() -> None:
    """The largest of the numbers ``1/|x_i|^2`` would make every token different from zero."""
    square = Dot(Base("x", (SLOT,)), (), Base("x", (SLOT,)))
    with pytest.raises(Refused, match="would have no value"):
        books.textbook(LARGEST_NUMBER, (), system("token-flow"), value=factor(square, -1))
    assert books.textbook(LARGEST_NUMBER, (), system("token-flow"), value=factor(square)).rule == "textbook"


def test_what_is_assumed_in_a_conclusion_may_have_no_value() -> None:
    """``for all t: x/t > 0 => ...`` asserts nothing of x/t, and a hypothesis of the theorem may say that it has a value."""
    t = sp.Symbol("t", real=True)
    quotient = sp.Gt(c / t, 0, evaluate=False)

    def theorem(*says: Any) -> Textbook:
        return Textbook("test", "a theorem of the test", {"c": sp.Symbol}, lambda c: says, "A book", "@book{test}")

    harmless = theorem((), ForAll(t, TRUE, Implication(proposition(quotient), proposition(c * t >= 0))))
    assert textbook(harmless, (), None, c=c).rule == "textbook"
    every = ForAll(t, proposition(t > 1), proposition(quotient))
    with pytest.raises(Refused, match="would have no value"):
        textbook(theorem((c > 0,), every), (logic.assume(c > 0),), None, c=c)
    asked = ForAll(t, proposition(t > 1), proposition(sp.Ne(t, 0)))
    assert textbook(theorem((asked,), every), (logic.assume(asked),), None, c=c).rule == "textbook"
    with pytest.raises(Refused, match="would have no value"):
        textbook(
            theorem((Implication(proposition(quotient), TRUE),), every),
            (logic.tautology([], Implication(proposition(quotient), TRUE)),),
            None,
            c=c,
        )
