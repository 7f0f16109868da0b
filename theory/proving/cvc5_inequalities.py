"""The second opinion on inequalities: the same question, translated by FLINT's polynomials and decided by cvc5.

Nothing here is shared with :mod:`eigentoken.theory.proving.polynomial_form` and z3.  Each side of a relation becomes a quotient
of FLINT polynomials; roots, absolute values, maxima and exponentials become new variables with facts that are theorems
for the true functions; an atom becomes a sign condition on a product of coprime factors.  *unsat* of the negation says
``holds``.  A model says ``fails`` only where the question was rational in its symbols and exact arithmetic on the
model's rational numbers confirms it; everything else is ``undecided``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["inequality_by_cvc5"]

#: Deterministic budgets of cvc5, tried in order: (options, resource units); a unit is far below a millisecond.
ATTEMPTS: tuple[tuple[dict[str, str], int], ...] = (
    ({}, 400_000),
    ({"nl-cov": "false", "nl-ext": "full", "nl-ext-tplanes": "true"}, 400_000),
)
#: A limit of the wall clock as well, for resource steps that are long.
SECONDS = 20

Formula = Callable[[Any], Any]
"A condition before the solver is chosen: given the table of solver variables it returns the solver's term."


def inequality_by_cvc5(hypotheses: Sequence[sp.Basic], conclusion: sp.Basic, seconds: int = SECONDS) -> Verdict:
    """``hypotheses => conclusion`` over the reals by cvc5: the negation must be unsatisfiable.

    Hypotheses are taken to be defined; that the conclusion is defined is part of the question.

    >>> x = sp.Symbol("x", real=True)
    >>> inequality_by_cvc5([x > 1], x**2 > x).answer.value
    'holds'
    >>> inequality_by_cvc5([x > 0], x**2 > x).answer.value
    'fails'
    >>> inequality_by_cvc5([x > 0], sp.Max(x, 1 / x) >= sp.sqrt(x)).answer.value
    'holds'
    """
    given = [sp.sympify(each) for each in hypotheses]
    goal = sp.sympify(conclusion)
    bare = _without_assumptions([*given, goal])
    assumed = [fact for symbol in sorted(bare, key=str) for fact in _assumed(symbol, bare[symbol])]
    try:
        question = _Question([each.xreplace(bare) for each in given] + assumed, goal.xreplace(bare))
    except ValueError as problem:
        return undecided(f"cvc5: {problem}")
    for options, budget in ATTEMPTS:
        answer, model = question.ask(options, budget, seconds)
        if answer == "unsat":
            return holds("cvc5: the negation has no real solution")
        if answer == "sat":
            whole = {bare[symbol] for symbol in bare if symbol.is_integer}
            return _of_model(question, model, whole, [each.xreplace(bare) for each in given] + assumed)
    return undecided("cvc5: unknown within its limits")


def _without_assumptions(expressions: Iterable[Any]) -> dict[Any, Any]:
    """The symbols without their stored assumptions, which become hypotheses (sympy would evaluate them away)."""
    found = set().union(*(each.free_symbols for each in expressions))
    return {each: sp.Symbol(each.name, real=True) for each in found}


def _assumed(symbol: Any, bare: Any) -> list[Any]:
    least = 1 if symbol.is_integer else 0
    if symbol.is_positive:
        return [sp.Ge(bare, 1) if least else sp.Gt(bare, 0)]
    if symbol.is_negative:
        return [sp.Le(bare, -1) if least else sp.Lt(bare, 0)]
    if symbol.is_nonnegative:
        return [sp.Ge(bare, 0)]
    if symbol.is_nonpositive:
        return [sp.Le(bare, 0)]
    return [sp.Ne(bare, 0)] if symbol.is_zero is False else []


def _of_model(question: _Question, model: dict[Any, Any], whole: set[Any], given: list[Any]) -> Verdict:
    """A model refutes only after substitution: all hypotheses true, the conclusion false, in rational numbers."""
    if question.opaque or set(model) != set(question.symbols):
        return undecided("cvc5: a model, but not one of rational numbers alone")
    if any(not model[symbol].is_Integer for symbol in whole):
        return undecided("cvc5: a model, but not with whole numbers where the symbols stand for them")
    try:
        confirmed = all(each.subs(model) == sp.true for each in given) and question.goal.subs(model) == sp.false
    except TypeError:  # sympy compares nothing with a quotient by zero
        confirmed = False
    if confirmed:
        shown = ", ".join(f"{symbol} = {value}" for symbol, value in model.items())
        return fails(f"cvc5: the negation has a real solution, {shown}")
    return undecided("cvc5: a model that exact substitution does not confirm (a denominator is zero there)")


class _Question:
    """``premises and not (conclusion and it is defined)``, over FLINT polynomials in one context."""

    def __init__(self, given: list[Any], goal: Any) -> None:
        self.goal = goal
        self.leaves: dict[Any, int] = {}
        self.opaque: dict[Any, Any] = {}
        for each in given:
            self._collect(each)
        earlier = list(self.opaque)
        self._collect(goal)
        names = tuple(f"g{index}" for index in range(max(1, len(self.leaves))))
        self.context = fmpq_mpoly_ctx.get(names, Ordering.degrevlex)
        self.one = self.context.constant(1)
        self.symbols = [each for each in self.leaves if each.is_Symbol]
        self._defined: list[Formula] = []
        premises = [self._condition(each) for each in given]
        premises += self._facts_of(earlier)
        premises += self._defined
        self._defined = []
        target = self._condition(goal)
        own = self._facts_of([each for each in self.opaque if each not in earlier])
        self._formulas = [*premises, *own, _not(_all([target, *self._defined]))]

    def _facts_of(self, nodes: Iterable[Any]) -> list[Formula]:
        """The facts of these opaque parts, and how exponentials among all of them are ordered."""
        found = list(nodes)
        known = [each for each in self.opaque if isinstance(each, sp.exp)]
        pairs = [(one, two) for two in found if isinstance(two, sp.exp) for one in known[: known.index(two)]]
        single = [fact for node in found for fact in self._guarded_facts(node)]
        return single + [self._ordered(one, two) for one, two in pairs]

    # -- what occurs ----------------------------------------------------------------------------------------------

    def _collect(self, node: Any) -> None:
        """Enter symbols and opaque parts as generators, inner ones first."""
        if node in (sp.true, sp.false) or node.is_Rational or node in self.leaves:
            return
        if node.is_Symbol:
            self.leaves[node] = len(self.leaves)
            return
        if isinstance(node, sp.Pow) and not node.exp.is_Integer:
            node = _root_of(node)
            if node in self.leaves:
                return
            self._collect(node.base)
        elif node.is_Add or node.is_Mul or isinstance(node, sp.Pow) or node.is_Boolean or node.is_Relational:
            for part in node.args:
                self._collect(part)
            return
        elif isinstance(node, sp.exp | sp.Abs | sp.Max | sp.Min):
            for part in node.args:
                self._collect(part)
        else:
            raise ValueError(f"{node.func.__name__} is outside real arithmetic: replace it by a symbol with bounds")
        self.leaves[node] = len(self.leaves)
        self.opaque[node] = node

    # -- quotients ------------------------------------------------------------------------------------------------

    def _fraction(self, node: Any) -> tuple[Any, Any]:
        """Numerator and denominator, coprime."""
        if node.is_Rational:
            return self.one * fmpq(int(node.p), int(node.q)), self.one
        if node in self.leaves:
            return self.context.gen(self.leaves[node]), self.one
        if node.is_Add or node.is_Mul:
            top, bottom = self._fraction(node.args[0])
            for part in node.args[1:]:
                up, down = self._fraction(part)
                top, bottom = (top * down + up * bottom, bottom * down) if node.is_Add else (top * up, bottom * down)
                top, bottom = self._coprime(top, bottom)
            return top, bottom
        base, exponent = node.args
        if not exponent.is_Integer:
            base, exponent = _root_of(node), exponent.p
        top, bottom = self._fraction(base)
        if exponent < 0:
            self._defined.append(self._sign("!=", top))
            return bottom ** -int(exponent), top ** -int(exponent)
        return top ** int(exponent), bottom ** int(exponent)

    def _coprime(self, top: Any, bottom: Any) -> tuple[Any, Any]:
        common = top.gcd(bottom)
        return (top, bottom) if common == 0 or common.is_one() else (top // common, bottom // common)

    # -- conditions -----------------------------------------------------------------------------------------------

    def _condition(self, node: Any) -> Formula:
        if node in (sp.true, sp.false):
            value = node is sp.true
            return lambda smt: smt.BoolVal(value)
        if node.is_Relational:
            top, bottom = self._fraction(node.lhs - node.rhs)
            return self._sign(_SIGNS[node.func], top, bottom)
        parts = [self._condition(part) for part in node.args]
        name = {sp.And: "And", sp.Or: "Or", sp.Not: "Not", sp.Implies: "Implies"}.get(node.func)
        if name is None and isinstance(node, sp.Equivalent) and len(parts) == 2:
            return _same(*parts)
        if name is None:
            raise ValueError(f"{node.func.__name__} has no translation: write And, Or, Not, Implies")
        return lambda smt: getattr(smt, name)(*(part(smt) for part in parts))

    def _sign(self, sign: str, top: Any, bottom: Any = None) -> Formula:
        """``top / bottom SIGN 0``: for an order, ``top * bottom SIGN 0`` with even powers of factors reduced to 2."""
        if sign in ("=", "!=") or bottom is None:
            product = _radical(top, self.one, 1)
        else:
            product = _radical(top, self.one, 2) * _radical(bottom, self.one, 2)
        return lambda smt: _compare(sign, _term(product, smt), smt)

    def _guarded_facts(self, node: Any) -> list[Formula]:
        """The facts of a part under the condition that the part is defined: elsewhere nothing is known of it."""
        outside, self._defined = self._defined, []
        facts = self._facts(node)
        inner = _all(self._defined)
        self._defined = outside + self._defined
        return [_any(_not(inner), fact) for fact in facts]

    def _facts(self, node: Any) -> list[Formula]:
        """Theorems about an opaque part, in terms of its own variable."""
        if isinstance(node, sp.Pow):
            root = self.context.gen(self.leaves[node])
            top, bottom = self._fraction(node.base)
            self._defined.append(self._sign(">=", top, bottom))
            return [self._sign(">=", root), self._sign("=", bottom * root ** int(node.exp.q) - top)]
        if isinstance(node, sp.exp):
            return self._exponential_facts(node)
        parts = [*node.args, -node.args[0]] if isinstance(node, sp.Abs) else list(node.args)
        bound = "<=" if isinstance(node, sp.Min) else ">="
        here = [self._fraction(node - part) for part in parts]
        equal = [self._sign("=", top) for top, _ in here]
        return [*(self._sign(bound, top, bottom) for top, bottom in here), _any(*equal)]

    def _exponential_facts(self, node: Any) -> list[Formula]:
        """``v = e^u``: v > 0, v >= 1 + u, and v is above, at or below 1 with the sign of u."""
        value = self.context.gen(self.leaves[node])
        tangent = self._fraction(node - 1 - node.args[0])
        return [self._sign(">", value), self._sign(">=", *tangent), self._ordered(sp.Integer(0), node)]

    def _ordered(self, one: Any, two: Any) -> Formula:
        """Exponentials are ordered as their arguments are (``one = 0`` stands for e^0 = 1)."""
        first, unit = (sp.Integer(0), sp.Integer(1)) if one == 0 else (one.args[0], one)
        arguments, values = self._fraction(first - two.args[0]), self._fraction(unit - two)
        return _all([_same(self._sign(sign, *arguments), self._sign(sign, *values)) for sign in ("<", ">", "=")])

    # -- the solver -----------------------------------------------------------------------------------------------

    def ask(self, options: dict[str, str], budget: int, seconds: int) -> tuple[str, dict[Any, Any]]:
        """The solver's answer, and for *sat* the rational values of the symbols (none where one is irrational)."""
        import cvc5.pythonic as smt

        solver = smt.SolverFor("QF_NRA")
        for name, value in {**options, "rlimit-per": str(budget), "tlimit-per": str(1000 * seconds)}.items():
            solver.setOption(name, value)
        solver.add(*(formula(smt) for formula in self._formulas))
        answer = str(solver.check())
        if answer != "sat":
            return answer, {}
        found = solver.model()
        model: dict[Any, Any] = {}
        for symbol in self.symbols:
            value = found[smt.Real(f"g{self.leaves[symbol]}")]
            if value is not None and smt.is_rational_value(value):
                model[symbol] = sp.Rational(str(value.as_fraction()))
        return answer, model


