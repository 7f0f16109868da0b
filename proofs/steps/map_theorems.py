"""Textbook theorems about maps as propositions: descent sequences.

The maps here send ``x_i`` to ``y_i / r_i`` on a product of spheres, a compact analytic manifold.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.theory.calculus import Expression, Index, Norm, dot, factor, substitute, vector
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.multipliers import DIRECTIONS, TANGENT
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.kernel.tensors import STATE, AtTime, Rate, Slope, Tensor, VectorLetter, bases_of, is_defined
from eigentoken.theory.kernel.words import stays_near
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.places import SomeEquilibrium
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "DESCENT",
    "LIMIT_AT_REST",
    "RADIUS",
    "SPEED",
    "STABLE_MINIMA",
    "STEP",
    "at",
    "lengths",
    "near",
    "stays_within",
    "vanishes",
]

_I = Index("token", "i")
_X = VectorLetter(STATE)
_RAW, _LENGTH = vector("y", _I), factor(Norm("r", (_I,)), -1)
#: ``x_i^+ - x_i``, and the sum of its squares.
STEP = _LENGTH * _RAW - vector(STATE, _I)
SPEED = dot(STEP, STEP).summed(_I)


def lengths() -> Expression:
    """``sum_i |w_i|^2``."""
    return dot(vector("w", _I), vector("w", _I)).summed(_I)


def _at_every_state(said: Any) -> Proposition:
    return ForAll(_X, TRUE, proposition(said))


def _check(v: Expression, *constants: sp.Expr) -> None:
    """A polynomial of inner products of tokens, and numbers that do not depend on the state."""
    plain = all(isinstance(atom, Dot) and power > 0 for part in v.terms for atom, power in part.factors)
    names = {base.name for part in v.terms for base in bases_of(part)}
    if v.is_vector or not plain or names - {STATE}:
        raise Refused(f"{v!r} is no polynomial of inner products of tokens")
    if any(sp.sympify(each).has(Tensor) for each in constants):
        raise Refused("c, C and rho are numbers: they do not depend on the state")


def _descent(v: Expression, c: sp.Expr, C: sp.Expr, rho: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    _check(v, c, C, rho)
    return _descends(v, c, C, rho), Atom(Converges(SomeEquilibrium()))


def _descends(v: Expression, c: sp.Expr, C: sp.Expr, rho: sp.Expr) -> tuple[Any, ...]:
    """A function of the state falls by a multiple of the squared step, its gradient is at most one of the step."""
    falls = sp.Le(Rate(v), -c * Tensor(SPEED), evaluate=False)
    slope = sp.Le(Slope(v) ** 2, C * Tensor(SPEED) * Tensor(lengths()), evaluate=False)
    apart = ForAll(_I, TRUE, proposition(sp.Ge(Tensor(dot(_RAW, _RAW)), rho, evaluate=False)))
    return (
        sp.Gt(c, 0),
        sp.Gt(rho, 0),
        _at_every_state(falls),
        _at_every_state(ForAll(DIRECTIONS, TANGENT, proposition(slope))),
        _at_every_state(apart),
    )


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


def near(name: str, bound: sp.Expr) -> Proposition:
    """``|x_i - a_i|^2 <= bound`` for every token, a the family of that name."""
    gap = vector(STATE, _I) - vector(name, _I)
    return ForAll(_I, TRUE, proposition(sp.Le(Tensor(dot(gap, gap)), bound, evaluate=False)))


def at(name: str) -> Proposition:
    """``x_i = a_i`` for every token."""
    z = vector("z")
    equal = sp.Eq(Tensor(dot(z, vector(STATE, _I))), Tensor(dot(z, vector(name, _I))), evaluate=False)
    return ForAll(_I, TRUE, ForAll(VectorLetter("z"), TRUE, proposition(equal)))


#: How near a state must be for the function to be no smaller there.
RADIUS = sp.Symbol("rho_0", positive=True)


def _stable_minima(v: Expression, c: sp.Expr, C: sp.Expr, rho: sp.Expr, a: VectorLetter) -> tuple[tuple[Any, ...], Any]:
    _check(v, c, C, rho)
    if a in (_X, DIRECTIONS, VectorLetter("z")) or is_defined(a.name):
        raise Refused(f"{a.name} is taken: choose another letter for the fixed point")
    own = vector(a.name, _I)
    unit = ForAll(_I, TRUE, proposition(sp.Eq(Tensor(dot(own, own)), 1, evaluate=False)))
    there = substitute(v, {STATE: lambda *indices: vector(a.name, *indices)})
    least = Implication(near(a.name, RADIUS), proposition(sp.Ge(Tensor(v), Tensor(there), evaluate=False)))
    hypotheses = (
        *_descends(v, c, C, rho),
        unit,
        _at_every_state(Implication(at(a.name), RESTS)),
        Exists(RADIUS, TRUE, _at_every_state(least)),
    )
    return hypotheses, stays_near(a.name)


#: As for :data:`DESCENT`; a fixed point at which the function has a local minimum, strict or not, is Lyapunov stable.  (The steps
#: near it are short, because the map is continuous and rests there: the published proposition lacks that, its erratum says so.)
STABLE_MINIMA = Textbook(
    key="stable-minima",
    name="stability of the minima of an analytic function under descent",
    letters={"v": Expression, "c": sp.Expr, "C": sp.Expr, "rho": sp.Expr, "a": VectorLetter},
    says=_stable_minima,
    reference="Absil, Mahony, Andrews, Convergence of the iterates of descent methods for analytic cost functions, SIAM J. "
    "Optim. 16 (2005), on the stability of minima, with the erratum on the authors' page, in analytic charts",
    bibtex=bibtex("Absil-Mahony-Andrews"),
    time=Time.MAP,
    autonomous=True,
    space=Space.SPHERE,
)


_STEPS, _SMALL = sp.Symbol("t", integer=True), sp.Symbol("epsilon", positive=True)
_LATE = sp.Symbol("T", integer=True, nonnegative=True)


def stays_within(name: str, bound: sp.Expr) -> Proposition:
    """``|x_i(t) - a_i|^2 <= bound`` for every token, at every time."""
    since = proposition(sp.Ge(_STEPS, 0, evaluate=False))
    return ForAll(_STEPS, since, put(near(name, bound), {_X: AtTime(_STEPS)}))


def vanishes(q: Expression) -> Proposition:
    """For every epsilon > 0 the quantity is at most epsilon from some time on."""
    after = proposition(sp.Ge(_STEPS, _LATE, evaluate=False))
    below = proposition(sp.Le(Tensor(q, _STEPS), _SMALL, evaluate=False))
    return ForAll(_SMALL, TRUE, Exists(_LATE, TRUE, ForAll(_STEPS, after, below)))


def _limit_at_rest(q: Expression, a: VectorLetter, bound: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    _check(q, bound)
    if a in (_X, VectorLetter("z")) or is_defined(a.name) or q.free_indices:
        raise Refused("one number is asked for, and a family of vectors that does not move")
    if sp.sympify(bound).free_symbols & {_STEPS, _SMALL, _LATE}:
        raise Refused("the bound does not depend on the time")
    zero = Implication(Conjunction((RESTS, near(a.name, bound))), proposition(sp.Eq(Tensor(q), 0, evaluate=False)))
    hypotheses = (Atom(Converges(SomeEquilibrium())), stays_within(a.name, bound), _at_every_state(zero))
    return hypotheses, vanishes(q)


#: A trajectory that tends to a state of rest and stays in a closed ball: a polynomial that is zero at all states of rest there
#: tends to zero along it.
#:
#: Proof.  The limit rests, and it is in the ball, which is closed; so the polynomial is zero there, and it is continuous.
LIMIT_AT_REST = Textbook(
    key="limit-at-rest",
    name="continuous functions have limits along convergent sequences, and closed sets contain their limits",
    letters={"q": Expression, "a": VectorLetter, "bound": sp.Expr},
    says=_limit_at_rest,
    reference="Rudin, Principles of Mathematical Analysis, chapters on topology and on continuity",
    bibtex=bibtex("Rudin-Principles"),
    time=Time.MAP,
    autonomous=True,
    space=Space.SPHERE,
)
