"""What words of the language mean in other words: equivalences and facts that the rules may unfold.

Each entry is part of what a reader must believe, as a definition is.  Eigenvalues are numbered from the top; where a matrix is
symmetric they are real, ``lambda_1 >= ... >= lambda_d``, and the norm is the largest modulus.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Equivalence,
    ForAll,
    ForAlmostEvery,
    Proposition,
    proposition,
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved, Refused, prove
from eigentoken.theory.language import claims, conditions
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.readings import Reading
from eigentoken.theory.language.terms import Eigenvalue, MatrixNumber, SpectralNorm, d, ell
from eigentoken.theory.systems.system import System

__all__ = ["eigenvalue_order", "equal_indices", "index_range", "meaning", "norm_of_symmetric"]

_OTHER = sp.Symbol("j", integer=True)


def index_range(letter: sp.Symbol, first: int = 1, last: Any = d) -> Proposition:
    """``first <= letter <= last``."""
    return proposition(sp.And(sp.Ge(letter, first, evaluate=False), sp.Le(letter, last, evaluate=False)))


def _when_symmetric(term: Any) -> tuple[Proposition, ...]:
    if not isinstance(term, sp.MatrixExpr) or term.shape != (d, d) or term.free_symbols & {ell, _OTHER}:
        raise Refused(f"{term} must be a d x d matrix that does not speak of {ell} or {_OTHER}")
    return (Atom(Symmetric(term)),)


#: Words about a symmetric matrix, in terms of its eigenvalues.
OF_SYMMETRIC: Reading[Proposition] = Reading("of_symmetric", "what does it say of a symmetric matrix?")
#: Words that are names for other words.
IN_OTHER_WORDS: Reading[Proposition] = Reading("in_other_words", "what does it say in other words?")


@OF_SYMMETRIC.register(conditions.SimpleTop)
def simple_top_of_symmetric(word: conditions.SimpleTop) -> Proposition:
    below = proposition(Eigenvalue(word.term, ell) < Eigenvalue(word.term, 1))
    return ForAll(ell, index_range(ell, 2), below)


@OF_SYMMETRIC.register(conditions.PositiveDefinite)
def positive_definite_of_symmetric(word: conditions.PositiveDefinite) -> Proposition:
    return proposition(Eigenvalue(word.term, d) > 0)


@OF_SYMMETRIC.register(conditions.PositiveSemidefinite)
def positive_semidefinite_of_symmetric(word: conditions.PositiveSemidefinite) -> Proposition:
    return proposition(Eigenvalue(word.term, d) >= 0)


@OF_SYMMETRIC.register(conditions.NegativeDefinite)
def negative_definite_of_symmetric(word: conditions.NegativeDefinite) -> Proposition:
    return proposition(Eigenvalue(word.term, 1) < 0)


@IN_OTHER_WORDS.register(claims.AlmostEveryConverges)
def almost_every_converges_in_other_words(word: claims.AlmostEveryConverges) -> Proposition:
    return ForAlmostEvery(Atom(claims.Converges(word.place)))


def meaning(word: Any, system: System | None = None) -> Proved:
    """``word <=> what it means``; for words about a matrix, under the hypothesis that the matrix is symmetric.

    >>> from eigentoken.theory.language.terms import matrix
    >>> meaning(conditions.PositiveDefinite(matrix("V"))).hypotheses
    (Atom(word=Symmetric(term=V)),)
    """
    if OF_SYMMETRIC.find(type(word)):
        said = Equivalence(Atom(word), OF_SYMMETRIC(word))
        return prove(said, "meaning", (), None, _when_symmetric(word.term))
    if IN_OTHER_WORDS.find(type(word)):
        return prove(Equivalence(Atom(word), IN_OTHER_WORDS(word)), "meaning", (), system)
    raise Refused(f"{type(word).__name__} has no meaning in other words here")


def eigenvalue_order(term: Any) -> Proved:
    """``lambda_j <= lambda_ell`` for ``1 <= ell <= j <= d``, of a symmetric matrix."""
    later = proposition(sp.And(sp.Ge(_OTHER, ell, evaluate=False), sp.Le(_OTHER, d, evaluate=False)))
    inner = ForAll(_OTHER, later, proposition(Eigenvalue(term, _OTHER) <= Eigenvalue(term, ell)))
    return prove(ForAll(ell, index_range(ell), inner), "eigenvalue_order", (), None, _when_symmetric(term))


def norm_of_symmetric(term: Any) -> Proved:
    """``|X| = max(|lambda_1|, |lambda_d|)``, and every eigenvalue is at most that in modulus."""
    norm = SpectralNorm(term)
    extreme = proposition(sp.Eq(norm, sp.Max(sp.Abs(Eigenvalue(term, 1)), sp.Abs(Eigenvalue(term, d)))))
    each = ForAll(ell, index_range(ell), proposition(sp.Abs(Eigenvalue(term, ell)) <= norm))
    return prove(Conjunction((extreme, each)), "norm_of_symmetric", (), None, _when_symmetric(term))


def equal_indices(equation: Proved, quantity: Any) -> Proved:
    """``i = j`` gives ``lambda_i(X) = lambda_j(X)``, and the same of any quantity with an index."""
    relation = relation_of(equation.proposition)
    if not isinstance(relation, sp.Eq) or not isinstance(quantity, MatrixNumber) or relation.lhs not in quantity.args:
        raise Refused("an equation between indices is needed, and a quantity that has the left one")
    other = quantity.func(*(relation.rhs if each == relation.lhs else each for each in quantity.args))
    said = proposition(sp.Eq(quantity, other, evaluate=False))
    return prove(said, "equal_indices", (equation,), equation.system, equation.hypotheses)
