"""Decide statements about real numbers, exactly: ``prove(hypotheses, conclusion)``.

The negation is given to z3 as a polynomial problem (:mod:`eigentoken.theory.proving.polynomial_form`).  *unsat* is a proof,
kept as SMT-LIB text that any solver can re-check.  A model is a refutation only after it was turned into exact
rational numbers and every hypothesis and the failure of the conclusion were re-checked in sympy (with interval
arithmetic where exponentials occur).  Everything else is ``undecided``.

A checker reads the signs with which symbols are declared, so a reader must see them; they are printed from here.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp

from eigentoken.theory.language.verdicts import (
    Certificate,
    KeptAnswers,
    Verdict,
    VerdictAnswer,
    fails,
    holds,
    undecided,
)
from eigentoken.theory.proving.polynomial_form import (
    Translation,
    as_condition,
    assumed_of,
    clashing_names,
    free_symbols,
    replaced,
)

__all__ = ["Lemma", "integers_follow", "prove", "satisfiable"]

#: A question with several parts is asked whole for so many seconds: a solver may be lost in their alternatives.
AT_ONCE = 2.0
DEFAULT_SECONDS = 90.0  # generous: a loaded machine must not turn a lemma of milliseconds into undecided


def prove(
    hypotheses: Iterable[sp.Basic],
    conclusion: sp.Basic,
    *,
    seconds: float = DEFAULT_SECONDS,
    vacuous_allowed: bool = False,
) -> Verdict:
    """Does the conclusion follow from the hypotheses, for all real values of the symbols?

    Statements are sympy relations and Booleans in polynomials, quotients, roots, ``Abs``, ``Max``, ``Min``,
    ``Piecewise``, ``exp``, ``log`` and hyperbolic functions.  Assumptions stored in a symbol count as hypotheses
    (integers as real numbers with their bounds).  A hypothesis is assumed to be defined; that the conclusion is defined
    (no zero denominator) is part of what is proved.  Contradictory hypotheses prove nothing: the verdict is then
    ``undecided`` unless the conclusion is ``False`` (a proof by contradiction) or ``vacuous_allowed``.

    >>> a, b = sp.symbols("a b", real=True)
    >>> prove([a > 0, b > 0], a / b + b / a >= 2).answer.value
    'holds'
    >>> prove([a > 0], a**2 > a).answer.value
    'fails'
    >>> prove([a > 0, a < 0], a > 5).answer.value
    'undecided'
    """
    given = tuple(as_condition(statement) for statement in hypotheses)
    goal = as_condition(conclusion)
    question = (given, goal, seconds, vacuous_allowed)
    return _KEPT.answer(question, lambda: _found(*question))


_KEPT = KeptAnswers()


def _found(stated: tuple[sp.Basic, ...], goal: sp.Basic, seconds: float, vacuous_allowed: bool) -> Verdict:
    """The answer, found by the solver."""
    given = list(stated)
    symbols = free_symbols([*given, goal])
    clash = clashing_names(symbols)
    if clash:
        raise ValueError(f"two different symbols are called {clash[0]!r}: use one symbol with one set of assumptions")
    hidden = [symbol.name for symbol in symbols if symbol.name.startswith("_")]
    if hidden:
        raise ValueError(
            f"the solver's own variables begin with an underscore, and {hidden[0]!r} does: use another name"
        )
    given += [fact for symbol in symbols for fact in assumed_of(symbol)]
    # stored assumptions would make sympy decide `alpha > 0` to True and lose it: from here on they are hypotheses only
    bare = {
        each: sp.Symbol(each.name, integer=True) if each.is_integer else sp.Symbol(each.name, real=True)
        for each in symbols
    }
    given, goal, symbols = [replaced(each, bare) for each in given], replaced(goal, bare), list(bare.values())
    translation = Translation()
    premises = [translation.condition(statement) for statement in given]
    premises += translation.defined + translation.facts
    translation.defined, translation.facts = [], []
    target = translation.condition(goal)
    parts = list(dict.fromkeys([*sp.And.make_args(target), *translation.defined]))
    answer = _solve_each([*premises, *translation.facts], parts, seconds)
    text = f"{', '.join(map(str, given)) or 'nothing'} implies {goal}"
    if answer.status == "unsat":
        return _proved(text, goal, premises, answer, seconds, vacuous_allowed)
    if answer.status in ("sat", "unknown"):
        point = _rechecked(given, goal, symbols, [*answer.candidates, *_simple_points(symbols)])
        if point is not None:
            shown = {str(symbol): str(value) for symbol, value in point.items()}
            certificate = Certificate("real-model", text, VerdictAnswer.FAILS, data={"point": shown})
            return fails(f"false at {shown}", certificate=certificate, details={"point": point})
    if answer.status == "sat":
        return undecided("the solver's model could not be confirmed with exact numbers")
    return undecided(f"the solver gave up after {seconds:g} s: {answer.note}")


def satisfiable(statements: Iterable[sp.Basic], *, seconds: float = DEFAULT_SECONDS) -> Verdict:
    """Is there a real point where all statements are true?  ``holds`` carries the point, ``fails`` is a proof.

    >>> x = sp.Symbol("x", real=True)
    >>> satisfiable([x**2 < 2, x > 1]).is_holds, satisfiable([x**2 < 0]).is_fails
    (True, True)
    """
    verdict = prove(list(statements), sp.false, seconds=seconds)
    if verdict.is_fails:
        return holds("a point was found", details=verdict.details)
    if verdict.is_holds:
        return fails("the statements contradict each other", details=verdict.details)
    return verdict


def integers_follow(given: Iterable[sp.Basic], goal: sp.Basic, *, seconds: float = 20.0) -> str | None:
    """The question in SMT-LIB, where z3 answers that the goal holds for all integers that the relations given hold for.

    >>> m = sp.Symbol("m", integer=True)
    >>> integers_follow([m > 1], m >= 2) is None, integers_follow([m > 1], m >= 3) is None
    (False, True)
    """
    import z3

    known = [sp.sympify(each) for each in given]
    letters = sorted(set().union(*(each.free_symbols for each in (*known, sp.sympify(goal)))), key=str)
    if any(each.is_integer is not True for each in letters) or len({each.name for each in letters}) != len(letters):
        raise TypeError(f"the letters must be different integers, got {', '.join(map(str, letters))}")
    reading, solver = ToZ3(integers=True), z3.Solver()
    solver.set("timeout", int(1000 * seconds))
    solver.add(*(reading.as_clause(fact) for each in letters for fact in assumed_of(each)))
    solver.add(*map(reading.as_clause, known), z3.Not(reading.as_clause(sp.sympify(goal))))
    return str(solver.to_smt2()) if solver.check() == z3.unsat else None


@dataclass(frozen=True)
class Lemma:
    """A small statement with its check: ``hypotheses => conclusion`` over the reals.

    >>> x = sp.Symbol("x", real=True)
    >>> Lemma("squares", (), x**2 >= 0).check().is_holds
    True
    """

    name: str
    hypotheses: tuple[sp.Basic, ...]
    conclusion: sp.Basic
    because: str = ""
    seconds: float = field(default=DEFAULT_SECONDS, compare=False)

    def check(self) -> Verdict:
        """Ask the solver; a kept answer is that to the same hypotheses and conclusion, so a changed lemma is a checked lemma."""
        return prove(self.hypotheses, self.conclusion, seconds=self.seconds)


# -- the solver -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Answer:
    status: str
    note: str = ""
    smtlib: str = ""
    candidates: Sequence[Mapping[str, sp.Rational]] = ()


def _solve_each(known: Sequence[sp.Basic], parts: Sequence[sp.Basic], seconds: float) -> _Answer:
    """Is no part refuted by what is known?  Asked of all at once, for a short time; then of one after the other; then of all.

    The text that is kept is that of the whole question.
    """
    whole = [*known, sp.Not(sp.And(*parts))]
    answer = _solve(whole, min(seconds, AT_ONCE))
    if answer.status != "unknown":
        return answer
    answers = []
    for part in parts:
        answers.append(_solve([*known, sp.Not(part)], seconds))
        if answers[-1].status != "unsat":
            break
    if answers[-1].status == "unsat":
        return _Answer("unsat", smtlib=_smtlib(whole))
    return answers[-1] if answers[-1].status == "sat" else _solve(whole, seconds)


def _smtlib(problem: Sequence[sp.Basic]) -> str:
    import z3

    solver = z3.Solver()
    solver.add(*map(ToZ3().as_clause, problem))
    return str(solver.to_smt2())


def _solve(problem: Sequence[sp.Basic], seconds: float) -> _Answer:
    import z3

    flat = [part for part in problem if part is not sp.true]
    if any(part is sp.false for part in flat):
        return _Answer("unsat", "one of the statements is false as it stands")
    reading = ToZ3()
    clauses = list(map(reading.as_clause, flat))
    notes = []
    for tactic, share in (("qfnra-nlsat", 0.6), ("smt", 0.4)):
        solver = z3.Then("simplify", "purify-arith", "propagate-values", tactic).solver()
        solver.set("timeout", max(1, int(1000 * seconds * share)))
        solver.add(*clauses)
        try:
            status = str(solver.check())
        except z3.Z3Exception as problem_of_z3:  # a tactic that refuses the fragment
            notes.append(str(problem_of_z3))
            continue
        if status == "unsat":
            return _Answer("unsat", smtlib=solver.to_smt2())
        if status == "sat":
            return _Answer("sat", candidates=_candidates(solver.model(), reading.variables))
        notes.append(solver.reason_unknown())
    return _Answer("unknown", "; ".join(notes))


class ToZ3:
    """The statements of one question for z3, over the reals or the integers; a part that stands in several is translated once."""

    def __init__(self, integers: bool = False) -> None:
        self.integers = integers
        self.variables: dict[str, Any] = {}
        self._known: dict[sp.Basic, Any] = {}

    def as_clause(self, statement: sp.Basic) -> Any:
        """A relation or Boolean."""
        if statement not in self._known:
            self._known[statement] = self._condition(statement)
        return self._known[statement]

    def _condition(self, statement: sp.Basic) -> Any:
        import z3

        if statement in (sp.true, sp.false):
            return z3.BoolVal(statement is sp.true)
        if isinstance(statement, sp.core.relational.Relational):
            lhs, rhs = self._number(statement.lhs), self._number(statement.rhs)
            if isinstance(statement, sp.Eq):
                return lhs == rhs
            if isinstance(statement, sp.Ne):
                return lhs != rhs
            if isinstance(statement, sp.StrictGreaterThan):
                return lhs > rhs
            if isinstance(statement, sp.GreaterThan):
                return lhs >= rhs
            if isinstance(statement, sp.StrictLessThan):
                return lhs < rhs
            return lhs <= rhs
        parts = [self.as_clause(part) for part in statement.args]
        table = {sp.And: lambda: z3.And(*parts), sp.Or: lambda: z3.Or(*parts), sp.Not: lambda: z3.Not(parts[0])}
        table[sp.Implies] = lambda: z3.Implies(parts[0], parts[1])
        table[sp.Equivalent] = lambda: z3.And(*(parts[0] == part for part in parts[1:]))
        table[sp.Xor] = lambda: z3.Xor(parts[0], parts[1]) if len(parts) == 2 else _refuse(statement)
        table[sp.ITE] = lambda: z3.If(parts[0], parts[1], parts[2])
        return table.get(statement.func, lambda: _refuse(statement))()

    def _number(self, expression: sp.Expr) -> Any:
        if expression not in self._known:
            self._known[expression] = self._term(expression)
        return self._known[expression]

    def _term(self, expression: sp.Expr) -> Any:
        import z3

        if self.integers and expression.is_Integer:
            return z3.IntVal(int(expression))
        if expression.is_Rational and not self.integers:
            return z3.RealVal(f"{expression.p}/{expression.q}")
        if expression.is_Symbol:
            if expression.is_real is False:
                raise TypeError(f"{expression} is not real: split it into real and imaginary parts")
            number = z3.Int if self.integers else z3.Real
            return self.variables.setdefault(expression.name, number(expression.name))
        if isinstance(expression, sp.Add):
            return z3.Sum(*map(self._number, expression.args))
        if isinstance(expression, sp.Mul):
            return z3.Product(*map(self._number, expression.args))
        if isinstance(expression, sp.Pow) and expression.exp.is_Integer and expression.exp.is_positive:
            base, power = self._number(expression.base), int(expression.exp)
            return z3.Product(*[base] * power) if self.integers else base**power
        numbers = "integer" if self.integers else "rational"
        raise TypeError(f"{expression} is not a polynomial with {numbers} coefficients")


def _refuse(statement: sp.Basic) -> Any:
    raise TypeError(f"{statement.func.__name__} is not translated: write it with And, Or, Not, Implies, Equivalent")


def _candidates(model: Any, variables: Mapping[str, Any]) -> list[dict[str, sp.Rational]]:
    """The model as exact rationals; irrational algebraic values are approximated to several precisions."""
    import z3

    points = []
    for digits in (3, 6, 12, 30):
        point: dict[str, sp.Rational] = {}
        for name, variable in variables.items():
            value = model.eval(variable, model_completion=True)
            if z3.is_rational_value(value):
                point[name] = sp.Rational(value.numerator_as_long(), value.denominator_as_long())
            else:
                shown = value.approx(digits + 5)
                exact = Fraction(shown.numerator_as_long(), shown.denominator_as_long())
                near = exact.limit_denominator(10**digits)
                point[name] = sp.Rational(near.numerator, near.denominator)
        points.append(point)
        if all(z3.is_rational_value(model.eval(v, model_completion=True)) for v in variables.values()):
            break
    return points


def _simple_points(symbols: Sequence[sp.Symbol], count: int = 150) -> list[dict[str, sp.Rational]]:
    """Small rational points, always the same: tried where the solver's model is only a model of the relaxation."""
    draw = random.Random(0)
    values = [sp.Rational(p, q) for p in (0, 1, -1, 2, -2, 3, -5, 10) for q in (1, 2, 3, 10, 1000)]
    return [{symbol.name: draw.choice(values) for symbol in symbols} for _ in range(count)]


