"""The document of a derivation, before any format: blocks that the renderers turn into LaTeX, Markdown or HTML.

Everything in it comes from the objects that ``eigentoken verify`` checks: formulas from ``step.display()``, words from
``step.says``, conditions and claims from their LaTeX reading.  Nothing mathematical is written here.

BibTeX entries are printed as sentences of a reference list, and as the text of a ``.bib`` file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from eigentoken.proofs.bibliography import BIBLIOGRAPHY, Reference, parse
from eigentoken.proofs.prior_art import PRIOR_ART
from eigentoken.proofs.typeset.abbreviations import printed_claims
from eigentoken.proofs.typeset.ascii_formulas import with_mathematics
from eigentoken.proofs.typeset.kernel_steps import kernel_steps, notation
from eigentoken.proofs.typeset.obvious import step_list, systems_in_words
from eigentoken.proofs.typeset.summary import ORIGIN, letters_of, named_above, needed, summary, systems_of, without_code
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.statements.registry import Recalled
from eigentoken.theory.statements.statement import SourceKind, Statement
from eigentoken.theory.statements.steps import ALL_SIZES, Citation, Derivation, Step
from eigentoken.theory.statements.steps import Argument as ArguedStep

__all__ = [
    "Block",
    "Display",
    "End",
    "Figure",
    "Heading",
    "Items",
    "Paragraph",
    "PrintedArgument",
    "PrintedDocument",
    "PrintedTable",
    "StatementBox",
    "bib_file",
    "of_statement",
    "references",
    "sentence",
    "sources",
    "statement_blocks",
]


def sentence(reference: Reference) -> str:
    """The entry as one LaTeX sentence: authors, title in italics, where, year.

    >>> from eigentoken.proofs.bibliography import parse
    >>> sentence(parse("@book{K, author = {Khalil, Hassan K.}, title = {Nonlinear Systems}, year = {2002}}"))
    'Hassan K. Khalil, \\\\emph{Nonlinear Systems}, (2002).'
    """
    get = reference.fields.get
    journal = get("journal") or get("booktitle", "")
    if journal and get("volume"):
        journal += f" {get('volume')}"
    where = ", ".join(part for part in (journal, get("publisher", ""), _edition(get("edition", ""))) if part)
    pages = f", {get('pages')}" if get("pages") else ""
    year = f" ({get('year')})" if get("year") else ""
    parts = [
        _authors(get("author", "")),
        rf"\emph{{{get('title', '')}}}",
        f"{where}{year}{pages}".strip(),
        get("note", ""),
    ]
    return ", ".join(part for part in parts if part) + "."


def _edition(number: str) -> str:
    ordinals = {"2": "2nd ed.", "3": "3rd ed."}
    return ordinals.get(number, f"{number}th ed." if number.isdigit() else number)


def _authors(text: str) -> str:
    """``Last, First and Last, First`` as ``First Last, First Last and First Last``."""
    names = [" ".join(each.split()) for each in re.split(r"\s+and\s+", text) if each.strip()]
    turned = [" ".join(reversed([part.strip() for part in name.split(", ", 1)])) for name in names]
    turned = [re.sub(r"^\{(.*)\}$", r"\1", name) if name.count("{") == 1 else name for name in turned]
    return turned[0] if len(turned) == 1 else ", ".join(turned[:-1]) + f" and {turned[-1]}" if turned else ""


def bib_file(entries: Iterable[Reference]) -> str:
    """The text of a ``.bib`` file."""
    return "\n\n".join(each.text.strip() for each in entries) + "\n"


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
class PrintedArgument:
    """One step: its number, how it is justified (in words), what it says, its numbered formula, what comes after."""

    number: int
    how: str
    says: str
    formula: str = ""
    label: str = ""
    after: str = ""


@dataclass(frozen=True)
class End:
    """The end of a derivation."""


@dataclass(frozen=True)
class Figure:
    """A picture made by the face, named in the document by its file."""

    name: str
    caption: str


@dataclass(frozen=True)
class PrintedTable:
    """Rows of texts with inline mathematics, under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class StatementBox:
    """The theorem environment: kind, id, title (none where a heading has it already), blocks inside."""

    kind: str
    name: str
    title: str
    blocks: tuple[Block, ...]


