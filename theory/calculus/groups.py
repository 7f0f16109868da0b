"""Points where the tokens fall into groups: consensus (one group), bipartite consensus (two), antipodal points.

Token i of group g sits at ``c_g v``.  Sums over tokens split into sums over the groups, attention weights become
numbers, and what is left of a linearization acts on the perturbations and their group means.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.assumptions import Assumptions
from eigentoken.theory.calculus.atoms import Base, Dot, Exp, Index, Norm, SumExp, map_indices
from eigentoken.theory.calculus.derivative import SLOT, expand_definitions
from eigentoken.theory.calculus.expressions import Expression, Monomial, factor, frozen, thawed, vector, zero
from eigentoken.theory.calculus.normal_form import normal_form

__all__ = ["Group", "GroupPoint"]


@dataclass(frozen=True)
class Group:
    """``size`` tokens at ``sign * v``."""

    kind: str
    size: sp.Expr
    sign: int


@dataclass(frozen=True)
class GroupPoint:
    """Groups of equal tokens on the line through ``at``; ``assumptions`` holds what is known of that vector."""

    groups: tuple[Group, ...]
    assumptions: Assumptions
    family: str = "x"
    at: str = "v"

    def value(self, expression: Expression, group: Group) -> Expression:
        """The expression, written in the slot index, for a token of the group; definitions are expanded."""
        expanded = expand_definitions(expression, self.assumptions)
        here = expanded.at((SLOT, Index(group.kind, "i")))
        return normal_form(here.mapped(self._substituted), self.assumptions)

    def norms(self) -> dict[tuple[str, str], sp.Expr]:
        """The norm of each defined vector in each group, where the vector is a number times ``at``."""
        found = {}
        for name, (of, _) in self.assumptions.norms.items():
            for group in self.groups:
                found[name, group.kind] = sp.Abs(self.height(self.assumptions.definitions[of], group))
        return found

    def height(self, definition: Expression, group: Group) -> sp.Expr:
        """``c`` where the vector is ``c * sign * at`` in the group; raises where it is not on that line."""
        value = self.value(definition, group)
        unit = Monomial((), (), ((), Base(self.at)))
        if set(value.terms) - {unit}:
            raise ValueError(f"the point is not an equilibrium: the step of group {group.kind} is {value!r}")
        return sp.cancel(value.terms.get(unit, sp.Integer(0)) * group.sign)

    # -- substitution -------------------------------------------------------------------------------------------------

    def _substituted(self, monomial: Monomial, value: sp.Expr) -> Expression:
        tokens = [index for index in monomial.bound if index.kind == "token"]
        total = zero()
        for kinds in itertools.product(self.groups, repeat=len(tokens)):
            table = {old: Index(group.kind, old.name) for old, group in zip(tokens, kinds, strict=True)}
            renamed = map_indices(monomial, table)
            total = total + self._atoms(renamed, value)
        return total

    def _atoms(self, monomial: Monomial, value: sp.Expr) -> Expression:
        product = Expression({Monomial(): value})
        for atom, power in monomial.factors:
            product = product * self._atom(atom, power)
        if monomial.arrow is not None:
            word, base = monomial.arrow
            sign, moved = self._base(base)
            product = product * vector(moved.name, *moved.indices).applied(word) * sign
        return product.summed(*monomial.bound) if monomial.bound else product

    def _base(self, base: Base) -> tuple[int, Base]:
        if base.name != self.family:
            return 1, base
        kind = base.indices[0].kind
        return next(group.sign for group in self.groups if group.kind == kind), Base(self.at)

    def _atom(self, atom: Any, power: int) -> Expression:
        if isinstance(atom, Dot):
            (a, left), (b, right) = self._base(atom.left), self._base(atom.right)
            return factor(Dot(left, atom.word, right), power) * (a * b) ** power
        if isinstance(atom, Exp):
            return factor(Exp(frozen(self._exponent(atom.exponent))), power)
        if isinstance(atom, SumExp):
            return self._normalizer(atom, power)
        return factor(atom, power)

    def _exponent(self, terms: Any) -> Expression:
        return thawed(terms).mapped(self._atoms)

    def _normalizer(self, atom: SumExp, power: int) -> Expression:
        if atom.bound.kind != "token":
            return factor(atom, power)
        parts = []
        for group in self.groups:
            inner = Index(group.kind, atom.bound.name)
            table = {atom.bound: inner}
            exponent, masks = map_indices((atom.exponent, atom.masks), table)
            parts.append(SumExp(inner, frozen(self._exponent(exponent)), masks))
        if len(parts) == 1:
            return factor(parts[0], power)
        total = zero()
        for part in parts:
            total = total + factor(part)
        number = normal_form(total, self.assumptions)
        if set(number.terms) - {Monomial()}:
            raise ValueError(f"the weights are not numbers at this point: {number!r}")
        return Expression({Monomial(): number.terms[Monomial()] ** power})


def with_norms(expression: Expression, values: Mapping[tuple[str, str], sp.Expr]) -> Expression:
    """Norms replaced by their values, by name and kind of index."""

    def of_term(monomial: Monomial, value: sp.Expr) -> Expression:
        kept = []
        for atom, power in monomial.factors:
            if isinstance(atom, Norm):
                value = value * values[atom.name, atom.indices[0].kind] ** power
            else:
                kept.append((atom, power))
        return Expression({Monomial(monomial.bound, tuple(kept), monomial.arrow): value})

    return expression.mapped(of_term)
