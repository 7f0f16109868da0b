"""Exact numbers as users write them, in text or in arrays, and what is decided of them: zero, sign, enclosure.

Text is read by a small grammar of its own; nothing is evaluated as code.

.. code-block:: text

    sum     := product (("+" | "-") product)*
    product := signed (("*" | "/") signed)*
    signed  := ("-" | "+")* power
    power   := atom (("^" | "**") signed)?
    atom    := integer | decimal | "e" | "E" | "pi" | name "(" sum ")" | "(" sum ")"
    name    := "sqrt" | "cbrt" | "ln" | "log" | "exp" | "cosh" | "sinh" | "tanh" | "cos" | "sin"

A decimal is the rational number that it writes (``0.1`` is 1/10).  ``cos`` and ``sin`` are taken where they are roots
of rationals (``cos(2*pi/5)``).  The result is a real sympy number, with no symbol in it.

Is an exact number zero, positive, negative?  Zero is decided by the normal form, or for algebraic numbers by a root bound;
a sign by balls whose precision is raised until they exclude zero.  ``None`` is what is left: neither, within the precisions of
:data:`~eigentoken.theory.exactness.balls.PRECISIONS`.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from flint import arb, fmpq

from eigentoken.theory.exactness.balls import PRECISIONS, expression_ball, precision, rational_ball
from eigentoken.theory.exactness.elements import Element, Scalar, algebra_matrix
from eigentoken.theory.exactness.fields import in_smallest_field

__all__ = [
    "NumberError",
    "ball",
    "exact_number",
    "is_zero",
    "sign",
    "sign_of_expression",
]

LONGEST_TEXT = 400
LARGEST_EXPONENT = 200
LARGEST_BITS = 8000
LARGEST_DECIMAL_EXPONENT = 400

_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z]+)|(\*\*|[-+*/^()]))")
_FUNCTIONS = ("sqrt", "cbrt", "ln", "log", "exp", "cosh", "sinh", "tanh", "cos", "sin")


class NumberError(ValueError):
    """A text that is not an exact real number of the grammar."""


def exact_number(value: object) -> sympy.Expr:
    """The exact number that an integer, a decimal, a fraction, a number of sympy or a text of the grammar writes.

    A float is the decimal that Python prints for it, as in a JSON file; so is a number of numpy or torch.

    >>> exact_number("3/5 + 0.2"), exact_number("sqrt(8)"), exact_number("exp(ln(3)/2)")
    (4/5, 2*sqrt(2), sqrt(3))
    >>> exact_number("__import__('os')")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    eigentoken.theory.exactness.numbers.NumberError: unexpected '_' at position 1
    """
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a number of numpy or torch
        value = value.item()
    if isinstance(value, bool):
        raise NumberError("a truth value is not a number")
    if isinstance(value, int | Fraction):
        return sympy.Rational(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NumberError("not a finite number")
        return _read(repr(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NumberError("not a finite number")
        return _read(str(value))
    if isinstance(value, str):
        return _read(value)
    if isinstance(value, sympy.Expr) and value.is_number:
        return _read(str(value))  # what sympy prints is held to the same grammar
    raise NumberError(f"a {type(value).__name__} is not a number")


@lru_cache(maxsize=4096)
def _read(text: str) -> sympy.Expr:
    """The same few texts are read again and again: entries of matrices, above all."""
    return _Reader(text).number()


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_TEXT:
            raise NumberError(f"longer than {LONGEST_TEXT} characters")
        self.tokens: list[str] = []
        position = 0
        stripped = text.rstrip()
        while position < len(stripped):
            match = _TOKEN.match(stripped, position)
            if match is None:
                rest = stripped[position:].lstrip()
                raise NumberError(f"unexpected {rest[0]!r} at position {len(stripped) - len(rest) + 1}")
            self.tokens.append(match.group(match.lastindex or 0))
            position = match.end()
        if not self.tokens:
            raise NumberError("empty text")
        self.at = 0
        self.depth = 0

    def number(self) -> sympy.Expr:
        value = self._sum()
        if self.at < len(self.tokens):
            raise NumberError(f"unexpected {self.tokens[self.at]!r} after a complete number")
        return value

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.at += 1
        return token

    def _sum(self) -> sympy.Expr:
        self.depth += 1
        if self.depth > 40:
            raise NumberError("nested too deeply")
        value = self._product()
        while self._peek() in {"+", "-"}:
            value = value + self._product() if self._take() == "+" else value - self._product()
        self.depth -= 1
        return value

    def _product(self) -> sympy.Expr:
        value = self._signed()
        while self._peek() in {"*", "/"}:
            if self._take() == "*":
                value = value * self._signed()
            else:
                divisor = self._signed()
                if _sign(divisor) == 0:
                    raise NumberError("division by zero")
                value = value / divisor
        return value

    def _signed(self) -> sympy.Expr:
        negative = False
        while self._peek() in {"+", "-"}:
            negative ^= self._take() == "-"
        value = self._power()
        return -value if negative else value

    def _power(self) -> sympy.Expr:
        base = self._atom()
        if self._peek() not in {"^", "**"}:
            return base
        self._take()
        return _power(base, self._signed())

    def _atom(self) -> sympy.Expr:
        token = self._take()
        if not token:
            raise NumberError("the text ends where a number is expected")
        if token == "(":
            return self._closed()
        if token[0].isdigit() or token[0] == ".":
            return _decimal(token)
        if token in {"e", "E"}:
            return sympy.E
        if token == "pi":
            return sympy.pi
        if token in _FUNCTIONS:
            if self._take() != "(":
                raise NumberError(f"{token} needs its argument in parentheses")
            return _apply(token, self._closed())
        raise NumberError(f"unexpected {token!r}")

    def _closed(self) -> sympy.Expr:
        value = self._sum()
        if self._take() != ")":
            raise NumberError("a parenthesis is not closed")
        return value


def _decimal(token: str) -> sympy.Expr:
    mantissa, _, exponent = token.lower().partition("e")
    if exponent and abs(int(exponent)) > LARGEST_DECIMAL_EXPONENT:
        raise NumberError(f"decimal exponent {exponent} beyond {LARGEST_DECIMAL_EXPONENT}")
    value = Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
    return sympy.Rational(value.numerator, value.denominator)


def _sign(value: sympy.Expr) -> int:
    """The sign, decided by ball arithmetic or by the expression being zero; raises where it stays open."""
    found = sign_of_expression(value)
    if found is None:
        raise NumberError(f"cannot decide the sign of {value}")
    return found


def _power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    if exponent.is_Rational and max(abs(exponent.p), exponent.q) > LARGEST_EXPONENT:
        raise NumberError(f"exponent {exponent} beyond {LARGEST_EXPONENT}")
    if exponent.is_Integer:
        if exponent <= 0 and _sign(base) == 0:
            raise NumberError("zero to a power that is not positive")
        if base.is_Rational and max(base.p.bit_length(), base.q.bit_length()) * abs(exponent) > LARGEST_BITS:
            raise NumberError(f"a power with more than {LARGEST_BITS} bits")
        power = base**exponent
        if power.is_Pow and power.args[1].is_Rational and abs(power.args[1]) > LARGEST_EXPONENT:
            raise NumberError(f"exponent {power.args[1]} beyond {LARGEST_EXPONENT}")
        return power
    if _sign(base) <= 0:
        raise NumberError("a power that is not an integer needs a positive base")
    return base**exponent if exponent.is_Rational else sympy.exp(sympy.expand(exponent * sympy.log(base)))


def _apply(name: str, value: sympy.Expr) -> sympy.Expr:
    if name in {"sqrt", "cbrt"}:
        sign = _sign(value)
        if sign < 0:
            raise NumberError(f"{name} of a negative number")
        return sympy.Integer(0) if sign == 0 else value ** sympy.Rational(1, 2 if name == "sqrt" else 3)
    if name in {"ln", "log"}:
        if _sign(value) <= 0:
            raise NumberError(f"{name} of a number that is not positive")
        return sympy.log(value)
    if name in {"cos", "sin"}:
        ratio = value / sympy.pi
        if not ratio.is_Rational:
            raise NumberError(f"{name} is exact only at rational multiples of pi")
        found = (sympy.cos if name == "cos" else sympy.sin)(value)
        if found.has(sympy.cos, sympy.sin):
            raise NumberError(f"{name}({value}) is not a root of rationals known here")
        return found
    grown, shrunk = sympy.exp(value), sympy.exp(-value)
    forms = {
        "exp": grown,
        "cosh": (grown + shrunk) / 2,
        "sinh": (grown - shrunk) / 2,
        "tanh": (grown - shrunk) / (grown + shrunk),
    }
    return forms[name]


def ball(value: Scalar, bits: int) -> arb:
    """An enclosure of an element, computed with this many bits."""
    with precision(bits):
        if not isinstance(value, Element):
            return rational_ball(value)
        top = value.field.evaluate(value.num, bits)
        return top if value.den is None else top / value.field.evaluate(value.den, bits)


def sign(value: Scalar) -> int | None:
    """-1, 0 or 1, or ``None`` where neither the normal form nor the balls decide.

    >>> from fractions import Fraction
    >>> sign(fmpq(-1, 3))
    -1
    """
    if not isinstance(value, Element):
        ratio = fmpq(value)
        return int(ratio > 0) - int(ratio < 0)
    if value.num == 0:
        return 0
    bound = None
    for bits in PRECISIONS:
        enclosure = ball(value, bits)
        if enclosure > 0:
            return 1
        if enclosure < 0:
            return -1
        if bits >= PRECISIONS[1]:
            bound = _smallest_nonzero(value) if bound is None else bound
            if bound and ball(Element(value.field, value.num), bits).abs_upper() < bound:
                return 0
    return None


def _smallest_nonzero(value: Element) -> Any:
    """A number below every nonzero value that an algebraic numerator may have; 0 where none is known.

    The element is a root of the characteristic polynomial ``Z^e (c_0 + c_1 Z + ...)`` of its multiplication matrix, so
    it is zero or has modulus at least ``|c_0| / (|c_0| + max |c_i|)``.
    """
    matrix = algebra_matrix(value.field, value.num)
    if matrix is None:
        return 0
    coefficients = list(matrix.charpoly().coeffs())
    nonzero = [abs(c) for c in coefficients if c != 0]
    return rational_ball(nonzero[0] / (nonzero[0] + max(nonzero))).abs_lower()


def is_zero(value: Scalar) -> bool | None:
    """Exactly zero, certainly not zero, or ``None``."""
    found = sign(value)
    return None if found is None else found == 0


def sign_of_expression(value: sympy.Expr) -> int | None:
    """The sign of a real sympy number.

    >>> sign_of_expression(sympy.sqrt(2) * sympy.sqrt(3) - sympy.sqrt(6))
    0
    """
    if value.is_Rational:
        return int(value.p > 0) - int(value.p < 0)
    for bits in PRECISIONS[:2]:
        enclosure = expression_ball(value, bits)
        if enclosure > 0:
            return 1
        if enclosure < 0:
            return -1
    return in_smallest_field(lambda field: sign(field.number(value)))
