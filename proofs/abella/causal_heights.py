"""Heights ``b_i = v^T x_i`` over the top eigenvector v of U in the causal flow, token after token (AB-T6.1, AB-L6.1).

``b_i' = sum_{j <= i} alpha_ij (lambda b_j - (x_i^T U x_j) b_i)``.  Where the earlier tokens are near v, each of their summands is
at least ``alpha_ij (lambda (1 - b_i^2) - C rho)``, and that of the token itself is not negative while ``b_i > 0``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.causal_sums import (
    LEAST,
    alone,
    masked,
    seen_terms,
    token,
    unit,
    weight_below,
)
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.abella.heights import S, T, at_time, every, since, until
from eigentoken.proofs.steps.causal_theorems import GAP, RAYLEIGH_GAP
from eigentoken.proofs.steps.theorems import COMPARISON, EUCLIDEAN, RAYLEIGH_ABOVE
from eigentoken.theory.calculus import (
    DIMENSION,
    Expression,
    Index,
    Letter,
    dot,
    one,
    vector,
)
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before, sees
from eigentoken.theory.kernel.propositions import ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.kernel.words import top_eigenvector
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, HeadNorm, d, matrix

U = matrix("U")
TOP, SIZE = Eigenvalue(U, 1), HeadNorm(U)
VALUE = (Letter("U"),)
I, J = (Index("token", name) for name in "ij")
SIDE = VectorLetter("v")
LOW, NEAR = sp.symbols("c rho", positive=True)
#: v is a unit eigenvector of U for its first eigenvalue.
EIGEN = top_eigenvector(U, SIDE.name)
_V = vector(SIDE.name)


def height(at: Index) -> Expression:
    """``b_i = v^T x_i``."""
    return dot(_V, token(at))


def above(time: Any = None) -> Proposition:
    """All heights are positive."""
    return every(sp.Gt(Tensor(height(I), time), 0, evaluate=False), I)


def unit_side(kernel: Kernel) -> Proved:
    return kernel.part(kernel.assume(EIGEN), EIGEN.parts[1])


def lifted(kernel: Kernel, at: Index) -> Proved:
    """``x_j^T U v = lambda b_j``."""
    return kernel.instantiate(kernel.part(kernel.assume(EIGEN), EIGEN.parts[0]), token(at))


def below_one(kernel: Kernel, at: Index) -> Proved:
    """``b_i^2 <= 1``."""
    known = [kernel.textbook(EUCLIDEAN, y=_V, z=token(at)), unit(kernel, at), unit_side(kernel)]
    here = Tensor(height(at))
    return kernel.arithmetic(known, sp.And(sp.Le(here, 1, evaluate=False), sp.Ge(here, -1, evaluate=False)))


def form(at: Index, other: Index) -> Expression:
    """``x_i^T U x_j``."""
    return dot(token(at), token(other), VALUE)


def pull(at: Index, other: Index) -> Expression:
    """``x_j^T U v - (x_i^T U x_j) b_i``, what token j contributes to the slope of ``b_i``, without its weight."""
    return dot(token(other), _V, VALUE) - form(at, other) * height(at)


def forms(kernel: Kernel, at: Index, vectors: Expression) -> Proved:
    """``(x_i^T U z)^2 <= |U|^2 |z|^2``, and ``|U| >= 0``."""
    known = kernel.bounded_forms("U")
    found = kernel.instantiate(kernel.instantiate(kernel.part(known, known.proposition.parts[0]), token(at)), vectors)
    return kernel.conjunction(found, kernel.part(known, SIZE >= 0), unit(kernel, at))


def slope_of_height(kernel: Kernel, at: Index, other: Index, part: Expression, rest: Expression) -> Proved:
    """``b_i' = [sum_j alpha_ij e_ij] - [r]/sqrt(d)``, ``e_ij`` the pull of token j plus r: the weights sum to 1/sqrt(d)."""
    rate = kernel.increment(height(at))
    total = (causal_weight(at, other) * part).summed(other)
    lost = rest * (-1 / sp.sqrt(DIMENSION))
    written = kernel.reduction(rate.proposition.word.relation.rhs.expression, total + lost, kernel.given(Symmetric(U)))
    split = [kernel.total(total, lost), kernel.scaling(rest, -1 / sp.sqrt(DIMENSION))]
    value = Tensor(total) - Tensor(rest) / sp.sqrt(d)
    return kernel.arithmetic([rate, written, *split], sp.Eq(rate.proposition.word.relation.lhs, value, evaluate=False))


