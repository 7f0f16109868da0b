"""What a statement says in plain text, as a search for words reads it."""

from __future__ import annotations

from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.statements.statement import Statement

__all__ = ["as_row", "has_words"]


def has_words(told: Statement, words: str) -> bool:
    """Are all the words part of its id, title, systems, conditions or claims, whatever their case?"""
    said = [f"{type(part).__name__} {plain_text(LATEX(part))}" for part in (*told.conditions, *told.claims)]
    text = " ".join([told.id, told.title, *told.systems, *said]).lower()
    return all(word in text for word in words.lower().split())


def as_row(told: Statement) -> dict[str, str]:
    """The row of a table of statements."""
    return {
        "id": told.id,
        "kind": str(told.kind),
        "source": str(told.source),
        "title": told.title,
        "systems": ", ".join(told.systems),
        "depends": ", ".join(told.depends),
    }
