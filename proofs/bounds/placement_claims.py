"""What BD-P1 to BD-P6 and BD-T1 say of equiangular tokens, in full: speeds at a state of the flows with the norm in each place.

With ``r = |x_i|``, the cosine ``rho = x_i^T x_j/r^2`` of two tokens, scores ``beta x_i^T x_j`` of the normed tokens, and the
weight b of another token and a of the own: ``b = 1/(n - 1 + e^{beta (1 - rho)})``, ``a = 1 - (n - 1) b``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from eigentoken.proofs.bounds.head_map import head
from eigentoken.proofs.bounds.rows import I, J, for_all
from eigentoken.theory.calculus import Index, delta, dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.instances import VelocityIs, rows
from eigentoken.theory.kernel.propositions import Atom, ForAll, Implication, proposition
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.kernel.words import equiangular
from eigentoken.theory.language.conditions import Condition, IsIdentity, Relation
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, d, matrix, n

__all__ = [
    "BETA",
    "CLOSED",
    "CURVE",
    "FIRST_SPEED",
    "GROWING",
    "NEAR_CONSENSUS",
    "NEVER_FALLS",
    "ONE_LAYER",
    "ROOM",
    "SETTING",
    "SPEED",
    "SPEED_OF_PERI",
    "TWO_SIDED",
    "pairs",
    "scalar_equation",
]

_I, _J = vector("x", I), vector("x", J)
_SQUARE, _COSINE = dot(_I, _I), dot(_I, _J) * dot(_I, _I) ** -1
RHO, R = Tensor(_COSINE), sp.sqrt(Tensor(_SQUARE))
BETA = Eigenvalue(matrix("M"), 1)
#: ``V = I``, ``M = beta I``, and gains I.
SETTING: tuple[Condition, ...] = (IsIdentity(matrix("V")), MultipleOf(matrix("M")), IsIdentity(matrix("G")))
#: In ``R^d`` with ``d >= n`` there are such tokens with any cosine.
ROOM: tuple[Condition, ...] = (Relation(d >= n), Relation(n >= 2))


def _weights(exponent: Any, cosine: Any) -> tuple[Any, Any]:
    other = 1 / (n - 1 + sp.exp(exponent * (1 - cosine)))
    return 1 - (n - 1) * other, other


A, B = _weights(BETA, RHO)
_HEIGHT = A + (1 - A) * RHO
_LENGTH = sp.sqrt(A**2 + 2 * A * (1 - A) * RHO + (1 - A) ** 2 * (1 + (n - 2) * RHO) / (n - 1))
_ROOM = (1 - RHO) * (1 + (n - 1) * RHO)


def pairs(said: Any, cosine: Any = None) -> Formula:
    """At every equiangular state, for every pair of two tokens that are not zero."""
    apart = proposition(sp.Eq(Tensor(delta(I, J)), 0, evaluate=False))
    some = proposition(sp.Gt(Tensor(_SQUARE), 0, evaluate=False))
    return Formula(Implication(equiangular(cosine), ForAll(I, some, ForAll(J, apart, proposition(said)))))


def _equal(left: Any, right: Any) -> Any:
    return sp.Eq(left, right, evaluate=False)


#: Post and pre: ``r rho' = 2 b (1 - rho)(1 + (n-1) rho)`` (r = 1 for post).
SPEED = pairs(_equal(R * Rate(_COSINE), 2 * B * _ROOM))
#: Peri: the same divided by ``|A|``.
SPEED_OF_PERI = pairs(_equal(R * _LENGTH * Rate(_COSINE), 2 * B * _ROOM))
#: Post: ``rho' <= 2 (1 - rho)``, and ``rho' = 2 g (1 - rho)`` with ``g = (1 + (n-1) rho) b``.
TWO_SIDED = (
    pairs(sp.Le(Rate(_COSINE), 2 * (1 - RHO), evaluate=False)),
    pairs(_equal(Rate(_COSINE), 2 * (1 + (n - 1) * RHO) * B * (1 - RHO))),
)
#: Pre: ``d/dt |x_i - x_j|^2 = 4 (1 - rho)(a - b) r``, which is not negative for ``beta >= 0``.
_APART = dot(_I - _J, _I - _J)
GROWING = (
    pairs(_equal(Rate(_APART), 4 * (1 - RHO) * (A - B) * R)),
    pairs(sp.Ge(Rate(_APART), 0, evaluate=False)),
)
#: Pre and peri: one curve, ``b (1 - rho)(1 + (n-1) rho) d(r^2) = r^2 (a + (1-a) rho) d rho``.
CURVE = pairs(_equal(B * _ROOM * Rate(_SQUARE), Tensor(_SQUARE) * _HEIGHT * Rate(_COSINE)))
#: ``beta = 0``: ``n r rho' = 2 (1 - rho)(1 + (n-1) rho)``.
CLOSED = pairs(_equal(n * R * Rate(_COSINE), 2 * _ROOM))
#: Orthogonal tokens: ``r rho' = 2/(n - 1 + e^beta)``.
FIRST_SPEED = pairs(_equal(R * Rate(_COSINE), 2 / (n - 1 + sp.exp(BETA))), 0)


def scalar_equation(beta: sp.Expr) -> Formula:
    """CL-9, on the sphere: ``rho' = 2 e^{beta rho} (1 - rho)(1 + (n-1) rho)/(e^beta + (n-1) e^{beta rho})``."""
    rho = Tensor(dot(_I, _J))
    top = 2 * sp.exp(beta * rho) * (1 - rho) * (1 + (n - 1) * rho)
    return pairs(_equal(Rate(dot(_I, _J)), top / (sp.exp(beta) + (n - 1) * sp.exp(beta * rho))))


