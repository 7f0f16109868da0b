"""The chapters of Abella et al. and Pham et al.: what a statement carries holds, and wrong steps are rejected."""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import replace
from typing import Any

import mpmath
import pytest
import sympy as sp

import eigentoken.proofs.abella as abella
import eigentoken.proofs.pham as pham
from eigentoken.proofs.verify import vector_line, verify
from eigentoken.theory.calculus import CalculusAlgebra, dot
from eigentoken.theory.statements.registry import Recalled, statements
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.steps import (
    ALL_SIZES,
    Citation,
    Computation,
    Derivation,
    Identity,
    Inequality,
    Reduction,
    Step,
)

from ..shares import others_slow

ABELLA = [
    "AB-E2",
    "AB-E3",
    "AB-E4",
    "AB-E5",
    "AB-E6",
    "AB-E7",
    "AB-E8",
    "AB-E9",
    "AB-E10",
    "AB-L3.1",
    "AB-L3.2",
    "AB-L3.3",
    "AB-T3.1",
    "AB-T3.2",
    "AB-X0",
    "AB-L4.1",
    "AB-L4.2",
    "AB-T4.1",
    "AB-X1",
    "AB-R4.2",
    "AB-E15",
    "AB-L5.1",
    "AB-T5.1",
    "AB-R5.1",
    "AB-L6.1",
    "AB-T6.1",
    "AB-X2",
    "AB-E25",
    "AB-S7",
]
PHAM = [
    "PH-M",
    "PH-T1",
    "PH-C1",
    "PH-T2",
    "PH-C2",
    "PH-C4",
    "PH-T3",
    "PH-T4",
    "PH-T5",
    "PH-T6",
    "PH-T7",
    "PH-T8",
    "PH-T9",
]
IDS = [*ABELLA, *PHAM]


def _load() -> None:
    for package in (abella, pham):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")


_load()


def _statement(name: str) -> Statement:
    return statements().get(name)


#: Statements that have an account in steps beside what the kernel proves, and those that the kernel alone proves.
STEPPED = tuple(name for name in IDS if _statement(name).derive is not None)
KERNEL_ALONE = tuple(name for name in IDS if name not in STEPPED)


def _steps(name: str) -> tuple[Step, ...]:
    derivation = _statement(name).derivation
    return () if derivation is None else derivation.steps


@pytest.mark.parametrize("name", KERNEL_ALONE)
def test_what_has_no_steps_is_proved_by_the_kernel(name: str) -> None:
    statement = _statement(name)
    assert not statement.text, "words that no claim carries"
    assert set(statement.proofs) == set(statement.systems)
    assert not any(proved.argued for proved in statement.proofs.values())


def test_every_id_of_the_sheet_is_in_the_book() -> None:
    found = {each.id for each in statements() if each.id.startswith(("AB-", "PH-"))}
    beside = {"AB-X1c", "AB-X2c", "PH-T4c"}  # with masks, heads and positions that the kernel does not reach
    beside |= {"AB-X3"}  # our own: the local part of AB-T6.1
    beside |= {"AB-X5", "AB-X6", "PH-X1", "PH-X2", "PH-X2a", "PH-X3"}  # the sheet of new results
    assert found == set(IDS) | beside


def test_dependencies_are_known_and_acyclic() -> None:
    for name in IDS:
        for other in _statement(name).depends:
            assert other in IDS, f"{name} depends on {other}"
    order = {name: set(_statement(name).depends) for name in IDS}
    while order:
        free = [name for name, needs in order.items() if not needs & set(order)]
        assert free, f"a circle among {sorted(order)}"
        for name in free:
            del order[name]


@pytest.mark.parametrize("name", STEPPED)
def test_derivation_holds(name: str) -> None:
    statement = _statement(name)
    assert statement.derivation is not None, "no statement of the chapters is only stated"
    outcomes = statement.derivation.check(statement.facts, second=True)
    for outcome in outcomes:
        assert outcome.verdict.is_holds, f"{outcome.step.name}: {outcome.verdict.reason}"
        assert outcome.second is None or not outcome.second.is_fails, f"{outcome.step.name}: {outcome.second.reason}"
    assert any(not outcome.cited for outcome in outcomes), "at least one step is checked, not cited"
    assert not statement.derivation.argued, "no step of the chapters is only argued in words"


@pytest.mark.parametrize(
    "name", others_slow([name for name in IDS if _statement(name).vectors], lambda name: name != "PH-T2")
)
def test_vectors_match_all_printed_digits(name: str) -> None:
    bits = mpmath.mp.prec
    for vector in _statement(name).vectors:
        line = vector_line(vector)
        assert line.answer == "holds", f"{vector.name}: {line.reason}"
    assert mpmath.mp.prec == bits  # the session goes on with its own digits