Block = Heading | Paragraph | Display | Items | PrintedArgument | End | Figure | PrintedTable | StatementBox


@dataclass(frozen=True)
class PrintedDocument:
    title: str
    blocks: tuple[Block, ...]
    bibliography: Mapping[str, Reference] = field(default_factory=dict)

    def below_title(self) -> int:
        """What is added to the level of a heading where the title is the first: no level is missed."""
        return 2 - min((block.level for block in self.blocks if isinstance(block, Heading)), default=1)


_WORDS = {
    "identity": "identity, by normal form",
    "inequality": "by a decision procedure for real arithmetic",
    "reduction": "derived and compared by normal form",
    "computation": "computed in exact or ball arithmetic",
}


def _justification(step: Step, numbers: Mapping[str, int]) -> str:
    """How the step is known, from which steps, and for which sizes, in words."""
    if isinstance(step, ArguedStep):
        parts = ["argued in words, not machine-checked"]
    elif isinstance(step, Recalled):
        parts = [f"proved in {step.source}" + (", which argues a step in words" if step.argued else "")]
    elif isinstance(step, Citation):
        cite = rf" \cite{{{parse(step.theorem.bibtex).key}}}" if step.theorem.bibtex else ""
        where = f": {step.theorem.reference}" if step.theorem.reference else ""
        parts = [f"cited, {step.theorem.name}{where}{cite}"]
    else:
        parts = [_WORDS.get(step.kind, step.kind)]
    if step.assuming:
        parts.append(f"assuming {' and '.join(f'${LATEX(each)}$' for each in step.assuming)}")
    if step.discharges:
        parts.append(f"where {' and '.join(f'${LATEX(each)}$' for each in step.discharges)} is no longer assumed")
    if step.uses:
        parts.append(f"from {step_list(sorted(numbers[each] for each in step.uses))}")
    if step.sizes() != ALL_SIZES:
        parts.append(f"only for {step.sizes()}")
    return "; ".join(parts)


def _discharged(step: Step, derivation: Derivation) -> str:
    """Where each hypothesis of a cited theorem, and each fact that a step needs, comes from; what a citation gives."""
    found = []
    for hypothesis in step.needed:
        source = "assumed"
        for number, earlier in enumerate(derivation.steps, 1):
            if earlier is step:
                break
            if hypothesis in earlier.establishes:
                source = f"Step {number}"
                break
        found.append(f"{hypothesis} ({source})")
    parts = [f"What it needs: {'; '.join(found)}."] if found else []
    if isinstance(step, Citation):
        parts.append(f"What it gives: {'; '.join(step.establishes)}.")
    return facts_latex(" ".join(parts))


_GREEK = ("Lambda", "alpha", "eta", "kappa", "lambda", "mu", "nu", "rho", "zeta")
_MARK = re.compile(r"([_^])(\([^)]*\)|[A-Za-z0-9]+|[+-])")
_LETTER = re.compile(r"(?<![A-Za-z$\\_-])(-?)([A-Za-z]+)((?:[_^](?:\([^)]*\)|[A-Za-z0-9]+|[+-](?![A-Za-z0-9])))*)")