#: On the sphere: the cosine of two tokens does not fall.
NEVER_FALLS = pairs(sp.Ge(Rate(dot(_I, _J)), 0, evaluate=False))

_SCALED, _OTHER = _weights(Eigenvalue(matrix("W"), 1) * Tensor(_SQUARE), RHO)
_U = (_SCALED - _OTHER) ** 2
_MEANS = Tensor(dot(head(I), head(J))), Tensor(dot(head(I), head(I)))
#: BD-T1: the cosine of two outputs of attention without a skip.
ONE_LAYER = pairs(
    _equal(
        _MEANS[0] * (RHO + (1 - RHO) * (_U + (1 - _U) / n)),
        _MEANS[1] * (RHO + (1 - RHO) * (1 - _U) / n),
    )
)


# -- near consensus, any value matrix ------------------------------------------------------------------------------------

_K, _OTHER_K = Index("token", "k"), Index("token", "l")
_Z, _SPAN = VectorLetter("z"), sp.Symbol("D", nonnegative=True)
_ENTRIES, _TOKEN = sp.symbols("v_1:5", real=True), sp.symbols("a b", positive=True)
_PLANE = sp.Matrix(2, 2, _ENTRIES)
_SIZE = sp.sqrt(_TOKEN[0] ** 2 + _TOKEN[1] ** 2)
_TOGETHER = VelocityIs(
    ((Str("V"), rows(_PLANE.tolist())), (Str("M"), rows([[1, 2], [3, 4]])), (Str("G"), rows([[1, 0], [0, 1]]))),
    rows([list(_TOKEN)] * 2),
    rows([list(_PLANE * sp.Matrix(_TOKEN) / _SIZE)] * 2),
)


def _direction_gap() -> sp.Expr:
    """``|theta_k - theta_l|^2``."""
    one, other = vector("x", _K), vector("x", _OTHER_K)
    return 2 - 2 * Tensor(dot(one, other)) / sp.sqrt(Tensor(dot(one, one)) * Tensor(dot(other, other)))


def _apart(factor: sp.Expr) -> Formula:
    """Where directions are at most D apart: ``z^T d/dt (x_i - x_j) <= factor |z|``."""
    near = for_all(sp.Le(_direction_gap(), _SPAN**2, evaluate=False), _K, _OTHER_K)
    z = vector(_Z.name)
    moved = Rate(dot(z, _I)) - Rate(dot(z, _J))
    said = for_all(sp.Le(moved, factor * sp.sqrt(Tensor(dot(z, z))), evaluate=False), I, J, _Z)
    return Formula(ForAll(_SPAN, near, said))


_NORMS = SpectralNorm(matrix("V")), SpectralNorm(matrix("M"))
#: BD-P7: equal tokens stay equal and move by ``V x/|x|``; differences move by at most ``|V| D tanh(|M| D^2/4)``, which is of
#: the third order in the distance D of the directions.
NEAR_CONSENSUS = (
    Formula(for_all(Atom(_TOGETHER), *_ENTRIES, *_TOKEN)),
    _apart(_NORMS[0] * _SPAN * sp.tanh(_NORMS[1] * _SPAN**2 / 4)),
)
