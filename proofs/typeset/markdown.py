"""Markdown with dollar mathematics, for GitHub and notebooks."""

from __future__ import annotations

from eigentoken.proofs.typeset.document import Block, Display, Document, Heading, Items, Paragraph

__all__ = ["to_markdown"]


def to_markdown(document: Document) -> str:
    """The document as Markdown."""
    lines = [f"# {document.title}", ""]
    for block in document.blocks:
        lines += [*_block(block), ""]
    if document.bibliography:
        lines += ["## References", "", "```bibtex", *document.bibliography.values(), "```", ""]
    return "\n".join(lines)


def _block(block: Block) -> list[str]:
    if isinstance(block, Heading):
        return [f"{'#' * (block.level + 1)} {block.text}"]
    if isinstance(block, Paragraph):
        return [f"**{block.strong}** {block.text}" if block.strong else block.text]
    if isinstance(block, Display):
        return ["$$", block.latex, "$$"]
    if isinstance(block, Items):
        return [f"{'1.' if block.numbered else '-'} {item}" for item in block.items]
    inside = [line for each in block.blocks for line in [*_block(each), ""]]
    return [f"> **{block.kind.capitalize()} {block.name}** ({block.title})", ">", *(f"> {line}" for line in inside)]
