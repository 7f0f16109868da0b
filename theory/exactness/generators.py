"""The generators of the field of an instance, and the integers and rationals behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import sympy
from flint import fmpq

from eigentoken.theory.exactness.balls import expression_ball

__all__ = ["ONE", "Generator", "certainly_positive", "common_measure", "prime_powers", "to_sympy"]

FACTOR_LIMIT = 50_000
FULLY_FACTORED = 10**14
ONE = sympy.Integer(1)


@dataclass(frozen=True)
class Generator:
    """``base^step``, step = 1/k (kind ``root``), ``exp(base step)`` (``exp``), ``ln(base)`` (``log``), pi (``constant``)."""

    kind: str
    base: sympy.Expr
    step: sympy.Rational = ONE

    def power(self, exponent: int) -> sympy.Expr:
        """This generator to an integer power, as a sympy number."""
        share = exponent * self.step
        if self.kind == "root":
            return self.base**share
        if self.kind == "exp":
            return sympy.exp(self.base * share)
        return (self.base if self.kind == "constant" else sympy.log(self.base)) ** exponent


def to_sympy(value: Any) -> sympy.Rational:
    """A rational scalar as a sympy number."""
    ratio = fmpq(value)
    return sympy.Rational(int(ratio.p), int(ratio.q))


def common_measure(left: sympy.Rational, right: sympy.Rational) -> sympy.Rational:
    """The largest rational number of which both are integer multiples."""
    return sympy.Rational(math.gcd(int(left.p * right.q), int(right.p * left.q)), int(left.q * right.q))


def certainly_positive(value: sympy.Expr) -> bool:
    """Certainly positive, by a ball; ``False`` where the ball does not say."""
    return bool(expression_ball(value, 256) > 0)


def prime_powers(value: sympy.Rational) -> dict[int, int]:
    """``value = prod p^k``; a large cofactor without small prime factor stays whole."""
    powers: dict[int, int] = {}
    for integer, direction in ((int(value.p), 1), (int(value.q), -1)):
        for base, power in _factored(integer):
            powers[base] = powers.get(base, 0) + direction * power
    return {base: power for base, power in powers.items() if power}


def _factored(integer: int) -> list[tuple[int, int]]:
    """Prime powers, by trial division only where the integer is large, its cofactor reduced to its smallest root."""
    if integer < FULLY_FACTORED:
        return [(int(prime), int(power)) for prime, power in sympy.factorint(integer).items()] if integer > 1 else []
    listed = []
    for prime in sympy.primerange(FACTOR_LIMIT):
        power = 0
        while integer % prime == 0:
            integer, power = integer // prime, power + 1
        if power:
            listed.append((int(prime), power))
    exponent = 1
    for root in (2, 3, 5, 7):
        base, exact = sympy.integer_nthroot(integer, root)
        while exact and integer > 1:
            integer, exponent = int(base), exponent * root
            base, exact = sympy.integer_nthroot(integer, root)
    return [*listed, (integer, exponent)] if integer > 1 else listed
