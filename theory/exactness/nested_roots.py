"""Is a nested root already in the field?  ``sqrt(3 + 2 sqrt(2)) = 1 + sqrt(2)``.

An integer relation between the root and the monomials of the field's roots is guessed (PSLQ) and then verified: the
k-th power of the guess must reduce to the base exactly, and the guess must be positive.  A wrong guess is dropped.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq

from eigentoken.theory.exactness.elements import Element, basis_exponents

__all__ = ["expressed_root"]

LARGEST_BASIS = 16
DIGITS_EACH = 12
LARGEST_COEFFICIENT = 10**6


def expressed_root(base: Element, order: int) -> Element | None:
    """``base^(1/order)`` as an element of the field of the base, or ``None`` where none was found."""
    import mpmath

    from eigentoken.theory.exactness.decisions import ball, sign

    field = base.field
    places = [place for place, _, _ in field.relations]
    size = 1
    for _, each, _ in field.relations:
        size *= each
    algebraic = all(place in places for place, degree in enumerate(base.num.degrees()) if degree)
    if not algebraic or base.den is not None or size > LARGEST_BASIS:
        return None
    monomials = [Element(field, field.context.from_dict({e: fmpq(1)})) for e in basis_exponents(field, places)]
    digits = DIGITS_EACH * (size + 2)
    bits = 4 * digits + 64

    def decimal(value: Any) -> Any:
        return mpmath.mpf(ball(value, bits).mid().str(digits + 5, radius=False))

    with mpmath.workdps(digits):
        values = [mpmath.root(decimal(base), order), *[decimal(monomial) for monomial in monomials]]
        found = mpmath.pslq(values, maxcoeff=LARGEST_COEFFICIENT, maxsteps=20_000)
    if found is None or found[0] == 0:
        return None
    guess = 0 * field.one
    for coefficient, monomial in zip(found[1:], monomials, strict=True):
        guess = guess - fmpq(int(coefficient), int(found[0])) * monomial
    return guess if guess**order == base and sign(guess) == 1 else None
