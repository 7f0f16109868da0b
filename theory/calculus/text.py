"""Expressions as one line of plain text, for error messages and interactive use."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.calculus.atoms import Base, Delta, Dot, Exp, Index, Letter, MaskEntry, Norm, SumExp
from eigentoken.theory.calculus.expressions import Assumptions, Expression, Monomial, thawed
from eigentoken.theory.calculus.normal_form import least_spelling

__all__ = ["as_text"]


def as_text(expression: Expression) -> str:
    """The terms in a fixed order, bound indices named 1, 2, ..."""
    spelled = [(least_spelling(monomial, Assumptions()), value) for monomial, value in expression.terms.items()]
    return " + ".join(_term(monomial, value) for monomial, value in sorted(spelled, key=repr)) or "0"


def _term(monomial: Monomial, value: sp.Expr) -> str:
    parts = []
    if value != 1 or not (monomial.factors or monomial.arrow):
        parts.append(f"({value})" if not value.is_Integer else str(value))
    parts += ["sum_" + index.name for index in monomial.bound]
    parts += [_atom(each) + (f"^{power}" if power != 1 else "") for each, power in monomial.factors]
    if monomial.arrow is not None:
        letters, base = monomial.arrow
        parts.append(" ".join([*map(_letter, letters), _base(base)]))
    return " ".join(parts)


def _names(indices: tuple[Index, ...]) -> str:
    return "".join(f"_{index.name}" for index in indices)


def _letter(each: Letter) -> str:
    return each.name + _names(each.indices) + ("^T" if each.transposed else "")


def _base(base: Base) -> str:
    return base.name + _names(base.indices)


def _atom(atom: Any) -> str:
    if isinstance(atom, Dot):
        return "<" + "|".join([_base(atom.left), *map(_letter, atom.letters), _base(atom.right)]) + ">"
    if isinstance(atom, Exp):
        return f"exp({as_text(thawed(atom.exponent))})"
    if isinstance(atom, SumExp):
        masks = "".join(_atom(mask) + " " for mask in atom.masks)
        return f"(sum_{atom.bound.name} {masks}exp({as_text(thawed(atom.exponent))}))"
    if isinstance(atom, Delta):
        return f"delta_{atom.first.name}{atom.second.name}"
    if isinstance(atom, MaskEntry):
        return f"{atom.name}_{atom.query.name}{atom.key.name}"
    if isinstance(atom, Norm):
        return atom.name + _names(atom.indices)
    return str(atom.name) + _names(atom.indices)
