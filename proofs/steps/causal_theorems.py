"""Textbook theorems for tokens that follow earlier ones: a quantity that rises between two levels, and the gap of an eigenvalue.

The matrices of the system may depend on time, measurably: a quantity along a trajectory is then absolutely continuous.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.calculus import Expression, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter, matrices_of
from eigentoken.theory.kernel.words import top_eigenvector
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.terms import Eigenvalue
from eigentoken.theory.systems.system import Time

__all__ = ["GAP", "LATE", "RAYLEIGH_GAP", "TIME", "TRAPPED"]

TIME = sp.Symbol("t", real=True)
LATE = sp.Symbol("T", nonnegative=True)
GAP = sp.Symbol("g", positive=True)


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, right, evaluate=False))


def _trapped(f: Expression, low: sp.Expr, high: sp.Expr, m: sp.Expr, s: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    plain = (isinstance(atom, Dot) and power > 0 for part in f.terms for atom, power in part.factors)
    if f.is_vector or not all(plain) or matrices_of(Tensor(f).key):
        raise Refused(f"{f!r} is no polynomial of inner products of vectors")
    if any(sp.sympify(each).has(Tensor) for each in (low, high, m, s)):
        raise Refused("the levels, the slope and the time are numbers: they do not depend on the state")
    here, after = Tensor(f, TIME), _said(sp.Ge, TIME, s)
    between = Conjunction((_said(sp.Gt, here, low), _said(sp.Lt, here, high)))
    rises = ForAll(TIME, after, Implication(between, _said(sp.Ge, Rate(f, TIME), m)))
    below = ForAll(TIME, after, _said(sp.Le, here, low))
    above = Exists(LATE, TRUE, ForAll(TIME, _said(sp.Ge, TIME, LATE), _said(sp.Ge, here, high)))
    numbers = (_said(sp.Ge, s, sp.Integer(0)), _said(sp.Lt, low, high), _said(sp.Gt, m, sp.Integer(0)))
    return (*numbers, rises), Disjunction((below, above))


#: From time s on let f rise at least at the rate ``m > 0`` wherever it is between two levels.  Then it is at most the lower one
#: for ever, or at least the upper one from some time on.
#:
#: Proof.  f is absolutely continuous along a trajectory.  Let ``f(t_1) > low`` at some ``t_1 >= s``.  Were ``f(t_2) <= low``
#: later, let ``t_0`` be the last time before ``t_2`` with ``f(t_0) >= min(f(t_1), (low + high)/2)``: on ``(t_0, t]`` up to the
#: first time at which f is at most low it is between the levels, so ``f' >= m > 0`` almost everywhere and f rises there, a
#: contradiction.  While it is between the levels it rises at least by ``m (t - t_1)``, so it reaches the upper one; and below
#: that it would rise again.
TRAPPED = Textbook(
    key="rises-between-levels",
    name="the comparison lemma for a function that rises between two levels",
    letters={"f": Expression, "low": sp.Expr, "high": sp.Expr, "m": sp.Expr, "s": sp.Expr},
    says=_trapped,
    reference="Walter, Ordinary Differential Equations, on differential inequalities in the sense of Caratheodory; as in "
    "Khalil, Nonlinear Systems, on ultimate boundedness",
    bibtex=bibtex("Walter"),
    time=Time.FLOW,
)


_Z = VectorLetter("z")


def _gap(A: sp.MatrixSymbol, v: VectorLetter) -> tuple[tuple[Any, ...], Any]:
    z, side = vector(_Z.name), vector(v.name)
    across = Tensor(dot(z, z)) - Tensor(dot(side, z)) ** 2
    bound = Eigenvalue(A, 1) * Tensor(dot(z, z)) - GAP * across
    below = ForAll(_Z, TRUE, _said(sp.Le, Tensor(dot(z, z, product(A.name))), bound))
    return (Symmetric(A), SimpleTop(A), top_eigenvector(A, v.name)), Exists(GAP, TRUE, below)


#: ``z^T A z <= lambda_1 |z|^2 - g (|z|^2 - (v^T z)^2)`` with some ``g > 0``, for the unit eigenvector v of a simple top
#: eigenvalue: g is the distance to the next one.
RAYLEIGH_GAP = Textbook(
    key="Rayleigh-gap",
    name="Rayleigh's principle on the complement of the top eigenvector",
    letters={"A": sp.MatrixSymbol, "v": VectorLetter},
    says=_gap,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (variational characterisations)",
    bibtex=bibtex("Horn-Johnson"),
)
