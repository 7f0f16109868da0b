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
    "eigentoken.documents.chance_document": "the types of a document: which keys, which kinds of values",
    "eigentoken.theory.language.verdicts": "the three words and the document of a certificate",
    "eigentoken.theory.classification.sentences": "sentences made of their arguments",
    "eigentoken.theory.language.reasons": "sentences made of their arguments",
}

#: Below all rooms: what these import of ours is nothing, or of their own kind.
GROUND = {
    "eigentoken.display": "how an object shows itself",
    "eigentoken.version": "the number of the version",
    **{
        f"eigentoken.documents.{path.stem}": "the types of documents: which keys, which kinds of values"
        for path in sorted((ROOT / "src" / "eigentoken" / "documents").glob("*.py"))
        if path.stem != "__init__"
    },
}

#: What the lab's re-check uses beyond that: the language in which claims are stated, and no answer to any of them.
LANGUAGE = {
    "eigentoken.theory.language.documents": "words from JSON; the document of a conjecture and its digest",
    "eigentoken.theory.systems.algebra": "the operations in which an observable is written",
    "eigentoken.theory.language.claims": "words",
    "eigentoken.theory.language.conditions": "words",
    "eigentoken.theory.language.contractions": "words",
    "eigentoken.theory.language.eigenvalue_gap": "a number of a matrix",
    "eigentoken.theory.classification.instances": "an instance from JSON, in exact numbers",
    "eigentoken.theory.language.proportion": "a condition on two matrices",
    "eigentoken.theory.language.matrix_words": "words",
    "eigentoken.theory.language.opposites_and_rates": "words",
    "eigentoken.theory.language.places": "words",
    "eigentoken.theory.language.readings": "words as LaTeX, and the class of a table; the re-check's tables are its own",
    "eigentoken.theory.language.regions": "words",
    "eigentoken.theory.systems.system": "what a system is: space, time, the names of its parameters",
    "eigentoken.theory.language.terms": "words",
    "eigentoken.theory.language.trial_sentences": "how a change of a conjecture that fell or survived is told, from its numbers",
}


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
    if path.parent.name in {"refutations", "basins"}:
        allowed |= set(LANGUAGE)
    assert names <= allowed, names - allowed


@pytest.mark.parametrize("module", LANGUAGE)
def test_the_language_knows_no_answer(module: str) -> None:
    """What the lab's re-check reads its words with is theory, down to the last import: no numerics, no issuer."""
    waiting, seen = [module], set()
    while waiting:
        name = waiting.pop()
        path = file_of(name)
        if name in seen or path is None:
            continue
        seen.add(name)
        waiting += imported(path)
    seen -= set(GROUND)
    assert all(name.startswith(("eigentoken.theory.", "eigentoken.files.")) for name in seen), sorted(seen)


def test_what_is_allowed_is_used() -> None:
    """The lists of the wall are no longer than what the re-check imports."""
    used = {name for path in RECHECK for name in imported(path)}
    assert set(NEUTRAL) | set(LANGUAGE) <= used


def test_the_recheck_reads_words_by_its_own_tables() -> None:
    """Of the house's tables only the printer is read behind the wall; the truth of a word is looked up in tables of its own."""
    names = {
        alias.name
        for path in RECHECK
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "eigentoken.theory.language.readings"
        for alias in node.names
    }
    assert names == {"LATEX", "Reading"}
    from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
    from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH, EXACT_NUMBER
    from eigentoken.theory.language.readings import CERTIFIED, ENCLOSURE, EXACT

    issued = {function for table in (CERTIFIED, ENCLOSURE, EXACT) for function in table.table.values()}
    for table in (CLAIM_TRUTH, CONDITION_TRUTH, EXACT_NUMBER):
        assert table.table and not issued & set(table.table.values())
        modules = {function.__module__ for function in table.table.values()}
        assert all(module.startswith("eigentoken.numerics.recheck.") for module in modules)


@pytest.mark.parametrize("module", [*NEUTRAL, *GROUND])
def test_what_is_neutral_imports_nothing_of_ours(module: str) -> None:
    path = file_of(module)
    assert path is not None
    kin = {name for name in GROUND if "." in module and name.rpartition(".")[0] == module.rpartition(".")[0]}
    allowed = (
        (kin if module.startswith("eigentoken.documents.") else set()) if module in GROUND else {*NEUTRAL, *GROUND}
    )
    assert set(imported(path)) <= allowed


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
        f"eigentoken.{name}"
        for name in ("numerics", "theory", "files", "documents", "theory.language", "theory.classification")
    }
    others = (
        {name for name in printed if not name.startswith("eigentoken.numerics.recheck")}
        - packages
        - {*NEUTRAL, *GROUND}
    )
    assert not others


def test_a_recheck_of_a_refutation_loads_no_issuer() -> None:
    """In a fresh process: after the module that re-checks reports of ``refute``, there is nothing of numerics beyond the wall."""
    code = (
        "import sys\n"
        "import eigentoken.numerics.recheck.refutations.report\n"
        "print('\\n'.join(name for name in sys.modules if name.startswith('eigentoken.')))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    beyond = [name for name in printed if name.startswith("eigentoken.numerics.")]
    assert beyond and all(name.startswith("eigentoken.numerics.recheck") for name in beyond)
    assert not [name for name in printed if name.startswith(("eigentoken.proofs", "eigentoken.models"))]
