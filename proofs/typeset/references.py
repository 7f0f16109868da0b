"""BibTeX entries printed: sentences of a reference list for LaTeX and HTML, and the text of a ``.bib`` file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from eigentoken.proofs.bibliography import Reference

__all__ = ["bib_file", "sentence"]


def sentence(reference: Reference) -> str:
    """The entry as one LaTeX sentence: authors, title in italics, where, year.

    >>> from eigentoken.proofs.bibliography import parse
    >>> sentence(parse("@book{K, author = {Khalil, Hassan K.}, title = {Nonlinear Systems}, year = {2002}}"))
    'Hassan K. Khalil, \\\\emph{Nonlinear Systems}, (2002).'
    """
    get = reference.fields.get
    journal = get("journal") or get("booktitle", "")
    if journal and get("volume"):
        journal += f" {get('volume')}"
    where = ", ".join(part for part in (journal, get("publisher", ""), _edition(get("edition", ""))) if part)
    pages = f", {get('pages')}" if get("pages") else ""
    year = f" ({get('year')})" if get("year") else ""
    parts = [
        _authors(get("author", "")),
        rf"\emph{{{get('title', '')}}}",
        f"{where}{year}{pages}".strip(),
        get("note", ""),
    ]
    return ", ".join(part for part in parts if part) + "."


def _edition(number: str) -> str:
    ordinals = {"2": "2nd ed.", "3": "3rd ed."}
    return ordinals.get(number, f"{number}th ed." if number.isdigit() else number)


def _authors(text: str) -> str:
    """``Last, First and Last, First`` as ``First Last, First Last and First Last``."""
    names = [" ".join(each.split()) for each in re.split(r"\s+and\s+", text) if each.strip()]
    turned = [" ".join(reversed([part.strip() for part in name.split(", ", 1)])) for name in names]
    turned = [re.sub(r"^\{(.*)\}$", r"\1", name) if name.count("{") == 1 else name for name in turned]
    return turned[0] if len(turned) == 1 else ", ".join(turned[:-1]) + f" and {turned[-1]}" if turned else ""


def bib_file(entries: Iterable[str]) -> str:
    """The text of a ``.bib`` file."""
    return "\n\n".join(entry.strip() for entry in entries) + "\n"
