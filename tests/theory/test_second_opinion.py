"""The second arithmetic: it confirms what is true, and wrong formulas, gaps in definedness and near misses never pass."""

from __future__ import annotations

import os
import signal
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentoken.theory.proving import cvc5_process
from eigentoken.theory.proving.cvc5_formulas import Terms, all_of, any_of, compared, different_truth, not_, same_truth
from eigentoken.theory.proving.cvc5_inequalities import hypotheses_near
from eigentoken.theory.proving.cvc5_questions import Attempt
from eigentoken.theory.proving.flint_identities import identity_by_flint, inequality_by_cvc5

x, y = sp.symbols("x y", real=True)
v, n = sp.symbols("v n", positive=True)
m = sp.Symbol("m", positive=True, integer=True)

TRUE_IDENTITIES = [
    ((sp.sqrt(v + 1) + 1) * (sp.sqrt(v + 1) - 1), v),
    (1 / (sp.sqrt(2) - 1), sp.sqrt(2) + 1),
    (v ** (1 - n) / v, v**-n),
    (2**n / 2, 2 ** (n - 1)),
    (sp.cosh(x) ** 2 - sp.sinh(x) ** 2, 1),
    (sp.exp(x / 3) ** 2 * sp.exp(x / 3), sp.exp(x)),
    (sp.sqrt(sp.sqrt(v) + v) ** 4, v + 2 * v * sp.sqrt(v) + v**2),
]


@pytest.mark.parametrize(("left", "right"), TRUE_IDENTITIES)
def test_true_identities_are_confirmed_and_spoiled_ones_are_not(left: sp.Expr, right: sp.Expr) -> None:
    assert identity_by_flint(left, right).is_holds
    for wrong in (-right, right + 1, 2 * right, right + sp.sqrt(v)):
        assert not identity_by_flint(left, wrong).is_holds


def test_what_is_false_on_a_branch_is_not_confirmed() -> None:
    z = sp.Symbol("z")
    assert identity_by_flint(sp.sqrt(z**2), z).is_undecided
    assert identity_by_flint((z**2) ** n, z ** (2 * n)).is_undecided
    assert identity_by_flint(sp.log(z), z).is_undecided


TRUE_INEQUALITIES = [
    ([v > 1], v**2 > v),
    ([sp.Ne(x, 0)], 1 / sp.Abs(x) > 0),
    ([x >= 0], x ** sp.Rational(3, 2) >= 0),
    ([x > 0, y > 0], x / y + y / x >= 2),
    ([], sp.Max(x, y) >= (x + y) / 2),
    ([], sp.Min(x, y) <= sp.Max(x, y)),
    ([], sp.exp(x) >= 1 + x),
    ([x < y], sp.exp(x) < sp.exp(y)),
    ([], m >= 1),
    ([sp.Abs(x) < 1], sp.And(x < 1, x > -1)),
    ([sp.Eq(n, v + 2)], sp.Eq(1 / (n - 1), 1 / (v + 1))),
    ([sp.Eq(x, y + 1), sp.Eq(y, 2 * v)], x > 1),
    ([sp.Eq(x, sp.Abs(x))], x >= 0),
    ([sp.Eq(y, sp.Abs(x))], y**2 >= x * y),
    ([], sp.Abs(sp.Abs(x) - 1) <= sp.Max(x**2, 1)),
    ([sp.Eq(x, sp.Max(y, 1))], sp.And(x >= 1, x >= y)),
    ([], sp.exp(2 * x) + sp.exp(-2 * x) >= 2),
    ([y >= sp.exp(-x)], y * sp.exp(x / 2) ** 2 >= 1),
    ([x > 2, y < 1], (x - 1) * (y - 1) / ((x - 2) * (y - 3) ** 2) < 0),
    ([sp.Eq(y, 1 / x), x > 0], x * y**2 <= 1 / x),
    ([sp.Eq(v * x, y)], sp.Eq(x**2, y**2 / v**2)),
    ([sp.Eq(x, 1 / (y - 1))], sp.Ne(y, 1)),
    ([sp.Eq(x, 1 / sp.Abs(y)), sp.Ne(y, 0)], x**2 * y**2 >= 1),
    ([x > 1, y > x, sp.Ne(v, 2)], x**2 > x),
    ([sp.sqrt(x) < 2], sp.And(x >= 0, x < 4)),
    ([sp.sqrt(x + y) > 1, y < 0], x > 1),
    ([sp.Ge(sp.cbrt(v), 2)], v >= 8),
]
FALSE_INEQUALITIES = [
    ([v > 0], v**2 > v),
    ([], 1 / sp.Abs(x) > 0),
    ([], sp.sqrt(x) >= 0),
    ([], sp.Abs(1 / x) >= 0),
    ([], 1 / x**2 > 0),
    ([x > 0, y > 0], x / y + y / x > 2),
    ([], sp.Max(x, y) > (x + y) / 2),
    ([], sp.exp(x) > 1 + x),
    ([x <= y], sp.exp(x) < sp.exp(y)),
    ([], m >= 2),
    ([sp.Abs(x) < 1], x < sp.Rational(99, 100)),
    ([sp.Eq(n, v + 2)], sp.Eq(1 / (n - 1), 1 / (v + 2))),
    ([sp.Eq(x, y)], (x - y + 1) / y > 0),
    ([sp.Eq(x, y + 1), sp.Eq(y, 2 * v)], x > 2),
    ([sp.Eq(x, y), sp.Eq(x, y)], x > y),
    ([sp.Eq(x, sp.Abs(x))], x > 0),
    ([sp.Eq(x, -sp.Abs(x))], x >= 0),
    ([], sp.Abs(sp.Abs(x) - 1) <= x**2),
    ([sp.Eq(x, sp.Max(y, 1))], x > y),
    ([], sp.exp(2 * x) + sp.exp(-2 * x) > 2),
    ([y >= sp.exp(-x)], y * sp.exp(x / 2) >= 1),
    ([x > 2, y < 1], (x - 1) * (y - 1) / ((x - 2) * (y + 3) ** 2) < 0),
    ([x < 4], sp.sqrt(x) < 2),
    ([sp.sqrt(x) < 2], x > 0),
    ([sp.sqrt(x + y) > 1, y < 1], x > 1),
    ([x > -1], sp.sqrt(x) ** 2 >= x - sp.sqrt(x)),
]


