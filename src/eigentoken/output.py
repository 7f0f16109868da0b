"""What commands put out: one JSON document or tables for people, and derivations as LaTeX, Markdown, HTML and PDF.

Human output goes to stdout through rich; progress goes to stderr and only on a terminal; ``--json`` prints one document
with a ``schema`` field and nothing else.

A derivation, or the whole book, is written in the formats asked for; as PDF through latexmk where a LaTeX is installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.files.writing import copy_file, write_text

if TYPE_CHECKING:
    from eigentoken.documents.printed import CommandDocument
    from eigentoken.proofs.typeset.document import PrintedDocument

__all__ = [
    "FORMATS",
    "WORD_STYLES",
    "Written",
    "progress",
    "render",
    "say",
    "say_error",
    "say_hanging",
    "say_interrupted",
    "settings",
    "show_json",
    "styled",
    "table",
    "watched",
    "write",
]

WORD_STYLES = {
    "holds": "green",
    "fails": "red",
    "undecided": "yellow",
    "corrected": "magenta",
    "derived": "green",
    "formal": "green",
    "stepwise": "cyan",
    "argued": "yellow",
}


class Settings:
    """What the global options said."""

    debug = False
    quiet = False
    interrupted = False  # told already, with what was left


settings = Settings()


def _console(stderr: bool = False) -> Any:
    from rich.console import Console

    width = None if (sys.stderr if stderr else sys.stdout).isatty() else int(os.environ.get("COLUMNS", "80"))
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def show_json(document: CommandDocument) -> None:
    """One JSON document with its schema first; no NaN, no infinities."""
    print(json.dumps(document, indent=2, allow_nan=False, default=str))


def say(text: str, style: str = "") -> None:
    """One line (or paragraph) for a person; silent under ``--quiet``."""
    if settings.quiet:
        return
    console = _console()
    with _unpadded(console):
        console.print(text, style=style or None, markup=False)


@contextmanager
def _unpadded(console: Any) -> Iterator[None]:
    """What reads a pipe wants no spaces at the end of a line; a terminal gets what is printed as it is."""
    if sys.stdout.isatty():
        yield
        return
    with console.capture() as padded:
        yield
    print("\n".join(line.rstrip(" ") for line in padded.get().split("\n")), end="")


def say_error(text: str) -> None:
    """One line on stderr; on a terminal it is broken between words, not within them."""
    import textwrap

    width = shutil.get_terminal_size().columns if sys.stderr.isatty() else 0
    lines = textwrap.wrap(text, max(40, width), break_long_words=False, break_on_hyphens=False) if width else [text]
    print("\n".join(lines), file=sys.stderr)


def say_interrupted(text: str) -> None:
    """That the reader stopped a command, and what becomes of what was done."""
    settings.interrupted = True
    say_error(f"interrupted{text and ': '}{text}")


def say_hanging(text: str, indent: str = "  ") -> None:
    """A paragraph with a hanging indent: continuation lines begin under the first word after a marker.

    A marker is ``1. ``, ``- ``, or a word followed by two spaces or more (``if    ``, ``then  ``); leading spaces are kept.
    """
    if settings.quiet:
        return
    import re
    import textwrap

    marker = re.match(r" *(?:\d+\. +|- |\w+ {2,})?", text)
    deeper = indent + " " * (len(marker.group()) if marker else 0)
    console = _console()
    lines = textwrap.wrap(
        indent + text, max(40, console.width), subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False
    )
    for line in lines or [""]:
        console.print(line, markup=False, soft_wrap=True)


def styled(word: str, mark: str = "") -> Any:
    """A word of the toolkit in its colour, with a mark after it."""
    from rich.text import Text

    return Text(word + mark, style=WORD_STYLES.get(word, ""))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, wrap: Sequence[str] = ()) -> None:
    """A table that fits 80 columns: the columns named in ``wrap`` fold, the others stay on one line."""
    if settings.quiet:
        return
    from rich import box
    from rich.table import Table

    made = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False, expand=False)
    for column in columns:
        made.add_column(column, overflow="fold", no_wrap=column not in wrap)
    for row in rows:
        made.add_row(*(cell if hasattr(cell, "plain") else str(cell) for cell in row))
    console = _console()
    with _unpadded(console):
        console.print(made)


def watched() -> bool:
    """Whether somebody looks at the progress: a terminal, and not ``--quiet``."""
    return sys.stderr.isatty() and not settings.quiet


def progress(what: str, total: int | None = None) -> Any:
    """A progress bar on stderr, only on a terminal; use as ``with progress(...) as advance: advance()``.

    ``advance(by, description, said)``: a new description names the current item; what is ``said`` is a result as it comes, and
    the last five of them stand above the bar.  The item has a line of its own: a long one does not push out the time left.
    """

    @contextmanager
    def bar() -> Any:
        if not watched():
            yield lambda *_args, **_options: None
            return
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        passed, left = TimeElapsedColumn(), TimeRemainingColumn()
        known = (MofNCompleteColumn(), passed, TextColumn("passed,"), left, TextColumn("left"))
        unknown = (passed, TextColumn("passed"))  # where nobody knows how much there is, nothing is said of it
        columns = (BarColumn(bar_width=24), *(unknown if total is None else known))
        recent: deque[str] = deque(maxlen=5)

        class WithResults(Progress):
            def get_renderables(self) -> Iterable[Any]:
                yield from (Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in recent)
                for each in self.tasks:
                    yield Text(each.description, no_wrap=True, overflow="ellipsis")
                yield self.make_tasks_table(self.tasks)

        with WithResults(*columns, console=_console(stderr=True), transient=True) as shown:
            task = shown.add_task(what, total=total)

            def advance(by: float = 1, description: str | None = None, said: str = "") -> None:
                if said:
                    recent.append(said)
                shown.update(task, advance=by, description=description or shown.tasks[0].description)

            yield advance

    return bar()


FORMATS = ("tex", "md", "html", "pdf")
NO_LATEX = (
    "no PDF: latexmk is not installed (Debian: texlive-latex-base texlive-latex-recommended lmodern latexmk); "
    "the .tex was written all the same"
)


@dataclass(frozen=True)
class Written:
    """The files that were written, and what could not be, with the remedy."""

    files: tuple[Path, ...]
    missing: tuple[str, ...] = ()


def render(document: PrintedDocument, form: str, **options: object) -> str:
    """The text of a document in ``tex``, ``md`` or ``html``."""
    from eigentoken.pages import page
    from eigentoken.proofs.typeset.html import to_html_body
    from eigentoken.proofs.typeset.latex import to_latex
    from eigentoken.proofs.typeset.markdown import to_markdown
    from eigentoken.proofs.typeset.summary import ID
    from eigentoken.statement_links import with_statements
    from eigentoken.theory.printing.plain_text import plain_words

    if form == "tex":
        return to_latex(document, **options)  # type: ignore[arg-type]
    if form == "md":
        return to_markdown(document)
    own = ID.findall(document.title)
    return page(plain_words(document.title), with_statements(f"<main>{to_html_body(document)}</main>", own)[0])


def write(
    document: PrintedDocument, forms: Sequence[str], target: Path, *, graph: Path | None = None, **options: object
) -> Written:
    """Write ``target`` with each format's own ending, and a ``.bib`` beside the .tex; a PDF is made from the .tex."""
    written: list[Path] = []
    missing: list[str] = []
    if "tex" in forms or "pdf" in forms:
        source = render(document, "tex", **options)
        written += _write_tex(document, source, target, graph)
    for form in [each for each in forms if each != "tex"]:
        path = _ending(target, form)
        if form == "pdf" and shutil.which("latexmk") is None:
            missing.append(NO_LATEX)
            continue
        if form == "pdf":
            compile_pdf(source, path, graph)
        else:
            write_text(path, render(document, form))
        written.append(path)
    return Written(tuple(written), tuple(missing))


