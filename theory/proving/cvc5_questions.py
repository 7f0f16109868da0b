"""One question to cvc5: hypotheses and the negation of a conclusion, as sign conditions on FLINT polynomials in one context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from eigentoken.theory.proving.cvc5_formulas import (
    SIGNS,
    Formula,
    Terms,
    all_of,
    any_of,
    common_exponents,
    compared,
    different_truth,
    homogeneous,
    known_nonzero,
    not_,
    radical,
    root_of,
    same_truth,
    truth,
)

__all__ = ["Attempt", "RealQuestion"]

#: An order of a product of more factors than this is asked of the product itself; more cases than this are not made.
FACTORS, CASES = 8, 8


class Attempt(NamedTuple):
    """Options of cvc5 and a budget in its units (far below a millisecond).

    ``squares``: it is told that squares are not negative.  ``near``: of the hypotheses only those in the letters of the
    conclusion, which can show that it follows, never that it does not.  ``quotients``: a letter that an equation gives as a
    quotient is replaced, too (fewer letters, of higher degree).  ``products``: it is told that the sign of a polynomial is the
    one that its factors give, for what is linear in products.  ``share`` is the part of the asker's seconds.
    """

    options: Mapping[str, str]
    budget: int
    squares: bool = False
    near: bool = False
    quotients: bool = False
    products: bool = False
    share: float = 1.0

    @property
    def long(self) -> bool:
        return self.budget > 100_000


class RealQuestion:
    """``premises and not (conclusion and it is defined)``, over FLINT polynomials in one context."""

    def __init__(self, given: list[Any], goal: Any, quotients: bool) -> None:
        self.goal = goal
        self.leaves: dict[Any, int] = {}
        self.opaque: dict[Any, Any] = {}
        self._exponents = common_exponents([*given, goal])
        for each in given:
            self._collect(each)
        self._earlier = list(self.opaque)
        self._collect(goal)
        names = tuple(f"g{index}" for index in range(max(1, len(self.leaves))))
        self.context = fmpq_mpoly_ctx.get(names, Ordering.degrevlex)
        self.one = self.context.constant(1)
        self.symbols = [each for each in self.leaves if each.is_Symbol]
        self._values = [(each, self.one) for each in self.context.gens()]
        self._defined: dict[str, Formula] = {}
        self._products: dict[str, Formula] = {}
        self._taken: set[Any] = set()
        self._answered: set[int] = set()
        self._terms = Terms()
        self._used = False
        self.solved: list[tuple[int, Any]] = []
        self._divisors: list[Any] = []
        self._nonzero = set().union(*(known_nonzero(each) for each in given))
        self._quotients_too = quotients
        taken = [each for each in given if self._solve(self._equation(each))]
        #: equations that gave a letter: nothing is left of them but that their terms are defined
        self._equations = [each.lhs - each.rhs for each in taken]
        given = [each for each in given if each not in taken]
        self._solve_roots()
        several = [each for each in self.opaque if isinstance(each, sp.Abs | sp.Max | sp.Min)]
        #: in each case, each part of the conclusion is refuted beside the premises and the parts before it
        self.questions = [
            [*known, *parts[:place], not_(part)]
            for case in self._cases(several, 1)
            for known, parts in [self._premises_and_parts(given, case)]
            for place, part in enumerate(parts)
        ]

    def _premises_and_parts(self, given: list[Any], case: list[Formula]) -> tuple[list[Formula], list[Formula]]:
        """What is known in a case, and what must follow: that the conclusion is defined, and its parts."""
        self._defined = {}
        premises = [*case, *(self._condition(each) for each in given)]
        for each in self._equations:
            self._fraction(each)
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
            self._put(place, (chosen, self.one))
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

    def _put(self, place: int, value: tuple[Any, Any]) -> None:
        """A quotient for a letter, everywhere."""
        self._values = [self._replaced(top, bottom, place, value) for top, bottom in self._values]

    def _replaced(self, top: Any, bottom: Any, place: int, value: tuple[Any, Any]) -> tuple[Any, Any]:
        """``top / bottom`` with a quotient for a letter, coprime."""
        above, below = (homogeneous(each, place, value) for each in (top, bottom))
        more = bottom.degrees()[place] - top.degrees()[place]
        return self._coprime(above * value[1] ** max(more, 0), below * value[1] ** max(-more, 0))

    def _solve(self, difference: Any) -> bool:
        """A polynomial that is zero and linear in a letter, with before it what is not zero: the letter is replaced."""
        if difference is None:
            return False
        degrees = difference.degrees()
        found = []
        for symbol in sorted(self.symbols, key=str):
            place = self.leaves[symbol]
            if degrees[place] == 1:
                slope = difference.derivative(place)
                if self._never_zero(slope):
                    found.append((not slope.is_constant(), place, slope))
        if not found:
            return False
        _, place, slope = min(found, key=lambda each: each[0])
        value = self._coprime(self.context.gen(place) * slope - difference, slope)
        self._put(place, value)
        self.solved.append((place, value))
        return True

    @property
    def products(self) -> bool:
        """Is a polynomial of several factors compared with zero?"""
        return bool(self._products)

    @property
    def quotients(self) -> bool:
        """Was a letter replaced by a quotient?"""
        return any(not bottom.is_constant() for _, (_, bottom) in self.solved)

    def _never_zero(self, slope: Any) -> bool:
        """A number, or a product of what hypotheses say is not zero: letters, and what they divide by."""
        if slope.is_constant() or not self._quotients_too:
            return bool(slope.is_constant())
        letters = [self._values[self.leaves[each]][0] for each in self._nonzero if each in self.leaves]
        known = {str(factor) for each in (*letters, *self._divisors) for factor, _ in each.factor()[1]}
        return all(str(factor) in known for factor, _ in slope.factor()[1])

    def _equation(self, given: Any) -> Any:
        """What is zero by an equation, a numerator; ``None`` of anything else."""
        if not isinstance(given, sp.Eq):
            return None
        before, self._defined, self._divisors = self._defined, {}, []
        top, bottom = self._fraction(given.lhs - given.rhs)
        plain, self._defined = not self._defined and bottom.is_constant(), before
        return top if plain or self._quotients_too else None

    def _solve_roots(self) -> None:
        """``r = b^(1/q)`` in a hypothesis is defined, so that ``b = r^q`` may give a letter of b."""
        self._divisors = []
        for node in self._earlier:
            base = self._polynomial(node.base) if isinstance(node, sp.Pow) else None
            if base is not None:
                top, bottom = self._values[self.leaves[node]]
                power = int(node.exp.q)
                self._solve(top**power - base * bottom**power)

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
            node = root_of(node)
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
            return self._values[self.leaves[node]]
        if isinstance(node, sp.exp):  # a power of a positive number
            base, power = self._exponents[node]
            above, below = (each ** abs(power) for each in self._values[self.leaves[base]])
            return (above, below) if power > 0 else (below, above)
        if node.is_Add or node.is_Mul:
            top, bottom = self._fraction(node.args[0])
            for part in node.args[1:]:
                up, down = self._fraction(part)
                top, bottom = (top * down + up * bottom, bottom * down) if node.is_Add else (top * up, bottom * down)
                top, bottom = self._coprime(top, bottom)
            return top, bottom
        base, exponent = node.args
        if not exponent.is_Integer:
            base, exponent = root_of(node), exponent.p
        top, bottom = self._fraction(base)
        if exponent < 0:
            self._defined[f"!= {top}"] = self._sign("!=", top)
            self._divisors.append(top)
            return bottom ** -int(exponent), top ** -int(exponent)
        return top ** int(exponent), bottom ** int(exponent)

    def _coprime(self, top: Any, bottom: Any) -> tuple[Any, Any]:
        common = top.gcd(bottom)
        return (top, bottom) if common == 0 or common.is_one() else (top // common, bottom // common)

    # -- conditions -----------------------------------------------------------------------------------------------

    def _condition(self, node: Any) -> Formula:
        if node in (sp.true, sp.false):
            return truth(node is sp.true)
        if node.is_Relational:
            for side in node.args:  # each has a value, also where they have a part in common
                self._fraction(side)
            top, bottom = self._fraction(node.lhs - node.rhs)
            return self._sign(SIGNS[node.func], top, bottom)
        parts = [self._condition(part) for part in node.args]
        if isinstance(node, sp.And):
            return all_of(parts)
        if isinstance(node, sp.Or):
            return any_of(*parts)
        if isinstance(node, sp.Not):
            return not_(*parts)
        if isinstance(node, sp.Implies):
            return any_of(not_(parts[0]), parts[1])
        if isinstance(node, sp.Equivalent) and len(parts) == 2:
            return same_truth(*parts)
        raise ValueError(f"{node.func.__name__} has no translation: write And, Or, Not, Implies")

    def _sign(self, sign: str, top: Any, bottom: Any = None) -> Formula:
        """``top / bottom SIGN 0``, by the signs of irreducible factors (where the bottom is zero, nothing is asked of it)."""
        if top.is_zero():
            return truth(sign in ("=", "<=", ">="))
        constant, factors = top.factor()
        if sign in ("=", "!="):
            nothing = any_of(*(compared("=", each) for each, _ in factors))
            return nothing if sign == "=" else not_(nothing)
        if bottom is not None:
            below, others = bottom.factor()
            constant, factors = constant * below, [*factors, *others]
        zero = any_of(*(compared("=", each) for each, _ in factors))
        odd = [each for each, power in factors if power % 2]
        if len(odd) > FACTORS:
            return compared(sign, radical(factors, self.one * constant))
        negative = truth(constant < 0)
        for each in odd:
            negative = different_truth(negative, compared("<", each))
        below_zero = all_of([not_(zero), negative])
        above_zero = all_of([not_(zero), not_(negative)])
        if len(factors) > 1 and (bottom is None or bottom.is_one()):
            self._products[f"< {top}"] = same_truth(below_zero, compared("<", top))
            self._products[f"> {top}"] = same_truth(above_zero, compared(">", top))
        return {"<": below_zero, ">": above_zero, "<=": not_(above_zero), ">=": not_(below_zero)}[sign]

    def _guarded_facts(self, node: Any) -> list[Formula]:
        """The facts of a part under the condition that the part is defined: elsewhere nothing is known of it."""
        outside, self._defined = self._defined, {}
        facts = self._facts(node)
        inner = all_of(list(self._defined.values()))
        self._defined = {**outside, **self._defined}
        return [any_of(not_(inner), fact) for fact in facts]

    def _facts(self, node: Any) -> list[Formula]:
        """Theorems about an opaque part, in terms of its own variable."""
        if isinstance(node, sp.Pow):
            root, under = self._values[self.leaves[node]]
            power = int(node.exp.q)
            top, bottom = self._fraction(node.base)
            self._defined[f">= {top} / {bottom}"] = self._sign(">=", top, bottom)
            return [self._sign(">=", root, under), self._sign("=", bottom * root**power - top * under**power)]
        if isinstance(node, sp.exp):
            return self._exponential_facts(node)
        parts = [*node.args, -node.args[0]] if isinstance(node, sp.Abs) else list(node.args)
        bound = "<=" if isinstance(node, sp.Min) else ">="
        here = [self._fraction(node - part) for part in parts]
        equal = [self._sign("=", top) for top, _ in here]
        return [*(self._sign(bound, top, bottom) for top, bottom in here), any_of(*equal)]

    def _exponential_facts(self, node: Any) -> list[Formula]:
        """``v = e^u``: v > 0, v >= 1 + u, and v is above, at or below 1 with the sign of u."""
        value = self._values[self.leaves[node]]
        tangent = self._fraction(node - 1 - node.args[0])
        return [self._sign(">", *value), self._sign(">=", *tangent), self._ordered(sp.Integer(0), node)]

    def _ordered(self, one: Any, two: Any) -> Formula:
        """Exponentials are ordered as their arguments are (``one = 0`` stands for e^0 = 1)."""
        first, unit = (sp.Integer(0), sp.Integer(1)) if one == 0 else (one.args[0], one)
        arguments, values = self._fraction(first - two.args[0]), self._fraction(unit - two)
        return all_of([same_truth(self._sign(sign, *arguments), self._sign(sign, *values)) for sign in ("<", ">", "=")])

    # -- the solver -----------------------------------------------------------------------------------------------

    def ask(self, attempt: Attempt, seconds: int) -> tuple[str, dict[sp.Symbol, sp.Rational]]:
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

    def _asked(
        self, formulas: list[Formula], attempt: Attempt, seconds: int
    ) -> tuple[str, dict[sp.Symbol, sp.Rational]]:
        if self._used and not self._terms.shared:
            self._terms = Terms()
        terms, self._used = self._terms, True
        solver = terms.solver()
        solver.setLogic("QF_NRA")
        limits = {"rlimit-per": str(attempt.budget), "tlimit-per": str(1000 * seconds), "produce-models": "true"}
        for name, value in {**attempt.options, **limits}.items():
            solver.setOption(name, value)
        if attempt.squares:
            letters = [terms.letter(place) for place in range(len(self.leaves))]
            for each in letters:
                square = terms.manager.mkTerm(terms.kind.MULT, each, each)
                solver.assertFormula(terms.manager.mkTerm(terms.kind.GEQ, square, terms.zero))
        for formula in [*formulas, *(self._products.values() if attempt.products else ())]:
            solver.assertFormula(terms(formula))
        answer = solver.checkSat()
        if answer.isSat():
            return "sat", self._model(solver)
        return "unsat" if answer.isUnsat() else "unknown", {}

    def _model(self, solver: Any) -> dict[sp.Symbol, sp.Rational]:
        """The rational values of the symbols, also of those that were replaced."""
        values: dict[int, Any] = {}
        for place in range(len(self.leaves)):
            value = solver.getValue(self._terms.letter(place))
            if value.isRealValue():
                exact = value.getRealValue()
                values[place] = fmpq(exact.numerator, exact.denominator)
        for place, (top, bottom) in reversed(self.solved):
            used = (other for each in (top, bottom) for other, degree in enumerate(each.degrees()) if degree)
            if all(values.get(other) is not None for other in used):
                at = [values.get(other) or fmpq(0) for other in range(len(self.leaves))]
                if bottom(*at) != 0:
                    values[place] = top(*at) / bottom(*at)
        return {
            symbol: sp.Rational(int(values[place].p), int(values[place].q))
            for symbol, place in ((each, self.leaves[each]) for each in self.symbols)
            if place in values
        }
