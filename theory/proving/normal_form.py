"""Deciding scalar identities: a normal form that proves, a ball evaluation that refutes, and never a guess.

``simplify(...) == 0`` is not used.  An expression in symbols, rational functions, roots, exponentials, hyperbolic
functions and logarithms is brought to a quotient of polynomials in independent generators; the identity holds when the
numerator is the zero polynomial.  When it is not, balls at rational points decide whether the expression is really
nonzero (then the identity fails, with the point as witness), and otherwise the answer is undecided.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import lcm
from typing import Any

import sympy as sp
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.polys.rings import PolyElement, ring

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["Quotients", "identity_verdict", "numerator_polynomial", "rational_point", "value_ball"]

#: Points that are tried before the whole normal form is computed.
EARLY = 2


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


class Quotients:
    """Expressions as quotients of sparse polynomials: every symbol, root and opaque part is a generator of its own.

    A zero numerator proves that the expression vanishes where it is defined.  One that is not zero proves nothing: that
    ``(b^(1/N))^N = b`` is not known here.
    """

    def __init__(self, expression: Any, letters: Sequence[Any] = ()) -> None:
        self.roots: dict[Any, int] = {}
        self.atoms: dict[Any, None] = dict.fromkeys(letters)
        self._collect(expression)
        keys = [*self.roots, *self.atoms]
        self.ring, *generators = ring([f"g{index}" for index in range(max(1, len(keys)))], sp.QQ)
        self.generators = dict(zip(keys, generators, strict=False))

    def _collect(self, node: Any) -> None:
        if node.is_Rational:
            return
        if node.is_Add or node.is_Mul:
            for part in node.args:
                self._collect(part)
        elif node.is_Pow and node.exp.is_Integer:
            self._collect(node.base)
        elif node.is_Pow and node.exp.is_Rational:
            self.roots[node.base] = lcm(self.roots.get(node.base, 1), int(node.exp.q))
        else:
            self.atoms[node] = None

    def numerator(self, node: Any) -> PolyElement:
        """:raises ZeroDivisionError: a denominator vanishes identically."""
        return self.quotient(node)[0]

    def quotient(self, node: Any) -> tuple[PolyElement, Counter[PolyElement]]:
        """The numerator, and the monic factors of the denominator with their powers."""
        if node.is_Rational:
            return self.ring(sp.QQ(int(node.p), int(node.q))), Counter()
        if node.is_Add:
            return self._sum([self.quotient(part) for part in node.args])
        if node.is_Mul:
            top, bottom = self.ring.one, Counter[PolyElement]()
            for part in node.args:
                more, below = self.quotient(part)
                top *= more
                bottom.update(below)
            return top, bottom
        if node.is_Pow and node.exp.is_Integer:
            return self._power(self.quotient(node.base), int(node.exp))
        if node.is_Pow and node.exp.is_Rational:
            share = int(node.exp * self.roots[node.base])  # b^(p/q) = (b^(1/N))^(p N/q)
            return self._power((self.generators[node.base], Counter()), share)
        return self.generators[node], Counter()

    def _sum(self, parts: list[tuple[PolyElement, Counter[PolyElement]]]) -> tuple[PolyElement, Counter[PolyElement]]:
        common = Counter[PolyElement]()
        for _, below in parts:
            common |= below
        total = self.ring.zero
        for top, below in parts:
            for factor, times in common.items():
                if times > below[factor]:
                    top = top * factor ** (times - below[factor])
            total += top
        return total, common

    def _power(
        self, base: tuple[PolyElement, Counter[PolyElement]], exponent: int
    ) -> tuple[PolyElement, Counter[PolyElement]]:
        top, bottom = base
        if exponent >= 0:
            return top**exponent, Counter({factor: times * exponent for factor, times in bottom.items()})
        if not top:
            raise ZeroDivisionError("a denominator is identically zero")
        above = self.ring.one * (1 / top.LC) ** -exponent
        for factor, times in bottom.items():
            above *= factor ** (-times * exponent)
        return above, Counter({top.monic(): -exponent})


def _vanishes(generated: Any) -> bool:
    """Is the numerator zero over generators that are all independent?  ``False`` proves nothing."""
    try:
        return not Quotients(generated).numerator(generated)
    except ZeroDivisionError:
        return False


def _generated(expression: Any) -> Any:
    prepared = _prepared(expression)
    return prepared.xreplace(_generators(prepared))


def numerator_polynomial(expression: sp.Expr) -> sp.Expr:
    """The numerator, expanded, of the expression over independent generators; zero proves that it vanishes."""
    generated = _generated(expression)
    if _vanishes(generated):
        return sp.Integer(0)
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


def _told_apart(difference: Any, points: int) -> Iterator[Verdict | None]:
    """For each rational point the refutation that it gives, or ``None``."""
    for seed in range(points):
        point = rational_point(difference.free_symbols, seed)
        ball = value_ball(difference, point)
        if ball is None or ball.contains(0):
            yield None
            continue
        where = ", ".join(f"{symbol} = {value}" for symbol, value in point.items())
        yield fails(f"the sides differ by {ball.real.str(8, radius=False)} at {where or 'the numbers given'}")


def identity_verdict(left: sp.Expr, right: sp.Expr, *, points: int = 12) -> Verdict:
    """Does ``left = right`` hold identically, where both sides are defined?

    >>> x = sp.Symbol("x", real=True)
    >>> identity_verdict(sp.tanh(x), (sp.exp(2 * x) - 1) / (sp.exp(2 * x) + 1)).answer.value
    'holds'
    >>> identity_verdict(sp.cosh(2 * x), 1 - 2 * sp.sinh(x) ** 2).answer.value
    'fails'
    """
    return _zero_verdict(_exact(left) - _exact(right), points)


@lru_cache(maxsize=4096)  # a step of the book is asked by its page, by the ledger and by the statements that rest on it
def _zero_verdict(difference: sp.Expr, points: int) -> Verdict:
    """Is the exact expression zero wherever it is defined?"""
    zero = holds("normal form: the difference is the zero polynomial over independent generators")
    if _vanishes(_generated(difference)):
        return zero
    told_apart = _told_apart(difference, points)
    for refuted in islice(told_apart, EARLY):  # most wrong identities end here, without their normal form
        if refuted is not None:
            return refuted
    if numerator_polynomial(difference) == 0:
        return zero
    for refuted in told_apart:
        if refuted is not None:
            return refuted
    return undecided(f"the normal form is not zero and {points} rational points did not tell the sides apart")
