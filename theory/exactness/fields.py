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
from flint import Ordering, arb, fmpq, fmpq_mpoly_ctx

from eigentoken.theory.exactness.balls import PRECISIONS, expression_ball, precision, rational_ball
from eigentoken.theory.exactness.elements import LARGEST_ALGEBRA, Element, ExactnessLimit, MissingGenerator, Scalar
from eigentoken.theory.exactness.generators import (
    ONE,
    Generator,
    certainly_positive,
    common_measure,
    prime_powers,
    to_sympy,
)
from eigentoken.theory.exactness.nested_roots import expressed_root

__all__ = ["RATIONALS", "ExactnessLimit", "Field", "Generator", "MissingGenerator", "in_smallest_field"]

LARGEST_ORDER = 1000
LARGEST_EXPANDED_ROOT = 8
LARGEST_POWER = 4000
MOST_SHARED_POWERS = 64
MOST_GENERATORS = 24

T = TypeVar("T")


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
                if base.den is not None:
                    raise ExactnessLimit("the base of a nested root has a denominator")
                order = int(generator.step.q)
                relation = self.gen(index) ** order - base.num
                self._cache["relations"].insert(0, (len(names) - 1 - index, order, relation))

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

    @property
    def has_hidden_relations(self) -> bool:
        """Whether a nonzero polynomial may have the value zero: not in Q, nor with real roots of primes only.

        Products of real roots of distinct primes are independent over Q (Besicovitch): there the normal form decides.
        """
        if "hidden" not in self._cache:
            self._cache["hidden"] = not all(
                known.kind == "root" and known.base.is_Integer and sympy.isprime(known.base)
                for known in self.generators
            )
        return bool(self._cache["hidden"])

    def evaluate(self, polynomial: Any, bits: int) -> arb:
        """A ball around the value of a polynomial in the generators."""
        values = self._cache.setdefault("balls", {})
        if bits not in values:
            values[bits] = [expression_ball(known.power(1), bits + 32) for known in self.generators][::-1]
        with precision(bits):
            total = arb(0)
            for powers, coefficient in polynomial.to_dict().items():
                term = rational_ball(coefficient)
                for place, power in enumerate(powers):
                    if power:
                        term *= values[bits][place] ** power
                total += term
            return total

    def certainly_nonzero(self, polynomial: Any) -> bool:
        """The reduced polynomial has a nonzero value, by the normal form where that decides, else by a ball."""
        if polynomial == 0:
            return False
        if not self.has_hidden_relations:
            return True
        return any(not self.evaluate(polynomial, bits).contains(0) for bits in PRECISIONS[:4])

    def extended(self, generator: Generator) -> Field:
        """The field with one more generator, or with a finer one in place of a coarser one.

        ``exp(a)`` and ``exp(b)`` share a generator where a and b have a common measure that is not too small; otherwise
        each has its own, and a relation between them stays unknown to the field.
        """
        listed = list(self.generators)
        for index, known in enumerate(listed):
            if (known.kind, known.base) == (generator.kind, generator.base):
                finer = Generator(known.kind, known.base, common_measure(known.step, generator.step))
                if finer.kind == "exp" and max(known.step, generator.step) > MOST_SHARED_POWERS * finer.step:
                    continue
                if finer.step.q > LARGEST_ORDER and finer.kind == "root":
                    raise ExactnessLimit(f"a root of order {finer.step.q} is beyond {LARGEST_ORDER}")
                listed[index] = finer
                return Field(tuple(listed))
        if len(listed) >= MOST_GENERATORS:
            raise ExactnessLimit(f"more than {MOST_GENERATORS} independent roots, logarithms and exponentials")
        return Field((*listed, generator))

    def _find(self, kind: str, base: sympy.Expr, exponent: sympy.Rational = ONE) -> tuple[int, Generator]:
        """The generator of which ``base^exponent`` (or ``exp(base exponent)``, ``ln base``) is an integer power."""
        limit = LARGEST_POWER
        for index, known in enumerate(self.generators):
            ratio = exponent / known.step
            if (
                (known.kind, known.base) == (kind, base)
                and ratio.is_Integer
                and (kind == "root" or abs(ratio) <= limit)
            ):
                return index, known
        step = sympy.Rational(1, exponent.q) if kind == "root" else abs(exponent)
        raise MissingGenerator(Generator(kind, base, step))

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
        if value is sympy.pi:
            index, _ = self._find("constant", value)
            return Element(self, self.gen(index))
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
            for prime, power in prime_powers(base).items():
                result = result * self._generator_power("root", sympy.Integer(prime), power * exponent)
            return result
        if isinstance(base, sympy.exp) or (
            base.is_Pow and base.args[1].is_Rational and certainly_positive(base.args[0])
        ):
            if base.is_Pow:
                return self.number(base.args[0] ** (base.args[1] * exponent))
            return self.exp(self.number(base.args[0] * exponent))
        element = self.number(base)
        if not isinstance(element, Element) or element.is_constant:
            return self.root(self.expression(element), exponent)
        order = int(exponent.q)
        scale = element.den
        if scale is not None:
            polynomial = element.num * scale ** (order - 1)
            integral = Element(self, polynomial)
            found = self.root(self.expression(integral), sympy.Rational(1, order)) / Element(self, scale)
            return found ** int(exponent.p)
        expression = self.expression(element)
        if not any(known.kind == "root" and known.base == expression for known in self.generators):
            expressed = expressed_root(element, order)
            if expressed is not None:
                return expressed ** int(exponent.p)
        return self._generator_power("root", expression, exponent)

    def _generator_power(self, kind: str, base: sympy.Expr, exponent: sympy.Rational) -> Any:
        """``base^exponent`` (root) or ``exp(base exponent)`` (exp) as a power of one generator."""
        exponent = sympy.Rational(exponent)
        if exponent.is_Integer and kind == "root":
            return self.number(base) ** int(exponent)
        index, known = self._find(kind, base, exponent)
        power = int(exponent / known.step)
        if abs(power) > LARGEST_POWER:
            raise ExactnessLimit(f"the exponent {exponent} needs more than {LARGEST_POWER} powers of one generator")
        if kind == "root":
            whole, rest = divmod(power, int(known.step.q))
            element = Element(self, self.gen(index) ** rest).reduced()
            return element * self.number(base) ** whole if whole else element
        element = Element(self, self.gen(index) ** abs(power))
        return element if power >= 0 else 1 / element

    def log(self, value: sympy.Expr) -> Any:
        """``ln(value)`` for a positive number, as a sum over primes where it is rational."""
        if value.is_Rational:
            total = 0 * self.one
            for prime, power in prime_powers(value).items():
                index, _ = self._find("log", sympy.Integer(prime))
                total = total + int(power) * Element(self, self.gen(index))
            return total
        if isinstance(value, sympy.exp):
            return self.number(value.args[0])
        if value.is_Mul and all(certainly_positive(factor) for factor in value.args):
            return sum((self.log(factor) for factor in value.args), 0 * self.one)
        if value.is_Pow and value.args[0] is not sympy.E and certainly_positive(value.args[0]):
            return self.number(value.args[1]) * self.log(value.args[0])
        element = self.number(value)
        expression = self.expression(element)
        if expression.is_Rational:
            return self.log(expression)
        numerator, denominator = sympy.fraction(sympy.together(expression))
        content, primitive = numerator.as_content_primitive()
        if (denominator != 1 or content != 1) and certainly_positive(denominator) and certainly_positive(primitive):
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
            return self.one if value == 0 else self._generator_power("exp", sympy.Integer(1), to_sympy(value))
        if value.num == 0:
            return self.one
        if value.den is not None:
            return self._generator_power("exp", self.expression(value), sympy.Integer(1))
        if self._needs_large_roots(value):
            return self._opaque_exp(value)
        result = self.one
        for powers, coefficient in value.num.to_dict().items():
            exponent = to_sympy(coefficient)
            occurring = [(self._generator_at(place), power) for place, power in enumerate(powers) if power]
            if len(occurring) == 1 and occurring[0][0].kind == "log" and occurring[0][1] == 1:
                base = occurring[0][0].base
                factor = self.number(base) ** int(exponent) if exponent.is_Integer else self.root(base, exponent)
            else:
                basis = math.prod((known.power(power) for known, power in occurring), start=sympy.Integer(1))
                factor = self._generator_power("exp", basis, exponent)
            result = result * factor
        return result

    def _needs_large_roots(self, value: Element) -> bool:
        """Whether ``exp(c ln b + ...) = b^c ...`` would bring roots of so large an order that arithmetic is slow."""
        orders = {str(known.base): int(known.step.q) for known in self.generators if known.kind == "root"}
        for powers, coefficient in value.num.to_dict().items():
            occurring = [self._generator_at(place) for place, power in enumerate(powers) if power]
            if len(occurring) == 1 and occurring[0].kind == "log" and sum(powers) == 1:
                if coefficient.q > LARGEST_EXPANDED_ROOT:
                    return True
                name = str(occurring[0].base)
                orders[name] = math.lcm(orders.get(name, 1), int(coefficient.q))
        return math.prod(orders.values()) > LARGEST_ALGEBRA

    def _opaque_exp(self, value: Element) -> Any:
        """``exp(value)`` as a power of one generator without relations, shared by all rational multiples of the value."""
        coefficients = [to_sympy(coefficient) for coefficient in value.num.to_dict().values()]
        content = coefficients[0]
        for coefficient in coefficients[1:]:
            content = common_measure(content, coefficient)
        content = abs(content) if coefficients[0] > 0 else -abs(content)
        primitive = self.expression(Element(self, value.num / fmpq(int(content.p), int(content.q))))
        return self._generator_power("exp", primitive, content)

    def _generator_at(self, place: int) -> Generator:
        return self.generators[len(self.generators) - 1 - place]

    # ------------------------------------------------------------------ to sympy numbers

    def expression(self, value: Any) -> sympy.Expr:
        """The element as a sympy number, for people."""
        if not isinstance(value, Element):
            return to_sympy(value)
        numerator = self._polynomial_expression(value.num)
        return numerator if value.den is None else numerator / self._polynomial_expression(value.den)

    def _polynomial_expression(self, polynomial: Any) -> sympy.Expr:
        terms = []
        for powers, coefficient in polynomial.to_dict().items():
            factors = [self._generator_at(place).power(power) for place, power in enumerate(powers) if power]
            terms.append(math.prod(factors, start=to_sympy(coefficient)))
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
