"""Is an exact number zero, positive, negative?  Decided, or ``None``.

Zero is decided by the normal form, or for algebraic numbers by a root bound; a sign by balls whose precision is raised
until they exclude zero.  ``None`` is what is left: neither, within the precisions of
:data:`~eigentoken.theory.exactness.balls.PRECISIONS`.
"""

from __future__ import annotations

from typing import Any

import sympy
from flint import arb, fmpq

from eigentoken.theory.exactness.balls import PRECISIONS, expression_ball, precision, rational_ball
from eigentoken.theory.exactness.elements import Element, Scalar, algebra_matrix
from eigentoken.theory.exactness.fields import in_smallest_field

__all__ = ["ball", "is_zero", "sign", "sign_of_expression"]


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
