"""Uniform continuity of a quantity along a trajectory as a proposition: the tokens move slowly, and so do the matrices."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.proofs.steps.equations import Z, for_every
from eigentoken.theory.calculus import Expression, Index, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.calculus.atoms import Dot, Exp, SumExp
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Exists,
    ForAll,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor, matrices_of
from eigentoken.theory.language.conditions import BoundedInTime, PositiveDefinite, Symmetric, UniformlyContinuous
from eigentoken.theory.language.terms import MatrixNumber
from eigentoken.theory.systems.system import Time

__all__ = ["ROOM", "SMALL", "TIMES", "UNIFORMLY_CONTINUOUS_COMPOSITION", "steady"]

SMALL, ROOM = sp.symbols("epsilon delta", positive=True)
TIMES = _T, _S = sp.symbols("t s", nonnegative=True)
_ANY = Index("token", "a")


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, right, evaluate=False))


def steady(late: sp.Expr, early: sp.Expr) -> Proposition:
    """For every epsilon > 0 there is delta > 0: at times within delta of each other the values are within epsilon.

    The values are those of one quantity at the times t and s.
    """
    close = Conjunction((_said(sp.Le, _T - _S, ROOM), _said(sp.Le, _S - _T, ROOM)))
    near = Conjunction((_said(sp.Le, late - early, SMALL), _said(sp.Le, early - late, SMALL)))
    inner = ForAll(_T, TRUE, ForAll(_S, close, near))
    return ForAll(SMALL, TRUE, Exists(ROOM, TRUE, inner))


def _composition(f: Expression, A: sp.MatrixSymbol, C: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    plain = all(
        isinstance(atom, Exp | SumExp) or (isinstance(atom, Dot) and power > 0)
        for monomial in f.terms
        for atom, power in monomial.factors
    )
    if f.is_vector or not plain:
        raise Refused(f"{f!r} is not made of inner products and exponentials")
    if any(each.has(MatrixNumber) for each in Tensor(f).coefficients()):
        raise Refused("a number of a matrix in a scale could depend on time: take it out")
    if sp.sympify(C).has(Tensor):
        raise Refused(f"the speed is bounded by a number, got {C}")
    x, z, metric = vector(STATE, _ANY), vector(Z.name), product(A.name)
    on = for_every(_said(sp.Eq, Tensor(dot(x, x, metric)), sp.Integer(1)), _ANY)
    unit = _said(sp.Eq, Tensor(dot(z, z)), sp.Integer(1))
    slow = ForAll(Z, unit, for_every(_said(sp.Le, Rate(dot(z, x)) ** 2, C), _ANY))
    moving = [
        word(name)
        for name in sorted(matrices_of(Tensor(f).key) - {A.name})
        for word in (BoundedInTime, UniformlyContinuous)
    ]
    value = Tensor(f, _T), Tensor(f, _S)
    return (Symmetric(A), PositiveDefinite(A), on, slow, *moving), steady(*value)


#: Tokens on the ellipsoids of A whose speed is bounded, and a quantity made of inner products and exponentials of tokens, in
#: which every other matrix is bounded and uniformly continuous in time: it is uniformly continuous in time.  (A continuous
#: function on a compact set is uniformly continuous, and sums of exponentials have no zero.)
UNIFORMLY_CONTINUOUS_COMPOSITION = Textbook(
    key="uniform-continuity-of-a-quantity",
    name="the uniform continuity of continuous functions on compact sets",
    letters={"f": Expression, "A": sp.MatrixSymbol, "C": sp.Expr},
    says=_composition,
    reference="Rudin, Principles of Mathematical Analysis, chapter on continuity",
    bibtex=bibtex("Rudin-Principles"),
    time=Time.FLOW,
    moves=("f",),
)
