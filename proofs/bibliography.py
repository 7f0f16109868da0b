"""The papers and textbooks that statements and citations refer to: the entries of ``references.bib``, read strictly.

BibTeX itself passes over what it does not understand; this reader does not.  Between entries only blank lines and comments
(``%``) may stand; values are in balanced braces; no key and no field occurs twice, none is empty; an entry has the fields
that its kind needs, and no others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ABELLA", "BIBLIOGRAPHY", "HERE", "LI_ALTAFINI", "PHAM", "Reference", "bibtex", "parse", "read_entries"]

LI_ALTAFINI = "Li-Altafini"
ABELLA = "Abella-Silvestre-Tabuada"
PHAM = "Pham-et-al"
HERE = "eigentoken"

FILE = Path(__file__).with_name("references.bib")
#: the fields that an entry of a kind must have, and those that it may have
FIELDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "article": (frozenset({"author", "title", "journal", "year"}), frozenset({"volume", "pages"})),
    "book": (frozenset({"author", "title", "publisher", "year"}), frozenset({"edition"})),
    "misc": (frozenset({"author", "title", "note"}), frozenset({"year"})),
    "software": (frozenset({"author", "title", "year"}), frozenset({"note"})),
}
_BETWEEN = re.compile(r"(?:\s|%[^\n]*\n)*")
_HEAD = re.compile(r"@(\w+)\s*\{\s*([^\s,{}\"#%~\\=]+)\s*")
_FIELD = re.compile(r"\s*,\s*(\w+)\s*=\s*\{")
_END = re.compile(r"\s*,?\s*\}")


@dataclass(frozen=True)
class Reference:
    """One entry: its kind, its key, its fields in lower case with folded white space, and the text it was read from."""

    kind: str
    key: str
    fields: dict[str, str]
    text: str


def _entry(text: str, place: int) -> tuple[Reference, int]:
    """The entry that begins at a place, and the place behind it."""
    head = _HEAD.match(text, place)
    if head is None:
        raise _problem(text, place, "a BibTeX entry must begin with @kind{key")
    fields: dict[str, str] = {}
    at = head.end()
    while found := _FIELD.match(text, at):
        name, at = found.group(1).lower(), _closing(text, found.end() - 1)
        value = " ".join(text[found.end() : at - 1].split())
        if not value or name in fields:
            raise _problem(text, found.start(1), f"{head.group(2)}: {name} is {'given twice' if value else 'empty'}")
        fields[name] = value
    end = _END.match(text, at)
    if end is None:
        raise _problem(text, at, f"{head.group(2)}: expected `, name = {{value}}` or the closing brace of the entry")
    return Reference(head.group(1).lower(), head.group(2), fields, text[place : end.end()]), end.end()


def _closing(text: str, place: int) -> int:
    """The place behind the brace that closes the one at ``place``."""
    depth = 0
    for at in range(place, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise _problem(text, place, "a brace is never closed")


def _problem(text: str, place: int, says: str) -> ValueError:
    line = text.count("\n", 0, place) + 1
    return ValueError(f"BibTeX, line {line}: {says}; got {text[place : place + 40]!r}")


def parse(entry: str) -> Reference:
    """Read one entry.

    >>> parse("@book{K, author = {Khalil, Hassan K.}, title = {Nonlinear {S}ystems}}").fields["title"]
    'Nonlinear {S}ystems'
    """
    start = len(entry) - len(entry.lstrip())
    found, end = _entry(entry, start)
    if entry[end:].strip():
        raise _problem(entry, end, f"{found.key}: something stands behind the entry")
    return found


def read_entries(text: str) -> dict[str, Reference]:
    """All entries of a file by key, in its order; each has what its kind needs (:data:`FIELDS`)."""
    entries: dict[str, Reference] = {}
    place = _blank(text, 0)
    while place < len(text):
        found, end = _entry(text, place)
        if found.key.lower() in {key.lower() for key in entries}:
            raise _problem(text, place, f"the key {found.key} stands twice")
        if found.kind not in FIELDS:
            raise _problem(text, place, f"{found.key}: the kind must be one of {', '.join(FIELDS)}")
        needed, allowed = FIELDS[found.kind]
        missing, extra = needed - set(found.fields), set(found.fields) - needed - allowed
        if missing or extra:
            says = f"lacks {', '.join(sorted(missing))}" if missing else f"does not take {', '.join(sorted(extra))}"
            raise _problem(text, place, f"{found.key}: @{found.kind} {says}")
        entries[found.key] = found
        place = _blank(text, end)
    return entries


def _blank(text: str, place: int) -> int:
    """The place behind white space and comments."""
    found = _BETWEEN.match(text, place)
    return place if found is None else found.end()


#: all entries, by key
BIBLIOGRAPHY: dict[str, Reference] = read_entries(FILE.read_text(encoding="utf-8"))


def bibtex(key: str) -> str:
    """The BibTeX entry of a key."""
    try:
        return BIBLIOGRAPHY[key].text
    except KeyError:
        raise ValueError(f"no bibliography entry {key!r}: expected one of {', '.join(BIBLIOGRAPHY)}") from None
