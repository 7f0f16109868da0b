"""Numbers for free predicates: exact where they are rational, enclosed elsewhere, and every comparison is proved or refused.

A predicate that was written for numpy arrays of floats runs on arrays of these as it stands; what it then answers is certified.
A comparison that the enclosures do not settle is decided exactly where the numbers are made of rationals by arithmetic, roots,
exponentials and logarithms; otherwise, and for any way back into floats, :class:`NotDecided` is raised: nothing is guessed.
Each refusal is also noted in :data:`REFUSALS`, so that code which catches the exception and goes on is found out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational
from operator import add, mul, sub
from typing import Any

import numpy as np
import sympy as sp
from flint import acb, arb, ctx, fmpq, fmpz

from eigentoken.numerics.author_code.exact_zeros import exactly_zero
from eigentoken.numerics.author_code.floats import computed_float, is_exact_float
from eigentoken.theory.exactness.balls import expression_ball

__all__ = ["REFUSALS", "DecidedNumber", "NotDecided", "decided", "enclosure", "refuse"]

#: Why answers were refused, in order: whoever runs a predicate compares the length before and after.
REFUSALS: list[str] = []
#: Larger powers are taken of enclosures.
LARGEST_POWER = 4096
NO_FLOATS = "the predicate turns exact numbers into floats"


class NotDecided(Exception):
    """A comparison that the enclosures leave open, or an operation that has no certified answer."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        REFUSALS.append(said)


def refuse(said: str) -> None:
    """Note a refusal without an exception: for what may be harmless (a text that is only printed)."""
    REFUSALS.append(said)