# -- the half space is kept -------------------------------------------------------------------------------------------------


def lowest_falls_slowly(kernel: Kernel, at: Index, other: Index) -> Proved:
    """Where all heights are positive: ``(-b_i)' <= |U| b_i``."""
    first, rest = height(at), height(at) * SIZE
    part = pull(at, other) + rest
    known = [
        kernel.instantiate(kernel.assume(above()), at),
        kernel.instantiate(kernel.assume(above()), other),
        forms(kernel, at, token(other)),
        unit(kernel, other),
        lifted(kernel, other),
        kernel.given(TOP > 0),
        kernel.factors(part),
    ]
    rises = kernel.arithmetic(known, sp.Ge(Tensor(part), 0, evaluate=False))
    weight = causal_weight(at, other)
    signs = [rises, kernel.causal_order(at, other), masked(kernel, at, other), kernel.product(weight, part)]
    each = kernel.arithmetic(signs, sp.Ge(Tensor(weight * part), 0, evaluate=False))
    total = kernel.summed(kernel.generalise(other, each))
    slope = slope_of_height(kernel, at, other, part, rest)
    turned = [
        kernel.increment(first * -1),
        kernel.increment(first),
        kernel.scaling(first, SIZE),
        kernel.scaling(first, -1),
    ]
    flipped = kernel.scaling(turned[1].proposition.word.relation.rhs.expression, -1)
    known = [
        slope,
        total,
        *turned,
        flipped,
        known[0],
        kernel.factors(one() * 0),
        kernel.part(kernel.bounded_forms("U"), SIZE >= 0),
    ]
    lhs = turned[0].proposition.word.relation.lhs
    return kernel.arithmetic(known, sp.Le(lhs, -SIZE * Tensor(first * -1), evaluate=False))


def heights_stay_positive(kernel: Kernel) -> Proved:
    """All heights stay positive, by first exit, where they are positive at the start."""
    at, other = Index("token", "a0"), Index("token", "b0")
    slow = lowest_falls_slowly(kernel, at, Index("token", "k"))
    least = every(sp.Le(Tensor(height(other) * -1), Tensor(height(at) * -1), evaluate=False), other)
    slopes = kernel.generalise(at, kernel.discharge(least, slow))
    along = kernel.generalise(T, at_time(kernel, kernel.discharge(above(), slopes)), since())
    never = kernel.textbook(COMPARISON, along, f=height(J) * -1, kappa=SIZE, region=above())
    start = kernel.assume(every(sp.Ge(Tensor(height(I), sp.Integer(0)), LOW, evaluate=False), I))
    held = kernel.assume(ForAll(S, until(T), above(S)))
    now = kernel.modus_ponens(kernel.instantiate(never, T, kernel.assume(since())), held)
    turned = [kernel.generalise(I, at_time(kernel, kernel.scaling(height(I), -1), time)) for time in (0, T)]
    first = kernel.arithmetic(
        [kernel.instantiate(start, I), kernel.instantiate(turned[0], I)],
        sp.Le(Tensor(height(I) * -1, sp.Integer(0)), -LOW, evaluate=False),
    )
    found = kernel.modus_ponens(kernel.instantiate(now, -LOW), kernel.generalise(I, first))
    here = [kernel.instantiate(found, I), kernel.instantiate(turned[1], I)]
    positive = kernel.arithmetic(here, sp.Gt(Tensor(height(I), T), 0, evaluate=False))
    step = kernel.discharge(held.proposition, kernel.generalise(I, positive))
    at_start = kernel.arithmetic(
        [kernel.instantiate(start, I)], sp.Gt(Tensor(height(I), sp.Integer(0)), 0, evaluate=False)
    )
    always = kernel.first_exit(kernel.generalise(I, at_start), kernel.generalise(T, step, since()))
    return kernel.exists_elimination(kernel.least(kernel.assume(above(sp.Integer(0))), LOW), always)


