"""Near the antipode of the first token the causal flow with ``U = I`` pushes the neighbours of a token apart (AB-T5.1).

For unit vectors z that are tangent at ``x_i``, with the scores ``s_j = z^T P x_j`` and ``p_j = z^T (x_j - (x_i^T x_j) x_i)``,
``z^T D_i f_i z = sum_j alpha_ij s_j p_j + alpha_ii (x_i^T P z) p_i - (sum_j alpha_ij p_j) C + E``, where C is bounded by twice
the norm of P, the ``p_j`` are small, and E is about the weight of the first token.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.causal_attraction import (
    NEAR,
    I,
    J,
    K,
    earlier_near,
    is_near,
    opposite,
    sees_first,
    small,
    small_gap,
    small_product,
)
from eigentoken.proofs.abella.causal_sums import (
    LEAST,
    NORM,
    SCORE,
    SCORES,
    masked,
    seen_terms,
    token,
    unit,
    weight_below,
)
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.steps.equations import Z
from eigentoken.proofs.steps.fibre_theorems import own_slope
from eigentoken.theory.calculus import DIMENSION, Expression, Index, delta, dot, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before
from eigentoken.theory.kernel.propositions import Conjunction, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.terms import d

_Z = vector(Z.name)
_ROOT = sp.sqrt(DIMENSION)


def velocity(at: Index) -> Expression:
    """``f_i = sum_{j <= i} alpha_ij (x_j - (x_i^T x_j) x_i)``."""
    return (causal_weight(at, J) * (token(J) - dot(token(at), token(J)) * token(at))).summed(J)


#: z is a unit vector that is tangent at token i.
TANGENT = Conjunction(
    (
        proposition(sp.Eq(Tensor(dot(_Z, _Z)), 1, evaluate=False)),
        proposition(sp.Eq(Tensor(dot(token(I), _Z)), 0, evaluate=False)),
    )
)


def region() -> Conjunction:
    """Token i is near the antipode of the first token, and those before it are near the first."""
    return Conjunction((opposite(I), earlier_near(I)))


def score(at: Index) -> Expression:
    """``s_j = z^T P x_j``."""
    return dot(_Z, token(at), SCORE)


BACK = dot(token(I), _Z, SCORE)


def part(at: Index) -> Expression:
    """``p_j = z^T (x_j - (x_i^T x_j) x_i)``."""
    return dot(_Z, token(at)) - dot(token(I), token(at)) * dot(token(I), _Z)


def kept(at: Index) -> Expression:
    """``e_j = delta_ij (|z|^2 - (x_i^T z)^2) - (z^T x_j)(x_i^T z) - (x_i^T x_j)|z|^2``."""
    along, length = dot(token(I), _Z), dot(_Z, _Z)
    own = delta(I, at) * (length - along * along)
    return own - dot(_Z, token(at)) * along - dot(token(I), token(at)) * length


def summed(quantity: Expression) -> Expression:
    """``sum_j alpha_ij q_j``."""
    return (causal_weight(I, J) * quantity).summed(J)


FIRST, OWN = summed(score(J) * part(J)), causal_weight(I, I) * BACK * part(I)
PARTS, MEAN, REST = summed(part(J)), summed(score(J)) * _ROOT, causal_weight(I, I) * BACK * _ROOT
KEPT = summed(kept(J))


def tangent(kernel: Kernel) -> tuple[Proved, Proved]:
    both = kernel.assume(TANGENT)
    return kernel.part(both, TANGENT.parts[0]), kernel.part(both, TANGENT.parts[1])


def split(kernel: Kernel) -> Proved:
    """``z^T D_i f_i z = FIRST + OWN - PARTS (MEAN + REST) + KEPT``."""
    whole = own_slope(velocity(I), I)
    pieces = (FIRST, OWN, PARTS * MEAN * -1, PARTS * REST * -1, KEPT)
    total = pieces[0]
    for each in pieces[1:]:
        total = total + each
    known = [
        kernel.reduction(whole, total),
        kernel.total(*pieces),
        kernel.scaling(PARTS * MEAN, -1),
        kernel.scaling(PARTS * REST, -1),
        kernel.product(PARTS, MEAN),
        kernel.product(PARTS, REST),
    ]
    value = Tensor(FIRST) + Tensor(OWN) - Tensor(PARTS) * (Tensor(MEAN) + Tensor(REST)) + Tensor(KEPT)
    return kernel.arithmetic(known, sp.Eq(Tensor(whole), value, evaluate=False))


def within(kernel: Kernel, quantity: Expression, bound: Any, early: Proved, own: Proved) -> Proved:
    """``-B <= sqrt(d) sum_j alpha_ij q_j <= B``, from ``|q_j| <= B`` for j before i, and for i itself."""
    found = []
    for sign in (1, -1):
        rest = one() * bound + quantity * sign
        known = [
            kernel.arithmetic(
                [
                    kernel.total(one() * bound, this * sign),
                    kernel.scaling(this, sign),
                    kernel.scaling(one(), bound),
                    kernel.factors(one()),
                    each,
                ],
                sp.Ge(Tensor(one() * bound + this * sign), 0, evaluate=False),
            )
            for each, this in ((early, quantity), (own, quantity.at((J, I))))
        ]
        total = kernel.summed(kernel.generalise(J, seen_terms(kernel, I, J, rest, known[0], known[1])))
        row = one() * (bound / _ROOT)
        written = kernel.reduction(summed(rest), summed(quantity) * sign + row)
        pieces = [
            kernel.total(summed(quantity) * sign, row),
            kernel.scaling(summed(quantity), sign),
            kernel.factors(row),
        ]
        said = sp.Ge(bound + sign * sp.sqrt(d) * Tensor(summed(quantity)), 0, evaluate=False)
        found.append(kernel.arithmetic([total, written, *pieces, kernel.factors(one() * 0)], said))
    return kernel.conjunction(*found)


def score_bound(kernel: Kernel, left: Expression, right: Expression, sizes: list[Proved]) -> Proved:
    """``|y^T P x| <= b`` for unit vectors."""
    known = kernel.bounded_forms("P")
    form = kernel.instantiate(kernel.instantiate(kernel.part(known, known.proposition.parts[0]), left), right)
    most = [kernel.assume(SCORES <= NORM), kernel.part(known, SCORES >= 0)]
    here = Tensor(dot(left, right, SCORE))
    squared = kernel.arithmetic([form, *sizes, *most], sp.Le(here**2, NORM**2, evaluate=False))
    return kernel.arithmetic([squared], sp.And(here <= NORM, here >= -NORM))


def far_gap(kernel: Kernel) -> Proved:
    """``|x_i + x_k| <= rho``."""
    return small_gap(kernel, token(I) + token(K), kernel.assume(opposite(I)), I)


def part_early(kernel: Kernel) -> Proved:
    """``|p_j| <= 2 rho`` for j before i: ``z^T x_j = z^T (x_j - x_k) + z^T (x_k + x_i)``."""
    length, along = tangent(kernel)
    first, second = token(J) - token(K), token(I) + token(K)
    close = small_gap(kernel, first, is_near(kernel, I, J), J)
    known = [
        small_product(kernel, _Z, first, length, close),
        small_product(kernel, _Z, second, length, far_gap(kernel)),
        *(kernel.factors(dot(_Z, each)) for each in (first, second)),
        along,
        kernel.factors(part(J)),
    ]
    here = Tensor(part(J))
    return kernel.arithmetic(known, sp.And(here <= 2 * NEAR, here >= -2 * NEAR))


def part_own(kernel: Kernel) -> Proved:
    """``p_i = 0``."""
    known = [kernel.factors(part(I)), tangent(kernel)[1]]
    return kernel.arithmetic(known, sp.Eq(Tensor(part(I)), 0, evaluate=False))


def parts(kernel: Kernel) -> Proved:
    """``|sum_j alpha_ij p_j| <= 2 rho/sqrt(d)``."""
    return within(kernel, part(J), 2 * NEAR, part_early(kernel), part_own(kernel))


def firsts(kernel: Kernel) -> Proved:
    """``|sum_j alpha_ij s_j p_j| <= 2 b rho/sqrt(d)``."""
    length, _ = tangent(kernel)
    found = []
    for at, bound in ((J, part_early(kernel)), (I, part_own(kernel))):
        known = [
            bound,
            score_bound(kernel, _Z, token(at), [length, unit(kernel, at)]),
            kernel.product(score(at), part(at)),
        ]
        here = Tensor(score(at) * part(at))
        found.append(kernel.arithmetic(known, sp.And(here <= 2 * NORM * NEAR, here >= -2 * NORM * NEAR)))
    return within(kernel, score(J) * part(J), 2 * NORM * NEAR, *found)


def means(kernel: Kernel) -> Proved:
    """``|sum_j alpha_ij s_j| <= b/sqrt(d)``."""
    length, _ = tangent(kernel)
    bounds = [score_bound(kernel, _Z, token(at), [length, unit(kernel, at)]) for at in (J, I)]
    return within(kernel, score(J), NORM, *bounds)


def own_weight(kernel: Kernel) -> Proved:
    """``0 <= alpha_ii <= 1/sqrt(d)``."""
    each = causal_weight(I, J)
    positive = kernel.arithmetic(
        [masked(kernel, I, J), kernel.causal_order(I, J)], sp.Ge(Tensor(each), 0, evaluate=False)
    )
    every = kernel.generalise(J, positive)
    row = one() / _ROOT
    known = [
        kernel.summand(every, I),
        kernel.reduction(each.summed(J), row),
        kernel.factors(row),
        kernel.instantiate(every, I),
    ]
    here = Tensor(causal_weight(I, I))
    return kernel.arithmetic(known, sp.And(sp.Ge(here, 0, evaluate=False), sp.Le(here * sp.sqrt(d), 1, evaluate=False)))


def rests(kernel: Kernel) -> Proved:
    """``alpha_ii (x_i^T P z) p_i = 0``, and ``|sqrt(d) alpha_ii x_i^T P z| <= b``."""
    length, _ = tangent(kernel)
    weight = causal_weight(I, I)
    none = kernel.arithmetic(
        [kernel.product(weight * BACK, part(I)), part_own(kernel)], sp.Eq(Tensor(OWN), 0, evaluate=False)
    )
    known = [
        own_weight(kernel),
        score_bound(kernel, token(I), _Z, [length, unit(kernel, I)]),
        kernel.product(weight, BACK),
        kernel.scaling(weight * BACK, _ROOT),
    ]
    here = Tensor(REST)
    return kernel.conjunction(none, kernel.arithmetic(known, sp.And(here <= NORM, here >= -NORM)))


def kept_early(kernel: Kernel, at: Index) -> Proved:
    """``e_j >= 1 - 2 rho`` for j before i: ``x_i^T x_j = (x_i + x_k)^T x_j - a_j``."""
    length, along = tangent(kernel)
    gap = token(I) + token(K)
    known = [
        small_product(kernel, token(at), gap, unit(kernel, at), far_gap(kernel)),
        kernel.factors(dot(token(at), gap)),
        is_near(kernel, I, at),
        kernel.same_token(I, at),
        kernel.assume(before(at, I)),
        kernel.assume(small()),
        length,
        along,
        kernel.factors(kept(at)),
    ]
    return kernel.arithmetic(known, sp.Ge(Tensor(kept(at)), 1 - 2 * NEAR, evaluate=False))


def kept_sum(kernel: Kernel) -> Proved:
    """``sum_j alpha_ij e_j >= a/3``, where the first token comes before i."""
    length, along = tangent(kernel)
    own_part = kept(J).at((J, I))
    own = kernel.arithmetic(
        [kernel.factors(own_part), kernel.factors(one()), length, along, unit(kernel, I)],
        sp.Ge(Tensor(own_part), 0, evaluate=False),
    )
    early = kernel.arithmetic(
        [kept_early(kernel, J), kernel.assume(small())], sp.Ge(Tensor(kept(J)), 0, evaluate=False)
    )
    terms = seen_terms(kernel, I, J, kept(J), early, own)
    total = kernel.summand(kernel.generalise(J, terms), K)
    weight = kernel.supply(weight_below(kernel, I, K), sees_first(kernel, I))
    single = kernel.arithmetic(
        [kernel.product(causal_weight(I, K), kept(K)), weight, kept_early(kernel, K), kernel.assume(small())],
        sp.Ge(Tensor(causal_weight(I, K) * kept(K)), LEAST / 3, evaluate=False),
    )
    return kernel.arithmetic([total, single], sp.Ge(Tensor(KEPT), LEAST / 3, evaluate=False))


#: ``36 b rho <= a``: then everything else is at most half of what the first token contributes.
CLOSE = proposition(sp.Le(36 * NORM * NEAR, LEAST, evaluate=False))


def pushed_apart(kernel: Kernel) -> Proved:
    """``z^T D_i f_i z >= a/6`` in the region, for unit tangent vectors z."""
    root = sp.sqrt(d)
    mean = kernel.scaling(summed(score(J)), _ROOT)
    small_parts, other = parts(kernel), rests(kernel)
    value = Tensor(PARTS)
    bounds = kernel.arithmetic([small_parts], sp.And(value * root <= 2 * NEAR, value * root >= -2 * NEAR))
    scaled = kernel.arithmetic([bounds], sp.And(value <= 2 * NEAR, value >= -2 * NEAR))
    factor = Tensor(MEAN) + Tensor(REST)
    both = kernel.arithmetic([means(kernel), mean, other], sp.And(factor <= 2 * NORM, factor >= -2 * NORM))
    crossed = kernel.arithmetic([scaled, both], sp.Le(value * factor, 4 * NORM * NEAR, evaluate=False))
    first = kernel.arithmetic([firsts(kernel)], sp.Ge(Tensor(FIRST), -2 * NORM * NEAR, evaluate=False))
    whole = split(kernel)
    known = [whole, crossed, first, other, kept_sum(kernel), kernel.assume(CLOSE)]
    return kernel.arithmetic(known, sp.Ge(whole.proposition.word.relation.lhs, LEAST / 6, evaluate=False))
