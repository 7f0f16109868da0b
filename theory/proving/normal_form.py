"""Deciding scalar identities: a normal form that proves, a ball evaluation that refutes, and never a guess.

``simplify(...) == 0`` is not used.  An expression in symbols, rational functions, roots, exponentials, hyperbolic
functions and logarithms is brought to a quotient of polynomials in independent generators; the identity holds when the
numerator is the zero polynomial.  When it is not, balls at rational points decide whether the expression is really
nonzero (then the identity fails, with the point as witness), and otherwise the answer is undecided.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["identity_verdict", "numerator_polynomial", "rational_point", "value_ball"]


def _exact(expression: Any) -> Any:
    """Binary floats as the rationals that they are: float arithmetic could round a difference to zero."""
    read = sp.sympify(expression)
    return read.xreplace({each: sp.Rational(each) for each in read.atoms(sp.Float)})


def _prepared(expression: Any) -> Any:
    """Hyperbolic functions as exponentials, products of exponentials split, powers expanded."""
    rewritten = sp.sympify(expression).replace(
        lambda each: isinstance(each, HyperbolicFunction), lambda each: each.rewrite(sp.exp)
    )
    return sp.expand_power_exp(sp.expand_log(rewritten, force=False))


def _generators(expression: Any) -> dict[Any, Any]:
    """Replace each exponential e^u by a power of a positive generator, so that e^{2u} is seen as (e^u)^2."""
    exponents = {each.args[0] for each in expression.atoms(sp.exp)}
    bases: dict[Any, Any] = {}
    for exponent in exponents:
        content, primitive = exponent.as_content_primitive()
        if primitive.could_extract_minus_sign():
            content, primitive = -content, -primitive
        bases.setdefault(primitive, []).append(content)
    replacement: dict[Any, Any] = {}
    for primitive, contents in bases.items():
        denominator = sp.ilcm(1, *(content.q for content in contents))
        generator = sp.Dummy(f"e[{primitive}]", positive=True)
        for content in contents:
            replacement[sp.exp(content * primitive)] = generator ** int(content * denominator)
    return replacement


def numerator_polynomial(expression: Any) -> Any:
    """The numerator, expanded, of the expression over independent generators; zero proves that it vanishes."""
    prepared = _prepared(expression)
    generated = prepared.xreplace(_generators(prepared))
    numerator, _ = sp.fraction(sp.together(generated))
    expanded = sp.expand(numerator)
    if expanded == 0:
        return sp.Integer(0)
    roots = [each for each in expanded.atoms(sp.Pow) if each.exp.is_Rational and not each.exp.is_Integer]
    if roots or expanded.is_number:
        cancelled, _ = sp.fraction(sp.together(sp.expand(sp.radsimp(expanded))))
        return sp.expand(cancelled)
    return expanded


def rational_point(symbols: Iterable[Any], seed: int) -> dict[Any, Any]:
    """A rational point that respects the symbols' assumptions (positive, integer)."""
    source = random.Random(seed)
    point = {}
    for symbol in sorted(symbols, key=str):
        value = sp.Rational(source.randint(2, 19)) if symbol.is_integer else sp.Rational(source.randint(1, 97), 41)
        if not (symbol.is_positive or symbol.is_nonnegative or symbol.is_integer) and source.random() < 0.5:
            value = -value
        point[symbol] = value
    return point


def value_ball(expression: Any, point: Mapping[Any, Any], digits: int = 40) -> Any:
    """An enclosure (``flint.acb``) of the expression at an exact point, or ``None`` where it is not defined."""
    from eigentoken.theory.proving.ball_evaluation import evaluate

    try:
        return evaluate(sp.sympify(expression).xreplace(dict(point)), digits)
    except ValueError:  # a function that balls do not know: nothing is said
        return None


def identity_verdict(left: Any, right: Any, *, points: int = 12) -> Verdict:
    """Does ``left = right`` hold identically, where both sides are defined?

    >>> x = sp.Symbol("x", real=True)
    >>> identity_verdict(sp.tanh(x), (sp.exp(2 * x) - 1) / (sp.exp(2 * x) + 1)).answer.value
    'holds'
    >>> identity_verdict(sp.cosh(2 * x), 1 - 2 * sp.sinh(x) ** 2).answer.value
    'fails'
    """
    difference = _exact(left) - _exact(right)
    if numerator_polynomial(difference) == 0:
        return holds("normal form: the difference is the zero polynomial over independent generators")
    for seed in range(points):
        point = rational_point(difference.free_symbols, seed)
        ball = value_ball(difference, point)
        if ball is not None and not ball.contains(0):
            where = ", ".join(f"{symbol} = {value}" for symbol, value in point.items())
            return fails(f"the sides differ by {ball.real.str(8, radius=False)} at {where or 'the numbers given'}")
    return undecided(f"the normal form is not zero and {points} rational points did not tell the sides apart")
