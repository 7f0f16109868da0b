"""What BD-T2 says for every length: how far the cosine after a layer is from its limit, on either side of the threshold.

With ``E = e^{beta (1 - rho)}`` the weights of BD-T1 are ``b = 1/(n - 1 + E)`` and ``a = E b``, so that
``u = ((E - 1)/(E + n - 1))^2``.
For ``beta = gamma ln n`` the quotient ``E/n`` is ``n^{gamma (1 - rho) - 1}``: small below the threshold, large above it.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Proposition, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.terms import n

__all__ = ["THRESHOLD", "threshold"]

RHO, GROWTH = sp.symbols("rho E", positive=True)


def _from_weights(rho: Any, growth: Any) -> Any:
    """The cosine as BD-T1 has it."""
    u = ((growth - 1) / (growth + n - 1)) ** 2
    return (rho + (1 - rho) * (1 - u) / n) / (rho + (1 - rho) * (u + (1 - u) / n))


def _cosine(rho: Any, growth: Any) -> Any:
    """The same, the square of ``E + n - 1`` and a factor n cancelled."""
    shared = rho * (growth + n - 1) ** 2
    return (shared + (1 - rho) * (2 * growth + n - 2)) / (shared + (1 - rho) * (growth**2 + n - 1))


def _between(low: Any, term: Any, high: Any) -> Proposition:
    return Conjunction((proposition(sp.Ge(term, low, evaluate=False)), proposition(sp.Le(term, high, evaluate=False))))


_ACUTE = proposition(sp.Lt(RHO, 1, evaluate=False))
_ATTENDS = proposition(sp.Ge(GROWTH, 1, evaluate=False))
_SEVERAL = proposition(sp.Gt(GROWTH, 1, evaluate=False))
_C, _ROOT = _cosine(RHO, GROWTH), sp.sqrt(n)


def _for_every(said: Proposition) -> Proposition:
    return ForAll(RHO, _ACUTE, ForAll(GROWTH, _ATTENDS, said))


_FLAT = _cosine(sp.Integer(0), GROWTH)
#: The cosine of BD-T1 in E; near 1 where E is small beside n, near rho where it is large, near ``4 rho/(1 + 3 rho)`` where it is
#: n; and for orthogonal tokens near 1 where ``E^2`` is small beside n, near 0 where it is large, near 1/2 where it is n.
THRESHOLD: tuple[Proposition, ...] = (
    _for_every(proposition(sp.Eq(_from_weights(RHO, GROWTH), _C, evaluate=False))),
    _for_every(_between(0, 1 - _C, (1 - RHO) * (GROWTH / n) ** 2 / RHO)),
    _for_every(_between(0, _C - RHO, 2 * (1 - RHO) * n / GROWTH)),
    ForAll(RHO, _ACUTE, _between(-1 / (4 * RHO * n), _cosine(RHO, n) - 4 * RHO / (1 + 3 * RHO), 1 / (4 * RHO * n))),
    ForAll(GROWTH, _ATTENDS, _between(0, 1 - _FLAT, GROWTH**2 / n)),
    ForAll(GROWTH, _SEVERAL, _between(0, (n - 1) * _FLAT, ((GROWTH + n - 1) / (GROWTH - 1)) ** 2)),
    _between(-1 / _ROOT, _cosine(sp.Integer(0), _ROOT) - sp.Rational(1, 2), 1 / _ROOT),
)


def _proved(k: Kernel, said: Proposition) -> Proved:
    """Guards are assumed, each bound is real arithmetic."""
    letters: list[tuple[sp.Symbol, Proposition]] = []
    body = said
    while isinstance(body, ForAll):
        letters.append((body.letter, body.guard))
        body = body.body
    known = [k.assume(part) for _, guard in letters if guard != TRUE for part in conjuncts(guard)]
    found = k.conjunction(*(k.arithmetic(known, each) for each in conjuncts(body)))
    for letter, guard in reversed(letters):
        found = k.generalise(letter, found, guard)
    return found


def threshold(k: Kernel) -> Proved:
    """A proof of :data:`THRESHOLD`."""
    return k.conjunction(*(_proved(k, each) for each in THRESHOLD))
