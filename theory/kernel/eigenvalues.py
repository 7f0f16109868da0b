"""Do the eigenvalues that a claim speaks of exist, and are they real numbers; and what else is there for some matrices alone?

For arithmetic an eigenvalue is any real number.  That of a matrix that is not symmetric may be no real number, and a d x d matrix
has no seventh eigenvalue where d = 2: what a statement claims of one it claims where both are known, by its conditions or by what
stands before it in the claim.  So it is with a score at an eigenvector, with what speaks of eigenvalues other than the first, and
with an inverse in a relation, which says nothing of there being one: a word must.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sympy as sp

from eigentoken.theory.kernel.arithmetic import integers, only_integers
from eigentoken.theory.kernel.logic import assume
from eigentoken.theory.kernel.propositions import (
    Atom,
    Binder,
    Implication,
    Proposition,
    children,
    conjuncts,
    free_letters,
    relation_of,
)
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.language import conditions
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import (
    Angle,
    Eigenvalue,
    EigenvalueModulus,
    EigenvalueRealPart,
    ScoreAtEigenvector,
    SpectralRadiusOff,
    d,
)

__all__ = ["unknown_eigenvalues"]

_Known = frozenset[Proposition]
_NUMBERED = (Eigenvalue, EigenvalueRealPart, EigenvalueModulus)
#: What speaks of an eigenvector: of the first eigenvalue, or of that of a number.
_AT_EIGENVECTORS = (ScoreAtEigenvector, Angle)
#: What speaks of the eigenvalues other than the first: where d = 1 there is none.
_OTHERS = (SpectralRadiusOff, EigenvalueGap)


def unknown_eigenvalues(said: Proposition, known: _Known = frozenset()) -> Iterator[Any]:
    """Those in a claim that are not known to exist and to be real, where the parts in ``known`` hold.

    What is assumed (a guard, the left of an implication) says of its own relations that their terms are real numbers.
    """
    relation = relation_of(said)
    if relation is not None:
        kinds = (*_NUMBERED, *_AT_EIGENVECTORS, *_OTHERS, sp.Inverse)
        found = sorted(relation.atoms(*kinds), key=sp.default_sort_key)
        yield from (each for each in found if not _is_known(each, known))
    elif isinstance(said, Implication):
        yield from _under(said.left, said.right, known)
    elif isinstance(said, Binder):
        yield from _under(
            said.guard, said.body, frozenset(each for each in known if said.letter not in free_letters(each))
        )
    else:
        for each in children(said):
            yield from unknown_eigenvalues(each, known)


def _under(assumed: Proposition, said: Proposition, known: _Known) -> Iterator[Any]:
    parts = conjuncts(assumed)
    for each in parts:
        if not isinstance(each, Atom):
            yield from unknown_eigenvalues(each, known)
    yield from unknown_eigenvalues(said, known | {*parts})


def _is_known(value: Any, known: _Known) -> bool:
    if isinstance(value, sp.Inverse):
        words = [
            each.word for each in known if isinstance(each, Atom) and isinstance(each.word, conditions.OfOneMatrix)
        ]
        return conditions.Nonsingular(value.arg) in words or any(value in each.term.atoms(sp.Inverse) for each in words)
    relations = [relation for each in known if (relation := relation_of(each)) is not None]
    if any(value in relation.atoms(type(value)) for relation in relations):
        return True
    if isinstance(value, _OTHERS):
        return _in_range(sp.Integer(2), _of_integers(known))
    if isinstance(value, _AT_EIGENVECTORS):
        *_, term, index = value.args if isinstance(value, ScoreAtEigenvector) else (value.args[0], sp.Integer(1))
        return _is_known(Eigenvalue(term, index), known)
    term, index = value.args
    real = (
        not isinstance(value, Eigenvalue)
        or Atom(conditions.Symmetric(term)) in known
        or Atom(MultipleOf(term)) in known  # of the identity, which is symmetric
        or (index == 1 and Atom(conditions.SimpleTop(term)) in known)
    )
    return real and (index in (1, d) or _in_range(index, _of_integers(known)))


def _of_integers(known: _Known) -> _Known:
    return frozenset(each for each in known if only_integers(each))


@lru_cache(maxsize=1024)
def _in_range(index: Any, known: _Known) -> bool:
    """Is it a number from 1 to d?"""
    try:
        integers(
            [assume(each) for each in sorted(known, key=repr)],
            sp.And(sp.Ge(index, 1, evaluate=False), sp.Le(index, d, evaluate=False)),
        )
    except Refused:
        return False
    return True
