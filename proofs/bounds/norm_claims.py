"""BD-N1 and BD-N2 in the kernel: the radius of what a norm puts out, and its derivative, with and without the mean taken out.

A norm with gain G and bias b puts out ``s G w + b``: ``s`` is ``sqrt(d)/|w|`` or less (epsilon), and w is x, or the part of x
across the vector f of which all entries are alike.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.lemmas import Z
from eigentoken.proofs.bounds.rows import I, for_all
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import Expression, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor, VectorLetter
from eigentoken.theory.language.terms import SpectralNorm, d, matrix

__all__ = [
    "CENTRED_NORM_DERIVATIVE",
    "DERIVATIVE_BOUND",
    "NORM_DERIVATIVE",
    "RADIUS_OF_A_CENTRED_NORM",
    "RADIUS_OF_A_NORM",
    "derivatives",
    "radii",
]

_W, _B, _E = VectorLetter("w"), VectorLetter("b"), VectorLetter("f")
_w, _b, _e, _z = vector("w"), vector("b"), vector("f"), vector(Z.name)
_GAIN, _GAIN_NORM = matrix("G"), SpectralNorm(matrix("G"))
_SCALE, _WIDEST = sp.Symbol("s", nonnegative=True), sp.Symbol("c", nonnegative=True)


def _square(given: Expression) -> Expression:
    return dot(given, given)


# -- the radius -----------------------------------------------------------------------------------------------------------

_PUSHED = _w.applied(product("G"))
_PUT_OUT = _square(_PUSHED * _SCALE + _b)
_SHORT = proposition(sp.Le(_SCALE**2 * Tensor(_square(_w)), d, evaluate=False))


def _within(most: sp.Expr) -> sp.Le:
    """``|s G w + b| <= sqrt(d) c + |b|``."""
    return sp.Le(sp.sqrt(Tensor(_PUT_OUT)), sp.sqrt(d) * most + sp.sqrt(Tensor(_square(_b))), evaluate=False)


#: ``|s G w + b| <= sqrt(d) |G| + |b|`` for every scale up to ``sqrt(d)/|w|``, that of an RMS norm with any epsilon.
RADIUS_OF_A_NORM = for_all(ForAll(_SCALE, _SHORT, proposition(_within(_GAIN_NORM))), _W, _B)

_LEVEL = proposition(sp.Eq(Tensor(dot(_e, _z)), 0, evaluate=False))
_STRETCH = sp.Le(Tensor(_square(_z.applied(product("G")))), _WIDEST**2 * Tensor(_square(_z)), evaluate=False)
_ON_LEVEL = ForAll(Z, _LEVEL, proposition(_STRETCH))
_ACROSS = proposition(sp.Eq(Tensor(dot(_e, _w)), 0, evaluate=False))
#: For a norm that takes the mean out: w is orthogonal to f, and c bounds G there alone.
RADIUS_OF_A_CENTRED_NORM = for_all(
    ForAll(
        _WIDEST,
        _ON_LEVEL,
        for_all(ForAll(_W, _ACROSS, ForAll(_SCALE, _SHORT, proposition(_within(_WIDEST)))), _B),
    ),
    _E,
)


def _triangle(k: Kernel, most: sp.Expr, *bounds: Proved) -> Proved:
    """``|G w|^2 <= c^2 |w|^2`` (``bounds``) and ``s^2 |w|^2 <= d`` give :func:`_within`: lengths add up at most."""
    pushed = _PUSHED * _SCALE
    sizes = [Tensor(_square(each)) for each in (pushed, _b)]
    known = [*bounds, k.assume(_SHORT), k.square(_w), k.scaling(_square(_PUSHED), _SCALE**2)]
    small = k.arithmetic(known, sp.Le(sizes[0], d * most**2, evaluate=False))
    cross = Tensor(dot(pushed, _b))
    squares = [k.square(pushed), k.square(_b), k.textbook(EUCLIDEAN, y=pushed, z=_b)]
    along = k.arithmetic(squares, sp.Le(cross, sp.sqrt(sizes[0]) * sp.sqrt(sizes[1]), evaluate=False))
    parts = (_square(pushed), dot(pushed, _b) * 2, _square(_b))
    whole = [k.total(*parts), k.scaling(dot(pushed, _b), 2), along, *squares[:2]]
    together = (sp.sqrt(sizes[0]) + sp.sqrt(sizes[1])) ** 2
    below = k.arithmetic(whole, sp.Le(Tensor(_PUT_OUT), together, evaluate=False))
    root = k.arithmetic([small, squares[0], *bounds], sp.Le(sp.sqrt(sizes[0]), sp.sqrt(d) * most, evaluate=False))
    return k.arithmetic([below, root, *squares[:2], k.square(pushed + _b)], _within(most))


def radii(k: Kernel) -> Proved:
    """A proof of both radii."""
    norm = k.textbook(OPERATOR_NORM, A=_GAIN, z=_w)
    plain = k.generalise(_SCALE, _triangle(k, _GAIN_NORM, norm), _SHORT)
    for letter in (_B, _W):
        plain = k.generalise(letter, plain)
    there = k.instantiate(k.assume(_ON_LEVEL), _w, k.assume(_ACROSS))
    centred = k.generalise(_W, k.generalise(_SCALE, _triangle(k, _WIDEST, there), _SHORT), _ACROSS)
    centred = k.generalise(_E, k.generalise(_WIDEST, k.generalise(_B, centred), _ON_LEVEL))
    return k.conjunction(plain, centred)


# -- the derivative -------------------------------------------------------------------------------------------------------

#: Any matrix in the place of the gain.
_B_GAIN = matrix("B")
_SIZE = SpectralNorm(_B_GAIN)
_x, _moved = vector("x", I), vector("w", I)
_ENTRY, _LENGTH = dot(_z, _x, product("B")), _square(_x)
_ALONG, _TURN = Tensor(dot(_z, _moved, product("B"))), Tensor(dot(_x, _moved))
_QUOTIENT = _ENTRY * _ENTRY * _LENGTH**-1
_DERIVATIVE = sp.Eq(
    Slope(_QUOTIENT, "w"),
    2 * Tensor(_ENTRY) * (_ALONG - Tensor(_ENTRY) * _TURN / Tensor(_LENGTH)) / Tensor(_LENGTH),
    evaluate=False,
)
_NOT_ZERO = proposition(sp.Gt(Tensor(_LENGTH), 0, evaluate=False))
#: For the square of an entry ``z^T B x/|x|`` of the norm: its derivative along w is
#: ``2 (z^T B x/|x|) (z^T B (I - x x^T/|x|^2) w)/|x|``.
NORM_DERIVATIVE = for_all(ForAll(I, _NOT_ZERO, for_all(_DERIVATIVE, Z, _W)))


def _level(given: Expression) -> Expression:
    """``y - (f^T y/|f|^2) f``."""
    return given - dot(_e, given) * _square(_e) ** -1 * _e


_HERE, _WAY = _level(_x), _level(_moved)
_CENTRED = dot(_z, _HERE, product("B"))
_PARTS = (
    proposition(sp.Eq(Slope(_CENTRED, "w"), Tensor(dot(_z, _WAY, product("B"))), evaluate=False)),
    proposition(sp.Eq(Slope(_square(_HERE), "w"), 2 * Tensor(dot(_HERE, _WAY)), evaluate=False)),
)
_SOME_E = proposition(sp.Gt(Tensor(_square(_e)), 0, evaluate=False))
#: For a norm that takes the mean out, ``z^T B y/|y|`` with y the part of x across f: the derivatives of both its parts.
CENTRED_NORM_DERIVATIVE: Proposition = ForAll(_E, _SOME_E, for_all(Conjunction(_PARTS), I, Z, _W))

_ACROSS_X = _moved * _LENGTH - dot(_x, _moved) * _x
_STRETCHED = Tensor(_square(_ACROSS_X.applied(product("B"))))
#: ``|B (I - x x^T/|x|^2) w| <= |B| |w|``, multiplied by ``|x|^2``: the derivative is at most ``|B|/|x|``.
DERIVATIVE_BOUND = for_all(
    sp.Le(_STRETCHED, _SIZE**2 * Tensor(_LENGTH) ** 2 * Tensor(_square(_moved)), evaluate=False), I, _W
)


def _defined(k: Kernel, proved: Proved, length: Expression, given: Proposition) -> Proved:
    """Where the length is not zero the quotients have values."""
    return k.supply(proved, k.arithmetic([k.assume(given)], sp.Ne(Tensor(length), 0, evaluate=False)))


def _of_quotient(k: Kernel) -> Proved:
    slope = k.slope(_QUOTIENT, "w")
    found = slope.proposition.word.relation.rhs.expression
    inverse = _LENGTH**-1
    parts = [
        _ENTRY * inverse * dot(_z, _moved, product("B")) * 2,
        _ENTRY * _ENTRY * inverse * inverse * dot(_x, _moved) * -2,
    ]
    known = [
        slope,
        k.assume(_NOT_ZERO),
        k.reduction(found, parts[0] + parts[1]),
        k.total(*parts),
        *map(k.factors, parts),
    ]
    known.append(k.factors(parts[0]))
    equal = _defined(k, k.arithmetic(known, _DERIVATIVE), _LENGTH, _NOT_ZERO)
    for letter in (_W, Z):
        equal = k.generalise(letter, equal)
    return k.generalise(I, equal, _NOT_ZERO)


def _of_parts(k: Kernel) -> Proved:
    given = k.assume(_SOME_E)
    ends: list[Proved] = []
    for quantity, target, scale in ((_CENTRED, dot(_z, _WAY, product("B")), 1), (_square(_HERE), dot(_HERE, _WAY), 2)):
        slope = k.slope(quantity, "w")
        found = slope.proposition.word.relation.rhs.expression
        known = [slope, given, k.reduction(found, target * scale), k.scaling(target, scale)]
        ends.append(k.arithmetic(known, _PARTS[len(ends)]))
    found = _defined(k, k.conjunction(*ends), _square(_e), _SOME_E)
    for letter in (_W, Z, I):
        found = k.generalise(letter, found)
    return k.generalise(_E, found, _SOME_E)


def _bounded(k: Kernel) -> Proved:
    """``| |x|^2 w - (x^T w) x|^2 = |x|^2 (|x|^2 |w|^2 - (x^T w)^2)``."""
    squared = _square(_ACROSS_X)
    pieces = (_LENGTH * _LENGTH * _square(_moved), _LENGTH * dot(_x, _moved) * dot(_x, _moved) * -1)
    known = [
        k.textbook(OPERATOR_NORM, A=_B_GAIN, z=_ACROSS_X),
        k.reduction(squared, pieces[0] + pieces[1]),
        k.total(*pieces),
        *map(k.factors, pieces),
        k.square(_x),
        k.square(_moved),
    ]
    size = sp.Le(Tensor(squared), Tensor(_LENGTH) ** 2 * Tensor(_square(_moved)), evaluate=False)
    below = k.arithmetic(known[1:], size)
    found = k.arithmetic([known[0], below], DERIVATIVE_BOUND.body.body)
    return k.generalise(I, k.generalise(_W, found))


def derivatives(k: Kernel) -> Proved:
    """A proof of the three claims of BD-N2."""
    return k.conjunction(_of_quotient(k), _of_parts(k), _bounded(k))
