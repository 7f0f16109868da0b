"""Formulas in one variable t, read by a parser of our own and evaluated in FLINT balls over an interval of times.

    sum := product (('+' | '-') product)*      product := signed (('*' | '/') signed)*
    signed := ('+' | '-') signed | power       power := atom ['**' whole number]
    atom := number | 't' | 'pi' | function '(' sum ')' | '(' sum ')'

A number is the rational that is written.  A ball operation contains the result for every point of its arguments, so the
value of a formula on the ball of an interval contains its values at all times of the interval.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import flint

from eigentoken.numerics.recheck.documents.reading import RecheckError

__all__ = ["evaluate"]

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([a-z]+)|(\*\*|\^|[-+*/()]))")
_FUNCTIONS = frozenset(("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "atan"))


def evaluate(text: str, t: Any) -> Any:
    """The ball of a formula at the ball t.

    >>> evaluate("1/2 + t**2", flint.arb(3)) == flint.arb("9.5")
    True
    """
    reader = _Reader(text, t)
    value = reader.sum()
    if reader.at != len(reader.tokens):
        raise RecheckError(f"cannot read the formula {text[:60]!r}")
    return value


def _power(base: Any, k: int) -> Any:
    """``base^k`` for whole k: monotone between the ends of the ball, or of its modulus for even k."""
    if k == 0:
        return flint.arb(1)
    if k % 2 == 0:
        base = abs(base)
        low = flint.arb(base.lower()) if base > 0 else flint.arb(0)
        return _repeated(low, k).union(_repeated(flint.arb(base.upper()), k))
    return _repeated(flint.arb(base.lower()), k).union(_repeated(flint.arb(base.upper()), k))


def _repeated(end: Any, k: int) -> Any:
    result = flint.arb(1)
    for _ in range(k):
        result = result * end
    return result


class _Reader:
    def __init__(self, text: str, t: Any) -> None:
        self.text, self.t, self.at = text, t, 0
        self.tokens: list[str] = []
        position = 0
        text = text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise RecheckError(f"cannot read the formula {text[:60]!r}")
            self.tokens.append("**" if found.group(3) == "^" else found.group(0).strip())
            position = found.end()

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *allowed: str) -> str:
        token = self.peek()
        if not token or (allowed and token not in allowed):
            raise RecheckError(f"cannot read the formula {self.text[:60]!r}")
        self.at += 1
        return token

    def sum(self) -> Any:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> Any:
        value = self.signed()
        while self.peek() in ("*", "/"):
            value = value * self.signed() if self.take() == "*" else value / self.signed()
        return value

    def signed(self) -> Any:
        if self.peek() in ("+", "-"):
            return self.signed() if self.take() == "+" else -self.signed()
        return self.power()

    def power(self) -> Any:
        base = self.atom()
        if self.peek() != "**":
            return base
        self.take("**")
        exponent = self.take()
        if not exponent.isdigit() or int(exponent) > 64:
            raise RecheckError("a power in a formula must have an integer exponent from 0 to 64")
        return _power(base, int(exponent))

    def atom(self) -> Any:
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take(")")
            return value
        if token == "t":
            return self.t
        if token == "pi":
            return flint.arb.pi()
        if token[0].isdigit() or token[0] == ".":
            number = Fraction(token)
            return flint.arb(flint.fmpq(number.numerator, number.denominator))
        if token == "abs" or token in _FUNCTIONS:
            self.take("(")
            value = self.sum()
            self.take(")")
            return abs(value) if token == "abs" else getattr(value, token)()
        raise RecheckError(f"unknown word {token!r} in a formula")
