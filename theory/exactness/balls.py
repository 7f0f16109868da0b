"""Ball arithmetic at a stated precision: python-flint's ``arb``, with the precision of one computation only."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sympy
from flint import acb, arb, ctx, fmpq

__all__ = ["PRECISIONS", "expression_ball", "precision", "rational_ball"]

#: Bits that a decision tries, in turn, before it is left open.
PRECISIONS = (96, 192, 384, 768, 1536, 3072)


def _ball_from(middle: tuple[int, int] | str, radius: tuple[int, int]) -> arb:
    return arb(middle) if isinstance(middle, str) else arb(middle, radius)


def _ball_parts(ball: arb) -> tuple[Callable[..., arb], tuple[object, ...]]:
    """A ball is kept by its middle and radius, each a whole number times a power of two: nothing is rounded."""
    if not ball.is_finite():
        return _ball_from, ("nan", (0, 0))  # an enclosure of everything
    middle, radius = ball.mid().man_exp(), ball.rad().man_exp()
    return _ball_from, ((int(middle[0]), int(middle[1])), (int(radius[0]), int(radius[1])))


copyreg.pickle(arb, _ball_parts)  # so that answers go from one process to another, and into a file of a notebook
copyreg.pickle(acb, lambda ball: (acb, (ball.real, ball.imag)))


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls inside the block are computed with this many bits."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def rational_ball(value: Any) -> arb:
    """A ball around a rational number, at the current precision."""
    ratio = fmpq(value)
    return arb(ratio.p) / arb(ratio.q)


def expression_ball(value: sympy.Expr, bits: int) -> arb:
    """An enclosure of a real sympy number of rationals, powers, ``exp``, ``log``, e and pi (NaN where undefined)."""
    with precision(bits):
        return _ball(value)


def _ball(value: sympy.Expr) -> arb:
    if value.is_Rational:
        return arb(int(value.p)) / arb(int(value.q))
    if value is sympy.E:
        return arb.const_e()
    if value is sympy.pi:
        return arb.pi()
    if value.is_Add:
        return sum((_ball(term) for term in value.args), arb(0))
    if value.is_Mul:
        product = arb(1)
        for factor in value.args:
            product *= _ball(factor)
        return product
    if isinstance(value, sympy.exp):
        return _ball(value.args[0]).exp()
    if isinstance(value, sympy.log):
        return _ball(value.args[0]).log()
    if value.is_Pow:
        base, exponent = value.args
        if exponent.is_Integer:
            return _ball(base) ** int(exponent)
        if exponent.is_Rational:
            return _ball(base).root(int(exponent.q)) ** int(exponent.p)
        return (_ball(exponent) * _ball(base).log()).exp()
    raise ValueError(f"no ball for {value}: expected a number of rationals, roots, logarithms and exponentials")
