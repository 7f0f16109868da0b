"""Numeric readings of the words that the chapters of the book add (``theory/words_*.py``)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.dominant_pairs import shared_pair
from eigentoken.numerics.eigen import eig
from eigentoken.numerics.exact_matrices import ExactMatrix
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import MatrixPlan, Plan
from eigentoken.numerics.readings.certified_conditions import verdict_of
from eigentoken.numerics.readings.exact_places import same_tokens
from eigentoken.numerics.readings.exact_values import Case, zero
from eigentoken.theory.conditions import NonPrincipalModulusBelow
from eigentoken.theory.points import Zero
from eigentoken.theory.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.verdicts import Verdict, undecided
from eigentoken.theory.words_flows import IsIdentity, ShareDominantPair
from eigentoken.theory.words_lab import NoneOpposite, NotAllZero

__all__: list[str] = []


@GENERATED.register(IsIdentity)
def _(condition: IsIdentity, plan: Plan, satisfy: bool = True) -> Plan:
    """The matrix of every head is the identity; a near miss is any other matrix.

    ``c X = I`` fixes X, ``X X^T = I`` asks for an orthogonal matrix, ``X X = I`` for an involution.
    """
    if not satisfy:
        return plan.demand(condition.term, MatrixPlan()).noting(condition, satisfy)
    matrix, fixed = _solved(condition.term)
    return plan.demand(matrix, MatrixPlan(fixed=fixed)).noting(condition, satisfy)


def _solved(term: Any) -> tuple[Any, Any]:
    """A matrix and what it must be for the term to be the identity; the term itself where that is not known."""
    factor, inner = term.as_coeff_mmul() if term.is_MatMul else (sp.Integer(1), term)
    inner = inner.doit()
    bare = inner.arg if isinstance(inner, sp.Transpose | sp.Inverse) else inner
    if isinstance(bare, sp.MatrixSymbol) and factor.is_Rational and factor != 0:
        value = factor if isinstance(inner, sp.Inverse) else 1 / factor
        return bare, "identity" if value == 1 else value
    if factor == 1 and inner.is_MatMul and len(inner.args) == 2:
        first, second = inner.args
        if first == sp.Transpose(second).doit():
            return (first if isinstance(first, sp.MatrixSymbol) else second), "orthogonal"
    if (
        factor == 1
        and isinstance(inner, sp.MatPow)
        and isinstance(inner.args[0], sp.MatrixSymbol)
        and inner.args[1] == 2
    ):
        return inner.args[0], "involution"
    return term, "identity"


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


@GENERATED.register(ShareDominantPair)
def _(condition: ShareDominantPair, plan: Plan, satisfy: bool = True) -> Plan:
    """Symmetric heads with one top eigenvector, of which those are kept whose other eigenvalues are smaller in modulus."""
    shared = (*plan.shared_top, condition.name) if satisfy else plan.shared_top
    return replace(plan, shared_top=shared).noting(condition, satisfy)


@OBSERVED.register(ShareDominantPair)
def _(condition: ShareDominantPair, batch: Batch) -> Tensor:
    """The worst of: not an eigenvector of a head, not positive, not contracted beside it in the Euclidean norm."""
    heads = [head[condition.name] for head in batch.parameters.get("heads", [batch.parameters])]
    total = torch.stack(heads).sum(0)
    right, left = _leading(total), _leading(total.mT)
    inner = torch.einsum("bd,bd->b", left, right)
    left = left / torch.where(inner.abs() < 1e-12, torch.full_like(inner, 1e-12), inner)[:, None]
    beside = torch.eye(batch.d, dtype=torch.float64) - right[:, :, None] * left[:, None, :]
    worst = torch.full((batch.count,), -torch.inf, dtype=torch.float64)
    for value in heads:
        number = torch.einsum("bi,bij,bj->b", left, value, right)
        size = 1e-9 * (1 + torch.linalg.matrix_norm(value))
        moved = torch.linalg.vector_norm(torch.einsum("bij,bj->bi", value, right) - number[:, None] * right, dim=-1)
        back = torch.linalg.vector_norm(torch.einsum("bi,bij->bj", left, value) - number[:, None] * left, dim=-1)
        contracted = torch.linalg.matrix_norm(beside @ value @ beside, ord=2) - number
        for part in (moved - size, back / torch.linalg.vector_norm(left, dim=-1) - size, -number, contracted + size):
            worst = torch.maximum(worst, part)
    return worst


def _leading(matrix: Tensor) -> Tensor:
    """The real part of the eigenvector whose eigenvalue is largest in modulus, of unit length."""
    numbers, vectors = eig(matrix)
    first = numbers.abs().argmax(-1)
    found = vectors.gather(-1, first[:, None, None].expand(-1, matrix.shape[-1], 1))[..., 0].real
    return found / torch.linalg.vector_norm(found, dim=-1, keepdim=True).clamp_min(1e-300)


@CERTIFIED.register(ShareDominantPair)
def _(condition: ShareDominantPair, case: Case) -> Verdict:
    heads = case.instance.parameters.get("heads", (case.instance.parameters,))
    rows = [[list(map(sp.sympify, row)) for row in head[condition.name]] for head in heads]
    if any(not entry.is_Rational for value in rows for row in value for entry in row):
        return undecided("a common pair is looked for in rational matrices")
    exact = [
        ExactMatrix.from_fractions([[Fraction(int(e.p), int(e.q)) for e in row] for row in value]) for value in rows
    ]
    dominant = [NonPrincipalModulusBelow(_OWN) for _ in exact]
    for index, (value, asked) in enumerate(zip(rows, dominant, strict=True)):
        own = CERTIFIED(asked, Case(case.instance, case.k, case.p, _memory={_OWN: sp.Matrix(value)}))
        if own.is_fails:
            return replace(own, reason=f"head {index} has no dominant positive eigenvalue: {own.reason}")
    return shared_pair(exact)


_OWN = sp.MatrixSymbol("own", 1, 1)


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
