"""PH-T4 in the kernel: heights along a left eigenvector follow lambda times their own averages.

The rate ``lambda sum_k p_ik w^T x_k`` of a height lies between lambda times the lowest and lambda times the highest, so they
all lie between ``e^{lambda t}`` times these at the start; and ``(1 + lambda t) m <= e^{lambda t} m`` exceeds every number.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.energy_rates import at_time
from eigentoken.proofs.pham.softmax_sums import I, J, K, average, normaliser, score, sums_of_equals
from eigentoken.proofs.steps.flow_theorems import BOUND, LARGEST, TIME, later
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import SLOT, dot, exponential, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Exists,
    ForAll,
    Proposition,
    proposition,
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import Claim, Diverges, ForwardInvariant
from eigentoken.theory.language.conditions import InHemisphere
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, matrix

__all__ = ["AFTER", "CLAIMS", "EIGEN", "LAM", "NORMAL", "W", "bound", "extreme", "lower", "proof", "said"]

B = matrix("B")
LAM = sp.Symbol("lambda", real=True)
W, Z = VectorLetter("w"), VectorLetter("z")
NORMAL = vector("w")
POSITIVE = proposition(LAM > 0)
AFTER = proposition(sp.Ge(TIME, 0, evaluate=False))


def said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, sp.sympify(right), evaluate=False))


#: ``w^T B z = lambda w^T z`` for every z.
EIGEN = ForAll(
    Z, TRUE, said(sp.Eq, Tensor(dot(NORMAL, vector("z"), product("B"))), LAM * Tensor(dot(NORMAL, vector("z"))))
)


def _height(index: Any, time: Any = None) -> Tensor:
    found = Tensor(dot(NORMAL, vector("x", index)))
    return found if time is None else later(found, time)


def bound(kind: Any) -> ForAll:
    """The heights stay on their side of ``e^{lambda t} M``."""
    start = ForAll(I, TRUE, said(kind, _height(I, 0), BOUND))
    then = ForAll(I, TRUE, said(kind, _height(I, TIME), sp.exp(LAM * TIME) * BOUND))
    return ForAll(BOUND, start, ForAll(TIME, AFTER, then))


ABOVE, BELOW = (ForAll(LAM, POSITIVE, ForAll(W, EIGEN, bound(kind))) for kind in (sp.Le, sp.Ge))
CLAIMS: tuple[Claim, ...] = (
    ForwardInvariant(Hemisphere(B, left=True)),
    Diverges(every=True),
    Formula(ABOVE),
    Formula(BELOW),
)


def extreme(kernel: Kernel, sign: int, guard: Proposition = POSITIVE) -> Proved:
    """``sign h_i(t) <= e^{lambda t} M`` for all tokens, if this holds at the start and lambda is not negative."""
    positive, eigen = kernel.assume(guard), kernel.assume(EIGEN)
    height = dot(NORMAL, vector("x", I)) * sign
    other = dot(NORMAL, vector("x", J)) * sign
    top = ForAll(J, TRUE, said(sp.Le, Tensor(other), Tensor(height)))
    highest = kernel.instantiate(kernel.assume(top), K)
    at_key = kernel.instantiate(eigen, vector("x", K))
    push = dot(NORMAL, vector("x", K), product("B")) * sign
    facts = [at_key, highest, positive, kernel.scaling(height, LAM)]
    if sign < 0:
        plain = (push * -1, dot(NORMAL, vector("x", K)))
        facts += [kernel.scaling(each, -1) for each in plain]
    each = kernel.arithmetic(facts, sp.Le(Tensor(push), Tensor(height * LAM), evaluate=False))
    weight = exponential(score(I, K)) * normaliser(I, -1)
    rate = kernel.increment(height)
    mean = average(I, lambda k: dot(NORMAL, vector("x", k), product("B")) * sign)
    slope = kernel.arithmetic(
        [
            rate,
            kernel.reduction(relation_of(rate.proposition).rhs.expression, mean),
            sums_of_equals(kernel, each, weight, K),
            kernel.reduction((weight * (height * LAM)).summed(K), height * LAM),
            kernel.scaling(height, LAM),
        ],
        sp.Le(Rate(height), LAM * Tensor(height), evaluate=False),
    )
    always = kernel.generalise(TIME, at_time(kernel, kernel.generalise(I, slope, top)), AFTER)
    return kernel.textbook(LARGEST, always, h=dot(NORMAL, vector("x", SLOT)) * sign, c=LAM)


def lower(kernel: Kernel, guard: Proposition = POSITIVE) -> Proved:
    """The bound from below, from that of the negative heights."""
    wanted = bound(sp.Ge)
    negative = dot(NORMAL, vector("x", I)) * -1
    turned = [at_time(kernel, kernel.scaling(dot(NORMAL, vector("x", I)), -1), time) for time in (sp.Integer(0), TIME)]
    start = kernel.instantiate(kernel.assume(wanted.guard), I)
    first = kernel.arithmetic([start, turned[0]], sp.Le(later(Tensor(negative), 0), -BOUND, evaluate=False))
    found = kernel.instantiate(extreme(kernel, -1, guard), -BOUND, kernel.generalise(I, first))
    then = kernel.instantiate(kernel.instantiate(found, TIME, kernel.assume(AFTER)), I)
    last = kernel.arithmetic([then, turned[1]], relation_of(wanted.body.body.body))
    return kernel.generalise(BOUND, kernel.generalise(TIME, kernel.generalise(I, last), AFTER), wanted.guard)


#: The tokens start on the side of w, which is not zero.
START = ForAll(I, TRUE, said(sp.Gt, _height(I, 0), 0))
NONZERO = said(sp.Gt, Tensor(dot(NORMAL, NORMAL)), 0)
LEAST = sp.Symbol("m", positive=True)
SQUARE, NUMBER, AT = (sp.Symbol(name, real=True) for name in ("N", "K", "s"))


def _far(kernel: Kernel, lower: Proved) -> Proved:
    """For every K some time s at which ``|x_i(s)|^2 > K``, from ``h_i(t) >= e^{lambda t} m``."""
    positive = kernel.assume(POSITIVE)
    here = vector("x", I)
    size = Tensor(dot(here, here))
    normal = kernel.assume(sp.Eq(SQUARE, Tensor(dot(NORMAL, NORMAL)), evaluate=False))
    nonzero = kernel.assume(NONZERO)
    after = kernel.assume(sp.Ge(AT, 0, evaluate=False))
    enough = kernel.assume(sp.Eq(LAM * AT * LEAST**2, SQUARE * (NUMBER**2 + 1), evaluate=False))
    then = kernel.instantiate(kernel.instantiate(lower, AT, after), I)
    slope = kernel.arithmetic([], sp.Ge(sp.exp(LAM * AT), 1 + LAM * AT, evaluate=False))
    height = _height(I, AT)
    above = kernel.arithmetic([then, slope], sp.Ge(height, (1 + LAM * AT) * LEAST, evaluate=False))
    product_ = kernel.arithmetic([positive, after], sp.Ge(LAM * AT, 0, evaluate=False))
    power = kernel.arithmetic([above, product_], sp.Ge(height**2, LEAST**2 + 2 * LAM * AT * LEAST**2, evaluate=False))
    cauchy = at_time(kernel, kernel.textbook(EUCLIDEAN, y=NORMAL, z=here), AT)
    bounds = [power, cauchy, normal, nonzero, enough]
    scaled = kernel.arithmetic(bounds, sp.Gt(SQUARE * later(size, AT), SQUARE * NUMBER, evaluate=False))
    far = kernel.arithmetic([scaled, normal, nonzero], sp.Gt(later(size, AT), NUMBER, evaluate=False))
    wanted = Exists(TIME, AFTER, said(sp.Gt, later(size, TIME), NUMBER))
    found = kernel.witness(wanted, AT, after, far)
    return _at_some_time(kernel, found, enough, positive, normal)


def _at_some_time(kernel: Kernel, found: Proved, enough: Proved, *known: Proved) -> Proved:
    """The time ``s = |w|^2 (K^2 + 1) / (lambda m^2)`` exists; so do the letters for ``|w|^2`` and for it."""
    value = SQUARE * (NUMBER**2 + 1) / (LAM * LEAST**2)
    positive, normal = known
    size = kernel.square(NORMAL)
    facts = [positive, normal, size]
    there = kernel.arithmetic(facts, sp.Ne(LAM, 0))
    first = kernel.arithmetic(facts, sp.Ge(value, 0, evaluate=False))
    some = Exists(AT, proposition(sp.Ge(AT, 0, evaluate=False)), enough.proposition)
    time = kernel.witness(some, value, first, there)
    far = kernel.exists_elimination(time, found)
    length = kernel.witness(Exists(SQUARE, TRUE, normal.proposition), Tensor(dot(NORMAL, NORMAL)))
    return kernel.exists_elimination(length, far)


def _one_side(kernel: Kernel) -> Proved:
    """For every ``lambda > 0`` and left eigenvector w: tokens on its side stay there, and each is unbounded."""
    start, below = kernel.assume(START), lower(kernel)
    some = kernel.least(start, LEAST)
    from_below = kernel.instantiate(below, LEAST, kernel.assume(some.proposition.body))
    then = kernel.instantiate(kernel.instantiate(from_below, TIME, kernel.assume(AFTER)), I)
    stays = kernel.arithmetic([then], sp.Gt(_height(I, TIME), 0, evaluate=False))
    side = kernel.generalise(TIME, kernel.generalise(I, stays), AFTER)
    far = kernel.generalise(I, kernel.generalise(NUMBER, _far(kernel, from_below)))
    both = kernel.exists_elimination(some, kernel.conjunction(side, far))
    return kernel.generalise(LAM, kernel.generalise(W, both, Conjunction((EIGEN, NONZERO, START))), POSITIVE)


def proof(kernel: Kernel) -> Proved:
    """Invariance and divergence at the top eigenvalue; the bounds at any positive one."""
    value = kernel.given(Eigenvalue(B, 1) > 0)
    at_top = kernel.instantiate(_one_side(kernel), Eigenvalue(B, 1), value)
    here = kernel.assume(at_top.proposition.guard)
    both = kernel.instantiate(at_top, W, here)
    side, far = (kernel.part(both, each) for each in both.proposition.parts)
    invariant = kernel.half_space(ForwardInvariant(Hemisphere(B, left=True)))
    stays = kernel.generalise(W, side, at_top.proposition.guard)
    inside = InHemisphere(B, left=True)
    some = kernel.modus_ponens(kernel.half_space(inside), kernel.given(inside))
    grows = kernel.modus_ponens(kernel.meaning(Diverges(every=True)), far)
    bounds = (extreme(kernel, 1), lower(kernel))
    return kernel.conjunction(
        kernel.modus_ponens(invariant, stays),
        kernel.exists_elimination(some, grows),
        *(kernel.generalise(LAM, kernel.generalise(W, each, EIGEN), POSITIVE) for each in bounds),
    )
