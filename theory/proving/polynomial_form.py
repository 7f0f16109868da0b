"""Real statements as polynomial statements: the translation that :mod:`eigentoken.theory.proving.real_arithmetic` decides.

Every atom ``lhs < rhs`` becomes a sign condition on one polynomial.  Quotients are cleared by the sign of their
denominators; roots, absolute values, maxima and exponentials become new variables with *sound* facts about them: each
fact is a theorem for the true function, so whatever follows from the facts follows for the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import combinations
from math import lcm
from operator import is_, mul

import sympy as sp
from sympy.polys.polyutils import _sort_gens

from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.proving.normal_form import Quotients

__all__ = ["Translation", "as_condition", "assumed_of", "replaced"]

_HYPERBOLIC = (sp.sinh, sp.cosh, sp.tanh, sp.coth, sp.sech, sp.csch)


def as_condition(statement: object) -> sp.Basic:
    """A sympy relation or Boolean, with equality read structurally refused: ``x == y`` of Python is not a relation."""
    if isinstance(statement, bool):
        return sp.true if statement else sp.false
    condition = sp.sympify(statement)
    if not isinstance(condition, sp.logic.boolalg.Boolean):
        raise TypeError(
            f"a statement must be a sympy relation or Boolean, got {condition!r}: write Eq(a, b), a < b, And(...)"
        )
    return condition


def replaced(statement: sp.Basic, table: Mapping[sp.Basic, sp.Basic]) -> sp.Basic:
    """The statement with parts of its terms replaced; nothing is evaluated: ``0 < 1 or 1/x > 0`` says that x is not zero.

    >>> x, y = sp.symbols("x y", positive=True)
    >>> replaced(sp.Gt(x, 0, evaluate=False), {x: y})
    y > 0
    """
    if isinstance(statement, sp.core.relational.Relational):
        return statement.func(*(side.xreplace(table) for side in statement.args), evaluate=False)
    if isinstance(statement, sp.And | sp.Or | sp.Not | sp.Implies | sp.Equivalent):
        return statement.func(*(replaced(part, table) for part in statement.args), evaluate=False)
    return statement.xreplace(table)


def assumed_of(symbol: sp.Symbol) -> list[sp.Basic]:
    """What the assumptions stored in a symbol say, as relations; integers keep their bounds and lose integrality."""
    facts: list[sp.Basic] = []
    if symbol.is_positive:
        facts.append(sp.Ge(symbol, 1, evaluate=False) if symbol.is_integer else sp.Gt(symbol, 0, evaluate=False))
    elif symbol.is_negative:
        facts.append(sp.Le(symbol, -1, evaluate=False) if symbol.is_integer else sp.Lt(symbol, 0, evaluate=False))
    elif symbol.is_nonnegative:
        facts.append(sp.Ge(symbol, 0, evaluate=False))
    elif symbol.is_nonpositive:
        facts.append(sp.Le(symbol, 0, evaluate=False))
    elif symbol.is_zero is False:
        facts.append(sp.Ne(symbol, 0, evaluate=False))
    return facts


@lru_cache(maxsize=16384)  # the conditions of a statement are translated for each of its steps
def _quotient(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Numerator and denominator without a common factor."""
    if _is_polynomial(expression):
        return sp.expand(expression), sp.Integer(1)
    if _is_rational(expression):
        letters = _sort_gens(expression.free_symbols)
        quotients = Quotients(expression, letters)
        with suppress(ZeroDivisionError):
            top, factors = quotients.quotient(expression)
            above, below = top.cancel(reduce(mul, (each**times for each, times in factors.items()), quotients.ring.one))
            return above.as_expr(*letters), below.as_expr(*letters)
    numerator, denominator = sp.fraction(sp.cancel(sp.together(expression)))
    return numerator, denominator


def _is_rational(node: sp.Expr) -> bool:
    """Made of letters and rational numbers by sums, products and whole powers."""
    if isinstance(node, sp.Add | sp.Mul):
        return all(map(_is_rational, node.args))
    if isinstance(node, sp.Pow):
        return bool(node.exp.is_Integer) and _is_rational(node.base)
    return bool(node.is_Symbol or node.is_Rational)


