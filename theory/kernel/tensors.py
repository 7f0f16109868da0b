"""Scalars of the dimension-free calculus as terms: inner products, sums over tokens, attention weights.

``Tensor(e)`` is the number that the expression ``e`` has at a state; ``Tensor(e, t)`` at time ``t`` of a trajectory.  ``Rate(e)``
is its derivative along a flow, or its increment under a map.  Two expressions that have one normal form (with nothing assumed)
are one term.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import sympy as sp

from eigentoken.theory.calculus import Assumptions, Expression, Index, normal_form, substitute, vector
from eigentoken.theory.calculus.atoms import Base, Exp, Letter, Norm, SumExp
from eigentoken.theory.calculus.expressions import Monomial, frozen, thawed
from eigentoken.theory.calculus.latex import expression_latex

__all__ = ["STATE", "AtTime", "Rate", "Tensor", "VectorLetter", "bases_of", "is_defined", "matrices_of"]

#: The letter of the state.
STATE = "x"

_NOTHING = Assumptions()
_DEFINED = re.compile(r"y\d*")


def is_defined(name: str) -> bool:
    """``y, y2, ...`` are the vectors that the equation of a map introduces: functions of the state, no letters."""
    return _DEFINED.fullmatch(name) is not None


class VectorLetter(NamedTuple):
    """A letter for a vector, or for a family of vectors with one member for each token: the state ``x`` is one."""

    name: str


class AtTime(NamedTuple):
    """What a state letter is replaced by along a trajectory: the state at this time."""

    time: sp.Expr


class Tensor(sp.AtomicExpr):  # type: ignore[misc]
    """The value of a scalar expression, at a state or at a time."""

    is_real = True
    is_commutative = True
    __slots__ = ("key", "time")
    key: tuple[tuple[Monomial, sp.Expr], ...]
    time: sp.Expr | None

    def __new__(cls, expression: Expression, time: Any = None) -> Tensor:
        if expression.is_vector:
            raise TypeError(f"a term must be a scalar, got the vector {expression!r}: take an inner product")
        made: Tensor = sp.AtomicExpr.__new__(cls)
        made.key = frozen(normal_form(expression, _NOTHING))
        made.time = None if time is None else sp.sympify(time)
        return made

    @property
    def expression(self) -> Expression:
        return thawed(self.key)

    def _hashable_content(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.key, self.time)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.expression, self.time)

    @property
    def free_symbols(self) -> set[sp.Basic]:
        """Scalar letters, in the coefficients and in the time."""
        found = set().union(*(_coefficients(self.key))) if self.key else set()
        return found | (self.time.free_symbols if self.time is not None else set())

    def letters(self) -> set[Any]:
        """Every free letter: scalars, indices of tokens, vectors, matrices (by name)."""
        indices = {index for index in self.expression.free_indices if index.name != "*"}
        names = {base.name for base in bases_of(self.key)}
        if any(map(is_defined, names)) or norms_of(self.key):
            names = {name for name in names if not is_defined(name)} | {STATE}
        return {*self.free_symbols, *indices, *map(VectorLetter, names), *matrices_of(self.key)}

    def put(self, table: Mapping[Any, Any]) -> Tensor:
        """The term with letters replaced, all at once: scalars, indices, vectors, and a state by the state at a time."""
        expression = self.expression
        pairs = [(old, new) for old, new in table.items() if isinstance(old, Index)]
        expression = expression.at(*pairs) if pairs else expression
        families = {old.name: new for old, new in table.items() if isinstance(old, VectorLetter)}
        moments = {name: new for name, new in families.items() if isinstance(new, AtTime)}
        vectors = {name: _member(new) for name, new in families.items() if not isinstance(new, AtTime)}
        if vectors:
            expression = substitute(expression, vectors)
        scalars = {old: new for old, new in table.items() if isinstance(old, sp.Symbol)}
        expression = (
            Expression({m: c.xreplace(scalars) for m, c in expression.terms.items()}) if scalars else expression
        )
        time = self.time if self.time is None or not scalars else self.time.xreplace(scalars)
        for name, moment in moments.items():
            if VectorLetter(name) in self.letters():
                if time is not None:
                    raise ValueError(f"{self} is taken at time {time} already")
                time = moment.time
        return type(self)(expression, time)

    def _latex(self, printer: Any) -> str:
        text = expression_latex(self.expression, weights=True)
        return text if self.time is None else rf"{text}\big|_{{{printer._print(self.time)}}}"

    def _sympystr(self, printer: Any) -> str:
        at = "" if self.time is None else f", {self.time}"
        return f"{type(self).__name__}({self.expression!r}{at})"


class Rate(Tensor):
    """The derivative of the expression along the flow, or its increment under one step of the map."""

    def _latex(self, printer: Any) -> str:
        text = expression_latex(self.expression, weights=True)
        return rf"\Delta\bigl[{text}\bigr]" if self.time is None else rf"\Delta\bigl[{text}\bigr]({self.time})"


def _member(new: Any) -> Any:
    """How the members of a family are replaced: by another letter, or by an expression in the slot index."""
    if isinstance(new, VectorLetter):
        return lambda *indices: vector(new.name, *indices)
    if isinstance(new, Expression):
        if not new.is_vector and new.terms:
            raise TypeError(f"a vector is replaced by a vector, got {new!r}")
        return lambda *indices: _slot(new, indices)
    raise TypeError(f"a vector is replaced by a vector, a family or a time, got {new!r}")


def _slot(family: Expression, indices: tuple[Index, ...]) -> Expression:
    from eigentoken.theory.calculus import instance

    return instance(family, *indices)


def _coefficients(terms: Any) -> list[set[sp.Basic]]:
    found = []
    for monomial, value in terms:
        found.append(set(sp.sympify(value).free_symbols))
        for atom, _ in monomial.factors:
            if isinstance(atom, Exp | SumExp):
                found += _coefficients(atom.exponent)
    return found


def bases_of(thing: Any) -> set[Base]:
    """Every vector that occurs."""
    if isinstance(thing, Base):
        return {thing}
    return set().union(*(bases_of(part) for part in thing)) if isinstance(thing, tuple) and thing else set()


def norms_of(thing: Any) -> set[Norm]:
    """Every norm ``r_i`` that occurs: a function of the state."""
    if isinstance(thing, Norm):
        return {thing}
    return set().union(*(norms_of(part) for part in thing)) if isinstance(thing, tuple) and thing else set()


def matrices_of(thing: Any) -> set[str]:
    """The names of the matrices that occur."""
    if isinstance(thing, Letter):
        return {thing.name}
    return set().union(*(matrices_of(part) for part in thing)) if isinstance(thing, tuple) and thing else set()
