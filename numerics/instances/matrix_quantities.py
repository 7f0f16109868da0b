"""Trace, determinant, rank and extreme entries of a matrix: in floats, exactly, and matrices that are made to have them.

Exact values are those of rational matrices, by integer elimination (flint); the re-check has its own (by sympy).
"""

from __future__ import annotations

from typing import Any

import sympy as sp
import torch
from flint import arb, fmpq, fmpq_mat
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import Case, NoValue
from eigentoken.numerics.instances.plans import Plan
from eigentoken.theory.exactness.balls import expression_ball
from eigentoken.theory.language import terms
from eigentoken.theory.language.readings import ENCLOSURE, EXACT, VALUE

__all__ = ["shaped"]

#: A singular value below this share of the largest counts as zero in floats; only the exact rank decides.
FLAT = 1e-9
_QUANTITIES = (terms.Trace, terms.Determinant, terms.Rank, terms.SmallestEntry, terms.LargestEntry)


@VALUE.register(terms.Trace)
def value_trace(number: terms.Trace, batch: Batch, ell: int | None) -> Tensor:
    return batch.matrix(number.args[0]).diagonal(dim1=-2, dim2=-1).sum(-1)


@VALUE.register(terms.Determinant)
def value_determinant(number: terms.Determinant, batch: Batch, ell: int | None) -> Tensor:
    found: Tensor = torch.linalg.det(batch.matrix(number.args[0]))
    return found


@VALUE.register(terms.Rank)
def value_rank(number: terms.Rank, batch: Batch, ell: int | None) -> Tensor:
    sizes = torch.linalg.svdvals(batch.matrix(number.args[0]))
    return (sizes > FLAT * sizes.amax(-1, keepdim=True).clamp_min(1e-300)).sum(-1).to(torch.float64)


@VALUE.register(terms.SmallestEntry)
def value_smallest_entry(number: terms.SmallestEntry, batch: Batch, ell: int | None) -> Tensor:
    return batch.matrix(number.args[0]).flatten(-2).amin(-1)


@VALUE.register(terms.LargestEntry)
def value_largest_entry(number: terms.LargestEntry, batch: Batch, ell: int | None) -> Tensor:
    return batch.matrix(number.args[0]).flatten(-2).amax(-1)


def _rational(number: terms.MatrixNumber, case: Case) -> fmpq_mat | None:
    """The matrix of the quantity, where all its entries are rational."""
    rows = case.matrix(number.args[0]).tolist()
    if not all(entry.is_Rational for row in rows for entry in row):
        return None
    return fmpq_mat([[fmpq(int(entry.p), int(entry.q)) for entry in row] for row in rows])


def _number(value: fmpq) -> sp.Rational:
    return sp.Rational(int(value.p), int(value.q))


@EXACT.register(terms.Trace)
def exact_trace(number: terms.Trace, case: Case, ell: int | None) -> sp.Expr | None:
    found = _rational(number, case)
    return None if found is None else _number(sum((found[i, i] for i in range(found.nrows())), fmpq(0)))


@EXACT.register(terms.Determinant)
def exact_determinant(number: terms.Determinant, case: Case, ell: int | None) -> sp.Expr | None:
    found = _rational(number, case)
    return None if found is None else _number(found.det())


@EXACT.register(terms.Rank)
def exact_rank(number: terms.Rank, case: Case, ell: int | None) -> sp.Expr | None:
    found = _rational(number, case)
    return None if found is None else sp.Integer(int(found.rref()[1]))


@EXACT.register(terms.SmallestEntry, terms.LargestEntry)
def exact_extreme_entry(number: terms.MatrixNumber, case: Case, ell: int | None) -> sp.Expr | None:
    found = _rational(number, case)
    extreme = min if isinstance(number, terms.SmallestEntry) else max
    return None if found is None else _number(extreme(found.entries()))


@ENCLOSURE.register(*_QUANTITIES)
def enclosure_of_entries(number: terms.MatrixNumber, case: Case, bits: int, ell: int | None) -> arb:
    value = EXACT(number, case, ell)
    if value is None:
        raise NoValue(f"{type(number).__name__} is known only of rational matrices")
    return expression_ball(value, bits)


# --- matrices that have them -----------------------------------------------------------------------------------------


def shaped(plan: Plan, batch: Batch) -> Batch:
    """Matrices moved so that bounds by numbers on their traces and extreme entries hold; what else is asked is tested later."""
    for relation in plan.relations:
        for part in relation.args if isinstance(relation, sp.And) else (relation,):
            batch = _with_bound(part, batch)
    return batch


def _with_bound(relation: Any, batch: Batch) -> Batch:
    sides = relation.args
    if len(sides) != 2 or not isinstance(relation, sp.core.relational.Relational):
        return batch
    number, bound = sides if isinstance(sides[0], _QUANTITIES) else sides[::-1]
    term = number.args[0] if isinstance(number, _QUANTITIES) else None
    if not isinstance(term, sp.MatrixSymbol) or term.name not in batch.parameters or not bound.is_number:
        return batch
    above = isinstance(relation, sp.GreaterThan | sp.StrictGreaterThan) == (number is sides[0])
    value, limit = batch.parameters[term.name], float(bound)
    if not isinstance(value, Tensor) or isinstance(relation, sp.Ne):
        return batch
    moved = _moved(number, value, limit, above, isinstance(relation, sp.Eq))
    return batch.with_parameters({**batch.parameters, term.name: moved})


def _moved(number: Any, value: Tensor, limit: float, above: bool, equal: bool) -> Tensor:
    """Trace: a multiple of the identity is added, as much beyond the bound as it was on the wrong side.  Entries: mirrored."""
    if isinstance(number, terms.Trace):
        trace = value.diagonal(dim1=-2, dim2=-1).sum(-1)
        gap = limit - trace
        wrong = torch.ones_like(gap, dtype=torch.bool) if equal else (gap > 0) == above
        shift = torch.where(wrong, gap if equal else 2 * gap, torch.zeros_like(gap)) / value.shape[-1]
        return value + shift[:, None, None] * torch.eye(value.shape[-1], dtype=torch.float64)
    if isinstance(number, terms.SmallestEntry) and above and not equal:
        return limit + (value - limit).abs()
    if isinstance(number, terms.LargestEntry) and not above and not equal:
        return limit - (value - limit).abs()
    return value