def _is_polynomial(node: sp.Expr) -> bool:
    """A sum or product of letters, rational numbers and their whole powers: there is nothing to cancel."""
    if isinstance(node, sp.Add | sp.Mul):
        return all(map(_is_polynomial, node.args))
    if isinstance(node, sp.Pow):
        return bool(node.exp.is_Integer and node.exp > 0) and _is_polynomial(node.base)
    return bool(node.is_Symbol or node.is_Rational)


@lru_cache(maxsize=16384)
def _sign(relation: type, numerator: sp.Expr, denominator: sp.Expr) -> sp.Basic:
    """``numerator/denominator R 0`` as a product of distinct factors: even powers only say "not zero"."""
    strict = relation in (sp.StrictGreaterThan, sp.StrictLessThan)
    odd: list[sp.Expr] = []
    nonzero: list[sp.Expr] = []
    zero_allowed: list[sp.Expr] = []
    constant = sp.Integer(1)
    for part, below in ((numerator, False), (denominator, True)):
        content, factors = _factors(part)
        constant *= content
        for factor, power in factors:
            if power % 2:
                odd.append(factor)
            elif below or strict:
                nonzero.append(factor)
            else:
                zero_allowed.append(factor)
    main = sp.And(_compared(relation, constant * sp.Mul(*odd)), *(_compared(sp.Ne, factor) for factor in nonzero))
    return sp.Or(main, *(_compared(sp.Eq, factor) for factor in zero_allowed))


def _factors(part: sp.Expr) -> tuple[sp.Expr, list[tuple[sp.Expr, int]]]:
    """The content and the irreducible factors with their powers."""
    if part.is_number:
        return part, []
    if not _is_polynomial(part):
        content, factors = sp.factor_list(part)
        return content, factors
    content, found = sp.Poly(part).factor_list()
    return content, [(factor.as_expr(), power) for factor, power in found]


def _compared(relation: type, polynomial: sp.Expr) -> sp.Basic:
    """``polynomial R 0``, decided here of numbers only: what the assumptions of letters say of it, the solver finds faster."""
    return sp.sympify(relation(polynomial, 0, evaluate=bool(polynomial.is_number)))


