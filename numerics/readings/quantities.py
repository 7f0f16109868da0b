"""Scalars of the calculus on a batch of instances, at all places of their indices at once.

A value has one axis for each index that was bound around it, the index that was bound last first, and the instances last: a
number ``(B,)`` of each instance stands beside ``<x_i|x_j>``, which is ``(n, n, B)``, and a sum over tokens is one over the first
axis.  Vectors have their entries after that, ``(..., B, d)``.  Nothing is shared with the normal form of the calculus.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.theory.calculus import Expression, Index
from eigentoken.theory.calculus.atoms import Base, Delta, Dot, Exp, Letter, MaskEntry, Norm, SumExp, indices_of
from eigentoken.theory.calculus.derivative import instance
from eigentoken.theory.calculus.expressions import Assumptions, Monomial, opened, thawed
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.systems.system import System

__all__ = ["BoundIndices", "Quantities"]

Scalar = Tensor | float


@dataclass(frozen=True)
class BoundIndices:
    """The indices that are bound, each with the number of its axis; ``depth`` axes there are."""

    axes: Mapping[Index, int] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()

    @property
    def depth(self) -> int:
        return len(self.sizes)

    def bound(self, index: Index, size: int) -> BoundIndices:
        """With an axis for one more index, before the others."""
        return BoundIndices({**self.axes, index: self.depth}, (*self.sizes, size))

    def of(self, index: Index) -> Tensor:
        """The positions of the index, along its axis."""
        return _along(self.sizes[self.axes[index]], self.axes[index] + 1)

    def shape(self, count: int) -> tuple[int, ...]:
        """Of a number for every place and instance."""
        return (*reversed(self.sizes), count)

    def key(self, thing: Hashable) -> tuple[Hashable, ...]:
        """A thing, and where its own indices are."""
        return (thing, tuple(self.axes[each] for each in indices_of(thing) if each in self.axes))


@lru_cache(maxsize=256)
def _along(size: int, after: int) -> Tensor:
    return torch.arange(size).reshape(size, *[1] * after)


@dataclass(frozen=True)
class Quantities:
    """Instances at some tokens ``(..., B, n, d)``, with vectors and families of them; coefficients are read by ``convert``."""

    batch: Batch
    vectors: Mapping[str, Tensor]
    convert: Callable[[sp.Expr], Tensor]
    _known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def scalar(self, expression: Expression, places: BoundIndices) -> Tensor:
        """The value of a scalar at all places."""
        found = self._scalar(expression, places)
        return found if isinstance(found, Tensor) else torch.full((self.batch.count,), found, dtype=torch.float64)

    def _scalar(self, expression: Expression, places: BoundIndices) -> Scalar:
        total: Scalar = 0.0
        for monomial, coefficient in expression.terms.items():
            inner = self._inside(monomial, places)
            total = total + self._number(coefficient) * self._summed(self._product(monomial, inner), inner, places, 1)
        return total

    def _vector(self, expression: Expression, places: BoundIndices) -> Tensor:
        parts = []
        for monomial, coefficient in expression.terms.items():
            if monomial.arrow is None:
                raise TypeError("a vector was expected, got a scalar term")
            inner = self._inside(monomial, places)
            scale = self._number(coefficient) * self._product(monomial, inner)
            arrow = self._applied(monomial.arrow[0], self._base(monomial.arrow[1], inner), inner)
            scaled = (scale.unsqueeze(-1) if isinstance(scale, Tensor) else scale) * arrow
            parts.append(self._summed(scaled, inner, places, 2))
        if not parts:
            return torch.zeros(self.batch.count, self.batch.d, dtype=torch.float64)
        total: Tensor = sum(parts[1:], parts[0])
        return total

    def _size(self, index: Index) -> int:
        return self.batch.n if index.kind == "token" else heads_of(self.batch)

    def _inside(self, monomial: Monomial, places: BoundIndices) -> BoundIndices:
        for index in monomial.bound:
            places = places.bound(index, self._size(index))
        return places

    def _summed(self, value: Any, inner: BoundIndices, outer: BoundIndices, least: int) -> Any:
        """The sum over the axes that are inside alone; a value that has no such axis is the same at every place."""
        for depth in range(inner.depth, outer.depth, -1):
            has_axis = isinstance(value, Tensor) and value.ndim == depth + least
            value = value.sum(0) if has_axis else value * inner.sizes[depth - 1]
        return value

    def _number(self, coefficient: sp.Expr) -> Scalar:
        if coefficient.is_Rational:
            return float(coefficient)
        if coefficient not in self._known:
            self._known[coefficient] = self.convert(coefficient)
        found: Tensor = self._known[coefficient]
        return found

    def _product(self, monomial: Monomial, places: BoundIndices) -> Scalar:
        product: Scalar = 1.0
        for atom, power in monomial.factors:
            value = self._remembered(atom, places, partial(self._atom, atom, places))
            for _ in range(abs(power)):
                product = product * value if power > 0 else product / value
        return product

    def _remembered(self, thing: Any, places: BoundIndices, compute: Callable[[], Any]) -> Any:
        key = places.key(thing)
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def _atom(self, atom: Any, places: BoundIndices) -> Tensor:
        if isinstance(atom, Dot):
            right = self._applied(atom.letters, self._base(atom.right, places), places)
            return (self._base(atom.left, places) * right).sum(-1)
        if isinstance(atom, Exp):
            return torch.exp(self.scalar(thawed(atom.exponent), places))
        if isinstance(atom, SumExp):
            index, exponent, masks = opened(atom)
            inner = places.bound(index, self._size(index))
            total: Any = torch.exp(self.scalar(exponent, inner))
            for mask in masks:
                total = torch.where(self._atom(mask, inner) > 0, total, 0.0)
            found: Tensor = self._summed(total, inner, places, 1)
            own = max((places.axes[each] + 1 for each in indices_of(atom) if each in places.axes), default=0)
            while found.ndim > own + 1 and found.shape[0] == 1:  # it is kept, also for places with fewer axes
                found = found[0]
            return found
        if isinstance(atom, MaskEntry):
            if atom.name != "causal":
                raise TypeError(f"no number for {atom}: only the causal mask is known here")
            return (places.of(atom.key) <= places.of(atom.query)).to(torch.float64)
        if isinstance(atom, Delta):
            return (places.of(atom.first) == places.of(atom.second)).to(torch.float64)
        if isinstance(atom, Norm):
            of, metric = _assumptions(self.batch.system).norms[atom.name]
            value = self._base(Base(of, atom.indices), places)
            return torch.sqrt((value * self._applied(metric, value, places)).sum(-1))
        raise TypeError(f"no number for {atom}")

    def _base(self, base: Base, places: BoundIndices) -> Tensor:
        if base.name in self.vectors:
            return _member(self.vectors[base.name], [places.of(index) for index in base.indices])
        definition = _assumptions(self.batch.system).definitions[base.name]
        found: Tensor = self._remembered(
            base, places, lambda: self._vector(instance(definition, *base.indices), places)
        )
        return found

    def _applied(self, letters: tuple[Letter, ...], value: Tensor, places: BoundIndices) -> Tensor:
        for letter in reversed(letters):
            rows = self._matrix(letter, places)
            value = ((rows.mT if letter.transposed else rows) * value.unsqueeze(-2)).sum(-1)
        return value

    def _matrix(self, letter: Letter, places: BoundIndices) -> Tensor:
        """``(..., B, d, d)``: a matrix of the system at time 0; of one with heads, that of each head."""
        heads = self.batch.parameters.get("heads", ())
        if not letter.indices:
            return _now(self.batch.named(letter.name))
        if not (heads and letter.name in heads[0]):
            raise TypeError(f"no number for {letter}: the heads have no matrix of this name")
        every = torch.stack([_now(head[letter.name]) for head in heads])
        (head,) = letter.indices
        return every[places.of(head), torch.arange(self.batch.count)]


def heads_of(batch: Batch) -> int:
    """How many heads there are; a system without heads has one."""
    return len(batch.parameters.get("heads", ())) or 1


def _member(family: Tensor, places: list[Tensor]) -> Tensor:
    """The members ``(..., B, d)`` of a family ``(..., B, n, ..., n, d)`` at these places; before ``B`` are those of its draw."""
    if not places:
        return family
    lead = family.ndim - 1 - len(places)
    own = [_along(size, lead - 1 - axis) for axis, size in enumerate(family.shape[:lead])]
    return family[(*own, *places)]


def _now(value: Any) -> Tensor:
    """A matrix that depends on time, at time 0."""
    found: Tensor = value(0.0) if callable(value) else value
    return found


@lru_cache(maxsize=64)
def _assumptions(about: System) -> Assumptions:
    """The names that the equation of a system introduces."""
    return linearize(about, tangent=False).assumptions
