"""Enclosures of closed forms: sympy expressions without free symbols, evaluated in complex balls (Arb).

Every operation returns a ball that contains the exact value for every choice of the inputs in their balls, so a ball
that excludes zero decides a sign.  Reference: F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval
arithmetic, IEEE Trans. Computers 66 (2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp
from flint import acb, arb, ctx, fmpq

__all__ = ["evaluate", "sign"]

_FUNCTIONS: dict[Any, Callable[[Any], Any]] = {
    sp.exp: lambda z: z.exp(),
    sp.log: lambda z: z.log(),
    sp.sin: lambda z: z.sin(),
    sp.cos: lambda z: z.cos(),
    sp.tan: lambda z: z.tan(),
    sp.sinh: lambda z: z.sinh(),
    sp.cosh: lambda z: z.cosh(),
    sp.tanh: lambda z: z.tanh(),
    sp.atan: lambda z: z.atan(),
    sp.asin: lambda z: z.asin(),
    sp.acos: lambda z: z.acos(),
    sp.atanh: lambda z: z.atanh(),
    sp.re: lambda z: acb(z.real),
    sp.im: lambda z: acb(z.imag),
}


def evaluate(expression: sp.Expr, digits: int = 40) -> arb | acb:
    """A ball that contains the value, or ``None`` where some operation is not defined (division by a ball at zero).

    >>> evaluate(sp.log(3) - sp.log(2)).real > 0
    True
    """
    before = ctx.dps
    ctx.dps = digits
    try:
        ball = _ball(sp.sympify(expression))
    finally:
        ctx.dps = before
    return ball if ball.is_finite() else None


def _ball(expression: Any) -> Any:
    if expression.is_Rational:
        return acb(fmpq(int(expression.p), int(expression.q)))
    if expression.is_Float:  # a binary float is an exact rational
        return _ball(sp.Rational(expression))
    if expression is sp.pi:
        return acb(arb.pi())
    if expression is sp.E:
        return acb(1).exp()
    if expression is sp.I:
        return acb(0, 1)
    if expression.is_Add:
        total = acb(0)
        for part in expression.args:
            total += _ball(part)
        return total
    if expression.is_Mul:
        product = acb(1)
        for part in expression.args:
            product *= _ball(part)
        return product
    if isinstance(expression, sp.Pow):
        base, exponent = expression.args
        inside = _ball(base)
        if exponent.is_Integer:
            return inside ** int(exponent)
        if exponent == sp.Rational(1, 2):
            return inside.sqrt()
        return inside ** _ball(exponent)
    if isinstance(expression, sp.Abs):
        return acb(abs(_ball(expression.args[0])))
    if isinstance(expression, sp.Max | sp.Min):
        parts = [_ball(part).real for part in expression.args]
        chosen = parts[0]
        for part in parts[1:]:
            chosen = chosen.max(part) if isinstance(expression, sp.Max) else chosen.min(part)
        return acb(chosen)
    function = _FUNCTIONS.get(expression.func)
    if function is not None:
        return function(_ball(expression.args[0]))
    raise ValueError(f"no ball evaluation for {expression.func.__name__} in {expression}: rewrite it first")


def sign(expression: sp.Expr, most_digits: int = 640) -> int | None:
    """The sign of a real closed form, exactly; ``None`` where 640 digits cannot tell it from zero."""
    if expression.is_Rational:
        return int(sp.sign(expression))
    digits = 20
    while digits <= most_digits:
        ball = evaluate(expression, digits)
        if ball is not None:
            if ball.real > 0:
                return 1
            if ball.real < 0:
                return -1
            if ball.real == 0:
                return 0
        digits *= 2
    return None
