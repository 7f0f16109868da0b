"""The whole book: chapters by paper, contents, the dependency graph's place, and the errata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from eigentoken.proofs.bibliography import ABELLA, HERE, LI_ALTAFINI, PHAM
from eigentoken.proofs.questions import needs, says
from eigentoken.proofs.typeset.document import (
    Block,
    Figure,
    Heading,
    Items,
    Paragraph,
    PrintedDocument,
    PrintedTable,
    references,
    sources,
    statement_blocks,
)
from eigentoken.proofs.typeset.notation_chapter import notation_chapter
from eigentoken.proofs.typeset.textbook_theorems import all_theorems
from eigentoken.theory.statements.statement import Kind, SourceKind, Statement

__all__ = ["errata", "of_book", "of_errata", "story"]

CHAPTERS = {
    LI_ALTAFINI: "Transformer layers and the power method",
    ABELLA: "Attention on spheres and ellipsoids",
    PHAM: "Unnormalised token dynamics",
    "Geshkovski-et-al-clusters": "Clusters in Euclidean space",
    "Geshkovski-et-al-perspective": "Clusters on the sphere",
    "Criscitiello-et-al": "Synchronisation on spheres",
    "Polyanskiy-Rigollet-Yao": "Synchronisation on the circle",
    "Karagodin-Polyanskiy-Rigollet": "Causal attention, its clusters and its conjectures",
    "Geshkovski-et-al-metastability": "Metastable clusters",
    "Alcalde-et-al": "Hard attention and its leaders",
    HERE: "Extensions made here",
}


GRAPH = "graph.pdf"


def of_book(statements: Iterable[Statement]) -> PrintedDocument:
    """All statements, a section for each paper and a subsection for each statement, the graph and the errata."""
    listed = sorted(statements, key=_place)
    blocks: list[Block] = [
        *preface(listed),
        *story(listed),
        Figure(GRAPH, "Which statement leans on which: what is needed stands to the left."),
        *notation_chapter(listed),
    ]
    papers = [*CHAPTERS, *sorted({each.source.paper for each in listed} - set(CHAPTERS))]
    for paper in papers:
        chapter = [each for each in listed if each.source.paper == paper]
        if chapter:
            blocks.append(Heading(1, CHAPTERS.get(paper, paper)))
        for told in chapter:
            blocks += [Heading(2, told.called, label=told.id), *statement_blocks(told, titled=False)]
    blocks += [Heading(1, "Errata"), *errata(listed)]
    return PrintedDocument("The book of statements", tuple(blocks), references(listed))


def preface(statements: Iterable[Statement]) -> Iterator[Block]:
    """What is proved, what is not, and what a reader must believe; the numbers are counted from the registry."""
    listed = list(statements)
    proved = [told for told in listed if told.proof is not None]
    rest = [told.called for told in listed if told.proof is None and told.derive is not None]
    tested = [
        told.called
        for told in listed
        if told.proof is None and told.derive is None and told.kind is not Kind.CONJECTURE
    ]
    open_ = [told.called for told in listed if told.kind is Kind.CONJECTURE]
    yield Heading(1, "What is proved, and what is not")
    yield Paragraph(
        f"Of the {len(listed)} statements of this book {len(proved)} are proved by the kernel: a derivation is a value that "
        "only its rules can make, and what is printed as such a statement is exactly what that value proves, for the systems "
        "and under the conditions that it names. Its derivation is printed from the tree of the proof: steps of pure logic are "
        "folded, each step says what it assumes beyond the conditions and which steps it rests on. A remark stands under the "
        "word that says what it is; nothing else is asserted."
    )
    if rest:
        yield Paragraph(
            f"Not proved by the kernel: {'; '.join(rest)}. Of these every step is checked by machine, cited, or marked as an "
            "argument in words, but they are put together by the names of facts, and the words that stand beside their formulas "
            "are ours."
        )
    if tested:
        yield Paragraph(
            f"Stated without a derivation, and seen on vectors and random instances only: {'; '.join(tested)}. What a proof of "
            "them is said to be stands under the words `Not proved here'."
        )
    if open_:
        yield Paragraph(f"Conjectures: {'; '.join(open_)}.")
    yield Paragraph(
        "What a reader must believe: the rules of the kernel and the engines behind them (the calculus of tokens, the "
        "linearization of a system at a point, z3 for real arithmetic, which `eigentoken verify` asks again of cvc5), that a "
        "system says what its equation in the next chapter says, and these theorems of books."
    )
    yield PrintedTable(("theorem", "where it stands"), tuple((each.name, each.reference) for each in all_theorems()))
    yield Paragraph(
        "Where a source is false or imprecise as printed, its form and the counterexample stand before the derivation; they "
        "are collected in the errata. A paper that was not read has no errata here: where only a summary of it was at hand, "
        "the statement says what is imprecise in the summary, and no more."
    )


def story(statements: Iterable[Statement]) -> Iterator[Block]:
    """Across the papers: which statements need symmetry, a gap, a hemisphere, and which speak of almost every start.

    The lists are made from the conditions and claims of the statements.
    """
    listed = list(statements)
    kinds = {told.id: {each.split(":")[0] for each in needs(told)} for told in listed}

    def asking(*words: str) -> str:
        return "; ".join(told.called for told in listed if kinds[told.id] & set(words))

    yield Heading(1, "One story across the papers")
    yield Items(
        (
            "A symmetric matrix is asked for by " + asking("symmetric") + ".",
            "A gap at the top of the spectrum, by real part or by modulus, is asked for by "
            + asking("simple top", "non principal modulus below")
            + ".",
            "A start in a hemisphere or half space is asked for by " + asking("in hemisphere") + ".",
            "Of almost every start speak "
            + "; ".join(told.called for told in listed if "almost every" in says(told))
            + ".",
            "Nothing is asked of matrices or start by "
            + "; ".join(told.called for told in listed if not told.conditions)
            + ".",
        )
    )


def _place(told: Statement) -> tuple[bool, str, list[tuple[int, str]]]:
    """The reading order inside a chapter: definitions first, then by letter and number (L2 before L10)."""
    family = told.id.split("-")[0]
    pieces = re.findall(r"\d+|[^\d]+", told.id.removeprefix(family))
    order = [(int(each), "") if each.isdigit() else (0, each) for each in pieces]
    return (str(told.kind) != "definition", family, order)


#: How a form came to us, and what its list is called: only the first are errata of papers.
_GROUPS = {
    SourceKind.READ: "Errata of papers that were read",
    SourceKind.RECORDED: "Forms that a formalisation by others records (the papers were not read: no errata of theirs)",
    SourceKind.SUMMARISED: "Forms of summaries (the papers were not read: no errata of theirs)",
    SourceKind.FORMALISED: "Forms that were made here from informal sentences",
}


def errata(statements: Iterable[Statement]) -> Iterator[Block]:
    """What is wrong in other forms of our statements, made from the registry and grouped by how the form came to us."""
    listed = [told for told in statements if told.printed is not None]
    for kind, title in _GROUPS.items():
        found = [told for told in listed if told.printed is not None and told.printed.kind is kind]
        if found:
            yield Heading(2, title)
            yield _errors(found)


def _errors(found: list[Statement]) -> PrintedTable:
    rows = tuple(
        (
            f"{told.called}, {told.source}",
            told.printed.text,
            f"{told.printed.finding.capitalize()}. {told.printed.wrong}",
            " ".join(each.says for each in told.printed.counterexamples),
        )
        for told in found
        if told.printed is not None
    )
    return PrintedTable(("where", "the form", "what is wrong", "witness"), rows)


def of_errata(statements: Iterable[Statement]) -> PrintedDocument:
    """The errata as a document of their own."""
    listed = list(statements)
    return PrintedDocument(
        "Errata", tuple(errata(listed)), sources(each for each in listed if each.printed is not None)
    )