def half_space_kept(kernel: Kernel) -> Proved:
    """``ForwardInvariant(Hemisphere(U))``."""
    found = kernel.discharge(above(sp.Integer(0)), heights_stay_positive(kernel))
    region = kernel.generalise(SIDE, found, EIGEN)
    return kernel.modus_ponens(kernel.meaning(ForwardInvariant(Hemisphere(U))), region)


# -- the slope of a height ----------------------------------------------------------------------------------------------------

CONSTANT = TOP + SIZE


#: The height of token j is within ``rho^2/2`` of one: it is within rho of v.
def near(at: Index, time: Any = None) -> Proposition:
    return proposition(sp.Ge(Tensor(height(at), time), 1 - NEAR**2 / 2, evaluate=False))


def earlier_near(at: Index, time: Any = None) -> Proposition:
    """All tokens before i are near v."""
    return ForAll(J, before(J, at), near(J, time))


def own_pull(kernel: Kernel, at: Index, part: Expression) -> Proved:
    """``e_ii >= 0`` where ``b_i > 0``: the form of U is at most lambda."""
    known = [
        kernel.assume(sp.Gt(Tensor(height(at)), 0, evaluate=False)),
        kernel.textbook(RAYLEIGH_ABOVE, kernel.given(Symmetric(U)), A=U, z=token(at)),
        unit(kernel, at),
        lifted(kernel, at),
        kernel.given(TOP > 0),
        kernel.part(kernel.bounded_forms("U"), SIZE >= 0),
        kernel.factors(part),
        kernel.factors(one()),
    ]
    return kernel.arithmetic(known, sp.Ge(Tensor(part), 0, evaluate=False))


def early_pull(kernel: Kernel, at: Index, other: Index, part: Expression) -> Proved:
    """``e_ij >= lambda (1 - b_i^2)`` for j before i, where the earlier tokens are near v and ``rho <= 1``."""
    apart = token(other) - _V
    close = kernel.instantiate(kernel.assume(earlier_near(at)), other, kernel.assume(before(other, at)))
    length = dot(apart, apart)
    far = kernel.arithmetic(
        [kernel.factors(length), unit(kernel, other), unit_side(kernel), close],
        sp.Le(Tensor(length), NEAR**2, evaluate=False),
    )
    bent = Tensor(dot(token(at), apart, VALUE))
    squared = kernel.arithmetic(
        [forms(kernel, at, apart), far, kernel.square(apart)], sp.Le(bent**2, (SIZE * NEAR) ** 2, evaluate=False)
    )
    sign = kernel.part(kernel.bounded_forms("U"), SIZE >= 0)
    bounded = kernel.arithmetic([squared, sign], sp.And(bent <= SIZE * NEAR, bent >= -SIZE * NEAR))
    known = [
        bounded,
        kernel.factors(dot(token(at), apart, VALUE)),
        lifted(kernel, at),
        lifted(kernel, other),
        close,
        below_one(kernel, at),
        kernel.assume(sp.Le(NEAR, 1, evaluate=False)),
        kernel.given(TOP > 0),
        sign,
        kernel.factors(part),
        kernel.factors(one()),
    ]
    return kernel.arithmetic(known, sp.Ge(Tensor(part), TOP * (1 - Tensor(height(at)) ** 2), evaluate=False))


# -- how fast a height rises --------------------------------------------------------------------------------------------------


