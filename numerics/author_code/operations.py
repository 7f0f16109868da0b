"""The operations that stand in for those of an author's code when it is run on exact numbers.

In the author's code ``1 / len(x.tokens)`` is a float, and so is every constant.  Here the quotient of two integers is a
rational number, a literal is the enclosure of what it may stand for, and no comparison is made between floats: so what the
predicate answers does not depend on rounding in its own lines.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import acb, fmpq

from eigentoken.numerics.author_code.decided_arrays import DecidedArray, decided_array
from eigentoken.numerics.author_code.decided_numbers import DecidedNumber, NotDecided, decided, enclosure, refuse
from eigentoken.numerics.author_code.floats import is_exact_float, literal_float

__all__ = ["ALLOWED", "binary", "caught", "chained", "in_place", "is_decided", "lifted", "literal", "state_changed"]

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "&": operator.iand, "|": operator.ior,
    "^": operator.ixor, "<<": operator.ilshift, ">>": operator.irshift,
}  # fmt: skip
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_WHOLE = (int, np.integer, np.bool_)
#: Libraries whose numbers are rounded in a way of their own.
_ROUNDING = {"torch", "mpmath", "gmpy2", "jax", "jaxlib", "tensorflow", "cupy", "pandas", "scipy"}
#: Larger powers of integers are not computed.
LARGEST_POWER = 10**5
#: Exceptions that an author may catch: they say the same of exact numbers and of floats.
ALLOWED = (StopIteration, GeneratorExit, np.linalg.LinAlgError)


def is_decided(value: Any) -> bool:
    return isinstance(value, DecidedNumber | DecidedArray)


def literal(value: Any) -> Any:
    """A literal of the source: what it may stand for."""
    if isinstance(value, complex):
        real, imag = literal(value.real), literal(value.imag)
        return DecidedNumber(acb(enclosure(real), enclosure(imag)))
    if not math.isfinite(value):
        return value
    if is_exact_float(value):
        exact = Fraction(value)
        return DecidedNumber(fmpq(exact.numerator, exact.denominator))
    return DecidedNumber(literal_float(value))


def lifted(value: Any) -> Any:
    """Floats as decided numbers: what was computed outside of the author's own lines."""
    if isinstance(value, float | np.floating | complex | np.complexfloating):
        return decided(value) if np.isfinite(value) else value
    if isinstance(value, np.ndarray) and not isinstance(value, DecidedArray) and value.dtype.kind in "fc":
        return decided_array(value) if np.isfinite(value).all() else value
    return value


def _precise(value: Any) -> Any:
    """The value with floats lifted; numbers that other libraries round are refused."""
    home = type(value).__module__.split(".")[0]
    if isinstance(value, Decimal) or home in _ROUNDING or (home == "sympy" and getattr(value, "has", _no)(sp.Float)):
        raise NotDecided(f"the predicate computes with a {type(value).__name__} of {home}, which rounds")
    return lifted(value)


def _no(_: Any) -> bool:
    return False


def binary(sign: str, first: Any, second: Any) -> Any:
    """``first sign second`` without floats."""
    first, second = _precise(first), _precise(second)
    if isinstance(first, _WHOLE) and isinstance(second, _WHOLE):
        return _of_integers(sign, first, second)
    if sign in ("/", "**") and all(_whole_array(each) or isinstance(each, _WHOLE) for each in (first, second)):
        first = decided_array(first) if isinstance(first, np.ndarray) else decided(first)
    return _BINARY[sign](first, second)


def in_place(sign: str, first: Any, second: Any) -> Any:
    """``first sign= second``: lists and arrays are changed where they are."""
    if isinstance(first, np.ndarray | list | set | dict | bytearray):
        if isinstance(first, np.ndarray) and not isinstance(first, DecidedArray) and first.dtype.kind in "fc":
            raise NotDecided("the predicate changes an array of floats in place")
        return _IN_PLACE[sign](first, lifted(second))
    return binary(sign, first, second)


def _whole_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biu"


def _of_integers(sign: str, first: Any, second: Any) -> Any:
    if isinstance(first, bool | np.bool_) and isinstance(second, bool | np.bool_) and sign in "&|^":
        return _BINARY[sign](bool(first), bool(second))
    a, b = int(first), int(second)
    if (sign == "/" and b != 0) or (sign == "**" and b < 0 and a != 0):
        return DecidedNumber(fmpq(a, b) if sign == "/" else fmpq(1) / fmpq(a) ** -b)
    if sign == "**" and abs(a) > 1 and b * a.bit_length() > LARGEST_POWER:
        raise NotDecided("the predicate computes an integer that is too large")
    return _BINARY[sign](a, b)


def chained(signs: tuple[str, ...], *values: Any) -> Any:
    """``a < b <= c``: the first answer that is false, or the last one; no two floats are compared."""
    found: Any = True
    for sign, first, second in zip(signs, values[:-1], values[1:], strict=True):
        found = _compare(sign, first, second)
        if len(signs) > 1 and not found:
            return found
    return found


def _compare(sign: str, first: Any, second: Any) -> Any:
    if sign in ("is", "is not"):
        numbers = (DecidedNumber, float, np.floating)
        if any(isinstance(each, DecidedNumber) for each in (first, second)) and all(
            isinstance(each, numbers) for each in (first, second)
        ):
            raise NotDecided("the predicate asks whether two numbers are the same object")
        return (first is second) == (sign == "is")
    if sign in ("in", "not in"):
        return _COMPARED[sign](_precise(first), second)
    return _COMPARED[sign](_precise(first), _precise(second))


def caught() -> None:
    """The author's code handles an exception: if exact numbers may be why it was raised, its answer does not count."""
    problem = sys.exc_info()[1]
    if problem is not None and not isinstance(problem, ALLOWED) and not isinstance(problem, NotDecided):
        refuse(f"the predicate goes on after {type(problem).__name__} on exact numbers: {problem}"[:300])


def state_changed() -> None:
    """The author's code keeps something from one call to the next."""
    refuse("the predicate keeps state between its calls (global or nonlocal)")
