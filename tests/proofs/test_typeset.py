"""The printed book: every document is well formed in every format, LaTeX compiles cleanly, and nothing unchecked is printed."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import sympy as sp

from eigentoken.output import compile_pdf, render, write
from eigentoken.proofs.bibliography import parse
from eigentoken.proofs.typeset import kernel_steps as kernel_printer
from eigentoken.proofs.typeset.abbreviations import sort, unbound
from eigentoken.proofs.typeset.book import of_book, of_errata
from eigentoken.proofs.typeset.document import (
    Heading,
    Items,
    Paragraph,
    PrintedArgument,
    PrintedDocument,
    bib_file,
    of_statement,
    references,
    sentence,
)
from eigentoken.proofs.typeset.html import to_html_body
from eigentoken.proofs.typeset.kernel_steps import kernel_steps
from eigentoken.proofs.typeset.latex import escape, to_latex
from eigentoken.proofs.typeset.markdown import to_markdown
from eigentoken.theory.kernel.propositions import bound_letters, free_letters
from eigentoken.theory.kernel.tensors import STATE, VectorLetter
from eigentoken.theory.printing.plain_text import WIDE, broken
from eigentoken.theory.printing.scalars import fraction_levels, width
from eigentoken.theory.statements.registry import Recalled, statements
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import ALL_SIZES, Identity
from eigentoken.theory.statements.steps import Argument as ArguedStep

SAMPLE = ("PM-L4", "PM-L15", "AB-T5.1", "PH-T2")
IDS = [each.id for each in statements()]
#: A line that sticks out by more than this many points is seen by a reader.
NOTICEABLE = 5.0
#: A display scaled below this is hard to read.
SMALLEST = 0.7


@cache
def document_of(name: str) -> PrintedDocument:
    return of_statement(statements().get(name))


@cache
def markdown_of(name: str) -> str:
    return to_markdown(document_of(name))


@cache
def book() -> PrintedDocument:
    return of_book(statements())


def complaints(log: str) -> list[str]:
    """What a reader of the pages would notice, from LaTeX's log."""
    joined = log.replace("\n", " ")
    found = [
        line for line in log.splitlines() if re.match(r"(LaTeX|Package hyperref) Warning: .*(undefined|multiply)", line)
    ]
    found += [each.group() for each in re.finditer(r"There were undefined references|Missing character[^!]*!", joined)]
    wide = re.finditer(r"Overfull \\hbox \(([\d.]+)pt too wide\)", joined)
    found += [each.group() for each in wide if float(each.group(1)) > NOTICEABLE]
    for each in re.finditer(r"fitted ([\d.]+)pt to ([\d.]+)pt", joined):
        ratio = float(each.group(2)) / float(each.group(1))
        found += [f"a display is scaled to {ratio:.2f}"] if ratio < SMALLEST else []
    return found


@pytest.mark.parametrize("name", IDS)
def test_every_statement_has_balanced_latex_with_all_its_steps(name: str) -> None:
    told = statements().get(name)
    source = to_latex(document_of(name))
    body = source[source.index(r"\begin{document}") :]
    assert body.count("{") - body.count(r"\{") == body.count("}") - body.count(r"\}")
    assert body.replace(r"\$", "").count("$") % 2 == 0
    assert "$^" not in body, "a power outside of a formula"
    assert not re.search(r"'_\{[^{}]*\}\^", body), "a prime, an index, and a second superscript"
    assert r"\text{True}" not in body
    assert r"_{\top}" not in body, "a time is printed as a transpose"
    begun, ended = re.findall(r"\\begin\{(\w+\*?)\}", body), re.findall(r"\\end\{(\w+\*?)\}", body)
    assert sorted(begun) == sorted(ended)
    labels, cited = re.findall(r"\\label\{([^}]*)\}", body), set(re.findall(r"\\cite\{([^}]*)\}", body))
    assert len(labels) == len(set(labels))
    assert cited <= set(re.findall(r"\\bibitem\{([^}]*)\}", body))
    steps = told.derivation.steps if told.derivation and told.proof is None else ()
    printed = [len(steps), *(len(found.steps) - 1 for found in kernel_steps(told))]
    assert body.count(r"\step{") == sum(printed)
    assert sum(printed) > 0 or (told.derive is None and told.proof is None)
    for step in steps:
        if step.scope != ALL_SIZES:
            assert f"only for {escape(step.scope)}" in body
        if isinstance(step, ArguedStep):
            assert "argued in words, not machine-checked" in body
        if isinstance(step, Recalled):
            assert f"proved in {step.statement}" in body


