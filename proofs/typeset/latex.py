"""LaTeX: a standalone document that compiles with amsmath, amsthm and hyperref, and fits the page.

A formula wider than the line is first broken at its implication and its commas, then, if one line is still too wide,
scaled to the line by ``\\fitted``; so displays are never overfull.
"""

from __future__ import annotations

import re

from eigentoken.proofs.typeset.document import Block, Display, Document, Heading, Items, Paragraph
from eigentoken.theory.plain_text import plain_text

__all__ = ["broken", "to_latex"]

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage[margin=28mm]{geometry}
\usepackage{amsmath,amssymb,amsthm,graphicx,microtype,booktabs}
\usepackage[hidelinks]{hyperref}
\newtheorem*{lemma}{Lemma}
\newtheorem*{theorem}{Theorem}
\newtheorem*{proposition}{Proposition}
\theoremstyle{definition}
\newtheorem*{definition}{Definition}
\newtheorem*{remark}{Remark}
\newtheorem*{extension}{Extension}
\newtheorem*{counterexample}{Counterexample}
\newsavebox{\fitbox}
\newcommand{\fitted}[1]{\sbox{\fitbox}{$\displaystyle #1$}%
  \ifdim\wd\fitbox>0.92\linewidth\resizebox{0.92\linewidth}{!}{\usebox{\fitbox}}\else\usebox{\fitbox}\fi}
\setlength{\emergencystretch}{3em}
\allowdisplaybreaks
"""
_WIDE = 74


def to_latex(document: Document, *, contents: bool = False, front: str = "", back: str = "") -> str:
    """The whole file, ready for latexmk."""
    lines = [PREAMBLE, rf"\title{{{escape(document.title)}}}", r"\author{eigentoken}", r"\date{}"]
    lines += [r"\begin{document}", r"\maketitle"]
    if contents:
        lines.append(r"\tableofcontents")
    lines.append(front)
    lines += [_block(each) for each in document.blocks]
    lines.append(back)
    if document.bibliography:
        lines += [r"\section*{References}", r"\begin{itemize}"]
        lines += [rf"\item {_reference(entry)}" for entry in document.bibliography.values()]
        lines += [r"\end{itemize}", "% BibTeX", *_commented(document.bibliography.values())]
    lines.append(r"\end{document}")
    return "\n".join(lines) + "\n"


def _commented(entries: object) -> list[str]:
    return ["% " + line for entry in entries for line in str(entry).splitlines()]  # type: ignore[attr-defined]


def _reference(entry: str) -> str:
    """A BibTeX entry as one line of text."""

    def field(name: str) -> str:
        found = re.search(rf"{name}\s*=\s*\{{(.*?)\}}\s*(?:,\s*\n|\n\}}|\}}\s*$)", entry, re.S)
        return " ".join(found.group(1).split()) if found else ""

    parts = [field("author"), rf"\emph{{{field('title')}}}", field("journal"), field("publisher"), field("note")]
    return ", ".join(part for part in [*parts, field("year")] if part and part != r"\emph{}") + "."


def escape(text: str) -> str:
    """Escape what is special outside mathematics, leaving dollar-delimited parts and commands alone."""
    parts = re.split(r"(\$[^$]*\$)", text)
    safe = [part if part.startswith("$") else re.sub(r"(?<!\\)([%&#_])", r"\\\1", part) for part in parts]
    return "".join(safe)


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        command = {1: "section", 2: "subsection", 3: "paragraph"}[block.level]
        label = rf"\label{{{block.label}}}" if block.label else ""
        return rf"\{command}{{{escape(block.text)}}}{label}" + (r"\mbox{}" if block.level == 3 else "")
    if isinstance(block, Paragraph):
        strong = rf"\textbf{{{escape(block.strong)}}} " if block.strong else ""
        return f"\n{strong}{escape(block.text)}\n"
    if isinstance(block, Display):
        label = rf"\label{{{block.label}}}" if block.label else ""
        return rf"\begin{{equation}}{label}" + "\n" + rf"\fitted{{{broken(block.latex)}}}" + "\n" + r"\end{equation}"
    if isinstance(block, Items):
        kind = "enumerate" if block.numbered else "itemize"
        items = "\n".join(rf"\item {_item(each)}" for each in block.items)
        return rf"\begin{{{kind}}}" + f"\n{items}\n" + rf"\end{{{kind}}}"
    inside = "\n".join(_block(each) for each in block.blocks)
    title = f"{escape(block.name)}: {escape(block.title)}"
    return rf"\begin{{{block.kind}}}[{{{title}}}]\mbox{{}}" + f"\n{inside}\n" + rf"\end{{{block.kind}}}"


def _item(text: str) -> str:
    """An item that is one formula may be too wide for its line: break or scale it like a display."""
    formula = re.fullmatch(r"\$([^$]*)\$", text)
    if formula and len(plain_text(text)) > _WIDE - 8:
        return rf"\fitted{{{broken(formula.group(1), _WIDE - 8)}}}"
    return escape(text)


def broken(latex: str, wide: int = _WIDE) -> str:
    """Break a wide formula at its top-level implication, equivalence, ``where`` and commas."""
    if len(plain_text(latex)) <= wide or r"\begin{" in latex:
        return latex
    pieces = [latex]
    for sign in (
        r"\qquad \text{where",
        r"\implies",
        r"\iff",
        r",\ ",
        r",\quad ",
        r"\text{ is ",
        r"\wedge",
        r"\vee",
        " = ",
    ):
        if all(len(plain_text(piece)) <= wide for piece in pieces):
            break
        pieces = [part for piece in pieces for part in _split(piece, sign, wide)]
    if len(pieces) == 1:
        return latex
    lines = _filled(pieces, wide)
    return r"\begin{aligned} & " + r" \\ & ".join(lines) + r" \end{aligned}"


def _filled(pieces: list[str], wide: int) -> list[str]:
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(plain_text(lines[-1] + piece)) <= wide:
            lines[-1] += " " + piece
        else:
            lines.append(r"\quad " + piece)
    return lines


def _split(piece: str, sign: str, wide: int) -> list[str]:
    """Split before each top-level occurrence of the sign, outside braces and \\left...\\right."""
    if len(plain_text(piece)) <= wide:
        return [piece]
    depth, cuts, index = 0, [0], 0
    while index < len(piece):
        if piece.startswith(r"\left", index) and not piece.startswith((r"\leftarrow", r"\leftrightarrow"), index):
            depth += 1
        elif piece.startswith(r"\right", index) and not piece.startswith(r"\rightarrow", index):
            depth -= 1
        elif piece[index] == "{" and (index == 0 or piece[index - 1] != "\\"):
            depth += 1
        elif piece[index] == "}" and (index == 0 or piece[index - 1] != "\\"):
            depth -= 1
        if depth == 0 and index > 0 and piece.startswith(sign, index):
            cut = index + len(sign) if sign.startswith(",") else index
            if cut > cuts[-1]:
                cuts.append(cut)
        index += 1
    return [
        piece[start:end] for start, end in zip(cuts, [*cuts[1:], len(piece)], strict=True) if piece[start:end].strip()
    ]
