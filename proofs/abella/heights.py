"""Heights over a plane in the kernel: where all heights ``v^T x_i`` are positive, the lowest does not fall (AB-X1, AB-T4.1).

For the flow with any heads, ``U = I``, on any ellipsoid, with full attention or a causal mask; the scores may depend on time.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.attention_bounds import METRIC, I, J
from eigentoken.proofs.abella.heads_weights import nonnegative_weight, weight_of
from eigentoken.proofs.steps.theorems import CAUCHY_SCHWARZ, COMPARISON
from eigentoken.theory.calculus import HEAD, Expression, Index, dot, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, AtTime, Tensor, VectorLetter
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.conditions import IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.terms import matrix

__all__ = ["T", "X", "above", "at_time", "cosine", "every", "height", "higher", "since"]

W, U = matrix("W"), matrix("U")
T, S = sp.symbols("t s", real=True)
LOW = sp.Symbol("c", positive=True)
X = VectorLetter(STATE)


def height(at: Index) -> Expression:
    """``v^T x_i``."""
    return dot(vector("v"), vector(STATE, at))


def every(said: Any, *letters: Any) -> Proposition:
    """For all values of the letters."""
    found = proposition(said)
    for letter in reversed(letters):
        found = ForAll(letter, TRUE, found)
    return found


def above(time: Any = None) -> Proposition:
    """All heights are positive: at a state, or at a time."""
    return every(sp.Gt(Tensor(height(I), time), 0, evaluate=False), I)


def higher(least: Any, time: Any = None) -> Proposition:
    """All heights are at least a number."""
    return every(sp.Ge(Tensor(height(I), time), least, evaluate=False), I)


def since(start: Any = 0) -> Proposition:
    """``t >= start``."""
    return proposition(sp.Ge(T, start, evaluate=False))


def until(end: Any, *, closed: bool = False) -> Proposition:
    """``0 <= s < end``, or up to the end."""
    last = sp.Le(S, end) if closed else sp.Lt(S, end)
    return Conjunction((proposition(sp.Ge(S, 0, evaluate=False)), proposition(last)))


def at_time(kernel: Kernel, proved: Proved, time: Any = T) -> Proved:
    """What holds at every state holds at a time of the trajectory."""
    return kernel.instantiate(kernel.generalise(X, proved), AtTime(sp.sympify(time)))


def cosine(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``-1 <= x_i^T W x_j <= 1``."""
    x, y = vector(STATE, at), vector(STATE, other)
    form = kernel.textbook(CAUCHY_SCHWARZ, kernel.given(Symmetric(W)), kernel.given(PositiveDefinite(W)), A=W, y=x, z=y)
    units = [kernel.reduction(dot(each, each, METRIC), one()) for each in (x, y)]
    here = Tensor(dot(x, y, METRIC))
    return kernel.arithmetic([form, *units, kernel.factors(one())], sp.And(here <= 1, here >= -1))


def lowest_rises(kernel: Kernel, at: Index, other: Index) -> Proved:
    """Where all heights are positive and that of token i is the least, it does not fall, at any state."""
    first, second = height(at), height(other)
    falls = first * -1
    gap = second - dot(vector(STATE, at), vector(STATE, other), METRIC) * first
    seen = weight_of(kernel, at, other)
    term = seen * gap
    over = [
        kernel.assume(above()),
        kernel.assume(every(sp.Le(Tensor(second * -1), Tensor(falls), evaluate=False), other)),
    ]
    known = [kernel.instantiate(over[0], at), kernel.instantiate(over[1], other)]
    scaled = [kernel.scaling(each, -1) for each in (first, second)]
    rises = kernel.arithmetic([*known, *scaled, cosine(kernel, at, other), kernel.factors(gap)], Tensor(gap) >= 0)
    parts = [rises, kernel.product(seen, gap), nonnegative_weight(kernel, at, other)]
    total = kernel.generalise(other, kernel.arithmetic(parts, sp.Ge(Tensor(term), 0, evaluate=False)))
    sums = kernel.summed(kernel.generalise(HEAD, kernel.summed(total)))
    rate = kernel.increment(falls)
    slope = rate.proposition.word.relation
    written = kernel.reduction(slope.rhs.expression, term.summed(other, HEAD) * -1, kernel.given(IsIdentity(U)))
    return kernel.arithmetic(
        [rate, written, sums, kernel.scaling(term.summed(other, HEAD), -1), kernel.scaling(one(), 0)],
        sp.Le(slope.lhs, 0, evaluate=False),
    )