# -- verdicts -------------------------------------------------------------------------------------------------------


def _proved(
    text: str, goal: sp.Basic, premises: list[sp.Basic], answer: _Answer, seconds: float, vacuous_allowed: bool
) -> Verdict:
    if goal is not sp.false and not vacuous_allowed and _solve(premises, min(seconds, 5.0)).status == "unsat":
        return undecided("the hypotheses contradict each other, so that nothing was said")
    data = {"smtlib": answer.smtlib or f"; {answer.note}\n(assert false)\n(check-sat)\n"}
    return holds(
        "the negation has no real solution", certificate=Certificate("smt-unsat", text, VerdictAnswer.HOLDS, data=data)
    )


def _rechecked(
    given: Sequence[sp.Basic], goal: sp.Basic, symbols: Sequence[sp.Symbol], candidates: Sequence[Mapping[str, Any]]
) -> dict[sp.Symbol, sp.Rational] | None:
    """The first candidate where every hypothesis is true and the conclusion false (or undefined), exactly."""
    for candidate in candidates:
        point = {symbol: candidate.get(symbol.name, sp.Integer(0)) for symbol in symbols}
        if any(symbol.is_integer and not value.is_Integer for symbol, value in point.items()):
            continue
        if all(truth_at(statement, point) is True for statement in given) and truth_at(goal, point) in (False, None):
            if truth_at(goal, point) is None and not _undefined_at(goal, point):
                continue
            return point
    return None