def test_headings_miss_no_level_and_name_the_source() -> None:
    """A reader by ear goes from the title to what is below it; who reads page one is told which paper is meant."""
    for name, source in (
        ("PM-L4", "Li-Altafini, Lemma 4, is imprecise as printed"),
        ("CL-13", "formalisation of Karagodin-"),
    ):
        headings = re.findall(r"^#+ .*", markdown_of(name), re.M)
        assert [each.split()[0] for each in headings] == ["#", *["##"] * (len(headings) - 1)]
        assert any(source in each for each in headings)
    levels = [len(each) for each in re.findall(r"^(#+) ", to_markdown(book()), re.M)]
    assert levels[0] == 1 and max(levels) == 4
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_markdown_and_html_carry_the_same_formulas_with_the_same_numbers() -> None:
    for name in SAMPLE:
        document = document_of(name)
        count = sum(isinstance(each, PrintedArgument) and bool(each.formula) for each in document.blocks)
        assert count > 0
        for text in (markdown_of(name), render(document, "html")):
            tags = [int(each) for each in re.findall(r"\\tag\{(\d+)\}", text)]
            assert tags == list(range(1, count + 1))
            assert r"\cite" not in text.split("</style>")[-1]
            assert r"\fitted" not in text


@pytest.mark.parametrize("name", IDS)
def test_no_command_of_latex_is_left_among_the_words(name: str) -> None:
    """What stands between formulas, code and BibTeX is words in Markdown and HTML."""
    document = document_of(name)
    words = re.sub(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", "", markdown_of(name), flags=re.DOTALL)
    assert re.findall(r"\\[a-zA-Z]+", words) == []
    page = re.sub(
        r"<pre.*?</pre>|<code>.*?</code>|\\\(.*?\\\)|\\\[.*?\\\]", "", to_html_body(document), flags=re.DOTALL
    )
    assert re.findall(r"\\[a-zA-Z]+", page) == []


#: Names and signs that are set as mathematics, and words of sympy and of commands that are not set at all.
_PLAIN_LETTERS = re.compile(r"\b(alpha|beta|lambda|kappa|mu|nu|omega|theta|rho|sigma)\b|\b[a-zA-Z]_\w|\w\^\w|[<>]=|!=")
_UNSET = re.compile(
    r"\\text\{(True|False|true|false)\}|_\{\\top\}|\\left\(\w(_\{\w+\})?\\right\)\^|\\frac\{\([^()]*\)\}"
)
_GREEK_UNSET = re.compile(r"(?<![\\a-zA-Z])(alpha|beta|lambda|kappa|mu|nu|omega|theta|rho|sigma|epsilon)(?![a-zA-Z])")


def faults(name: str) -> list[str]:
    """What an audit of the book struck out, wherever it stands in what is printed of a statement."""
    text = re.sub(r"```.*?```", "", markdown_of(name), flags=re.DOTALL)
    formulas = [*re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL), *re.findall(r"(?<!\$)\$([^$]+)\$(?!\$)", text)]
    words = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", text, flags=re.DOTALL)
    found = [f"in words: {each.group()}" for each in _PLAIN_LETTERS.finditer(words)]
    for each in formulas:
        found += [f"in a formula: {bad.group()}" for bad in (*_UNSET.finditer(each), *_GREEK_UNSET.finditer(each))]
        found += [f"fractions in fractions: {each}"] if fraction_levels(each) > 3 else []
    return found


#: A power of Euler's number, and not a transposed vector e.
EULER = re.compile(r"(?<![\\a-zA-Z])e\^(?!\{?\\top)")


def test_a_power_of_e_is_no_transposed_vector() -> None:
    assert EULER.search(r"\frac{e^{x_i^{\top} W x_j}}{2}") and not EULER.search(r"e^{\top} w + \mathrm{size}^2")


@pytest.mark.parametrize("name", IDS)
def test_nothing_that_the_audit_struck_out_is_printed(name: str) -> None:
    """No ASCII formulas, no True, no time as a transpose, no towers of fractions; each letter one meaning, and said."""
    assert faults(name) == []
    told = statements().get(name)
    for found, proved in zip(kernel_steps(told), told.proofs.values(), strict=False):
        drafts, _, _ = kernel_printer._folded(told, proved)
        things = [thing for draft in drafts.values() for thing in (draft.said, *draft.assumed)]
        letters = {each for thing in things for each in free_letters(thing) | bound_letters(thing)} | {
            VectorLetter(STATE)
        }
        sorts: dict[str, set[str]] = {}
        for each in letters:
            sorts.setdefault(each.name, set()).add(sort(each))
        assert {one: several for one, several in sorts.items() if len(several) > 1} == {}
        formulas = " ".join([found.notation, *(f"{step.formula} {step.says}" for step in found.steps)])
        assert "e" not in sorts or not EULER.search(formulas), "e is the base of an exponential"
        said = set(re.findall(r"\$([^$]*)\$", found.notation.partition("A step holds for all")[2]))
        assert len(said) == len(unbound(told, things)), "a letter that stands for anything is not introduced"


