"""The document of a derivation, before any format: blocks that the renderers turn into LaTeX, Markdown or HTML.

Everything in it comes from the objects that ``eigentoken verify`` checks: formulas from ``step.display()``, words from
``step.says``, conditions and claims from their LaTeX reading.  Nothing mathematical is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from eigentoken.proofs.bibliography import BIBLIOGRAPHY
from eigentoken.proofs.story import story
from eigentoken.theory.readings import LATEX
from eigentoken.theory.statements import Statement
from eigentoken.theory.steps import ALL_SIZES, Citation, Step

__all__ = ["Block", "Display", "Document", "Heading", "Items", "Paragraph", "StatementBox", "of_statement"]


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    label: str = ""


@dataclass(frozen=True)
class Paragraph:
    """Text with inline mathematics between dollar signs."""

    text: str
    strong: str = ""


@dataclass(frozen=True)
class Display:
    """A numbered formula."""

    latex: str
    label: str = ""


@dataclass(frozen=True)
class Items:
    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class StatementBox:
    """The theorem environment: kind, id, title, blocks inside."""

    kind: str
    name: str
    title: str
    blocks: tuple[Block, ...]


Block = Heading | Paragraph | Display | Items | StatementBox


@dataclass(frozen=True)
class Document:
    title: str
    blocks: tuple[Block, ...]
    bibliography: Mapping[str, str] = field(default_factory=dict)


_WORDS = {
    "identity": "an identity, checked by normal form",
    "inequality": "checked by a decision procedure for the reals",
    "reduction": "derived from the system and compared by normal form",
    "computation": "computed in exact or ball arithmetic",
}


def _justification(step: Step) -> str:
    if isinstance(step, Citation):
        how = f"cited: {step.theorem.name}, {step.theorem.reference}" if step.theorem.reference else step.theorem.name
    else:
        how = _WORDS.get(step.kind, step.kind)
    scope = "" if step.scope == ALL_SIZES else f"; only for {step.scope}"
    return f"({how}{scope})"


def _statement_blocks(told: Statement) -> Iterator[Block]:
    if told.text:
        yield Paragraph(told.text)
    if told.conditions:
        named = f", for {', '.join(told.systems)}" if told.systems else ""
        yield Paragraph(f"Assume{named}:")
        yield Items(tuple(f"${LATEX(each)}$" for each in told.conditions))
    if told.claims:
        yield Paragraph("Then:" if told.conditions else "Claim:")
        yield Items(tuple(f"${LATEX(each)}$" for each in told.claims))


def _step_blocks(told: Statement) -> Iterator[Block]:
    if told.derivation is None:
        return
    yield Heading(3, "Derivation")
    for number, step in enumerate(told.derivation.steps, 1):
        yield Paragraph(f"{step.says} {_justification(step)}", strong=f"Step {number}.")
        formula = step.display()
        if formula:
            yield Display(formula, label=f"{told.id}-{number}")


def _printed_blocks(told: Statement) -> Iterator[Block]:
    if told.printed is None:
        return
    word = "is false as printed" if told.printed.false else "is imprecise as printed"
    yield Heading(3, f"The source {word}")
    yield Paragraph(told.printed.text, strong="Printed.")
    yield Paragraph(told.printed.wrong, strong="What is wrong.")
    for example in told.printed.counterexamples:
        yield Paragraph(example.says, strong=f"Counterexample {example.name}.")


def statement_blocks(told: Statement) -> Iterator[Block]:
    """The blocks of one statement: box, printed form, derivation, needed conditions, evidence."""
    kind = "lemma" if told.kind == "conjecture" else str(told.kind)
    yield StatementBox(kind, told.id, told.title, tuple(_statement_blocks(told)))
    yield from _printed_blocks(told)
    yield from _step_blocks(told)
    if told.variants:
        yield Heading(3, "Conditions that are needed")
        yield Items(tuple(f"Without {each.dropped}: {each.says}" for each in told.variants))
    if told.notes:
        yield Paragraph(told.notes, strong="Note.")
    known = story(told)
    yield Paragraph(f"{told.source}. Status: {known.status}. {known._evidence_line()}.", strong="Source and evidence.")


def references(statements: Iterable[Statement]) -> dict[str, str]:
    """BibTeX of what the statements cite: the papers, and the textbooks behind cited theorems."""
    found: dict[str, str] = {}
    for told in statements:
        if told.source.paper in BIBLIOGRAPHY:
            found[told.source.paper] = BIBLIOGRAPHY[told.source.paper]
        for step in told.derivation.steps if told.derivation else ():
            if isinstance(step, Citation) and step.theorem.bibtex:
                found[step.theorem.key] = step.theorem.bibtex
    return found


def of_statement(told: Statement) -> Document:
    """The document of one statement."""
    return Document(f"{told.id}: {told.title}", tuple(statement_blocks(told)), references([told]))
