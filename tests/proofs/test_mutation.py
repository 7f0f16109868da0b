"""Mutants of the derivations: small changes are rejected, and what survives is accounted for."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Theorem

from ..tools.mutation import all_mutants, changed_expressions, kill_rate, mutants

x = sp.Symbol("x", real=True)

BOOK = list(statements())
CHAPTER = [each for each in statements() if each.id.startswith(("PM-", "CT-"))]
#: Statements whose steps are quick to re-check, for the everyday run.
QUICK = [
    each
    for each in CHAPTER
    if each.id in {"PM-L1", "PM-L2", "PM-L3", "PM-L4", "PM-L5", "PM-L6", "PM-L7", "PM-L13", "PM-L15", "PM-N4", "PM-R3", "PM-S2",
                   "PM-T2", "PM-CX1", "PM-DIFF", "CT-2", "CT-3", "CT-4"}
]  # fmt: skip


def statement(*steps: object, facts: tuple[str, ...] = ()) -> Statement:
    return Statement(
        id="TEST",
        kind=Kind.LEMMA,
        source=Source("here", ""),
        title="",
        facts=facts,
        derive=lambda: Derivation(tuple(steps)),  # type: ignore[arg-type]
    )


def test_changes_are_different_from_the_original() -> None:
    expression = (1 + x) ** 2 / (2 - x)
    changed = [each for _, each in changed_expressions(expression)]
    assert expression not in changed
    assert (1 - x) ** 2 / (2 - x) in changed
    assert (1 + x) ** 2 in changed
    assert (1 + x) ** 3 / (2 - x) in changed


def test_relations_are_turned_and_loosened() -> None:
    changed = {str(each) for _, each in changed_expressions(x > 1)}
    assert {"x < 1", "x >= 1", "x > 2"} <= changed


def test_every_mutant_differs_in_one_step() -> None:
    for mutant in all_mutants(next(each for each in CHAPTER if each.id == "PM-L4")):
        pairs = zip(mutant.derivation.steps, mutant.original.steps, strict=True)
        assert [place for place, (new, old) in enumerate(pairs) if new != old] == [mutant.place]


def test_a_true_identity_kills_all_its_mutants() -> None:
    report = kill_rate([statement(Identity(name="a", says="", left=(1 + x) ** 2, right=1 + 2 * x + x**2))], 50, 0)
    assert report.killed > 5 and report.survivors == () and report.rate == 1.0


def test_a_weaker_true_inequality_is_called_true_not_killed() -> None:
    report = kill_rate([statement(Inequality(name="a", says="", hypotheses=(x > 1,), conclusion=x > 0))], 20, 0)
    assert any("made weak" in each for each in report.true)
    assert report.killed >= 2 and report.survivors == ()


def test_taking_away_a_fact_kills_the_citation() -> None:
    theorem = Theorem("t", "a theorem", ("fact one", "fact two"), ("conclusion",), "book", "@book{book}")
    step = Identity(name="a", says="", left=x, right=x, establishes=("fact one",))
    cited = Citation(name="b", says="", theorem=theorem, uses=("a",), establishes=("conclusion",))
    found = [
        each
        for each in all_mutants(statement(step, cited, facts=("fact two",)))
        if "nothing establishes" in each.description
    ]
    assert len(found) == 2
    descriptions = {each.description for each in all_mutants(statement(step, cited, facts=("fact two",)))}
    assert "b: conclusion 1 of the theorem swapped" in descriptions
    assert "b: more is taken than the theorem gives" in descriptions
    report = kill_rate([statement(step, cited, facts=("fact two",))], 100, 0)
    assert report.survivors == ()


def test_a_checker_that_accepts_everything_is_caught() -> None:
    """A reduction whose comparison always says holds leaves survivors."""
    from eigentoken.theory.language.verdicts import holds
    from eigentoken.theory.statements.steps import Reduction

    blind = Reduction(
        name="blind", says="", derive=lambda: (x,), claimed=(x + 1,), agrees=lambda *_: holds("sure"), shows=str
    )
    report = kill_rate([statement(blind)], 10, 0)
    assert report.survivors and report.rate < 1


def test_mutants_are_pairs() -> None:
    description, derivation = next(iter(mutants(CHAPTER[0])))
    assert isinstance(description, str) and isinstance(derivation, Derivation)


def test_sampled_mutants_of_the_chapter_are_killed() -> None:
    report = kill_rate(QUICK, 30, 3, seconds=3)
    assert report.survivors == ()
    assert report.killed >= 18
    assert report.killed + len(report.true) == 30


def test_a_recalled_fact_that_was_not_proved_is_rejected() -> None:
    """Another fact, other letters, and an assumption that is left out."""
    told = next(each for each in CHAPTER if each.id == "PM-T3")
    for change in ("another fact is recalled", "letters are left out", "an assumption is left out"):
        assert [each for each in all_mutants(told) if change in each.description], change
    report = kill_rate([told], 200, 0, seconds=3)
    assert report.survivors == ()


def test_a_conclusion_that_claims_less_follows_from_the_original() -> None:
    from ..tools.mutation import _weaker

    y = sp.Symbol("y", real=True)
    given = (x > 1, y > 1)
    old = Inequality(name="a", says="", hypotheses=given, conclusion=x * y > 1)
    less = Inequality(name="a", says="", hypotheses=given, conclusion=x**2 * y > 1)
    more = Inequality(name="a", says="", hypotheses=given, conclusion=x * y > 2)
    other = Inequality(name="a", says="", hypotheses=(x > 1,), conclusion=x**2 * y > 1)
    assert _weaker(old, less).is_holds
    assert _weaker(old, more).is_fails
    assert _weaker(old, other).is_fails


def test_taking_away_a_fact_that_a_step_needs_kills_it() -> None:
    needy = Inequality(name="b", says="", hypotheses=(x > 1,), conclusion=x > 0, needs=("fact one",))
    step = Identity(name="a", says="", left=x, right=x, establishes=("fact one",))
    found = [each for each in all_mutants(statement(step, needy)) if "nothing establishes" in each.description]
    assert len(found) == 1
    assert kill_rate([statement(step, needy)], 100, 0).survivors == ()


def test_a_changed_system_is_noticed_and_put_back() -> None:
    from ..tools.mutation_systems import changed_system, system_kills

    told = [each for each in CHAPTER if each.id == "PM-E9"]
    assert replace(told[0]).proofs.keys() == {"oja-map"}
    report = system_kills(told)
    assert report.killed == 2 and report.survivors == ()
    with pytest.raises(RuntimeError), changed_system("oja-map", "sign of the push"):
        raise RuntimeError
    assert replace(told[0]).proofs.keys() == {"oja-map"}


def test_a_change_that_nobody_notices_survives() -> None:
    """A statement without steps about its system leaves the changed signs alive."""

    from ..tools.mutation_systems import system_kills

    silent = replace(statement(Identity(name="a", says="", left=x, right=x)), systems=("oja-flow",))
    report = system_kills([silent])
    assert report.killed == 0
    assert report.survivors == ("oja-flow, sign of the push", "oja-flow, sign of the projection")
    assert report.rate == 0


@pytest.mark.slow
def test_every_sign_of_every_system_matters() -> None:
    from ..tools.mutation_systems import system_kills

    assert sum(told.derivation is not None for told in BOOK) >= 40, "made before: a step that is checked looks again"
    report = system_kills(BOOK)
    assert report.survivors == ()
    assert report.killed >= 19


@pytest.mark.slow
def test_a_larger_sample_of_mutants_of_the_whole_book_is_killed() -> None:
    report = kill_rate(BOOK, 300, 1, seconds=3)
    print(
        f"{report.killed} of {report.killed + len(report.survivors)} wrong mutants killed, {len(report.true)} true ones"
    )
    assert report.survivors == ()
    assert report.killed >= 200
