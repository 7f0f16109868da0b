"""Characteristic polynomials over the field of an instance, and their factors.

A polynomial is a list of coefficients, constant term first.  Factors over ``Q(logs, exps)`` come from flint; over a
field with roots from Trager's norm (the norm of a shifted polynomial is factored over Q, and the factors are pulled
back by gcds).  What a factorization returns is multiplied out again and compared with the polynomial.

Their roots over the field of an instance come with certified enclosures, and closed forms for people.

Eigenvalues of exact matrices are roots of their characteristic polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from flint import Ordering, acb, acb_mat, acb_poly, arb, fmpq, fmpq_mat, fmpq_mpoly_ctx, fmpq_poly

from eigentoken.theory.exactness.balls import PRECISIONS, precision
from eigentoken.theory.exactness.elements import MOST_TERMS, Element, ExactnessLimit, Scalar, reduce_polynomial
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.numbers import ball, sign

__all__ = [
    "MOST_SHOWN",
    "Polynomial",
    "Root",
    "characteristic_polynomial",
    "closed_form",
    "enclosed_eigenvalues",
    "exact_eigenvalues",
    "factors",
    "gcd",
    "multiply",
    "real_or_not",
    "root_balls",
    "roots",
    "terms",
    "tidy",
]

Polynomial = list[Scalar]

LARGEST_EXACT_BLOCK = 12
LARGEST_NORM = 60
LARGEST_MIXED_NORM = 16


def characteristic_polynomial(field: Field, matrix: list[list[Scalar]]) -> Polynomial:
    """``det(z - matrix)``: by flint over Q, elsewhere by Faddeev-LeVerrier on the numerators over one denominator."""
    size = len(matrix)
    if field.is_rational:
        return list(fmpq_mat([[fmpq(entry) for entry in row] for row in matrix]).charpoly().coeffs())
    if size > LARGEST_EXACT_BLOCK:
        raise ExactnessLimit(f"a block of size {size} with irrational entries is beyond {LARGEST_EXACT_BLOCK}")
    common = _common_denominator(field, [entry for row in matrix for entry in row])
    scaled = [
        [entry.num * (common / entry.den if entry.den is not None else common) for entry in row] for row in matrix
    ]
    found = _faddeev_leverrier(field, [[reduce_polynomial(field, entry) for entry in row] for row in scaled])
    below = field.context.constant(1)
    coefficients = []
    for numerator in reversed(found):
        coefficients.append(Element(field, numerator, below).reduced())
        below = reduce_polynomial(field, below * common)
    return coefficients[::-1]


def _common_denominator(field: Field, values: list[Any]) -> Any:
    """A polynomial that every denominator divides; it is not reduced, so that the quotients are exact."""
    common = field.context.constant(1)
    for value in values:
        if value.den is not None:
            common = common * (value.den / common.gcd(value.den))
    return common


def _faddeev_leverrier(field: Field, matrix: list[list[Any]]) -> list[Any]:
    """Coefficients of the characteristic polynomial of a matrix of polynomials, constant term first."""
    size = len(matrix)
    zero = field.context.constant(0)
    coefficients = [zero] * size + [field.context.constant(1)]
    product = [[zero] * size for _ in range(size)]
    for step in range(1, size + 1):
        for i in range(size):
            product[i][i] = product[i][i] + coefficients[size - step + 1]
        product = [[_row_times_column(field, row, product, j) for j in range(size)] for row in matrix]
        trace = zero
        for i in range(size):
            trace = trace + product[i][i]
        coefficients[size - step] = trace / fmpq(-step)
    return coefficients


def _row_times_column(field: Field, row: list[Any], matrix: list[list[Any]], column: int) -> Any:
    total = field.context.constant(0)
    for k, entry in enumerate(row):
        if entry != 0 and matrix[k][column] != 0:
            total = total + entry * matrix[k][column]
    if len(total) > MOST_TERMS:
        raise ExactnessLimit(f"a characteristic polynomial grew beyond {MOST_TERMS} terms")
    return reduce_polynomial(field, total)


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """Product of two polynomials."""
    result = [0 * left[0]] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] = result[i + j] + a * b
    return result


def divide(left: Polynomial, right: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder; the leading coefficient of ``right`` must be invertible."""
    rest, quotient = list(left), [0 * left[0]] * max(1, len(left) - len(right) + 1)
    for shift in range(len(left) - len(right), -1, -1):
        ratio = rest[shift + len(right) - 1] / right[-1]
        quotient[shift] = ratio
        for index, coefficient in enumerate(right):
            rest[shift + index] = rest[shift + index] - ratio * coefficient
    return quotient, _trimmed(rest[: max(1, len(right) - 1)])


