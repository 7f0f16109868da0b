"""The tools behind the two chapters: enclosures contain the truth, refusals refuse, property tests can fail."""

from __future__ import annotations

import random
import re
from typing import Any

import mpmath
import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.proofs.abella import ab_e02_projection as ab_e02
from eigentoken.proofs.abella import ab_l31_projection_differential as ab_l31
from eigentoken.proofs.abella.ab_r42_wendel_probability import probability
from eigentoken.proofs.abella.causal_examples import bad_start_between
from eigentoken.proofs.properties.deterministic_data import det_matrix, det_spd, det_tokens, symmetric_eigenpairs
from eigentoken.proofs.properties.flow_properties import _positive, _vanishes
from eigentoken.proofs.properties.trajectories import (
    NoEnclosure,
    ball,
    enclose,
    extrapolated,
    integrate,
    precision,
)
from eigentoken.proofs.steps import textbook, textbook_flows, textbook_maps
from eigentoken.proofs.steps.calculus_steps import (
    TOKEN_I,
    TOKEN_J,
    analytic_step,
    expression_latex,
    field_of,
    not_analytic,
    tensor_step,
)
from eigentoken.proofs.steps.reductions import all_agree
from eigentoken.proofs.steps.tensor_reductions import applied, functional
from eigentoken.theory.calculus import SLOT, Assumptions, Expression, Letter, Norm, dot, exponential, factor, vector
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.observables_attention import solve
from eigentoken.theory.language.readings import LATEX, SYMBOLIC
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.steps import Citation, Reduction, Theorem


def test_enclosures_contain_closed_forms() -> None:
    with precision(40):
        (decay,) = enclose(lambda t, x: [-x[0]], ["1"], 2, steps=10, digits=40)
        assert decay.contains(arb(-2).exp())
        assert decay.rad() < 1e-10
        (logistic,) = enclose(lambda t, x: [x[0] * (1 - x[0])], ["1/10"], 3, steps=24, digits=40)
        assert logistic.contains(1 / (1 + 9 * arb(-3).exp()))
        (clock,) = enclose(lambda t, x: [2 * t * x[0]], ["1"], 1, steps=16, digits=40)
        assert clock.contains(arb(1).exp())
        angle = enclose(lambda t, x: [x[1], -x[0]], ["0", "1"], "3/2", steps=12, digits=40)
        assert angle[0].contains((arb(3) / 2).sin()) and angle[1].contains((arb(3) / 2).cos())


@given(st.integers(-30, 30), st.integers(1, 20))
def test_enclosure_of_a_riccati_equation(numerator: int, length: int) -> None:
    """``a' = 1 - a^2`` from any start inside (-1, 1) has the closed form tanh(artanh a_0 + t)."""
    start, end = sp.Rational(numerator, 31), sp.Rational(length, 10)
    with precision(40):
        (found,) = enclose(lambda t, x: [1 - x[0] * x[0]], [start], end, steps=10, digits=40)
        assert found.contains((ball(start).atanh() + ball(end)).tanh())


def test_no_enclosure_through_a_blow_up() -> None:
    with pytest.raises(NoEnclosure):
        enclose(lambda t, x: [x[0] * x[0]], ["1"], 2, steps=20)


def test_floats_agree_with_enclosures() -> None:
    (found,) = enclose(lambda t, x: [x[0] * (1 - x[0])], ["1/10"], 3, steps=24, digits=40)
    assert abs(integrate(lambda t, x: [x[0] * (1 - x[0])], [0.1], [3.0])[0][0] - float(found.mid())) < 1e-12


def test_functional_refuses_what_is_not_linear() -> None:
    y, X, m = sp.symbols("y X m")
    assert functional(X - m * y, {X: m, y: sp.Integer(1)}) == 0
    for wrong in (X * y, X + 1, X**2):
        with pytest.raises(ValueError, match="not linear"):
            functional(wrong, {X: m, y: m})
    assert applied("a", "b", X - m * y, {X: m, y: sp.Integer(1)}, sp.Integer(0)).check(frozenset()).is_holds
    assert applied("a", "b", X + m * y, {X: m, y: sp.Integer(1)}, sp.Integer(0)).check(frozenset()).is_fails


def test_comparison_of_lists_can_say_no() -> None:
    x = sp.Symbol("x")
    assert all_agree([(x + 1) ** 2], [x**2 + 2 * x + 1]).is_holds
    assert all_agree([(x + 1) ** 2], [x**2 + 1]).is_fails
    assert all_agree([], []).is_fails
    assert all_agree([x], [x, x]).is_fails
    assert all_agree([x, x, x], [x, x, 2 * x]).is_fails, "a pair that was seen before is passed over, no other"


