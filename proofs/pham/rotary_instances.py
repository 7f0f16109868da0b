"""PH-T7 in the kernel: rings at rest, the family of four tokens and quarter turns, and consensus in it.

``Q = diag(a, 1/a) = K^{-1}`` and ``B = -I``: the velocity at ``r ((1, 1), (-1, -1), (1, 1), (-1, -1))`` is ``g(r)/r`` times it,
``g(r) = r (cosh(c s) - cosh(s)) / (cosh(c s) + cosh(s))``, ``s = 2 r^2`` and ``c = (a^2 - a^{-2})/2``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from eigentoken.proofs.steps.flow_theorems import RADIUS, RAY
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.instances import UnboundedFrom, VanishesFrom, VelocityIs, rows
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Atom, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Claim

__all__ = ["CLAIMS", "proof"]

A = sp.Symbol("a", positive=True)
X, Y = sp.symbols("y z", real=True)
P, S = sp.symbols("p s", real=True)


def _weights(**given: Any) -> tuple[tuple[Str, Any], ...]:
    return tuple((Str(name), rows(value)) for name, value in given.items())


_MINUS, _ONE = ((-1, 0), (0, -1)), ((1, 0), (0, 1))
STRETCHED = _weights(B=_MINUS, Q=((A, 0), (0, 1 / A)), K=((1 / A, 0), (0, A)), R=((0, -1), (1, 0)))


# -- (b) rings ------------------------------------------------------------------------------------------------------------


def _ring(size: int) -> VelocityIs:
    """``x_l = R^l (y, z)`` with R a turn by ``2 pi / size``."""
    angle = 2 * sp.pi / size
    turn = sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])
    tokens = [list((turn**step * sp.Matrix([X, Y])).expand()) for step in range(size)]
    return VelocityIs(_weights(B=_MINUS, Q=_ONE, K=_ONE, R=turn), rows(tokens), rows([[0, 0]] * size))


RINGS = tuple(_ring(size) for size in (2, 3, 4, 6))


# -- (c) the family -------------------------------------------------------------------------------------------------------

V = tuple((sp.Integer(sign), sp.Integer(sign)) for sign in (1, -1, 1, -1))
C = (A**2 - A**-2) / 2
FAR, NEAR = sp.expand(2 * C * RADIUS**2), 2 * RADIUS**2


def _twice_cosh(term: sp.Expr) -> sp.Expr:
    return sp.exp(term) + sp.exp(-term)


SPEED = RADIUS * (_twice_cosh(FAR) - _twice_cosh(NEAR)) / (_twice_cosh(FAR) + _twice_cosh(NEAR))


def _scaled(size: sp.Expr) -> Any:
    return rows([[size * entry for entry in row] for row in V])


FAMILY = VelocityIs(STRETCHED, _scaled(RADIUS), _scaled(SPEED))
TOGETHER = VelocityIs(STRETCHED, rows([[X, Y]] * 4), rows([[-X, -Y]] * 4))
#: ``c^2`` against 1.
BEYOND, AT, WITHIN = (proposition(kind(C**2, 1, evaluate=False)) for kind in (sp.Gt, sp.Eq, sp.Lt))


def _each(guard: Proposition, body: Proposition) -> ForAll:
    return ForAll(A, guard, ForAll(RADIUS, TRUE, body))


def _point(body: Proposition) -> ForAll:
    return ForAll(X, TRUE, ForAll(Y, TRUE, body))


_STILL = proposition(sp.Eq(SPEED, 0, evaluate=False))
CLAIMS: tuple[Claim, ...] = (
    *(Formula(_point(Atom(ring))) for ring in RINGS),
    Formula(_each(TRUE, Atom(FAMILY))),
    Formula(_each(BEYOND, Atom(UnboundedFrom(STRETCHED, _scaled(RADIUS))))),
    Formula(_each(AT, _STILL)),
    Formula(_each(WITHIN, Atom(VanishesFrom(STRETCHED, _scaled(RADIUS))))),
    Formula(ForAll(A, TRUE, _point(Atom(TOGETHER)))),
)


def _signs(kernel: Kernel) -> tuple[Proved, Proved, Proved]:
    """``cosh p`` against ``cosh s`` for ``s > 0``: above, equal or below as ``|p|`` is."""
    outer, inner = _twice_cosh(P), _twice_cosh(S)
    above = [kernel.lemma((S > 0, each > S), outer > inner, P, S) for each in (P, -P)]
    below = kernel.lemma((S > 0, P < S, -P < S), outer < inner, P, S)
    return above[0], above[1], below


def _quotient(kernel: Kernel, order: Proved, relation: Any) -> Proved:
    """The speed ``r (x - n) / (x + n)`` from ``x`` against ``n``, both positive: the exponentials are letters here."""
    far, near = sp.symbols("F N", real=True)
    speed = RADIUS * (far - near) / (far + near)
    lemma = kernel.lemma((far > 0, near > 0, relation(far, near)), relation(speed, 0, evaluate=False), far, near)
    values = (_twice_cosh(FAR), _twice_cosh(NEAR))
    positive = [kernel.arithmetic([], sp.Gt(each, 0, evaluate=False)) for each in (_twice_cosh(P), _twice_cosh(S))]
    at = [
        kernel.instantiate(kernel.generalise(letter, proved), value)
        for letter, proved, value in ((P, positive[0], FAR), (S, positive[1], NEAR))
    ]
    return kernel.apply(lemma, values, *at, order)


def _speed(kernel: Kernel, lemmas: tuple[Proved, Proved, Proved], guard: Proposition, relation: Any) -> Proved:
    """The sign of the speed under the guard."""
    upper, lower, below = lemmas
    at = kernel.assume(guard)
    near = kernel.arithmetic([], NEAR > 0)
    if relation is sp.Lt:
        bounds = [kernel.arithmetic([at, near], each < NEAR) for each in (FAR, -FAR)]
        order = kernel.apply(below, (FAR, NEAR), near, *bounds)
        return _quotient(kernel, order, relation)
    ways = []
    for case, lemma, side in ((C > 1, upper, FAR), (C < -1, lower, -FAR)):
        bound = kernel.arithmetic([kernel.assume(case), near], side > NEAR)
        order = kernel.apply(lemma, (FAR, NEAR), near, bound)
        ways.append((case, order))
    either = kernel.arithmetic([at], sp.Or(C > 1, C < -1))
    return _quotient(kernel, kernel.by_cases(either, *ways), relation)


def _still(kernel: Kernel) -> Proved:
    """For ``|c| = 1`` the two terms are equal."""
    ways = []
    outer, inner = _twice_cosh(P), _twice_cosh(S)
    for case, side, sign in ((sp.Eq(C, 1), NEAR, 1), (sp.Eq(C, -1), -NEAR, -1)):
        lemma = kernel.lemma((sp.Eq(P, sign * S),), sp.Eq(outer, inner), P, S)
        equal = kernel.arithmetic([kernel.assume(case)], sp.Eq(FAR, side))
        ways.append((case, kernel.apply(lemma, (FAR, NEAR), equal)))
    either = kernel.arithmetic([kernel.assume(AT)], sp.Or(sp.Eq(C, 1), sp.Eq(C, -1)))
    return _quotient(kernel, kernel.by_cases(either, *ways), sp.Eq)


def proof(kernel: Kernel) -> Proved:
    """Rings; the family, its two ends and where it stands still; consensus."""
    moves = kernel.velocity_at(FAMILY)
    always = kernel.generalise(RADIUS, moves)
    ends = []
    lemmas = _signs(kernel)
    for guard, relation in ((BEYOND, sp.Gt), (WITHIN, sp.Lt)):
        sign = kernel.generalise(RADIUS, _speed(kernel, lemmas, guard, relation))
        speed = sp.Lambda(RADIUS, SPEED)
        end = kernel.textbook(RAY, always, sign, weights=STRETCHED, v=V, g=speed, grows=relation is sp.Gt)
        ends.append(kernel.generalise(A, end, guard))
    still = kernel.generalise(A, kernel.generalise(RADIUS, _still(kernel)), AT)

    def point(claim: VelocityIs) -> Proved:
        return kernel.generalise(X, kernel.generalise(Y, kernel.velocity_at(claim)))

    return kernel.conjunction(
        *map(point, RINGS), kernel.generalise(A, always), *ends, still, kernel.generalise(A, point(TOGETHER))
    )
