"""Observables of the language in the calculus: the same function of the state, for symbolic n and d.

An entry is part of what a reader must believe; a test evaluates both on exact states of several sizes.  A letter that is no
parameter of the system is defined by an equation (:func:`definition_of`), and free tokens are any two: the rules that speak of an
observable take the definition as a hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import TOKENS, Expression, Index, dot, exponential, matrix, vector
from eigentoken.theory.calculus.expressions import frozen
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, matrices_of
from eigentoken.theory.language import terms
from eigentoken.theory.language.conditions import Nonsingular, Relation
from eigentoken.theory.language.observables import Observable, oja_potential
from eigentoken.theory.language.observables_attention import ellipsoid_potential, pair_form, token_energy

__all__ = ["EXPRESSIONS", "definition_of", "expression_of", "parameters_of"]


def _oja_potential() -> Expression:
    """``W = -xbar^T V xbar / 2``."""
    i = Index("token", "i")
    mean = vector(STATE, i).summed(i) / TOKENS
    return dot(mean, mean, matrix("V")) * sp.Rational(-1, 2)


def _ellipsoid_potential() -> Expression:
    """``V_P = -1/2 sum_ij exp(x_i^T P x_j)``."""
    i, j = Index("token", "i"), Index("token", "j")
    return exponential(dot(vector(STATE, i), vector(STATE, j), matrix("P"))).summed(i, j) * sp.Rational(-1, 2)


def _pair_form() -> Expression:
    """``(x_i - x_j)^T A (x_i - x_j)``."""
    gap = vector(STATE, Index("token", "i")) - vector(STATE, Index("token", "j"))
    return dot(gap, gap, matrix("A"))


def _token_energy() -> Expression:
    """``-1/2 sum_i x_i^T A x_i``."""
    i = Index("token", "i")
    return dot(vector(STATE, i), vector(STATE, i), matrix("A")).summed(i) * sp.Rational(-1, 2)


EXPRESSIONS: dict[Observable, Callable[[], Expression]] = {
    oja_potential: _oja_potential,
    ellipsoid_potential: _ellipsoid_potential,
    pair_form: _pair_form,
    token_energy: _token_energy,
}


#: ``A = W B^{-1}``.
_QUOTIENT = (
    Relation(sp.Eq(terms.matrix("A") * terms.matrix("B"), terms.matrix("W"), evaluate=False)),
    Nonsingular(terms.matrix("B")),
)
_DEFINITIONS: dict[Observable, tuple[Any, ...]] = {
    pair_form: (*_QUOTIENT, Relation(sp.Ge(TOKENS, 2, evaluate=False))),
    token_energy: _QUOTIENT,
}


def expression_of(observable: Observable) -> Expression:
    """The expression of an observable in the state ``x``."""
    if observable not in EXPRESSIONS:
        raise Refused(f"the observable {observable.name} has no expression in the calculus")
    return EXPRESSIONS[observable]()


def definition_of(observable: Observable) -> tuple[Any, ...]:
    """What the letters of its expression are that are no parameters, and where it has a value."""
    return _DEFINITIONS.get(observable, ())


def parameters_of(observable: Observable) -> set[str]:
    """The names of the matrices of the system that it is made of."""
    words = definition_of(observable)
    defined = {
        word.relation.lhs.args[0].name for word in words if isinstance(word, Relation) and word.relation.lhs.is_Matrix
    }
    named = {each.name for word in words if isinstance(word, Relation) for each in word.relation.atoms(sp.MatrixSymbol)}
    return (matrices_of(frozen(expression_of(observable))) | named) - defined
