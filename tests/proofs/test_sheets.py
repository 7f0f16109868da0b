"""The sheets on clusters, bounds and new results, clause by clause: each is where the list says, and each number is held."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement

from ..tools.sheet_clauses import CLAUSES
from ..tools.sheet_numbers import NUMBERS, OFF


def clauses() -> Iterator[tuple[str, str, list[str]]]:
    """Statement, clause, and where it is shown."""
    heading = ""
    for line in filter(None, CLAUSES.splitlines()):
        if " | " not in line:
            heading = line
            continue
        clause, where = line.split(" | ", 1)
        yield (
            heading,
            clause,
            re.split(r", (?=(?:[A-Z]+-\S+ )?(?:claim|property|vector|without|example|text|remark) )", where),
        )


ENTRIES = list(clauses())


def functions(told: Statement) -> set[str]:
    """The names of the tests on random instances."""
    return {getattr(value, "__name__", "") for each in told.property_tests for value in vars(each).values()}


def shown(heading: str, where: str) -> bool:
    """Is there what the list names?"""
    first, _, rest = where.partition(" ")
    named = first in {each.id for each in statements()}
    told = statements().get(first if named else heading)
    kind, _, name = (rest if named else where).partition(" ")
    if kind == "claim":
        return 1 <= int(name) <= len(told.claims)
    if kind == "property":
        return name in functions(told)
    words: dict[str, list[str]] = {
        "vector": [each.name for each in told.vectors],
        "without": [each.dropped for each in told.variants],
        "example": [each.name for each in told.printed.counterexamples] if told.printed else [],
    }
    if kind in words:
        return any(each.startswith(name) for each in words[kind])
    said = {"text": [told.text], "remark": [each.text for each in told.notes]}[kind]
    return any(part in each for part in name.split("|") for each in said)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry[0]}: {entry[1]}")
def test_each_clause_is_where_the_list_says(entry: tuple[str, str, list[str]]) -> None:
    heading, _, places = entry
    missing = [each for each in places if not shown(heading, each)]
    assert not missing, missing


def test_every_statement_of_the_sheets_has_its_clauses() -> None:
    """And no test on random instances or dropped condition of theirs is left out of the list."""
    headings = {heading for heading, *_ in ENTRIES} - {"corrections"}
    parts = {"BD-D2b", "BD-R1b", "CL-9a", "CL-13a", "CL-13b", "CT-10", "CT-12", "CT-13", "CT-14", "CT-15", "PH-X2a"}
    for number in range(1, 17):
        assert f"CL-{number}" in headings
    of_sheets = {
        each.id for each in statements() if each.id.startswith(("CL-", "BD-", "AB-X5", "AB-X6", "PM-X", "PH-X"))
    }
    assert of_sheets <= headings | parts
    assert len(ENTRIES) > 120
    listed = {(heading, where) for heading, _, places in ENTRIES for where in places}
    for told in map(statements().get, sorted(headings | parts)):
        own = {
            where.removeprefix(f"{told.id} ")
            for heading, where in listed
            if f"{told.id} " in where or heading == told.id
        }
        tests = {f"property {name}" for name in functions(told) if name}
        if told.id in headings:
            assert tests <= own, (told.id, tests - own)
            assert len(told.claims) <= sum(each.startswith("claim ") for each in own), told.id
        for each in told.variants if told.id in headings else ():
            assert any(where.startswith("without ") and each.dropped.startswith(where[8:]) for where in own), (
                told.id,
                each.dropped,
            )


def test_a_place_that_is_not_there_is_seen() -> None:
    assert not shown("CL-1", "claim 99") and not shown("CL-1", "property no_such_test")
    assert not shown("CL-2", "without nothing") and not shown("CL-2", "remark no such words")
    assert not shown("CL-1", "CL-2 vector no such vector")


def exact(text: str) -> Fraction:
    return Fraction(text)


def printed() -> Iterator[tuple[list[str], str]]:
    """The statements that should hold a number of the sheets, and the number."""
    holders: list[str] = []
    for line in filter(None, NUMBERS.splitlines()):
        if "<-" in line:
            left, _, line = line.partition("<-")
            holders, line = left.split(), line.partition(":")[2]
        for number in line.split():
            yield holders, number


def held(number: str, vectors: list[str]) -> bool:
    """One of the vectors agrees to all printed digits; signs of a pair of roots are not told apart."""
    value, last = abs(exact(number)), Fraction(10) ** int(Decimal(number).as_tuple().exponent)
    return any(abs(abs(exact(each)) - value) <= last / 2 for each in vectors)


def test_every_number_of_the_sheets_is_a_vector_to_all_printed_digits() -> None:
    wanted: list[Any] = []
    count = 0
    for holders, number in printed():
        count += 1
        vectors = [text for name in holders for each in statements().get(name).vectors for text in each.expected]
        if not held(OFF.get(number, number), vectors):
            wanted.append((holders, number))
    assert count > 190
    assert not wanted


def test_what_is_off_is_off_by_little_and_is_used() -> None:
    """The corrected digits differ from the printed ones in the last places only; no entry is left over."""
    numbers = {number for _, number in printed()}
    assert set(OFF) <= numbers
    for number, ours in OFF.items():
        assert 0 < abs(exact(number) - exact(ours)) <= max(abs(exact(number)) * Fraction(1, 10**11), Fraction(1, 10**5))


def test_a_number_that_no_vector_holds_is_seen() -> None:
    assert held("0.5", ["0.5000"]) and held("-0.25", ["1/4"])
    assert not held("0.500001", ["0.5"]) and not held("0.49", ["0.5"])
