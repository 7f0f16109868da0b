"""BD-K1 in the kernel: two states of three scalar tokens whose images are ever farther apart than the states.

``B = W = 1``, tokens ``(s, t, -t)``: with ``s = 0`` the first token is not moved, with ``s = 1/t`` by at least ``t/4``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from eigentoken.theory.kernel.instances import Rows, VelocityIs, rows
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Atom, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved

__all__ = ["NO_CONSTANT", "no_constant"]

T = sp.Symbol("t", positive=True)
_FAR = proposition(sp.Ge(T, 1, evaluate=False))
_ONE: Rows = rows([[1]])
_WEIGHTS = ((Str("B"), _ONE), (Str("W"), _ONE))


def _image(own: Any, tokens: tuple[Any, ...]) -> sp.Expr:
    """``sum_j e^{x x_j} x_j / sum_j e^{x x_j}``."""
    weights = [sp.exp(sp.expand(own * each)) for each in tokens]
    return sum(w * each for w, each in zip(weights, tokens, strict=True)) / sum(weights)


def _images(first: Any) -> VelocityIs:
    tokens = (first, T, -T)
    return VelocityIs(_WEIGHTS, rows([[each] for each in tokens]), rows([[_image(each, tokens)] for each in tokens]))


_AT_REST, _MOVED = _images(sp.Integer(0)), _images(1 / T)
_FIRST = _image(1 / T, (1 / T, T, -T))
_QUARTER = sp.Ge(_FIRST, T / 4, evaluate=False)
#: The images of both states; and that of the first token of the second one, which is at a distance ``1/t`` from the first state.
NO_CONSTANT: tuple[Proposition, ...] = (
    ForAll(T, _FAR, Atom(_AT_REST)),
    ForAll(T, _FAR, Atom(_MOVED)),
    ForAll(T, _FAR, proposition(_QUARTER)),
)


def no_constant(k: Kernel) -> Proved:
    """A proof of :data:`NO_CONSTANT`: ``e >= 2`` and ``e^{1/t^2} <= e``."""
    far = k.assume(_FAR)
    velocities = [k.generalise(T, k.velocity_at(each), _FAR) for each in (_AT_REST, _MOVED)]
    e, small = sp.exp(1), sp.exp(T**-2)
    power = k.arithmetic([far], sp.Le(T**-2, 1, evaluate=False))
    a, b = sp.symbols("a b", real=True)
    rising = k.lemma([sp.Le(a, b)], sp.Le(sp.exp(a), sp.exp(b), evaluate=False), a, b)
    known = [
        far,
        k.arithmetic([], sp.Ge(e, 2, evaluate=False)),
        k.apply(rising, (T**-2, sp.Integer(1)), power),
        k.arithmetic([], sp.Gt(small, 0, evaluate=False)),
        k.identity(sp.exp(-1) * e, sp.Integer(1)),
    ]
    return k.conjunction(*velocities, k.generalise(T, k.arithmetic(known, _QUARTER), _FAR))