@pytest.mark.parametrize("name", IDS)
def test_counterexamples_and_dropped_conditions_stand(name: str) -> None:
    statement = _statement(name)
    examples = () if statement.printed is None else statement.printed.counterexamples
    for example in examples:
        assert example.instance, "an exact instance is given"
        assert example.check().is_holds, example.name
    for variant in statement.variants:
        assert variant.witness().is_holds, variant.dropped


@pytest.mark.parametrize("name", [name for name in IDS if _statement(name).property_tests])
def test_properties_hold_on_random_instances(name: str) -> None:
    for test in _statement(name).property_tests:
        assert test(12, 3).is_holds


def test_a_false_printed_form_has_a_certified_counterexample() -> None:
    for name in IDS:
        printed = _statement(name).printed
        if printed is not None and printed.false:
            assert printed.counterexamples, name


def test_citations_fail_when_a_hypothesis_is_missing() -> None:
    """Every cited theorem of the chapters is refused when no fact is established."""
    cited = [step for name in IDS for step in _steps(name) if isinstance(step, Citation)]
    assert len(cited) > 10
    for step in cited:
        assert step.hypotheses, step.name
        assert step.check(frozenset(step.hypotheses)).is_holds, step.name
        assert step.check(frozenset()).is_fails, step.name
        for missing in step.hypotheses:
            rest = frozenset(step.hypotheses) - {missing}
            assert step.check(rest).is_fails, f"{step.name} does not need {missing}"


def test_facts_are_needed() -> None:
    """A statement that lists facts does not check without them."""
    for name in STEPPED:
        statement = _statement(name)
        for fact in statement.facts:
            kept = [each for each in statement.facts if each != fact]
            outcomes = _citations_only(statement.derivation).check(kept)  # type: ignore[arg-type]
            assert not all(outcome.accepted for outcome in outcomes), f"{name}: {fact}"


def _citations_only(derivation: Derivation) -> Derivation:
    """The same derivation with every checked step replaced by one that holds at once: only the facts are looked at."""
    one = sp.Integer(1)
    steps = [
        step
        if isinstance(step, Citation)
        else Identity(
            name=step.name,
            says=step.says,
            uses=step.uses,
            needs=step.needs,
            establishes=step.establishes,
            left=one,
            right=one,
        )
        for step in derivation.steps
    ]
    return Derivation(tuple(steps))


def test_what_a_step_needs_is_needed() -> None:
    """Take away the one step that establishes a fact: whatever needs it no longer counts."""
    tried = 0
    for name in STEPPED:
        statement = _statement(name)
        plain = _citations_only(statement.derivation)  # type: ignore[arg-type]
        assert all(outcome.accepted for outcome in plain.check(statement.facts)), name
        for step in plain.steps:
            for fact in step.needed:
                silent = Derivation(tuple(_silent(each, fact) for each in plain.steps))
                facts = [each for each in statement.facts if each != fact]
                by_name = {outcome.step.name: outcome for outcome in silent.check(facts)}
                tried += 1
                assert not by_name[step.name].accepted, f"{name}, {step.name}: {fact}"
    assert tried > 20


def _silent(step: Step, fact: str) -> Step:
    return replace(step, establishes=tuple(each for each in step.establishes if each != fact))


def test_facts_of_other_statements_are_recalled_and_not_assumed() -> None:
    """What a statement assumes names no other statement; what it recalls is among what it depends on."""
    seen = 0
    for name in IDS:
        statement = _statement(name)
        assert not [fact for fact in statement.facts if re.search(r"(AB|PH|PM|CT)-", fact)], name
        for step in _steps(name):
            if isinstance(step, Recalled):
                seen += 1
                assert step.statement in statement.depends, f"{name} recalls {step.statement}"
    assert seen > 5


def test_citations_conclude_what_their_theorem_says() -> None:
    """In the whole book: not less than one conclusion, and with any of them swapped, or one more fact, it is refused."""
    tried = 0
    for told in statements():
        for step in told.derivation.steps if told.derivation else ():
            if not isinstance(step, Citation):
                continue
            facts = frozenset(step.hypotheses)
            assert step.check(facts).is_holds, f"{told.id}, {step.name}"
            assert set(step.establishes) <= set(step.theorem.of(**step.letters).conclusions)
            assert replace(step, establishes=(*step.establishes, "all is well")).check(facts).is_fails
            assert replace(step, establishes=()).check(facts).is_fails
            swapped = replace(step.theorem, conclusions=tuple(f"not: {each}" for each in step.theorem.conclusions))
            assert replace(step, theorem=swapped).check(facts).is_fails, f"{told.id}, {step.name}"
            tried += 1
    assert tried > 20


