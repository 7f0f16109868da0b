"""The second opinion on inequalities: the same question, translated by FLINT's polynomials and decided by cvc5.

Nothing here is shared with :mod:`eigentoken.theory.proving.polynomial_form` and z3.  Each side of a relation becomes a quotient
of FLINT polynomials; roots, absolute values, maxima and exponentials become new variables with facts that are theorems
for the true functions (of polynomials, absolute values and maxima become cases; exponentials of multiples of one exponent are
powers of one variable); a letter that an equation gives by the others is replaced; an atom becomes sign conditions on
irreducible factors.  *unsat* of the negation says ``holds``: the parts of a conclusion are asked one after the other.  A model
says ``fails`` only where the question was rational in its symbols and exact arithmetic on the model's rational numbers confirms
it; everything else is ``undecided``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import lcm
from typing import Any, NamedTuple

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["inequality_by_cvc5"]

_LINEAR = {"nl-cov": "false", "nl-ext": "full", "nl-ext-tplanes": "true"}


class Attempt(NamedTuple):
    """Options of cvc5, a budget in its units (far below a millisecond), and whether it is told that squares are not negative."""

    options: Mapping[str, str]
    budget: int
    squares: bool = False


#: Tried in order: a short try of linear lemmas, cylindrical coverings (in the order in which variables come up), a long try.
ATTEMPTS = (Attempt(_LINEAR, 20_000), Attempt({}, 400_000), Attempt({}, 400_000, True), Attempt(_LINEAR, 400_000))
#: An order of a product of more factors than this is asked of the product itself; more cases than this are not made.
FACTORS, CASES = 8, 8
#: A limit of the wall clock as well, for resource steps that are long.
SECONDS = 20

Formula = Callable[[Any], Any]
"A condition before the solver is chosen: given the table of solver variables it returns the solver's term."


def inequality_by_cvc5(
    hypotheses: Sequence[sp.Basic],
    conclusion: sp.Basic,
    seconds: int = SECONDS,
    attempts: Sequence[Attempt] = ATTEMPTS,
) -> Verdict:
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
    read = [each.xreplace(bare) for each in given] + assumed
    try:
        question = _Question(read, goal.xreplace(bare))
    except ValueError as problem:
        return undecided(f"cvc5: {problem}")
    for attempt in attempts:
        answer, model = question.ask(attempt, seconds)
        if answer == "unsat":
            return holds("cvc5: the negation has no real solution")
        if answer == "sat":
            whole = {bare[symbol] for symbol in bare if symbol.is_integer}
            return _of_model(question, model, whole, read)
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
        self._exponents = _common_exponents([*given, goal])
        for each in given:
            self._collect(each)
        self._earlier = list(self.opaque)
        self._collect(goal)
        names = tuple(f"g{index}" for index in range(max(1, len(self.leaves))))
        self.context = fmpq_mpoly_ctx.get(names, Ordering.degrevlex)
        self.one = self.context.constant(1)
        self.symbols = [each for each in self.leaves if each.is_Symbol]
        self._values = list(self.context.gens())
        self._defined: dict[str, Formula] = {}
        self._taken: set[Any] = set()
        self._answered: set[int] = set()
        self.solved: list[tuple[int, Any]] = []
        given = [each for each in given if not self._solve(self._equation(each))]
        self._solve_roots()
        several = [each for each in self.opaque if isinstance(each, sp.Abs | sp.Max | sp.Min)]
        #: in each case, each part of the conclusion is refuted beside the premises and the parts before it
        self.questions = [
            [*known, *parts[:place], _not(part)]
            for case in self._cases(several, 1)
            for known, parts in [self._premises_and_parts(given, case)]
            for place, part in enumerate(parts)
        ]

    def _premises_and_parts(self, given: list[Any], case: list[Formula]) -> tuple[list[Formula], list[Formula]]:
        """What is known in a case, and what must follow: that the conclusion is defined, and its parts."""
        self._defined = {}
        premises = [*case, *(self._condition(each) for each in given)]
        premises += self._facts_of(self._earlier)
        premises += self._defined.values()
        before, self._defined = self._defined, {}
        goals = self.goal.args if isinstance(self.goal, sp.And) else (self.goal,)
        targets = [self._condition(each) for each in goals]
        premises += self._facts_of([each for each in self.opaque if each not in self._earlier])
        return premises, [*(each for key, each in self._defined.items() if key not in before), *targets]

    def _cases(self, nodes: list[Any], count: int) -> Iterator[list[Formula]]:
        """The cases of absolute values, maxima and minima of polynomials: which argument it is; each is then replaced."""
        if not nodes:
            yield []
            return
        node, *rest = nodes
        choices = self._arguments(node)
        if not choices or count * len(choices) > CASES:
            yield from self._cases(rest, count)
            return
        sign = "<=" if isinstance(node, sp.Min) else ">="
        values, place = self._values, self.leaves[node]
        self._taken.add(node)
        for chosen in choices:
            here = [self._sign(sign, chosen - other) for other in choices if other is not chosen]
            self._put(place, chosen)
            for case in self._cases(rest, count * len(choices)):
                yield [*here, *case]
            self._values = values
        self._taken.discard(node)

    def _arguments(self, node: Any) -> list[Any]:
        """The arguments (of an absolute value, with both signs), where all are polynomials in other letters."""
        found = [self._polynomial(part) for part in node.args]
        if any(each is None or each.degrees()[self.leaves[node]] for each in found):
            return []
        return [found[0], -found[0]] if isinstance(node, sp.Abs) else found

    def _polynomial(self, node: Any) -> Any:
        """The value of a term without a division; ``None`` of any other."""
        before, self._defined = self._defined, {}
        top, bottom = self._fraction(node)
        plain, self._defined = not self._defined, before
        return top / bottom.leading_coefficient() if plain and bottom.is_constant() else None

    def _put(self, place: int, value: Any) -> None:
        """A polynomial for a letter, everywhere."""
        images = [value if other == place else each for other, each in enumerate(self.context.gens())]
        self._values = [each.compose(*images, ctx=self.context) for each in self._values]

    def _solve(self, difference: Any) -> bool:
        """A polynomial that is zero and linear in a letter, with a number before it: the letter is replaced."""
        if difference is None:
            return False
        for symbol in sorted(self.symbols, key=str):
            place = self.leaves[symbol]
            slope = difference.derivative(place)
            if not slope.is_zero() and slope.is_constant():
                value = self.context.gen(place) - difference / slope.leading_coefficient()
                self._put(place, value)
                self.solved.append((place, value))
                return True
        return False

    def _equation(self, given: Any) -> Any:
        """What is zero by an equation between polynomials; ``None`` of anything else."""
        return self._polynomial(given.lhs - given.rhs) if isinstance(given, sp.Eq) else None

    def _solve_roots(self) -> None:
        """``r = b^(1/q)`` in a hypothesis is defined, so that ``b = r^q`` may give a letter of b."""
        for node in self._earlier:
            base = self._polynomial(node.base) if isinstance(node, sp.Pow) else None
            if base is not None:
                self._solve(self._values[self.leaves[node]] ** int(node.exp.q) - base)

    def _facts_of(self, nodes: Iterable[Any]) -> list[Formula]:
        """The facts of these opaque parts, and how exponentials among all of them are ordered."""
        found = [each for each in nodes if each not in self._taken]
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
            node = self._exponents[node][0] if isinstance(node, sp.exp) else node
            if node in self.leaves:
                return
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
            return self._values[self.leaves[node]], self.one
        if isinstance(node, sp.exp):  # a power of a positive number
            base, power = self._exponents[node]
            value = self._values[self.leaves[base]] ** abs(power)
            return (value, self.one) if power > 0 else (self.one, value)
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
            self._defined[f"!= {top}"] = self._sign("!=", top)
            return bottom ** -int(exponent), top ** -int(exponent)
        return top ** int(exponent), bottom ** int(exponent)

    def _coprime(self, top: Any, bottom: Any) -> tuple[Any, Any]:
        common = top.gcd(bottom)
        return (top, bottom) if common == 0 or common.is_one() else (top // common, bottom // common)

    # -- conditions -----------------------------------------------------------------------------------------------

    def _condition(self, node: Any) -> Formula:
        if node in (sp.true, sp.false):
            return _truth(node is sp.true)
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
        """``top / bottom SIGN 0``, by the signs of irreducible factors (where the bottom is zero, nothing is asked of it)."""
        if top.is_zero():
            return _truth(sign in ("=", "<=", ">="))
        constant, factors = top.factor()
        if sign in ("=", "!="):
            nothing = _any(*(_compared("=", each) for each, _ in factors))
            return nothing if sign == "=" else _not(nothing)
        if bottom is not None:
            below, others = bottom.factor()
            constant, factors = constant * below, [*factors, *others]
        zero = _any(*(_compared("=", each) for each, _ in factors))
        odd = [each for each, power in factors if power % 2]
        if len(odd) > FACTORS:
            return _compared(sign, _radical(factors, self.one * constant))
        negative = _truth(constant < 0)
        for each in odd:
            negative = _different(negative, _compared("<", each))
        below_zero = _all([_not(zero), negative])
        above_zero = _all([_not(zero), _not(negative)])
        return {"<": below_zero, ">": above_zero, "<=": _not(above_zero), ">=": _not(below_zero)}[sign]

    def _guarded_facts(self, node: Any) -> list[Formula]:
        """The facts of a part under the condition that the part is defined: elsewhere nothing is known of it."""
        outside, self._defined = self._defined, {}
        facts = self._facts(node)
        inner = _all(list(self._defined.values()))
        self._defined = {**outside, **self._defined}
        return [_any(_not(inner), fact) for fact in facts]

    def _facts(self, node: Any) -> list[Formula]:
        """Theorems about an opaque part, in terms of its own variable."""
        if isinstance(node, sp.Pow):
            root = self._values[self.leaves[node]]
            top, bottom = self._fraction(node.base)
            self._defined[f">= {top} / {bottom}"] = self._sign(">=", top, bottom)
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
        value = self._values[self.leaves[node]]
        tangent = self._fraction(node - 1 - node.args[0])
        return [self._sign(">", value), self._sign(">=", *tangent), self._ordered(sp.Integer(0), node)]

    def _ordered(self, one: Any, two: Any) -> Formula:
        """Exponentials are ordered as their arguments are (``one = 0`` stands for e^0 = 1)."""
        first, unit = (sp.Integer(0), sp.Integer(1)) if one == 0 else (one.args[0], one)
        arguments, values = self._fraction(first - two.args[0]), self._fraction(unit - two)
        return _all([_same(self._sign(sign, *arguments), self._sign(sign, *values)) for sign in ("<", ">", "=")])

    # -- the solver -----------------------------------------------------------------------------------------------

    def ask(self, attempt: Attempt, seconds: int) -> tuple[str, dict[Any, Any]]:
        """The solver's answer to all parts, and for *sat* the rational values of the symbols (none where one is irrational)."""
        open_ = "unsat"
        for place, formulas in enumerate(self.questions):
            if place in self._answered:
                continue
            answer, model = self._asked(formulas, attempt, seconds)
            if answer == "sat":
                return answer, model
            if answer == "unsat":
                self._answered.add(place)
            else:
                open_ = answer
        return open_, {}

    def _asked(self, formulas: list[Formula], attempt: Attempt, seconds: int) -> tuple[str, dict[Any, Any]]:
        import cvc5.pythonic as smt

        solver = smt.SolverFor("QF_NRA")
        limits = {"rlimit-per": str(attempt.budget), "tlimit-per": str(1000 * seconds)}
        for name, value in {**attempt.options, **limits}.items():
            solver.setOption(name, value)
        if attempt.squares:
            letters = [smt.Real(f"g{place}") for place in range(len(self.leaves))]
            solver.add(*(each * each >= 0 for each in letters))
        solver.add(*(formula(smt) for formula in formulas))
        answer = str(solver.check())
        return answer, self._model(solver.model(), smt) if answer == "sat" else {}

    def _model(self, found: Any, smt: Any) -> dict[Any, Any]:
        """The rational values of the symbols, also of those that were replaced."""
        values: dict[int, Any] = {}
        for place in range(len(self.leaves)):
            value = found[smt.Real(f"g{place}")]
            if value is not None and smt.is_rational_value(value):
                exact = value.as_fraction()
                values[place] = fmpq(exact.numerator, exact.denominator)
        for place, given in reversed(self.solved):
            if all(values.get(other) is not None for other, degree in enumerate(given.degrees()) if degree):
                at = [values.get(other) or fmpq(0) for other in range(len(self.leaves))]
                values[place] = given(*at)
        return {
            symbol: sp.Rational(int(values[place].p), int(values[place].q))
            for symbol, place in ((each, self.leaves[each]) for each in self.symbols)
            if place in values
        }


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
    return lambda smt: smt.Or(smt.BoolVal(False), smt.BoolVal(False), *(part(smt) for part in parts))


def _not(part: Formula) -> Formula:
    return lambda smt: smt.Not(part(smt))


def _same(one: Formula, two: Formula) -> Formula:
    return lambda smt: one(smt) == two(smt)


def _common_exponents(statements: Sequence[Any]) -> dict[Any, tuple[Any, int]]:
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


def _root_of(node: Any) -> Any:
    """``b^(p/q)`` is a power of ``b^(1/q)``."""
    if not node.exp.is_Rational:
        raise ValueError(f"{node} is not algebraic: replace it by a symbol with bounds")
    return sp.Pow(node.base, sp.Rational(1, node.exp.q), evaluate=False)


def _radical(factors: Iterable[tuple[Any, int]], product: Any) -> Any:
    """The product of the factors with their exponents reduced to 1 or 2, the parity kept."""
    for factor, power in factors:
        product = product * factor ** (1 if power % 2 else 2)
    return product


def _truth(value: bool) -> Formula:
    return lambda smt: smt.BoolVal(value)


def _different(one: Formula, two: Formula) -> Formula:
    return lambda smt: one(smt) != two(smt)


def _compared(sign: str, polynomial: Any) -> Formula:
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
