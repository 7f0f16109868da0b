"""The derivative of a map on the sphere from that of its raw step: ``x_i^+ = y_i / r_i``, along any family w."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.equations import RAW, TOKEN, Z
from eigentoken.theory.calculus import Expression, Norm, dot, factor, one, vector
from eigentoken.theory.calculus.atoms import Dot, transpose
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor, VectorLetter

__all__ = ["ALONG", "HALF_SQUARE", "OF_THE_MAP", "SHORT", "STEP", "extrinsic", "quotient", "radial_slopes", "value_of"]

_Z = vector(Z.name)
#: ``1/r_i``.
SHORT = factor(Norm("r", (TOKEN,)), -1)
#: ``z^T y_i / r_i^3``.
ALONG = dot(_Z, RAW) * factor(Norm("r", (TOKEN,)), -3)
HALF_SQUARE = dot(RAW, RAW) / 2
#: ``D[z^T y_i](w)``.
STEP = Slope(dot(_Z, RAW))
#: ``D[y_i / r_i](w) = (1/r_i)(I - yhat_i yhat_i^T) D[y_i](w)``, where ``y_i^T D[y_i](w) = D[|y_i|^2 / 2](w)``.
OF_THE_MAP = sp.Eq(
    Slope(dot(_Z, RAW) * SHORT), Tensor(SHORT) * STEP - Tensor(ALONG) * Slope(HALF_SQUARE), evaluate=False
)


def value_of(found: Proved) -> Expression:
    """The right side of a proved equation, where it is one quantity."""
    value: Expression = found.proposition.word.relation.rhs.expression
    return value


def quotient(k: Kernel) -> Proved:
    """A proof of :data:`OF_THE_MAP`: each derivative by the dimension-free calculus, and one normal form."""
    step, moved, square = k.slope(dot(_Z, RAW)), k.slope(dot(_Z, RAW) * SHORT), k.slope(HALF_SQUARE)
    kept, lost = SHORT * value_of(step), ALONG * value_of(square)
    pieces = (
        k.reduction(value_of(moved), kept - lost),
        k.total(kept, -lost),
        k.scaling(lost, -1),
        k.product(SHORT, value_of(step)),
        k.product(ALONG, value_of(square)),
    )
    return k.arithmetic([moved, step, square, *pieces], OF_THE_MAP)


#: ``rho_i^2 / 2`` with ``rho_i^2 = 1 + 2 x_i^T (y_i - x_i) + |y_i - x_i|^2``: the norm with ``|x_i| = 1`` put in.
HALF_UNIT = (dot(RAW, RAW) - dot(vector("x", TOKEN), vector("x", TOKEN)) + one()) / 2


def extrinsic(line: Expression, height: sp.Expr) -> tuple[sp.Eq, sp.Eq]:
    """The parts along v of the derivatives of ``y_i / r_i`` and of ``y_i / rho_i``, where x_i and y_i are along a unit v.

    They are 0, and ``sgn(m)/m^2`` times that of ``w_i``, with the height ``m = x_i^T y_i``.
    """
    far = dot(line, RAW) * factor(Norm("r", (TOKEN,)), -3)
    unit = Tensor(SHORT) * Slope(dot(line, RAW)) - Tensor(far) * Slope(HALF_UNIT)
    kept = Tensor(dot(line, vector("w", TOKEN))) / (height * sp.Abs(height))
    return sp.Eq(Slope(dot(line, RAW) * SHORT), 0, evaluate=False), sp.Eq(unit, kept, evaluate=False)


def _vector_of(value: Expression) -> Expression:
    """The vector f of ``z^T f``."""
    terms: dict[Monomial, sp.Expr] = {}
    for monomial, scale in value.terms.items():
        (product,) = (
            each
            for each, _ in monomial.factors
            if isinstance(each, Dot) and Z.name in (each.left.name, each.right.name)
        )
        own = product.left.name == Z.name
        arrow = (product.letters, product.right) if own else (transpose(product.letters), product.left)
        terms[Monomial(monomial.bound, tuple(each for each in monomial.factors if each[0] != product), arrow)] = scale
    return Expression(terms)


def radial_slopes(k: Kernel, name: VectorLetter, size: sp.Expr, side: sp.Expr, *known: Proved) -> tuple[Proved, Proved]:
    """Proofs of :func:`extrinsic` with the height ``m = s c``.

    ``known`` says ``z^T y_i = c z^T v`` and ``z^T x_i = s z^T v`` for every z, and ``|v|^2 = 1``; then ``s^2 = 1``.
    """
    raw, own, unit = known
    line, x, w, r = vector(name.name), vector("x", TOKEN), vector("w", TOKEN), factor(Norm("r", (TOKEN,)))
    step, square, half = k.slope(dot(line, RAW)), k.slope(HALF_SQUARE), k.slope(HALF_UNIT)
    moved = _vector_of(value_of(k.slope(dot(_Z, RAW))))
    lengths = k.arithmetic(
        [
            *(k.instantiate(raw, each) for each in (RAW, line)),
            *(k.instantiate(own, each) for each in (x, line)),
            *(k.reduction(dot(RAW, RAW), r * r), k.product(r, r), k.positive(r)),
            *(k.reduction(dot(x, x), one()), k.factors(one()), unit),
        ],
        sp.And(sp.Eq(Tensor(r) ** 2, size**2), Tensor(r) > 0, sp.Eq(side**2, 1), sp.Ne(size, 0)),
    )
    along = (
        *(step, square, k.instantiate(raw, moved), k.reduction(value_of(square), dot(RAW, moved))),
        *(k.reduction(value_of(step), dot(line, moved)), k.instantiate(raw, line), unit),
    )
    tied = k.arithmetic(along, sp.Eq(Slope(HALF_SQUARE), size * Slope(dot(line, RAW)), evaluate=False))
    split = [k.factors(each) for each in (SHORT, dot(line, RAW) * factor(Norm("r", (TOKEN,)), -3))]
    parts = [k.supply(each, *(k.arithmetic([k.positive(r)], said) for said in each.hypotheses)) for each in split]
    parts += [tied, lengths, k.instantiate(raw, line), unit]
    homogeneous, put_in = extrinsic(line, side * size)
    quotient_ = k.instantiate(k.generalise(Z, quotient(k)), name)
    first = k.arithmetic([quotient_, *parts], homogeneous)
    rest = (
        *(half, square, k.reduction(value_of(half), value_of(square) - dot(x, w)), k.scaling(dot(x, w), -1)),
        *(k.total(value_of(square), -dot(x, w)), k.instantiate(own, w)),
    )
    lost = k.arithmetic(rest, sp.Eq(Slope(HALF_UNIT), Slope(HALF_SQUARE) - side * Tensor(dot(line, w)), evaluate=False))
    kept = Tensor(dot(line, w))
    plain = k.arithmetic([lost, *parts], sp.Eq(put_in.lhs, size * side / Tensor(r) ** 3 * kept, evaluate=False))
    return first, k.apply(_by_height(k), (size, side, Tensor(r), put_in.lhs, kept), lengths, plain)


def _by_height(k: Kernel) -> Proved:
    """``c s / r^3 = 1/(m |m|)`` for ``m = s c``, ``s^2 = 1`` and ``r = |c| > 0``."""
    c, s, r, u, w = sp.symbols("c s r u w", real=True)
    given = (sp.Eq(r**2, c**2), r > 0, sp.Eq(s**2, 1), sp.Eq(u, c * s / r**3 * w, evaluate=False))
    return k.lemma(given, sp.Eq(u, w / (s * c * sp.Abs(s * c)), evaluate=False), c, s, r, u, w)
