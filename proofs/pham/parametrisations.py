"""PH-T9 in the kernel: congruence keeps the inertia, softplus is positive; two exact instances in which definiteness is lost."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.steps.theorems import SYLVESTER
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Atom, Conjunction, ForAll, Negation, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import NegativeDefinite, Nonsingular, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import RightCount, matrix

__all__ = ["CLAIMS", "proof"]

L, T = matrix("L"), matrix("T")
_COUNTS = tuple(
    proposition(sp.Eq(RightCount(sign * L * T * L.T), RightCount(sign * T), evaluate=False)) for sign in (1, -1)
)
CONGRUENT = ForAll(L, Atom(Nonsingular(L)), ForAll(T, Atom(Symmetric(T)), Conjunction(_COUNTS)))
THETA = sp.Symbol("theta", real=True)
SOFTPLUS = ForAll(THETA, TRUE, proposition(sp.Gt(sp.log(1 + sp.exp(THETA)), 0, evaluate=False)))


def _word(word: type, entries: Any) -> Proposition:
    return Atom(word(sp.ImmutableMatrix(entries)))


def _is(product: tuple[Any, ...], value: Any) -> Proposition:
    """A product of matrices with all their entries."""
    factors = sp.MatMul(*map(sp.ImmutableMatrix, product), evaluate=False)
    return proposition(sp.Eq(factors, sp.ImmutableMatrix(value), evaluate=False))


# ``K = (Q^{-1} W)^T`` used through linear layers acts as ``Q^T K = Q^T W^T Q^{-T}``.
_QUERY, _SCORE = sp.diag(1, 10), sp.Matrix([[1, 1], [-1, 1]])
_ACTS = _QUERY.T * (_QUERY.inv() * _SCORE).T
# ``V = (W^{-1} A)^T`` stored for ``A^{-1} W`` and used as B: the form is ``W V^{-1}``.
_FORM, _WEIGHT = -sp.diag(1, 9), sp.Matrix([[1, sp.Rational(9, 10)], [sp.Rational(9, 10), 1]])
_STORED = (_WEIGHT.inv() * _FORM).T
_INSTEAD = _WEIGHT * _STORED.inv()
#: What the instances are, and that both signs are lost.
LAYERS = (_word(PositiveDefinite, _SCORE), _is((_QUERY.T, _SCORE.T, _QUERY.inv().T), _ACTS))
STORED = (_word(NegativeDefinite, _FORM), _is((_WEIGHT, _STORED.T), _FORM), _is((_INSTEAD, _STORED), _WEIGHT))


def _lost(entries: sp.Matrix) -> tuple[Proposition, ...]:
    return tuple(_word(word, entries) for word in (PositiveDefinite, NegativeDefinite))


def _claim(known: tuple[Proposition, ...], entries: sp.Matrix) -> Formula:
    return Formula(Conjunction((*known, *map(Negation, _lost(entries)))))


CLAIMS: tuple[Claim, ...] = (
    Formula(CONGRUENT),
    Formula(SOFTPLUS),
    _claim(LAYERS, _ACTS),
    _claim(STORED, _INSTEAD),
)


def proof(kernel: Kernel) -> Proved:
    """Sylvester's law; softplus; the two instances."""
    symmetric, regular = kernel.assume(Symmetric(T)), kernel.assume(Nonsingular(L))
    counts = kernel.textbook(SYLVESTER, symmetric, regular, L=L, T=T)
    by_form = kernel.generalise(T, counts, Symmetric(T))
    soft = kernel.arithmetic([], SOFTPLUS.body)
    exact = [kernel.exact_matrix(each) for each in (*LAYERS, *_lost(_ACTS), *STORED, *_lost(_INSTEAD))]
    return kernel.conjunction(kernel.generalise(L, by_form, Nonsingular(L)), kernel.generalise(THETA, soft), *exact)
