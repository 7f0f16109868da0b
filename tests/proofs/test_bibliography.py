"""references.bib: read strictly, every citation has an entry, and every entry is cited."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from eigentoken.proofs import load
from eigentoken.proofs.bibliography import (
    ABELLA,
    BIBLIOGRAPHY,
    FILE,
    HERE,
    LI_ALTAFINI,
    PHAM,
    bibtex,
    parse,
    read_entries,
)
from eigentoken.proofs.prior_art import PRIOR_ART
from eigentoken.proofs.steps import textbook, textbook_flows, textbook_maps
from eigentoken.proofs.typeset.textbook_theorems import all_theorems
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.steps import Citation, Theorem

ROOT = Path(__file__).resolve().parents[2]
ENTRY = "@book{Key,\n  author = {A, B.},\n  title = {T},\n  publisher = {P},\n  year = {2000}\n}"
load()


def _theorems() -> list[Theorem | Textbook]:
    books = (textbook, textbook_flows, textbook_maps)
    cited = [each for book in books for each in vars(book).values() if isinstance(each, Theorem)]
    return [*cited, *all_theorems()]


def test_every_citation_has_an_entry_and_every_entry_is_cited() -> None:
    cited = {parse(each.bibtex).key for each in _theorems()}
    cited |= {prior.key for priors in PRIOR_ART.values() for prior in priors}
    assert set(PRIOR_ART) <= {told.id for told in statements()}
    for told in statements():
        assert told.source.paper in BIBLIOGRAPHY, told.id
        cited.add(told.source.paper)
        for step in told.derivation.steps if told.derivation else ():
            if isinstance(step, Citation):
                assert bibtex(parse(step.theorem.bibtex).key) == step.theorem.bibtex, f"{told.id}: {step.name}"
    assert cited == set(BIBLIOGRAPHY)
    assert {LI_ALTAFINI, ABELLA, PHAM, HERE} <= cited


def test_fields_are_sane() -> None:
    entries = read_entries(FILE.read_text(encoding="utf-8"))
    assert len(entries) >= 30
    for key, each in entries.items():
        assert parse(each.text) == each, "what is printed reads back"
        year = each.fields.get("year", "2000")
        assert re.fullmatch(r"(1[89]|20)\d\d", year), f"{key}: year {year}"
        assert each.fields.get("volume", "1").isdigit() and each.fields.get("edition", "2").isdigit(), key
        assert re.fullmatch(r"\d+--\d+", each.fields.get("pages", "1--2")), key
        for name in re.split(r"\s+and\s+", each.fields["author"]):
            assert re.fullmatch(r"[^,]+(, [^,]+)?|\{[^{}]+\}", name), f"{key}: author {name}"


def test_no_bibtex_inside_python() -> None:
    """An entry stands in the file, not in a string; the docstring that shows how one is read is the exception."""
    for path in (ROOT / "proofs").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"@(article|book|misc|software)\{", text):
            continue
        tree = ast.parse(text)
        shown = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in shown:
                assert not re.match(r"\s*@(article|book|misc|software)\{", node.value), f"{path}: {node.value[:40]}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("words before\n" + ENTRY, "line 1: a BibTeX entry must begin"),
        (ENTRY + "\n}", "line 7: a BibTeX entry must begin"),
        (ENTRY + "\n\n" + ENTRY.replace("Key", "KEY"), "line 8: the key KEY stands twice"),
        (ENTRY.replace("{T}", "{T"), "title|brace"),
        (ENTRY.replace("{T}", "{}"), "line 3: Key: title is empty"),
        (ENTRY.replace("year", "title"), "line 5: Key: title is given twice"),
        (ENTRY.replace("year", "yaer"), "lacks year"),
        (ENTRY.replace("  year = {2000}", "  year = {2000},\n  yaer = {2000}"), "does not take yaer"),
        (ENTRY.replace("@book", "@bok"), "the kind must be one of article, book"),
        (ENTRY.replace("{T},", "{T}"), "expected `, name = {value}`"),
        (ENTRY.replace("{2000}", '"2000"'), "expected `, name = {value}`"),
        (ENTRY.replace("Key,", ""), "must begin with @kind{key|expected"),
    ],
)
def test_a_file_that_is_not_clean_is_refused(text: str, says: str) -> None:
    assert set(read_entries("% a comment\n\n" + ENTRY + "\n")) == {"Key"}
    with pytest.raises(ValueError, match=says):
        read_entries(text)


def test_an_unknown_key_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"no bibliography entry 'Kalil': expected one of .*Khalil"):
        bibtex("Kalil")
    with pytest.raises(ValueError, match="something stands behind the entry"):
        parse(ENTRY + ENTRY)


def _letters(text: str) -> str:
    """``PM-L4``, ``pm_l04``: pml4."""
    return re.sub(r"0*(\d+)", r"\1", re.sub(r"[^a-z0-9]", "", text.lower()))


def test_a_file_carries_the_id_of_its_statement_and_names_its_reference() -> None:
    """``pm_l04_consensus_stability.py`` states PM-L4; its docstring says where that stands in print, or that it is new."""
    files: dict[Path, list[Statement]] = {}
    for told in statements():
        origin = statements().origin(told)
        if origin is not None and "proofs" in origin.parts:
            files.setdefault(origin, []).append(told)
    assert len(files) >= 80
    for path, stated in files.items():
        chapter, number, *subject = path.stem.split("_")
        ids = {_letters(told.id) for told in stated}
        assert _letters(chapter + number) in ids and subject, f"{path.name} states {sorted(ids)}"
        said = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split())
        for paper in {told.source.paper for told in stated}:
            wanted = ("New here", "Own derivation") if paper == HERE else (f"Reference: {paper}, ",)
            assert any(each in said for each in wanted), f"{path.name}: expected {' or '.join(wanted)}"
            assert any(told.id in said for told in stated), path.name