def _trimmed(polynomial: Polynomial) -> Polynomial:
    last = len(polynomial)
    while last > 1 and polynomial[last - 1] == 0:
        last -= 1
    return polynomial[:last]


def monic(polynomial: Polynomial) -> Polynomial:
    """Divided by its leading coefficient."""
    lead = polynomial[-1]
    return [coefficient / lead for coefficient in polynomial[:-1]] + [lead / lead]


def gcd(left: Polynomial, right: Polynomial) -> Polynomial:
    """The monic greatest common divisor: by flint where the field has no roots, else by Euclid's algorithm."""
    left, right = _trimmed(left), _trimmed(right)
    field = left[-1].field if isinstance(left[-1], Element) else None
    if field is not None and not field.relations:
        common = _cleared(field, left)[0].gcd(_cleared(field, right)[0])
        return monic(_by_degree(field, common))
    while not (len(right) == 1 and right[0] == 0):
        left, right = right, divide(left, right)[1] if len(left) >= len(right) else left
    return monic(left)


def derivative(polynomial: Polynomial) -> Polynomial:
    """Derivative of a polynomial of positive degree."""
    return [index * coefficient for index, coefficient in enumerate(polynomial)][1:]


def factors(field: Field, polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    """Monic irreducible factors with multiplicities of a monic polynomial; multiplied out again as a check."""
    if len(polynomial) == 2:
        return [(polynomial, 1)]
    if field.is_rational:
        _, found = fmpq_poly(polynomial).numer().factor()
        listed = [(monic([fmpq(c) for c in factor.coeffs()]), int(count)) for factor, count in found]
    elif not field.relations:
        listed = _transcendental_factors(field, polynomial)
    else:
        listed = [(part, count) for square, count in _squarefree(polynomial) for part in _trager(field, square)]
    product: Polynomial = [field.one]
    for factor, count in listed:
        for _ in range(count):
            product = multiply(product, factor)
    if len(product) != len(polynomial) or not all(a == b for a, b in zip(product, polynomial, strict=True)):
        raise ExactnessLimit("a factorization did not multiply out to its polynomial")
    return listed


def _squarefree(polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    """Yun's decomposition into squarefree parts; a polynomial whose roots balls keep apart needs none."""

    if root_balls(polynomial, PRECISIONS[1]) is not None:
        return [(polynomial, 1)]
    listed = []
    common = gcd(polynomial, derivative(polynomial))
    rest, count = divide(polynomial, common)[0], 1
    while len(rest) > 1:
        shared = gcd(rest, common) if len(common) > 1 else [rest[-1]]
        part = divide(rest, shared)[0]
        if len(part) > 1:
            listed.append((monic(part), count))
        rest, common, count = shared, (divide(common, shared)[0] if len(shared) > 1 else common), count + 1
    return listed


def _cleared(field: Field, polynomial: Polynomial) -> tuple[Any, Any]:
    """The polynomial in z and the generators over Q, without denominators, and its context (z first)."""
    context = fmpq_mpoly_ctx.get(["z", *field.context.names()], Ordering.lex)
    common = _common_denominator(field, polynomial)
    terms = {}
    for degree, coefficient in enumerate(polynomial):
        numerator = coefficient.num * common / (coefficient.den if coefficient.den is not None else 1)
        for powers, value in numerator.to_dict().items():
            terms[(degree, *powers)] = value
    return context.from_dict(terms), context


def _by_degree(field: Field, polynomial: Any) -> Polynomial:
    """A polynomial in z and the generators as a list of elements."""
    grouped: dict[int, dict[tuple[int, ...], Any]] = {}
    for powers, value in polynomial.to_dict().items():
        grouped.setdefault(powers[0], {})[tuple(powers[1:])] = value
    degrees = range(max(grouped, default=0) + 1)
    return [Element(field, field.context.from_dict(grouped.get(degree, {}))).reduced() for degree in degrees]


def _transcendental_factors(field: Field, polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    cleared, _ = _cleared(field, polynomial)
    _, found = cleared.factor()
    return [(monic(_by_degree(field, factor)), int(count)) for factor, count in found if factor.degrees()[0] > 0]


def _trager(field: Field, polynomial: Polynomial) -> list[Polynomial]:
    """Irreducible factors of a squarefree polynomial over a field with roots; itself where the norm is too large."""
    if len(polynomial) == 2:
        return [polynomial]
    cleared, context = _cleared(field, polynomial)
    used = set()
    for place, degree in enumerate(cleared.degrees()[1:]):
        if degree:
            used.add(place)
    for place, _, relation in field.relations:
        if place in used:
            used |= {other for other, degree in enumerate(relation.degrees()) if degree}
    relations = [entry for entry in field.relations if entry[0] in used]
    size = len(polynomial) - 1
    for _, order, _ in relations:
        size *= order
    mixed = 0 < len(relations) < len(used)
    if size > (LARGEST_MIXED_NORM if mixed else LARGEST_NORM) or (mixed and len(cleared) > LARGEST_MIXED_NORM):
        return [polynomial]
    gens = context.gens()
    lifted = [(place, context.from_dict({(0, *p): c for p, c in r.to_dict().items()})) for place, _, r in relations]
    for attempt in range(1, 6):
        shift = context.constant(0)
        for index, (place, _) in enumerate(lifted):
            shift = shift + (attempt + index * (attempt + 1)) * gens[place + 1]
        norm = cleared.compose(gens[0] - shift, *gens[1:])
        for place, relation in lifted:
            norm = norm.resultant(relation, place + 1)
        if norm == 0:
            continue
        _, found = norm.factor()
        found = [(factor, count) for factor, count in found if factor.degrees()[0] > 0]
        if any(count > 1 for _, count in found):
            continue
        if len(found) == 1:
            return [polynomial]
        return [gcd(polynomial, _by_degree(field, factor.compose(gens[0] + shift, *gens[1:]))) for factor, _ in found]
    return [polynomial]


MOST_SHOWN = 30
MOST_TIDIED = 12


@dataclass(frozen=True)
class Root:
    """One root of an irreducible (or at least squarefree) monic factor: which one, and a narrow enclosure."""

    factor: tuple[Scalar, ...]
    index: int
    enclosure: acb
    is_real: bool

    @property
    def value(self) -> complex:
        """The nearest double (complex where it is not real)."""
        return complex(float(self.enclosure.real.mid()), 0.0 if self.is_real else float(self.enclosure.imag.mid()))


def root_balls(factor: Polynomial, bits: int) -> list[acb] | None:
    """Disjoint balls, one around each root of a squarefree polynomial; ``None`` where they are not isolated."""
    with precision(bits):
        if len(factor) == 2:
            return [acb(-ball(factor[0], bits) / ball(factor[1], bits))]
        centres = [acb(ball(coefficient, bits + 64)) for coefficient in factor]
        try:
            found = list(acb_poly(centres).roots(tol=arb(2) ** (8 - bits // 2), maxprec=4 * bits))
        except (ValueError, ArithmeticError):
            return None
        if len(found) != len(factor) - 1:
            return None
        if any(a.overlaps(b) for place, a in enumerate(found) for b in found[:place]):
            return None
        return sorted(found, key=lambda root: (float(root.real.mid()), float(root.imag.mid())))


def roots(factor: Polynomial) -> list[Root]:
    """All roots of a squarefree monic factor; a root is real where its ball alone meets its conjugate."""
    for bits in PRECISIONS[1:]:
        found = root_balls(factor, bits)
        if found is None:
            continue
        if any(sum(other.overlaps(ball.conjugate()) for other in found) != 1 for ball in found):
            continue
        listed = [Root(tuple(factor), index, *each) for index, each in enumerate(real_or_not(found))]
        if all(_narrow(root.enclosure) for root in listed):
            return listed
    raise ArithmeticError(f"the roots of a factor of degree {len(factor) - 1} were not isolated")


def _narrow(enclosure: Any) -> bool:
    size = max(abs(float(enclosure.real.mid())), abs(float(enclosure.imag.mid())))
    return float(max(enclosure.real.rad(), enclosure.imag.rad())) <= 2.0**-70 * max(size, 2.0**-200)


def closed_form(field: Field, root: Root) -> sympy.Expr | None:
    """The root in radicals of the field, for factors of degree one and two that are short; ``None`` beyond."""
    if any(terms(coefficient) > MOST_SHOWN for coefficient in root.factor):
        return None
    if len(root.factor) == 2:
        return tidy(field, -root.factor[0])
    if len(root.factor) == 3:
        trace, determinant = -root.factor[1], root.factor[0]
        discriminant = trace * trace - 4 * determinant
        outcome = sign(discriminant)
        if not outcome:
            return None
        if terms(discriminant) > MOST_SHOWN:
            return None
        radical = sympy.sqrt(tidy(field, discriminant))
        larger = root.value.real > _other(trace, root) if outcome > 0 else root.value.imag > 0
        return tidy(field, trace / 2) + (radical if larger else -radical) / 2
    return None


def _other(trace: Any, root: Root) -> float:
    return float(ball(trace, 128).mid()) - root.value.real


def terms(value: Scalar) -> int:
    """Number of terms of an exact number, above and below."""
    return len(value.num) + (0 if value.den is None else len(value.den)) if isinstance(value, Element) else 1


def tidy(field: Field, value: Scalar) -> sympy.Expr:
    """A short form of an exact number: as it is, or over one denominator."""
    expression = field.expression(value)
    if expression.is_Rational or terms(value) > MOST_TIDIED:
        return expression
    return min(
        (expression, sympy.together(expression), sympy.factor_terms(expression)), key=lambda e: (len(str(e)), str(e))
    )


def exact_eigenvalues(matrix: fmpq_mat) -> list[tuple[fmpq | acb, int]]:
    """The distinct eigenvalues with their multiplicities, by the irreducible factors of the characteristic polynomial.

    Those of degree one give rational numbers; the roots of the others are isolated in balls at the current precision.

    >>> exact_eigenvalues(fmpq_mat([[2, 0, 0], [0, 2, 0], [0, 1, 5]]))
    [(5, 1), (2, 2)]
    """
    found: list[tuple[fmpq | acb, int]] = []
    for factor, multiplicity in matrix.charpoly().factor()[1]:
        if factor.degree() == 1:
            found.append((-factor[0] / factor[1], int(multiplicity)))
        else:
            found += [(root, int(multiplicity)) for root, _ in factor.complex_roots()]
    return found


def enclosed_eigenvalues(matrix: acb_mat) -> list[acb] | None:
    """Balls around all eigenvalues of every matrix in the balls, in no order; ``None`` where they were not enclosed."""
    try:
        return list(matrix.eig(multiple=True))
    except (ValueError, ArithmeticError):
        return None


def real_or_not(isolating: Sequence[acb]) -> list[tuple[acb, bool]]:
    """For balls that hold one root each of a real polynomial: the ball, with imaginary part 0 where its root is real.

    The mirror image of a root is a root.  Where the mirrored ball meets its own ball and no other, the root is its own
    mirror image: real.
    """
    found = []
    for each in isolating:
        mirrored = each.conjugate()
        met = [other for other in isolating if other.overlaps(mirrored)]
        real = len(met) == 1 and met[0] is each
        found.append((acb(each.real) if real else each, real))
    return found