@dataclass
class Translation:
    """One translation: the table of new variables, the facts about them, and what must be defined.

    ``facts`` are polynomial Booleans; ``defined`` are the conditions under which what was translated so far has a
    meaning (denominators not zero, radicands not negative, logarithms of positive numbers).
    """

    facts: list[sp.Basic] = field(default_factory=list)
    defined: list[sp.Basic] = field(default_factory=list)
    _table: dict[sp.Basic, sp.Symbol] = field(default_factory=dict)
    _roots: dict[sp.Expr, tuple[int, sp.Symbol]] = field(default_factory=dict)
    _exponentials: list[tuple[sp.Expr, sp.Expr, sp.Expr]] = field(default_factory=list)
    _fresh: int = 0

    def condition(self, statement: sp.Basic) -> sp.Basic:
        """The statement with polynomial atoms only, over the old variables and the new ones."""
        if statement in (sp.true, sp.false):
            return statement
        if isinstance(statement, sp.core.relational.Relational):
            return self._relation(statement)
        if isinstance(statement, sp.Symbol):
            raise TypeError(f"the Boolean symbol {statement} has no real meaning: write a relation")
        return statement.func(*(self.condition(part) for part in statement.args))

    def _variable(self, stem: str) -> sp.Symbol:
        self._fresh += 1
        return sp.Symbol(f"_{stem}{self._fresh}", real=True)

    def _learn(self, *facts: sp.Basic) -> None:
        """Keep facts that hold wherever everything translated so far is defined."""
        outside = sp.Not(sp.And(*self.defined))
        self.facts += [sp.Or(outside, fact) for fact in facts]

    def _relation(self, relation: sp.core.relational.Relational) -> sp.Basic:
        left, right = self.expressions(*relation.args)  # each has a value, also where they have a part in common
        numerator, denominator = _quotient(left - right)
        self._require_nonzero(denominator)
        if isinstance(relation, (sp.Eq, sp.Ne)):
            return _compared(relation.func, numerator)
        return _sign(relation.func, numerator, denominator)

    def _require_nonzero(self, denominator: sp.Expr) -> None:
        if not denominator.is_number:
            self.defined.append(_compared(sp.Ne, denominator))

    def expressions(self, *expressions: sp.Expr) -> list[sp.Expr]:
        """The expressions with every non-rational part replaced by its new variable."""
        read = [each.rewrite(sp.exp) if each.has(*_HYPERBOLIC) else each for each in map(sp.sympify, expressions)]
        self._declare_exponents(*read)
        return [self._walk(each) for each in read]

    def _walk(self, node: sp.Expr) -> sp.Expr:
        if node.is_Symbol or node.is_Rational:
            return node
        if node.is_Float:
            raise TypeError(f"{node} is a rounded number: write it as an exact Rational")
        if isinstance(node, (sp.Add, sp.Mul)):
            parts = [self._walk(part) for part in node.args]
            return node if all(map(is_, parts, node.args)) else node.func(*parts)
        if isinstance(node, sp.exp):
            return self._exponential(node.args[0])
        if isinstance(node, sp.Pow):
            return self._power(node)
        if node not in self._table:
            self._introduce(node)
        return self._table[node]

    def _power(self, node: sp.Pow) -> sp.Expr:
        base, exponent = node.args
        if base is sp.E:
            return self._exponential(exponent)
        inner = self._walk(base)
        if exponent.is_Integer:
            if exponent.is_negative:
                self._require_nonzero(_quotient(inner)[0])
            return inner**exponent
        if not exponent.is_Rational:
            raise TypeError(f"{node} is not algebraic: write it with exp and log of one variable")
        root_key = sp.Pow(base, sp.Rational(1, exponent.q), evaluate=False)
        if root_key not in self._table:
            root = self._variable("root")
            self._table[root_key] = root
            numerator, denominator = _quotient(inner)
            self._require_nonzero(denominator)
            self.defined.append(_sign(sp.GreaterThan, numerator, denominator))
            self._learn(sp.Ge(root, 0), _compared(sp.Eq, denominator * root**exponent.q - numerator))
        if exponent.is_negative:
            self._require_nonzero(self._table[root_key])
        return self._table[root_key] ** exponent.p

    def _introduce(self, node: sp.Expr) -> None:
        variable = self._variable(node.func.__name__.lower())
        if node.is_number and not node.args:
            self._constant(node, variable)
        elif isinstance(node, sp.Abs):
            inner = self._walk(node.args[0])
            self._learn(sp.Ge(variable, 0), self._one_of(variable, [inner, -inner]))
        elif isinstance(node, (sp.Max, sp.Min)):
            parts = [self._walk(part) for part in node.args]
            bound = sp.GreaterThan if isinstance(node, sp.Max) else sp.LessThan
            self._learn(*(self._fact(bound, variable, part) for part in parts), self._one_of(variable, parts))
        elif isinstance(node, sp.log):
            inner = self._walk(node.args[0])
            self.defined.append(self._fact(sp.StrictGreaterThan, inner, sp.Integer(0)))
            self._exponential_facts(node, variable, inner)
        elif isinstance(node, (sp.sin, sp.cos)):
            sine, cosine = self._variable("sin"), self._variable("cos")
            self._table[sp.sin(node.args[0])] = sine
            self._table[sp.cos(node.args[0])] = cosine
            self._learn(sp.Eq(sine**2 + cosine**2, 1))
            return
        elif isinstance(node, sp.Piecewise):
            self._cases(node, variable)
        elif not isinstance(node, sp.core.function.AppliedUndef):
            raise TypeError(f"{node} has no translation to real arithmetic: replace it by a symbol with stated facts")
        self._table[node] = variable

    def _cases(self, node: sp.Piecewise, variable: sp.Symbol) -> None:
        cases: list[sp.Basic] = []
        earlier: list[sp.Basic] = []
        for value, guard in node.args:
            here = self.condition(guard)
            cases.append(sp.And(*earlier, here, self._fact(sp.Eq, variable, self._walk(value))))
            earlier.append(sp.Not(here))
        self.defined.append(sp.Or(*(sp.Not(missed) for missed in earlier)))
        self._learn(sp.Or(*cases))

    def _constant(self, node: sp.Expr, variable: sp.Symbol) -> None:
        """A number such as pi or e: its 30-digit enclosure, which a ball confirms."""
        digits = sp.Rational(str(sp.N(node, 40)))
        slack = sp.Rational(1, 10**30)
        if sign(node - digits + slack) != 1 or sign(digits + slack - node) != 1:
            raise TypeError(f"{node} is not enclosed: replace it by a symbol with stated facts")
        self._learn(sp.Gt(variable, digits - slack), sp.Lt(variable, digits + slack))

    def _one_of(self, variable: sp.Symbol, values: Iterable[sp.Expr]) -> sp.Basic:
        return sp.Or(*(self._fact(sp.Eq, variable, value) for value in values))

    # -- exponentials ---------------------------------------------------------------------------------------------

    def _declare_exponents(self, *expressions: sp.Expr) -> None:
        """Choose, for each term c*u of an exponent (c rational), one variable for e^(u/N) that serves all of them."""
        denominators: dict[sp.Expr, int] = {}
        for node in set().union(*(each.atoms(sp.exp) for each in expressions)):
            for unit, share in _linear_parts(node.args[0]):
                denominators[unit] = lcm(denominators.get(unit, 1), int(share.q))
        for unit, q in denominators.items():
            known = self._roots.get(unit)
            if known is None:
                variable = self._variable("exp")
                self._roots[unit] = (q, variable)
                self._exponential_facts(unit / q, self._walk(unit) / q, variable)
                if unit == 1:
                    self._constant(sp.exp(sp.Rational(1, q)), variable)
            elif known[0] % q:
                raise TypeError(
                    f"exponents of {unit} with denominators {known[0]} and {q}: use one symbol for {unit}/{q}"
                )

    def _exponential(self, argument: sp.Expr) -> sp.Expr:
        product = sp.Integer(1)
        self._declare_exponents(sp.exp(argument, evaluate=False))
        for unit, share in _linear_parts(argument):
            q, root = self._roots[unit]
            product *= root ** int(share * q)
        self._exponential_facts(argument, self._walk(argument), product)
        return product

    def _exponential_facts(self, name: sp.Expr, argument: sp.Expr, value: sp.Expr) -> None:
        """``v = e^u``: v > 0, v >= 1+u, v(1-u) <= 1 for u < 1, and v has the order of u."""
        if any(name == old for old, _, _ in self._exponentials):
            return
        zero, one = sp.Integer(0), sp.Integer(1)
        self._learn(
            self._fact(sp.StrictGreaterThan, value, zero),
            self._fact(sp.GreaterThan, value, one + argument),
            sp.Or(self._fact(sp.GreaterThan, argument, one), self._fact(sp.LessThan, value * (one - argument), one)),
            self._same_order(argument, zero, value, one),
            *(self._same_order(argument, other, value, of_other) for _, other, of_other in self._exponentials),
        )
        self._exponentials.append((name, argument, value))

    def _fact(self, relation: type, lhs: sp.Expr, rhs: sp.Expr) -> sp.Basic:
        """``lhs R rhs`` between rational expressions that are known to be defined."""
        numerator, denominator = _quotient(lhs - rhs)
        if relation is sp.Eq:
            return _compared(sp.Eq, numerator)
        return _sign(relation, numerator, denominator)

    def _same_order(self, u1: sp.Expr, u2: sp.Expr, v1: sp.Expr, v2: sp.Expr) -> sp.Basic:
        return sp.Or(
            *(
                sp.And(self._fact(relation, u1, u2), self._fact(relation, v1, v2))
                for relation in (sp.StrictGreaterThan, sp.StrictLessThan, sp.Eq)
            )
        )


def _linear_parts(argument: sp.Expr) -> list[tuple[sp.Expr, sp.Rational]]:
    """``argument = sum share * unit`` with rational shares; the units of like terms are the same expression."""
    parts = []
    for term in sp.Add.make_args(sp.expand(argument)):
        share, unit = term.as_coeff_Mul(rational=True)
        parts.append((unit, share))
    return parts


def free_symbols(statements: Iterable[sp.Basic]) -> list[sp.Symbol]:
    """All symbols of the statements, by name."""
    found: set[sp.Symbol] = reduce(set.union, (set(statement.free_symbols) for statement in statements), set())
    return sorted(found, key=lambda symbol: str(symbol.name))


def clashing_names(symbols: Iterable[sp.Symbol]) -> list[str]:
    """Names carried by two different symbols (other assumptions): they would be confused in the solver."""
    return sorted({a.name for a, b in combinations(list(symbols), 2) if a.name == b.name})
