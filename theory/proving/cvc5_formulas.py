"""Sign conditions on FLINT polynomials as formulas for cvc5, and what the terms of sympy are before they become polynomials.

Terms are made by cvc5's base interface: its pythonic one looks up the sort of each part of each sum again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import lcm
from typing import Any

import sympy as sp

__all__ = [
    "SIGNS",
    "Formula",
    "Terms",
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


class Terms:
    """The terms of one question: letters ``g0, g1, ...``, and each formula and polynomial once."""

    def __init__(self) -> None:
        import cvc5

        #: before cvc5 1.2 a solver makes its own terms, and no other solver reads them
        self.shared = hasattr(cvc5, "TermManager")
        self.manager = cvc5.TermManager() if self.shared else cvc5.Solver()
        self.kind = cvc5.Kind
        self.zero = self.manager.mkReal(0)
        self._real = self.manager.getRealSort()
        self._letters: dict[int, Any] = {}
        self._known: dict[Formula, Any] = {}

    def solver(self) -> Any:
        """A solver for these terms."""
        import cvc5

        return cvc5.Solver(self.manager) if self.shared else self.manager

    def __call__(self, formula: Formula) -> Any:
        """The term of a formula."""
        if formula not in self._known:
            self._known[formula] = formula(self)
        return self._known[formula]

    def make(self, kind: Any, parts: Sequence[Any]) -> Any:
        """A term of one part is that part."""
        return parts[0] if len(parts) == 1 else self.manager.mkTerm(kind, *parts)

    def letter(self, place: int) -> Any:
        if place not in self._letters:
            self._letters[place] = self.manager.mkConst(self._real, f"g{place}")
        return self._letters[place]

    def polynomial(self, polynomial: Any) -> Any:
        """A FLINT polynomial as a sum of products."""
        total = []
        for exponents, coefficient in polynomial.to_dict().items():
            product = [self.manager.mkReal(f"{coefficient.p}/{coefficient.q}")]
            for place, power in enumerate(exponents):
                product += [self.letter(place)] * int(power)
            total.append(self.make(self.kind.MULT, product))
        return self.make(self.kind.ADD, total) if total else self.zero


Formula = Callable[[Terms], Any]
"A condition before the solver is chosen: given the terms of a question it returns its own."

SIGNS = {
    sp.StrictGreaterThan: ">",
    sp.GreaterThan: ">=",
    sp.StrictLessThan: "<",
    sp.LessThan: "<=",
    sp.Equality: "=",
    sp.Unequality: "!=",
}


def all_of(parts: Sequence[Formula]) -> Formula:
    return lambda terms: terms.make(terms.kind.AND, [terms(part) for part in parts] or [terms.manager.mkTrue()])


def any_of(*parts: Formula) -> Formula:
    return lambda terms: terms.make(terms.kind.OR, [terms(part) for part in parts] or [terms.manager.mkFalse()])


def not_(part: Formula) -> Formula:
    return lambda terms: terms.manager.mkTerm(terms.kind.NOT, terms(part))


def same_truth(one: Formula, two: Formula) -> Formula:
    return lambda terms: terms.manager.mkTerm(terms.kind.EQUAL, terms(one), terms(two))


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
    return lambda terms: terms.manager.mkBoolean(value)


def different_truth(one: Formula, two: Formula) -> Formula:
    return not_(same_truth(one, two))


def compared(sign: str, polynomial: Any) -> Formula:
    def term(terms: Terms) -> Any:
        kinds = {">": "GT", ">=": "GEQ", "<": "LT", "<=": "LEQ", "=": "EQUAL", "!=": "EQUAL"}
        found = terms.manager.mkTerm(getattr(terms.kind, kinds[sign]), terms.polynomial(polynomial), terms.zero)
        return terms.manager.mkTerm(terms.kind.NOT, found) if sign == "!=" else found

    return term
