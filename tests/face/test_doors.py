"""No code without a door: nothing that only tests reach stands in any room."""

from __future__ import annotations

from pathlib import Path

from ..tools.reachability import unreached

ROOT = Path(__file__).resolve().parents[2]
#: Found by name: the reading of a certificate by its kind, the type of a document by the document's name.
BY_NAME = {"numerics/recheck/matrices/verdict_documents.py: _Beside._eigenvector"}
DOCUMENTS = "src/eigentoken/documents/"
#: What pytest calls.
PLUGIN = "src/eigentoken/pytest_plugin.py"


def test_no_code_is_reached_by_tests_alone() -> None:
    found = {each.path for each in unreached(ROOT) if not each.file.startswith((DOCUMENTS, PLUGIN))}
    assert found - BY_NAME == set()


def test_the_test_can_fail(tmp_path: Path) -> None:
    """Found: a function that nobody uses, with what only it uses, and a constant that nobody reads.

    Not found: what a page names, and what is registered.
    """
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
        "KEPT, BESIDE = Kept, 5\n"
        "FORGOTTEN = KEPT\n"
        "STATED = register(BESIDE)\n"
    )
    names = sorted(each.path for each in unreached(tmp_path))
    assert names == [f"numerics/part.py: {each}" for each in ("FORGOTTEN", "Kept.idle", "below", "lost")]
