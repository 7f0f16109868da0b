"""Every word has each reading of its kind, and the readings are the only tables keyed by a word."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from eigentoken.numerics.certified.certify import conditions as names_of_certify
from eigentoken.numerics.layers.layer_readings import ON_WEIGHTS
from eigentoken.numerics.readings import load
from eigentoken.theory.language import claims, conditions, places, readings, terms
from eigentoken.theory.language.readings import WORDS, Reading
from eigentoken.theory.statements.registry import statements

from ..commands import tool

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("theory", "numerics", "proofs", "models", "src")

load()
statements()


def _below(base: type) -> list[type]:
    """The final words below a base: those that nothing of ours refines."""
    found = [deeper for each in base.__subclasses__() for deeper in _below(each)]
    return found or [base]


CONDITIONS = [each for each in WORDS.values() if issubclass(each, conditions.Condition)]
OF_THEIR_KIND: list[tuple[Reading[Any], list[type]]] = [
    *((reading, list(WORDS.values())) for reading in (readings.LATEX, readings.CERTIFIED)),
    *((reading, list(WORDS.values())) for reading in (readings.GENERATED, readings.OBSERVED)),
    (readings.SYMBOLIC, CONDITIONS),
    (readings.ON_WEIGHTS, CONDITIONS),
    (readings.ASKED, CONDITIONS),
    (readings.ON_ARC, CONDITIONS),
    *((reading, _below(places.Place)) for reading in (readings.LATEX, readings.PLACED, readings.PLACED_EXACTLY)),
    *((reading, _below(places.Place)) for reading in (readings.DISTANCE, readings.MEMBERSHIP)),
    *((reading, _below(terms.MatrixNumber)) for reading in (readings.VALUE, readings.EXACT, readings.ENCLOSURE)),
]


def test_the_language_has_words() -> None:
    assert {"Symmetric", "Relation", "Stable", "Iff"} <= set(WORDS)
    assert issubclass(WORDS["Symmetric"], conditions.Condition)
    assert issubclass(WORDS["Stable"], claims.Claim)


@pytest.mark.parametrize(("reading", "words"), OF_THEIR_KIND, ids=lambda each: getattr(each, "name", ""))
def test_every_word_has_the_reading(reading: Reading[Any], words: list[type]) -> None:
    assert len(words) >= 5
    missing = [each.__name__ for each in words if reading.find(each) is None]
    assert missing == []


def test_every_function_of_a_reading_says_which_reading_it_is() -> None:
    """The name that a traceback shows begins with the reading's, and no two functions of a reading share one."""
    for reading, _ in OF_THEIR_KIND:
        functions = set(reading.table.values())
        made = {"latex_definite", "generated_demand"}  # by a factory, once for each of a few words
        names = [each.__name__ for each in functions if each.__name__ not in made]
        assert all(name.startswith(f"{reading.name}_") for name in names), names
        assert len(set(names)) == len(names), reading.name


def test_the_words_of_one_matrix_are_called_as_certify_calls_them() -> None:
    called = {each.called: each for each in _below(conditions.OfOneMatrix)}
    assert set(called) <= set(names_of_certify())
    assert len(called) == len(_below(conditions.OfOneMatrix)) == 7
    assert ON_WEIGHTS is readings.ON_WEIGHTS


@cache
def _sources() -> tuple[tuple[Path, list[ast.AST]], ...]:
    """Every file, with all parts of its tree."""
    paths = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return tuple((path, tool("house").all_parts(path)) for path in paths)


def test_no_function_is_called_underscore() -> None:
    """Its name is what a traceback shows."""
    nameless = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, parts in _sources()
        for node in parts
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.strip("_")
    ]
    assert nameless == []


def test_no_function_is_a_ladder_over_words() -> None:
    """A function that asks words for their types seven times is a reading that has not been written as one."""
    words = {each.__name__ for each in (*WORDS.values(), *_below(places.Place), *_below(terms.MatrixNumber))}
    ladders = []
    for path, parts in _sources():
        asked = [
            node
            for node in parts
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
            if words & {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(node.args[1])}
        ]
        for function in (node for node in parts if isinstance(node, ast.FunctionDef)):
            inside = [node for node in asked if function.lineno <= node.lineno <= (function.end_lineno or 0)]
            if len(inside) >= 7:
                ladders.append(f"{path.relative_to(ROOT)}: {function.name}")
    assert ladders == []


def test_the_readings_are_the_only_tables_keyed_by_a_word() -> None:
    """No dictionary of a loaded module of ours has a word type for a key; nothing is dispatched by functools."""
    words = {*WORDS.values(), *_below(places.Place), *_below(terms.MatrixNumber)}
    ours = {name: module for name, module in sys.modules.items() if name.startswith("eigentoken.")}
    assert len(ours) > 100
    tables = [
        f"{name}.{part}"
        for name, module in ours.items()
        for part, value in vars(module).items()
        if isinstance(value, dict) and any(isinstance(key, type) and key in words for key in value)
    ]
    assert tables == []
    used = [
        str(path.relative_to(ROOT))
        for path, parts in _sources()
        for node in parts
        if isinstance(node, ast.Name | ast.Attribute | ast.alias)
        and "singledispatch" in (getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", ""))
    ]
    assert used == []
