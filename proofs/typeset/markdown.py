"""Markdown with dollar mathematics, for GitHub and notebooks."""

from __future__ import annotations

import re

from eigentoken.proofs.typeset.document import (
    Block,
    Display,
    End,
    Figure,
    Heading,
    Items,
    Paragraph,
    PrintedArgument,
    PrintedDocument,
    PrintedTable,
    sentence,
)
from eigentoken.theory.printing.plain_text import broken

__all__ = ["spread_emphasis", "to_markdown", "to_unicode"]


def to_markdown(document: PrintedDocument) -> str:
    """The document as Markdown; formulas are numbered through."""
    render = _Renderer(document)
    lines = [f"# {render.text(document.title)}", ""]
    for block in document.blocks:
        lines += [*render.block(block), ""]
    if document.bibliography:
        found = document.bibliography.values()
        lines += ["## References", ""]
        lines += [f"{number}. {_words(sentence(each))}" for number, each in enumerate(found, 1)]
        lines += ["", "```bibtex", *(each.text for each in found), "```", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def spread_emphasis(text: str) -> str:
    """Emphasis around words and formulas as emphasis of the words alone: formulas are set apart from the words later.

    >>> print(spread_emphasis(r"\\emph{if $n = 2$ or less}, then"))
    \\emph{if} $n = 2$ \\emph{or less}, then
    """

    def spread(found: re.Match[str]) -> str:
        pieces = re.split(r"(\$[^$]*\$|^\s+|\s+$|\s+(?=\$)|(?<=\$)\s+)", found.group(2))
        kept = (each if not each.strip() or each[0] == "$" else f"\\{found.group(1)}{{{each}}}" for each in pieces)
        return "".join(kept)

    return re.sub(r"\\(emph|textit|textbf)\{((?:[^{}$]|\$[^$]*\$)*)\}", spread, text)


def _words(text: str) -> str:
    """The little LaTeX of words as Markdown."""
    text = re.sub(r"\\(?:emph|textit)\{([^{}]*)\}", r"*\1*", text)
    text = re.sub(r"\\textbf\{([^{}]*)\}", r"**\1**", text).replace("``", "“").replace("''", "”")
    return to_unicode(text)


def to_unicode(text: str) -> str:
    """LaTeX accents, dashes and ties of words as characters.

    >>> to_unicode(r"Rodr{\\'i}guez, pages 1--2")
    'Rodríguez, pages 1–2'
    """
    accent = re.compile(r"""\{?\\(['`"^~])\{?(\w|\\i)\}?\}?""")
    text = accent.sub(lambda found: _accented(found.group(2), found.group(1)), text)
    for latex, letter in (
        (r"{\L}", "Ł"),
        (r"{\l}", "ł"),
        ("--", "–"),
        ("~", "\u00a0"),
        (r"\%", "%"),
        ("{", ""),
        ("}", ""),
    ):
        text = text.replace(latex, letter)
    return text


def _accented(letter: str, accent: str) -> str:
    import unicodedata

    marks = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303"}
    return unicodedata.normalize("NFC", letter.removeprefix("\\") + marks[accent])


class _Renderer:
    def __init__(self, document: PrintedDocument) -> None:
        self.equations = 0
        self.below_title = document.below_title()
        self.numbers = {key: number for number, key in enumerate(document.bibliography, 1)}

    def text(self, text: str) -> str:
        text = spread_emphasis(text)
        text = re.sub(r"\\cite\{([^}]*)\}", lambda found: f"[{self.numbers.get(found.group(1), found.group(1))}]", text)
        parts = re.split(r"(\$[^$]*\$)", text)
        return "".join(part if part.startswith("$") else _words(part) for part in parts)

    def formula(self, latex: str) -> list[str]:
        self.equations += 1
        return ["", "$$", f"{broken(latex)} \\tag{{{self.equations}}}", "$$"]

    def block(self, block: Block) -> list[str]:
        if isinstance(block, Heading):
            return [f"{'#' * (block.level + self.below_title)} {self.text(block.text)}"]
        if isinstance(block, Paragraph):
            return [f"**{self.text(block.strong)}** {self.text(block.text)}" if block.strong else self.text(block.text)]
        if isinstance(block, Display):
            return self.formula(block.latex)
        if isinstance(block, PrintedArgument):
            lines = [f"**Step {block.number}** *({self.text(block.how)}).* {self.text(block.says)}"]
            lines += self.formula(block.formula) if block.formula else []
            return lines + (["", self.text(block.after)] if block.after else [])
        if isinstance(block, Items):
            return [f"{'1.' if block.numbered else '-'} {self.text(item)}" for item in block.items]
        if isinstance(block, PrintedTable):
            cells = [[self.text(each).replace("|", r"\vert ") for each in row] for row in (block.head, *block.rows)]
            lines = [f"| {' | '.join(row)} |" for row in cells]
            return [lines[0], f"|{' --- |' * len(block.head)}", *lines[1:]]
        if isinstance(block, End):
            return ["∎"]
        if isinstance(block, Figure):
            return [f"*{self.text(block.caption)}*"]
        inside = [line for each in block.blocks for line in [*self.block(each), ""]]
        head = f"**{block.kind.capitalize()}**{f' ({self.text(block.title)}),' if block.title else ''} {block.name}."
        return [f"> {head}", ">", *(f"> {line}".rstrip() for line in inside)]
