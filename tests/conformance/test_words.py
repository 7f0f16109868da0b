"""Every word of the language has all five readings."""

from __future__ import annotations

import pytest

from eigentoken.numerics.readings import load
from eigentoken.theory.language import claims, conditions
from eigentoken.theory.language.readings import READINGS, WORDS, Reading
from eigentoken.theory.statements.registry import statements

load()
statements()


def test_the_language_has_words() -> None:
    assert {"Symmetric", "Relation", "Stable", "Iff"} <= set(WORDS)
    assert issubclass(WORDS["Symmetric"], conditions.Condition)
    assert issubclass(WORDS["Stable"], claims.Claim)


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_every_word_has_the_reading(reading: Reading) -> None:
    missing = [name for name, word in sorted(WORDS.items()) if reading.find(word) is None]
    assert missing == []
