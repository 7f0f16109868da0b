"""The whole book: chapters by paper, contents, the dependency graph's place, and the errata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from eigentoken.proofs.bibliography import ABELLA, HERE, LI_ALTAFINI, PHAM
from eigentoken.proofs.typeset.document import (
    Block,
    Figure,
    Heading,
    Paragraph,
    PrintedDocument,
    references,
    statement_blocks,
)
from eigentoken.theory.statements.statement import Statement

__all__ = ["errata", "of_book", "of_errata"]

CHAPTERS = {
    LI_ALTAFINI: "Transformer layers and the power method",
    ABELLA: "Attention on spheres and ellipsoids",
    PHAM: "Unnormalised token dynamics",
    HERE: "Extensions made here",
}


GRAPH = "graph.pdf"


def of_book(statements: Iterable[Statement]) -> PrintedDocument:
    """All statements, a section for each paper and a subsection for each statement, the graph and the errata."""
    listed = sorted(statements, key=_place)
    blocks: list[Block] = [
        Heading(1, "How to read this book"),
        Paragraph(
            "Every formula below is printed from the object that `eigentoken verify` checks. After the number of a "
            "step stands how it is known: an identity by normal form, an inequality by a decision procedure for the "
            "reals, a computation in exact or ball arithmetic, a derivation from the system itself, a theorem that is "
            "cited with its hypotheses, or an argument in words, which no machine has checked. Where a source is "
            "false or imprecise as printed, its form and the counterexample stand before the derivation; they are "
            "collected in the errata. A paper that was not read has no errata here: where only a summary of it was at "
            "hand, the statement says what is imprecise in the summary, and no more."
        ),
        Figure(GRAPH, "Which statement leans on which: what is needed stands to the left."),
    ]
    papers = [*CHAPTERS, *sorted({each.source.paper for each in listed} - set(CHAPTERS))]
    for paper in papers:
        chapter = [each for each in listed if each.source.paper == paper]
        if chapter:
            blocks.append(Heading(1, CHAPTERS.get(paper, paper)))
        for told in chapter:
            blocks += [Heading(2, f"{told.id}: {told.title}", label=told.id), *statement_blocks(told, titled=False)]
    blocks += [Heading(1, "Errata"), *errata(listed)]
    return PrintedDocument("The book of statements", tuple(blocks), references(listed))


def _place(told: Statement) -> tuple[bool, str, list[tuple[int, str]]]:
    """The reading order inside a chapter: definitions first, then by letter and number (L2 before L10)."""
    family = told.id.split("-")[0]
    pieces = re.findall(r"\d+|[^\d]+", told.id.removeprefix(family))
    order = [(int(each), "") if each.isdigit() else (0, each) for each in pieces]
    return (str(told.kind) != "definition", family, order)


def errata(statements: Iterable[Statement]) -> Iterator[Block]:
    """What is wrong in print, made from the registry: the form that was read, what is wrong, the witness.

    Only forms that were read in a paper are listed: what a summary says, and what we formalised ourselves, is not its erratum.
    """
    found = [told for told in statements if told.printed is not None and told.printed.erratum]
    for told in found:
        if told.printed is not None:
            yield Paragraph(f"({told.source}, {told.title}) {told.printed.text}", strong=f"{told.id}.")
            yield Paragraph(told.printed.wrong, strong=f"{told.printed.finding.capitalize()}.")
            for example in told.printed.counterexamples:
                yield Paragraph(example.says, strong=f"Witness {example.name}.")
    if not found:
        yield Paragraph("Nothing.")


def of_errata(statements: Iterable[Statement]) -> PrintedDocument:
    """The errata as a document of their own."""
    listed = list(statements)
    return PrintedDocument(
        "Errata",
        tuple(errata(listed)),
        references(each for each in listed if each.printed is not None and each.printed.erratum),
    )