@pytest.mark.parametrize(("hypotheses", "conclusion"), TRUE_INEQUALITIES)
def test_true_inequalities_are_confirmed(hypotheses: list[sp.Basic], conclusion: sp.Basic) -> None:
    assert inequality_by_cvc5(hypotheses, conclusion).is_holds


@pytest.mark.parametrize(("hypotheses", "conclusion"), FALSE_INEQUALITIES)
def test_false_or_undefined_inequalities_never_pass(hypotheses: list[sp.Basic], conclusion: sp.Basic) -> None:
    assert not inequality_by_cvc5(hypotheses, conclusion).is_holds


def test_an_equation_gives_a_letter_only_where_what_stands_before_it_is_not_zero() -> None:
    """``x y = x`` says nothing of y where x = 0; that an equation is defined is known although it was used up."""
    assert inequality_by_cvc5([sp.Eq(x * y, x)], sp.Eq(y, 1)).is_fails
    assert inequality_by_cvc5([sp.Eq(x * y, x), x >= 0], sp.Eq(y, 1)).is_fails
    assert inequality_by_cvc5([sp.Eq(x * y, x), x < 0], sp.Eq(y, 1)).is_holds
    assert inequality_by_cvc5([sp.Eq((x - 1) * y, 1), sp.Ne(x, 0)], y > 0).is_fails
    assert not inequality_by_cvc5([sp.Eq(y, 1 / (x - 2))], sp.Ne(x, 3)).is_holds


def test_fewer_hypotheses_refute_nothing() -> None:
    """Only ``x > y`` speaks of more than x: without it ``x > 1`` is false, and that is not said."""
    near = Attempt({}, 400_000, near=True)
    assert inequality_by_cvc5([x > y, y > 1, x > 0], x > 1, attempts=[near]).is_undecided
    assert inequality_by_cvc5([x > y, y > 1, x > 0], x > 1).is_holds
    assert inequality_by_cvc5([y > 1, x > 0], x > 1).is_fails
    assert hypotheses_near([x > y, y > 1, x > 0], x > 1) == [x > 0]
    assert hypotheses_near([x > 0], x > 1) == []  # these are all


def test_a_refutation_needs_whole_numbers_where_the_symbol_is_one() -> None:
    between = sp.Or(2 * m <= 2, 2 * m >= 4)  # true of integers, false at 3/2
    assert inequality_by_cvc5([], between).is_undecided


def test_a_letter_that_was_replaced_has_its_value_in_a_refutation() -> None:
    verdict = inequality_by_cvc5([sp.Eq(x, y + 1), y > 3], x > 5)
    assert verdict.is_fails and "x =" in verdict.reason and "y =" in verdict.reason


def test_functions_without_translation_are_said_so() -> None:
    verdict = inequality_by_cvc5([], sp.sin(x) <= 1)
    assert verdict.is_undecided
    assert "sin" in verdict.reason


