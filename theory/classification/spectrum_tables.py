"""Spectra for people and files: closed forms, doubles, enclosures."""

from __future__ import annotations

from typing import Any

import sympy
from flint import acb

from eigentoken.theory.classification.classification import ExactEigenvalue
from eigentoken.theory.classification.jacobian_spectrum import PointLinearization
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.exactness.decisions import ball
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.polynomials import MOST_SHOWN, Root, closed_form, terms, tidy

__all__ = ["eigenvalue_entry", "moduli_entries", "spectrum_entries"]

LONGEST_FORM = 240
DIGITS = 20


def eigenvalue_entry(field: Field, value: Any) -> ExactEigenvalue:
    """An exact real number of the field as an entry."""
    enclosure = ball(value, 192)
    return ExactEigenvalue(tidy(field, value), complex(float(enclosure.mid())), 1, None, _printed(enclosure), enclosure)


def _printed(enclosure: Any) -> str:
    with precision(96):
        return str(enclosure.str(DIGITS))


def _form(field: Field, root: Root) -> tuple[sympy.Expr | None, str | None]:
    """The closed form of a root, and a description where there is none."""
    exact = closed_form(field, root)
    if exact is not None and len(str(exact)) <= LONGEST_FORM:
        return exact, None
    if sum(terms(coefficient) for coefficient in root.factor) > MOST_SHOWN:
        return None, None
    z = sympy.Symbol("z")
    summands = [field.expression(coefficient) * z**degree for degree, coefficient in enumerate(root.factor)]
    text = str(sympy.Add(*summands))
    if len(text) > LONGEST_FORM:
        return None, None
    where = f"{root.value.real:.12g}" if root.is_real else f"{root.value:.12g}"
    return None, f"RootOf({text}, near {where})"


def spectrum_entries(field: Field, found: PointLinearization) -> tuple[ExactEigenvalue, ...]:
    """The eigenvalues in ascending order of real part, then imaginary part."""
    entries = []
    for root, count in found.eigenvalues:
        exact, description = _form(field, root)
        entries.append(ExactEigenvalue(exact, root.value, count, description, _printed(root.enclosure), root.enclosure))
    return tuple(entries)


def moduli_entries(field: Field, found: PointLinearization, halved: bool) -> tuple[ExactEigenvalue, ...]:
    """``|z|`` for each eigenvalue, or ``|z|^(1/2)`` if the eigenvalues are those of two steps; equal ones together."""
    listed: list[tuple[sympy.Expr | None, Any, int]] = []
    for root, count in found.eigenvalues:
        exact, _ = _form(field, root)
        with precision(192):
            modulus = abs(acb(root.enclosure))
            size = modulus.sqrt() if halved else modulus
        form = None
        if exact is not None and root.is_real:
            form = -exact if root.enclosure.real < 0 else exact
        elif len(root.factor) == 3 and not root.is_real:
            form = sympy.sqrt(tidy(field, root.factor[0]))
        if form is not None and halved:
            form = sympy.sqrt(form)
        for place, (known, enclosure, total) in enumerate(listed):
            if form is not None and known == form:
                listed[place] = (known, enclosure, total + count)
                break
        else:
            listed.append((form, size, count))
    listed.sort(key=lambda entry: float(entry[1].mid()))
    return tuple(
        ExactEigenvalue(form, complex(float(size.mid())), count, None, _printed(size), size)
        for form, size, count in listed
    )
