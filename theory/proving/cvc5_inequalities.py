"""The second opinion on inequalities: the same question, translated by FLINT's polynomials and decided by cvc5.

Nothing here is shared with :mod:`eigentoken.theory.proving.polynomial_form` and z3.  Each side of a relation becomes a quotient
of FLINT polynomials; roots, absolute values, maxima and exponentials become new variables with facts that are theorems
for the true functions (of polynomials, absolute values and maxima become cases; exponentials of multiples of one exponent are
powers of one variable); a letter that an equation gives by the others, also as a quotient, is replaced; an atom becomes sign
conditions on irreducible factors.  *unsat* of the negation says ``holds``: the parts of a conclusion are asked one after the
other.  A model says ``fails`` only where the question was rational in its symbols and exact arithmetic on the model's rational
numbers confirms it; everything else is ``undecided``.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

import sympy as sp

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.proving.cvc5_questions import Attempt, RealQuestion

__all__ = ["ATTEMPTS", "hypotheses_near", "inequality_by_cvc5"]

_LINEAR = {"nl-cov": "false", "nl-ext": "full", "nl-ext-tplanes": "true"}
_COVERINGS = {"nl-ext": "none"}
#: Tried in order: short tries of linear lemmas, of cylindrical coverings (in the order in which variables come up), long ones;
#: at last coverings alone.
ATTEMPTS = (
    Attempt(_LINEAR, 20_000, near=True),
    Attempt(_LINEAR, 20_000),
    Attempt({"nl-cov": "false", "nl-ext": "none"}, 20_000, products=True),
    Attempt(_LINEAR, 20_000, quotients=True),
    Attempt({}, 400_000, near=True, share=0.25),
    Attempt({}, 400_000, share=0.5),
    Attempt(_LINEAR, 400_000, share=0.5),
    Attempt({}, 400_000, quotients=True, share=0.5),
    Attempt({}, 400_000, squares=True, share=0.5),
    Attempt(_COVERINGS, 400_000, share=0.5),
    Attempt(_COVERINGS, 400_000, quotients=True, share=0.5),
)
#: A limit of the wall clock as well, for resource steps that are long.
SECONDS = 20
#: A question, its hypotheses with those of its symbols, and the symbols for whole numbers.
_Read = tuple[RealQuestion, list[Any], set[Any]]


def inequality_by_cvc5(
    hypotheses: Sequence[sp.Basic],
    conclusion: sp.Basic,
    seconds: int = SECONDS,
    attempts: Sequence[Attempt] = ATTEMPTS,
    begun: MutableMapping[tuple[bool, bool], _Read] | None = None,
) -> Verdict:
    """``hypotheses => conclusion`` over the reals by cvc5: the negation must be unsatisfiable.

    Hypotheses are taken to be defined; that the conclusion is defined is part of the question.  ``begun``: what earlier
    attempts read of these very hypotheses and conclusion, with the parts that are answered.

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
    near = hypotheses_near(given, goal)
    questions = {} if begun is None else begun
    for attempt in attempts:
        stated = near if attempt.near else given
        if attempt.near and not near:
            continue
        try:
            kind = (attempt.near, attempt.quotients)
            if kind not in questions:
                questions[kind] = _read(stated, goal, attempt.quotients)
        except ValueError as problem:
            return undecided(f"cvc5: {problem}")
        question, read, whole = questions[kind]
        if (attempt.quotients and not question.quotients) or (attempt.products and not question.products):
            continue
        answer, model = question.ask(attempt, seconds)
        if answer == "unsat":
            return holds("cvc5: the negation has no real solution")
        if answer == "sat" and not attempt.near:
            return _of_model(question, model, whole, read)
    return undecided("cvc5: unknown within its limits")


def hypotheses_near(given: Sequence[Any], goal: Any) -> list[Any]:
    """The hypotheses in the letters of the conclusion; none where these are all."""
    found = [each for each in given if each.free_symbols <= goal.free_symbols and each != sp.true]
    return found if len(found) < len([each for each in given if each != sp.true]) else []


def _read(given: list[Any], goal: Any, quotients: bool) -> _Read:
    """The question with the assumptions of its symbols as hypotheses, these hypotheses, and the symbols for whole numbers."""
    bare = _without_assumptions([*given, goal])
    assumed = [fact for symbol in sorted(bare, key=str) for fact in _assumed(symbol, bare[symbol])]
    read = [_as_it_stands(each, bare) for each in given] + assumed
    return (
        RealQuestion(read, _as_it_stands(goal, bare), quotients),
        read,
        {bare[symbol] for symbol in bare if symbol.is_integer},
    )


def _as_it_stands(statement: Any, bare: dict[Any, Any]) -> Any:
    """The statement in other symbols, nothing evaluated: ``0 < 1 or 1/x > 0`` would become true, also where x is zero."""
    if statement in (sp.true, sp.false) or not (statement.is_Boolean or statement.is_Relational):
        return statement.xreplace(bare)
    return statement.func(*(_as_it_stands(part, bare) for part in statement.args), evaluate=False)


def _without_assumptions(expressions: Iterable[Any]) -> dict[Any, Any]:
    """The symbols without their stored assumptions, which become hypotheses (sympy would evaluate them away)."""
    found = set().union(*(each.free_symbols for each in expressions))
    if len({each.name for each in found}) < len(found):
        raise ValueError("two different symbols have one name")
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


def _of_model(question: RealQuestion, model: dict[Any, Any], whole: set[Any], given: list[Any]) -> Verdict:
    """A model refutes only after substitution: all hypotheses true, the conclusion false, in rational numbers."""
    if question.opaque or set(model) != set(question.symbols):
        return undecided("cvc5: a model, but not one of rational numbers alone")
    if any(not model[symbol].is_Integer for symbol in whole & set(model)):
        return undecided("cvc5: a model, but not with whole numbers where the symbols stand for them")
    try:
        confirmed = all(each.subs(model) == sp.true for each in given) and question.goal.subs(model) == sp.false
    except TypeError:  # sympy compares nothing with a quotient by zero
        confirmed = False
    if confirmed:
        shown = ", ".join(f"{symbol} = {value}" for symbol, value in model.items())
        return fails(f"cvc5: the negation has a real solution, {shown}")
    return undecided("cvc5: a model that exact substitution does not confirm (a denominator is zero there)")
