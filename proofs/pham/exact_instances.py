"""PH-C1 and PH-C2 in the kernel: exact instances of the token flow in the plane."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.instances import VelocityIs, rows
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Atom, Conjunction, ForAll, Negation, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Symmetric

__all__ = ["GROWS", "SPREADS", "grows", "spreads"]


def _weights(value: sp.Matrix, score: sp.Matrix) -> tuple[tuple[Str, Any], ...]:
    return (Str("B"), rows(value)), (Str("W"), rows(score))


def _product_is(form: sp.Matrix, value: sp.Matrix, score: sp.Matrix) -> Proposition:
    """``A B = W``, with all entries."""
    product = sp.MatMul(*map(sp.ImmutableMatrix, (form, value)), evaluate=False)
    return proposition(sp.Eq(product, sp.ImmutableMatrix(score), evaluate=False))


# -- PH-C1: A = -diag(1, 10), W = [[1, 2], [-2, 1]], tokens +-(1/2)(1, -2) -------------------------------------------------

_A1, _W1 = -sp.diag(1, 10), sp.Matrix([[1, 2], [-2, 1]])
_B1 = _A1.inv() * _W1
_HALF = sp.Matrix([sp.Rational(1, 2), -1])
#: The first weight minus the second, of the first token.
_GAMMA = (sp.exp(sp.Rational(5, 4)) - sp.exp(sp.Rational(-5, 4))) / (
    sp.exp(sp.Rational(5, 4)) + sp.exp(sp.Rational(-5, 4))
)
_PUSH = _B1 * _HALF * _GAMMA
_PAIR = VelocityIs(_weights(_B1, _W1), rows([list(_HALF), list(-_HALF)]), rows([list(_PUSH), list(-_PUSH)]))
#: d/dt |x_1 - x_2|^2.
_RATE = sp.Gt(8 * (_HALF.T * _PUSH)[0], 0, evaluate=False)


def _of_form(form: sp.Matrix, value: sp.Matrix, score: sp.Matrix) -> tuple[Proposition, ...]:
    return (
        _product_is(form, value, score),
        Atom(NegativeDefinite(sp.ImmutableMatrix(form))),
        Atom(PositiveDefinite(sp.ImmutableMatrix(score))),
    )


SPREADS: tuple[Claim, ...] = (
    Formula(Conjunction((*_of_form(_A1, _B1, _W1), Atom(Symmetric(sp.ImmutableMatrix(_A1)))))),
    Formula(Atom(_PAIR)),
    Formula(proposition(_RATE)),
)


def spreads(kernel: Kernel) -> Proved:
    """The matrices, the velocities, and the rate of the squared distance."""
    return kernel.conjunction(
        *map(kernel.exact_matrix, SPREADS[0].said.parts),  # type: ignore[attr-defined]
        kernel.velocity_at(_PAIR),
        kernel.arithmetic([], _RATE),
    )


# -- PH-C2: A = -R(-60), W = R(60), B = -R(120); tokens at one point (a, b) -------------------------------------------------

_ROOT = sp.sqrt(3) / 2
_W2 = sp.Matrix([[sp.Rational(1, 2), -_ROOT], [_ROOT, sp.Rational(1, 2)]])
_A2 = -_W2.T
_B2 = sp.Matrix([[sp.Rational(1, 2), _ROOT], [-_ROOT, sp.Rational(1, 2)]])
_X, _Y = sp.symbols("a b", real=True)
_AT = sp.Matrix([_X, _Y])
_SPEED = (_B2 * _AT).expand()
_TOGETHER = VelocityIs(_weights(_B2, _W2), rows([list(_AT)] * 2), rows([list(_SPEED)] * 2))
_NORM = sp.Eq(2 * (_AT.T * _SPEED)[0], _X**2 + _Y**2, evaluate=False)


def _every(said: Proposition) -> ForAll:
    return ForAll(_X, TRUE, ForAll(_Y, TRUE, said))


GROWS: tuple[Claim, ...] = (
    Formula(Conjunction((*_of_form(_A2, _B2, _W2), Negation(Atom(Symmetric(sp.ImmutableMatrix(_A2))))))),
    Formula(_every(Atom(_TOGETHER))),
    Formula(_every(proposition(_NORM))),
)


def grows(kernel: Kernel) -> Proved:
    """The matrices; the velocity of tokens at one point; and ``d/dt |x|^2 = |x|^2`` there."""
    words = [*_of_form(_A2, _B2, _W2), Atom(Symmetric(sp.ImmutableMatrix(_A2)))]
    moved = kernel.velocity_at(_TOGETHER)
    norm = kernel.identity(*_NORM.args)

    def every(proved: Proved) -> Proved:
        return kernel.generalise(_X, kernel.generalise(_Y, proved))

    return kernel.conjunction(*map(kernel.exact_matrix, words), every(moved), every(norm))