@settings(max_examples=40, deadline=None)
@given(st.integers(-4, 4), st.integers(-4, 4), st.integers(-6, 6))
def test_quadratics_against_the_discriminant(b: int, c: int, shift: int) -> None:
    """``x^2 + b x + c > shift`` for all x exactly when the discriminant is negative."""
    verdict = inequality_by_cvc5([], x**2 + b * x + c > shift)
    assert verdict.is_holds == (b * b - 4 * (c - shift) < 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no copies of a process here")
def test_no_question_gets_the_late_answer_to_another() -> None:
    """The copy that answers is killed between questions: each answer is still that of its own question."""
    x = sp.Symbol("x", real=True)
    assert cvc5_process.guarded_inequality([x > 11], x**2 > x).is_holds
    for low in (12, 13, 14):
        copies = Path(f"/proc/{cvc5_process._HELPER[0].pid}/task/{cvc5_process._HELPER[0].pid}/children")
        if not copies.exists():
            pytest.skip("this system does not list the children of a process")
        os.kill(int(copies.read_text().split()[0]), signal.SIGKILL)
        assert cvc5_process.guarded_inequality([x > low], x**2 > x).is_holds
        assert cvc5_process.guarded_inequality([x > -low], x**2 > x).is_fails


@pytest.mark.parametrize("hint", [0, 1, 5, 7, 99, -3])
def test_a_hint_changes_the_order_of_the_attempts_and_no_answer(hint: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    attempted = cvc5_process._attempted
    monkeypatch.setattr(cvc5_process, "_attempted", lambda each: (asked.append(each[2]), attempted(each))[1])
    for conclusion, answer in ((x**2 + y**2 >= 2 * x * y, "holds"), (x**2 + y**2 > 2 * x * y, "fails")):
        asked.clear()
        named = {cvc5_process.name_of((x > hint,), conclusion): cvc5_process.Hint(hint)}
        monkeypatch.setattr(cvc5_process, "best_attempts", lambda named=named: named)
        assert cvc5_process.guarded_inequality([x > hint], conclusion).answer.value == answer
        assert len(asked) == len(set(asked))
        if 0 < hint < 9:
            assert asked[0] == hint


def test_what_follows_from_some_hypotheses_is_asked_of_those_first_and_the_rest_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hint that names too few hypotheses, or none that there is, costs time and changes no answer."""
    asked: list[int] = []
    attempted = cvc5_process._attempted
    monkeypatch.setattr(cvc5_process, "_attempted", lambda each: (asked.append(len(each[0])), attempted(each))[1])
    given = (x > 21, y > x, y < 100)
    for conclusion, answer in ((x * y > x, "holds"), (x * y < x, "fails")):
        name = cvc5_process.name_of(given, conclusion)
        for seconds, enough in enumerate([(0, 1), (2,), (7, -1), (0, 1, 2)], start=3):
            asked.clear()
            named = {name: cvc5_process.Hint(1, enough)}
            monkeypatch.setattr(cvc5_process, "best_attempts", lambda named=named: named)
            assert cvc5_process.guarded_inequality(given, conclusion, seconds).answer.value == answer
            assert asked[0] == len([place for place in enough if 0 <= place < 3] or given)
            if enough == (0, 1) and answer == "holds":
                assert len(asked) == 1


def test_hints_that_cannot_be_read_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cvc5_process.best_attempts()  # of the book
    for text in ("", "[1, 2]", '{"a": "b"}', '{"a": 1}', '{"a": []}', '{"a": [1, "b"]}', "\0"):
        (tmp_path / "hints.json").write_text(text, encoding="utf-8")
        monkeypatch.setattr(cvc5_process, "BEST", tmp_path / "hints.json")
        assert cvc5_process.best_attempts.__wrapped__() == {}


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(0, 2)), st.fractions(-3, 3, max_denominator=4), max_size=4
    ),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
)
def test_a_formula_is_true_for_the_solver_where_it_is_true(
    coefficients: dict[tuple[int, int], Fraction], point: tuple[int, int]
) -> None:
    context = fmpq_mpoly_ctx.get(("g0", "g1"), Ordering.degrevlex)
    polynomial = context.from_dict({key: fmpq(each.numerator, each.denominator) for key, each in coefficients.items()})
    value = polynomial(*map(fmpq, point))
    above, zero = compared(">", polynomial), compared("=", polynomial)
    formulas = {
        above: value > 0,
        zero: value == 0,
        compared(">=", polynomial): value >= 0,
        compared("<", polynomial): value < 0,
        compared("<=", polynomial): value <= 0,
        compared("!=", polynomial): value != 0,
        all_of([above, not_(zero)]): value > 0,
        all_of([]): True,
        any_of(above, zero): value >= 0,
        any_of(): False,
        same_truth(above, zero): value < 0,
        different_truth(above, zero): value >= 0,
    }
    terms = Terms()
    for formula, truth in formulas.items():
        solver = terms.solver()
        solver.setLogic("QF_NRA")
        for place, each in enumerate(point):
            at = terms.manager.mkTerm(terms.kind.EQUAL, terms.letter(place), terms.manager.mkReal(each))
            solver.assertFormula(at)
        solver.assertFormula(terms(formula))
        assert solver.checkSat().isSat() == truth
