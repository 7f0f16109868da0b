"""The page of textbook theorems lists all that the kernel can apply, and prints the schema that it applies."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest

from eigentoken.proofs.steps import saddle_theorems
from eigentoken.proofs.typeset.textbook_theorems import all_theorems, entry, readings, theorem_page
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.statements.registry import statements


def test_every_theorem_in_this_process_is_listed() -> None:
    """Also those that a statement would make for itself."""
    statements()
    listed = all_theorems()
    made = [each for each in gc.get_objects() if type(each) is Textbook and each.reference.count(",")]
    assert {each.key for each in made if "made for a test" not in each.reference} <= {each.key for each in listed}
    assert len({each.key for each in listed}) == len(listed) >= 5


def test_the_page_prints_the_schema() -> None:
    page = "\n".join(theorem_page())
    for theorem in all_theorems():
        assert theorem.reference in page
        assert "\n".join(entry(theorem)) in page
        for given, conclusion in readings(theorem):
            assert all(f"${latex(each)}$" in page for each in (*given, conclusion))


def test_two_theorems_have_two_entries() -> None:
    """A key that stands twice would hide a theorem from the reader."""
    made = {id(each): each for each in gc.get_objects() if type(each) is Textbook and each.reference.count(",")}
    listed = {id(each) for each in all_theorems()}
    stated = [each for each in made.values() if "made for a test" not in each.reference]
    assert {each.key for each in stated if id(each) not in listed} == set()
    assert len({"\n".join(entry(each)) for each in all_theorems()}) == len(listed)


def test_a_key_that_stands_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saddle_theorems, "STRICT_SADDLES", replace(saddle_theorems.STRICT_SADDLES, key="Rayleigh"))
    with pytest.raises(ValueError, match="two theorems have the key Rayleigh"):
        all_theorems()
