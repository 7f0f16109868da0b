"""The body of an HTML page, with mathematics between KaTeX delimiters; the face wraps it with style and script."""

from __future__ import annotations

import re
from html import escape

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
from eigentoken.proofs.typeset.markdown import spread_emphasis, to_unicode
from eigentoken.theory.printing.plain_text import broken

__all__ = ["inline", "to_html_body"]


def to_html_body(document: PrintedDocument) -> str:
    """The document as HTML, from ``<h1>`` on; formulas and references are numbered."""
    render = _Renderer(document)
    parts = [f"<h1>{render.text(document.title)}</h1>", *(render.block(block) for block in document.blocks)]
    if document.bibliography:
        found = document.bibliography.values()
        items = "".join(f'<li id="ref-{escape(each.key)}">{inline(sentence(each))}</li>' for each in found)
        entries = "\n\n".join(escape(each.text) for each in found)
        parts.append(f"<h2>References</h2><ol>{items}</ol><details><summary>BibTeX</summary>")
        parts.append(f'<pre class="bibtex">{entries}</pre></details>')
    return "\n".join(parts)


def inline(text: str) -> str:
    """Text with ``$...$`` parts as ``\\(...\\)``; the little LaTeX that occurs in words becomes HTML."""
    out = []
    for part in re.split(r"(\$[^$]*\$)", spread_emphasis(text)):
        if part.startswith("$") and len(part) > 1:
            out.append(rf"\({escape(part[1:-1], quote=False)}\)")
            continue
        safe = escape(part, quote=False)
        safe = re.sub(r"\\(?:emph|textit)\{([^}]*)\}", r"<em>\1</em>", safe)
        safe = re.sub(r"\\textbf\{([^}]*)\}", r"<b>\1</b>", safe)
        safe = re.sub(r"(?<!`)`([^`]+)`", r"<code>\1</code>", safe)
        out.append(to_unicode(safe).replace(r"\_", "_"))
    return "".join(out)


class _Renderer:
    def __init__(self, document: PrintedDocument) -> None:
        self.equations = 0
        self.below_title = document.below_title()
        self.numbers = {key: number for number, key in enumerate(document.bibliography, 1)}

    def text(self, text: str) -> str:
        parts = re.split(r"\\cite\{([^}]*)\}", text)
        links = [f'<a href="#ref-{escape(key)}">[{self.numbers.get(key, key)}]</a>' for key in parts[1::2]]
        return "".join(inline(words) + link for words, link in zip(parts[::2], [*links, ""], strict=True))

    def formula(self, latex: str) -> str:
        self.equations += 1
        body = escape(broken(latex), quote=False)
        return rf'<div class="display">\[{body} \tag{{{self.equations}}}\]</div>'

    def block(self, block: Block) -> str:
        if isinstance(block, Heading):
            identity = f' id="{escape(block.label)}"' if block.label else ""
            level = block.level + self.below_title
            return f"<h{level}{identity}>{self.text(block.text)}</h{level}>"
        if isinstance(block, Paragraph):
            strong = f"<b>{self.text(block.strong)}</b> " if block.strong else ""
            return f"<p>{strong}{self.text(block.text)}</p>"
        if isinstance(block, Display):
            return self.formula(block.latex)
        if isinstance(block, PrintedArgument):
            text = f'<p><b>Step {block.number}</b> <em class="how">({self.text(block.how)}).</em> {self.text(block.says)}</p>'
            text += self.formula(block.formula) if block.formula else ""
            return text + (f'<p class="needs">{self.text(block.after)}</p>' if block.after else "")
        if isinstance(block, Items):
            tag = "ol" if block.numbered else "ul"
            return f"<{tag}>{''.join(f'<li>{self.text(item)}</li>' for item in block.items)}</{tag}>"
        if isinstance(block, PrintedTable):
            head = "".join(f"<th>{self.text(each)}</th>" for each in block.head)
            rows = ("".join(f"<td>{self.text(each)}</td>" for each in row) for row in block.rows)
            inner = "".join(f"<tr>{row}</tr>" for row in rows)
            return f'<div class="scroll" tabindex="0"><table><tr>{head}</tr>{inner}</table></div>'
        if isinstance(block, End):
            return '<p class="end">∎</p>'
        if isinstance(block, Figure):
            return f"<p><em>{self.text(block.caption)}</em></p>"
        inside = "\n".join(self.block(each) for each in block.blocks)
        head = f"<b>{block.kind.capitalize()}</b>{f' ({self.text(block.title)}),' if block.title else ''} {escape(block.name)}"
        return f'<section class="statement"><p>{head}</p>{inside}</section>'
