"""Systems run on tokens with symbolic n and d, their derivatives along a direction, and both at points of equal tokens.

``d<a|W|b> = <da|W|b> + <a|W|db>``, ``d exp(s) = exp(s) ds``, ``d Z_i = sum_j exp(s_ij) ds_ij`` and
``d r_i = <y_i|W|dy_i> / r_i``: nothing else is needed for attention, normalization and every potential of the papers.

A state is a family of vectors written in the slot index; ``system.advance(CalculusAlgebra(), ...)`` returns the family of
next states or velocities as an expression, which :func:`differentiate` takes.

At consensus (one group of equal tokens), bipartite consensus (two) and antipodal points token i of group g sits at ``c_g
v``. Sums over tokens split into sums over the groups, attention weights become numbers, and what is left of a linearization
acts on the perturbations and their group means.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.atoms import (
    Base,
    Dot,
    Exp,
    Index,
    Letter,
    Letters,
    MaskEntry,
    Named,
    Norm,
    SumExp,
    map_indices,
)
from eigentoken.theory.calculus.expressions import (
    DIMENSION,
    TOKENS,
    Assumptions,
    Expression,
    Monomial,
    dot,
    exponential,
    factor,
    frozen,
    one,
    opened,
    row_sum,
    thawed,
    vector,
    zero,
)
from eigentoken.theory.calculus.normal_form import normal_form
from eigentoken.theory.systems.algebra import MaskValue, Number, ParameterValue, SixOperations

__all__ = [
    "COLUMN",
    "HEAD",
    "SLOT",
    "CalculusAlgebra",
    "Direction",
    "Group",
    "GroupPoint",
    "differentiate",
    "direction",
    "expand_definitions",
    "instance",
    "substitute",
    "with_norms",
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
