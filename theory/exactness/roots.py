"""The roots of a polynomial over the field of an instance: certified enclosures, and closed forms for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy
from flint import acb, acb_poly, arb

from eigentoken.theory.exactness.balls import PRECISIONS, precision
from eigentoken.theory.exactness.decisions import ball, sign
from eigentoken.theory.exactness.elements import Element
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.polynomials import Polynomial

__all__ = ["MOST_SHOWN", "Root", "closed_form", "root_balls", "roots", "terms", "tidy"]

MOST_SHOWN = 30
MOST_TIDIED = 12


@dataclass(frozen=True)
class Root:
    """One root of an irreducible (or at least squarefree) monic factor: which one, and a narrow enclosure."""

    factor: tuple[Any, ...]
    index: int
    enclosure: Any
    is_real: bool

    @property
    def value(self) -> complex:
        """The nearest double (complex where it is not real)."""
        return complex(float(self.enclosure.real.mid()), 0.0 if self.is_real else float(self.enclosure.imag.mid()))


def root_balls(factor: Polynomial, bits: int) -> list[Any] | None:
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
        listed = []
        for index, enclosure in enumerate(found):
            mirrored = [other for other in found if other.overlaps(enclosure.conjugate())]
            if len(mirrored) != 1:
                break
            real = mirrored[0] is enclosure
            listed.append(Root(tuple(factor), index, acb(enclosure.real) if real else enclosure, real))
        if len(listed) == len(found) and all(_narrow(root.enclosure) for root in listed):
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


def terms(value: Any) -> int:
    """Number of terms of an exact number, above and below."""
    return len(value.num) + (0 if value.den is None else len(value.den)) if isinstance(value, Element) else 1


def tidy(field: Field, value: Any) -> sympy.Expr:
    """A short form of an exact number: as it is, or over one denominator."""
    expression = field.expression(value)
    if expression.is_Rational or terms(value) > MOST_TIDIED:
        return expression
    return min(
        (expression, sympy.together(expression), sympy.factor_terms(expression)), key=lambda e: (len(str(e)), str(e))
    )
