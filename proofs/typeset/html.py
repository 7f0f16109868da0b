"""The body of an HTML page, with mathematics between KaTeX delimiters; the face wraps it with style and script."""

from __future__ import annotations

import re
from html import escape

from eigentoken.proofs.typeset.document import Block, Display, Document, Heading, Items, Paragraph

__all__ = ["inline", "to_html_body"]


def to_html_body(document: Document) -> str:
    """The document as HTML, from ``<h1>`` on."""
    parts = [f"<h1>{inline(document.title)}</h1>", *(_block(block) for block in document.blocks)]
    if document.bibliography:
        entries = "\n\n".join(escape(entry) for entry in document.bibliography.values())
        parts.append(f'<h2>References</h2><pre class="bibtex">{entries}</pre>')
    return "\n".join(parts)


def inline(text: str) -> str:
    """Text with ``$...$`` parts as ``\\(...\\)``; the little LaTeX that occurs in words becomes HTML."""
    out = []
    for part in re.split(r"(\$[^$]*\$)", text):
        if part.startswith("$") and len(part) > 1:
            out.append(rf"\({escape(part[1:-1], quote=False)}\)")
            continue
        safe = escape(part, quote=False)
        safe = re.sub(r"\\(?:emph|textit)\{([^}]*)\}", r"<em>\1</em>", safe)
        safe = re.sub(r"\\textbf\{([^}]*)\}", r"<b>\1</b>", safe)
        safe = safe.replace("``", "“").replace("''", "”").replace("~", "&nbsp;").replace(r"\%", "%").replace(r"\_", "_")
        out.append(safe)
    return "".join(out)


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        identity = f' id="{escape(block.label)}"' if block.label else ""
        return f"<h{block.level + 1}{identity}>{inline(block.text)}</h{block.level + 1}>"
    if isinstance(block, Paragraph):
        strong = f"<b>{inline(block.strong)}</b> " if block.strong else ""
        return f"<p>{strong}{inline(block.text)}</p>"
    if isinstance(block, Display):
        return rf'<div class="display">\[{escape(block.latex, quote=False)}\]</div>'
    if isinstance(block, Items):
        tag = "ol" if block.numbered else "ul"
        return f"<{tag}>{''.join(f'<li>{inline(item)}</li>' for item in block.items)}</{tag}>"
    inside = "\n".join(_block(each) for each in block.blocks)
    head = f"<b>{block.kind.capitalize()} {escape(block.name)}</b> ({inline(block.title)})"
    return f'<section class="statement"><p>{head}</p>{inside}</section>'