class DecidedNumber:
    """A number: ``fmpq`` where it is known exactly, otherwise an ``arb`` or ``acb`` that holds it.

    ``made`` says how it was made of others, ``(name, number, ...)``, where that can be followed back to rationals.

    >>> third = decided(sp.Rational(1, 3))
    >>> third + third + third == 1, third < 0.4
    (True, True)
    >>> decided(sp.sqrt(2)) > 1.4142, decided(sp.Rational(9, 4)).sqrt() == 1.5
    (True, True)
    >>> decided(2).sqrt() * decided(3).sqrt() == decided(6).sqrt()
    True
    """

    __slots__ = ("made", "value")
    #: sympy numbers on the left leave the operation to this class.
    _op_priority = 1000.0

    def __init__(self, value: Any, made: tuple[Any, ...] | None = None) -> None:
        self.value = value
        self.made = made

    def __hash__(self) -> int:
        raise NotDecided("the predicate puts exact numbers into a set or a dict, or takes their hash")

    def _text(self) -> str:
        refuse("the predicate turns exact numbers into texts")
        return f"DecidedNumber({self.value})"

    __repr__ = __str__ = _text

    def __format__(self, spec: str) -> str:
        return self._text()

    def __copy__(self) -> DecidedNumber:
        return self

    def __deepcopy__(self, memo: Any) -> DecidedNumber:
        return self

    # ------------------------------------------------------------------ arithmetic

    def __add__(self, other: Any) -> Any:
        return _both(self, other, "+", add)

    def __sub__(self, other: Any) -> Any:
        return _both(self, other, "-", sub)

    def __rsub__(self, other: Any) -> Any:
        return _swapped(self, other, "__sub__")

    def __mul__(self, other: Any) -> Any:
        return _both(self, other, "*", mul)

    def __truediv__(self, other: Any) -> Any:
        return _both(self, other, "/", _quotient)

    def __rtruediv__(self, other: Any) -> Any:
        return _swapped(self, other, "__truediv__")

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        quotient = self / other
        return quotient if quotient is NotImplemented else quotient.floor()

    def __rfloordiv__(self, other: Any) -> Any:
        return _swapped(self, other, "__floordiv__")

    def __mod__(self, other: Any) -> Any:
        """``a - b floor(a / b)``: the sign of b, as in Python and numpy."""
        whole = self // other
        return whole if whole is NotImplemented else self - whole * other

    def __rmod__(self, other: Any) -> Any:
        return _swapped(self, other, "__mod__")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return _swapped(self, other, "__divmod__")

    def __neg__(self) -> DecidedNumber:
        return DecidedNumber(-self.value, None if self.made is None else ("*", DecidedNumber(fmpq(-1)), self))

    def __pos__(self) -> DecidedNumber:
        return self

    def __abs__(self) -> DecidedNumber:
        if isinstance(self.value, acb):
            return DecidedNumber(self.value.abs_lower().union(self.value.abs_upper()))
        if isinstance(self.value, fmpq):
            return DecidedNumber(abs(self.value))
        sign = _sign(self)
        return DecidedNumber(abs(self.value)) if sign is None else self if sign >= 0 else -self

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        power = decided(exponent) if modulus is None else NotImplemented
        if power is NotImplemented:
            return NotImplemented
        if not isinstance(power.value, fmpq):
            return (power * self.log()).exp()
        if power.value.q == 1:
            return self._whole_power(int(power.value.p))
        if self._is_exactly(0) and power.value > 0:
            return self
        if power.value.q == 2:
            return self.sqrt() ** DecidedNumber(fmpq(power.value.p))
        return DecidedNumber((power * self.log()).exp().value, ("**", self, power))

    def _whole_power(self, whole: int) -> DecidedNumber:
        if whole < 0:
            inverse: DecidedNumber = 1 / self._whole_power(-whole)
            return inverse
        if isinstance(self.value, fmpq) and whole <= LARGEST_POWER:
            return DecidedNumber(self.value**whole)
        return DecidedNumber(enclosure(self) ** whole, ("**", self, DecidedNumber(fmpq(whole))))

    def __rpow__(self, base: Any) -> Any:
        return _swapped(self, base, "__pow__")

    # ------------------------------------------------------------------ comparisons: proved, or refused

    def __eq__(self, other: object) -> Any:
        if _is_infinite(other):
            return False
        gap = self - other
        if gap is NotImplemented:
            return NotImplemented
        if isinstance(gap.value, fmpq):
            return bool(gap.value == 0)
        if gap.value.is_zero():
            return True
        if _finite(gap.value) and not gap.value.contains(0):
            return False
        found = exactly_zero(gap)
        if found is None:
            raise NotDecided("the enclosures do not tell whether two numbers are equal")
        return found

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    def __lt__(self, other: Any) -> Any:
        return _compared(self, other, {-1: True, 0: False, 1: False})

    def __gt__(self, other: Any) -> Any:
        return _compared(self, other, {-1: False, 0: False, 1: True})

    def __le__(self, other: Any) -> Any:
        return _compared(self, other, {-1: True, 0: True, 1: False})

    def __ge__(self, other: Any) -> Any:
        return _compared(self, other, {-1: False, 0: True, 1: True})

    def __bool__(self) -> bool:
        return not self.__eq__(0)

    # ------------------------------------------------------------------ no way back into floats; whole numbers

    def __float__(self) -> float:
        raise NotDecided(NO_FLOATS)

    def __complex__(self) -> complex:
        raise NotDecided(NO_FLOATS)

    def floor(self) -> DecidedNumber:
        """The largest integer that is not above the number, where that is decided."""
        if isinstance(self.value, fmpq):
            return DecidedNumber(fmpq(self.value.p // self.value.q))
        if isinstance(self.value, acb) or not _finite(self.value):
            raise NotDecided("the predicate rounds a number that is complex or not enclosed")
        low, high = self.value.lower().floor(), self.value.upper().floor()
        if not (low.is_exact() and high.is_exact() and low == high):
            raise NotDecided("the predicate rounds a number to an integer, and the enclosure does not tell to which")
        return DecidedNumber(fmpq(low.unique_fmpz()))

    def ceil(self) -> DecidedNumber:
        return -(-self).floor()

    def trunc(self) -> DecidedNumber:
        return self.floor() if self >= 0 else self.ceil()

    def rint(self) -> DecidedNumber:
        """The nearest integer, an even one at a tie."""
        low = (self + DecidedNumber(fmpq(1, 2))).floor()
        tie = low - self == DecidedNumber(fmpq(1, 2))
        return low - 1 if tie and low.value.p % 2 else low

    def __int__(self) -> int:
        return int(self.trunc().value.p)

    def __floor__(self) -> int:
        return int(self.floor().value.p)

    def __ceil__(self) -> int:
        return int(self.ceil().value.p)

    def __trunc__(self) -> int:
        return int(self.trunc().value.p)

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None:
            return int(self.rint().value.p)
        return (self * 10**digits).rint() / 10**digits if digits >= 0 else (self / 10**-digits).rint() * 10**-digits

    # ------------------------------------------------------------------ what numpy asks of objects

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from eigentoken.numerics.author_code.decided_arrays import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """``numpy.isclose(number, 1)`` and the like, as for an array without axes."""
        from eigentoken.numerics.author_code.decided_arrays import apply_function

        return apply_function(function, args, kwargs)

    @property
    def real(self) -> DecidedNumber:
        return DecidedNumber(self.value.real) if isinstance(self.value, acb) else self

    @property
    def imag(self) -> DecidedNumber:
        return DecidedNumber(self.value.imag if isinstance(self.value, acb) else fmpq(0))

    def conjugate(self) -> DecidedNumber:
        return DecidedNumber(self.value.conjugate()) if isinstance(self.value, acb) else self

    def item(self) -> DecidedNumber:
        return self

    def is_integer(self) -> bool:
        return bool(self == self.floor())

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

    def of(self, name: str) -> DecidedNumber:
        """Any other function that ball arithmetic has, by its name in python-flint; odd ones are 0 at 0."""
        odd = ("sin", "tan", "sinh", "tanh", "atan", "asin", "asinh", "atanh")
        if self._is_exactly(0) and (name in odd or name in ("cos", "cosh")):
            return self if name in odd else DecidedNumber(fmpq(1))
        return self._of(name)

    def _is_exactly(self, number: int) -> bool:
        return isinstance(self.value, fmpq) and bool(self.value == number)

    def _of(self, name: str) -> DecidedNumber:
        found = getattr(enclosure(self), name)()
        if not _finite(found):
            raise NotDecided(f"{name} of a number has no finite enclosure: it may be outside the domain")
        return DecidedNumber(found, (name, self) if name in ("sqrt", "exp", "log") else None)


_INTEGERS = (bool, np.bool_, int, np.integer)
_FLOATS = (float, np.floating)


def decided(value: Any) -> Any:
    """The number for a Python, numpy, flint or sympy number.

    A float is the number that its author may have meant: see :mod:`eigentoken.numerics.author_code.floats`.
    """
    if isinstance(value, DecidedNumber):
        return value
    if isinstance(value, _INTEGERS):
        return DecidedNumber(fmpq(int(value)))
    if isinstance(value, _FLOATS):
        return _of_float(value)
    if isinstance(value, complex | np.complexfloating):
        parts = [enclosure(_of_float(float(part))) for part in (value.real, value.imag)]
        return DecidedNumber(acb(*parts)) if value.imag else _of_float(float(value.real))
    if isinstance(value, fmpq | arb | acb):
        return DecidedNumber(value)
    if isinstance(value, sp.Expr):
        if value.is_Rational:
            return DecidedNumber(fmpq(int(value.p), int(value.q)))
        if value.has(sp.Float):
            raise NotDecided("a float of sympy is no exact number")
        try:
            return DecidedNumber(expression_ball(value, ctx.prec), ("sympy", value))
        except ValueError as problem:
            raise NotDecided(str(problem)) from None
    if isinstance(value, Rational):
        return DecidedNumber(fmpq(int(value.numerator), int(value.denominator)))
    return NotImplemented


def _of_float(value: Any) -> DecidedNumber:
    if not math.isfinite(value):
        raise NotDecided(f"the predicate computes with {value}")
    if is_exact_float(float(value)):
        exact = Fraction(float(value))
        return DecidedNumber(fmpq(exact.numerator, exact.denominator))
    if isinstance(value, np.floating) and value.dtype.itemsize < 8:
        raise NotDecided("a float of fewer than 64 bits is not precise enough")
    return DecidedNumber(computed_float(float(value)))


def enclosure(number: DecidedNumber) -> Any:
    """The number as a ball at the present precision."""
    value = number.value
    return arb(value.p) / arb(value.q) if isinstance(value, fmpq) else value


def _both(first: DecidedNumber, second: Any, name: str, operation: Callable[[Any, Any], Any]) -> Any:
    if type(second) is DecidedNumber:
        other = second
    else:
        other = decided(second) if not isinstance(second, np.ndarray) else NotImplemented
        if other is NotImplemented:
            return NotImplemented
    if type(first.value) is fmpq and type(other.value) is fmpq:
        return DecidedNumber(operation(first.value, other.value))
    if name == "*" and (first._is_exactly(0) or other._is_exactly(0)):
        return DecidedNumber(fmpq(0))
    return DecidedNumber(operation(enclosure(first), enclosure(other)), (name, first, other))


def _swapped(second: DecidedNumber, first: Any, operation: str) -> Any:
    other = decided(first) if not isinstance(first, np.ndarray) else NotImplemented
    return other if other is NotImplemented else getattr(other, operation)(second)


def _quotient(a: Any, b: Any) -> Any:
    if isinstance(b, fmpq):
        if b == 0:
            raise NotDecided("the predicate divides by zero")
        return a / b
    if not _finite(b) or b.contains(0):
        raise NotDecided("the predicate divides by a number that may be zero")
    return a / b


def _finite(value: Any) -> bool:
    return bool(value.is_finite())


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float | np.floating) and math.isinf(value)


def _sign(gap: DecidedNumber) -> int | None:
    """The sign of a difference, ``None`` where the enclosure does not tell."""
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


def _compared(first: DecidedNumber, second: Any, answers: dict[int, bool]) -> Any:
    """The answer for the sign of ``first - second``, proved; every number here is finite."""
    if _is_infinite(second):
        return answers[-1 if second > 0 else 1]
    gap = first - second
    if gap is NotImplemented:
        return NotImplemented
    sign = _sign(gap)
    if sign is None and exactly_zero(gap):
        sign = 0
    if sign is None:
        raise NotDecided("the enclosures do not tell which of two numbers is larger")
    return answers[sign]
