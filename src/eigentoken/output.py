"""How every command speaks: one JSON document, or tables for people, from the same object.

Human output goes to stdout through rich; progress goes to stderr and only on a terminal; ``--json`` prints one document
with a ``schema`` field and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigentoken.documents.printed import PrintedDocument

__all__ = ["WORD_STYLES", "progress", "say", "say_hanging", "settings", "show_json", "styled", "table"]

WORD_STYLES = {
    "holds": "green",
    "fails": "red",
    "undecided": "yellow",
    "corrected": "magenta",
    "derived": "green",
    "stepwise": "cyan",
    "argued": "yellow",
}


class Settings:
    """What the global options said."""

    debug = False
    quiet = False


settings = Settings()


def _console(stderr: bool = False) -> Any:
    from rich.console import Console

    width = None if (sys.stderr if stderr else sys.stdout).isatty() else int(os.environ.get("COLUMNS", "80"))
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def show_json(document: PrintedDocument) -> None:
    """One JSON document with its schema first; no NaN, no infinities."""
    print(json.dumps(document, indent=2, allow_nan=False, default=str))


def say(text: str, style: str = "") -> None:
    """One line (or paragraph) for a person; silent under ``--quiet``."""
    if not settings.quiet:
        _console().print(text, style=style or None, markup=False)


def say_hanging(text: str, indent: str = "  ") -> None:
    """A paragraph with a hanging indent: continuation lines begin under the first word after a marker.

    A marker is ``1. ``, or a word followed by two spaces or more (``if    ``, ``then  ``); leading spaces are kept.
    """
    if settings.quiet:
        return
    import re
    import textwrap

    marker = re.match(r" *(?:\d+\. +|\w+ {2,})?", text)
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
    _console().print(made)


def progress(what: str, total: int | None = None) -> Any:
    """A progress bar on stderr, only on a terminal; use as ``with progress(...) as advance: advance()``."""
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Any:
        if settings.quiet or not sys.stderr.isatty():
            yield lambda *_args, **_options: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=_console(stderr=True), transient=True) as shown:
            task = shown.add_task(what, total=total)

            def advance(by: float = 1, description: str | None = None) -> None:
                shown.update(task, advance=by, description=description or what)

            yield advance

    return bar()
