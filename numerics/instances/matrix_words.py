"""Zero and stochastic matrices, conditions on each head, the number of heads: generated, measured, and decided on exact numbers.

What holds of an instance exactly is decided in rationals; the re-check has its own table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import sympy as sp
import torch
from flint import arb
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import Case, NoValue, zero
from eigentoken.numerics.instances.plans import MatrixPlan, Plan
from eigentoken.theory.language import terms
from eigentoken.theory.language.matrix_words import EachHead, IsZero, Stochastic
from eigentoken.theory.language.readings import ENCLOSURE, EXACT, GENERATED, OBSERVED, VALUE

__all__ = ["exact_heads", "head_numbers"]

#: A float matrix of this size, in units of those it comes from, counts as zero when a batch is looked at (never in a verdict).
ROUNDING = 1e-9
#: Heads that are drawn at most, unless a relation asks for more.
USUAL, MOST = 3, 8


# --- zero and stochastic ---------------------------------------------------------------------------------------------


@GENERATED.register(IsZero)
def generated_is_zero(condition: IsZero, plan: Plan, satisfy: bool = True) -> Plan:
    """A matrix, or its symmetric or skew part, is made zero; of ``a X + b Y = 0`` the value matrix, or X, is solved for; of other
    terms the instances that fit are kept."""
    asked = plan.noting(condition, satisfy)
    if not satisfy:
        return asked
    for base in condition.term.atoms(sp.MatrixSymbol):
        if condition.term == base:
            return asked.demand(base, MatrixPlan(fixed="zero"))
        if _same(condition.term, base + base.T):
            return asked.demand(base, MatrixPlan(fixed="skew"))
        if _same(condition.term, base - base.T):
            return asked.demand(base, MatrixPlan(symmetric=True))
    pair = _two_letters(condition.term)
    if pair is None:
        return asked
    (first, one), (second, other) = sorted(pair, key=lambda each: each[0].name != plan.system.value)
    return replace(asked, tied=(*asked.tied, (first, -other / one, second)))


def _two_letters(term: Any) -> list[tuple[sp.MatrixSymbol, sp.Expr]] | None:
    """X and Y with their numbers, of ``a X + b Y``."""
    parts = [each.as_coeff_mmul() for each in term.args] if term.is_MatAdd else []
    plain = [(each.doit(), scale) for scale, each in parts]
    letters = len(plain) == 2 and all(isinstance(each, sp.MatrixSymbol) and scale.is_Rational for each, scale in plain)
    return plain if letters else None


def _same(term: Any, other: Any) -> bool:
    """Is the term a multiple of the other?"""
    return any(
        (term - factor * other).doit().expand() == sp.ZeroMatrix(*term.shape) for factor in (1, sp.Rational(1, 2))
    )


@GENERATED.register(Stochastic)
def generated_stochastic(condition: Stochastic, plan: Plan, satisfy: bool = True) -> Plan:
    fixed = ("doubly stochastic" if condition.doubly else "stochastic") if satisfy else None
    return plan.demand(condition.term, MatrixPlan(fixed=fixed)).noting(condition, satisfy)


@OBSERVED.register(IsZero)
def observed_is_zero(condition: IsZero, batch: Batch) -> Tensor:
    value = batch.matrix(condition.term)
    scale = torch.ones(batch.count, dtype=torch.float64)
    for base in condition.term.atoms(sp.MatrixSymbol):
        scale = scale + torch.linalg.matrix_norm(batch.matrix(base))
    return torch.linalg.matrix_norm(value) - ROUNDING * scale


@OBSERVED.register(Stochastic)
def observed_stochastic(condition: Stochastic, batch: Batch) -> Tensor:
    value = batch.matrix(condition.term)
    worst = torch.maximum(-value.flatten(-2).amin(-1), (value.sum(-1) - 1).abs().amax(-1))
    if condition.doubly:
        worst = torch.maximum(worst, (value.sum(-2) - 1).abs().amax(-1))
    return worst - ROUNDING


# --- each head -------------------------------------------------------------------------------------------------------


@GENERATED.register(EachHead)
def generated_each_head(condition: EachHead, plan: Plan, satisfy: bool = True) -> Plan:
    """A plan of its own for the matrices of one head, by which each head is drawn."""
    if not plan.system.multihead:
        made: Plan = GENERATED(condition.part, plan, satisfy)
        return made
    alone = Plan(replace(plan.system, multihead=False)) if plan.head_plan is None else plan.head_plan
    return replace(plan, head_plan=GENERATED(condition.part, alone, satisfy)).noting(condition, satisfy)


@OBSERVED.register(EachHead)
def observed_each_head(condition: EachHead, batch: Batch) -> Tensor:
    found = [OBSERVED(condition.part, each) for each in _heads_alone(batch)]
    return torch.stack(found).amax(0)


def _heads_alone(batch: Batch) -> Iterator[Batch]:
    """The batch with the matrices of each head in turn in the place of all heads."""
    shared = {name: value for name, value in batch.parameters.items() if name != "heads"}
    for head in batch.parameters.get("heads", ({},)):
        yield batch.with_parameters({**shared, **head})


def exact_heads(case: Case) -> Iterator[Case]:
    """The case with the matrices of each head in turn in the place of all heads."""
    given = case.instance.parameters
    shared = {name: value for name, value in given.items() if name != "heads"}
    for head in given.get("heads", ({},)):
        yield replace(case, instance=replace(case.instance, parameters={**shared, **head}), _memory={})


# --- how many --------------------------------------------------------------------------------------------------------


def head_numbers(plan: Plan) -> list[int]:
    """The numbers of heads that the relations of the plan allow: the usual ones, or larger ones where none of these fits."""
    asked = [each for each in plan.relations if terms.H in each.atoms(terms.HeadCount)]

    def fits(count: int) -> bool:
        return all(each.xreplace({terms.H: sp.Integer(count)}) != sp.false for each in asked)

    return [each for each in range(1, USUAL + 1) if fits(each)] or [each for each in range(1, MOST + 1) if fits(each)]


@VALUE.register(terms.HeadCount)
def value_head_count(number: terms.HeadCount, batch: Batch, ell: int | None) -> Tensor:
    heads = [(_at_once(each, batch.system.value), _at_once(each, batch.system.score)) for each in _listed(batch)]
    total = torch.zeros(batch.count, dtype=torch.float64)
    taken = [torch.zeros(batch.count, dtype=torch.bool) for _ in heads]
    for first, (_, score) in enumerate(heads):
        together: Any = 0.0
        size = torch.ones(batch.count, dtype=torch.float64)
        for other, (value, theirs) in enumerate(heads[first:], first):
            alike = ~taken[other] & (_gap(score, theirs, batch.count) < ROUNDING)
            taken[other] = taken[other] | alike
            unit = torch.eye(batch.d, dtype=torch.float64).expand(batch.count, -1, -1) if value is None else value
            together = together + torch.where(alike[:, None, None], unit, torch.zeros_like(unit))
            size = size + torch.linalg.matrix_norm(unit)
        total = total + (torch.linalg.matrix_norm(together) > ROUNDING * size).to(torch.float64)
    return total


def _listed(batch: Batch) -> Any:
    return batch.parameters.get("heads", (batch.parameters,))


def _at_once(head: Any, name: str | None) -> Any:
    value = None if name is None else head.get(name)
    return value(0.0) if callable(value) else value


def _gap(first: Any, second: Any, count: int) -> Tensor:
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        return torch.zeros(count, dtype=torch.float64)
    return torch.linalg.matrix_norm(first - second) / (1 + torch.linalg.matrix_norm(first))


@EXACT.register(terms.HeadCount)
def exact_head_count(number: terms.HeadCount, case: Case, ell: int | None) -> sp.Expr | None:
    """Heads by their scores, with sums of their values: how many of these are not zero; ``None`` where that is open."""
    system = case.instance.system
    sums: list[tuple[Any, sp.Matrix]] = []
    for head in case.instance.parameters.get("heads", (case.instance.parameters,)):
        score = None if system.score is None else head.get(system.score)
        value = None if system.value is None else head.get(system.value)
        matrix = sp.eye(case.d) if value is None else sp.Matrix([list(row) for row in value])
        own = None if score is None else sp.Matrix([list(row) for row in score])
        for place, (theirs, total) in enumerate(sums):
            same = own is None or _vanishes(own - theirs)
            if same is None:
                return None
            if same:
                sums[place] = (theirs, total + matrix)
                break
        else:
            sums.append((own, matrix))
    empty = [_vanishes(total) for _, total in sums]
    return None if None in empty else sp.Integer(empty.count(False))


def _vanishes(matrix: sp.Matrix) -> bool | None:
    answers = [zero(entry) for entry in matrix]
    return False if False in answers else None if None in answers else True


@ENCLOSURE.register(terms.HeadCount)
def enclosure_head_count(number: terms.HeadCount, case: Case, bits: int, ell: int | None) -> arb:
    value = EXACT(number, case, ell)
    if value is None:
        raise NoValue("the number of heads is not decided: their matrices have entries that are not compared exactly")
    return arb(int(value))
