"""Is a number of a predicate exactly zero?  By algebra, where it is made of rationals, roots, exp and log."""

from __future__ import annotations

from typing import Any

import sympy as sp
from flint import fmpq

from eigentoken.theory.exactness.elements import ExactnessLimit
from eigentoken.theory.exactness.numbers import sign_of_expression

__all__ = ["exactly_zero"]

#: Parts of an expression that is still looked at: products of sums grow.
LARGEST = 600


class TooLarge(Exception):
    """The expression is too large, or not made of rationals."""


def exactly_zero(number: Any) -> bool | None:
    """True, False, or ``None`` where algebra does not tell."""
    try:
        expression, _ = _expression(number, {})
        return bool(sign_of_expression(expression) == 0)
    except (TooLarge, ExactnessLimit, ValueError, ArithmeticError, NotImplementedError):
        return None


def _expression(number: Any, known: dict[int, Any]) -> tuple[Any, int]:
    """The number as an expression of sympy, with its size."""
    if id(number) in known:
        found: tuple[Any, int] = known[id(number)]
        return found
    if isinstance(number.value, fmpq):
        return sp.Rational(int(number.value.p), int(number.value.q)), 1
    if number.made is None:
        raise TooLarge
    name, *parts = number.made
    if name == "sympy":
        return parts[0], 1
    made = [_expression(part, known) for part in parts]
    size = 1 + sum(each[1] for each in made)
    if size > LARGEST:
        raise TooLarge
    known[id(number)] = _TABLE[name](*(each[0] for each in made)), size
    return known[id(number)]


_TABLE: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "sqrt": sp.sqrt,
    "exp": sp.exp,
    "log": sp.log,
}