def _ending(target: Path, form: str) -> Path:
    """``target`` with this format's ending; a dot inside a name such as ``ab-l3.1`` is not an ending."""
    known = target.suffix.lower() in {f".{each}" for each in (*FORMATS, "bib")}
    return target.with_suffix(f".{form}") if known else target.with_name(f"{target.name}.{form}")


def _write_tex(document: PrintedDocument, source: str, target: Path, graph: Path | None) -> list[Path]:
    from eigentoken.proofs.typeset.document import bib_file

    tex = _ending(target, "tex")
    write_text(tex, source)
    written = [tex]
    if document.bibliography:
        bib = _ending(target, "bib")
        write_text(bib, bib_file(document.bibliography.values()))
        written.append(bib)
    if graph is not None:
        picture = tex.with_name("graph.pdf")
        if picture != graph:
            copy_file(graph, picture)
        written.append(picture)
    return written


def compile_pdf(source: str, target: Path, graph: Path | None = None) -> str:
    """Run latexmk on the text; returns its log.  An error of LaTeX is an error of ours, with the first line of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "paper.tex").write_text(source, encoding="utf-8")
        if graph is not None:
            shutil.copy(graph, place / "graph.pdf")
        command = ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
        ran = subprocess.run(command, cwd=place, capture_output=True, text=True, errors="replace")
        log = (place / "paper.log").read_text(errors="replace") if (place / "paper.log").exists() else ran.stdout
        if ran.returncode != 0 or not (place / "paper.pdf").exists():
            first = next((line for line in log.splitlines() if line.startswith("!")), "latexmk failed")
            raise RuntimeError(f"LaTeX did not compile: {first}")
        copy_file(place / "paper.pdf", target)
        return log
