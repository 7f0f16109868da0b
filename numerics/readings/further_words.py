"""Numeric readings of the words that the chapters of the book add (``theory/words_*.py``)."""

from __future__ import annotations

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import MatrixPlan, Plan
from eigentoken.numerics.readings.certified_conditions import verdict_of
from eigentoken.numerics.readings.exact_values import Case, zero
from eigentoken.theory.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.verdicts import Verdict
from eigentoken.theory.words_flows import IsIdentity

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