def lowest_never_falls(kernel: Kernel) -> Proved:
    """For all t >= 0: if all heights were positive before t, those at t are at least every lower bound of those at 0."""
    at, other = Index("token", "a0"), Index("token", "b0")
    rises = lowest_rises(kernel, at, other)
    largest = every(sp.Le(Tensor(height(other) * -1), Tensor(height(at) * -1), evaluate=False), other)
    slopes = kernel.generalise(at, kernel.discharge(largest, rises))
    along = kernel.generalise(T, at_time(kernel, kernel.discharge(above(), slopes)), since())
    return kernel.textbook(COMPARISON, along, f=height(J) * -1, kappa=sp.Integer(0), region=above())


def lifted(kernel: Kernel, time: Any) -> Proved:
    """``[-h_i] = -[h_i]`` at a time, for every token."""
    return kernel.generalise(I, at_time(kernel, kernel.scaling(height(I), -1), time))


def bounded_below(kernel: Kernel, never: Proved, before: Proved, start: Proved) -> Proved:
    """``h_i(t) >= c`` for every token, where all were positive before t and ``h_i(0) >= c`` for every token."""
    now = kernel.modus_ponens(kernel.instantiate(never, T, kernel.assume(since())), before)
    lower = kernel.arithmetic(
        [kernel.instantiate(start, I), kernel.instantiate(lifted(kernel, 0), I)],
        sp.Le(Tensor(height(I) * -1, sp.Integer(0)), -LOW, evaluate=False),
    )
    found = kernel.modus_ponens(kernel.instantiate(now, -LOW), kernel.generalise(I, lower))
    here = kernel.arithmetic(
        [kernel.instantiate(found, I), kernel.instantiate(lifted(kernel, T), I)],
        sp.Ge(Tensor(height(I), T), LOW, evaluate=False),
    )
    return kernel.generalise(I, here)


def heights_stay(kernel: Kernel) -> Proved:
    """For c > 0: if ``h_i(0) >= c`` for all i, then ``h_i(t) >= c`` for all i and t >= 0: first exit, then once more."""
    never, start = lowest_never_falls(kernel), kernel.assume(higher(LOW, sp.Integer(0)))
    before = kernel.assume(ForAll(S, until(T), above(S)))
    stays = kernel.instantiate(bounded_below(kernel, never, before, start), I)
    positive = kernel.generalise(I, kernel.arithmetic([stays], sp.Gt(Tensor(height(I), T), 0, evaluate=False)))
    step = kernel.generalise(T, kernel.discharge(before.proposition, positive), since())
    first = kernel.arithmetic(
        [kernel.instantiate(start, I)], sp.Gt(Tensor(height(I), sp.Integer(0)), 0, evaluate=False)
    )
    forever = kernel.first_exit(kernel.generalise(I, first), step)
    sooner = kernel.instantiate(forever, S, kernel.assume(sp.Ge(S, 0, evaluate=False)))
    earlier = kernel.generalise(S, sooner, until(T))
    found = kernel.generalise(T, bounded_below(kernel, never, earlier, start), since())
    return kernel.discharge(start.proposition, found)


def hemisphere_invariant(kernel: Kernel) -> Proved:
    """``ForwardInvariant(Hemisphere())``: a positive lower bound of the heights at the start is kept."""
    start = kernel.assume(above(sp.Integer(0)))
    kept = heights_stay(kernel)
    low = kernel.assume(higher(LOW, sp.Integer(0)))
    later = kernel.instantiate(kernel.modus_ponens(kept, low), T, kernel.assume(since()))
    positive = kernel.arithmetic([kernel.instantiate(later, I)], sp.Gt(Tensor(height(I), T), 0, evaluate=False))
    always = kernel.generalise(T, kernel.generalise(I, positive), since())
    found = kernel.exists_elimination(kernel.least(start, LOW), always)
    region = kernel.generalise(VectorLetter("v"), kernel.discharge(start.proposition, found))
    return kernel.modus_ponens(kernel.meaning(ForwardInvariant(Hemisphere())), region)