def truth_at(statement: sp.Basic, point: Mapping[sp.Symbol, sp.Expr]) -> bool | None:
    """The truth value at an exact point, or ``None`` where it is undefined or could not be decided."""
    if statement in (sp.true, sp.false):
        return statement is sp.true
    if isinstance(statement, sp.core.relational.Relational):
        sign = _sign_at(statement.lhs - statement.rhs, point)
        if sign is None:
            return None
        table = {sp.Eq: sign == 0, sp.Ne: sign != 0, sp.StrictGreaterThan: sign > 0, sp.GreaterThan: sign >= 0}
        table |= {sp.StrictLessThan: sign < 0, sp.LessThan: sign <= 0}
        return bool(table[statement.func])
    parts = [truth_at(part, point) for part in statement.args]
    if isinstance(statement, sp.And):
        return False if False in parts else (None if None in parts else True)
    if isinstance(statement, sp.Or):
        return True if True in parts else (None if None in parts else False)
    if None in parts:
        return None
    if isinstance(statement, sp.Not):
        return not parts[0]
    if isinstance(statement, sp.Implies):
        return bool(parts[1] or not parts[0])
    if isinstance(statement, sp.Equivalent):
        return len(set(parts)) == 1
    return bool(statement.func(*(sp.true if part else sp.false for part in parts)))


