"""CL-5 in the kernel: what is left of a score when each token is split into a leading part and the rest.

``x_i = E u_i + v_i`` with ``E = e^{lambda t}``, ``u_i`` the leading part of the rescaled token and ``v_i`` the rest.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from eigentoken.proofs.bounds.rows import I, J, K, for_all
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import Expression, Index, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import SpectralNorm, matrix

__all__ = ["REMAINDER", "remainder"]

GROWTH, LEADING, REST = sp.symbols("E c r", nonnegative=True)
TOP, OTHER = sp.symbols("lambda mu", real=True)
SIZE, TIME = sp.symbols("C t", nonnegative=True)
_U, _V, _NORM = VectorLetter("u"), VectorLetter("v"), SpectralNorm(matrix("W"))


def _leading(at: Index) -> Expression:
    return vector(_U.name, at)


def _rest(at: Index) -> Expression:
    return vector(_V.name, at)


def _token(at: Index) -> Expression:
    return _leading(at) * GROWTH + _rest(at)


def _score(family: Callable[[Index], Expression]) -> Expression:
    """``x_i^T W (x_j - x_i)``."""
    return dot(family(I), family(J) - family(I), product("W"))


def _within(family: Callable[[Index], Expression], bound: sp.Symbol) -> Proposition:
    return for_all(sp.Le(Tensor(dot(family(K), family(K))), bound**2, evaluate=False), K)


_WHOLE, _LEADS = _score(_token), _score(_leading)
_LEFT = Tensor(_WHOLE) - GROWTH**2 * Tensor(_LEADS)
_MOST = _NORM * (4 * GROWTH * LEADING * REST + 2 * REST**2)
_SMALL = Conjunction(
    (
        proposition(sp.Ge(_LEFT, -_MOST, evaluate=False)),
        proposition(sp.Le(_LEFT, _MOST, evaluate=False)),
    )
)
_GUARDS = (_within(_leading, LEADING), _within(_rest, REST))
_BOTH = sp.exp(TOP * TIME + OTHER * TIME)
_GROWN = 4 * sp.exp(TOP * TIME) * SIZE * (SIZE * sp.exp(OTHER * TIME)) + 2 * (SIZE * sp.exp(OTHER * TIME)) ** 2
_SLOWER = proposition(sp.Le(OTHER, TOP, evaluate=False))
#: Where ``|u_i| <= c`` and ``|v_i| <= r``: ``x_i^T W (x_j - x_i)`` is ``E^2 u_i^T W (u_j - u_i)`` within
#: ``|W| (4 E c r + 2 r^2)``; with ``E = e^{lambda t}``, ``c = C``, ``r = C e^{mu t}`` that is at most
#: ``6 |W| C^2 e^{(lambda + mu) t}``.
REMAINDER: tuple[Proposition, ...] = (
    for_all(ForAll(LEADING, _GUARDS[0], ForAll(REST, _GUARDS[1], for_all(_SMALL, I, J))), _U, _V, GROWTH),
    for_all(
        ForAll(
            OTHER,
            _SLOWER,
            for_all(sp.Le(_GROWN, 6 * SIZE**2 * _BOTH, evaluate=False), SIZE, TIME),
        ),
        TOP,
    ),
)


def _form(
    k: Kernel, left: Expression, right: Expression, bounds: tuple[sp.Expr, sp.Expr], known: list[Proved]
) -> Proved:
    """``-|W| a b <= y^T W z <= |W| a b``, where ``|y| <= a`` and ``|z| <= b``."""
    image, norm = right.applied(product("W")), k.textbook(OPERATOR_NORM, A=matrix("W"), z=right)
    form, most = Tensor(dot(left, right, product("W"))), _NORM * bounds[0] * bounds[1]
    whole = [*known, norm, k.textbook(EUCLIDEAN, y=left, z=image), *map(k.square, (left, right, image))]
    square = k.arithmetic(whole, sp.Le(form**2, most**2, evaluate=False))
    sign = k.part(norm, norm.proposition.parts[1])
    return k.arithmetic([square, sign], sp.And(sp.Le(form, most), sp.Ge(form, -most)))


def _split(k: Kernel) -> Proved:
    """The first claim: six forms, each with at least one factor of the rest."""
    given = {each: k.assume(guard) for each, guard in zip((_leading, _rest), _GUARDS, strict=True)}
    sizes = {_leading: LEADING, _rest: REST}
    known, terms = [], []
    for one, other, scale in ((_leading, _rest, GROWTH), (_rest, _leading, GROWTH), (_rest, _rest, sp.Integer(1))):
        for at, sign in ((J, 1), (I, -1)):
            near = [k.instantiate(given[one], I), k.instantiate(given[other], at)]
            form = dot(one(I), other(at), product("W"))
            known += [_form(k, one(I), other(at), (sizes[one], sizes[other]), near), k.scaling(form, sign * scale)]
            terms.append(form * (sign * scale))
    whole = terms[0]
    for each in terms[1:]:
        whole = whole + each
    led = _LEADS * GROWTH**2
    known += [k.reduction(_WHOLE, whole + led), k.total(*terms, led), k.scaling(_LEADS, GROWTH**2)]
    found = k.conjunction(*(k.arithmetic(known, each) for each in _SMALL.parts))
    for letter in (J, I):
        found = k.generalise(letter, found)
    found = k.generalise(LEADING, k.generalise(REST, found, _GUARDS[1]), _GUARDS[0])
    return k.generalise(_U, k.generalise(_V, k.generalise(GROWTH, found)))


def _growth(k: Kernel) -> Proved:
    """The second claim: ``e^{2 mu t} <= e^{(lambda + mu) t}``."""
    slower = k.assume(_SLOWER)
    first, second = sp.exp(TOP * TIME), sp.exp(OTHER * TIME)
    order = k.arithmetic([slower], sp.Le(OTHER * TIME, TOP * TIME, evaluate=False))
    known = [
        k.arithmetic([order], sp.Le(second, first, evaluate=False)),
        k.identity(_BOTH, first * second),
        k.arithmetic([], sp.And(first > 0, second > 0)),
    ]
    found = k.arithmetic(known, sp.Le(_GROWN, 6 * SIZE**2 * _BOTH, evaluate=False))
    for letter in (TIME, SIZE):
        found = k.generalise(letter, found)
    return k.generalise(TOP, k.generalise(OTHER, found, _SLOWER))


def remainder(k: Kernel) -> Proved:
    """A proof of :data:`REMAINDER`."""
    return k.conjunction(_split(k), _growth(k))
