"""Identities for all n and d: proved by the normal form, refuted by an instance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.calculus.expressions import Assumptions, Expression
from eigentoken.theory.calculus.normal_form import normal_form
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["is_zero", "prove_equal"]


def is_zero(
    expression: Expression, assumptions: Assumptions | None = None, instance: Numbers | None = None, place: Any = None
) -> Verdict:
    """Does the expression vanish for all n, d and all values of its letters that satisfy the assumptions?

    ``holds`` when the normal form is empty.  A nonempty normal form is no refutation; with an ``instance`` in interval
    arithmetic that satisfies the assumptions and where the value is certainly not zero, the verdict is ``fails``.

    >>> from eigentoken.theory.calculus import Index, dot, matrix, vector
    >>> i = Index("token", "i")
    >>> skew = dot(vector("x", i), vector("x", i), matrix("A")) - dot(vector("x", i), vector("x", i), matrix("A^T"))
    >>> is_zero(skew).answer.value
    'holds'
    """
    rules = assumptions if assumptions is not None else Assumptions()
    residual = normal_form(expression, rules)
    if not residual.terms:
        return holds("the normal form is zero, for all n and d")
    if instance is not None:
        values = instance.vector(expression, place) if expression.is_vector else [instance.scalar(expression, place)]
        if any(_certainly_nonzero(value) for value in values):
            return fails(f"at the given instance the value is {values}", details={"residual": repr(residual)})
    return undecided(f"the normal form is not empty: {residual!r}", details={"terms": len(residual.terms)})


def prove_equal(
    left: Expression, right: Expression, assumptions: Assumptions | None = None, instance: Numbers | None = None
) -> Verdict:
    """``left = right`` for all n and d."""
    return is_zero(left - right, assumptions, instance)


def _certainly_nonzero(value: Any) -> bool:
    """An mpmath interval that does not contain zero, or an exact number that is not zero; a float is never certain."""
    if isinstance(value, float):
        return False
    if hasattr(value, "a") and hasattr(value, "b"):
        return bool(value.a > 0 or value.b < 0)
    if isinstance(value, sp.Basic):
        return value.is_zero is False
    return isinstance(value, int | Fraction) and value != 0
