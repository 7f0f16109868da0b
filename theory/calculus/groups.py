"""Points where the tokens fall into groups: consensus (one group), bipartite consensus (two), antipodal points.

Token i of group g sits at ``c_g v``.  Sums over tokens split into sums over the groups, attention weights become
numbers, and what is left of a linearization acts on the perturbations and their group means.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.atoms import Base, Dot, Exp, Index, Named, Norm, SumExp, map_indices
from eigentoken.theory.calculus.derivative import SLOT, expand_definitions
from eigentoken.theory.calculus.expressions import (
    Assumptions,
    Expression,
    Monomial,
    factor,
    frozen,
    thawed,
    vector,
    zero,
)
from eigentoken.theory.calculus.normal_form import normal_form

__all__ = ["Group", "GroupPoint", "with_norms"]

NORMALIZER = "Z:"


@dataclass(frozen=True)
class Group:
    """``size`` tokens at ``sign * v``."""

    kind: str
    size: sp.Expr
    sign: int


@dataclass(frozen=True)
class GroupPoint:
    """Groups of equal tokens on the line through ``at``; ``assumptions`` holds what is known of that vector.

    With two groups the weights are written by their balance b: a token of group g puts ``(1+b)/2`` on its own group and
    ``(1-b)/2`` on the other, with ``b = balances[g, score matrix]``.  For scores ``s = at^T M at`` this is the change of
    variables ``exp(2s) = (1+b)/(1-b) * (other size)/(own size)``.  ``heights[y, g] = m`` says that the defined vector
    ``y_i`` is ``m`` times the token in group g, so that its definition need not be written out.
    """

    groups: tuple[Group, ...]
    assumptions: Assumptions
    family: str = "x"
    at: str = "v"
    balances: Mapping[tuple[str, str], sp.Expr] = field(default_factory=dict)
    heights: Mapping[tuple[str, str], sp.Expr] = field(default_factory=dict)

    def value(self, expression: Expression, group: Group) -> Expression:
        """The expression, written in the slot index, for a token of the group; definitions are expanded."""
        expanded = expression if self.heights else expand_definitions(expression, self.assumptions)
        here = expanded.at((SLOT, Index(group.kind, "i")))
        value = normal_form(here.mapped(self._substituted), self.assumptions)
        if len(self.groups) == 1:
            return value
        return normal_form(
            value.mapped(lambda monomial, number: self._weighted(monomial, number, group)), self.assumptions
        )

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
            letters, base = monomial.arrow
            sign, moved = self._base(base)
            product = product * vector(moved.name, *moved.indices).applied(letters) * sign
        return product.summed(*monomial.bound) if monomial.bound else product

    def _base(self, base: Base) -> tuple[sp.Expr, Base]:
        kind = base.indices[0].kind if base.indices else ""
        height = sp.Integer(1) if base.name == self.family else self.heights.get((base.name, kind))
        if height is None:
            return sp.Integer(1), base
        return height * next(group.sign for group in self.groups if group.kind == kind), Base(self.at)

    def _atom(self, atom: Any, power: int) -> Expression:
        if isinstance(atom, Dot):
            (a, left), (b, right) = self._base(atom.left), self._base(atom.right)
            return factor(Dot(left, atom.letters, right), power) * (a * b) ** power
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
        if len(self.groups) > 1:
            return factor(Named(NORMALIZER + _score_of(atom), ()), power)
        inner = Index(self.groups[0].kind, atom.bound.name)
        exponent, masks = map_indices((atom.exponent, atom.masks), {atom.bound: inner})
        return factor(SumExp(inner, frozen(self._exponent(exponent)), masks), power)

    def _weighted(self, monomial: Monomial, value: sp.Expr, group: Group) -> Expression:
        """``exp(k s) / Z^j`` as shares: (j+k)/2 factors of the own group and (j-k)/2 of the other."""
        (other,) = [each for each in self.groups if each != group]
        depth: dict[str, int] = {}
        lean: dict[str, sp.Expr] = {}
        kept = []
        for atom, power in monomial.factors:
            if isinstance(atom, Named) and atom.name.startswith(NORMALIZER):
                depth[atom.name.removeprefix(NORMALIZER)] = -power
            elif isinstance(atom, Exp):
                for inner, number in atom.exponent:
                    ((dot_atom, _),) = inner.factors
                    lean[dot_atom.letters[0].name] = number * power
            else:
                kept.append((atom, power))
        for score in sorted(set(depth) | set(lean)):
            j, k = depth.get(score, 0), lean.get(score, sp.Integer(0))
            b = self.balances[group.kind, score]
            value = value * ((1 + b) / (2 * group.size)) ** sp.Rational(j + k, 2)
            value = value * ((1 - b) / (2 * other.size)) ** sp.Rational(j - k, 2)
        return Expression({Monomial(monomial.bound, tuple(kept), monomial.arrow): value})


def _score_of(atom: SumExp) -> str:
    """The score matrix of a row of attention without mask."""
    if not atom.masks and len(atom.exponent) == 1:
        ((monomial, value),) = atom.exponent
        if value == 1 and len(monomial.factors) == 1 and isinstance(monomial.factors[0][0], Dot):
            letters = monomial.factors[0][0].letters
            if len(letters) == 1 and not letters[0].indices:
                return str(letters[0].name)
    raise ValueError("two groups need full attention with one score matrix for each head")


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