def test_what_the_audit_struck_out_is_found_where_it_is() -> None:
    plain, typed, unset = (
        r"$x_{i} \geq 0$",
        "for alpha <= 1",
        (r"\text{True}", r"x_{\top}", r"\left(r_{i}\right)^{2}", "a(omega)"),
    )
    for text, count in ((plain, 0), (typed, 2), *((f"${each}$", 1) for each in unset)):
        told = Statement("X-2", Kind.CONJECTURE, Source("nobody", ""), "A guess", text=text)
        formulas = "".join(re.findall(r"\$([^$]+)\$", told.text))
        seen = [*_UNSET.finditer(formulas), *_GREEK_UNSET.finditer(formulas)]
        seen += [*_PLAIN_LETTERS.finditer(re.sub(r"\$[^$]*\$", "", told.text))]
        assert len(seen) == count, text


def test_no_identity_of_the_book_is_one_expression_written_twice() -> None:
    """What sympy cancels while it is typed in would be printed as a formula that says nothing."""
    steps = [(told.id, step) for told in statements() if told.derivation for step in told.derivation.steps]
    identities = [(name, step) for name, step in steps if isinstance(step, Identity)]
    assert len(identities) > 40
    assert [(name, step.name) for name, step in identities if sp.sympify(step.left) == sp.sympify(step.right)] == []


def test_katex_knows_every_environment_of_the_html() -> None:
    """KaTeX rejects some of LaTeX; none of that may be in a formula of the book."""
    for name in IDS:
        body = markdown_of(name)
        for refused in (r"\label", r"\ref{", r"\eqref", "multline", r"\DeclareMathOperator", r"\mbox"):
            assert refused not in body, (name, refused)


def test_the_book_has_every_statement_the_graph_and_the_errata() -> None:
    source = to_latex(book(), contents=True)
    for name in IDS:
        assert rf"\label{{{name}}}" in source
    assert r"\tableofcontents" in source
    assert "graph.pdf" in source
    linked = set(re.findall(r"\\hyperref\[([^\]]*)\]", source))
    assert linked
    assert linked <= set(IDS)
    wrong = [each for each in statements() if each.printed is not None and each.printed.erratum]
    errata = to_markdown(of_errata(statements()))
    assert all(f" ({each.id}), " in errata for each in wrong)
    assert errata.count("False as printed") == sum(each.printed.false for each in wrong if each.printed)


def test_definitions_come_before_what_uses_them_and_ten_after_nine() -> None:
    headings = [each.label for each in book().blocks if isinstance(each, Heading) and each.label]
    assert headings.index("PM-L9") < headings.index("PM-L10")
    assert headings.index("PM-E8") < headings.index("PM-L1")


def test_words_are_escaped_and_mathematics_is_not() -> None:
    assert escape("50% & a_b, (1 + 1)^m, $x_1 & 2$") == r"50\% \& a\_b, (1 + 1)$^{m}$, $x_1 & 2$"
    assert escape(r"l <= 3 by \cite{a_b}") == r"l $\leq$ 3 by \cite{a_b}"
    assert escape('run `eigentoken verify` "now"') == r"run \texttt{eigentoken verify} ``now''"


def test_code_in_a_text_may_be_a_formula() -> None:
    assert escape("`f_i = e^{-t} x_i` converges") == r"\texttt{f\_i = e\^{}\{-t\} x\_i} converges"
    assert escape(r"`show \hyperref[A_1]{A_1}`") == r"\texttt{show \hyperref[A_1]{A_1}}"


def test_no_formula_of_the_book_raises_a_power_without_brackets() -> None:
    """LaTeX stops at it, KaTeX prints it in red, and both only where somebody compiles the page."""
    bad = re.compile(r"\^(\{[^{}]*\}|\w)\^")
    assert bad.search(r"\left|x\right|^{2}^{2}")
    assert bad.findall(to_latex(book(), contents=True)) == []
    assert r"\left(\left|x_{i} - x_{k}\right|^{2}\right)^{2}" in to_latex(document_of("PH-X3"))


def test_long_formulas_are_broken_outside_brackets_only() -> None:
    term = r"\left(a_{1} + b_{1} + c_{1} + d_{1}\right)"
    lines = broken(" + ".join([term] * 9)).split(r"\\ &")
    assert len(lines) > 1
    for line in lines:
        assert line.count(r"\left(") == line.count(r"\right)")
        assert width(line.replace(r"\begin{aligned} &", "").replace(r"\end{aligned}", "")) <= WIDE + 4
    assert broken("a = b") == "a = b"
    fraction = r"\frac{" + " + ".join("abcdefghijklm") + "}{" + " + ".join("nopqrstuvwxyz") + "}"
    assert width(fraction) < 60


