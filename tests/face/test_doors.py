"""No code without a door: nothing that only tests reach stands in numerics, in the language or in its exact numbers."""

from __future__ import annotations

from pathlib import Path

from ..tools.reachability import unreached

ROOT = Path(__file__).resolve().parents[2]
HELD = ("numerics/", "theory/language/", "theory/exactness/", "theory/proving/", "theory/statements/")
#: Found by ``getattr`` on the kind of a certificate.
BY_KIND = {"numerics/recheck/matrices/verdict_documents.py: _Beside._eigenvector"}


def test_no_code_of_numerics_is_reached_by_tests_alone() -> None:
    found = {each.path for each in unreached(ROOT) if each.file.startswith(HELD)}
    assert found - BY_KIND == set()


def test_the_test_can_fail(tmp_path: Path) -> None:
    """A function that nobody uses is found, with what only it uses; one that a page names, or that is registered, is not."""
    for folder in ("docs", "numerics", "theory", "models", "proofs", "src/eigentoken"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "README.md").write_text("Call `named()`.\n")
    (tmp_path / "numerics" / "part.py").write_text(
        '__all__ = ["lost"]\n'
        "def lost(): return below()\n"
        "def below(): return 1\n"
        "def named(): return used()\n"
        "def used(): return 2\n"
        "@table.register(int)\n"
        "def entered(): return 3\n"
        "class Kept:\n    def idle(self): return 4\n"
        "KEPT = Kept\n"
    )
    names = sorted(each.path for each in unreached(tmp_path))
    assert names == ["numerics/part.py: Kept.idle", "numerics/part.py: below", "numerics/part.py: lost"]
