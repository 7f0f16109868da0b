"""Numbers for free predicates: exact where they are rational, enclosed elsewhere, and every comparison is proved or refused.

A predicate that was written for numpy arrays of floats runs on arrays of these as it stands; what it then answers is certified.
A comparison that the enclosures do not settle, and any way back into floats, raises :class:`NotDecided`: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import sympy as sp
from flint import acb, arb, ctx, fmpq, fmpz

from eigentoken.theory.exactness.balls import expression_ball

__all__ = ["DecidedNumber", "NotDecided", "decided"]


class NotDecided(Exception):
    """A comparison that the enclosures leave open, or an operation that has no certified answer.

    ``made`` counts them, so that a predicate which catches one and goes on is found out.
    """

    made = 0

    def __init__(self, *said: object) -> None:
        super().__init__(*said)
        NotDecided.made += 1


class DecidedNumber:
    """A number: ``fmpq`` where it is known exactly, otherwise an ``arb`` or ``acb`` that holds it.

    >>> third = decided(sp.Rational(1, 3))
    >>> third + third + third == 1, third < 0.4
    (True, True)
    >>> decided(sp.sqrt(2)) > 1.4142, decided(sp.Rational(9, 4)).sqrt() == 1.5
    (True, True)
    """

    __slots__ = ("value",)
    #: sympy numbers on the left leave the operation to this class.
    _op_priority = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"DecidedNumber({self.value})"

    # ------------------------------------------------------------------ arithmetic

    def __add__(self, other: Any) -> Any:
        return _both(self, other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return _both(self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return _both(self, other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return _both(self, other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return _both(self, other, _quotient)

    def __rtruediv__(self, other: Any) -> Any:
        return _both(self, other, lambda a, b: _quotient(b, a))

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> DecidedNumber:
        return DecidedNumber(-self.value)

    def __pos__(self) -> DecidedNumber:
        return self

    def __abs__(self) -> DecidedNumber:
        return DecidedNumber(abs(self.value))

    def __pow__(self, exponent: Any) -> Any:
        power = decided(exponent)
        if power is NotImplemented:
            return NotImplemented
        if not isinstance(power.value, fmpq):
            return (power * self.log()).exp()
        if power.value.q == 1:
            whole = int(power.value.p)
            return 1 / DecidedNumber(self.value ** (-whole)) if whole < 0 else DecidedNumber(self.value**whole)
        if power.value.q == 2:
            return self.sqrt() ** DecidedNumber(fmpq(power.value.p))
        return (power * self.log()).exp()

    def __rpow__(self, base: Any) -> Any:
        ground = decided(base)
        return NotImplemented if ground is NotImplemented else ground**self

    # ------------------------------------------------------------------ comparisons: proved, or refused

    def __eq__(self, other: object) -> Any:
        gap = self - other
        if gap is NotImplemented:
            return NotImplemented
        if isinstance(gap.value, fmpq):
            return bool(gap.value == 0)
        if gap.value.is_zero():
            return True
        if not _finite(gap.value) or gap.value.contains(0):
            raise NotDecided("the enclosures do not tell whether two numbers are equal")
        return False

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    def __lt__(self, other: Any) -> Any:
        sign = _sign(self - other)
        return sign if sign is NotImplemented else _settled(sign, {-1: True, 0: False, 1: False})

    def __gt__(self, other: Any) -> Any:
        sign = _sign(self - other)
        return sign if sign is NotImplemented else _settled(sign, {-1: False, 0: False, 1: True})

    def __le__(self, other: Any) -> Any:
        sign = _sign(self - other)
        return sign if sign is NotImplemented else _settled(sign, {-1: True, 0: True, 1: False})

    def __ge__(self, other: Any) -> Any:
        sign = _sign(self - other)
        return sign if sign is NotImplemented else _settled(sign, {-1: False, 0: True, 1: True})

    def __bool__(self) -> bool:
        return not self.__eq__(0)

    # ------------------------------------------------------------------ no way back into floats

    def __float__(self) -> float:
        raise NotDecided("the predicate turns exact numbers into floats")

    def __complex__(self) -> complex:
        raise NotDecided("the predicate turns exact numbers into floats")

    def __int__(self) -> int:
        if isinstance(self.value, fmpq) and self.value.q == 1:
            return int(self.value.p)
        raise NotDecided("the predicate rounds a number to an integer")

    # ------------------------------------------------------------------ what numpy asks of objects

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """``numpy.isclose(number, 1)`` and the like, as for an array without axes."""
        from eigentoken.numerics.lab.decided_arrays import decided_array

        return function(*(decided_array(each) if isinstance(each, DecidedNumber) else each for each in args), **kwargs)

    @property
    def real(self) -> DecidedNumber:
        return DecidedNumber(self.value.real) if isinstance(self.value, acb) else self

    @property
    def imag(self) -> DecidedNumber:
        return DecidedNumber(self.value.imag if isinstance(self.value, acb) else fmpq(0))

    def conjugate(self) -> DecidedNumber:
        return DecidedNumber(self.value.conjugate()) if isinstance(self.value, acb) else self

    def sqrt(self) -> DecidedNumber:
        if isinstance(self.value, fmpq) and self.value >= 0:
            top, bottom = fmpz(self.value.p).isqrt(), fmpz(self.value.q).isqrt()
            if top * top == self.value.p and bottom * bottom == self.value.q:
                return DecidedNumber(fmpq(top, bottom))
        return self._of("sqrt")

    def exp(self) -> DecidedNumber:
        return DecidedNumber(fmpq(1)) if self._is_exactly(0) else self._of("exp")

    def log(self) -> DecidedNumber:
        return DecidedNumber(fmpq(0)) if self._is_exactly(1) else self._of("log")

    def sin(self) -> DecidedNumber:
        return self if self._is_exactly(0) else self._of("sin")

    def cos(self) -> DecidedNumber:
        return DecidedNumber(fmpq(1)) if self._is_exactly(0) else self._of("cos")

    def tan(self) -> DecidedNumber:
        return self if self._is_exactly(0) else self._of("tan")

    def sinh(self) -> DecidedNumber:
        return self if self._is_exactly(0) else self._of("sinh")

    def cosh(self) -> DecidedNumber:
        return DecidedNumber(fmpq(1)) if self._is_exactly(0) else self._of("cosh")

    def tanh(self) -> DecidedNumber:
        return self if self._is_exactly(0) else self._of("tanh")

    def arccos(self) -> DecidedNumber:
        return self._of("acos")

    def arcsin(self) -> DecidedNumber:
        return self._of("asin")

    def arctan(self) -> DecidedNumber:
        return self._of("atan")

    def _is_exactly(self, number: int) -> bool:
        return isinstance(self.value, fmpq) and bool(self.value == number)

    def _of(self, name: str) -> DecidedNumber:
        found = getattr(enclosure(self), name)()
        if not _finite(found):
            raise NotDecided(f"{name} of {self.value} has no finite enclosure")
        return DecidedNumber(found)


def decided(value: Any) -> Any:
    """The number for a Python, numpy, flint or sympy number (a float is the binary fraction that it is)."""
    if isinstance(value, DecidedNumber):
        return value
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return DecidedNumber(fmpq(int(value)))
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            raise NotDecided(f"{value} is compared with a number")
        exact = Fraction(float(value))
        return DecidedNumber(fmpq(exact.numerator, exact.denominator))
    if isinstance(value, fmpq | arb | acb):
        return DecidedNumber(value)
    if isinstance(value, sp.Expr):
        if value.is_Rational:
            return DecidedNumber(fmpq(int(value.p), int(value.q)))
        if value.has(sp.Float):
            raise NotDecided("a float of sympy is no exact number")
        try:
            return DecidedNumber(expression_ball(value, ctx.prec))
        except ValueError as problem:
            raise NotDecided(str(problem)) from None
    if isinstance(value, Rational):
        return DecidedNumber(fmpq(int(value.numerator), int(value.denominator)))
    return NotImplemented


def enclosure(number: DecidedNumber) -> Any:
    """The number as a ball at the present precision."""
    value = number.value
    return arb(value.p) / arb(value.q) if isinstance(value, fmpq) else value


def _both(first: DecidedNumber, second: Any, operation: Callable[[Any, Any], Any]) -> Any:
    other = decided(second) if not isinstance(second, np.ndarray) else NotImplemented
    if other is NotImplemented:
        return NotImplemented
    if isinstance(first.value, fmpq) and isinstance(other.value, fmpq):
        return DecidedNumber(operation(first.value, other.value))
    return DecidedNumber(operation(enclosure(first), enclosure(other)))


def _quotient(a: Any, b: Any) -> Any:
    if isinstance(b, fmpq):
        if b == 0:
            raise NotDecided("the predicate divides by zero")
        return a / b
    if b.contains(0):
        raise NotDecided("the predicate divides by a number that may be zero")
    return a / b


def _finite(value: Any) -> bool:
    return bool(value.is_finite())


def _sign(gap: Any) -> Any:
    """The sign of a difference, ``None`` where the enclosure does not tell."""
    if gap is NotImplemented:
        return gap
    value = gap.value
    if isinstance(value, acb):
        if not value.imag.is_zero():
            raise NotDecided("a complex number is compared by size")
        value = value.real
    if isinstance(value, fmpq):
        return int(value > 0) - int(value < 0)
    if value.is_zero():
        return 0
    return 1 if value > 0 else -1 if value < 0 else None


def _settled(sign: int | None, answers: dict[int, bool]) -> bool:
    if sign is None:
        raise NotDecided("the enclosures do not tell which of two numbers is larger")
    return answers[sign]
