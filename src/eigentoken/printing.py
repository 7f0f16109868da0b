"""Write a derivation, or the whole book, in the formats asked for; PDF through latexmk where a LaTeX is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eigentoken.files.writing import copy_file, write_text

if TYPE_CHECKING:
    from eigentoken.proofs.typeset.document import PrintedDocument

__all__ = ["FORMATS", "Written", "render", "write"]

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

    if form == "tex":
        return to_latex(document, **options)  # type: ignore[arg-type]
    if form == "md":
        return to_markdown(document)
    return page(document.title, to_html_body(document))


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
