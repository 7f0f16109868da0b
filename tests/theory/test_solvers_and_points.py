"""Random questions to both solvers and to exact points: what holds has no counterexample, and no two answers contradict.

The points are read by an evaluator that shares nothing with the solvers: fractions, and balls where roots and exponentials occur.
A hypothesis is taken to be defined; that every term of the conclusion has a value is part of the question.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from math import isqrt
from typing import Any

import pytest
import sympy as sp
from flint import arb, fmpq

from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.proving.cvc5_inequalities import ATTEMPTS, inequality_by_cvc5
from eigentoken.theory.proving.real_arithmetic import prove

x, y = sp.symbols("x y", real=True)
LETTERS = (
    x,
    y,
    sp.Symbol("p", positive=True),
    sp.Symbol("m", integer=True),
    sp.Symbol("k", integer=True, positive=True),
)
REAL = [
    Fraction(*pair)
    for pair in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2), (3, 1), (1, 4), (-7, 3), (9, 1))
]
KINDS = (sp.Eq, sp.Ne, sp.Lt, sp.Le, sp.Gt, sp.Ge)
Number = Fraction | arb
Point = Mapping[Any, Fraction]


class Unsure(Exception):
    """A ball that does not tell."""


def ball(number: Number) -> arb:
    return number if isinstance(number, arb) else arb(fmpq(number.numerator, number.denominator))


def sign(number: Number) -> int:
    if isinstance(number, Fraction):
        return (number > 0) - (number < 0)
    if number.contains(0):
        raise Unsure
    return 1 if number > 0 else -1


def root(number: Number) -> Number | None:
    if sign(number) < 0:
        return None
    if isinstance(number, Fraction):
        parts = isqrt(number.numerator), isqrt(number.denominator)
        if (parts[0] ** 2, parts[1] ** 2) == (number.numerator, number.denominator):
            return Fraction(*parts)
    return ball(number).sqrt()


def together(one: Number, other: Number, times: bool) -> Number:
    if not (isinstance(one, Fraction) and isinstance(other, Fraction)):
        one, other = ball(one), ball(other)
    return one * other if times else one + other


def value(term: Any, at: Point) -> Number | None:
    """The value of a term, or ``None`` where it has none."""
    if term.is_Symbol:
        return at[term]
    if term.is_Rational:
        return Fraction(int(term.p), int(term.q))
    if term is sp.E:
        return arb(1).exp()
    parts = [value(each, at) for each in term.args]
    if None in parts:
        return None
    if term.is_Add or term.is_Mul:
        total = parts[0]
        for each in parts[1:]:
            total = together(total, each, bool(term.is_Mul))
        return total
    first = parts[0]
    if isinstance(term, sp.exp):
        return Fraction(1) if first == 0 and isinstance(first, Fraction) else ball(first).exp()
    if isinstance(term, sp.Abs):
        return together(first, Fraction(sign(first)), True)
    if isinstance(term, sp.Max | sp.Min):
        larger = 1 if isinstance(term, sp.Max) else -1
        for each in parts[1:]:
            if sign(together(each, together(first, Fraction(-1), True), False)) == larger:
                first = each
        return first
    assert term.is_Pow, term
    if term.exp.is_Rational and term.exp.q == 2:
        first = root(first)
    elif not term.exp.is_Integer:
        raise Unsure
    power = int(term.exp.p)
    if first is None or (power < 0 and sign(first) == 0):
        return None
    return first**power if isinstance(first, Fraction) or power > 0 else 1 / first**-power


def truth(said: Any, at: Point) -> bool | None:
    """Is it true; ``None`` where a term of it has no value."""
    if said in (sp.true, sp.false):
        return said == sp.true
    if said.is_Relational:
        left, right = (value(each, at) for each in said.args)
        if left is None or right is None:
            return None
        order = sign(together(left, together(right, Fraction(-1), True), False))
        return {sp.Eq: order == 0, sp.Ne: order != 0, sp.Lt: order < 0, sp.Le: order <= 0, sp.Gt: order > 0}.get(
            said.func, order >= 0
        )
    parts = [truth(each, at) for each in said.args]
    if None in parts:
        return None
    return {sp.And: all(parts), sp.Or: any(parts), sp.Not: not parts[0], sp.Implies: not parts[0] or parts[-1]}[
        said.func
    ]


def refutes(hypotheses: list[Any], goal: Any, at: Point) -> bool:
    """The hypotheses are defined and true, the conclusion is false or has no value."""
    try:
        return all(truth(each, at) is True for each in hypotheses) and truth(goal, at) is not True
    except Unsure:
        return False


def points(letters: tuple[sp.Symbol, ...], source: random.Random, count: int) -> Iterator[Point]:
    for _ in range(count):
        at = {each: source.choice(REAL) for each in letters}
        yield {each: Fraction(int(number)) if each.is_integer else number for each, number in at.items()} | {
            each: abs(at[each]) + 1 if each.is_integer is None else Fraction(int(abs(at[each])) + 1)
            for each in letters
            if each.is_positive
        }


def term(source: random.Random, letters: tuple[sp.Symbol, ...], depth: int) -> Any:
    if depth == 0 or source.random() < 0.25:
        return (
            source.choice(letters)
            if source.random() < 0.75
            else sp.Rational(source.randint(-3, 3), source.choice((1, 1, 2)))
        )
    one = term(source, letters, depth - 1)
    kind = source.choice("++--**//22aersM")
    if kind in "2aers":
        small = {
            "2": one**2,
            "a": sp.Abs(one),
            "e": sp.exp(one) if depth == 1 else one + 1,
            "r": sp.sqrt(one),
            "s": -one,
        }
        return small[kind]
    other = term(source, letters, depth - 1)
    if kind == "M":
        return source.choice((sp.Max, sp.Min))(one, other) if one.is_real and other.is_real else one - other
    return {"+": one + other, "-": one - other, "*": one * other, "/": one / other if other != 0 else one}[kind]


def relation(source: random.Random, letters: tuple[sp.Symbol, ...], depth: int) -> Any:
    while True:
        left, right = term(source, letters, depth), term(source, letters, source.randint(0, depth))
        both = left - right
        if not (
            both.has(sp.zoo, sp.nan, sp.oo, sp.I) or left.has(sp.zoo, sp.nan, sp.I) or right.has(sp.zoo, sp.nan, sp.I)
        ):
            return source.choice(KINDS)(left, right, evaluate=False)


def question(source: random.Random, depth: int) -> tuple[tuple[sp.Symbol, ...], list[Any], Any]:
    letters = tuple(source.sample(LETTERS, source.choice((1, 2, 2))))
    hypotheses = [relation(source, letters, depth) for _ in range(source.choice((0, 1, 1, 2)))]
    goal = relation(source, letters, depth)
    kind = source.choice((None, None, sp.Or, sp.And, sp.Implies))
    if kind is not None:
        goal = kind(goal, relation(source, letters, depth), evaluate=False)
    if hypotheses and source.random() < 0.4:  # so that something holds
        goal = sp.Or(goal, hypotheses[0], evaluate=False)
    return letters, hypotheses, goal


def answers(hypotheses: list[Any], goal: Any, seconds: float) -> dict[str, Verdict]:
    """What each solver says; ``TypeError`` and ``ValueError`` refuse a question."""
    found = {}
    with suppress(TypeError, ValueError):
        found["z3"] = prove(hypotheses, goal, seconds=seconds, vacuous_allowed=True)
    quick = [each for each in ATTEMPTS if each.budget <= 20_000]
    found["cvc5"] = inequality_by_cvc5(hypotheses, goal, attempts=quick)
    return found


def contradiction(source: random.Random, depth: int, seconds: float, count: int) -> tuple[str, dict[str, str]]:
    """What is wrong with the answers to one random question (empty: nothing), and the answers."""
    letters, hypotheses, goal = question(source, depth)
    found = answers(hypotheses, goal, seconds)
    said = {name: each.answer.value for name, each in found.items()}
    told = f"{hypotheses} => {goal}: {said}"
    if {"holds", "fails"} <= set(said.values()):
        return f"two answers: {told}", said
    if "holds" in said.values():
        for at in points(letters, source, count):
            if refutes(hypotheses, goal, at):
                return f"false at {at}: {told}", said
    return "", said


def test_what_a_solver_proves_is_true_at_points() -> None:
    source = random.Random(0)
    found = [contradiction(source, 1, 1.0, 40) for _ in range(30)]
    assert [each for each, _ in found if each] == []
    assert {said["cvc5"] for _, said in found} >= {"holds", "fails"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_questions(seed: int) -> None:
    source = random.Random(seed)
    assert [each for each in (contradiction(source, 2, 2.0, 200)[0] for _ in range(40)) if each] == []


def test_the_test_can_fail() -> None:
    """An arithmetic that forgets where terms are defined, and one that says yes, would be found."""
    assert refutes([], sp.Gt(1 / x + 1, 1 / x, evaluate=False), {x: Fraction(0)})
    assert not refutes([sp.Gt(1 / x, 0)], sp.Gt(x, 0), {x: Fraction(0)})
    assert refutes([sp.Ge(x, 0)], sp.Gt(sp.sqrt(x), 0), {x: Fraction(0)})
    assert refutes([], sp.Gt(sp.sqrt(x) + 1, 0, evaluate=False), {x: Fraction(-1)})
    assert not refutes([], sp.Gt(sp.exp(x), x), {x: Fraction(2)}) and refutes([], sp.Lt(sp.exp(x), x), {x: Fraction(2)})
    assert refutes([sp.Gt(x, y)], sp.Implies(x > 0, y > 0), {x: Fraction(1), y: Fraction(0)})
