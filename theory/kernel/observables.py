"""Observables of the language in the calculus: the same function of the state, for symbolic n and d.

An entry is part of what a reader must believe; a test evaluates both on exact states of several sizes.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from eigentoken.theory.calculus import TOKENS, Expression, Index, dot, exponential, matrix, vector
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE
from eigentoken.theory.language.observables import Observable, oja_potential
from eigentoken.theory.language.observables_attention import ellipsoid_potential

__all__ = ["EXPRESSIONS", "expression_of"]


def _oja_potential() -> Expression:
    """``W = -xbar^T V xbar / 2``."""
    i = Index("token", "i")
    mean = vector(STATE, i).summed(i) / TOKENS
    return dot(mean, mean, matrix("V")) * sp.Rational(-1, 2)


def _ellipsoid_potential() -> Expression:
    """``V_P = -1/2 sum_ij exp(x_i^T P x_j)``."""
    i, j = Index("token", "i"), Index("token", "j")
    return exponential(dot(vector(STATE, i), vector(STATE, j), matrix("P"))).summed(i, j) * sp.Rational(-1, 2)


EXPRESSIONS: dict[Observable, Callable[[], Expression]] = {
    oja_potential: _oja_potential,
    ellipsoid_potential: _ellipsoid_potential,
}


def expression_of(observable: Observable) -> Expression:
    """The expression of an observable in the state ``x``."""
    if observable not in EXPRESSIONS:
        raise Refused(f"the observable {observable.name} has no expression in the calculus")
    return EXPRESSIONS[observable]()
