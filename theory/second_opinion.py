"""Second opinions: the same scalar questions, put to arithmetic that shares no code with the first checker.

Identities were proved by sympy's polynomials; here the two sides are evaluated as sparse rational functions by FLINT's
multivariate polynomials.  Inequalities were proved by z3; here they go to cvc5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from eigentoken.theory.verdicts import Verdict, fails, holds, undecided

__all__ = ["identity_by_flint", "inequality_by_cvc5"]


_AS_EXPONENTIALS = {
    sp.sinh: lambda u: (sp.exp(u) - sp.exp(-u)) / 2,
    sp.cosh: lambda u: (sp.exp(u) + sp.exp(-u)) / 2,
    sp.tanh: lambda u: (sp.exp(2 * u) - 1) / (sp.exp(2 * u) + 1),
}


class _Quotient:
    """A quotient of FLINT polynomials, with just the four operations."""

    def __init__(self, top: Any, bottom: Any) -> None:
        self.top, self.bottom = top, bottom

    def __add__(self, other: _Quotient) -> _Quotient:
        return _Quotient(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: _Quotient) -> _Quotient:
        return _Quotient(self.top * other.top, self.bottom * other.bottom)

    def power(self, exponent: int) -> _Quotient:
        if exponent < 0:
            return _Quotient(self.bottom ** (-exponent), self.top ** (-exponent))
        return _Quotient(self.top**exponent, self.bottom**exponent)


def identity_by_flint(left: Any, right: Any) -> Verdict:
    """``left - right`` as a quotient of FLINT polynomials; exponentials of one argument are one generator.

    Roots and other functions enter as opaque generators with the relation ``root^q = argument`` unused, so a difference
    that is not zero is undecided, never refuted, unless the expression is rational.

    >>> a, b = sp.symbols("a b")
    >>> identity_by_flint((a + b) ** 2, a**2 + 2 * a * b + b**2).word.value
    'holds'
    >>> identity_by_flint((a + b) ** 2, a**2 + b**2).word.value
    'fails'
    """
    difference = sp.sympify(left) - sp.sympify(right)
    hyperbolic = [each for each in sp.preorder_traversal(difference) if each.func in _AS_EXPONENTIALS]
    rewritten = difference
    for each in hyperbolic:
        rewritten = rewritten.xreplace({each: _AS_EXPONENTIALS[each.func](each.args[0])})
    names: dict[Any, str] = {}
    exact = _collect(rewritten, names)
    if not names:
        names[sp.Dummy()] = "unit"
    context = fmpq_mpoly_ctx.get(tuple(f"g{index}" for index in range(len(names))), Ordering.lex)
    generators = dict(zip(names, context.gens(), strict=True))
    one = context.constant(1)
    value = _quotient(rewritten, generators, one)
    if value.bottom == 0:
        return undecided("FLINT: a denominator is identically zero")
    if value.top == 0:
        return holds("FLINT multivariate polynomials: the numerator is zero")
    if exact:
        return fails("FLINT multivariate polynomials: the numerator is not zero")
    return undecided("FLINT: not zero over opaque generators")


def _exponent_parts(expression: Any) -> list[tuple[Any, int]]:
    """e^(sum of c_i u_i) as powers of the generators e^(u_i / q_i): a list of (generator key, power)."""
    parts = []
    for term in sp.Add.make_args(sp.expand(expression)):
        content, rest = term.as_coeff_Mul()
        if not content.is_Rational:
            content, rest = sp.Integer(1), term
        # half-integer multiples occur (s +- t with t = ln(p/q)/2): take e^(u/2) as the generator
        doubled = 2 * content
        if not doubled.is_Integer:
            parts.append((sp.exp(term), 1))
        else:
            parts.append((sp.exp(rest / 2), int(doubled)))
    return parts


def _collect(expression: Any, names: dict[Any, str]) -> bool:
    """Enter the generators of the expression; True when it is a rational function of independent generators."""
    if expression.is_Rational:
        return True
    if expression.is_Symbol:
        names.setdefault(expression, "")
        return True
    if expression.is_Add or expression.is_Mul:
        exact = [_collect(part, names) for part in expression.args]  # all of them: each enters its generators
        return all(exact)
    if isinstance(expression, sp.exp):
        for key, _ in _exponent_parts(expression.args[0]):
            names.setdefault(key, "")
        return False
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        return _collect(expression.base, names)
    if isinstance(expression, sp.Pow) and expression.exp.is_Rational:
        names.setdefault(sp.Pow(expression.base, sp.Rational(1, expression.exp.q)), "")
        return False
    names.setdefault(expression, "")
    return False


def _quotient(expression: Any, generators: dict[Any, Any], one: Any) -> _Quotient:
    if expression.is_Rational:
        return _Quotient(one * fmpq(int(expression.p), int(expression.q)), one)
    if expression in generators:
        return _Quotient(generators[expression], one)
    if expression.is_Add:
        total = _Quotient(one * 0, one)
        for part in expression.args:
            total = total + _quotient(part, generators, one)
        return total
    if expression.is_Mul:
        product = _Quotient(one, one)
        for part in expression.args:
            product = product * _quotient(part, generators, one)
        return product
    if isinstance(expression, sp.exp):
        product = _Quotient(one, one)
        for key, power in _exponent_parts(expression.args[0]):
            product = product * _Quotient(generators[key], one).power(power)
        return product
    base, exponent = expression.args
    if exponent.is_Integer:
        return _quotient(base, generators, one).power(int(exponent))
    root = sp.Pow(base, sp.Rational(1, exponent.q))
    return _Quotient(generators[root], one).power(int(exponent.p))


def inequality_by_cvc5(hypotheses: Sequence[Any], conclusion: Any, milliseconds: int = 20000) -> Verdict:
    """``hypotheses => conclusion`` over the reals by cvc5: the negation must be unsatisfiable.

    >>> x = sp.Symbol("x", real=True)
    >>> inequality_by_cvc5([x > 1], x**2 > x).word.value
    'holds'
    >>> inequality_by_cvc5([x > 0], x**2 > x).word.value
    'fails'
    """
    import cvc5.pythonic as smt

    symbols: dict[Any, Any] = {}
    solver = smt.SolverFor("QF_NRA")
    solver.setOption("tlimit-per", str(milliseconds))
    try:
        goals = [_smt(each, symbols, smt) for each in hypotheses]
        negated = smt.Not(_smt(conclusion, symbols, smt))
    except ValueError as problem:
        return undecided(f"cvc5: {problem}")
    for symbol, variable in list(symbols.items()):
        if symbol.is_positive:
            solver.add(variable > 0)
        elif symbol.is_nonnegative:
            solver.add(variable >= 0)
    solver.add(*goals, negated)
    answer = str(solver.check())
    if answer == "unsat":
        return holds("cvc5: the negation has no real solution")
    if answer == "sat" and not _divides((*hypotheses, conclusion)):
        return fails("cvc5: the negation has a real solution")
    if answer == "sat":
        return undecided("cvc5: the negation has a solution, but a division there may be by zero")
    return undecided("cvc5: unknown within the time limit")


def _divides(expressions: Sequence[Any]) -> bool:
    powers = [each for expression in expressions for each in sp.sympify(expression).atoms(sp.Pow)]
    return any(each.exp.is_negative for each in powers)


def _smt(expression: Any, symbols: dict[Any, Any], smt: Any) -> Any:
    """A sympy expression or relation as a cvc5 term (division is total there: only ``unsat`` is safe)."""
    if expression in (sp.true, sp.false):
        return smt.BoolVal(bool(expression))
    if expression.is_Rational:
        return smt.RealVal(int(expression.p)) / smt.RealVal(int(expression.q))
    if expression.is_Symbol:
        return symbols.setdefault(expression, smt.Real(f"v{len(symbols)}"))
    if isinstance(expression, sp.And | sp.Or | sp.Not | sp.Implies):
        parts = [_smt(part, symbols, smt) for part in expression.args]
        joined = {sp.And: smt.And, sp.Or: smt.Or, sp.Not: smt.Not, sp.Implies: smt.Implies}
        return joined[expression.func](*parts)
    if expression.is_Relational:
        return _relation(expression, symbols, smt)
    if expression.is_Add or expression.is_Mul:
        parts = [_smt(part, symbols, smt) for part in expression.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if expression.is_Add else total * part
        return total
    if isinstance(expression, sp.Abs):
        inside = _smt(expression.args[0], symbols, smt)
        return smt.If(inside >= 0, inside, -inside)
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        base = _smt(expression.base, symbols, smt)
        power = base
        for _ in range(abs(int(expression.exp)) - 1):
            power = power * base
        return power if expression.exp > 0 else smt.RealVal(1) / power
    raise ValueError(f"{expression.func.__name__} is outside real arithmetic: replace it by a symbol with bounds")


def _relation(relation: Any, symbols: dict[Any, Any], smt: Any) -> Any:
    left, right = (_smt(side, symbols, smt) for side in relation.args)
    return {
        sp.StrictGreaterThan: lambda: left > right,
        sp.GreaterThan: lambda: left >= right,
        sp.StrictLessThan: lambda: left < right,
        sp.LessThan: lambda: left <= right,
        sp.Equality: lambda: left == right,
        sp.Unequality: lambda: left != right,
    }[relation.func]()
