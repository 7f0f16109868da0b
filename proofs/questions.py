"""What a row of the contents says of a statement, in plain text: what it needs, what it is about, what it claims.

Questions to the registry are answered from these (:func:`eigentoken.proofs.contents.matching`), and a list needs no file of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.statements.layer_systems import ANY, mask_in_words, positions_in_words
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.subjects import Subject, subject_of
from eigentoken.theory.systems.catalogue import system

__all__ = ["about", "needs", "says"]


def _in_words(name: str) -> str:
    """``InHemisphere`` as ``in hemisphere``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _parts(condition: Condition) -> Iterator[Condition]:
    yield condition
    for each in getattr(condition, "parts", ()):
        yield from _parts(each)
    if hasattr(condition, "part"):
        yield from _parts(condition.part)


def needs(told: Statement) -> list[str]:
    """Each condition: the name of its word and the condition itself, in plain text."""
    return [
        f"{_in_words(type(each).__name__)}: {plain_text(LATEX(each))}"
        for top in told.conditions
        for each in _parts(top)
    ]


def about(told: Statement) -> str:
    """What it speaks of beyond systems; the systems by name and title, with masks and positions; what is covered beside them."""
    subject = subject_of(told.id)
    found = [system(name) for name in told.systems]
    lines = [f"{each.name}: {each.title}" + (f", {each.mask} mask" if each.mask != "full" else "") for each in found]
    first = [] if subject is None else [_spoken_of(subject)]
    return "; ".join([*first, *lines, *filter(None, [told.covers.describe()])])


def _spoken_of(subject: Subject) -> str:
    """A declared subject with the masks and positions that it asks for."""
    asked = [mask_in_words(each) for each in subject.masks if each != ANY]
    asked += [positions_in_words(each) for each in subject.positions if each != ANY]
    return f"{subject.what}, {', '.join(asked)}" if asked else subject.what


def says(told: Statement) -> str:
    """Claims and text in plain words."""
    return "; ".join(plain_text(each) for each in [*map(LATEX, told.claims), *filter(None, [told.text])])
