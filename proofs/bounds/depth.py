"""BD-R2 in the kernel: one layer of ``D_{k+1} = |U| D_k tanh(|P| D_k^2/4)``, below its edge and above it.

The edge ``4 artanh(1/|U|)/|P|`` of ``D^2`` is written ``(2/|P|) ln((|U| + 1)/(|U| - 1))``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.rows import for_all
from eigentoken.proofs.steps.theorems import TANGENT_OF_TANH
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved

__all__ = ["DEPTH", "depth"]

_U, _P, _D = sp.symbols("U P D_0", positive=True)
_QUARTER = _P * _D**2 / 4
_NEXT = _U * _D * sp.tanh(_QUARTER)
_RATIO = (_U + 1) / (_U - 1)
_EDGE = 2 * sp.log(_RATIO) / _P
_ABOVE_ONE = proposition(sp.Gt(_U, 1, evaluate=False))
_UP_TO_ONE = proposition(sp.Le(_U, 1, evaluate=False))
_INSIDE = proposition(sp.Lt(_D**2, _EDGE, evaluate=False))
_OUTSIDE = proposition(sp.Gt(_D**2, _EDGE, evaluate=False))
_ON_IT = proposition(sp.Eq(_D**2, _EDGE, evaluate=False))
_FALLS, _RISES = sp.Lt(_NEXT, _D, evaluate=False), sp.Gt(_NEXT, _D, evaluate=False)
_STAYS = sp.Eq(_NEXT, _D, evaluate=False)
_CUBIC = sp.Le(_NEXT, _U * _P * _D**3 / 4, evaluate=False)


def _for_norms_above_one(start: Proposition, said: sp.Basic) -> Proposition:
    return ForAll(_U, _ABOVE_ONE, for_all(ForAll(_D, start, proposition(said)), _P))


#: One layer for ``|U| <= 1``; for ``|U| > 1`` below the edge, above it and on it; and the cubic bound.
DEPTH = (
    ForAll(_U, _UP_TO_ONE, for_all(_FALLS, _P, _D)),
    _for_norms_above_one(_INSIDE, _FALLS),
    _for_norms_above_one(_OUTSIDE, _RISES),
    _for_norms_above_one(_ON_IT, _STAYS),
    for_all(_CUBIC, _U, _P, _D),
)

_GROWTH, _TANH = sp.Symbol("E", positive=True), sp.Symbol("tau", real=True)
_QUOTIENT = sp.Eq(_TANH * (_GROWTH + 1), _GROWTH - 1, evaluate=False)


def _one_layer(k: Kernel, start: Proposition, said: sp.Basic) -> Proved:
    """``D^2`` against the edge is ``E = e^{P D^2/2}`` against ``(U + 1)/(U - 1)``, and ``tanh`` is ``(E - 1)/(E + 1)``."""
    compared, norm = type(start.word.relation), k.assume(_ABOVE_ONE)
    positive = k.arithmetic([norm], sp.Gt(_RATIO, 0, evaluate=False))
    exponent = k.arithmetic([norm, positive, k.assume(start)], compared(2 * _QUARTER, sp.log(_RATIO), evaluate=False))
    growth = sp.exp(2 * _QUARTER)
    reached = k.arithmetic([norm, positive, exponent], compared(growth, _RATIO, evaluate=False))
    given = (_ABOVE_ONE, compared(_GROWTH, _RATIO, evaluate=False), _QUOTIENT)
    after = type(said)(_U * _TANH, 1, evaluate=False)
    lemma = k.instantiate(k.lemma(given, after, _GROWTH, _TANH), growth)
    same = k.identity(sp.tanh(_QUARTER) * (growth + 1), growth - 1)
    value = k.apply(lemma, [sp.tanh(_QUARTER)], norm, reached, same)
    scaled = sp.Symbol("s", real=True)
    times = k.lemma((type(said)(_U * scaled, 1, evaluate=False),), said.xreplace({sp.tanh(_QUARTER): scaled}), scaled)
    found = k.apply(times, [sp.tanh(_QUARTER)], value)
    return k.generalise(_U, k.generalise(_P, k.generalise(_D, found, start)), _ABOVE_ONE)


def depth(k: Kernel) -> Proved:
    """A proof of :data:`DEPTH`."""
    first = k.generalise(
        _U, k.generalise(_P, k.generalise(_D, k.arithmetic([k.assume(_UP_TO_ONE)], _FALLS))), _UP_TO_ONE
    )
    cases = ((_INSIDE, _FALLS), (_OUTSIDE, _RISES), (_ON_IT, _STAYS))
    below = k.textbook(TANGENT_OF_TANH, k.arithmetic([], sp.Ge(_QUARTER, 0, evaluate=False)), x=_QUARTER)
    value = sp.Symbol("s", real=True)
    small = sp.Le(value, _QUARTER, evaluate=False)
    cubic = k.apply(k.lemma((small,), _CUBIC.xreplace({sp.tanh(_QUARTER): value}), value), [sp.tanh(_QUARTER)], below)
    for letter in (_D, _P, _U):
        cubic = k.generalise(letter, cubic)
    return k.conjunction(first, *(_one_layer(k, *each) for each in cases), cubic)
