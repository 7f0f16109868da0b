"""BibTeX entries read and printed: a numbered reference list for LaTeX and HTML, and a ``.bib`` file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Reference", "bib_file", "parse"]


@dataclass(frozen=True)
class Reference:
    """One entry: its type, its key and its fields in lower case."""

    kind: str
    key: str
    fields: dict[str, str]

    def sentence(self) -> str:
        """The entry as one LaTeX sentence: authors, title in italics, where, year."""
        get = self.fields.get
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


def parse(entry: str) -> Reference:
    """Read one entry; values stand between balanced braces.

    >>> parse("@book{K, author = {Khalil, Hassan K.}, title = {Nonlinear Systems}, year = {2002}}").sentence()
    'Hassan K. Khalil, \\\\emph{Nonlinear Systems}, (2002).'
    """
    head = re.match(r"\s*@(\w+)\s*\{\s*([^,\s]+)\s*,", entry)
    if head is None:
        raise ValueError(f"a BibTeX entry must begin with @type{{key, ...; got {entry[:40]!r}")
    fields: dict[str, str] = {}
    place = head.end()
    while found := re.compile(r"\s*,?\s*(\w+)\s*=\s*\{").match(entry, place):
        depth, place = 1, found.end()
        while depth and place < len(entry):
            depth += {"{": 1, "}": -1}.get(entry[place], 0)
            place += 1
        fields[found.group(1).lower()] = " ".join(entry[found.end() : place - 1].split())
    return Reference(head.group(1).lower(), head.group(2), fields)


def bib_file(entries: Iterable[str]) -> str:
    """The text of a ``.bib`` file."""
    return "\n\n".join(entry.strip() for entry in entries) + "\n"