def facts_latex(words: str) -> str:
    r"""Facts are named in ASCII: their letters with marks, and Greek ones, as formulas.

    >>> print(facts_latex("a real eigenvalue above 1/m_+ of B_1 on w^perp, at most exp(-kappa t) of X^T, lambda_d^-"))
    a real eigenvalue above 1/$m_{+}$ of $B_{1}$ on $w^{\perp}$, at most exp($-\kappa$ t) of $X^{\top}$, $\lambda_{d}^{-}$
    >>> print(facts_latex("the sets G_T are open"))
    the sets $G_{T}$ are open
    """

    def letter(found: re.Match[str]) -> str:
        sign, name, marks = found.group(1), found.group(2), found.group(3)
        if not marks and name not in _GREEK and name != "Pbar":
            return found.group()
        base = rf"\{name}" if name in _GREEK else r"\bar P" if name == "Pbar" else name
        raised = {"T": r"\top", "perp": r"\perp"}
        pairs = _MARK.findall(marks)
        shown = "".join(f"{kind}{{{raised.get(mark, mark) if kind == '^' else mark}}}" for kind, mark in pairs)
        return f"${sign}{base}{shown}$"

    return _LETTER.sub(letter, words)


def _by(told: Statement, place: int) -> str:
    """The steps that conclude the claim at that place: `` (Steps 2 and 5)``."""
    named = told.claims_from[place] if place < len(told.claims_from) else ()
    steps = told.derivation.steps if named and told.derivation else ()
    numbers = [number for number, step in enumerate(steps, 1) if step.name in named]
    return f" ({step_list(numbers)})" if numbers else ""


def _statement_blocks(told: Statement) -> Iterator[Block]:
    if told.text:
        yield Paragraph(told.text)
    if told.conditions:
        named = (
            f" for the system{'s' if len(told.systems) > 1 else ''} {', '.join(f'`{each}`' for each in told.systems)}"
        )
        yield Paragraph(f"{'In formulas' if told.text else 'Assume'}{named if told.systems else ''}: if")
        yield Items(tuple(f"${LATEX(each)}$" for each in told.conditions))
    if told.claims:
        about = f" for {', '.join(f'`{each}`' for each in told.systems)}" if told.systems else ""
        yield Paragraph("then" if told.conditions else f"Claim{about}:")
        claims, letters = printed_claims(told)
        yield Items(tuple(f"${each}${_by(told, place)}" for place, each in enumerate(claims)))
        if letters:
            yield Paragraph("where")
            yield Items(letters)
    if told.claims and notation(told):
        yield Paragraph(notation(told))


def _kernel_blocks(told: Statement) -> Iterator[Block]:
    """The derivation of a statement that the kernel proves, from the tree of its proof."""
    for found in kernel_steps(told):
        yield Heading(3, f"Derivation{systems_in_words(found.systems)}")
        if found.notation:
            yield Paragraph(found.notation)
        for step in found.steps[:-1]:
            how = step.how + (f"; from {step_list(list(step.uses))}" if step.uses else "")
            yield PrintedArgument(step.number, how, step.says, step.formula, f"{told.id}-{step.number}", step.where)
        yield Paragraph(f"The claims follow from {step_list(list(found.steps[-1].uses))}.")
        yield End()


def _step_blocks(told: Statement) -> Iterator[Block]:
    yield from _kernel_blocks(told)
    if told.proof is not None or told.derivation is None:
        return
    yield Heading(3, "Derivation")
    steps = told.derivation.steps
    numbers = {step.name: number for number, step in enumerate(steps, 1)}
    for number, step in enumerate(steps, 1):
        how, after = _justification(step, numbers), _discharged(step, told.derivation)
        yield PrintedArgument(number, how, step.says, step.display(), f"{told.id}-{number}", after)
    yield End()


_HEADING = {
    SourceKind.READ: "{source}, is {how} as printed",
    SourceKind.SUMMARISED: "The summary at hand{of} is imprecise (no erratum of the paper)",
    SourceKind.RECORDED: "The form that a formalisation{of} records is {how} (no erratum of the paper)",
    SourceKind.FORMALISED: "The form that was formalised here is {how}",
}