def _sign_at(expression: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> int | None:
    value = expression.xreplace(dict(point))
    if value.has(sp.zoo, sp.nan, sp.oo, -sp.oo) or value.free_symbols:
        return None
    if value.is_Rational:
        return int(sp.sign(value))
    if value.is_real is False:
        return None
    return _sign_by_intervals(value)


def _sign_by_intervals(value: sp.Expr) -> int | None:
    """Sign of a number with roots and exponentials by interval arithmetic; an exact zero needs an exact reason."""
    from mpmath import iv

    for digits in (30, 100):
        before = iv.dps
        try:
            iv.dps = digits
            enclosure = _enclosure(value)
        except (TypeError, ValueError, ZeroDivisionError):
            return None
        finally:
            iv.dps = before
        if enclosure.a > 0:
            return 1
        if enclosure.b < 0:
            return -1
    return 0 if value.is_zero else None


def _enclosure(value: sp.Expr) -> Any:
    """The number in an mpmath interval; raises where a part has none."""
    from mpmath import iv

    if value.is_Rational:
        return iv.mpf(int(value.p)) / iv.mpf(int(value.q))
    if value is sp.E:
        return iv.e
    if value is sp.pi:
        return iv.pi
    parts = [_enclosure(part) for part in value.args]
    if isinstance(value, sp.Add):
        return sum(parts[1:], parts[0])
    if isinstance(value, sp.Mul):
        product = parts[0]
        for part in parts[1:]:
            product = product * part
        return product
    if isinstance(value, sp.Pow):
        if value.exp.is_Integer:
            return parts[0] ** int(value.exp)
        if not parts[0].a > 0:
            raise ValueError(f"{value.base} is not certainly positive")
        return iv.exp(parts[1] * iv.log(parts[0]))
    if isinstance(value, (sp.exp, sp.log)):
        return iv.exp(parts[0]) if isinstance(value, sp.exp) else iv.log(parts[0])
    if isinstance(value, (sp.sinh, sp.cosh, sp.tanh)):
        up, down = iv.exp(parts[0]), iv.exp(-parts[0])
        return {sp.sinh: (up - down) / 2, sp.cosh: (up + down) / 2, sp.tanh: (up - down) / (up + down)}[value.func]
    if isinstance(value, sp.Abs):
        return abs(parts[0])
    raise TypeError(f"no enclosure for {value}")


def _undefined_at(statement: sp.Basic, point: Mapping[sp.Symbol, sp.Expr]) -> bool:
    """Some denominator is exactly zero at the point, some radicand negative, or some logarithm not of a positive."""

    def at(node: sp.Expr) -> sp.Expr:
        return node.subs(point, simultaneous=True)

    powers, logarithms = statement.atoms(sp.Pow), statement.atoms(sp.log)
    return (
        any(at(node.base).is_zero is True for node in powers if node.exp.is_negative)
        or any(at(node.base).is_negative is True for node in powers if not node.exp.is_Integer)
        or any(at(node.args[0]).is_nonpositive is True for node in logarithms)
    )
