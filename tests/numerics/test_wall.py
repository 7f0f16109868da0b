"""The wall: nothing of the re-check, the lab's included, imports what issues certificates."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Every module whose word the re-check rests on.
RECHECK = sorted((ROOT / "numerics" / "recheck").rglob("*.py"))

#: What both sides may use, and why that is no way around the wall.
NEUTRAL = {
    "eigentoken.files.arrays": "headers of array files",
    "eigentoken.files.documents": "JSON, read strictly",
    "eigentoken.theory.language.verdicts": "the three words and the document of a certificate",
    "eigentoken.theory.classification.sentences": "sentences made of their arguments",
    "eigentoken.theory.language.reasons": "sentences made of their arguments",
}

#: What the lab's re-check uses beyond that: the language in which claims are stated, and no answer to any of them.
LANGUAGE = {
    "eigentoken.theory.language.documents": "words from JSON",
    "eigentoken.numerics.lab.report_consistency": "the document of a conjecture and its digest",
    "eigentoken.theory.systems.algebra": "the operations in which an observable is written",
    "eigentoken.theory.language.claims": "words",
    "eigentoken.theory.language.conditions": "words",
    "eigentoken.theory.classification.instances": "an instance from JSON, in exact numbers",
    "eigentoken.theory.language.places": "words",
    "eigentoken.theory.language.readings": "words as LaTeX",
    "eigentoken.theory.systems.catalogue": "the names of the systems and their parameters",
    "eigentoken.theory.language.terms": "words",
}

#: A predicate is code of its author: it is run again, where that is asked for, by the issuer's reading, and listed as such.
AUTHORS_CODE = {"eigentoken.numerics.lab.predicates", "eigentoken.numerics.instances.exact_values"}


def imported(path: Path) -> Iterator[str]:
    """Modules of ours that a file imports anywhere, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("eigentoken"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            module = node.module or ""
            if module.startswith("eigentoken"):
                for alias in node.names:
                    deeper = f"{module}.{alias.name}"
                    yield deeper if file_of(deeper) is not None else module


def file_of(module: str) -> Path | None:
    """The source of a module, in the tree."""
    parts = module.split(".")[1:]
    for base in (ROOT, ROOT / "src" / "eigentoken"):
        for found in (base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts) / "__init__.py"):
            if parts and found.is_file():
                return found
    return None


@pytest.mark.parametrize("path", RECHECK, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_recheck_imports_only_itself_and_what_is_neutral(path: Path) -> None:
    names = set(imported(path))
    allowed = {name for name in names if name.startswith("eigentoken.numerics.recheck")} | set(NEUTRAL)
    if path.parent.name == "refutations":
        allowed |= set(LANGUAGE)
    if path.name == "report.py":
        allowed |= AUTHORS_CODE
    assert names <= allowed, names - allowed


@pytest.mark.parametrize("module", NEUTRAL)
def test_what_is_neutral_imports_nothing_of_ours(module: str) -> None:
    path = file_of(module)
    assert path is not None and set(imported(path)) <= set(NEUTRAL)


def test_a_recheck_loads_no_issuer() -> None:
    """In a fresh process: the modules that are there after a re-check are those of the wall's own side."""
    code = (
        "import sys, numpy as np\n"
        "from eigentoken.numerics.recheck import recheck\n"
        "import eigentoken.numerics.recheck.points.classification_documents\n"
        "print('\\n'.join(name for name in sys.modules if name.startswith('eigentoken.')))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    packages = {
        f"eigentoken.{name}" for name in ("numerics", "theory", "files", "theory.language", "theory.classification")
    }
    others = {name for name in printed if not name.startswith("eigentoken.numerics.recheck")} - packages - set(NEUTRAL)
    assert not others
