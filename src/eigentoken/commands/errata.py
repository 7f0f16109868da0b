"""``derive --errata`` on the screen: what other forms of the statements say, and what is wrong with them, as text."""

from __future__ import annotations

from eigentoken.output import say, say_hanging

__all__ = ["show_errata"]


def show_errata() -> None:
    """The blocks of the errata, a paragraph for each cell of a row that says something."""
    from eigentoken.proofs.typeset.book import of_errata
    from eigentoken.proofs.typeset.document import Heading, PrintedTable
    from eigentoken.proofs.typeset.summary import named_above
    from eigentoken.theory.printing.plain_text import plain_text
    from eigentoken.theory.statements.registry import statements

    texts: list[str] = []
    for block in of_errata(statements()).blocks:
        if isinstance(block, Heading):
            say(block.text, "bold")
        elif isinstance(block, PrintedTable):
            for where, *cells in block.rows:
                say_hanging(f"- {plain_text(where)}")
                texts += cells
                for name, cell in zip(block.head[1:], cells, strict=True):
                    if cell:
                        say_hanging(f"{name}: {plain_text(cell)}", "    ")
    say("Named above", "bold")
    for each in named_above(texts):
        say_hanging(f"- {plain_text(each.called)}")
    say("`eigentoken show ID` for one of them; --format md, html, tex or pdf for a document", "dim")
