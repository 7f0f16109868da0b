"""The real-arithmetic prover: it proves true statements and never says ``holds`` to a false one."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentoken.theory.language.verdicts import KeptAnswers, holds
from eigentoken.theory.proving import polynomial_form, real_arithmetic
from eigentoken.theory.proving.real_arithmetic import Lemma, prove, satisfiable, truth_at

a, b, c, x, y, s, t = sp.symbols("a b c x y s t", real=True)
n = sp.Symbol("n", integer=True, positive=True)


@pytest.mark.parametrize(
    ("hypotheses", "conclusion"),
    [
        ([], a**2 + b**2 >= 2 * a * b),
        ([a > 0, b > 0], a / b + b / a >= 2),
        ([a > 1], 1 / a < 1),
        ([x >= 0], sp.sqrt(x**2) <= x),
        ([], sp.Abs(a + b) <= sp.Abs(a) + sp.Abs(b)),
        ([], sp.Max(a, b) >= a),
        ([s > 0], sp.tanh(s) > 0),
        ([], sp.And(sp.tanh(s) < 1, sp.tanh(s) > -1)),
        ([s > t], sp.tanh(s) > sp.tanh(t)),
        ([], sp.Eq(sp.cosh(s) ** 2 - sp.sinh(s) ** 2, 1)),
        ([s > 0, t > 0, s > t], sp.tanh(s - t) > 0),
        ([], sp.exp(x) >= 1 + x),
        ([x > 0], sp.log(x) <= x - 1),
        ([], 1 / n <= 1),
        ([x**2 < 2], sp.Piecewise((x, x > 0), (-x, True)) < sp.Rational(3, 2)),
        ([a < b, b < c], sp.Implies(c < 0, a < 0)),
        ([sp.Eq(x * y, 1), x > 0], y > 0),
        ([x > 0, x < 0], sp.false),
    ],
)
def test_true_statements_are_proved(hypotheses, conclusion):
    verdict = prove(hypotheses, conclusion)
    assert verdict.is_holds, verdict.reason
    assert "check-sat" in verdict.certificate.data["smtlib"]


@pytest.mark.parametrize(
    ("hypotheses", "conclusion"),
    [
        ([], a**2 + b**2 > 2 * a * b),
        ([a > 0], 1 / a < 1),
        ([], 1 / a > -1),
        ([], sp.Abs(a + b) < sp.Abs(a) + sp.Abs(b)),
        ([s > t], sp.tanh(s) > sp.tanh(t) + sp.Rational(1, 100)),
        ([s > 0], sp.tanh(s) > sp.Rational(1, 2)),
        ([], sp.exp(x) >= 2 + x),
        ([], 1 / n < 1),
        ([sp.Eq(x**2, 4)], x > 0),
        ([a < b], sp.Implies(c < 0, a < 0)),
        ([], sp.Eq(x / x**2, 1 / x + y)),
    ],
)
def test_false_statements_get_a_confirmed_point(hypotheses, conclusion):
    verdict = prove(hypotheses, conclusion)
    assert verdict.is_fails, verdict.reason
    point = verdict.details["point"]
    assert all(truth_at(sp.sympify(given), point) is True for given in hypotheses)
    assert truth_at(sp.sympify(conclusion), point) is not True
    assert all(value.is_Rational for value in point.values())


def test_an_undefined_conclusion_is_not_proved():
    assert prove([a >= 0], a / a**2 >= 0).is_fails
    assert prove([a > 0], a / a**2 >= 0).is_holds
    assert prove([], sp.sqrt(x) >= 0).is_fails
    assert prove([], sp.log(x) <= x - 1).is_fails
    assert prove([], sp.Abs(1 / x) >= 0).is_fails
    assert prove([x > 2], sp.sqrt(x - 1) > 1).is_holds


def test_contradictory_hypotheses_prove_nothing():
    assert prove([x > 1, x < 0], y > 7).is_undecided
    assert prove([x > 1, x < 0], y > 7, vacuous_allowed=True).is_holds


def test_a_relaxation_never_refutes():
    # true for the exponential, but not a consequence of the facts that the solver gets
    verdict = prove([x > 0], sp.exp(x) > 1 + x + x**2 / 2)
    assert not verdict.is_fails
    # true for integers only: the real model is not a counterexample
    assert prove([], n**2 - 3 * n + 2 >= 0).is_undecided


def test_two_symbols_of_one_name_are_refused():
    positive = sp.Symbol("a", positive=True)
    with pytest.raises(ValueError, match="'a'"):
        prove([positive > 1], a > 1)


@pytest.mark.parametrize("bad", [a + b, 3, sp.Symbol("A_boolean")])
def test_what_is_not_a_statement_is_refused(bad):
    with pytest.raises(TypeError):
        prove([], bad)


def test_rounded_numbers_are_refused():
    with pytest.raises(TypeError, match="exact Rational"):
        prove([a > 0.1], a > 0)


def test_satisfiable():
    assert satisfiable([x**2 < 2, x > 1]).is_holds
    assert satisfiable([x**2 < 2, x > 2]).is_fails


def test_lemma():
    assert Lemma("square", (), x**2 >= 0).check().is_holds
    assert Lemma("square", (), x**2 > 0).check().is_fails


@pytest.fixture
def solved(monkeypatch):
    """Every problem that reaches the solver, with a table of kept answers of its own."""
    problems = []

    def counted(problem, seconds):
        problems.append(problem)
        return solve(problem, seconds)

    solve = real_arithmetic._solve
    monkeypatch.setattr(real_arithmetic, "_solve", counted)
    monkeypatch.setattr(real_arithmetic, "_KEPT", KeptAnswers())
    return problems


def test_an_answer_is_kept_for_the_same_question_only(solved):
    positive = sp.Symbol("x", positive=True)
    questions = [
        ([x > 1], x**2 > x, "holds"),
        ([], x**2 > x, "fails"),
        ([x >= 1], x**2 > x, "fails"),
        ([x > sp.Rational(1, 2)], x**2 > x, "fails"),
        ([x > 1], x**2 > 2 * x, "fails"),
        ([x > 1], x**2 >= x, "holds"),
        ([], positive > 0, "holds"),
        ([], x + 1 > x, "holds"),
        ([], sp.Gt(x, 0), "fails"),
    ]
    for hypotheses, conclusion, answer in questions:
        before = len(solved)
        assert prove(hypotheses, conclusion).answer.value == answer
        assert len(solved) > before or conclusion is sp.true
    asked = len(solved)
    for hypotheses, conclusion, answer in questions:
        assert prove(tuple(hypotheses), conclusion).answer.value == answer
    assert len(solved) == asked
    with pytest.raises(TypeError, match="exact Rational"):
        prove([x > 0.5], x**2 > x)


def test_what_is_undecided_is_asked_again_and_so_is_what_has_other_limits(solved):
    for hypotheses, conclusion in (([x > 1, x < 0], y > 7), ([], n**2 - 3 * n + 2 >= 0)):
        assert prove(hypotheses, conclusion).is_undecided
        asked = len(solved)
        assert prove(hypotheses, conclusion).is_undecided
        assert len(solved) > asked
    assert prove([x > 1, x < 0], y > 7, vacuous_allowed=True).is_holds
    assert prove([x > 1, x < 0], y > 7).is_undecided
    asked = len(solved)
    assert prove([x > 1], x > 0).is_holds and prove([x > 1], x > 0, seconds=30).is_holds
    assert len(solved) == asked + 4


def test_the_table_of_kept_answers_is_bounded():
    table = KeptAnswers(most=2)
    for question in ("first", "second", "first", "third"):
        table.answer(question, lambda: holds("old"))
    assert [table.answer(each, lambda: holds("new")).reason for each in ("first", "third", "second")] == [
        "old",
        "old",
        "new",
    ]


rationals = st.fractions(min_value=-5, max_value=5, max_denominator=6)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(rationals, min_size=3, max_size=3), rationals)
def test_quadratics_agree_with_the_discriminant(coefficients, bound):
    p, q, r = (sp.Rational(value.numerator, value.denominator) for value in coefficients)
    low = sp.Rational(bound.numerator, bound.denominator)
    claim = sp.Ge(p * x**2 + q * x + r, low)
    if claim in (sp.true, sp.false):
        return
    truth = (p > 0 and q**2 - 4 * p * (r - low) <= 0) or (p == 0 and q == 0 and r >= low)
    assert prove([], claim).answer.value == ("holds" if truth else "fails")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 4), min_size=2, max_size=3), st.integers(1, 2))
def test_a_quotient_is_the_same_in_lowest_terms_with_the_signs_of_sympy(
    rows: list[tuple[int, ...]], power: int
) -> None:
    parts = [p * a * b + q * a + r * b + s_ for p, q, r, s_ in rows]
    below = [each for each in parts[1:] if each != 0]
    for quotient in (parts[0] / sp.Mul(*below) ** power, sum((1 / each for each in below), parts[0]) * (a + b)):
        top, bottom = polynomial_form._quotient(quotient)
        assert (top, bottom) == sp.fraction(sp.cancel(sp.together(quotient)))
