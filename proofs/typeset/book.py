"""The whole book: chapters by paper, contents, the dependency graph's place, and the errata."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from eigentoken.proofs.bibliography import ABELLA, HERE, LI_ALTAFINI, PHAM
from eigentoken.proofs.questions import needs, says
from eigentoken.proofs.typeset.ascii_formulas import with_mathematics
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
from eigentoken.proofs.typeset.summary import named_above
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
}
#: The chapters of what is derived here, by the first letters of its ids.
FAMILIES = {
    "PM": "Layers on the sphere: steps, regions, boundaries",
    "CT": "Flows on the sphere in continuous time",
    "AB": "Ellipsoids, masks and several heads",
    "PH": "Unnormalised layers, rings and rates",
    "BD": "Bounds for heads and layers of trained models, and where the norm stands",
}


GRAPH = "graph.pdf"
#: So many statements are named by their titles in a sentence.
FEW = 6


def of_book(statements: Iterable[Statement]) -> PrintedDocument:
    """All statements, a section for each paper and a subsection for each statement, the graph and the errata."""
    listed = sorted(statements, key=_place)
    blocks: list[Block] = [
        *preface(listed),
        *story(listed),
        Figure(GRAPH, "Which statement leans on which: what is needed stands to the left."),
        *notation_chapter(listed),
    ]
    for title, chapter in chapters(listed):
        blocks.append(Heading(1, title))
        for told in chapter:
            blocks += [Heading(2, with_mathematics(told.called), label=told.id), *statement_blocks(told, titled=False)]
    blocks += [Heading(1, "Errata"), *errata(listed)]
    return PrintedDocument("The book of statements", tuple(blocks), references(listed))


def chapters(statements: Iterable[Statement]) -> Iterator[tuple[str, list[Statement]]]:
    """A chapter for each paper, then one for each family of what is derived here; those that have no statement are left out."""
    listed = list(statements)
    titles = [*CHAPTERS.values(), *FAMILIES.values()]
    found: dict[str, list[Statement]] = {}
    for told in listed:
        paper = told.source.paper
        family = FAMILIES.get(told.id.split("-")[0], "Extensions made here")
        found.setdefault(family if paper == HERE else CHAPTERS.get(paper, paper), []).append(told)
    for title in sorted(found, key=lambda each: (titles.index(each) if each in titles else len(titles), each)):
        yield title, found[title]


def preface(statements: Iterable[Statement]) -> Iterator[Block]:
    """What is proved, what is not, and what a reader must believe; the numbers are counted from the registry."""
    listed = list(statements)
    proved = [told for told in listed if told.proof is not None]
    rest = [told for told in listed if told.proof is None and told.derive is not None]
    tested = [
        told for told in listed if told.proof is None and told.derive is None and told.kind is not Kind.CONJECTURE
    ]
    open_ = [told for told in listed if told.kind is Kind.CONJECTURE]
    yield Heading(1, "What is proved, and what is not")
    yield Paragraph(
        f"Of the {len(listed)} statements of this book {len(proved)} are proved by the kernel: a derivation is a value that "
        "only its rules can make, and what is printed as such a statement is exactly what that value proves, for the systems "
        "and under the conditions that it names. Its derivation is printed from the tree of the proof: steps of pure logic are "
        "folded, each step says what it assumes beyond the conditions and which steps it rests on. A remark stands under the "
        "word that says what it is; nothing else is asserted."
    )
    if rest:
        yield from named(
            "Not proved by the kernel",
            rest,
            "Of these every step is checked by machine, cited, or marked as an argument in words, but they are put together by "
            "the names of facts, and the words that stand beside their formulas are ours.",
        )
    if tested:
        yield from named(
            "Stated without a derivation, and seen on vectors and random instances only",
            tested,
            "What a proof of them is said to be stands under the words `Not proved here'.",
        )
    if open_:
        yield from named("Conjectures", open_)
    yield Paragraph(
        "What a reader must believe: the rules of the kernel and the engines behind them (the calculus of tokens, the "
        "linearization of a system at a point, z3 for real arithmetic, which `eigentoken verify` asks again of cvc5), that a "
        "system says what its equation in the chapter on notation says, and these theorems of books."
    )
    yield PrintedTable(("theorem", "where it stands"), tuple((each.name, each.reference) for each in all_theorems()))
    yield Paragraph(
        "Where a source is false or imprecise as printed, its form and the counterexample stand before the derivation; they "
        "are collected in the errata. A paper that was not read has no errata here: where only a summary of it was at hand, "
        "the statement says what is imprecise in the summary, and no more."
    )


def named(what: str, statements: Iterable[Statement], after: str = "") -> Iterator[Block]:
    """Statements by title, in a sentence; where they are many, how many they are, and a list with a line for each.

    >>> from eigentoken.theory.statements.registry import statements
    >>> [each.text for each in named("Proved", [statements().get("PM-L4")])]
    ['Proved: Stability of consensus for the Oja map (PM-L4).']
    """
    titles = tuple(with_mathematics(told.called) for told in statements)
    if len(titles) <= FEW:
        yield Paragraph(f"{what}: {'; '.join(titles)}.{after and f' {after}'}")
        return
    yield Paragraph(f"{what}: the {len(titles)} statements of this list.{after and f' {after}'}")
    yield Items(titles)


def counted(statements: Iterable[Statement]) -> str:
    """How many statements these are, and from where: a count that a reader takes in, where a list of ids is a wall.

    >>> from eigentoken.theory.statements.registry import statements
    >>> counted([statements().get(each) for each in ("PM-L4", "PM-N1", "PM-L3")])
    '3 statements: 2 of Li-Altafini, 1 of eigentoken'
    """
    papers = Counter(told.source.paper for told in statements)
    places = ", ".join(f"{number} of {paper}" for paper, number in papers.most_common())
    return f"{papers.total()} statements: {places}"


#: The introduction: what the papers have in common, and which assumption buys what.  The lists behind it are generated.
STORY = (
    "All these papers follow the same tokens. Attention replaces each token by an average of all, a value matrix acts on "
    "the average, and a norm may put the result back on a sphere. They differ in where the norm stands (on a sphere the "
    "layers PM and the flows CT, on an ellipsoid AB, nowhere PH and CL-1 to CL-6, before or behind the layer BD-P1 to BD-P7), "
    "in time (layers or a flow) and in the mask. The questions are always the same three: where do tokens go, how fast, and "
    "from which starts?",
    "What needs symmetry. A symmetric value matrix is what makes an energy: the push is a gradient (AB-L3.2, CT-4, CL-7), a "
    "layer climbs (PM-L7, PM-X4), and so every trajectory has a single limit (AB-T3.2, CT-10, PM-R3). Its eigenvectors are "
    "orthogonal, which gives spectra in closed form (PM-L3, PM-N3, CT-6). Without it PH-T2 is false (PH-C2), consensus can "
    "turn for ever (PM-C2), and no energy is known. But where tokens agree already, symmetry is not the point: stability of "
    "consensus is read off any layer matrix (PM-N1), and how far a matrix may be from symmetric is measured at one vector "
    "only (BD-E1, BD-E2).",
    "What needs a gap. Near consensus the leading eigenvalue must be ahead by its real part (CT-2, PM-L4, PM-T1). Far from "
    "it tokens can attend to opposite tokens, which turns a push round: then the leader must be ahead in modulus, and real "
    "parts are not enough (AB-X2, CL-2, BD-H1, PM-X1). With the gap in modulus nothing is asked of the scores. Where the "
    "gap closes the linearisation is silent, and the next term decides (PM-X5, PM-X6, CT-14).",
    "What needs a hemisphere. Tokens on one side of a hyperplane stay there when averages are taken; this needs neither an "
    "energy nor a symmetric score and survives masks, positions and scores that change with time (AB-T4.1, AB-X1, AB-X1c, "
    "CL-8 for the identity as value matrix; AB-T6.1, AB-X2, CT-12, PM-X1, BD-H1, PH-T4 for a leading eigenvector). As many "
    "tokens as dimensions lie in a hemisphere almost surely, more need not (AB-R4.2). Outside it the picture changes: "
    "antipodal groups and states off every axis can be stable (PM-N3, PM-CX1, CL-13, AB-X6).",
    "What holds from almost every start. An energy and unstable rest points elsewhere are enough: consensus is reached in "
    "the gradient case (AB-X0, CL-10, AB-X5), at the leading eigenvector by the Oja map and flow (PM-T2, PM-T2+, CT-9a), "
    "and with a causal mask at the first token (AB-T5.1, CL-12), whose motion nobody disturbs. The known exceptions are two "
    "opposite tokens under a value matrix that is negative across them (PM-CX1), long steps (PM-N4), and a causal mask with "
    "another value matrix (CL-13, AB-X6), where an open set of starts ends at states that no conjecture foresaw.",
    "What asks nothing. An average does not leave the hull (BD-D1, CL-1, CL-4, CL-16), two rows of weights differ by what "
    "their scores differ (BD-S2), and what one layer does to the diversity of tokens is bounded by norms that can be "
    "computed (BD-D2, BD-D3, BD-R1, BD-M1, BD-J2). These are the statements that say something of trained layers as they "
    "are; the others say what a layer does as far as it resembles their system.",
)


def story(statements: Iterable[Statement]) -> Iterator[Block]:
    """Across the papers: which statements need symmetry, a gap, a hemisphere, and which speak of almost every start.

    The counts are made from the conditions and claims of the statements; ``eigentoken statements --needs`` lists them.
    """
    listed = list(statements)
    kinds = {
        told.id: {re.split("[:,(]", each)[0].strip() for each in needs(told)} for told in listed
    }  # not the other names

    def asking(*words: str) -> str:
        return counted(told for told in listed if kinds[told.id] & set(words))

    yield Heading(1, "One story across the papers")
    yield from map(Paragraph, STORY)
    yield PrintedTable(
        ("named above", "id"), tuple((with_mathematics(each.title), each.id) for each in named_above(STORY))
    )
    yield Items(
        (
            "A symmetric matrix is asked for by " + asking("symmetric") + ".",
            "A gap at the top of the spectrum, by real part or by modulus, is asked for by "
            + asking("simple top", "non principal modulus below")
            + ".",
            "A start in a hemisphere or half space is asked for by " + asking("in hemisphere") + ".",
            "Of almost every start speak " + counted(told for told in listed if "almost every" in says(told)) + ".",
            "Nothing is asked of matrices or start by " + counted(told for told in listed if not told.conditions) + ".",
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
            if named_there := named_above(_words(found)):
                yield Paragraph(
                    "; ".join(with_mathematics(each.called) for each in named_there) + ".", strong="Named above."
                )


def _words(found: list[Statement]) -> Iterator[str]:
    """What the table says, without the titles of its own statements."""
    for told in found:
        if told.printed is not None:
            yield from (told.printed.text, told.printed.wrong, *(each.says for each in told.printed.counterexamples))


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
    return PrintedTable(("where", "what it says", "what is wrong", "counterexample"), rows)


def of_errata(statements: Iterable[Statement]) -> PrintedDocument:
    """The errata as a document of their own."""
    listed = list(statements)
    return PrintedDocument(
        "Errata", tuple(errata(listed)), sources(each for each in listed if each.printed is not None)
    )
