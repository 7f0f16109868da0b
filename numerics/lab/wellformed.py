"""What a conjecture may not say: a stability that is not one of a point, a quantity that nothing evaluates."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from eigentoken.theory.language import terms
from eigentoken.theory.language.claims import AttentionRank, Iff, LyapunovStable, Stable, Unstable, When
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.places import AntipodalAt, Clustering, ConsensusSet, Hemisphere, Place, Polygonal

__all__ = ["about_a_set", "closed_form_only", "unreadable"]

#: A set of states: neither is a point of it an equilibrium by itself, nor do its points stay apart.
_SETS = (ConsensusSet, Hemisphere)
#: Families of states, each of which may be unstable; as they may be rotated into each other, none is asymptotically stable.
_FAMILIES = (AntipodalAt, Polygonal, Clustering)


def closed_form_only(word: Any) -> Any:
    """The place or claim inside the word that is known by a formula for the papers' equation alone, or ``None``.

    States of zero weighted means and clusters are constructed from the softmax of the scores, and the rank is that of its
    weights: an equation of another package need not have them.
    """
    if isinstance(word, Polygonal | Clustering | AttentionRank):
        return word
    if not is_dataclass(word):
        return None
    for part in fields(word):
        value = getattr(word, part.name)
        for each in value if isinstance(value, tuple) else (value,):
            found = closed_form_only(each)
            if found is not None:
                return found
    return None


def about_a_set(word: Any) -> Any:
    """The claim inside the word that speaks of the stability of a set, or ``None``.

    A point of a continuum of equilibria is never asymptotically stable, whether or not its neighbours return to the set: so
    the claim about the set cannot be judged at its points.  An eigenvalue outside is one across the set, so that
    ``Unstable`` and ``LyapunovStable`` may be asked of each member of a family.
    """
    while isinstance(word, Iff | When):
        word = word.claim
    if isinstance(word, Stable) and isinstance(word.place, (*_SETS, *_FAMILIES)):
        return word
    if isinstance(word, Unstable | LyapunovStable) and isinstance(word.place, _SETS):
        return word
    return None


_FUNCTIONS = (
    sp.Add, sp.Mul, sp.Pow, sp.Abs, sp.Max, sp.Min, sp.exp, sp.log, sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh,
    sp.sign, sp.acos, sp.asin, sp.atan, sp.atanh, sp.coth,
)  # fmt: skip
_SIZES = {terms.n, terms.d, terms.k, terms.ell, terms.p, terms.q, terms.alpha}


def unreadable(word: Any, scalars: frozenset[str] = frozenset()) -> Any:
    """A part of a relation inside the word that has no value, or ``None``; ``scalars`` are numbers that the system has."""
    if isinstance(word, Relation):
        return _strange(word.relation, frozenset(map(terms.scalar, scalars)))
    if not is_dataclass(word) or isinstance(word, Place):
        return None
    for part in fields(word):
        value = getattr(word, part.name)
        for each in value if isinstance(value, tuple) else (value,):
            found = unreadable(each, scalars)
            if found is not None:
                return found
    return None


def _strange(expression: Any, scalars: frozenset[sp.Symbol]) -> Any:
    if isinstance(expression, terms.MatrixNumber) or expression.is_number:
        return None
    if isinstance(expression, sp.Symbol):
        return None if expression in _SIZES or expression in scalars else expression
    if isinstance(expression, (Relational, Boolean, *_FUNCTIONS)):
        return next((found for part in expression.args if (found := _strange(part, scalars)) is not None), None)
    return expression
