"""The systems themselves run on tokens with symbolic n and d, and derivatives along a direction, by the product rule on atoms.

``d<a|W|b> = <da|W|b> + <a|W|db>``, ``d exp(s) = exp(s) ds``, ``d Z_i = sum_j exp(s_ij) ds_ij`` and
``d r_i = <y_i|W|dy_i> / r_i``: nothing else is needed for attention, normalization and every potential of the papers.

A state is a family of vectors written in the slot index; ``system.advance(CalculusAlgebra(), ...)`` returns the family of
next states or velocities as an expression, which :func:`differentiate` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.atoms import Base, Dot, Exp, Index, Letter, Letters, MaskEntry, Norm, SumExp
from eigentoken.theory.calculus.expressions import (
    DIMENSION,
    TOKENS,
    Assumptions,
    Expression,
    Monomial,
    dot,
    exponential,
    factor,
    one,
    opened,
    row_sum,
    thawed,
    vector,
    zero,
)
from eigentoken.theory.systems.algebra import MaskValue, Number, ParameterValue, SixOperations

__all__ = [
    "COLUMN",
    "HEAD",
    "SLOT",
    "CalculusAlgebra",
    "Direction",
    "differentiate",
    "direction",
    "expand_definitions",
    "instance",
    "substitute",
]

#: The index that a family of vectors (one for each token) is written in.
SLOT = Index("token", "slot")

#: For each family of vectors that moves, how ``name_i`` moves, as a function of its indices.
Direction = Mapping[str, Callable[..., Expression]]


def direction(moving: str, along: str) -> Direction:
    """``x_i -> x_i + eps w_i``."""
    return {moving: lambda *indices: vector(along, *indices)}


def instance(family: Expression, *indices: Index) -> Expression:
    """A family, written in the slot index, at a given index."""
    return family.at((SLOT, indices[0])) if indices else family


def differentiate(expression: Expression, along: Direction, assumptions: Assumptions) -> Expression:
    """The derivative along the direction; vectors with a definition move as their definition does.

    >>> from eigentoken.theory.calculus.normal_form import normal_form
    >>> i = Index("token", "i")
    >>> rules = Assumptions()
    >>> print(normal_form(differentiate(dot(vector("x", i), vector("x", i)), direction("x", "w"), rules), rules))
    2 <w_i|x_i>
    """

    def moved(base: Base) -> Expression:
        if base.name in along:
            return along[base.name](*base.indices)
        if base.name in assumptions.definitions:
            definition = instance(assumptions.definitions[base.name], *base.indices)
            return differentiate(definition, along, assumptions)
        return zero()

    def of_atom(atom: Any) -> Expression:
        """The derivative of one factor, divided by the factor where that keeps it a product."""
        if isinstance(atom, Dot):
            left, right = vector(atom.left.name, *atom.left.indices), vector(atom.right.name, *atom.right.indices)
            return dot(moved(atom.left), right, atom.letters) + dot(left, moved(atom.right), atom.letters)
        if isinstance(atom, Exp):
            return factor(atom) * differentiate(thawed(atom.exponent), along, assumptions)
        if isinstance(atom, SumExp):
            index, exponent, masks = opened(atom)
            inner = exponential(exponent) * differentiate(exponent, along, assumptions)
            for mask in masks:
                inner = inner * factor(mask)
            return inner.summed(index)
        if isinstance(atom, Norm):
            of, metric = assumptions.norms[atom.name]
            base = Base(of, atom.indices)
            half = dot(vector(of, *atom.indices), moved(base), metric)
            if atom.name in assumptions.unit_in_norm:
                unit = Base(assumptions.unit_in_norm[atom.name], atom.indices)
                half = half - dot(vector(unit.name, *unit.indices), moved(unit), metric)
            return factor(atom, -1) * half
        return zero()

    def of_term(monomial: Monomial, value: sp.Expr) -> Expression:
        total = zero()
        for place, (atom, power) in enumerate(monomial.factors):
            rest = monomial.factors[:place] + monomial.factors[place + 1 :]
            if power != 1:
                rest = (*rest, (atom, power - 1))
            remaining = Expression({Monomial((), rest, monomial.arrow): value * power})
            total = total + of_atom(atom) * remaining
        if monomial.arrow is not None:
            letters, base = monomial.arrow
            total = total + Expression({Monomial((), monomial.factors): value}) * moved(base).applied(letters)
        return total.summed(*monomial.bound) if monomial.bound else total

    return expression.mapped(of_term)


def substitute(expression: Expression, families: Direction) -> Expression:
    """Vectors replaced by expressions everywhere, also in exponents; ``families`` maps a name to a function of indices.

    >>> i = Index("token", "i")
    >>> print(substitute(dot(vector("z"), vector("x", i)), {"z": lambda: vector("x", i)}))
    <x_i|x_i>
    """

    def value_of(base: Base) -> Expression:
        return families[base.name](*base.indices) if base.name in families else vector(base.name, *base.indices)

    def of_atom(atom: Any, power: int) -> Expression:
        if isinstance(atom, Dot):
            expanded = dot(value_of(atom.left), value_of(atom.right), atom.letters)
            return expanded**power if expanded.terms or power < 0 else zero()
        if isinstance(atom, Exp):
            return exponential(substitute(thawed(atom.exponent), families)) ** power
        if isinstance(atom, SumExp):
            index, exponent, masks = opened(atom)
            moved = substitute(exponent, families)
            exponential(moved)
            return factor(row_sum(moved, index, masks), power)
        return factor(atom, power)

    def of_term(monomial: Monomial, value: sp.Expr) -> Expression:
        total = Expression({Monomial(): value})
        for atom, power in monomial.factors:
            total = total * of_atom(atom, power)
        if monomial.arrow is not None:
            letters, base = monomial.arrow
            total = total * value_of(base).applied(letters)
        return total.summed(*monomial.bound) if monomial.bound else total

    return expression.mapped(of_term)


def expand_definitions(expression: Expression, assumptions: Assumptions) -> Expression:
    """Every vector that has a definition replaced by it (norms keep their names)."""

    def expanded(name: str) -> Callable[..., Expression]:
        definition = assumptions.definitions[name]
        return lambda *indices: instance(expand_definitions(definition, assumptions), *indices)

    return substitute(expression, {name: expanded(name) for name in assumptions.definitions})


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
