"""The chapter on Li and Altafini: every derivation, counterexample, vector and variant; and that the checkers can say no."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest
import sympy as sp

import eigentoken.proofs.power_method as chapter
from eigentoken.proofs.properties.exact_points import agree, decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.reductions import grouped, tensor
from eigentoken.proofs.steps.token_groups import Unresolved, advance_groups, known_root, slopes
from eigentoken.proofs.verify import vector_line
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.statements.registry import recalled, statements
from eigentoken.theory.statements.statement import Kind, Statement
from eigentoken.theory.statements.steps import ALL_SIZES, Citation, Identity, Inequality, Reduction, Setting

IDS = (
    *(f"PM-E{number}" for number in (*range(1, 11), 21)),
    *("PM-F", "PM-A1", "PM-DOM", "PM-DIFF", "PM-CM", "PM-C2", "PM-CX1", "PM-P1", "PM-T1", "PM-T2", "PM-T3"),
    *(f"PM-L{number}" for number in range(1, 16)),
    *(f"PM-R{number}" for number in (1, 2, 3, 4, 6, 7, 8, 10)),
    *("PM-N1", "PM-N3", "PM-N4", "PM-N4'", "PM-N6", "PM-S1", "PM-S2", "PM-S3"),
    *(f"CT-{number}" for number in range(1, 9)),
)
#: Statements that the audit found false as printed: each keeps the printed form with a certified counterexample.
FALSE_AS_PRINTED = (
    "PM-L1", "PM-L2", "PM-L5", "PM-L6", "PM-L8", "PM-L9", "PM-L15", "PM-N1", "PM-N4", "PM-N6", "PM-P1", "PM-R1", "PM-R6",
    "PM-R10", "PM-T2", "PM-T3", "CT-7",
)  # fmt: skip


def found(name: str) -> Statement:
    return statements().get(name)


def test_every_id_of_the_sheet_is_in_the_book() -> None:
    assert [name for name in IDS if name not in statements()] == []
    assert len(set(IDS)) == len(IDS) == 61


def test_dependencies_form_a_graph_without_circles() -> None:
    graph = statements().graph()
    assert graph.has_edge("PM-L4", "PM-L3")
    assert graph.has_edge("PM-T2", "PM-CX1")


def _without_zeros(name: str) -> str:
    """``pm_l04_consensus_stability`` as ``pm_l4_consensus_stability``: the file sorts, the id does not."""
    return re.sub(r"(?<=[a-z_])0+(?=\d)", "", name)


def test_one_file_a_statement() -> None:
    """Each module of the chapter that registers statements registers exactly one."""
    for module in pkgutil.iter_modules(chapter.__path__):
        loaded = importlib.import_module(f"{chapter.__name__}.{module.name}")
        own = [
            value
            for name, value in vars(loaded).items()
            if isinstance(value, Statement) and _without_zeros(module.name).startswith(name.lower())
        ]
        is_statement_file = module.name.split("_")[0] in {"pm", "ct"}
        assert len(own) == (1 if is_statement_file else 0), module.name


@pytest.mark.parametrize("name", IDS)
def test_derivation_holds(name: str) -> None:
    statement = found(name)
    if statement.derivation is None:
        assert set(statement.proofs) == set(statement.systems), "what has no steps is proved by the kernel"
        return
    outcomes = statement.derivation.check(statement.facts)
    bad = [(outcome.step.name, outcome.verdict.reason) for outcome in outcomes if not outcome.verdict.is_holds]
    assert bad == []
    assert any(not outcome.cited for outcome in outcomes), "a derivation must check something itself"


@pytest.mark.parametrize("name", IDS)
def test_counterexamples_vectors_and_variants_hold(name: str) -> None:
    statement = found(name)
    for vector in statement.vectors:
        line = vector_line(vector)
        assert line.answer == "holds", (vector.name, line.reason)
    if statement.printed is not None:
        for example in statement.printed.counterexamples:
            assert example.check().is_holds, example.name
    for variant in statement.variants:
        assert variant.witness().is_holds, variant.dropped


@pytest.mark.parametrize("name", FALSE_AS_PRINTED)
def test_false_forms_keep_a_counterexample(name: str) -> None:
    printed = found(name).printed
    assert printed is not None and printed.false
    assert printed.counterexamples


@pytest.mark.parametrize("name", IDS)
def test_everything_prints(name: str) -> None:
    statement = found(name)
    assert statement.derivation is not None or statement.proof is not None
    for word in (*statement.conditions, *statement.claims):
        assert LATEX(word)
    for step in statement.derivation.steps if statement.derivation else ():
        text = step.display()
        assert text and "<1>" not in text
        assert text.count("{") == text.count("}"), step.name
        assert step.says.count("$") % 2 == 0, step.name
    assert statement.text.count("$") % 2 == 0
    assert statement.text or statement.claims


def test_limited_steps_say_so() -> None:
    """Steps for listed sizes only: ten tokens."""
    limited = {
        (name, step.name)
        for name in IDS
        for step in (found(name).derivation.steps if found(name).derivation else ())  # type: ignore[union-attr]
        if step.scope != ALL_SIZES
    }
    assert {name for name, _ in limited} == {"PM-N6"}


def test_theorem_two_claims_almost_every_start_only_where_it_is_proved() -> None:
    statement = found("PM-T2")
    almost = [LATEX(claim) for claim in statement.claims if "almost every" in LATEX(claim)]
    assert len(almost) == 1 and r"\implies" in almost[0], "only under a further condition"
    assert r"\lambda_{2}(V) > 0" in almost[0]
    assert statement.printed is not None and statement.printed.counterexamples, "two tokens are the counterexample"


def test_definitions_are_definitions() -> None:
    for name in IDS:
        if name.startswith("PM-E") or name in {"PM-F", "PM-A1"}:
            assert found(name).kind is Kind.DEFINITION


# --- the tools say no -------------------------------------------------------------------------------------------------


def test_a_wrong_claim_about_a_system_is_rejected() -> None:
    statement = found("PM-L3")
    assert statement.derivation is not None
    step = next(each for each in statement.derivation.steps if isinstance(each, Reduction))
    wrong = (*step.claimed[:1], -step.claimed[1], *step.claimed[2:])
    assert step.agrees(step.derive(), wrong).is_fails
    assert step.agrees(step.derive(), step.claimed[:-1]).is_fails


def test_a_changed_system_breaks_the_derivations(monkeypatch: pytest.MonkeyPatch) -> None:
    """x_i - alpha u_i instead of x_i + alpha u_i: the consensus spectrum no longer checks."""
    from eigentoken.theory.systems.algebra import LoopAlgebra

    plus = LoopAlgebra.add
    monkeypatch.setattr(LoopAlgebra, "add", lambda self, x, u, step=1: plus(self, x, u, -step))
    statement = found("PM-L3")
    assert statement.derivation is not None
    with pytest.raises(Unresolved):
        statement.derivation.check(statement.facts)


def test_roots_are_taken_only_of_named_squares() -> None:
    x = sp.Symbol("x", positive=True)
    assert known_root((1 + x,))(1 + 2 * x + x**2) == 1 + x
    with pytest.raises(Unresolved, match="not the square"):
        known_root((1 + x,))(1 + x**2)


def test_groups_count_their_tokens() -> None:
    """Two groups of sizes p and q at e_1 and e_2 under V = I: the mean is (p, q)/(p + q)."""
    p, q = sp.symbols("p q", positive=True)
    identity = [[1, 0], [0, 1]]
    flow = advance_groups("oja-flow", {"V": identity}, [(p, (1, 0)), (q, (0, 1))])
    assert sp.simplify(flow[0][1] - q / (p + q)) == 0
    assert sp.simplify(flow[1][0] - p / (p + q)) == 0
    moved = slopes("oja-flow", {"V": identity}, [(p, (1, 0), (0, 1)), (q, (1, 0), (0, 0))])
    assert sp.simplify(moved[0][1] - (p / (p + q) - 1)) == 0


def test_reductions_reject() -> None:
    x = sp.Symbol("x", real=True)
    good = grouped("g", "", lambda: ((1 + x) ** 2,), (1 + 2 * x + x**2,), "<1>")
    assert good.check(frozenset()).is_holds
    assert "x^{2}" in good.display()
    assert grouped("g", "", lambda: ((1 + x) ** 2,), (1 + 2 * x - x**2,), "<1>").check(frozenset()).is_fails
    assert grouped("g", "", tuple, (), "").check(frozenset()).is_fails


def test_tensor_reductions_reject() -> None:
    from eigentoken.theory.calculus import Assumptions, dot, matrix, vector

    def symmetric() -> tuple[object, object]:
        return dot(vector("a"), vector("b"), matrix("V")), Assumptions(symmetric=frozenset({"V"}))

    def arbitrary() -> tuple[object, object]:
        return dot(vector("a"), vector("b"), matrix("V")), Assumptions()

    turned = dot(vector("b"), vector("a"), matrix("V"))
    assert tensor("t", "", symmetric, turned, "").check(frozenset()).is_holds
    assert tensor("t", "", symmetric, turned * -1, "").check(frozenset()).is_fails
    assert tensor("t", "", arbitrary, turned, "").check(frozenset()).is_fails


def test_recalled_facts_must_be_established_elsewhere() -> None:
    told, fact = found("PM-L4"), "stable iff the step is below the threshold"
    here = Setting(told.systems, told.conditions)
    assert recalled("PM-L4", fact, "", "").within(here).check(frozenset()).is_holds
    assert recalled("PM-L4", "the moon is green", "", "").within(here).check(frozenset()).is_fails
    assert recalled("PM-L3", fact, "", "").within(here).check(frozenset()).is_fails


@pytest.mark.parametrize("name", ["PM-L5", "PM-R3", "PM-N1"])
def test_citations_need_every_hypothesis(name: str) -> None:
    derivation = found(name).derivation
    assert derivation is not None
    cited = [step for step in derivation.steps if isinstance(step, Citation) and step.hypotheses]
    assert cited
    for step in cited:
        whole = frozenset(step.hypotheses)
        assert step.check(whole).is_holds
        for hypothesis in whole:
            assert step.check(whole - {hypothesis}).is_fails


def test_balls_are_compared_with_exact_numbers() -> None:
    point = instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")
    assert agree(multipliers(point), ("7/8", "1")).is_holds
    assert agree(multipliers(point), ("7/8", "1.0000000000000000001")).is_fails
    assert agree(multipliers(point), ("7/8",)).is_fails
    assert point_is(point, "bipartite", stable="marginal").is_holds
    assert point_is(point, "bipartite", stable="stable").is_fails
    assert point_is(point, "consensus").is_fails


def test_decimals_round_to_nearest() -> None:
    assert decimals("2/3", "-1/3", digits=4) == ("0.6667", "-0.3333")
    assert decimals("1 * 2") == ("1", "1")


def test_sufficient_conditions_of_theorem_three_are_not_necessary() -> None:
    """TV6 violates lambda_1 b_2 > 0 (lambda_1 = 1) and is stable."""
    from eigentoken.proofs.power_method.pm_t03_single_head import TV6, tv6_heights

    assert tv6_heights()[1] < 0
    assert point_is(TV6, "bipartite", stable="stable").is_holds


def test_inequalities_need_their_hypotheses() -> None:
    """Dropping the dominance of lambda_1, or the threshold, breaks PM-L4."""
    derivation = found("PM-L4").derivation
    assert derivation is not None
    steps = {step.name: step for step in derivation.steps}
    below = steps["agreement below"]
    assert isinstance(below, Inequality)
    weakened = Inequality(name="x", says="", hypotheses=below.hypotheses[:-1], conclusion=below.conclusion)
    assert weakened.check(frozenset()).is_fails


def test_identities_reject_a_flipped_sign() -> None:
    derivation = found("PM-L14").derivation
    assert derivation is not None
    step = next(each for each in derivation.steps if each.name == "value at one")
    assert isinstance(step, Identity)
    assert Identity(name="x", says="", left=step.left, right=-step.right).check(frozenset()).is_fails
