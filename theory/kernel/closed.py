"""Closed terms, numbers without letters such as ``exp(5 - 5 sqrt(5))``: their signs are decided in balls, not by rounding.

sympy compares such numbers by evaluating them to a few digits.  Here a relation with one of them in it stays as it is written
(:func:`compared`); what proves it is a rule (:func:`~.arithmetic.enclosure`), or a solver.  Whether a closed term has a value,
and of which sort it is, is decided in real balls as well (Arb): each operation gives a ball that contains the exact value, and
where one is not defined on a whole ball (a quotient by a ball around 0, the logarithm of one) there is none.
Reference: F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic, IEEE Trans. Computers 66 (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from operator import add, is_, mul
from typing import Any

import sympy as sp
from flint import arb, ctx, fmpq
from sympy.matrices.exceptions import NonInvertibleMatrixError

from eigentoken.theory.kernel.refused import Refused

__all__ = ["balls", "compared", "exchange", "irrational", "is_closed", "positive", "settled", "sign"]

#: Bits at which a sign is looked for: beyond the last, two numbers are not told apart.
BITS = (64, 128, 512, 2048)
_NAMES = ("exp", "log", "sin", "cos", "atan", "sinh", "cosh", "tanh", "coth", "sech", "csch")
_FUNCTIONS: dict[type, Callable[[arb], arb]] = {getattr(sp, name): getattr(arb, name) for name in _NAMES}
_FUNCTIONS[sp.Abs] = arb.__abs__
_SEVERAL: dict[type, Callable[[arb, arb], arb]] = {sp.Add: add, sp.Mul: mul, sp.Max: arb.max, sp.Min: arb.min}
#: What sympy rewrites by the sign of what stands in it.
_BY_SIGN = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.floor, sp.Piecewise)


@lru_cache(maxsize=50_000)
def irrational(term: Any) -> bool:
    """Is a number that is not rational, or not known to be, a part of it?"""
    parts = sp.sympify(term).atoms(sp.NumberSymbol, sp.Function, sp.Pow)
    return any(each.is_number and not each.is_Rational for each in parts)


def is_closed(term: Any) -> bool:
    """Is it a number, without letters and without quantities?"""
    return isinstance(term, sp.Expr) and bool(term.is_number)


def compared(kind: Any, left: Any, right: Any) -> Any:
    """The relation; decided where rational numbers, or what the letters in it are declared to be, decide it.

    >>> compared(sp.Gt, sp.Integer(2), sp.Integer(1)), compared(sp.Gt, sp.sqrt(2), sp.Integer(1))
    (True, sqrt(2) > 1)
    """
    return kind(left, right, evaluate=not (irrational(left) or irrational(right)))


def settled(kind: Any, term: Any) -> Any:
    """``term R 0``; of a closed term decided in balls, where these tell it from zero."""
    found = sign(term) if is_closed(term) and not term.is_Rational else None
    return compared(kind, term, sp.Integer(0)) if found is None else kind(sp.Integer(found), 0)


def positive(term: Any) -> bool:
    """Is it known to be positive: by what its letters are declared to be, or, where there is none, in balls?"""
    return sign(term) == 1 if is_closed(term) else not irrational(term) and term.is_positive is True


def exchange(thing: Any, table: Mapping[Any, Any]) -> Any:
    """Parts of a term, a relation or a Boolean replaced; no relation is decided by rounding on the way."""
    if isinstance(thing, sp.core.relational.Relational | sp.And | sp.Or | sp.Not | sp.Implies | sp.Equivalent):
        parts = [exchange(part, table) for part in thing.args]
        if all(map(is_, parts, thing.args)):
            return thing
        return compared(thing.func, *parts) if isinstance(thing, sp.core.relational.Relational) else thing.func(*parts)
    numbers = [old for old, new in table.items() if isinstance(new, sp.Expr) and irrational(new)]
    if numbers and any(each.has(*numbers) for each in _by_sign(thing)):
        raise Refused(
            f"{thing} at a number that is not rational: what it is depends on a sign, give the number a letter"
        )
    try:
        found = thing.xreplace(table)
        return found.doit() if any(isinstance(old, sp.MatrixSymbol) for old in table) else found
    except NonInvertibleMatrixError as problem:
        raise Refused(f"{thing}: a matrix in it would have no inverse") from problem


def _by_sign(term: Any) -> Iterator[Any]:
    yield from term.atoms(*_BY_SIGN)
    yield from (each for each in term.atoms(sp.Pow) if not each.exp.is_Integer)


class _NoValue(Exception):
    """Some operation is not defined on the whole ball."""


def balls(*terms: Any, bits: int = 128) -> tuple[arb, ...] | None:
    """Balls that contain the values of closed real terms; ``None`` where one is not known to have a value."""
    before, ctx.prec = ctx.prec, bits
    try:
        return tuple(map(_ball, terms))
    except _NoValue:
        return None
    finally:
        ctx.prec = before


@lru_cache(maxsize=20_000)
def sign(term: Any) -> int | None:
    """1 or -1: the sign of a closed term that has a value and is not zero; ``None`` where the balls do not tell."""
    for bits in BITS:
        found = balls(term, bits=bits)
        if found is not None and (found[0] > 0 or found[0] < 0):
            return 1 if found[0] > 0 else -1
    return None


def _ball(term: Any) -> arb:
    found = _value(term)
    if not found.is_finite():
        raise _NoValue
    return found


def _value(term: Any) -> arb:
    if term.is_Rational:
        return arb(fmpq(int(term.p), int(term.q)))
    if term is sp.pi or term is sp.E:
        return arb.pi() if term is sp.pi else arb(1).exp()
    if isinstance(term, sp.Pow):
        return _power(_ball(term.base), term.exp)
    if term.func in _SEVERAL:
        first, *rest = map(_ball, term.args)
        for each in rest:
            first = _SEVERAL[term.func](first, each)
        return first
    if term.func in _FUNCTIONS:
        return _FUNCTIONS[term.func](_ball(term.args[0]))
    raise _NoValue


def _power(base: arb, exponent: Any) -> arb:
    """An integer power; of a positive number, or a root of 0, any other."""
    if exponent.is_Integer:
        if not exponent.is_negative:
            return base ** int(exponent)
        return 1 / base ** -int(exponent)
    if base == 0 and exponent.is_Rational and exponent > 0:
        return base
    if not base > 0:
        raise _NoValue
    return (_ball(exponent) * base.log()).exp()
