"""Textbook theorems about maps as propositions: descent sequences.

The maps here send ``x_i`` to ``y_i / r_i`` on a product of spheres, a compact analytic manifold.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.calculus import Expression, Index, Norm, dot, factor, vector
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import TRUE, Atom, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.kernel.tensors import STATE, Rate, Slope, Tensor, VectorLetter, bases_of
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.places import SomeEquilibrium
from eigentoken.theory.systems.system import Space, Time

__all__ = ["DESCENT", "DIRECTIONS", "SPEED", "STEP", "TANGENT", "lengths"]

_I = Index("token", "i")
_X = VectorLetter(STATE)
DIRECTIONS = VectorLetter("w")
_RAW, _LENGTH = vector("y", _I), factor(Norm("r", (_I,)), -1)
#: ``x_i^+ - x_i``, and the sum of its squares.
STEP = _LENGTH * _RAW - vector(STATE, _I)
SPEED = dot(STEP, STEP).summed(_I)
#: Vectors ``w_i`` that are tangent to the sphere at ``x_i``.
TANGENT = ForAll(_I, TRUE, proposition(sp.Eq(Tensor(dot(vector(STATE, _I), vector("w", _I))), 0, evaluate=False)))


def lengths() -> Expression:
    """``sum_i |w_i|^2``."""
    return dot(vector("w", _I), vector("w", _I)).summed(_I)


def _at_every_state(said: Any) -> Proposition:
    return ForAll(_X, TRUE, proposition(said))


def _descent(v: Expression, c: sp.Expr, C: sp.Expr, rho: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    plain = all(isinstance(atom, Dot) and power > 0 for part in v.terms for atom, power in part.factors)
    names = {base.name for part in v.terms for base in bases_of(part)}
    if v.is_vector or not plain or names - {STATE}:
        raise Refused(f"{v!r} is no polynomial of inner products of tokens")
    if any(sp.sympify(each).has(Tensor) for each in (c, C, rho)):
        raise Refused("c, C and rho are numbers: they do not depend on the state")
    falls = sp.Le(Rate(v), -c * Tensor(SPEED), evaluate=False)
    slope = sp.Le(Slope(v) ** 2, C * Tensor(SPEED) * Tensor(lengths()), evaluate=False)
    apart = ForAll(_I, TRUE, proposition(sp.Ge(Tensor(dot(_RAW, _RAW)), rho, evaluate=False)))
    hypotheses = (
        sp.Gt(c, 0),
        sp.Gt(rho, 0),
        _at_every_state(falls),
        _at_every_state(ForAll(DIRECTIONS, TANGENT, proposition(slope))),
        _at_every_state(apart),
    )
    return hypotheses, Atom(Converges(SomeEquilibrium()))


#: A map that is defined everywhere, an analytic function that falls by at least c times the squared step, and whose gradient is
#: at most a multiple of the step: every trajectory has one limit, and that is a fixed point.
DESCENT = Textbook(
    key="descent-sequences",
    name="convergence of descent sequences of an analytic function",
    letters={"v": Expression, "c": sp.Expr, "C": sp.Expr, "rho": sp.Expr},
    says=_descent,
    reference="Absil, Mahony, Andrews, Convergence of the iterates of descent methods for analytic cost functions, SIAM J. "
    "Optim. 16 (2005), in analytic charts of a compact manifold; the limit is fixed because the map is continuous",
    bibtex=bibtex("Absil-Mahony-Andrews"),
    time=Time.MAP,
    autonomous=True,
    space=Space.SPHERE,
)
