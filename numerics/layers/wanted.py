"""What conditions ask of one matrix, in the words of a search for a neighbour that meets them.

A *way* to meet conditions is a list of them without alternatives: of ``[A] or [B]`` one part is taken.  What a relation asks is
read off its terms: a bound of the norm, a positive leader, ends of the spectrum.  Nothing here decides anything: a neighbour
that is made from this is certified by the conditions themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import sympy as sp

from eigentoken.theory.language.conditions import (
    AllOf,
    AnyOf,
    Condition,
    IsIdentity,
    NegativeDefinite,
    NonPrincipalModulusBelow,
    Nonsingular,
    PositiveDefinite,
    PositiveSemidefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueModulus,
    MatrixNumber,
    ScoreAtEigenvector,
    SpectralNorm,
    Trace,
    alpha,
    d,
)

__all__ = [
    "Wanted",
    "is_double",
    "is_zero",
    "positive_form",
    "slope_of_norm",
    "trace_is_met",
    "wanted_of",
    "ways",
]


@dataclass(frozen=True)
class Wanted:
    """What is asked of X; ``below`` and ``least`` are bounds of its norm and of its largest eigenvalue."""

    symmetric: bool = False
    sign: int = 0
    semidefinite: bool = False
    nonsingular: bool = False
    leads: bool = False
    by_modulus: bool = False
    positive: bool = False
    skew_small: bool = False
    low_end: bool = False
    distinct: bool = False
    double: bool = False
    zero: bool = False
    identity: int = 0
    below: float | None = None
    least: float | None = None
    multiple_of: sp.MatrixExpr | None = None

    @property
    def anything(self) -> bool:
        return self != Wanted()

    @property
    def full_rank(self) -> bool:
        """Does it ask for a matrix without a kernel?"""
        return self.nonsingular or self.identity != 0 or (self.sign != 0 and not self.semidefinite)


def ways(conditions: Sequence[Condition]) -> Iterator[list[Condition]]:
    """Every choice of one part of each alternative."""
    for chosen in product(*(_parts(each) for each in conditions)):
        yield [part for parts in chosen for part in parts]


def _parts(condition: Condition) -> list[list[Condition]]:
    if isinstance(condition, AnyOf):
        return [way for part in condition.parts for way in _parts(part)]
    if isinstance(condition, AllOf):
        return list(ways(condition.parts))
    return [[condition]]


def wanted_of(conditions: Sequence[Condition], term: sp.MatrixExpr) -> Wanted:
    """What one way asks of a term: a letter, or a quotient of two."""
    return _wanted(tuple(conditions), term)


@lru_cache(maxsize=1024)
def _wanted(conditions: tuple[Condition, ...], term: sp.MatrixExpr) -> Wanted:
    found = Wanted()
    for each in conditions:
        if isinstance(each, Relation):
            found = _with_relation(found, each.relation, term)
        elif isinstance(each, IsIdentity) and each.term in (term, -term):
            found = replace(found, identity=1 if each.term == term else -1)
        elif getattr(each, "term", None) == term:
            found = _with_word(found, each)
    return found


def _with_word(found: Wanted, condition: Condition) -> Wanted:
    match condition:
        case Symmetric():
            return replace(found, symmetric=True)
        case PositiveDefinite():
            return replace(found, sign=1, semidefinite=False)
        case PositiveSemidefinite():
            return found if found.sign else replace(found, sign=1, semidefinite=True)
        case NegativeDefinite():
            return replace(found, sign=-1, semidefinite=False)
        case Nonsingular():
            return replace(found, nonsingular=True)
        case SimpleTop():
            return replace(found, leads=True)
        case NonPrincipalModulusBelow():
            return replace(found, by_modulus=True, positive=True)
        case MultipleOf():
            return replace(found, multiple_of=condition.of)
    return found


def _with_relation(found: Wanted, relation: Any, term: sp.MatrixExpr) -> Wanted:
    numbers = {each for each in relation.atoms(MatrixNumber) if each.args[0].has(term)}
    if not numbers or any(isinstance(each, Trace) for each in numbers):
        return found
    if any(isinstance(each, ScoreAtEigenvector) for each in numbers):
        if positive_form(relation) == term:
            return replace(found, sign=1, semidefinite=not found.sign or found.semidefinite)
        return replace(found, skew_small=True)
    if any(isinstance(each, EigenvalueGap) for each in numbers):
        return replace(found, distinct=True)
    (number, *others) = numbers
    if not others and isinstance(number, SpectralNorm):
        bound = _solved(relation, number)
        return replace(found, zero=bound == 0) if isinstance(relation, sp.Equality) else replace(found, below=bound)
    if not others and isinstance(number, Eigenvalue) and number.args[1] == 1:
        bound = _solved(relation, number)
        if bound == 0 and isinstance(relation, sp.StrictGreaterThan):
            return replace(found, positive=True)
        return replace(found, zero=isinstance(relation, sp.Equality) and bound == 0, least=bound)
    if isinstance(relation, sp.Equality):
        return replace(found, double=True)
    return replace(
        found, low_end=any(each.args[1] == d for each in numbers if isinstance(each, Eigenvalue | EigenvalueModulus))
    )


@lru_cache(maxsize=1024)
def positive_form(relation: Any) -> sp.MatrixSymbol | None:
    """X where the relation is ``v^T X v > 0`` for a letter X and an eigenvector v, which a definite X meets."""
    form = relation.lhs if isinstance(relation, sp.StrictGreaterThan) and relation.rhs == 0 else None
    return form.args[0] if isinstance(form, ScoreAtEigenvector) and isinstance(form.args[0], sp.MatrixSymbol) else None


def is_double(condition: Condition) -> bool:
    """Is it ``lambda_1(X) = lambda_2(X)``, which every multiple of the identity meets?"""
    relation = condition.relation if isinstance(condition, Relation) else None
    sides = relation.args if isinstance(relation, sp.Equality) else ()
    return (
        len(sides) == 2 and all(isinstance(each, Eigenvalue) for each in sides) and {s.args[1] for s in sides} == {1, 2}
    )


def is_zero(condition: Condition) -> bool:
    """Is it ``|X| = 0`` or ``lambda_1(X) = 0``, which the zero matrix meets?"""
    relation = condition.relation if isinstance(condition, Relation) else None
    if not isinstance(relation, sp.Equality) or relation.rhs != 0:
        return False
    number = relation.lhs
    return isinstance(number, SpectralNorm) or (isinstance(number, Eigenvalue) and number.args[1] == 1)


def trace_is_met(condition: Condition, term: sp.MatrixExpr, of: sp.MatrixExpr, positive: bool) -> bool:
    """Is it ``tr(X) >= 0`` of ``X = c I``, or ``tr(X Y) >= 0`` of ``X = c Y`` with a symmetric Y that is not zero, strict or not?

    With ``c > 0`` (``positive``) the trace is positive; with ``X = 0`` only what is not strict is met.
    """
    relation = condition.relation if isinstance(condition, Relation) else None
    if relation is None or not isinstance(relation.lhs, Trace) or relation.rhs != 0:
        return False
    expected = {term} if of == sp.Identity(d) else {term * of, of * term, term * of.T, of.T * term}
    if relation.lhs.args[0] not in expected:
        return False
    strict = isinstance(relation, sp.StrictGreaterThan | sp.Unequality)
    return isinstance(relation, sp.GreaterThan) or (strict and positive)


def _solved(relation: Any, number: MatrixNumber) -> float | None:
    """Where both sides are equal, for a relation that is linear in one number of the weights; the step is 1."""
    slope, rest = _linear(relation, number)
    return None if not slope else float(-rest / slope)


def _linear(relation: Any, number: MatrixNumber) -> tuple[Any, Any]:
    x = sp.Dummy("x", nonnegative=True)
    apart = sp.expand((relation.lhs - relation.rhs).subs(alpha, 1).xreplace({number: x}))
    slope = apart.coeff(x, 1)
    rest = apart - slope * x
    return (slope, rest) if slope.is_number and rest.is_number else (0, 0)


@lru_cache(maxsize=1024)
def slope_of_norm(relation: Any) -> float | None:
    """By how much a relation about one norm changes at most while the matrix moves by 1; ``None`` for other relations."""
    numbers = list(relation.atoms(MatrixNumber)) if isinstance(relation, sp.core.relational.Relational) else []
    if len(numbers) != 1 or not isinstance(numbers[0], SpectralNorm):
        return None
    return float(abs(_linear(relation, numbers[0])[0])) or None
