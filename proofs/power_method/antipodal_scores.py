"""Half of the tokens at v and half at -v with ``v^T M v = 0``: a polygon of the attention map, and its derivative.

All weights are ``1/n``, and ``D[x_i^+](w) = P_v H_i`` with ``H_i = w_i + alpha V (wbar + (sigma_i mean_j sigma_j v^T M w_j +
w_i^T M v) v)``, ``sigma_i = v^T x_i``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.attention_polygons import POLYGON, linearised, moved, slope_is
from eigentoken.proofs.power_method.pm_e08_attention_map import OTHER, attention_weight
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.power_method.pm_l12_jacobian_at_bipartite import LINE, ON_THE_LINE, sigma
from eigentoken.proofs.steps.equations import TOKEN, Z, for_every
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.theory.calculus import (
    ALPHA,
    TOKENS,
    Expression,
    Letter,
    dot,
    exponential,
    factor,
    matrix,
    one,
    vector,
)
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor

__all__ = ["ANTIPODAL", "antipodal"]

_Z, _V, _X, _XJ = vector(Z.name), vector(LINE.name), vector("x", TOKEN), vector("x", OTHER)
_WI, _WJ = vector("w", TOKEN), vector("w", OTHER)
_SCORE, _VALUE = (Letter("M"),), matrix("V")
_FLAT = dot(_V, _V, _SCORE)
_EXPONENT = _FLAT * sigma(TOKEN) * sigma(OTHER)
#: ``|v| = 1``, all tokens on its line, half on each side, and ``v^T M v = 0``.
PLACE = Conjunction(
    (
        proposition(sp.Eq(Tensor(dot(_V, _V)), 1, evaluate=False)),
        ON_THE_LINE,
        proposition(sp.Eq(Tensor(sigma(TOKEN).summed(TOKEN)), 0, evaluate=False)),
        proposition(sp.Eq(Tensor(_FLAT), 0, evaluate=False)),
    )
)


def _mixed() -> Expression:
    """``sigma_i mean_j sigma_j v^T M w_j + w_i^T M v``."""
    together = (sigma(OTHER) * dot(_V, _WJ, _SCORE)).summed(OTHER) / TOKENS
    return sigma(TOKEN) * together + dot(_WI, _V, _SCORE)


def _there() -> Expression:
    """``H_i``."""
    mean = _WJ.summed(OTHER) / TOKENS
    return _WI + (mean + _mixed() * _V).applied(_VALUE) * ALPHA


SLOPE = slope_is(_there(), _V)
ANTIPODAL = ForAll(LINE, TRUE, Implication(PLACE, Conjunction((POLYGON, for_every(SLOPE, TOKEN, W, Z)))))


def _even(k: Kernel, line: Proved, flat: Proved) -> Proved:
    """``a_ij = 1/n``: every score is zero."""
    weights = k.congruent(attention_weight(), "x", sigma(TOKEN) * _V, TOKEN, line)
    row = factor(row_sum(_EXPONENT, OTHER))
    score = expanded(k, _EXPONENT, (1, _FLAT, sigma(TOKEN), sigma(OTHER)))
    single = k.arithmetic(
        [score, flat, k.exponential_of(_EXPONENT)], sp.Eq(Tensor(exponential(_EXPONENT)), 1, evaluate=False)
    )
    level = k.arithmetic(
        [single, k.factors(one())], sp.Eq(Tensor(exponential(_EXPONENT)), Tensor(one()), evaluate=False)
    )
    total = k.arithmetic(
        [
            k.summed(k.generalise(OTHER, level)),
            k.reduction(row, exponential(_EXPONENT).summed(OTHER)),
            expanded(k, one().summed(OTHER), (TOKENS,)),
        ],
        sp.Eq(Tensor(row), TOKENS, evaluate=False),
    )
    split = k.factors(exponential(_EXPONENT) * row**-1)
    split = k.supply(split, *(k.arithmetic([total], each) for each in split.hypotheses))
    return k.arithmetic([weights, single, total, split], sp.Eq(Tensor(attention_weight()), 1 / TOKENS, evaluate=False))


def _polygon(k: Kernel, even: Proved, line: Proved, balance: Proved) -> Proved:
    """``sum_j a_ij x_j = (1/n) (sum_j sigma_j) v = 0``."""
    here = k.instantiate(k.instantiate(line, OTHER), Z)
    term, value = attention_weight() * dot(_Z, _XJ), sigma(OTHER) * dot(_Z, _V) / TOKENS
    each = k.arithmetic(
        [
            *(even, here, k.product(attention_weight(), dot(_Z, _XJ)), k.product(sigma(OTHER), dot(_Z, _V))),
            expanded(k, value, (1 / TOKENS, sigma(OTHER), dot(_Z, _V))),
        ],
        sp.Eq(Tensor(term), Tensor(value), evaluate=False),
    )
    known = [
        k.summed(k.generalise(OTHER, each)),
        expanded(k, value.summed(OTHER), (1 / TOKENS, sigma(TOKEN).summed(TOKEN), dot(_Z, _V))),
        balance,
    ]
    return k.generalise(TOKEN, k.generalise(Z, k.arithmetic(known, POLYGON.body.body)))


def _image(k: Kernel, even: Proved, line: Proved, signs: Proved) -> Proved:
    """``z^T H_i`` of the polygon is that of :func:`_there`, for every z."""
    back = _Z.applied((Letter("V", True),))
    form = dot(_Z, _V, _VALUE)
    other = k.instantiate(line, OTHER)
    seen = [
        k.instantiate(other, back),
        k.instantiate(other, _WI.applied((Letter("M", True),))),
        k.instantiate(k.instantiate(line, TOKEN), _WJ.applied(_SCORE)),
        k.product(sigma(OTHER), dot(back, _V)),
        k.product(sigma(OTHER), dot(_WI.applied((Letter("M", True),)), _V)),
        k.product(sigma(TOKEN), dot(_WJ.applied(_SCORE), _V)),
        *(
            k.reduction(one_, other_)
            for one_, other_ in (
                (dot(back, _V), form),
                (dot(back, _XJ), dot(_Z, _XJ, _VALUE)),
                (dot(_WI.applied((Letter("M", True),)), _V), dot(_WI, _V, _SCORE)),
                (dot(_WI.applied((Letter("M", True),)), _XJ), dot(_WI, _XJ, _SCORE)),
                (dot(_WJ.applied(_SCORE), _V), dot(_V, _WJ, _SCORE)),
                (dot(_WJ.applied(_SCORE), _X), dot(_X, _WJ, _SCORE)),
            )
        ),
    ]
    plain = k.arithmetic(
        seen,
        sp.And(
            sp.Eq(Tensor(dot(_Z, _XJ, _VALUE)), Tensor(sigma(OTHER)) * Tensor(form)),
            sp.Eq(Tensor(dot(_WI, _XJ, _SCORE)), Tensor(sigma(OTHER)) * Tensor(dot(_WI, _V, _SCORE))),
            sp.Eq(Tensor(dot(_X, _WJ, _SCORE)), Tensor(sigma(TOKEN)) * Tensor(dot(_V, _WJ, _SCORE))),
        ),
    )
    inside = dot(_Z, _WJ, _VALUE) + (dot(_X, _WJ, _SCORE) + dot(_WI, _XJ, _SCORE)) * dot(_Z, _XJ, _VALUE)
    own = sigma(TOKEN) * sigma(OTHER) * dot(_V, _WJ, _SCORE) * form
    value = (dot(_Z, _WJ, _VALUE) + own + dot(_WI, _V, _SCORE) * form) / TOKENS
    each = k.arithmetic(
        [
            *(even, plain, signs, k.product(attention_weight(), inside)),
            expanded(
                k,
                inside,
                (1, dot(_Z, _WJ, _VALUE)),
                (1, dot(_X, _WJ, _SCORE), dot(_Z, _XJ, _VALUE)),
                (1, dot(_WI, _XJ, _SCORE), dot(_Z, _XJ, _VALUE)),
            ),
            expanded(
                k,
                value,
                (1 / TOKENS, dot(_Z, _WJ, _VALUE)),
                (1 / TOKENS, sigma(TOKEN), sigma(OTHER), dot(_V, _WJ, _SCORE), form),
                (1 / TOKENS, dot(_WI, _V, _SCORE), form),
            ),
        ],
        sp.Eq(Tensor(attention_weight() * inside), Tensor(value), evaluate=False),
    )
    total = (attention_weight() * inside).summed(OTHER)
    known = [
        k.summed(k.generalise(OTHER, each)),
        expanded(k, dot(_Z, moved()), (1, dot(_Z, _WI)), (ALPHA, total)),
        expanded(k, dot(_Z, _there()), (1, dot(_Z, _WI)), (ALPHA, value.summed(OTHER))),
    ]
    equal = sp.Eq(Tensor(dot(_Z, moved())), Tensor(dot(_Z, _there())), evaluate=False)
    return k.generalise(Z, k.arithmetic(known, equal))


def antipodal(k: Kernel) -> Proved:
    """A proof of :data:`ANTIPODAL`."""
    place = k.assume(PLACE)
    unit, line, balance, flat = (k.part(place, each) for each in PLACE.parts)
    even = _even(k, line, flat)
    polygon = _polygon(k, even, line, balance)
    here = k.instantiate(line, TOKEN)
    side = [
        k.instantiate(here, _X),
        k.product(sigma(TOKEN), dot(_X, _V)),
        expanded(k, dot(_X, _X), (1,)),
    ]
    own = k.arithmetic(side, sp.Eq(Tensor(sigma(TOKEN)) ** 2, 1, evaluate=False))
    signs = k.instantiate(k.generalise(TOKEN, own), OTHER)
    slope = k.modus_ponens(linearised(k), polygon)
    for letter in (TOKEN, W, Z):
        slope = k.instantiate(slope, letter)
    image = _image(k, even, line, signs)
    there = _there()
    known = [
        *(slope, own, unit),
        *(k.instantiate(image, each) for each in (Z, _X)),
        *(k.instantiate(here, each) for each in (Z, there)),
        *(k.product(sigma(TOKEN), dot(each, _V)) for each in (_Z, there)),
    ]
    found = k.arithmetic(known, SLOPE)
    for letter in (Z, W, TOKEN):
        found = k.generalise(letter, found)
    return k.generalise(LINE, k.discharge(PLACE, k.conjunction(polygon, found)))
