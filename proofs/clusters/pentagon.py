"""CL-11 in the kernel: the second variation of the energy at a regular pentagon, and at a square.

``E = sum_{i<j} phi(cos(theta_i - theta_j))`` with ``phi'(c) = 1/(1 + e^{-kc})``.  Along ``xi`` its second derivative is
``sum_{i<j} h''(theta_i - theta_j) (xi_i - xi_j)^2`` with ``h'' = phi'' sin^2 - phi' cos``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.rows import for_all
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Proposition
from eigentoken.theory.kernel.proved import Proved

__all__ = ["PENTAGON", "pentagon", "second_variation"]

XI = sp.symbols("xi_1:6", real=True)
#: The cosines of 72 and 144 degrees.
COSINES = ((sp.sqrt(5) - 1) / 4, -(sp.sqrt(5) + 1) / 4)
_NEAR = sum((XI[i] - XI[(i + 1) % 5]) ** 2 for i in range(5))
_FAR = sum((XI[i] - XI[(i + 2) % 5]) ** 2 for i in range(5))


def curvature(cosine: sp.Expr, steep: int) -> sp.Expr:
    """``h''`` at the angle of that cosine: ``(k e sin^2 - (1 + e) cos)/(1 + e)^2`` with ``e = e^{-k cos}``."""
    e = sp.exp(sp.expand(-steep * cosine))
    return (steep * e * sp.expand(1 - cosine**2) - (1 + e) * cosine) / (1 + e) ** 2


def second_variation(steep: int) -> sp.Expr:
    """At the regular pentagon."""
    return curvature(COSINES[0], steep) * _NEAR + curvature(COSINES[1], steep) * _FAR


_FALLS = sp.Le(second_variation(20), -(_NEAR + _FAR) / 50, evaluate=False)
_RISES = sp.Ge(second_variation(10), _NEAR / 50, evaluate=False)
_A, _B = sp.symbols("a b", nonnegative=True)
_SIDES = sum((XI[i] - XI[(i + 1) % 4]) ** 2 for i in range(4))
_SQUARE = sp.Ge(_A * _SIDES + _B * ((XI[0] - XI[2]) ** 2 + (XI[1] - XI[3]) ** 2), 0, evaluate=False)
#: For k = 20 the second variation is negative but for rotations; for k = 10 it is positive; at a square, with any
#: ``a = phi''(0) >= 0`` and ``b = phi'(-1) >= 0``, it is never negative.
PENTAGON: tuple[Proposition, ...] = (
    for_all(_FALLS, *XI),
    for_all(_RISES, *XI),
    for_all(_SQUARE, _A, _B, *XI[:4]),
)


def pentagon(k: Kernel) -> Proved:
    """A proof of :data:`PENTAGON`: sums of squares, for curvatures on one side of a decimal, which balls decide."""
    p, q = sp.symbols("p q", real=True)
    small = [(sp.Le, -sp.Rational(1, 9)), (sp.Le, sp.Rational(1, 100))]
    large = [(sp.Ge, sp.Rational(1, 50)), (sp.Ge, sp.Integer(0))]
    falls = k.lemma(
        [side(letter, bound) for letter, (side, bound) in zip((p, q), small, strict=True)],
        sp.Le(p * _NEAR + q * _FAR, -(_NEAR + _FAR) / 50, evaluate=False),
        p,
        q,
        *XI,
    )
    rises = k.lemma(
        [side(letter, bound) for letter, (side, bound) in zip((p, q), large, strict=True)],
        sp.Ge(p * _NEAR + q * _FAR, _NEAR / 50, evaluate=False),
        p,
        q,
        *XI,
    )
    ends = []
    for lemma, steep, bounds in ((falls, 20, small), (rises, 10, large)):
        bent = [curvature(each, steep) for each in COSINES]
        known = [k.enclosure(side(at, bound, evaluate=False)) for at, (side, bound) in zip(bent, bounds, strict=True)]
        found = k.apply(lemma, (*bent, *XI), *known)
        for letter in reversed(XI):
            found = k.generalise(letter, found)
        ends.append(found)
    return k.conjunction(*ends, k.lemma([], _SQUARE, _A, _B, *XI[:4]))
