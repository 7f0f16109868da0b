"""Polygonal points of the attention map, ``sum_j a_ij x_j = 0`` for every i: they rest, and the derivative there.

The derivative of the weights enters at first order: ``D[x_i^+](w) = P_i H_i`` with ``H_i = w_i + alpha V sum_j a_ij (w_j +
(x_i^T M w_j + w_i^T M x_j) x_j)``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e08_attention_map import OTHER, attention_weight, push
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, for_every
from eigentoken.proofs.steps.fixed_points import radial
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.slopes import ALONG, HALF_SQUARE, SHORT, quotient, value_of
from eigentoken.theory.calculus import ALPHA, Expression, Letter, Norm, dot, factor, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Implication, Proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor

__all__ = ["LINEARISED", "POLYGON", "linearised", "moved", "rests", "slope_is"]

_Z, _X, _W = vector(Z.name), vector("x", TOKEN), vector("w", TOKEN)
_XJ, _WJ = vector("x", OTHER), vector("w", OTHER)
_SCORE, _LENGTH = (Letter("M"),), factor(Norm("r", (TOKEN,)))


def _mean() -> Expression:
    """``m_i = sum_j a_ij x_j``."""
    return (attention_weight() * _XJ).summed(OTHER)


#: ``sum_j a_ij x_j = 0`` for every token.
POLYGON = for_every(sp.Eq(Tensor(dot(_Z, _mean())), 0, evaluate=False), TOKEN, Z)


def moved() -> Expression:
    """``H_i``."""
    turned = (dot(_X, _WJ, _SCORE) + dot(_W, _XJ, _SCORE)) * _XJ
    return _W + (attention_weight() * (_WJ + turned)).summed(OTHER).applied(matrix("V")) * ALPHA


def slope_is(image: Expression, normal: Expression) -> sp.Eq:
    """``z^T D[x_i^+](w) = z^T (I - n n^T) image``."""
    value = Tensor(dot(_Z, image)) - Tensor(dot(normal, image)) * Tensor(dot(_Z, normal))
    return sp.Eq(Slope(dot(_Z, RAW) * SHORT), value, evaluate=False)


def _everywhere(said: sp.Basic) -> Proposition:
    return for_every(said, TOKEN, W, Z)


LINEARISED = Implication(POLYGON, _everywhere(slope_is(moved(), _X)))


def rests(k: Kernel) -> Proved:
    """Without a push the map rests."""
    found = radial(k, push())
    nothing = k.instantiate(k.instantiate(k.assume(POLYGON), TOKEN), _Z.applied((Letter("V", True),)))
    same = expanded(k, dot(_Z, push()), (1, dot(_Z.applied((Letter("V", True),)), _mean())))
    zero = k.arithmetic([nothing, same], sp.Eq(Tensor(dot(_Z, push())), 0 * Tensor(dot(_Z, _X))))
    some = k.witness(
        found.proposition.right.body,
        sp.Integer(0),
        k.arithmetic([], sp.Gt(1, 0, evaluate=False)),
        k.generalise(Z, zero),
    )
    return k.discharge(POLYGON, k.modus_ponens(found, k.generalise(TOKEN, some)))


def _raw_slope(k: Kernel) -> tuple[Proved, Expression]:
    """``z^T D[y_i](w) = z^T H_i`` for every z, at a polygon; and ``D[y_i](w)`` as it is at any state."""
    mean = _mean()
    own = attention_weight() * (_WJ + dot(_X, _WJ, _SCORE) * (_XJ - mean))
    spread = attention_weight() * dot(_W, _XJ - mean, _SCORE) * (_XJ - mean)
    exact = _W + (own + spread).summed(OTHER).applied(matrix("V")) * ALPHA
    polygon = k.instantiate(k.assume(POLYGON), TOKEN)
    across = dot(_Z.applied((Letter("V", True),)), mean)
    tilted = (attention_weight() * dot(_X, _WJ, _SCORE)).summed(OTHER)
    turned = dot(_W.applied((Letter("M", True),)), mean)
    split = expanded(k, dot(_Z, exact), (1, dot(_Z, moved())), (-ALPHA, tilted, across), (-ALPHA, turned, across))
    nothing = k.instantiate(polygon, _Z.applied((Letter("V", True),)))
    equal = sp.Eq(Tensor(dot(_Z, exact)), Tensor(dot(_Z, moved())), evaluate=False)
    return k.generalise(Z, k.arithmetic([split, nothing], equal)), exact


def linearised(k: Kernel) -> Proved:
    """A proof of :data:`LINEARISED`: ``y_i = x_i`` and ``r_i = 1`` at a polygon."""
    raw, exact = _raw_slope(k)
    mean = _mean()
    back = _Z.applied((Letter("V", True),))
    nothing = k.instantiate(k.instantiate(k.assume(POLYGON), TOKEN), back)
    step = expanded(k, dot(_Z, RAW), (1, dot(_Z, _X)), (ALPHA, dot(back, mean)))
    still = k.generalise(
        Z, k.arithmetic([step, nothing], sp.Eq(Tensor(dot(_Z, RAW)), Tensor(dot(_Z, _X)), evaluate=False))
    )
    length = k.arithmetic(
        [
            *(k.instantiate(still, each) for each in (RAW, _X)),
            expanded(k, dot(RAW, RAW), (1, _LENGTH, _LENGTH)),
            expanded(k, dot(_X, _X), (1,)),
            k.positive(_LENGTH),
        ],
        sp.Eq(Tensor(_LENGTH), 1, evaluate=False),
    )
    slope, half, positive = k.slope(dot(_Z, RAW)), k.slope(HALF_SQUARE), k.positive(_LENGTH)
    split = [k.factors(SHORT), k.factors(ALONG)]
    known = [
        quotient(k),
        slope,
        half,
        length,
        k.reduction(value_of(slope), dot(_Z, exact)),
        k.reduction(value_of(half), dot(RAW, exact)),
        k.instantiate(raw, Z),
        k.instantiate(raw, RAW),
        k.instantiate(still, Z),
        k.instantiate(still, moved()),
        *(k.supply(each, *(k.arithmetic([positive], part) for part in each.hypotheses)) for each in split),
    ]
    found = k.arithmetic(known, slope_is(moved(), _X))
    for letter in (Z, W, TOKEN):
        found = k.generalise(letter, found)
    return k.discharge(POLYGON, found)
