"""The least difference of neighbouring eigenvalues: in floats, exactly where all are rational, and as an enclosure."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import sympy as sp
import torch
from flint import arb
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import Case, NoValue
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.readings import ENCLOSURE, EXACT, VALUE

__all__: list[str] = []


@VALUE.register(EigenvalueGap)
def value_eigenvalue_gap(number: EigenvalueGap, batch: Batch, ell: int | None) -> Tensor:
    parts = batch.eigen(number.args[0])[0].real
    if batch.d < 2:
        return torch.full((batch.count,), torch.inf, dtype=torch.float64)
    return (parts[..., :-1] - parts[..., 1:]).amin(-1).to(torch.float64)


@EXACT.register(EigenvalueGap)
def exact_eigenvalue_gap(number: EigenvalueGap, case: Case, ell: int | None) -> sp.Expr | None:
    """Of rational eigenvalues; one that is repeated has the gap zero."""
    listed = case.rational_eigenvalues(number.args[0])
    if listed is None or case.d < 2:
        return None
    if any(times > 1 for times in listed.values()):
        return sp.Integer(0)
    return min(high - low for low, high in pairwise(sorted(listed)))


@ENCLOSURE.register(EigenvalueGap)
def enclosure_eigenvalue_gap(number: EigenvalueGap, case: Case, bits: int, ell: int | None) -> arb:
    if case.d < 2:
        raise NoValue("a matrix of size one has no two eigenvalues")
    values = [case.eigenvalue(number.args[0], index, bits) for index in range(1, case.d + 1)]
    return reduce(lambda one, other: one.min(other), [high - low for high, low in pairwise(values)])