@pytest.mark.parametrize("name", ["AB-T3.2", "PH-T5", "PH-T9", "AB-E8"])
def test_a_theorem_with_a_swapped_conclusion_makes_verify_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = _statement(name)
    steps = [
        replace(step, theorem=replace(step.theorem, conclusions=tuple(f"not: {c}" for c in step.theorem.conclusions)))
        if isinstance(step, Citation)
        else step
        for step in told.derivation.steps  # type: ignore[union-attr]
    ]
    assert verify(told, instances=0, second=False).good
    monkeypatch.setitem(told.__dict__, "derivation", Derivation(tuple(steps)))
    assert not verify(told, instances=0, second=False).good


def _identities() -> list[tuple[str, Identity]]:
    return [(name, step) for name in IDS for step in _steps(name) if isinstance(step, Identity)]


def test_flipped_sign_and_dropped_factor_are_rejected() -> None:
    """Every identity of the chapters fails with a side negated or doubled (unless the side is zero), or shifted by one."""
    tried = 0
    for name, step in _identities():
        wrong = [replace(step, right=sp.sympify(step.right) + 1)]
        if sp.sympify(step.right) != 0:
            wrong += [replace(step, right=-sp.sympify(step.right)), replace(step, right=2 * sp.sympify(step.right))]
        for mutant in wrong:
            tried += 1
            assert not mutant.check(frozenset()).is_holds, f"{name}, {step.name}: {mutant.right}"
    assert tried > 20


def _inequalities() -> list[tuple[str, Inequality]]:
    return [(name, step) for name in IDS for step in _steps(name) if isinstance(step, Inequality)]


def test_negated_conclusions_are_rejected() -> None:
    found = _inequalities()
    assert len(found) > 60
    for name, step in found:
        mutant = replace(step, conclusion=sp.Not(step.conclusion))
        assert not mutant.check(frozenset()).is_holds, f"{name}, {step.name}"


def test_reductions_reject_a_wrong_claim() -> None:
    """Every reduction fails when its claim is doubled, or a list of claims is negated."""
    count = 0
    for name in IDS:
        for step in _steps(name):
            if not isinstance(step, Reduction):
                continue
            if isinstance(step.claimed, tuple):
                wrong = tuple(each + 1 for each in step.claimed)
            elif step.claimed.terms:
                wrong = step.claimed * 2
            else:
                continue
            count += 1
            assert not replace(step, claimed=wrong).check(frozenset()).is_holds, f"{name}, {step.name}"
    assert count > 20


def test_computations_say_their_size() -> None:
    for name in IDS:
        for step in _steps(name):
            if isinstance(step, Computation):
                assert step.scope != ALL_SIZES, f"{name}, {step.name}"


def test_steps_print() -> None:
    for name in IDS:
        for step in _steps(name):
            text = step.display()
            assert "None" not in text
            assert text.count("{") == text.count("}"), f"{name}, {step.name}: {text}"


@pytest.mark.parametrize("name", ["AB-E8", "AB-T3.1", "AB-X1", "AB-X2"])
def test_a_flipped_sign_in_the_tangent_part_of_the_systems_breaks_the_chapter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flipped(self: CalculusAlgebra, x: Any, u: Any, metric: Any = None) -> Any:
        return u + dot(x, u, () if metric is None else (metric,)) * x

    monkeypatch.setattr(CalculusAlgebra, "tangent", flipped)
    statement = _statement(name)
    assert statement.derive is not None
    assert not all(outcome.verdict.is_holds for outcome in statement.derive().check(statement.facts))


@pytest.mark.parametrize("name", ["PH-M", "PH-T1", "PH-T2", "PH-T3", "PH-T4"])
def test_a_flipped_sign_in_the_push_of_the_token_flow_breaks_the_chapter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = CalculusAlgebra.apply

    def flipped(self: CalculusAlgebra, matrix: Any, x: Any) -> Any:
        return plain(self, matrix, x) * -1

    monkeypatch.setattr(CalculusAlgebra, "apply", flipped)
    statement = _statement(name)
    assert statement.derive is not None
    assert not all(outcome.verdict.is_holds for outcome in statement.derive().check(statement.facts))


def test_no_step_says_nothing() -> None:
    """Both sides of an identity are different as they stand, and no conclusion is true before it is checked."""
    for name, step in _identities():
        assert sp.sympify(step.left) != sp.sympify(step.right), f"{name}, {step.name}"
    for name, inequality in _inequalities():
        assert inequality.conclusion not in (sp.true, True), f"{name}, {inequality.name}"
        assert inequality.conclusion not in inequality.hypotheses, f"{name}, {inequality.name}"