def rises_after(kernel: Kernel, at: Index, earlier: Index) -> Proved:
    """``b_i' >= a lambda (1 - b_i^2) - C rho`` where some token k comes before i, the earlier ones are near v and ``b_i > 0``."""
    other = J
    rest = one() * (CONSTANT * NEAR)
    part = pull(at, other) + rest
    strong = early_pull(kernel, at, other, part)
    here = Tensor(height(at))
    sizes = [below_one(kernel, at), kernel.given(TOP > 0)]
    early = kernel.arithmetic([strong, *sizes], sp.Ge(Tensor(part), 0, evaluate=False))
    terms = seen_terms(kernel, at, other, part, early, own_pull(kernel, at, part.at((other, at))))
    total = kernel.summand(kernel.generalise(other, terms), earlier)
    is_before = kernel.assume(before(earlier, at))
    there = kernel.arithmetic(
        [is_before, kernel.causal_order(at, earlier), kernel.causal_order(earlier, at)],
        sp.Eq(Tensor(sees(at, earlier)), 1, evaluate=False),
    )
    weight = kernel.supply(weight_below(kernel, at, earlier), there)
    pulled = early_pull(kernel, at, earlier, part.at((other, earlier)))
    one_term = causal_weight(at, earlier) * part.at((other, earlier))
    single = kernel.arithmetic(
        [kernel.product(causal_weight(at, earlier), part.at((other, earlier))), weight, pulled, *sizes],
        sp.Ge(Tensor(one_term), LEAST * TOP * (1 - here**2), evaluate=False),
    )
    slope = slope_of_height(kernel, at, other, part, rest)
    rate = slope.proposition.word.relation.lhs
    known = [
        slope,
        total,
        single,
        kernel.factors(rest),
        kernel.factors(one()),
        *sizes,
        kernel.part(kernel.bounded_forms("U"), SIZE >= 0),
    ]
    return kernel.arithmetic(known, sp.Ge(rate, LEAST * TOP * (1 - here**2) - CONSTANT * NEAR, evaluate=False))


def across(kernel: Kernel) -> Proved:
    """There is ``g > 0`` with ``z^T U z <= lambda |z|^2 - g (|z|^2 - (v^T z)^2)`` for every z."""
    return kernel.textbook(
        RAYLEIGH_GAP, kernel.given(Symmetric(U)), kernel.given(SimpleTop(U)), kernel.assume(EIGEN), A=U, v=SIDE
    )


def rises_alone(kernel: Kernel, at: Index) -> Proved:
    """``b_i' >= g b_i (1 - b_i^2)/sqrt(d)`` for the first token, where ``b_i > 0``."""
    other, here = J, height(at)
    rest = (here**3 - here) * GAP
    part = pull(at, other) + rest
    gap = kernel.instantiate(kernel.assume(across(kernel).proposition.body), token(at))
    own_part = part.at((other, at))
    known = [
        gap,
        kernel.assume(sp.Gt(Tensor(here), 0, evaluate=False)),
        unit(kernel, at),
        lifted(kernel, at),
        kernel.factors(own_part),
    ]
    own = kernel.arithmetic(known, sp.Ge(Tensor(own_part), 0, evaluate=False))
    sees_it = kernel.instantiate(kernel.assume(alone(at)), other)
    never = kernel.arithmetic([sees_it, kernel.assume(before(other, at))], sp.Ge(Tensor(part), 0, evaluate=False))
    terms = seen_terms(kernel, at, other, part, never, own)
    total = kernel.summed(kernel.generalise(other, terms))
    slope = slope_of_height(kernel, at, other, part, rest)
    height_ = Tensor(here)
    known = [slope, total, kernel.factors(rest), kernel.factors(one() * 0)]
    rate = slope.proposition.word.relation.lhs
    return kernel.arithmetic(known, sp.Ge(rate, GAP * height_ * (1 - height_**2) / sp.sqrt(d), evaluate=False))
