"""With one condition dropped, where the audit knows a failure, an instance that fails is found, and certified."""

from __future__ import annotations

from random import Random

import pytest

from eigentoken.proofs.properties.first_failures import FirstFailure, small, unit_vector
from eigentoken.theory.statements.registry import statements

from ..tools.dropped_conditions import Known, Row, places, rows, table
from ..tools.dropping import find_failure_without, search_without
from ..tools.known_failures import KNOWN

ENTRIES = [(name, each) for name, listed in KNOWN.items() for each in listed]
OWN = [(name, each) for name, each in ENTRIES if each.search is not None]
#: Where a search was made; of the others the witness of the variant is all that is known, and the table says so.
MADE = [(name, each) for name, each in ENTRIES if each.needed and each.place and each.searched and not each.in_floats]
FLOATS = [(name, each) for name, each in ENTRIES if each.in_floats]
#: Searches that take about a second each, for the everyday run.
QUICK = {("PM-L4", "=>0"), ("PM-L6", "=>0"), ("PM-L7", "c1"), ("PM-N1", "=>0"), ("PM-T3", "=>0"), ("CT-2", "=>1.0")}


def label(entry: tuple[str, Known]) -> str:
    return f"{entry[0]}, {entry[1].name}"


def test_every_statement_has_a_line_and_every_line_one_of_three_words() -> None:
    for told in statements():
        lines = list(rows(told))
        assert lines, told.id
        assert {each.answer for each in lines} <= {Row.NEEDED, Row.UNNEEDED, Row.UNKNOWN}
    assert set(KNOWN) <= {told.id for told in statements()}


def test_every_condition_in_the_language_has_a_line() -> None:
    """A condition is either known to be needed or unneeded, or the table says that no failure is known."""
    for told in statements():
        covered = {each.place for each in KNOWN.get(told.id, ())}
        silent = [each for each in rows(told) if each.answer == Row.UNKNOWN and each.condition != "-"]
        assert len(silent) + len([each for each in covered if each.startswith("c")]) == len(told.conditions), told.id


def test_known_failures_are_exactly_the_registered_ones() -> None:
    """Each known failure names a variant or counterexample; each variant is a known failure; unneeded ones name none."""
    for told in statements():
        variants = {each.dropped for each in told.variants}
        examples = {each.name for each in told.printed.counterexamples} if told.printed else set()
        listed = KNOWN.get(told.id, ())
        for each in listed:
            if each.needed:
                assert each.shown in examples if each.shown else each.name in variants, (told.id, each.name)
            else:
                assert each.name not in variants and not each.shown
            assert not each.place or each.place in places(told), (told.id, each.place)
        assert variants <= {each.name for each in listed}, told.id


def test_most_known_failures_are_found_by_a_search() -> None:
    """The others are single instances of the sheets: a formula as printed, or a limit along one trajectory."""
    of_papers = [
        entry for entry in ENTRIES if not entry[0].startswith("BD-")
    ]  # a bound that is too small is one instance
    needed = [each for _, each in of_papers if each.needed]
    typed = [label(entry) for entry in of_papers if entry[1].needed and not (entry[1].place or entry[1].search)]
    assert len(needed) >= 110
    assert len(typed) <= len(needed) * 0.3, typed


@pytest.mark.parametrize("entry", OWN, ids=label)
def test_a_search_over_exact_instances_finds_a_failure(entry: tuple[str, Known]) -> None:
    search = entry[1].search
    assert search is not None
    for seed in (1, 2):
        verdict = search(seed)
        assert verdict.is_holds, verdict.reason


def test_a_search_that_finds_nothing_says_so() -> None:
    from eigentoken.theory.language.verdicts import Verdict, fails

    def never(source: Random) -> Verdict:
        return fails("never")

    assert FirstFailure(never, tries=7)(0).is_undecided
    assert "7 random instances" in FirstFailure(never, tries=7)(0).reason


def test_a_case_does_not_call_an_instance_with_the_condition_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing off the diagonal F is symmetric, the correlation never falls, and the case reports no failure."""
    from fractions import Fraction

    from eigentoken.proofs.properties import first_failures

    for seed in range(200):
        source = Random(seed)
        drawn = [small(source) for _ in range(6)]
        drawn[2] = Fraction(0)
        numbers = iter(drawn)
        monkeypatch.setattr(first_failures, "small", lambda *_, numbers=numbers: next(numbers))
        assert not first_failures.alignment_lost(source).is_holds, drawn


def certified(entry: tuple[str, Known], seconds: float) -> None:
    name, each = entry
    verdict = search_without(statements().get(name), each.place, seconds=seconds)
    assert verdict.is_holds, verdict.reason
    assert "certified" in verdict.reason


@pytest.mark.parametrize("entry", [each for each in MADE if (each[0], each[1].place) in QUICK], ids=label)
def test_the_statement_without_its_condition_is_refuted(entry: tuple[str, Known]) -> None:
    certified(entry, 60)


@pytest.mark.slow
@pytest.mark.parametrize("entry", [each for each in MADE if (each[0], each[1].place) not in QUICK], ids=label)
def test_every_statement_without_a_needed_condition_is_refuted(entry: tuple[str, Known]) -> None:
    certified(entry, 120)


@pytest.mark.slow
@pytest.mark.parametrize("entry", FLOATS, ids=label)
def test_a_failure_along_trajectories_is_seen(entry: tuple[str, Known]) -> None:
    told = statements().get(entry[0])
    assert find_failure_without(told, places(told)[entry[1].place].condition, instances=60) is not None


def test_a_condition_that_is_not_needed_gives_no_refutation() -> None:
    """PM-L7 does not use that V is invertible or that lambda_1 > 0; the search says that it found nothing."""
    from dataclasses import replace

    from eigentoken.theory.language.conditions import Relation
    from eigentoken.theory.language.terms import Eigenvalue, matrix

    told = statements().get("PM-L7")
    more = replace(told, conditions=(*told.conditions, Relation(Eigenvalue(matrix("V"), 1) > 0)))
    verdict = search_without(more, "c2", seconds=4, instances=300)
    assert verdict.is_undecided
    assert "no certified failure" in verdict.reason


def test_places_name_conditions_of_statement_and_claims() -> None:
    found = places(statements().get("PM-N3"))
    assert list(found)[:6] == [f"c{index}" for index in range(6)]
    assert {"=>0", "=>0.0", "=>0.1", "=>0.2", "=>1", "=>2"} <= set(found)
    assert len(found["c5"].others) == 5
    assert len(found["=>0.1"].others) == 8


def test_the_table_has_a_line_for_every_row_and_bars_do_not_break_it() -> None:
    text = table(statements())
    lines = text.strip().splitlines()
    assert len(lines) == 2 + sum(len(list(rows(told))) for told in statements())
    assert all(line.replace(r"\|", "").count("|") == 8 for line in lines)


def test_drawn_numbers_are_exact() -> None:
    source = Random(3)
    for _ in range(50):
        x, y = unit_vector(source)
        assert x**2 + y**2 == 1
        assert small(source) != 0