_SIGNS = {
    sp.StrictGreaterThan: ">",
    sp.GreaterThan: ">=",
    sp.StrictLessThan: "<",
    sp.LessThan: "<=",
    sp.Equality: "=",
    sp.Unequality: "!=",
}


def _all(parts: Sequence[Formula]) -> Formula:
    return lambda smt: smt.And(smt.BoolVal(True), smt.BoolVal(True), *(part(smt) for part in parts))


def _any(*parts: Formula) -> Formula:
    return lambda smt: smt.Or(*(part(smt) for part in parts))


def _not(part: Formula) -> Formula:
    return lambda smt: smt.Not(part(smt))


def _same(one: Formula, two: Formula) -> Formula:
    return lambda smt: one(smt) == two(smt)


def _root_of(node: Any) -> Any:
    """``b^(p/q)`` is a power of ``b^(1/q)``."""
    if not node.exp.is_Rational:
        raise ValueError(f"{node} is not algebraic: replace it by a symbol with bounds")
    return sp.Pow(node.base, sp.Rational(1, node.exp.q), evaluate=False)


def _radical(polynomial: Any, one: Any, keep: int) -> Any:
    """The polynomial with exponents of factors reduced: to 1, or (``keep = 2``) to 1 or 2 with the parity kept."""
    if polynomial == 0:
        return polynomial
    constant, factors = polynomial.factor()
    product = one * (1 if constant > 0 else -1)
    for factor, power in factors:
        product = product * factor ** (1 if keep == 1 or power % 2 else 2)
    return product


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
