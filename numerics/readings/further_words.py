"""Numeric readings of the words that the chapters of the book add (``theory/words_*.py``)."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import MatrixPlan, Plan
from eigentoken.numerics.readings.certified_conditions import verdict_of
from eigentoken.numerics.readings.exact_places import same_tokens
from eigentoken.numerics.readings.exact_values import Case, zero
from eigentoken.theory.points import Zero
from eigentoken.theory.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.verdicts import Verdict
from eigentoken.theory.words_flows import IsIdentity
from eigentoken.theory.words_lab import NoneOpposite, NotAllZero

__all__: list[str] = []


@GENERATED.register(IsIdentity)
def _(condition: IsIdentity, plan: Plan, satisfy: bool = True) -> Plan:
    """The matrix of every head is the identity; a near miss is any other matrix."""
    asked = MatrixPlan(fixed="identity") if satisfy else MatrixPlan()
    return plan.demand(condition.term, asked).noting(condition, satisfy)


@OBSERVED.register(IsIdentity)
def _(condition: IsIdentity, batch: Batch) -> Tensor:
    eye = torch.eye(batch.d, dtype=torch.float64)
    name = getattr(condition.term, "name", "")
    heads = batch.parameters.get("heads", ())
    values = [head[name] for head in heads if name in head] or [batch.matrix(condition.term)]
    worst = torch.stack([torch.linalg.matrix_norm(value - eye) for value in values]).amax(0)
    return worst - 1e-9


@CERTIFIED.register(IsIdentity)
def _(condition: IsIdentity, case: Case) -> Verdict:
    name = getattr(condition.term, "name", "")
    heads = case.instance.parameters.get("heads", ())
    values = [sp.Matrix([list(row) for row in head[name]]) for head in heads if name in head]
    answers = [zero(entry) for value in values or [case.matrix(condition.term)] for entry in value - sp.eye(case.d)]
    truth = False if any(each is False for each in answers) else (True if all(answers) else None)
    return verdict_of(truth, f"{condition.term} is the identity")


# --- words of the lab -------------------------------------------------------------------------------------------------


@GENERATED.register(NoneOpposite)
def _(condition: NoneOpposite, plan: Plan, satisfy: bool = True) -> Plan:
    """Tokens drawn at random are not opposite; a near miss has one that is."""
    return replace(plan, opposite=not satisfy).noting(condition, satisfy)


@OBSERVED.register(NoneOpposite)
def _(condition: NoneOpposite, batch: Batch) -> Tensor:
    """The distance of the tokens to the antipode of the first (to which it is not opposite itself)."""
    away = torch.linalg.vector_norm(batch.tokens + batch.tokens[:, :1], dim=-1).amin(-1)
    return 1e-6 - away


@CERTIFIED.register(NoneOpposite)
def _(condition: NoneOpposite, case: Case) -> Verdict:
    first, *others = case.instance.tokens
    answers = [same_tokens(token, first, -1) for token in others]
    truth = False if any(each is True for each in answers) else None if any(each is None for each in answers) else True
    return verdict_of(truth, "no token is opposite to the first")


@GENERATED.register(NotAllZero)
def _(condition: NotAllZero, plan: Plan, satisfy: bool = True) -> Plan:
    return (plan if satisfy else plan.at(Zero())).noting(condition, satisfy)


@OBSERVED.register(NotAllZero)
def _(condition: NotAllZero, batch: Batch) -> Tensor:
    return 1e-9 - torch.linalg.vector_norm(batch.tokens, dim=-1).amax(-1)


@CERTIFIED.register(NotAllZero)
def _(condition: NotAllZero, case: Case) -> Verdict:
    answers = [zero(entry) for token in case.instance.tokens for entry in token]
    truth = True if any(each is False for each in answers) else (False if all(answers) else None)
    return verdict_of(truth, "some token is not zero")