def test_tensor_steps_reject_a_changed_sign_in_the_system() -> None:
    """The conserved form of the ellipsoid flow is not conserved by the push without its tangent part."""
    letter = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}), unit={"y": (letter,)})
    field = field_of("ellipsoid-flow", {"P": letter}, rules)
    right = tensor_step("a", "b", derive=lambda: field, claimed=field, rules=rules, left="x")
    wrong = tensor_step("a", "b", derive=lambda: field, claimed=field * -1, rules=rules, left="x")
    assert right.check(frozenset()).is_holds
    assert not wrong.check(frozenset()).is_holds
    assert "y_{" in right.display()


def test_the_lemma_on_the_projection_is_about_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """AB-L3.1: every step compares vectors of symbolic dimension, and a spoiled differential fails where it should."""
    right = ab_l31.differential()
    names = ("differential", "image is tangent", "tangent vectors are fixed", "residual is orthogonal")
    x, any_vector, letter = vector("x", SLOT), vector("X", SLOT), Letter("P")
    spoiled = {
        "no projection at all": (any_vector, {*names[:2]}),
        "twice the part along x": (any_vector + (right - any_vector) * 2, {*names[:2]}),
        "without the metric": (any_vector - dot(x, any_vector) * x, {*names[:3]}),
        "another metric": (any_vector - dot(x, any_vector, (Letter("Q"),)) * x, {*names[:3]}),
        "half": (right / 2, {names[0], *names[2:]}),
        "away from x": (any_vector - dot(x, any_vector, (letter,)) * vector("z", SLOT), {*names[:2], names[3]}),
    }
    assert {step.name: step.check(frozenset()).is_holds for step in ab_l31.derive().steps} == dict.fromkeys(names, True)
    for word, (wrong, noticed) in spoiled.items():
        monkeypatch.setattr(ab_l31, "differential", lambda wrong=wrong: wrong)
        failing = {step.name for step in ab_l31.derive().steps if not step.check(frozenset()).is_holds}
        assert failing == noticed, word


def test_a_projection_in_another_metric_is_no_projection_to_the_ellipsoid(monkeypatch: pytest.MonkeyPatch) -> None:
    """AB-E2 and AB-E3: with the norm of Q in place of that of W only what holds for both is left."""
    projected, rules = ab_e02.projection(ab_e02.LETTER)
    steps = (*ab_e02.derive_projection().steps, *ab_e02.derive_differential().steps)
    assert all(step.check(frozenset()).is_holds for step in steps) and len(steps) == 5
    other = rules.extended(norms={"r": ("x", (Letter("Q"),))})
    monkeypatch.setattr(ab_e02, "projection", lambda metric: (projected, other))
    steps = (*ab_e02.derive_projection().steps, *ab_e02.derive_differential().steps)
    failing = [step.name for step in steps if not step.check(frozenset()).is_holds]
    assert failing == ["on the ellipsoid", "differential", "on the ellipsoid", "tangency"]


def test_what_is_not_analytic_is_not_called_so() -> None:
    """A quotient by an inner product may have a pole; a claim that contains one is refused, and so is a wrong claim."""
    rules = Assumptions()
    pair = dot(vector("x", TOKEN_I), vector("x", TOKEN_J))

    def step(derived: Expression, claimed: Expression) -> Reduction:
        return analytic_step("a", "b", derive=lambda: derived, claimed=claimed, rules=rules, left="f")

    assert step(exponential(pair), exponential(pair)).check(frozenset()).is_holds
    assert not step(exponential(pair), exponential(pair) * 2).check(frozenset()).is_holds
    assert step(pair**-1, pair**-1).check(frozenset()).is_undecided
    assert step(exponential(pair**-1), exponential(pair**-1)).check(frozenset()).is_undecided
    assert not_analytic(factor(Norm("r", (TOKEN_I,)))), "a norm has a corner at zero"


def test_latex_of_expressions() -> None:
    x_i, x_j = vector("x", TOKEN_I), vector("x", TOKEN_J)
    assert expression_latex(dot(x_i, x_j, (Letter("W"),)) * 2) == r"2 x_{i}^{\top} W x_{j}"
    assert expression_latex(x_i - x_i) == "0"
    assert expression_latex(dot(x_i, x_i) ** -1) == r"\frac{1}{|x_{i}|^{2}}"


def test_textbook_theorems_have_hypotheses_references_and_bibtex() -> None:
    books = (textbook, textbook_flows, textbook_maps)
    theorems = [each for book in books for each in vars(book).values() if isinstance(each, Theorem)]
    assert len(theorems) >= 30
    assert len({each.key for each in theorems}) == len(theorems), "two theorems, one key"
    for each in theorems:
        assert each.hypotheses and all(each.conclusions) and each.reference
        assert not set(each.hypotheses) & set(each.conclusions), each.name
        assert each.bibtex.startswith("@") and each.bibtex.count("{") == each.bibtex.count("}")
        assert not re.search(r"(Theorem|Lemma|Corollary|Proposition|Section)s? [IVX\\d]", each.reference), (
            each.reference
        )
    spoken = textbook.CANTOR.of(K="the hulls")
    assert spoken.conclusions == ("the hulls shrink to one point",)
    assert all("the hulls" in each for each in spoken.hypotheses)