def test_bibtex_is_read_with_nested_braces_and_written_back() -> None:
    entry = "@article{Key, author = {{\\L}ojasiewicz, Stanis{\\l}aw and B, C.}, title = {On {T}his}, year = {1984}}"
    found = parse(entry)
    assert (found.kind, found.key, found.fields["title"]) == ("article", "Key", "On {T}his")
    assert sentence(found) == r"Stanis{\l}aw {\L}ojasiewicz and C. B, \emph{On {T}his}, (1984)."
    everything = references(statements())
    assert all(parse(each.text) == each and each.key == key for key, each in everything.items())
    assert bib_file(everything.values()).count("@") >= len(everything)
    with pytest.raises(ValueError, match="BibTeX"):
        parse("no entry")


def test_a_statement_without_a_derivation_is_printed_as_what_it_is() -> None:
    told = Statement("X-1", Kind.CONJECTURE, Source("nobody", ""), "A guess with 5% doubt", text="$x = x$.")
    source = to_latex(of_statement(told))
    assert r"\begin{conjecture}[{\ {\normalfont(A guess with 5\% doubt)}, X-1}]" in source
    assert r"\step{" not in source[source.index(r"\begin{document}") :]


def test_without_latex_the_tex_is_written_and_the_remedy_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    done = write(of_statement(statements().get("PM-L4")), ["pdf"], tmp_path / "pm-l4")
    assert [path.name for path in done.files] == ["pm-l4.tex", "pm-l4.bib"]
    assert "latexmk" in done.missing[0]
    assert "texlive" in done.missing[0]
    assert r"\begin{document}" in (tmp_path / "pm-l4.tex").read_text()


def test_a_dot_in_an_id_is_not_an_ending(tmp_path: Path) -> None:
    done = write(of_statement(statements().get("AB-L3.1")), ["tex", "md"], tmp_path / "AB-L3.1")
    assert [path.name for path in done.files] == ["AB-L3.1.tex", "AB-L3.1.bib", "AB-L3.1.md"]


@pytest.mark.needs_latex
def test_latex_that_does_not_compile_is_told_and_bad_pages_are_seen(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="did not compile"):
        compile_pdf(to_latex(PrintedDocument("x", (Paragraph(r"\nosuchcommand"),))), tmp_path / "bad.pdf")
    wide = PrintedDocument("x", (Paragraph("W" * 200), Items(("see \\ref{nowhere}",))))
    seen = " ".join(complaints(compile_pdf(to_latex(wide), tmp_path / "wide.pdf")))
    assert "too wide" in seen
    assert "undefined" in seen


@pytest.mark.needs_latex
@pytest.mark.parametrize("name", ["PM-L15", "AB-T5.1"])
def test_a_sample_compiles_without_complaint(name: str, tmp_path: Path) -> None:
    log = compile_pdf(to_latex(document_of(name)), tmp_path / "paper.pdf")
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
    assert complaints(log) == []


@pytest.mark.slow
@pytest.mark.needs_latex
@pytest.mark.parametrize("name", IDS)
def test_every_derivation_compiles_without_complaint(name: str, tmp_path: Path) -> None:
    log = compile_pdf(to_latex(document_of(name)), tmp_path / "paper.pdf")
    assert complaints(log) == []


@pytest.mark.slow
@pytest.mark.needs_latex
def test_the_book_compiles_without_complaint(tmp_path: Path) -> None:
    from eigentoken.figures.dependencies import draw_dependencies

    graph = draw_dependencies(statements(), tmp_path / "drawn.pdf")
    log = compile_pdf(to_latex(book(), contents=True), tmp_path / "book.pdf", graph)
    assert complaints(log) == []


def test_the_introduction_names_statements_that_are_there() -> None:
    """The story across the papers: every id in it is in the registry, and it speaks of all five questions."""
    from eigentoken.proofs.typeset.book import FAMILIES, STORY, chapters

    known = {each.id for each in statements()}
    named = {each for text in STORY for each in re.findall(r"\b(?:PM|CT|AB|PH|CL|BD)-[A-Z]*[0-9.]+[a-z+]*\b\+?", text)}
    named = {each.rstrip(".") for each in named}
    assert named <= known | {"CL-6"}, named - known
    assert len(named) > 40
    begins = [text.split(".")[0] for text in STORY[1:]]
    assert begins == [
        "What needs symmetry",
        "What needs a gap",
        "What needs a hemisphere",
        "What holds from almost every start",
        "What asks nothing",
    ]
    shown = dict(chapters(statements()))
    assert set(FAMILIES.values()) <= set(shown)
    assert "Extensions made here" not in shown
    assert sorted(each.id for chapter in shown.values() for each in chapter) == sorted(known)
    assert {each.id.split("-")[0] for each in shown[FAMILIES["BD"]]} == {"BD"}
