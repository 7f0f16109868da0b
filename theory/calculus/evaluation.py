"""Numbers for expressions: plain loops over explicit tokens, in any arithmetic.

This is the bridge between the symbolic results and an instance; it shares nothing with the normal form, so that
agreement of the two is evidence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.atoms import Base, Delta, Dot, Exp, Index, Letters, MaskEntry, Norm, SumExp, indices_of
from eigentoken.theory.calculus.derivative import instance
from eigentoken.theory.calculus.expressions import Assumptions, Expression, opened, thawed
from eigentoken.theory.systems.algebra import Number, ParameterValue

__all__ = ["Numbers"]

Place = Mapping[Index, int]


@dataclass(frozen=True)
class Numbers:
    """An instance: values for symbols, matrices (rows), families of vectors, masks, and the two functions needed.

    ``vectors[name]`` is a list of vectors for a family, or one vector for a name without index; ``matrices[name]`` is
    rows, or a function of the positions for a matrix with indices.
    """

    sizes: Mapping[str, int]
    scalars: Mapping[sp.Symbol, Number]
    matrices: Mapping[str, ParameterValue]
    vectors: Mapping[str, ParameterValue]
    exp: Callable[[Number], Number]
    sqrt: Callable[[Number], Number]
    convert: Callable[[sp.Expr], Number]
    masks: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    assumptions: Assumptions = field(default_factory=Assumptions)
    _known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def scalar(self, expression: Expression, place: Place | None = None) -> Number:
        """The value of a scalar; free indices (counted from 0) are given in ``place``."""
        total: Any = 0
        for monomial, coefficient in expression.terms.items():
            outside = self._number(coefficient)
            for inner in self._places(monomial.bound, place or {}):
                total = total + outside * self._product(monomial.factors, inner)
        return total

    def vector(self, expression: Expression, place: Place | None = None) -> list[Number]:
        """The value of a vector."""
        total: list[Any] | None = None
        for monomial, coefficient in expression.terms.items():
            if monomial.arrow is None:
                raise TypeError("a vector was expected, got a scalar term: call scalar(...)")
            outside = self._number(coefficient)
            for inner in self._places(monomial.bound, place or {}):
                scale = outside * self._product(monomial.factors, inner)
                arrow = self._applied(monomial.arrow[0], self._base(monomial.arrow[1], inner), inner)
                part = [scale * entry for entry in arrow]
                total = part if total is None else [a + b for a, b in zip(total, part, strict=True)]
        if total is None:
            raise ValueError("the expression is identically zero and has no dimension")
        return total

    def _number(self, coefficient: sp.Expr) -> Any:
        if coefficient not in self._known:
            self._known[coefficient] = self.convert(coefficient.subs(self.scalars))
        return self._known[coefficient]

    def _remembered(self, thing: Any, place: Place, compute: Callable[[], Any]) -> Any:
        """The value of an atom only depends on where its own indices are."""
        key = (thing, tuple((index, place[index]) for index in indices_of(thing) if index in place))
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def _places(self, bound: Sequence[Index], place: Place) -> Any:
        for values in itertools.product(*(range(self.sizes[index.kind]) for index in bound)):
            yield {**place, **dict(zip(bound, values, strict=True))}

    def _product(self, factors: Any, place: Place) -> Any:
        product: Any = 1
        for atom, power in factors:
            value = self._remembered(atom, place, partial(self._atom, atom, place))
            for _ in range(abs(power)):
                product = product * value if power > 0 else product / value
        return product

    def _atom(self, atom: Any, place: Place) -> Any:
        if isinstance(atom, Dot):
            return _dot(self._base(atom.left, place), self._applied(atom.letters, self._base(atom.right, place), place))
        if isinstance(atom, Exp):
            return self.exp(self.scalar(thawed(atom.exponent), place))
        if isinstance(atom, SumExp):
            index, exponent, masks = opened(atom)
            total: Any = 0
            for value in range(self.sizes[index.kind]):
                inner = {**place, index: value}
                if all(self._atom(mask, inner) for mask in masks):
                    total = total + self.exp(self.scalar(exponent, inner))
            return total
        if isinstance(atom, MaskEntry):
            return self.masks[atom.name][place[atom.query]][place[atom.key]]
        if isinstance(atom, Delta):
            return int(place[atom.first] == place[atom.second])
        if isinstance(atom, Norm):
            of, metric = self.assumptions.norms[atom.name]
            value = self._base(Base(of, atom.indices), place)
            return self.sqrt(_dot(value, self._applied(metric, value, place)))
        raise TypeError(f"no number for {atom}")

    def _base(self, base: Base, place: Place) -> Any:
        if base.name in self.vectors:
            value = self.vectors[base.name]
            for index in base.indices:
                value = value[place[index]]
            return value
        definition = self.assumptions.definitions[base.name]
        return self._remembered(base, place, lambda: self.vector(instance(definition, *base.indices), place))

    def _applied(self, letters: Letters, value: Sequence[Any], place: Place) -> list[Any]:
        result = list(value)
        for letter in reversed(letters):
            rows = self.matrices[letter.name]
            if letter.indices:
                rows = rows(*(place[index] for index in letter.indices))
            elif callable(rows):  # without an index, a letter of heads is their sum
                heads = [rows(head) for head in range(self.sizes["head"])]
                rows = [[sum(entries) for entries in zip(*row, strict=True)] for row in zip(*heads, strict=True)]
            if letter.transposed:
                rows = list(zip(*rows, strict=True))
            result = [_dot(row, result) for row in rows]
        return result


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    total: Any = 0
    for a, b in zip(x, y, strict=True):
        total = total + a * b
    return total