def test_the_book_cites_the_textbook_and_all_of_it() -> None:
    """Every cited theorem is one of the textbook, as it stands there, and each of them is cited somewhere."""
    books = (textbook, textbook_flows, textbook_maps)
    theorems = {each for book in books for each in vars(book).values() if isinstance(each, Theorem)}
    steps = [step for told in statements() if told.derivation for step in told.derivation.steps]
    cited = {step.theorem for step in steps if isinstance(step, Citation)}
    assert cited == theorems


def test_a_floating_point_number_in_a_derivation_is_refused() -> None:
    x = sp.Symbol("x", real=True)
    assert all_agree([x / 2], [x / 2]).is_holds
    assert all_agree([0.5 * x], [x / 2]).is_fails
    assert all_agree([x / 2], [0.5 * x]).is_fails


def test_deterministic_data_of_the_sheet() -> None:
    assert f"{float(det_tokens(3, 3)[0][0]):.15f}" == "0.239249329213982"
    assert f"{float(det_matrix(3)[0][0]):.15f}" == "-0.801143615546934"
    values, _ = symmetric_eigenpairs(det_spd(3))
    assert min(values) > 0.5 - 1e-30


@given(st.integers(0, 10**6))
def test_solving_by_normal_equations(seed: int) -> None:
    source = random.Random(seed)
    d = source.choice((1, 2, 3, 4))
    matrix = sp.Matrix(d, d, lambda *_: sp.Rational(source.randint(-9, 9), source.randint(1, 4)))
    side = [sp.Rational(source.randint(-9, 9)) for _ in range(d)]
    if matrix.det() == 0:
        return
    (found,) = solve(matrix.tolist(), (side,))
    assert matrix * sp.Matrix(found) == sp.Matrix(side)


def test_property_tests_can_fail() -> None:
    assert _vanishes(lambda source: [ball(0)])(3, 0).is_holds
    assert _vanishes(lambda source: [ball("1/1000")])(3, 0).is_fails
    assert _vanishes(lambda source: [arb(0, 1)])(3, 0).is_undecided
    assert _positive(lambda source: [ball(1)])(3, 0).is_holds
    assert _positive(lambda source: [ball(-1)])(3, 0).is_fails
    assert _positive(lambda source: [ball(0)])(3, 0).is_undecided


def test_no_bad_start_is_claimed_where_there_is_none() -> None:
    """An interval that lies on one side of the bad angle is not certified."""
    assert bad_start_between("3.5994", "3.5995").is_holds
    assert bad_start_between("3.5995", "3.5996").is_undecided
    assert bad_start_between("3.2", "3.3").is_undecided
    assert bad_start_between("3.1", "3.7").is_undecided, "the interval contains pi"


def test_the_word_identity_is_read() -> None:
    assert LATEX(IsIdentity(matrix("U"))) == "U = I"
    assert "U = I" in str(SYMBOLIC(IsIdentity(matrix("U"))))


def test_wendel_counts() -> None:
    assert probability(1, 1) == 1 and probability(3, 2) == 1 and probability(4, 2) == sp.Rational(7, 8)


def test_the_printed_matrix_decreases_its_potential_and_a_skew_one_does_not() -> None:
    from eigentoken.proofs.properties.flow_properties import potential_decreases_for
    from eigentoken.theory.statements.registry import statements

    assert statements().get("AB-S7").property_tests[0](20, 1).is_holds
    assert potential_decreases_for((("1", "2", "0"), ("-2", "1", "0"), ("0", "0", "1")))(20, 1).is_fails


def test_extrapolated_states_lie_in_their_enclosures_to_all_digits() -> None:
    """Two numbers that fall, pushed by time, at two times: within 1e-20 of balls that contain the solution."""

    def in_balls(t: Any, x: Any) -> list[Any]:
        return [t * t - x[0] * (-x[1] * x[1]).exp(), -x[1] * (-x[0] * x[0]).exp()]

    def in_digits(t: Any, x: Any) -> list[Any]:
        return [t * t - x[0] * mpmath.exp(-x[1] * x[1]), -x[1] * mpmath.exp(-x[0] * x[0])]

    found = extrapolated(in_digits, ["0.5", 1], ["0.75", "1.5"], 22)
    for time, states in zip(("0.75", "1.5"), found, strict=True):
        for state, contained in zip(states, enclose(in_balls, ["0.5", 1], time, steps=80, order=16), strict=True):
            assert contained.rad() < arb("1e-21")
            with mpmath.workdps(40):
                assert abs(state - mpmath.mpf(contained.mid().str(35, radius=False))) < mpmath.mpf(10) ** -20
