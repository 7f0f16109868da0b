"""The dimension-free algebra: the systems themselves, run on tokens with symbolic n and d.

A state is a family of vectors written in the slot index; ``system.advance(algebra, ...)`` returns the family of next
states or velocities as an expression, which :mod:`eigentoken.theory.calculus.derivative` then differentiates.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from eigentoken.theory.calculus.atoms import Index, Letter, Letters, MaskEntry, Norm
from eigentoken.theory.calculus.derivative import SLOT, instance
from eigentoken.theory.calculus.expressions import (
    DIMENSION,
    TOKENS,
    Assumptions,
    Expression,
    dot,
    exponential,
    factor,
    one,
    row_sum,
    vector,
    zero,
)
from eigentoken.theory.systems.algebra import MaskValue, Number, ParameterValue, SixOperations

__all__ = ["COLUMN", "HEAD", "CalculusAlgebra"]

#: The index of the token that is attended to, and of the head, in a family of weights.
COLUMN = Index("token", "column")
HEAD = Index("head", "h")


@dataclass
class CalculusAlgebra(SixOperations):
    """The six operations of :class:`~eigentoken.theory.systems.algebra.Algebra` on expressions.

    Matrices are :class:`Letter` (or ``None``, the identity); a matrix with a head index stands for one matrix per head,
    and the sum over the heads is taken where the value matrix is applied.  A mask is the name of a 0/1 matrix.
    ``normalise`` introduces the vector ``y_i`` and its norm ``r_i`` by name: their definitions are in
    ``algebra.assumptions``.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> algebra = CalculusAlgebra()
    >>> state = vector("x", SLOT)
    >>> print(system("oja-flow").advance(algebra, {"V": Letter("V")}, state))
    (-1/n) sum_1 <x_slot|V|x_1> x_slot + (1/n) sum_1 V x_1
    """

    assumptions: Assumptions = field(default_factory=Assumptions)
    extension: str = "homogeneous"
    "off the sphere: `homogeneous` divides by the true norm, `unit` by the norm with x_i^T x_i = 1 put in"

    def attention(self, x: Expression, score: ParameterValue, mask: MaskValue, over_root_d: bool) -> Expression:
        scale = 1 / sp.sqrt(DIMENSION) if over_root_d else sp.Integer(1)
        masks = () if mask is None else (MaskEntry(str(mask), SLOT, COLUMN),)
        if score is None and not masks:
            return one() * (scale / TOKENS)
        if score is None:
            scores = zero()
        else:
            letter = score(SLOT, COLUMN) if callable(score) else score
            scores = dot(instance(x, SLOT), instance(x, COLUMN), (letter,))
        weight = exponential(scores) * factor(row_sum(scores, COLUMN, masks), -1) * scale
        for each in masks:
            weight = weight * factor(each)
        return weight

    def average(self, weights: Expression, x: Expression) -> Expression:
        return (weights * instance(x, COLUMN)).summed(COLUMN)

    def apply(self, matrix: Letter | None, x: Expression) -> Expression:
        moved = x if matrix is None else x.applied((matrix,))
        heads = [index for index in moved.free_indices if index.kind == "head"]
        return moved.summed(*heads) if heads else moved

    def add(self, x: Expression, u: Expression, step: Number = 1) -> Expression:
        return x + u * step

    def normalise(self, y: Expression, metric: Letter | None = None) -> Expression:
        letters: Letters = () if metric is None else (metric,)
        name = self._new_vector(y)
        norm = Norm(f"r{name[1:]}", (SLOT,))
        self.assumptions = self.assumptions.extended(norms={norm.name: (name, letters)})
        return vector(name, SLOT) * factor(norm, -1)

    def tangent(self, x: Expression, u: Expression, metric: Letter | None = None) -> Expression:
        return u - dot(x, u, () if metric is None else (metric,)) * x

    def _new_vector(self, definition: Expression) -> str:
        taken = len(self.assumptions.definitions)
        name = "y" if not taken else f"y{taken + 1}"
        self.assumptions = self.assumptions.extended(definitions={name: definition})
        return name
