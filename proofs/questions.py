"""What a row of the contents says of a statement, in plain text: what it needs, what it is about, what it claims.

Questions to the registry are answered from these (:func:`eigentoken.proofs.contents.matching`), and a list needs no file of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import sympy as sp

from eigentoken.theory.language.conditions import Condition, Relation
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import Eigenvalue, alpha
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


#: Other words by which a theorist asks for a condition, by the name of the word.
ALSO = {
    "SimpleTop": "spectral gap, simple leader",
    "NonPrincipalModulusBelow": "spectral gap by modulus, dominant leader",
    "IsIdentity": "identity matrix",
}


def _spoken(condition: Condition) -> str:
    """The name of the word, and what else it is called; a step where the letter of the step stands in it."""
    name = type(condition).__name__
    names = [_in_words(name), *([ALSO[name]] if name in ALSO else [])]
    if isinstance(condition, Relation):
        names += ["step size"] if alpha in condition.relation.free_symbols else []
        names += ["spectral gap"] if _is_gap(condition) else []
    return ", ".join(names)


def _is_gap(condition: Relation) -> bool:
    """Are two eigenvalues of one matrix said to be apart?"""
    if isinstance(condition.relation, sp.Eq):
        return False
    found = list(condition.relation.atoms(Eigenvalue))
    return bool(condition.relation.atoms(EigenvalueGap)) or any(
        one.args[0] == other.args[0] and one != other for one in found for other in found
    )


def needs(told: Statement) -> list[str]:
    """Each condition: the name of its word, what else it is called, and the condition itself, in plain text."""
    return [f"{_spoken(each)}: {plain_text(LATEX(each))}" for top in told.conditions for each in _parts(top)]


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
