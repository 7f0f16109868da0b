"""Is a nested square root already in the field?  ``sqrt(3 + 2 sqrt(2)) = 1 + sqrt(2)``.

An integer relation between the root and products of the field's square roots is guessed (PSLQ) and then verified: the
square of the guess must reduce to the base exactly, and the guess must be positive.  A wrong guess is dropped; a root
that is not recognised becomes a generator of its own, with a relation that the field does not know.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

from flint import fmpq

from eigentoken.theory.exactness.elements import Element

__all__ = ["expressed_root"]

LARGEST_BASIS = 8
DIGITS_EACH = 14
LARGEST_COEFFICIENT = 10**6


def expressed_root(base: Element, order: int) -> Element | None:
    """``base^(1/order)`` as an element of the field of the base, or ``None`` where none was found."""
    from eigentoken.theory.exactness.decisions import ball, sign

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
