"""Textbook theorems about flows as propositions: comparison, monotone quantities, LaSalle's principle; and inequalities.

A quantity that moves is given in the calculus; it must be a polynomial of inner products, so that it is continuously
differentiable along trajectories.  Books are cited by author, title and chapter.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.calculus import SLOT, Expression, Index, dot, instance
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.instances import UnboundedFrom, VanishesFrom, VelocityIs, rows
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.kernel.tensors import STATE, AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import Diverges
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.systems.system import Time

__all__ = [
    "BOUND",
    "COMPARISON",
    "LARGEST",
    "LASALLE",
    "MONOTONE",
    "NORM_BOUND",
    "RADIUS",
    "RAY",
    "TIME",
    "later",
]

#: The letters that the theorems bind.
TIME, _SINCE, BOUND = (sp.Symbol(name, real=True) for name in ("t", "s", "M"))
RADIUS = sp.Symbol("r", positive=True)
_I, _J = Index("token", "i"), Index("token", "j")
_X = VectorLetter(STATE)


def later(term: Tensor, time: sp.Expr | int = TIME) -> Tensor:
    """The quantity at a time of the trajectory."""
    return term.put({_X: AtTime(sp.sympify(time))})


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, right, evaluate=False))


_AFTER = _said(sp.Ge, TIME, sp.Integer(0))


def _polynomial(quantity: Expression) -> None:
    """Inner products to positive powers, with constant scales: differentiable along every trajectory."""
    plain = (isinstance(atom, Dot) and power > 0 for part in quantity.terms for atom, power in part.factors)
    if quantity.is_vector or not all(plain):
        raise Refused(f"{quantity!r} is no polynomial of inner products")


def _norm_bound(X: sp.MatrixSymbol, a: Expression, b: Expression) -> tuple[tuple[Any, ...], Any]:
    sizes = Tensor(dot(a, a)) + Tensor(dot(b, b))
    bound = sp.Le(2 * Tensor(dot(a, b, product(X.name))), SpectralNorm(X) * sizes, evaluate=False)
    return (), Conjunction((proposition(bound), _said(sp.Ge, SpectralNorm(X), sp.Integer(0))))


#: ``2 a^T X b <= |X| (|a|^2 + |b|^2)``.
NORM_BOUND = Textbook(
    key="norm-bound",
    name="the bound of a bilinear form by the norm",
    letters={"X": sp.MatrixSymbol, "a": Expression, "b": Expression},
    says=_norm_bound,
    reference="Horn, Johnson, Matrix Analysis, chapter on norms",
    bibtex=bibtex("Horn-Johnson"),
)


def _largest(h: Expression, c: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    _polynomial(h)
    if h.free_indices != {SLOT} or c.has(Tensor):
        raise Refused("there is one quantity for each token (in the slot index), and the rate is a constant")

    def at(index: Index, time: Any = TIME) -> Tensor:
        return later(Tensor(instance(h, index)), time)

    top = ForAll(_J, TRUE, _said(sp.Le, at(_J), at(_I)))
    slope = _said(sp.Le, later(Rate(instance(h, _I))), c * at(_I))
    rate = ForAll(TIME, _AFTER, ForAll(_I, top, slope))
    below = ForAll(_I, TRUE, _said(sp.Le, at(_I, sp.Integer(0)), BOUND))
    grown = ForAll(_I, TRUE, _said(sp.Le, at(_I), sp.exp(c * TIME) * BOUND))
    return (rate,), ForAll(BOUND, below, ForAll(TIME, _AFTER, grown))


#: If ``h_i' <= c h_i`` wherever h_i is the largest of the h_j, then ``h_i(t) <= e^{ct} max_j h_j(0)``.
LARGEST = Textbook(
    key="largest",
    name="the comparison lemma for the largest of finitely many quantities",
    letters={"h": Expression, "c": sp.Expr},
    says=_largest,
    reference="Khalil, Nonlinear Systems, chapter on fundamental properties (comparison principle, with the upper right-hand "
    "derivative); for the largest of finitely many quantities: Lin, Francis, Maggiore, SIAM J. Control Optim. 46 (2007)",
    bibtex=bibtex("Khalil"),
    time=Time.FLOW,
    autonomous=True,
)


def _monotone(v: Expression) -> tuple[tuple[Any, ...], Any]:
    _polynomial(v)
    falls = ForAll(TIME, _AFTER, _said(sp.Le, later(Rate(v)), sp.Integer(0)))
    return (falls,), ForAll(TIME, _AFTER, _said(sp.Le, later(Tensor(v)), later(Tensor(v), 0)))


#: What has no positive derivative does not grow.
MONOTONE = Textbook(
    key="monotone",
    name="the mean value theorem",
    letters={"v": Expression},
    says=_monotone,
    reference="Rudin, Principles of Mathematical Analysis, chapter on differentiation",
    bibtex=bibtex("Rudin-Principles"),
    time=Time.FLOW,
    autonomous=True,
)


def _lasalle(v: Expression, w: Expression) -> tuple[tuple[Any, ...], Any]:
    for each in (v, w):
        _polynomial(each)
    level = Tensor(w)
    falls = ForAll(_X, TRUE, _said(sp.Le, Rate(v), sp.Integer(0)))
    strictly = ForAll(_X, _said(sp.Gt, level, sp.Integer(0)), _said(sp.Lt, Rate(v), sp.Integer(0)))
    small = ForAll(TIME, _said(sp.Ge, TIME, _SINCE), _said(sp.Lt, later(level), BOUND))
    vanishes = ForAll(
        BOUND, _said(sp.Gt, BOUND, sp.Integer(0)), Exists(_SINCE, _said(sp.Ge, _SINCE, sp.Integer(0)), small)
    )
    return (falls, strictly), Disjunction((Atom(Diverges()), vanishes))


#: If v does not rise, and falls wherever ``w > 0``, a trajectory is unbounded or ``limsup w <= 0`` along it.
LASALLE = Textbook(
    key="LaSalle-principle",
    name="LaSalle's invariance principle",
    letters={"v": Expression, "w": Expression},
    says=_lasalle,
    reference="Khalil, Nonlinear Systems, chapter on Lyapunov stability (the invariance principle)",
    bibtex=bibtex("Khalil"),
    time=Time.FLOW,
    autonomous=True,
)


def _comparison(v: Expression, a: sp.Expr, b: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    _polynomial(v)
    if any(each.has(Tensor) for each in (a, b)):
        raise Refused("the coefficients of a linear inequality are constants")

    def level(time: Any) -> sp.Expr:
        return a * later(Tensor(v), time) - b

    rate = ForAll(TIME, _AFTER, _said(sp.Ge, later(Rate(v)), level(TIME)))
    grown = ForAll(TIME, _AFTER, _said(sp.Ge, level(TIME), level(sp.Integer(0)) * sp.exp(a * TIME)))
    return (_said(sp.Gt, a, sp.Integer(0)), rate), grown


#: ``v' >= a v - b`` with ``a > 0`` gives ``a v(t) - b >= (a v(0) - b) e^{at}``.
COMPARISON = Textbook(
    key="comparison-linear",
    name="the comparison lemma for a linear inequality",
    letters={"v": Expression, "a": sp.Expr, "b": sp.Expr},
    says=_comparison,
    reference="Khalil, Nonlinear Systems, chapter on fundamental properties (comparison principle)",
    bibtex=bibtex("Khalil"),
    time=Time.FLOW,
    autonomous=True,
)


def _ray(weights: tuple[Any, ...], v: tuple[Any, ...], g: sp.Lambda, grows: bool) -> tuple[tuple[Any, ...], Any]:
    along = rows(v)
    numbers = [entry for row in along for entry in row]
    if not all(entry.is_Rational for entry in numbers) or not any(numbers):
        raise Refused("the direction of a ray has rational entries, and is not zero")
    if len(g.variables) != 1 or g.variables[0].assumptions0 != RADIUS.assumptions0:
        raise Refused("the speed along a ray is a function of a positive number")
    speed = g(RADIUS)

    def scaled(size: sp.Expr) -> Any:
        return rows([[size * entry for entry in row] for row in along])

    moves = ForAll(RADIUS, TRUE, Atom(VelocityIs(weights, scaled(RADIUS), scaled(speed))))
    sign = ForAll(RADIUS, TRUE, _said(sp.Gt if grows else sp.Lt, speed, sp.Integer(0)))
    end = (UnboundedFrom if grows else VanishesFrom)(weights, scaled(RADIUS))
    return (moves, sign), ForAll(RADIUS, TRUE, Atom(end))


#: If the velocity at ``r v`` is ``g(r) v`` for all r > 0, the trajectory from ``r v`` is unbounded for g > 0, and tends to 0 for
#: g < 0.
RAY = Textbook(
    key="ray",
    name="the scalar autonomous equation, along an invariant ray",
    letters={"weights": tuple, "v": tuple, "g": sp.Lambda, "grows": bool},
    says=_ray,
    reference="Walter, Ordinary Differential Equations, on autonomous equations in one dimension and on uniqueness",
    bibtex=bibtex("Walter"),
    time=Time.FLOW,
    autonomous=True,
)
