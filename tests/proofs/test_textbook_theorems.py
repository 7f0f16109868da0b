"""The page of textbook theorems lists all that the kernel can apply, and prints the schema that it applies."""

from __future__ import annotations

import gc

from eigentoken.proofs.typeset.textbook_theorems import all_theorems, hypotheses_and_conclusion, theorem_page
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
        said = hypotheses_and_conclusion(theorem)
        if said is not None:
            assert all(f"${latex(each)}$" in page for each in (*said[0], said[1]))
    rayleigh = next(each for each in all_theorems() if each.key == "Rayleigh")
    assert hypotheses_and_conclusion(rayleigh) is not None
