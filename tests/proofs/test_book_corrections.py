"""What was wrong, circular or unproved in our own statements on flows, and the steps that must be there now."""

from __future__ import annotations

import math
import re

import pytest
import sympy as sp

from eigentoken.proofs.pham.slow_decay import mean_moves, three_tokens_example
from eigentoken.proofs.properties.rotary_rings import C, a, r, radial_speed
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, TOKEN_J, TOKEN_K
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.calculus.latex import expression_latex
from eigentoken.theory.language.claims import InFull
from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import RemarkKind, Statement
from eigentoken.theory.statements.steps import Citation, Derivation

OURS = [each.id for each in statements() if each.id.startswith(("AB-", "PH-"))]
MEASURABLE = "P is measurable and bounded in time"
FORMER = (
    "The mean decays exponentially",
    "iff $c > 1$",
    "Observed and not proved",
    "The same proof covers several heads",
    "the same invariance and contraction for every step size",
    "any measurable $P(t)$ (no bound)",
)


def accepted(told: Statement, *, without: str = "", facts: tuple[str, ...] | None = None) -> set[str]:
    """The names of the steps that are accepted, with one step left out or with other facts given."""
    assert told.derivation is not None
    steps = [each for each in told.derivation.steps if each.name != without]
    names = {each.name for each in steps}
    kept = [each for each in steps if set(each.uses) <= names]
    while len(kept) < len(names):
        names = {each.name for each in kept}
        kept = [each for each in kept if set(each.uses) <= names]
    outcomes = Derivation(tuple(kept)).check(told.facts if facts is None else facts)
    return {each.step.name for each in outcomes if each.accepted}


@pytest.mark.parametrize("name", OURS)
def test_no_sentence_that_was_found_wrong_is_printed(name: str) -> None:
    told = statements().get(name)
    for former in FORMER:
        assert former not in told.text
    assert "circle" not in " ".join(told.facts)
    for remark in told.notes:
        if remark.kind is not RemarkKind.OPEN:
            assert not re.search(r"\bworks?\b|\bobserved\b", remark.text), remark


def test_a_mean_of_three_tokens_is_pushed_and_stays_far_above_an_exponential() -> None:
    """K8: W = 1, B = -1 from (1, 0.2, -0.9): the mean of an exponential decay would be below 1e-40 at t = 100."""
    assert mean_moves().is_holds
    *_, early, late, _skewness, ratio = three_tokens_example()
    assert late > early * math.exp(-10) > early * math.exp(-90)
    assert 1 < ratio < 1.02


@pytest.mark.parametrize(
    ("stretch", "way"),
    [(sp.Integer(2), 1), (sp.Rational(1, 2), 1), (sp.Rational(6, 5), -1), (sp.Rational(5, 6), -1), (sp.Integer(1), -1)],
)
def test_the_radius_of_the_rotary_example_moves_as_the_modulus_of_c_says(stretch: sp.Expr, way: int) -> None:
    """K9: the sign of the speed is that of |c| - 1, at several radii, from the registered system."""
    assert sign(abs(C.subs(a, stretch)) - 1) == way
    for radius in (sp.Rational(1, 5), sp.Rational(3, 5), sp.Integer(2)):
        assert sign(radial_speed()[0].subs({a: stretch, r: radius})) == way


@pytest.mark.parametrize("square", [1 + sp.sqrt(2), sp.sqrt(2) - 1])
def test_at_modulus_one_every_radius_is_an_equilibrium(square: sp.Expr) -> None:
    value = sp.radsimp((square - 1 / square) / 2)
    assert abs(value) == 1
    for radius in (sp.Rational(1, 3), sp.Integer(1)):
        speed = radial_speed()[0].subs({a: sp.sqrt(square), r: radius})
        assert abs(float(speed)) < 1e-12


def test_with_two_negative_signs_the_mean_of_an_antipodal_pair_stays_zero_and_consensus_grows() -> None:
    x = sp.Symbol("x", real=True)
    one, minus = ((sp.Integer(1),),), ((sp.Integer(-1),),)
    pair = velocity("token-flow", {"B": one, "W": minus}, ((x,), (-x,)))
    assert sp.simplify(pair[0][0] + pair[1][0]) == 0
    both = velocity("token-flow", {"B": one, "W": minus}, ((x,), (x,)))
    assert all(sp.simplify(row[0] - x) == 0 for row in both)


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("AB-X1", "heights stay"),
        ("AB-X2", "the half space is kept"),
    ],
)
def test_positive_heights_need_the_bound_while_positive_and_the_first_exit(name: str, last: str) -> None:
    """K10: without either the invariance is not established; the bound alone is a bound while positive."""
    told = statements().get(name)
    assert last in accepted(told)
    slope = next(each.name for each in told.derivation.steps if "while" in each.name)  # type: ignore[union-attr]
    for dropped in ("positive for ever", "no first zero", slope):
        assert last not in accepted(told, without=dropped), dropped


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("AB-X1", MEASURABLE),
        ("AB-X2", "P is measurable in time"),
    ],
)
def test_without_a_measurable_parameter_there_is_no_solution_and_no_claim(name: str, fact: str) -> None:
    """K11: existence is a step, and it needs the hypothesis."""
    told = statements().get(name)
    assert fact in told.facts
    found = accepted(told, facts=tuple(each for each in told.facts if each != fact))
    assert "measurable P" not in found
    if told.proof is None:
        for claim, named in zip(told.claims, told.claims_from, strict=True):
            at_each_state = isinstance(claim, InFull)  # of solutions it says nothing
            assert at_each_state or not set(named) <= found
    theorems = [each.theorem.key for each in told.derivation.steps if isinstance(each, Citation)]  # type: ignore[union-attr]
    assert "Danskin" not in theorems
    assert "Gronwall" not in theorems


def test_the_slope_of_a_softmax_average_alone_gives_no_pair_form() -> None:
    """K13."""
    assert "monotone" not in accepted(statements().get("PH-T1"), without="from slopes to differences")


def test_the_circle_is_cited_for_its_critical_points_and_with_its_hypotheses() -> None:
    proved = statements().get("AB-X0").proofs["ellipsoid-flow"]
    (cited,) = [step for step in proved.rests_on("textbook") if step.detail[0].key == "circle-landscape-exponential"]
    assert "2405.18273" in cited.detail[0].reference
    needed, _ = cited.detail[0].of(**cited.detail[1])
    assert any("d, 2" in str(each) for each in needed)


def test_no_sum_binds_an_index_that_is_free_in_another_term() -> None:
    free = dot(vector("x", TOKEN_I), vector("x", TOKEN_J))
    bound = dot(vector("x", TOKEN_I), vector("x", TOKEN_K)).summed(TOKEN_K)
    assert r"\sum_{j}" not in expression_latex(free + bound)
    assert r"\sum_{j}" in expression_latex(bound)
