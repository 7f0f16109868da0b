"""Sign conditions on FLINT polynomials as formulas for cvc5, and what the terms of sympy are before they become polynomials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import lcm
from typing import Any

import sympy as sp

__all__ = [
    "SIGNS",
    "Formula",
    "all_of",
    "any_of",
    "common_exponents",
    "compared",
    "different_truth",
    "homogeneous",
    "known_nonzero",
    "not_",
    "radical",
    "root_of",
    "same_truth",
    "truth",
]

Formula = Callable[[Any], Any]
"A condition before the solver is chosen: given the table of solver variables it returns the solver's term."

SIGNS = {
    sp.StrictGreaterThan: ">",
    sp.GreaterThan: ">=",
    sp.StrictLessThan: "<",
    sp.LessThan: "<=",
    sp.Equality: "=",
    sp.Unequality: "!=",
}


def all_of(parts: Sequence[Formula]) -> Formula:
    return lambda smt: smt.And(smt.BoolVal(True), smt.BoolVal(True), *(part(smt) for part in parts))


def any_of(*parts: Formula) -> Formula:
    return lambda smt: smt.Or(smt.BoolVal(False), smt.BoolVal(False), *(part(smt) for part in parts))


def not_(part: Formula) -> Formula:
    return lambda smt: smt.Not(part(smt))


def same_truth(one: Formula, two: Formula) -> Formula:
    return lambda smt: one(smt) == two(smt)


def common_exponents(statements: Sequence[Any]) -> dict[Any, tuple[Any, int]]:
    """For each exponential one with an exponent that is a part of its own, and of all exponents that are multiples of it."""
    found = sorted(set().union(*(each.atoms(sp.exp) for each in statements)), key=sp.default_sort_key)
    groups: list[list[tuple[Any, Any]]] = []
    for node in found:
        for group in groups:
            ratio = sp.cancel(node.args[0] / group[0][0].args[0])
            if ratio.is_Rational:
                group.append((node, ratio))
                break
        else:
            groups.append([(node, sp.Integer(1))])
    table: dict[Any, tuple[Any, int]] = {}
    for group in groups:
        parts = lcm(*(int(ratio.q) for _, ratio in group))
        base = sp.exp(group[0][0].args[0] / parts)
        table |= {base: (base, 1), **{node: (base, int(ratio * parts)) for node, ratio in group}}
    return table


def known_nonzero(given: Any) -> set[Any]:
    """The letter that a relation with a number says is not zero."""
    if not given.is_Relational or isinstance(given, sp.Eq):
        return set()
    if isinstance(given, sp.Ne):
        letters = [each for each in given.args if each.is_Symbol]
        return set(letters) if len(letters) == 1 and sp.Integer(0) in given.args else set()
    larger, smaller, strict = given.gts, given.lts, isinstance(given, sp.Gt | sp.Lt)
    if larger.is_Symbol and smaller.is_Rational:
        return {larger} if smaller > 0 or (strict and smaller == 0) else set()
    if smaller.is_Symbol and larger.is_Rational:
        return {smaller} if larger < 0 or (strict and larger == 0) else set()
    return set()


def homogeneous(polynomial: Any, place: int, value: tuple[Any, Any]) -> Any:
    """The polynomial with ``top / bottom`` for a letter, times the power of the bottom that clears it."""
    top, bottom = value
    degree = polynomial.degrees()[place]
    context = polynomial.context()
    parts: dict[int, dict[Any, Any]] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        rest = tuple(0 if other == place else each for other, each in enumerate(exponents))
        parts.setdefault(int(exponents[place]), {})[rest] = coefficient
    total = context.constant(0)
    for power, part in parts.items():
        total = total + context.from_dict(part) * top**power * bottom ** int(degree - power)
    return total


def root_of(node: Any) -> Any:
    """``b^(p/q)`` is a power of ``b^(1/q)``."""
    if not node.exp.is_Rational:
        raise ValueError(f"{node} is not algebraic: replace it by a symbol with bounds")
    return sp.Pow(node.base, sp.Rational(1, node.exp.q), evaluate=False)


def radical(factors: Iterable[tuple[Any, int]], product: Any) -> Any:
    """The product of the factors with their exponents reduced to 1 or 2, the parity kept."""
    for factor, power in factors:
        product = product * factor ** (1 if power % 2 else 2)
    return product


def truth(value: bool) -> Formula:
    return lambda smt: smt.BoolVal(value)


def different_truth(one: Formula, two: Formula) -> Formula:
    return lambda smt: one(smt) != two(smt)


def compared(sign: str, polynomial: Any) -> Formula:
    return lambda smt: _compare(sign, _term(polynomial, smt), smt)


def _term(polynomial: Any, smt: Any) -> Any:
    """A FLINT polynomial as a cvc5 term."""
    total = smt.RealVal(0)
    for exponents, coefficient in polynomial.to_dict().items():
        product = smt.RealVal(f"{coefficient.p}/{coefficient.q}")
        for index, power in enumerate(exponents):
            for _ in range(int(power)):
                product = product * smt.Real(f"g{index}")
        total = total + product
    return total


def _compare(sign: str, term: Any, smt: Any) -> Any:
    zero = smt.RealVal(0)
    return {
        ">": lambda: term > zero,
        ">=": lambda: term >= zero,
        "<": lambda: term < zero,
        "<=": lambda: term <= zero,
        "=": lambda: term == zero,
        "!=": lambda: term != zero,
    }[sign]()