def _printed_blocks(told: Statement) -> Iterator[Block]:
    if told.printed is None:
        return
    how, paper = "false" if told.printed.false else "imprecise", told.source.paper
    of = f" of {paper}" if paper in BIBLIOGRAPHY else ""
    yield Heading(3, _HEADING[told.printed.kind].format(source=told.source, of=of, how=how))
    yield Paragraph(told.printed.text, strong=f"{ORIGIN[told.printed.kind]}.")
    yield Paragraph(told.printed.wrong, strong="What is wrong.")
    for example in told.printed.counterexamples:
        among = without_code(example.name)
        yield Paragraph(example.says, strong=f"Counterexample{among and f' ({among})'}.")


def statement_blocks(told: Statement, *, titled: bool = True) -> Iterator[Block]:
    """The blocks of one statement: box, printed form, derivation, needed conditions, evidence; and which others it names."""
    blocks = list(_blocks(told, titled))
    yield from blocks
    named = named_above((words for each in blocks for words in _words(each)), (told.id,))
    if named:
        yield Paragraph("; ".join(each.called for each in named) + ".", strong="Named above.")


def _words(block: Block) -> Iterator[str]:
    """What stands in a block as words of ours (a justification names statements by their titles)."""
    if isinstance(block, StatementBox):
        for each in block.blocks:
            yield from _words(each)
    elif isinstance(block, Items):
        yield from block.items
    elif isinstance(block, Paragraph):
        yield block.text
    elif isinstance(block, PrintedArgument):
        yield from (block.says, block.after)


def _blocks(told: Statement, titled: bool) -> Iterator[Block]:
    title = with_mathematics(told.title) if titled else ""
    yield StatementBox(str(told.kind), told.id, title, tuple(_statement_blocks(told)))
    yield from _printed_blocks(told)
    yield from _step_blocks(told)
    if told.variants:
        yield Heading(3, "Conditions that are needed")
        yield Items(tuple(f"Without {dropped}: {says}" for dropped, says in needed(told)))
    if told.id in PRIOR_ART:
        yield Heading(3, "Prior art")
        yield Items(tuple(rf"{prior.has} \cite{{{prior.key}}}" for prior in PRIOR_ART[told.id]))
    for remark in told.notes:
        yield Paragraph(remark.text, strong=f"{remark.kind}.")
    known = summary(told)
    cite = rf" \cite{{{told.source.paper}}}" if told.source.paper in BIBLIOGRAPHY else ""
    yield Paragraph(
        f"{told.source}{cite}. Status: {with_mathematics(known.status_words())}. {known.evidence_sentence()}",
        strong="Source and evidence.",
    )


def sources(statements: Iterable[Statement]) -> dict[str, Reference]:
    """The papers that the statements are from, by key."""
    papers = (told.source.paper for told in statements)
    return {paper: BIBLIOGRAPHY[paper] for paper in papers if paper in BIBLIOGRAPHY}


def references(statements: Iterable[Statement]) -> dict[str, Reference]:
    """What the statements cite, by key: the papers, and the textbooks behind cited theorems."""
    found: dict[str, Reference] = {}
    for told in statements:
        found |= sources([told])
        cited = (
            [step.theorem.bibtex for step in told.derivation.steps if isinstance(step, Citation)]
            if told.proof is None and told.derivation
            else []
        )
        for proved in told.proofs.values():
            cited += [node.detail[0].bibtex for node in proved.rests_on("textbook")]
        found |= {entry.key: entry for entry in map(parse, filter(None, cited))}
        found |= {prior.key: BIBLIOGRAPHY[prior.key] for prior in PRIOR_ART.get(told.id, ())}
    return found


def of_statement(told: Statement) -> PrintedDocument:
    """The document of one statement."""
    where = systems_of(told)
    first = [Paragraph(where, strong="The system." if len(told.systems) == 1 else "The systems.")] if where else []
    blocks = tuple(statement_blocks(told))
    letters = letters_of(told, " ".join(text for each in blocks for text in (*_words(each), _formula(each))))
    first += [Paragraph(letters, strong="Letters.")] if letters else []
    return PrintedDocument(with_mathematics(told.called), (*first, *blocks), references([told]))


def _formula(block: Block) -> str:
    return block.formula if isinstance(block, PrintedArgument) else ""
