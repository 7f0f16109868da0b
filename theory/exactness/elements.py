"""Elements of the field of an instance, as fractions of polynomials reduced by the relations of its roots.

A nested square root that is already in the field is found there: ``sqrt(3 + 2 sqrt(2)) = 1 + sqrt(2)``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import fmpq, fmpq_mat

__all__ = ["Element", "ExactnessLimit", "MissingGenerator", "Scalar", "expressed_root"]

if TYPE_CHECKING:
    from flint import fmpq_mpoly, fmpz_mpoly

    from eigentoken.theory.exactness.fields import Field, Generator


MOST_TERMS = 1500
LARGEST_ALGEBRA = 48

#: A ``fmpq`` in the rationals, an :class:`Element` elsewhere.
Scalar: TypeAlias = "fmpq | Element"


class ExactnessLimit(Exception):
    """The exact computation would grow beyond a stated bound; the caller goes on with balls, and says so."""


class MissingGenerator(Exception):
    """The field lacks a root, logarithm or exponential."""

    def __init__(self, generator: Generator) -> None:
        super().__init__(generator)
        self.generator = generator


class Element:
    """``num / den`` with polynomials over Q in the generators of a field; ``den`` is ``None`` for 1.

    ``==`` is equality of the reduced fractions: true means equal; what it calls unequal is decided elsewhere.  A
    denominator is certified to be nonzero when it is made, by a ball wherever the field may have hidden relations.
    """

    __slots__ = ("den", "field", "num")

    def __init__(self, field: Field, num: fmpq_mpoly | fmpz_mpoly, den: fmpq_mpoly | fmpz_mpoly = None) -> None:
        self.field = field
        self.num = num
        self.den = den

    @property
    def is_constant(self) -> bool:
        """A rational number."""
        return self.den is None and bool(self.num.is_constant())

    def _coerced(self, other: Any) -> Element | None:
        if isinstance(other, Element):
            return other
        if isinstance(other, int | fmpq):
            return Element(self.field, self.field.context.constant(other))
        return None

    def reduced(self) -> Element:
        """Numerator and denominator reduced by the relations, common factors cancelled, roots cleared from below."""
        num, den = reduce_polynomial(self.field, self.num), self.den
        if den is not None:
            den = reduce_polynomial(self.field, den)
            if num == 0:
                return Element(self.field, num)
            if not den.is_constant():
                common = num.gcd(den)
                if not common.is_constant():
                    num, den = num / common, den / common
            if not den.is_constant() and self.field.relations:
                num, den = _cleared(self.field, num, den)
            if den.is_constant():
                num, den = num / den.leading_coefficient(), None
            else:
                lead = den.leading_coefficient()
                num, den = num / lead, den / lead
        if len(num) > MOST_TERMS:
            raise ExactnessLimit(f"an exact number grew beyond {MOST_TERMS} terms")
        return Element(self.field, num, den)

    def __add__(self, other: Any) -> Any:
        right = self._coerced(other)
        if right is None:
            return NotImplemented
        if self.den is None and right.den is None:
            return Element(self.field, self.num + right.num)
        if not right.num:
            return self
        if not self.num:
            return right
        if self.den is not None and right.den is not None and self.den == right.den:
            return Element(self.field, self.num + right.num, self.den).reduced()
        left_den, right_den = self.den or 1, right.den or 1
        return Element(self.field, self.num * right_den + right.num * left_den, left_den * right_den).reduced()

    __radd__ = __add__

    def __neg__(self) -> Element:
        return Element(self.field, -self.num, self.den)

    def __sub__(self, other: Any) -> Any:
        right = self._coerced(other)
        return NotImplemented if right is None else self + (-right)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, int | fmpq):
            return Element(self.field, self.num * other, self.den if other else None)
        if not isinstance(other, Element):
            return NotImplemented
        if self.den is None and other.den is None:
            return Element(self.field, self.num * other.num).reduced()
        return Element(self.field, self.num * other.num, (self.den or 1) * (other.den or 1)).reduced()

    __rmul__ = __mul__

    def inverse(self) -> Element:
        """``1 / self``."""
        if self.num == 0:
            raise ZeroDivisionError("division by an exact zero")
        if not self.field.certainly_nonzero(self.num):
            raise ExactnessLimit("a division by a number that is not certified to be nonzero")
        den = self.field.context.constant(1) if self.den is None else self.den
        return Element(self.field, den, self.num).reduced()

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, int | fmpq):
            return Element(self.field, self.num / fmpq(other), self.den)
        return self * other.inverse() if isinstance(other, Element) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return self.inverse() * other

    def __pow__(self, exponent: int) -> Any:
        base = self if exponent >= 0 else self.inverse()
        result: Any = self.field.one
        for _ in range(abs(exponent)):
            result = result * base
        return result

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int) and other == 0:
            return not self.num
        right = self._coerced(other)
        if right is None:
            return NotImplemented
        return not (self - right).num

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self.field.expression(self))


def reduce_polynomial(field: Field, polynomial: Any) -> Any:
    """The remainder by the relations of the roots."""
    for place, order, relation in field.relations:
        if polynomial.degrees()[place] >= order:
            polynomial = polynomial % relation
    return polynomial


def _occurring(field: Field, polynomial: Any) -> list[int]:
    """Places of the variables of a polynomial, with those that the relations of its roots bring in."""
    places = {place for place, degree in enumerate(polynomial.degrees()) if degree}
    for place, _, relation in field.relations:
        if place in places:
            places |= {other for other, degree in enumerate(relation.degrees()) if degree}
    return sorted(places)


def basis_exponents(field: Field, places: list[int]) -> list[tuple[int, ...]]:
    """Exponents of the monomials that span ``Q[roots]/relations`` for the roots at these places."""
    orders = {place: order for place, order, _ in field.relations}
    exponents: list[tuple[int, ...]] = [()]
    for place in range(len(field.generators)):
        exponents = [(*front, power) for front in exponents for power in range(orders[place] if place in places else 1)]
    return exponents


def algebra_matrix(field: Field, polynomial: Any) -> fmpq_mat | None:
    """Multiplication by an algebraic element on ``Q[roots]/relations``; ``None`` where it is not algebraic or large.

    Its characteristic polynomial has the element as a root, whether or not the relations are irreducible.
    """
    orders = {place: order for place, order, _ in field.relations}
    places = _occurring(field, polynomial)
    size = 1
    for place in places:
        if place not in orders:
            return None
        size *= orders[place]
    if size > LARGEST_ALGEBRA:
        return None
    exponents = basis_exponents(field, places)
    rows = {exponent: row for row, exponent in enumerate(exponents)}
    table = [[fmpq(0)] * size for _ in range(size)]
    for column, exponent in enumerate(exponents):
        image = reduce_polynomial(field, polynomial * field.context.from_dict({exponent: fmpq(1)}))
        for power, coefficient in image.to_dict().items():
            table[rows[power]][column] = coefficient
    return fmpq_mat(table)


def _cleared(field: Field, num: Any, den: Any) -> tuple[Any, Any]:
    """The same fraction with the roots cleared from the denominator, where that is quick."""
    matrix = algebra_matrix(field, den)
    if matrix is not None:
        size = matrix.nrows()
        if size == 1 or matrix.det() == 0:
            return num, den
        return _divided_by_algebraic(field, num, den, matrix)
    for place, order, relation in field.relations:
        while order % 2 == 0 and den.degrees()[place] > 0:
            mirrored = den.compose(*[-gen if at == place else gen for at, gen in enumerate(field.context.gens())])
            if mirrored == den:
                break
            num, den = reduce_polynomial(field, num * mirrored), reduce_polynomial(field, den * mirrored)
            if den == 0 or len(num) > MOST_TERMS:
                raise ExactnessLimit("a denominator could not be cleared of its roots")
            if relation.degrees()[place] > 2:
                break
    if not field.certainly_nonzero(den):
        raise ExactnessLimit("a denominator could not be cleared of its roots")
    common = num.gcd(den)
    return (num, den) if common.is_constant() else (num / common, den / common)


def _divided_by_algebraic(field: Field, num: Any, den: Any, matrix: fmpq_mat) -> tuple[Any, Any]:
    """``num * den^-1`` with the inverse taken in ``Q[roots]/relations``."""
    exponents = basis_exponents(field, _occurring(field, den))
    unit = fmpq_mat([[fmpq(int(not any(exponent)))] for exponent in exponents])
    solution = matrix.solve(unit)
    inverse = field.context.from_dict({e: solution[r, 0] for r, e in enumerate(exponents) if solution[r, 0] != 0})
    return reduce_polynomial(field, num * inverse), field.context.constant(1)


LARGEST_BASIS = 8
DIGITS_EACH = 14
LARGEST_COEFFICIENT = 10**6


def expressed_root(base: Element, order: int) -> Element | None:
    """``base^(1/order)`` as an element of the field of the base, or ``None`` where none was found."""
    from eigentoken.theory.exactness.numbers import ball, sign

    field = base.field
    halves = {place: each // 2 for place, each, _ in field.relations if each % 2 == 0}
    algebraic = all(place in halves for place, degree in enumerate(base.num.degrees()) if degree)
    if order != 2 or not algebraic or base.den is not None or 2 ** len(halves) > LARGEST_BASIS:
        return None
    ranges = [(0, halves[place]) if place in halves else (0,) for place in range(len(field.generators))]
    monomials = [Element(field, field.context.from_dict({e: fmpq(1)})) for e in product(*ranges)]
    digits = DIGITS_EACH * (len(monomials) + 2)
    texts = [ball(value, 4 * digits + 64).mid().str(digits + 5, radius=False) for value in (base, *monomials)]
    found = _relation(tuple(texts), digits)
    if found is None:
        return None
    guess: Any = 0 * field.one
    for coefficient, monomial in zip(found[1:], monomials, strict=True):
        guess = guess - fmpq(coefficient, found[0]) * monomial
    return guess if guess * guess == base and sign(guess) == 1 else None


@lru_cache(maxsize=256)
def _relation(texts: tuple[str, ...], digits: int) -> tuple[int, ...] | None:
    """Integers c with ``c_0 sqrt(t_0) + c_1 t_1 + ... = 0`` to these digits, c_0 nonzero."""
    import mpmath

    with mpmath.workdps(digits):
        values = [mpmath.sqrt(mpmath.mpf(texts[0])), *[mpmath.mpf(text) for text in texts[1:]]]
        found = mpmath.pslq(values, maxcoeff=LARGEST_COEFFICIENT, maxsteps=20_000)
    return None if found is None or found[0] == 0 else tuple(int(c) for c in found)
