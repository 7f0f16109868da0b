"""Do the conditions of one statement give those of another?  Small and sound: what is not seen is not given.

A condition is given when it is one of ours (or a part of one), when every part of it is given (one part, for a
disjunction), when it is true of a constant (``I`` is symmetric, positive definite and the identity), when ours cannot be
read without it (``W B^(-1)`` needs an invertible B; the metric of an ellipsoid does not depend on time), or when real
arithmetic (:mod:`eigentoken.theory.proving.real_arithmetic`) proves it from ours and from what is true of all eigenvalues:

    lambda_1 >= ... >= lambda_d,   |lambda_i| <= |X|,   and for a symmetric X   |X| = max(|lambda_1|, |lambda_d|).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import sympy as sp

from eigentoken.theory.language.conditions import (
    AllOf,
    AnyOf,
    BoundedInTime,
    Condition,
    IsIdentity,
    NegativeDefinite,
    Nonsingular,
    PositiveDefinite,
    PositiveSemidefinite,
    Relation,
    SimpleTop,
    Symmetric,
    UniformlyContinuous,
)
from eigentoken.theory.language.readings import SYMBOLIC
from eigentoken.theory.language.terms import Eigenvalue, MatrixNumber, SpectralNorm, d, n, p, plain, q
from eigentoken.theory.systems.catalogue import system

__all__ = ["implied", "translated", "unmet"]

SECONDS = 20.0
_SCALAR = (Relation, PositiveDefinite, PositiveSemidefinite, NegativeDefinite, SimpleTop)


def translated(condition: Any, values: Mapping[str, Any]) -> Any:
    """The condition with other letters: matrices, index letters and names of parameters, all at once.

    >>> from eigentoken.theory.language.terms import matrix
    >>> translated(Symmetric(matrix("F")), {"F": matrix("V")})
    Symmetric(term=V)
    """
    if isinstance(condition, sp.Basic):
        letters = condition.atoms(sp.Symbol, sp.MatrixSymbol)
        found = {each: values[each.name] for each in letters if values.get(each.name, each) != each}
        return condition.xreplace(found).doit() if found else condition
    if isinstance(condition, tuple):
        return tuple(translated(each, values) for each in condition)
    if isinstance(condition, str):
        return str(values.get(condition, condition))
    if is_dataclass(condition) and not isinstance(condition, type):
        return replace(
            condition, **{each.name: translated(getattr(condition, each.name), values) for each in fields(condition)}
        )
    return condition


def unmet(wanted: Iterable[Condition], ours: Iterable[Condition], systems: Sequence[str] = ()) -> tuple[Condition, ...]:
    """Those of the wanted conditions that ours do not give, for tokens that move as in these systems."""
    known = tuple(ours)
    return tuple(each for each in wanted if not implied(each, known, tuple(systems)))


@cache
def implied(wanted: Condition, ours: tuple[Condition, ...], systems: tuple[str, ...] = ()) -> bool:
    """Is the wanted condition given by ours?  ``False`` says only that it was not seen to be.

    >>> from eigentoken.theory.language.terms import alpha, matrix
    >>> V = matrix("V")
    >>> short = Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))
    >>> implied(Relation(alpha * sp.Abs(Eigenvalue(V, d)) <= 1), (short,)), implied(short, (Symmetric(V),))
    (True, False)
    """
    known = tuple(part for each in ours for part in _parts(each))
    if wanted in known or _of_a_constant(wanted) or _presupposed(wanted, known, systems):
        return True
    if isinstance(wanted, AllOf):
        return all(implied(part, ours, systems) for part in wanted.parts)
    if isinstance(wanted, AnyOf) and any(implied(part, ours, systems) for part in wanted.parts):
        return True
    return _scalar(wanted) and _by_arithmetic(wanted, known)


def _parts(condition: Condition) -> tuple[Condition, ...]:
    if isinstance(condition, AllOf):
        return tuple(part for each in condition.parts for part in _parts(each))
    if isinstance(condition, Relation) and isinstance(condition.relation, sp.And):
        return tuple(Relation(each) for each in condition.relation.args)
    return (condition,)


def _of_a_constant(wanted: Condition) -> bool:
    term = getattr(wanted, "term", None)
    if isinstance(wanted, Symmetric):
        return isinstance(term, sp.MatrixExpr) and bool(term.T.doit() == term.doit())
    return isinstance(wanted, IsIdentity | PositiveDefinite | Nonsingular) and isinstance(term, sp.Identity)


def _presupposed(wanted: Condition, known: tuple[Condition, ...], systems: tuple[str, ...]) -> bool:
    """What ours cannot be read without."""
    if isinstance(wanted, Nonsingular):
        terms = [getattr(each, "term", None) for each in known]
        definite = any(
            isinstance(each, PositiveDefinite | NegativeDefinite) and each.term == wanted.term for each in known
        )
        return definite or any(isinstance(term, sp.MatrixExpr) and term.has(sp.Inverse(wanted.term)) for term in terms)
    if isinstance(wanted, BoundedInTime | UniformlyContinuous):
        return bool(systems) and all(system(each).metric == wanted.name for each in systems)
    return False


def _scalar(condition: Condition) -> bool:
    if isinstance(condition, AllOf | AnyOf):
        return all(_scalar(part) for part in condition.parts)
    return isinstance(condition, _SCALAR)


def _by_arithmetic(wanted: Condition, known: tuple[Condition, ...]) -> bool:
    from eigentoken.theory.proving.real_arithmetic import prove

    symmetric = frozenset(each.term for each in known if isinstance(each, Symmetric))
    if isinstance(wanted, SimpleTop) and wanted.term not in symmetric:  # its scalar form says less: complex eigenvalues
        return False
    goal = _read(wanted, symmetric)
    given = [_read(each, symmetric) for each in known if _scalar(each)]
    everything, _ = plain(sp.Tuple(goal, *given, *_true_of_all(sp.Tuple(goal, *given), symmetric)))
    return prove(_connected(everything[0], everything[1:]), everything[0], seconds=SECONDS).is_holds


def _read(condition: Condition, symmetric: frozenset[Any]) -> Any:
    """The condition as a relation of numbers; the symmetric part of a symmetric matrix is the matrix."""
    return SYMBOLIC(condition).xreplace({(each + each.T) / 2: each for each in symmetric})


def _true_of_all(said: Any, symmetric: frozenset[Any]) -> list[Any]:
    """What is true of the eigenvalues, norms and sizes that are spoken of, whatever the matrices are."""
    found = []
    numbers = said.atoms(MatrixNumber)
    norms = [each for each in numbers if isinstance(each, SpectralNorm)]
    values = {each for each in numbers if isinstance(each, Eigenvalue)}
    for norm in norms:
        (term,) = norm.args
        if term in symmetric:
            first, last = Eigenvalue(term, 1), Eigenvalue(term, d)
            values |= {first, last}
            found.append(sp.Eq(norm, sp.Max(sp.Abs(first), sp.Abs(last))))
        found += [norm >= 0, *(sp.Abs(each) <= norm for each in values if each.args[0] == term)]
    for one, other in combinations(sorted(values, key=str), 2):
        for high, low in ((one, other), (other, one)):
            (term, upper), (also, lower) = high.args, low.args
            if term == also and (upper == 1 or lower == d or (upper.is_Integer and lower.is_Integer and upper < lower)):
                found.append(high >= low)
    return [*found, sp.Eq(n, p + q)] if said.has(p) or said.has(q) else found


def _connected(target: Any, hypotheses: Iterable[Any]) -> list[Any]:
    """The hypotheses that speak, directly or not, of what the target speaks of: fewer is sound."""
    reach, waiting, kept = set(target.free_symbols), list(hypotheses), []
    while near := [each for each in waiting if reach & each.free_symbols]:
        kept += near
        waiting = [each for each in waiting if each not in near]
        reach |= {symbol for each in near for symbol in each.free_symbols}
    return kept
