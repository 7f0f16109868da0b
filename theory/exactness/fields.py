"""The field of an instance: rational functions of the roots, logarithms and exponentials that occur in it.

An element is a fraction of polynomials over Q in finitely many generators: ``p^(1/k)`` for primes p, nested roots
``b^(1/k)``, ``ln p``, ``ln b`` and ``exp(b/L)``; roots are reduced by their relation ``g^k = b``.  The reading is one
way only: an element whose numerator reduces to the zero polynomial *is* zero; any other is decided by ball arithmetic,
and algebraic ones completely, by a root bound (:mod:`eigentoken.theory.exactness.decisions`).  No independence of
logarithms or exponentials is assumed.

A computation asks for what it needs: a missing generator raises :class:`MissingGenerator`, and
:func:`in_smallest_field` runs the computation again in the field that has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sympy
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from eigentoken.theory.exactness.balls import expression_ball
from eigentoken.theory.exactness.elements import Element, ExactnessLimit, MissingGenerator, Scalar

__all__ = ["RATIONALS", "ExactnessLimit", "Field", "Generator", "MissingGenerator", "in_smallest_field"]

LARGEST_ORDER = 1000
LARGEST_POWER = 4000
MOST_GENERATORS = 24
FACTOR_LIMIT = 100_000

T = TypeVar("T")


@dataclass(frozen=True)
class Generator:
    """``base^(1/order)`` (kind ``root``), ``ln(base)`` (``log``) or ``exp(base/order)`` (``exp``)."""

    kind: str
    base: sympy.Expr
    order: int = 1

    def power(self, exponent: int) -> sympy.Expr:
        """This generator to an integer power, as a sympy number."""
        share = sympy.Rational(exponent, self.order)
        if self.kind == "root":
            return self.base**share
        return sympy.exp(self.base * share) if self.kind == "exp" else sympy.log(self.base) ** exponent


@dataclass(frozen=True)
class Field:
    """Q with generators, in the order in which they were needed: each relation uses earlier ones only."""

    generators: tuple[Generator, ...] = ()
    _cache: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.generators:
            return
        names = [f"g{index}" for index in range(len(self.generators))]
        context = fmpq_mpoly_ctx.get(names[::-1], Ordering.lex)
        self._cache["context"] = context
        self._cache["relations"] = []
        for index, generator in enumerate(self.generators):
            if generator.kind == "root":
                base = self.number(generator.base)
                relation = self.gen(index) ** generator.order - base.num
                self._cache["relations"].insert(0, (len(names) - 1 - index, generator.order, relation))

    @property
    def is_rational(self) -> bool:
        """No generator: every element is a ``fmpq``."""
        return not self.generators

    @property
    def relations(self) -> list[tuple[int, int, Any]]:
        """(position among the polynomial's variables, order k, ``g^k - base``), latest generator first."""
        found: list[tuple[int, int, Any]] = self._cache.get("relations", [])
        return found

    @property
    def context(self) -> Any:
        """The flint context of the polynomials."""
        return self._cache["context"]

    def gen(self, index: int) -> Any:
        """The polynomial of generator ``index``."""
        return self.context.gen(len(self.generators) - 1 - index)

    @property
    def one(self) -> Scalar:
        """The unit, of the type that elements of this field have."""
        return fmpq(1) if self.is_rational else Element(self, self.context.constant(1))

    def rational(self, value: Any) -> Scalar:
        """An integer or fraction as an element."""
        return fmpq(int(value.p), int(value.q)) * self.one if hasattr(value, "p") else value * self.one

    def extended(self, generator: Generator) -> Field:
        """The field with one more generator, or with a finer one in place of a coarser one."""
        if generator.order > LARGEST_ORDER:
            raise ExactnessLimit(f"a root or exponential of order {generator.order} is beyond {LARGEST_ORDER}")
        listed = list(self.generators)
        for index, known in enumerate(listed):
            if (known.kind, known.base) == (generator.kind, generator.base):
                listed[index] = Generator(known.kind, known.base, math.lcm(known.order, generator.order))
                if listed[index].order > LARGEST_ORDER:
                    raise ExactnessLimit(
                        f"a root or exponential of order {listed[index].order} is beyond {LARGEST_ORDER}"
                    )
                return Field(tuple(listed))
        if len(listed) >= MOST_GENERATORS:
            raise ExactnessLimit(f"more than {MOST_GENERATORS} independent roots, logarithms and exponentials")
        return Field((*listed, generator))

    def _find(self, kind: str, base: sympy.Expr, order: int = 1) -> tuple[int, Generator]:
        for index, known in enumerate(self.generators):
            if known.kind == kind and known.base == base and known.order % order == 0:
                return index, known
        raise MissingGenerator(Generator(kind, base, order))

    # ------------------------------------------------------------------ from sympy numbers

    def number(self, value: sympy.Expr) -> Any:
        """The element that a sympy number is; raises :class:`MissingGenerator` for what this field lacks."""
        if value.is_Rational:
            return self.rational(value)
        known = self._cache.setdefault("numbers", {})
        if value not in known:
            known[value] = self._number(value)
        return known[value]

    def _number(self, value: sympy.Expr) -> Any:
        if value.is_Add:
            return sum((self.number(term) for term in value.args), 0 * self.one)
        if value.is_Mul:
            return math.prod((self.number(factor) for factor in value.args), start=self.one)
        if value is sympy.E:
            return self.exp(self.one)
        if isinstance(value, sympy.exp):
            return self.exp(self.number(value.args[0]))
        if isinstance(value, sympy.log):
            return self.log(value.args[0])
        if value.is_Pow:
            base, exponent = value.args
            if base is sympy.E:
                return self.exp(self.number(exponent))
            if exponent.is_Integer:
                return self.number(base) ** int(exponent)
            if exponent.is_Rational:
                return self.root(base, exponent)
            return self.exp(self.number(exponent) * self.log(base))
        raise ExactnessLimit(f"{value} is not a number of rationals, roots, logarithms and exponentials")

    def root(self, base: sympy.Expr, exponent: sympy.Rational) -> Any:
        """``base^exponent`` for a positive base."""
        if base.is_Rational:
            result = self.one
            for prime, power in _prime_powers(base).items():
                result = result * self._generator_power("root", sympy.Integer(prime), power * exponent)
            return result
        if isinstance(base, sympy.exp) or (base.is_Pow and base.args[1].is_Rational and _positive(base.args[0])):
            return (
                self.number(base.args[0] ** (base.args[1] * exponent))
                if base.is_Pow
                else self.exp(self.number(base.args[0] * exponent))
            )
        element = self.number(base)
        if not isinstance(element, Element):
            return self.root(self.expression(element), exponent)
        if element.is_constant:
            return self.root(self.expression(element), exponent)
        order = int(exponent.q)
        scale = element.den
        if scale is not None:
            polynomial = element.num * scale ** (order - 1)
            integral = Element(self, polynomial)
            found = self.root(self.expression(integral), sympy.Rational(1, order)) / Element(self, scale)
            return found ** int(exponent.p)
        return self._generator_power("root", self.expression(element), exponent)

    def _generator_power(self, kind: str, base: sympy.Expr, exponent: sympy.Rational) -> Any:
        """``base^exponent`` (root) or ``exp(base exponent)`` (exp) as a power of one generator."""
        exponent = sympy.Rational(exponent)
        if exponent.is_Integer and kind == "root":
            return self.number(base) ** int(exponent)
        index, known = self._find(kind, base, int(exponent.q))
        power = int(exponent * known.order)
        if abs(power) > LARGEST_POWER:
            raise ExactnessLimit(f"the exponent {exponent} needs more than {LARGEST_POWER} powers of one generator")
        if kind == "root":
            whole, rest = divmod(power, known.order)
            element = Element(self, self.gen(index) ** rest).reduced()
            return element * self.number(base) ** whole if whole else element
        element = Element(self, self.gen(index) ** abs(power))
        return element if power >= 0 else 1 / element

    def log(self, value: sympy.Expr) -> Any:
        """``ln(value)`` for a positive number, as a sum over primes where it is rational."""
        if value.is_Rational:
            total = 0 * self.one
            for prime, power in _prime_powers(value).items():
                index, _ = self._find("log", sympy.Integer(prime))
                total = total + int(power) * Element(self, self.gen(index))
            return total
        if isinstance(value, sympy.exp):
            return self.number(value.args[0])
        if value.is_Mul and all(_positive(factor) for factor in value.args):
            return sum((self.log(factor) for factor in value.args), 0 * self.one)
        if value.is_Pow and value.args[0] is not sympy.E and _positive(value.args[0]):
            return self.number(value.args[1]) * self.log(value.args[0])
        element = self.number(value)
        expression = self.expression(element)
        if expression.is_Rational:
            return self.log(expression)
        numerator, denominator = sympy.fraction(sympy.together(expression))
        content, primitive = numerator.as_content_primitive()
        if (denominator != 1 or content != 1) and _positive(denominator) and _positive(primitive):
            below = self.log(denominator) if denominator != 1 else 0
            return self.log(content) + self._log_atom(primitive) - below
        return self._log_atom(expression)

    def _log_atom(self, base: sympy.Expr) -> Any:
        self.number(base)
        index, _ = self._find("log", base)
        return Element(self, self.gen(index))

    def exp(self, value: Any) -> Any:
        """``exp(value)`` of an element: ``exp(c ln b) = b^c``, and one generator for each other monomial."""
        if not isinstance(value, Element):
            return self.one if value == 0 else self._generator_power("exp", sympy.Integer(1), _to_sympy(value))
        if value.num == 0:
            return self.one
        if value.den is not None:
            return self._generator_power("exp", self.expression(value), sympy.Integer(1))
        result = self.one
        for powers, coefficient in value.num.to_dict().items():
            exponent = _to_sympy(coefficient)
            occurring = [(self._generator_at(place), power) for place, power in enumerate(powers) if power]
            if len(occurring) == 1 and occurring[0][0].kind == "log" and occurring[0][1] == 1:
                base = occurring[0][0].base
                factor = self.number(base) ** int(exponent) if exponent.is_Integer else self.root(base, exponent)
            else:
                basis = math.prod((known.power(power) for known, power in occurring), start=sympy.Integer(1))
                factor = self._generator_power("exp", basis, exponent)
            result = result * factor
        return result

    def _generator_at(self, place: int) -> Generator:
        return self.generators[len(self.generators) - 1 - place]

    # ------------------------------------------------------------------ to sympy numbers

    def expression(self, value: Any) -> sympy.Expr:
        """The element as a sympy number, for people."""
        if not isinstance(value, Element):
            return _to_sympy(value)
        numerator = self._polynomial_expression(value.num)
        return numerator if value.den is None else numerator / self._polynomial_expression(value.den)

    def _polynomial_expression(self, polynomial: Any) -> sympy.Expr:
        terms = []
        for powers, coefficient in polynomial.to_dict().items():
            factors = [self._generator_at(place).power(power) for place, power in enumerate(powers) if power]
            terms.append(math.prod(factors, start=_to_sympy(coefficient)))
        return sympy.Add(*terms)


#: The field with no generator.
RATIONALS = Field()


def in_smallest_field(computation: Callable[[Field], T], start: Field = RATIONALS) -> T:
    """Run a computation in a field that has what it asks for, growing the field by one generator at a time."""
    ground = start
    for _ in range(4 * MOST_GENERATORS):
        try:
            return computation(ground)
        except MissingGenerator as missing:
            ground = ground.extended(missing.generator)
    raise ExactnessLimit("the field of the instance kept growing")


def _to_sympy(value: Any) -> sympy.Rational:
    ratio = fmpq(value)
    return sympy.Rational(int(ratio.p), int(ratio.q))


def _positive(value: sympy.Expr) -> bool:
    """Certainly positive, by a ball; ``False`` where the ball does not say."""
    return bool(expression_ball(value, 256) > 0)


def _prime_powers(value: sympy.Rational) -> dict[int, int]:
    """``value = prod p^k``; a large cofactor without small prime factor stays whole."""
    powers: dict[int, int] = dict(sympy.factorint(int(value.p), limit=FACTOR_LIMIT))
    for prime, power in sympy.factorint(int(value.q), limit=FACTOR_LIMIT).items():
        powers[int(prime)] = powers.get(int(prime), 0) - int(power)
    return {int(prime): int(power) for prime, power in powers.items() if prime != 1}
